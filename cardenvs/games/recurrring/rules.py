"""The rules of ReCURRRing; rule ids are those of the README beside this file."""

import numpy as np

from cardenvs.core import jit
from cardenvs.core.jit import copy_row
from cardenvs.core.rng import DEALS, shuffle
from cardenvs.core.state import SCORE, pay_score, pay_win, seat_after
from cardenvs.games.recurrring.cards import COPIES, COUNTS, MAX_SEATS, R

PASS = 0
FIRST_PLAY = 1 + np.concatenate(([0], np.cumsum(COPIES)[:-1]))
"""The action that plays one card of each value; k - 1 more plays k cards."""
NUM_ACTIONS = 1 + int(COPIES.sum())
PLAYED_VALUE = np.concatenate(([-1], np.repeat(np.arange(10), COPIES)))
PLAYED_COUNT = np.concatenate(([0], *(np.arange(1, copies + 1) for copies in COPIES)))
"""Value and count that each action plays."""

SCALE = 10.0

FIELDS = [
    ("num_games", np.int32),  # option
    ("game", np.int32),  # from 0
    ("points", np.int32, MAX_SEATS),  # of the finished games
    ("table_value", np.int8),  # -1 while the table is empty
    ("table_count", np.int8),
    ("owner", np.int8),  # whose cards lie on the table; -1 while it is empty
    ("first_out", np.int8),  # the seat that emptied its hand first, or -1
    ("passed", np.int8, MAX_SEATS),
    ("hand_size", np.int8, MAX_SEATS),
    ("hand", np.int8, (MAX_SEATS, 10)),  # cards by value; in a view, of other seats the known ones only
    ("known", np.int8, (MAX_SEATS, 10)),  # of these, the ones that everybody saw being taken
    ("pile", np.int8, (MAX_SEATS, 10)),  # scored, face up
    ("hidden", np.int8, 10),  # in all hands together, cards that nobody saw being taken
    ("unseen", np.int8, 10),  # in a view: those of them that are not the viewer's own
    ("face_down_value", np.int8, MAX_SEATS),  # of the cards taken when the hand was emptied, or -1
    ("face_down_count", np.int8, MAX_SEATS),
]
"""The game's own fields of a record."""


@jit.kernel
def deal(state, deck):
    """Start the first of the match's games (RC-13)."""
    deal_game(state, deck)


@jit.kernel
def deal_game(state, deck):
    """Shuffle, deal and put the 1 on the table (RC-03, RC-04)."""
    seats = state.num_seats
    counts = COUNTS[seats]
    cards = np.empty(counts.sum(), np.int64)
    at = 0
    for value in range(10):
        for _ in range(counts[value]):
            cards[at] = value
            at += 1
    shuffle(state.rng, DEALS, cards)
    if len(deck) > 0:
        copy_row(cards, deck)
    state.hand[:] = 0
    state.hand_size[:] = 0
    for i in range(len(cards)):
        state.hand[i % seats, cards[i]] += 1
        state.hand_size[i % seats] += 1
    copy_row(state.hidden, counts)
    state.known[:] = 0
    state.pile[:] = 0
    state.face_down_value[:] = -1
    state.face_down_count[:] = 0
    state.passed[:] = 0
    state.first_out = -1
    for seat in range(seats):
        if state.hand[seat, 0] == 1:
            put_on_table(state, seat, 0, 1)
            state.seat = seat_after(seat, 1, seats)


@jit.kernel
def legal_actions(state, mask):
    """RC-05; whoever leads a round plays one card and may not pass (RC-08)."""
    hand = state.hand[state.seat]
    if state.owner < 0:
        for value in range(10):
            mask[FIRST_PLAY[value]] = hand[value] > 0
        return
    mask[PASS] = 1
    count = state.table_count
    for value in range(10):
        if hand[value] > count:  # method B: one card more
            mask[FIRST_PLAY[value] + count] = 1
        if value < state.table_value and hand[value] >= count:  # method A: as many, stronger
            mask[FIRST_PLAY[value] + count - 1] = 1


@jit.kernel
def step(state, action):
    seat = state.seat
    if action == PASS:
        state.passed[seat] = 1  # RC-06
    else:
        exchange(state, seat, PLAYED_VALUE[action], PLAYED_COUNT[action])
    if all_others_out(state):
        score_table(state)
        if state.first_out >= 0:  # RC-09: that was the last round
            end_game(state)
        return
    while True:
        seat = seat_after(seat, 1, state.num_seats)
        if is_in(state, seat):
            state.seat = seat
            return


@jit.kernel
def is_in(state, seat):
    """Whether a seat may still exchange in this round (RC-06, RC-10)."""
    return state.passed[seat] == 0 and state.hand_size[seat] > 0


@jit.kernel
def exchange(state, seat, value, count):
    """Play cards for those on the table, or lead (RC-05, RC-08)."""
    taken_value, taken_count = state.table_value, state.table_count
    put_on_table(state, seat, value, count)
    emptied = state.hand_size[seat] == 0
    if emptied and state.first_out < 0:
        state.first_out = seat
    if taken_value < 0:
        return
    if emptied:  # RC-09, RC-11
        state.face_down_value[seat] = taken_value
        state.face_down_count[seat] = taken_count
    else:
        state.hand[seat, taken_value] += taken_count
        state.known[seat, taken_value] += taken_count
        state.hand_size[seat] += taken_count


@jit.kernel
def put_on_table(state, seat, value, count):
    """Cards leave the hand and become the table cards; those known to be in the hand go first."""
    state.hand[seat, value] -= count
    state.hand_size[seat] -= count
    state.hidden[value] -= max(0, count - state.known[seat, value])
    state.known[seat, value] = max(0, state.known[seat, value] - count)
    state.table_value = value
    state.table_count = count
    state.owner = seat


@jit.kernel
def all_others_out(state):
    """RC-07"""
    for seat in range(state.num_seats):
        if seat != state.owner and is_in(state, seat):
            return False
    return True


@jit.kernel
def score_table(state):
    """The owner scores the table cards and leads the next round (RC-07, RC-08)."""
    state.pile[state.owner, state.table_value] += state.table_count
    state.seat = state.owner
    state.table_value = -1
    state.table_count = 0
    state.owner = -1
    state.passed[:] = 0


@jit.kernel
def worth(state, seat):
    """Points of the running game's scored piles of a seat (RC-12)."""
    cards = 0
    for value in range(R):
        cards += state.pile[seat, value]
    if seat == state.first_out:
        cards += state.pile[seat, R]
    return cards


@jit.kernel
def scores(state, out):
    """Points of the finished games and of the running one (RC-12)."""
    for seat in range(state.num_seats):
        out[seat] = state.points[seat]
        if not state.terminated:
            out[seat] += worth(state, seat)


@jit.kernel
def end_game(state):
    """Add the points; deal again, or end the match (RC-13)."""
    won = np.zeros(MAX_SEATS, np.int64)
    for seat in range(state.num_seats):
        won[seat] = worth(state, seat)
        state.points[seat] += won[seat]
    if state.reward == SCORE:
        pay_score(state, won, SCALE)
    if state.game + 1 < state.num_games:
        state.game += 1
        deal_game(state, won[:0])
    else:
        state.terminated = 1
        if state.reward != SCORE:
            pay_win(state, state.points)


@jit.kernel
def hide(view):
    """Only the own hand is seen; of the others, the cards that all saw being taken."""
    viewer = view.viewer
    for value in range(10):
        view.unseen[value] = view.hidden[value] + view.known[viewer, value] - view.hand[viewer, value]
    for seat in range(view.num_seats):
        if seat != viewer:
            for value in range(10):
                view.hand[seat, value] = view.known[seat, value]


@jit.kernel
def resample(state, words):
    """Deal the unseen cards at random to the places in other hands that are not known."""
    cards = np.empty(state.unseen.sum(), np.int64)
    at = 0
    for value in range(10):
        for _ in range(state.unseen[value]):
            cards[at] = value
            at += 1
    shuffle(words, 0, cards)
    at = 0
    for seat in range(state.num_seats):
        for _ in range(state.hand_size[seat] - state.hand[seat].sum()):
            state.hand[seat, cards[at]] += 1
            at += 1
    state.unseen[:] = 0
