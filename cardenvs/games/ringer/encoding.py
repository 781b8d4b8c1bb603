"""Actions and observation of Ringer."""

import numpy as np

from cardenvs.core import jit
from cardenvs.core.encoding import ActionTable, ObservationTable, Section, put_binary, put_count, put_one_hot
from cardenvs.core.state import SCORE, seat_after, state_dtype
from cardenvs.games.ringer import rules
from cardenvs.games.ringer.cards import DECKS, KINDS, MAX_HAND, MAX_SEATS, NUM_CARDS, NUMBER, POWER, POWERS, REROLL, SUIT, SUITS, TEXTS
from cardenvs.games.ringer.rules import MAX_ASKS, QUESTIONS

QUESTION_TEXTS = ("1", "2", "3", "4", "5", "6", "pink", "blue", "green", "yellow")

ACTIONS = ActionTable(
    ("play", [f"play {kind}" for kind in TEXTS]),
    ("end", ["end"]),
    ("ask", [f"ask +{d} {what}" for d in range(1, MAX_SEATS) for what in QUESTION_TEXTS]),
    ("steal", [f"steal +{d}" for d in range(1, MAX_SEATS)]),
    ("give", [f"give {kind}" for kind in TEXTS]),
    ("discard", [f"discard {kind}" for kind in TEXTS]),
    ("decline", ["decline"]),
)

STATE = state_dtype(MAX_SEATS, rules.FIELDS)

PHASES = ("play", "take", "ask", "steal", "give", "discard", "starter")
_BITS = 7
_STEP, _STEPS = 4, 26
_PASSES, _PASS_BITS = 10, 23
_PILE = 24
_SET = "one feature a card: at least one of each kind; a second by suit and number, last the Reroll; a third Reroll by suit"

OBSERVATION = ObservationTable(
    Section("players", "one-hot", (4,), "number of players", labels=("2", "3", "4", "5")),
    Section("reward", "one-hot", (2,), "the option `reward`", labels=("win", "score")),
    Section("deck", "one-hot", (2,), "the option `deck`", labels=DECKS),
    Section("race", "one-hot", (2,), "the option `race`", labels=("clockwise", "random")),
    Section("wrap", "flag", (1,), "the option `wrap`"),
    Section("starter_power", "flag", (1,), "the option `starter_power`"),
    Section("pending", "one-hot", (7,), "what the seat to act is asked for, as far as the viewer sees", labels=PHASES),
    Section("to_act", "one-hot", (MAX_SEATS,), "the seat to act, as far as the viewer (who is 0) sees; none when the game is over"),
    Section("turn", "one-hot", (MAX_SEATS,), "the seat on turn"),
    Section("played", "flag", (1,), "a card was played in this turn"),
    Section("end_phase", "flag", (1,), "the end phase has begun"),
    Section("passes", "binary", (_PASS_BITS,), "passes in a row"),
    Section("passes_left", "count", (_PASSES,), f"passes in a row that are missing to the card turned or to the end (at most {_PASSES})"),
    Section("die", "one-hot", (6,), "the die", labels=("1", "2", "3", "4", "5", "6")),
    Section("draw_size", "binary", (_BITS,), "cards in the draw pile"),
    Section("draw_steps", "count", (_STEPS,), f"the same, rounded down to steps of {_STEP}", step=_STEP),
    Section("pile_size", "binary", (_BITS,), "cards in the Play Pile"),
    Section("pile_count", "count", (_PILE,), f"the same (at most {_PILE})"),
    Section("top_suit", "one-hot", (5,), "suit of the top card; none if the pile is empty", labels=tuple(SUITS)),
    Section("top_number", "one-hot", (7,), "its number, or Reroll", labels=("1", "2", "3", "4", "5", "6", "reroll")),
    Section("top_power", "one-hot", (5,), "its power, if it has one and is no Reroll", labels=POWERS),
    Section("target", "one-hot", (MAX_SEATS,), "the seat that an Ask is put to"),
    Section("question", "one-hot", (QUESTIONS,), "what is asked for", labels=QUESTION_TEXTS),
    Section(
        "answers", "one-hot", (QUESTIONS, 2) * MAX_ASKS, "answered Asks in order: what was named, whether there was a match (1) or not"
    ),
    Section(
        "order",
        "binary",
        (_BITS,) * NUM_CARDS,
        "kinds + 1 or 0: from the first entry on the Play Pile from the bottom; from the last entry back the draw pile from the top, "
        "where the viewer put a card under it",
    ),
    Section("open", "flag", (1,) * NUM_CARDS, f"cards face up, in the Play Pile or won; {_SET}"),
    each_seat=(
        Section("cards", "flag", (1,) * NUM_CARDS, "the own hand; of others the cards that are surely in hand, as `open`"),
        Section("won", "flag", (1,) * NUM_CARDS, "cards won, as `open`"),
        Section("hand_size", "count", (MAX_HAND,), "cards in hand"),
        Section("won_size", "binary", (_BITS,), "number of the cards won"),
        Section("won_steps", "count", (_STEPS,), f"the same, rounded down to steps of {_STEP}", step=_STEP),
        Section("lacks", "flag", (1,) * QUESTIONS, "by question: said to have no match, and got no card since"),
        Section("owed", "flag", (1,), "a refill is owed to it"),
        Section("asked", "flag", (1,) * MAX_ASKS, "by answered Ask: made it"),
        Section("was_asked", "flag", (1,) * MAX_ASKS, "by answered Ask: was asked"),
        Section("stole", "flag", (1,) * MAX_ASKS, "by Steal in order: made it"),
        Section("was_robbed", "flag", (1,) * MAX_ASKS, "by Steal: was its victim"),
    ),
    seats=MAX_SEATS,
)

_CODES = np.zeros((KINDS + 1, 8), np.int8)
"""By kind: the binary digits of its entry in `order`, padded so that they are copied at once."""
_CODES[:KINDS, :_BITS] = (np.arange(1, KINDS + 1)[:, None] >> np.arange(_BITS)) & 1
_HAND_SIZES = (np.arange(MAX_HAND) < np.arange(MAX_HAND + 1)[:, None]).astype(np.int8)
_SIZES = np.hstack(
    [
        (np.arange(NUM_CARDS + 1)[:, None] >> np.arange(_BITS)) & 1,
        np.arange(_STEPS) < np.arange(NUM_CARDS + 1)[:, None] // _STEP,
    ]
).astype(np.int8)
"""By number of cards: its binary digits and its steps."""
_TOP_NUMBER = np.where(NUMBER == 0, 6, NUMBER - 1)
_TOP_POWER = np.where(POWER == REROLL, -1, POWER)


@jit.inline
def put_row(out, at, row, size):
    """Copy the first `size` features of `row`; returns the place after them."""
    for i in range(size):
        out[at + i] = row[i]
    return at + size


@jit.kernel
def observe(view, out):
    """Write the sections in the order of `OBSERVATION`."""
    seats, viewer = view.num_seats, view.viewer
    to_viewer = seats - viewer
    at = put_one_hot(out, 0, 4, seats - 2)
    at = put_one_hot(out, at, 2, 1 if view.reward == SCORE else 0)
    at = put_one_hot(out, at, 2, view.deck)
    at = put_one_hot(out, at, 2, view.race)
    out[at] = view.wrap
    out[at + 1] = view.starter_power
    at = put_one_hot(out, at + 2, 7, view.phase)
    at = put_one_hot(out, at, MAX_SEATS, -1 if view.terminated else seat_after(view.seat, to_viewer, seats))
    at = put_one_hot(out, at, MAX_SEATS, seat_after(view.turn, to_viewer, seats))
    out[at] = view.played
    out[at + 1] = view.end_phase
    at += 2
    if view.passes:
        put_binary(out, at, _PASS_BITS, view.passes)
    at += _PASS_BITS
    at = put_count(out, at, _PASSES, (seats if view.end_phase else view.stall_limit * seats) - view.passes)
    at = put_one_hot(out, at, 6, view.die - 1)
    at = put_row(out, at, _SIZES[view.stock_ends[1]], _BITS + _STEPS)
    at = put_row(out, at, _SIZES[view.pile_size], _BITS)
    at = put_count(out, at, _PILE, view.pile_size)
    if view.top >= 0:
        put_one_hot(out, at, 5, SUIT[view.top])
        put_one_hot(out, at + 5, 7, _TOP_NUMBER[view.top])
        put_one_hot(out, at + 12, 5, _TOP_POWER[view.top])
    at += 17
    if view.asked_seat >= 0:
        put_one_hot(out, at, MAX_SEATS, seat_after(view.asked_seat, to_viewer, seats))
        put_one_hot(out, at + MAX_SEATS, QUESTIONS, view.asked_what)
    at += MAX_SEATS + QUESTIONS
    for i in range(view.num_asks):
        put_row(out, at + (QUESTIONS + 2) * i, view.answers[i], QUESTIONS + 2)
    at = put_order(view, out, at + (QUESTIONS + 2) * MAX_ASKS)
    at = put_row(out, at, view.open, NUM_CARDS)
    for k in range(seats):
        seat = seat_after(viewer, k, seats)
        at = put_row(out, at, view.hand[seat], NUM_CARDS)
        at = put_row(out, at, view.won[seat], NUM_CARDS)
        at = put_row(out, at, _HAND_SIZES[view.hand_size[seat]], MAX_HAND)
        at = put_row(out, at, _SIZES[view.won_size[seat]], _BITS + _STEPS)
        if view.lacks[seat]:
            put_binary(out, at, QUESTIONS, view.lacks[seat])
        out[at + QUESTIONS] = view.owed[seat]
        at += QUESTIONS + 1
        at = put_row(out, at, view.history[seat], 4 * MAX_ASKS)


@jit.inline
def put_order(view, out, at):
    """The section `order`."""
    for i in range(view.pile_size):
        put_row(out, at + _BITS * i, _CODES[view.pile[i]], 8)
    size = view.stock_ends[1]
    for place in range(size - 1, size - 1 - view.under, -1):
        kind = view.stock[(view.stock_ends[0] + place) % NUM_CARDS]
        if kind >= 0:
            put_row(out, at + _BITS * (NUM_CARDS - 1 - place), _CODES[kind], 8)
    return at + _BITS * NUM_CARDS
