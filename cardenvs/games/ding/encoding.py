"""Actions and observation of Ding!"""

import numpy as np

from cardenvs.core import jit
from cardenvs.core.encoding import ActionTable, ObservationTable, Section, put_binary, put_count, put_one_hot
from cardenvs.core.state import SCORE, seat_after, state_dtype
from cardenvs.games.ding import rules
from cardenvs.games.ding.cards import CARDS, COLOUR, COLOURS, EVENT_NUMBERS, MAX_HAND_SIZE, MAX_SEATS, NUM_CARDS, NUMBER, VERSIONS

ACTIONS = ActionTable(
    ("play", [f"play {card}" for card in CARDS]),
    ("draw", ["draw"]),
    ("ding", [f"ding {card}" for card in CARDS]),
    ("decline", ["decline"]),
)

STATE = state_dtype(MAX_SEATS, rules.FIELDS)

_DIGITS = 7
_HAND_STEPS = 12
_STOCK_STEP, _STOCK_STEPS = 4, 20
_NUMBERS = tuple(str(number) for number in range(1, 10))
_PLACE = "1 + twice the number of cards that lie on it"

OBSERVATION = ObservationTable(
    Section("players", "one-hot", (6,), "number of players", labels=tuple("234567")),
    Section("reward", "one-hot", (2,), "the option `reward`", labels=("win", "score")),
    Section("conditions", "one-hot", (3,), "the option `conditions`", labels=VERSIONS),
    Section("rules", "flag", (1,) * 5, "the options `voluntary_pass`, `play_drawn`, `race` (random), `starter_counts` and `false_dings`"),
    Section("hand_size", "count", (MAX_HAND_SIZE,), "the option `hand_size`: cards that were dealt to each seat"),
    Section("phase", "one-hot", (3,), "what the viewer is asked, if it is to act", labels=("turn", "drawn card", "window")),
    Section("turn", "one-hot", (MAX_SEATS,), "next in turn, the viewer is 0: the seat on turn, or the one that plays if nobody calls"),
    Section(
        "event_number", "one-hot", (6,), "number of the cards that print events like the visible one", labels=tuple(map(str, EVENT_NUMBERS))
    ),
    Section("event_colour", "one-hot", (9,), "colour of the card that prints the visible event", labels=COLOURS),
    Section("subject", "one-hot", (MAX_SEATS,), "to whom the event happened, the viewer is 0"),
    Section("top_colour", "one-hot", (9,), "colour of the top card of the discard pile", labels=COLOURS),
    Section("top_number", "one-hot", (9,), "its number", labels=_NUMBERS),
    Section("second_colour", "one-hot", (9,), "colour of the card under it", labels=COLOURS),
    Section("second_number", "one-hot", (9,), "its number", labels=_NUMBERS),
    Section("stock", "binary", (_DIGITS,), "cards in the draw pile"),
    Section("stock_steps", "count", (_STOCK_STEPS,), "the same, rounded down to steps of four", step=_STOCK_STEP),
    Section("was_false", "flag", (1,) * MAX_SEATS, "seats, from the viewer on, that have called falsely since the last turn action"),
    Section("hand", "flag", (1,) * NUM_CARDS, "by card: in the own hand"),
    Section("true_now", "flag", (1,) * NUM_CARDS, "by card: in the own hand, and its condition is true now"),
    Section(
        "discards", "binary", (8,) * NUM_CARDS, f"by card in the discard pile: {_PLACE}; falsely called and in the hand of seat k: 2 · 2^k"
    ),
    Section("reshuffled", "binary", (8,) * NUM_CARDS, f"by card in the pile as it lay at the last reshuffle: {_PLACE}"),
    each_seat=(
        Section("cards", "count", (_HAND_STEPS,), f"cards in hand (at most {_HAND_STEPS})"),
        Section("hand_sizes", "binary", (_DIGITS,), "cards in hand"),
    ),
    seats=MAX_SEATS,
)

_HAND_SIZES = np.zeros((NUM_CARDS + 1, _HAND_STEPS + _DIGITS), np.int8)
"""The features of each number of cards in a hand."""
for _cards in range(NUM_CARDS + 1):
    _HAND_SIZES[_cards, : min(_cards, _HAND_STEPS)] = 1
    _HAND_SIZES[_cards, _HAND_STEPS:] = (_cards >> np.arange(_DIGITS)) & 1

_CODES = np.array([int.from_bytes(bytes((code >> digit) & 1 for digit in range(8)), "little") for code in range(256)])
"""The eight binary features of a number, lowest first, as one word of eight bytes."""


@jit.kernel
def observe(view, out):
    """Write the sections in the order of `OBSERVATION`."""
    seats, viewer = view.num_seats, view.viewer
    to_viewer = seats - viewer
    at = put_one_hot(out, 0, 6, seats - 2)
    at = put_one_hot(out, at, 2, 1 if view.reward == SCORE else 0)
    at = put_one_hot(out, at, 3, view.conditions)
    out[at] = view.voluntary_pass
    out[at + 1] = view.play_drawn
    out[at + 2] = view.race
    out[at + 3] = view.starter_counts
    out[at + 4] = view.false_dings
    at = put_count(out, at + 5, MAX_HAND_SIZE, view.hand_size)
    at = put_one_hot(out, at, 3, view.phase if viewer == view.seat else -1)
    at = put_one_hot(out, at, MAX_SEATS, seat_after(view.turn, to_viewer, seats))
    at = put_one_hot(out, at, 6, -1 if view.event < 0 else view.event // 9)
    at = put_one_hot(out, at, 9, -1 if view.event < 0 else view.event % 9)
    at = put_one_hot(out, at, MAX_SEATS, -1 if view.event < 0 else seat_after(view.subject, to_viewer, seats))
    for depth in range(2):
        place = view.num_discards - 1 - depth
        if place >= 0:
            put_one_hot(out, at, 9, COLOUR[view.discards[place]])
            put_one_hot(out, at + 9, 9, NUMBER[view.discards[place]] - 1)
        at += 18
    at = put_binary(out, at, _DIGITS, view.stock_size)
    at = put_count(out, at, _STOCK_STEPS, view.stock_size // _STOCK_STEP)
    if view.false_dings:
        for k in range(seats):
            out[at + k] = view.was_false[seat_after(viewer, k, seats)]
    at += MAX_SEATS
    for card in range(NUM_CARDS):
        out[at + card] = view.holder[card] == viewer
    at += NUM_CARDS
    for k in range(view.num_true):
        out[at + np.int64(view.true_cards[k])] = 1
    at += NUM_CARDS
    piles = out[at : at + 16 * NUM_CARDS].view(np.int64)
    num_discards = np.int64(view.num_discards)
    for place in range(num_discards):
        piles[view.discards[place]] = _CODES[2 * (num_discards - place) - 1]
    if view.false_dings:
        for card in range(NUM_CARDS):
            if view.called[card]:
                piles[card] = _CODES[2 << seat_after(view.holder[card], to_viewer, seats)]
    if view.num_reshuffled > 0:
        for card in range(NUM_CARDS):
            if view.reshuffled[card] > 0:
                piles[NUM_CARDS + card] = _CODES[2 * np.int64(view.reshuffled[card]) - 1]
    at += 16 * NUM_CARDS
    for k in range(seats):
        cards = view.hand_sizes[seat_after(viewer, k, seats)]
        for i in range(_HAND_STEPS + _DIGITS):
            out[at + i] = _HAND_SIZES[cards, i]
        at += _HAND_STEPS + _DIGITS
