"""Actions and observation of Ramino."""

import numpy as np

from cardenvs.core import jit
from cardenvs.core.encoding import ActionTable, ObservationTable, Section, put_binary, put_count, put_one_hot
from cardenvs.core.state import SCORE, seat_after
from cardenvs.games.ramino import rules
from cardenvs.games.ramino.cards import (
    BITS,
    CARDS,
    JOKER,
    MAX_HAND,
    MAX_SEATS,
    NUM_TYPES,
    RANKS,
    SUITS,
    completing,
    fitting,
    is_fresh,
    is_open,
    jokers_in,
    neighbours,
    packed,
    put_bits,
    put_pair,
    suits_in,
)

_SET_SUITS = ["".join(SUITS[suit] for suit in range(4) if suits >> suit & 1) for suits in rules.SET_SUITS]
_RUNS = ["".join("n" if naturals >> card & 1 else "j" for card in range(3)) for naturals in rules.RUN_NATURALS]


def _positions(text: str, low: int, high: int) -> list[str]:
    return [text.format(suit=suit, position=position) for suit in SUITS for position in range(low, high + 1)]


ACTIONS = ActionTable(
    ("draw", ["draw stock", "draw pile"]),
    ("discard", [f"discard {card}" for card in CARDS]),
    ("set", [f"set {rank} {suits}" for rank in RANKS for suits in _SET_SUITS]),
    ("run", [f"{start} {run}" for start in _positions("run {suit}@{position}", 1, 12) for run in _RUNS]),
    ("add-set", [f"add-set {rank}{suit} #{k}" for rank in RANKS for suit in SUITS for k in range(2)]),
    ("add-set joker", [f"add-set {rank}* #{k}" for rank in RANKS for k in range(3)]),
    ("low", _positions("low {suit}@{position}", 1, 11)),
    ("high", _positions("high {suit}@{position}", 4, 14)),
    ("low joker", _positions("low {suit}@{position}*", 1, 11)),
    ("high joker", _positions("high {suit}@{position}*", 4, 14)),
    ("swap-run", _positions("swap-run {suit}@{position}", 1, 14)),
    ("swap-both", [f"swap-both {rank} #{k}" for rank in RANKS for k in range(2)]),
    ("swap-one", [f"swap-one {rank}{suit}" for rank in RANKS for suit in SUITS]),
)

_PILE = 96
"""Most cards in the pile: 106 less two hands of five."""
_CELLS = (2,) * 56
_TYPES = (2,) * NUM_TYPES
_NATURALS = (1,) * JOKER
_TYPE_ORDER = "by type without the joker"
_CELL_ORDER = "by suit and position 1 … 14"
_SETS = 3 * 13

OBSERVATION = ObservationTable(
    Section("players", "one-hot", (5,), "number of players", labels=("2", "3", "4", "5", "6")),
    Section("reward", "one-hot", (2,), "the option `reward`", labels=("win", "score")),
    Section("hand_size", "count", (13,), "the option `hand_size`"),
    Section("opening_points", "one-hot", (3,), "the option `opening_points`", labels=("0", "40", "51")),
    Section("joker_reuse", "one-hot", (2,), "the option `joker_reuse`", labels=("same_turn", "to_hand")),
    Section("throw_back", "flag", (1,), "the option `throw_back`"),
    Section("ace_points", "one-hot", (2,), "the option `ace_points`", labels=("11", "10")),
    Section("target", "binary", (10,), "the option `target`, 0 for None (at most 1023)"),
    Section("deals_left", "count", (4,), "deals that follow this one, if there is no target (at most 4)"),
    Section("deal", "binary", (8,), "number of the deal, from 0 (at most 255)"),
    Section("phase", "one-hot", (2,), "what the seat to act does; none when the match is over", labels=("draw", "meld")),
    Section("turn", "one-hot", (MAX_SEATS,), "the seat to act, the viewer is 0; none when the match is over"),
    Section("dealer", "one-hot", (MAX_SEATS,), "the dealer, the viewer is 0"),
    Section("turns", "binary", (9,), "finished turns of this deal"),
    Section("taken", "one-hot", (NUM_TYPES,), "the type that the seat to act took from the pile in this turn, or none", labels=CARDS),
    Section("owed", "count", (2,), "freed jokers that it must lay again in this turn"),
    Section("laid", "binary", (6,), "value laid so far by it in a turn in which it has not opened yet, else 0"),
    Section("clean", "flag", (1,), "whether it can still close clean"),
    Section("stock_size", "binary", (7,), "cards of the stock"),
    Section("stock_steps", "count", (12,), "the same, rounded down to steps of eight", step=8),
    Section("reshuffles", "binary", (4,), "reshuffles in this deal"),
    Section("top", "one-hot", (NUM_TYPES,), "the top of the pile; none while it is empty", labels=CARDS),
    Section(
        "pile",
        "binary",
        (6,) * _PILE,
        "cards of the pile from newest to oldest: 16 · suit + rank (suits S H D C are 0 … 3, ranks A … K 1 … 13), joker 14, no card 0",
    ),
    Section("run_low", "count", _CELLS, f"low ends of runs, {_CELL_ORDER}"),
    Section("run_high", "count", _CELLS, f"high ends of runs, {_CELL_ORDER}"),
    Section("run_naturals", "count", _CELLS, f"natural cards in runs, {_CELL_ORDER}; with the jokers, the cover"),
    Section("run_jokers", "count", _CELLS, f"jokers in runs, {_CELL_ORDER}"),
    Section(
        "fresh_low", "count", _CELLS, f"low ends of fresh runs, {_CELL_ORDER}; every cell from there to the high end is of a fresh run"
    ),
    Section("fresh_high", "count", _CELLS, f"high ends of fresh runs, {_CELL_ORDER}"),
    Section("set_suits", "flag", (1,) * 4 * _SETS, "three sets of each rank, their order is the page's: suits S H D C of their naturals"),
    Section("set_jokers", "count", (2,) * _SETS, "jokers in each of these sets"),
    Section("set_open", "flag", (1,) * _SETS, "whether each is open"),
    Section("set_fresh", "flag", (1,) * _SETS, "whether each is fresh"),
    Section("hand", "count", _TYPES, "own cards by type"),
    Section("unseen", "count", _TYPES, "by type: cards that are neither in the pile, nor on the table, nor in the own hand"),
    Section("reshuffled", "count", _TYPES, "by type: cards that the last reshuffle put into the stock"),
    Section("near", "flag", _NATURALS, f"own cards that make a meld with another own card and a joker, {_TYPE_ORDER}"),
    Section("melds", "flag", _NATURALS, f"own cards that make a meld with two others, {_TYPE_ORDER}"),
    Section("completes", "flag", _NATURALS, f"cards that would make a meld with two own cards, {_TYPE_ORDER}"),
    Section("fits", "flag", _NATURALS, f"cards that can be added to a meld on the table, {_TYPE_ORDER}"),
    Section("top_use", "flag", (1, 1), "whether the top of the pile completes a meld with two own cards; whether it fits on the table"),
    each_seat=(
        Section("opened", "flag", (1,), "has opened in this deal"),
        Section("cards", "count", (MAX_HAND,), "cards in hand"),
        Section("held", "count", _TYPES, "by type: cards surely in hand, because all saw them come there"),
        Section("points", "binary", (12,), "penalty points of the finished deals (at most 4095)"),
        Section("points_steps", "count", (16,), "the same, rounded down to steps of eight (at most 128)", step=8),
    ),
    seats=MAX_SEATS,
)

_PILE_CODES = np.array([16 * (card // 13) + card % 13 + 1 for card in range(JOKER)] + [14])


@jit.kernel
def observe(view, out):
    """Write the sections in the order of `OBSERVATION`."""
    seats, viewer = view.num_seats, view.viewer
    to_viewer = seats - viewer
    at = put_one_hot(out, 0, 5, seats - 2)
    at = put_one_hot(out, at, 2, 1 if view.reward == SCORE else 0)
    at = put_count(out, at, 13, view.hand_size)
    at = put_one_hot(out, at, 3, view.opening_points)
    at = put_one_hot(out, at, 2, view.joker_reuse)
    at = put_binary(out, at, 1, view.throw_back)
    at = put_one_hot(out, at, 2, view.ace_points)
    at = put_binary(out, at, 10, view.target)
    at = put_count(out, at, 4, 0 if view.target else view.num_deals - view.deal - 1)
    at = put_binary(out, at, 8, view.deal)
    at = put_one_hot(out, at, 2, -1 if view.terminated else view.phase)
    at = put_one_hot(out, at, MAX_SEATS, -1 if view.terminated else seat_after(view.seat, to_viewer, seats))
    at = put_one_hot(out, at, MAX_SEATS, seat_after(view.dealer, to_viewer, seats))
    at = put_binary(out, at, 9, view.turns)
    at = put_one_hot(out, at, NUM_TYPES, view.taken)
    at = put_count(out, at, 2, view.owed)
    at = put_binary(out, at, 6, view.laid)
    at = put_binary(out, at, 1, view.clean)
    at = put_binary(out, at, 7, view.stock_size)
    at = put_count(out, at, 12, view.stock_size // 8)
    at = put_binary(out, at, 4, view.reshuffles)
    at = put_one_hot(out, at, NUM_TYPES, view.pile[view.pile_size - 1] if view.pile_size else -1)
    for i in range(view.pile_size):
        put_bits(out, at + 6 * i, 6, _PILE_CODES[view.pile[view.pile_size - 1 - i]])
    at += 6 * _PILE
    at = put_pair(out, at, 56, view.low[0], view.low[1])
    at = put_pair(out, at, 56, view.high[0], view.high[1])
    at = put_pair(out, at, 56, view.naturals[0], view.naturals[1])
    at = put_pair(out, at, 56, view.jokers[0], view.jokers[1])
    at = put_pair(out, at, 56, view.fresh_low[0], view.fresh_low[1])
    at = put_pair(out, at, 56, view.fresh_high[0], view.fresh_high[1])
    jokers, opened, fresh = at + 4 * _SETS, at + 6 * _SETS, at + 7 * _SETS
    for rank in range(13):
        for i in range(3):
            code = np.int64(view.sets[rank, i])
            if code == 0:
                break
            number = 3 * rank + i
            for suit in range(4):
                out[at + 4 * number + suit] = suits_in(code) >> suit & 1
            for joker in range(jokers_in(code)):
                out[jokers + 2 * number + joker] = 1
            out[opened + number] = is_open(code)
            out[fresh + number] = is_fresh(code)
    at += 8 * _SETS
    hand = view.hand[viewer]
    at = put_pair(out, at, NUM_TYPES, packed(hand[0]), packed(hand[1]))
    at = put_pair(out, at, NUM_TYPES, packed(view.unseen[0]), packed(view.unseen[1]))
    at = put_pair(out, at, NUM_TYPES, packed(view.reshuffled[0]), packed(view.reshuffled[1]))
    completes, fits = completing(hand[0]), fitting(view)
    at = put_bits(out, at, JOKER, packed(neighbours(hand[0])))
    at = put_bits(out, at, JOKER, packed(completes & hand[0]))
    at = put_bits(out, at, JOKER, packed(completes))
    at = put_bits(out, at, JOKER, packed(fits))
    top = BITS[view.pile[view.pile_size - 1]] if view.pile_size else 0
    out[at] = top & completes != 0
    out[at + 1] = top & fits != 0
    at += 2
    for k in range(seats):
        seat = seat_after(viewer, k, seats)
        at = put_binary(out, at, 1, view.opened[seat])
        at = put_count(out, at, MAX_HAND, view.cards[seat])
        held = view.held[seat]
        at = put_pair(out, at, NUM_TYPES, packed(held[0]), packed(held[1]))
        at = put_binary(out, at, 12, view.points[seat])
        at = put_count(out, at, 16, view.points[seat] // 8)
