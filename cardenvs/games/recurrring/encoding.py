"""Actions and observation of ReCURRRing."""

import numpy as np

from cardenvs.core import jit
from cardenvs.core.encoding import ActionTable, ObservationTable, Section, counts_writer, put_binary, put_count, put_one_hot
from cardenvs.core.state import SCORE, seat_after, state_dtype
from cardenvs.games.recurrring import rules
from cardenvs.games.recurrring.cards import COPIES, MAX_HAND, MAX_SEATS, VALUES

ACTIONS = ActionTable(
    ("pass", ["pass"]),
    ("play", [f"play {value}x{count}" for value, copies in zip(VALUES, COPIES, strict=True) for count in range(1, copies + 1)]),
)

_CARDS = tuple(COPIES.tolist())
_GAMES = 4
_BITS = 10
_STEP, _STEPS = 4, 16
_WON = 24

OBSERVATION = ObservationTable(
    Section("players", "one-hot", (3,), "number of players", labels=("3", "4", "5")),
    Section("reward", "one-hot", (2,), "the option `reward`", labels=("win", "score")),
    Section("game", "binary", (8,), "number of the running game, from 0 (at most 255)"),
    Section("games_left", "count", (_GAMES,), f"games that follow the running one (at most {_GAMES})"),
    Section("turn", "one-hot", (MAX_SEATS,), "the seat to act, the viewer is 0; none when the match is over"),
    Section("table_value", "one-hot", (10,), "value of the table cards; none while the table is empty", labels=VALUES),
    Section("table_count", "count", (12,), "number of the table cards"),
    Section("owner", "one-hot", (MAX_SEATS,), "whose cards lie on the table"),
    Section("first_out", "one-hot", (MAX_SEATS,), "who emptied its hand first in this game"),
    Section("hand", "count", _CARDS, "own cards by value 1 … 9, R"),
    Section("unseen", "count", _CARDS, "by value: cards that the viewer does not know where they are, all in other hands"),
    each_seat=(
        Section("passed", "flag", (1,), "has passed in this round"),
        Section("hand_size", "count", (MAX_HAND,), "cards in hand"),
        Section("known", "count", _CARDS, "by value: cards in hand that all saw being taken"),
        Section("pile", "count", _CARDS, "by value: cards scored in this game, face up"),
        Section("won", "count", (_WON,), f"what these are worth now (at most {_WON})"),
        Section("points", "binary", (_BITS,), "points of the finished games (at most 1023)"),
        Section("points_steps", "count", (_STEPS,), "the same, rounded down to steps of four (at most 64)", step=_STEP),
        Section("face_down_value", "one-hot", (10,), "value of the cards taken when the hand was emptied", labels=VALUES),
        Section("face_down_count", "count", (12,), "number of these cards"),
    ),
    seats=MAX_SEATS,
)
_SEATS, _BLOCK = OBSERVATION.seats_start, OBSERVATION.block
_put_cards = counts_writer(_CARDS)

STATE = state_dtype(MAX_SEATS, [*rules.FIELDS, ("blocks", np.int8, (MAX_SEATS, _BLOCK))])
"""The record of the rules, and the features of each seat: a decision changes those of one or two seats, an observation shows all."""


@jit.kernel
def write_block(state, seat):
    """Bring the features of a seat up to date; `passed` is written by `observe`."""
    out = state.blocks[seat]
    out[:] = 0
    at = put_count(out, 1, MAX_HAND, state.hand_size[seat])
    at = _put_cards(out, at, state.known[seat])
    at = _put_cards(out, at, state.pile[seat])
    at = put_count(out, at, _WON, 0 if state.terminated else rules.worth(state, seat))
    at = put_binary(out, at, _BITS, state.points[seat])
    at = put_count(out, at, _STEPS, state.points[seat] // _STEP)
    at = put_one_hot(out, at, 10, state.face_down_value[seat])
    at = put_count(out, at, 12, state.face_down_count[seat])


@jit.kernel
def deal(state, deck):
    """`rules.deal`, with the features of all seats."""
    rules.deal(state, deck)
    for seat in range(state.num_seats):
        write_block(state, seat)


@jit.kernel
def step(state, action):
    """`rules.step`, with the features of the seats that it concerns: who acted and who scored, or all when a game ends."""
    seat, game = state.seat, state.game
    rules.step(state, action)
    if state.terminated or state.game != game:
        for other in range(state.num_seats):
            write_block(state, other)
    else:
        write_block(state, seat)
        if state.owner < 0:
            write_block(state, state.seat)


@jit.kernel
def observe(view, out):
    """Write the sections in the order of `OBSERVATION`."""
    seats, viewer = view.num_seats, view.viewer
    to_viewer = seats - viewer
    at = put_one_hot(out, 0, 3, seats - 3)
    at = put_one_hot(out, at, 2, 1 if view.reward == SCORE else 0)
    at = put_binary(out, at, 8, view.game)
    at = put_count(out, at, _GAMES, view.num_games - view.game - 1)
    at = put_one_hot(out, at, MAX_SEATS, -1 if view.terminated else seat_after(view.seat, to_viewer, seats))
    at = put_one_hot(out, at, 10, view.table_value)
    at = put_count(out, at, 12, view.table_count)
    at = put_one_hot(out, at, MAX_SEATS, -1 if view.owner < 0 else seat_after(view.owner, to_viewer, seats))
    at = put_one_hot(out, at, MAX_SEATS, -1 if view.first_out < 0 else seat_after(view.first_out, to_viewer, seats))
    at = _put_cards(out, at, view.hand[viewer])
    at = _put_cards(out, at, view.unseen)
    for k in range(seats):
        seat = seat_after(viewer, k, seats)
        for i in range(_BLOCK):
            out[at + i] = view.blocks[seat, i]
        out[at] = view.passed[seat]
        at += _BLOCK
