"""The rules of Kuhn poker; rule ids are those of the README beside this file."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cardenvs.core import jit
from cardenvs.core.jit import copy_row
from cardenvs.core.piles import draw
from cardenvs.core.rng import DEALS, shuffle
from cardenvs.core.state import SCORE, pay_score, pay_win, state_dtype

CARDS = ("J", "Q", "K")
"""Weakest first (KU-01)."""
SEATS = 2
MOST_MOVES = 3
PASS, BET = 0, 1
SCALE = 1.0

STATE = state_dtype(
    SEATS,
    [
        ("stock", np.int8, 3),  # face down; in a view -1
        ("stock_ends", np.int8, 2),
        ("hand", np.int8, SEATS),  # the card of each seat; in a view -1 where it is not seen
        ("moves", np.int8, MOST_MOVES),  # so far, else -1
        ("num_moves", np.int8),
        ("chips", np.int8, SEATS),  # in the pot
        ("winner", np.int8),  # -1 until the end
        ("shown", np.int8),  # the cards were compared
    ],
)


def deck(num_players: int, options: Mapping[str, Any]) -> list[int]:
    """Jack, queen, king (KU-01)."""
    return [0, 1, 2]


@jit.kernel
def deal(state, deck):
    """One card and an ante each (KU-02)."""
    for card in range(3):
        state.stock[card] = card
    shuffle(state.rng, DEALS, state.stock)
    if len(deck) > 0:
        copy_row(state.stock, deck)
    state.stock_ends[1] = 3
    for seat in range(SEATS):
        state.hand[seat] = draw(state.stock, state.stock_ends)
    state.chips[:] = 1
    state.moves[:] = -1
    state.winner = -1


@jit.kernel
def legal_actions(state, mask):
    """Both, always (KU-03)."""
    mask[PASS] = 1
    mask[BET] = 1


@jit.kernel
def step(state, action):
    seat = state.seat
    other = 1 - seat
    answers_bet = state.chips[other] > state.chips[seat]
    state.moves[state.num_moves] = action
    state.num_moves += 1
    if action == BET:
        state.chips[seat] += 1
    if answers_bet and action == PASS:  # KU-04
        end(state, other)
    elif answers_bet or (action == PASS and state.num_moves == 2):  # KU-05
        state.shown = 1
        end(state, seat if state.hand[seat] > state.hand[other] else other)
    else:
        state.seat = other


@jit.kernel
def end(state, winner):
    """The winner takes the pot (KU-06)."""
    state.winner = winner
    state.terminated = 1
    points = np.zeros(SEATS, np.int64)
    scores(state, points)
    if state.reward == SCORE:
        pay_score(state, points, SCALE)
    else:
        pay_win(state, points)


@jit.kernel
def scores(state, out):
    """Chips won, 0 until the end (KU-06)."""
    if state.winner >= 0:
        loser = 1 - state.winner
        out[state.winner] = state.chips[loser]
        out[loser] = -state.chips[loser]


@jit.kernel
def hide(view):
    """The other's card is seen when both are shown; the third card never."""
    view.stock[:] = -1
    if not view.shown:
        view.hand[1 - view.viewer] = -1


@jit.kernel
def resample(state, words):
    """Deal the cards that the viewer does not see once more."""
    viewer = state.viewer
    cards = np.empty(2, np.int8)
    at = 0
    for card in range(3):
        if card != state.hand[viewer]:
            cards[at] = card
            at += 1
    shuffle(words, 0, cards)
    if state.shown and cards[0] != state.hand[1 - viewer]:
        cards[0], cards[1] = cards[1], cards[0]
    state.hand[1 - viewer] = cards[0]
    copy_row(state.stock, state.hand)
    state.stock[2] = cards[1]
