"""What a seat may not know: views, and full states drawn from them."""

import numpy as np

from cardenvs.core import jit
from cardenvs.core.rng import below, shuffle
from cardenvs.games.ding.cards import COLOUR, MAX_SEATS, NUM_CARDS, NUMBER
from cardenvs.games.ding.rules import RANDOM, TURN, WINDOW, judge, list_asked, was_shuffled

MAX_DEALS, MAX_REPAIRS, MIXING = 100, 3000, 200
"""`resample` deals at most so often; it tries so many exchanges to repair a deal, and so many more to mix a repaired one."""


@jit.kernel
def hide(view):
    """Only the own hand is seen, and of others what they called falsely; who else is asked never is (G-05)."""
    if view.phase != TURN and view.viewer != view.seat:
        view.phase = TURN
        view.seat = view.turn
        view.drawn = -1
    view.queue[:] = 0
    view.queue_next = 0
    view.queue_end = 0
    view.stock[:] = -1
    own = 0
    for k in range(view.num_true):
        card = view.true_cards[k]
        if view.holder[card] == view.viewer:
            view.true_cards[own] = card
            own += 1
    view.num_true = own
    view.true_cards[own:] = 0
    viewer = view.viewer
    for card in range(NUM_CARDS):
        holder = view.holder[card]
        view.holder[card] = holder if (holder == viewer) | (view.called[card] == 1) else -1


@jit.kernel
def resample(state, words):
    """Deal the unseen cards at random, as far as plays and draws allow; then list the seats that this deal asks after the viewer."""
    cards = np.empty(NUM_CARDS, np.int64)
    owners = np.empty(NUM_CARDS, np.int64)
    counts = np.zeros((MAX_SEATS, 18), np.int64)
    old, unseen = list_unseen(state, cards, owners)
    for _ in range(MAX_DEALS):
        shuffle(words, 0, cards[:old])
        shuffle(words, 0, cards[old:unseen])
        if settle(state, words, cards, owners, counts, old, unseen):
            break
    place = state.stock_top
    for i in range(unseen):
        if owners[i] >= 0:
            state.holder[cards[i]] = owners[i]
        else:
            state.stock[place] = cards[i]
            place += 1
    judge(state)
    if state.phase == WINDOW:
        list_asked(state)
        if state.race == RANDOM:
            shuffle(words, 0, state.queue[: state.queue_end])
        while state.queue[state.queue_next] != state.seat:
            state.queue_next += 1
        state.queue_next += 1


@jit.kernel
def list_unseen(state, cards, owners):
    """List the cards that the viewer does not know where they are, and the hands (-1: the draw pile) that are to take them.

    First those that were in hands when the draw pile was last shuffled, so that they still are; returns how many, and how many in all.
    """
    known = np.zeros((2, MAX_SEATS), np.int64)
    discarded = np.zeros(NUM_CARDS, np.int64)
    for place in range(state.num_discards):
        discarded[state.discards[place]] = 1
    at = old = 0
    for fresh in range(2):
        first = at
        for card in range(NUM_CARDS):
            if was_shuffled(state, card) == (fresh == 1):
                if state.holder[card] >= 0:
                    known[fresh, state.holder[card]] += 1
                elif not discarded[card]:
                    cards[at] = card
                    owners[at] = -1
                    at += 1
        for seat in range(state.num_seats):
            held = state.fresh[seat] if fresh else state.hand_sizes[seat] - state.fresh[seat]
            for _ in range(held - known[fresh, seat]):
                owners[first] = seat
                first += 1
        if not fresh:
            old = at
    return old, at


@jit.kernel
def settle(state, words, cards, owners, counts, old, unseen):
    """Exchange cards until no hand has more of a colour or number than its draws allow; whether that came about.

    A deal that needs none is left alone; else exchanges that make nothing worse go on for a while, so that the deal is a random one.
    """
    counts[:] = 0
    for card in range(NUM_CARDS):
        add_card(counts, state.holder[card], card, 1)
    for i in range(unseen):
        add_card(counts, owners[i], cards[i], 1)
    surplus = np.int64(0)
    for seat in range(state.num_seats):
        surplus += surplus_of(state, counts, seat)
    if surplus == 0:
        return True
    tries = MAX_REPAIRS
    while tries > 0:
        tries -= 1
        i = below(words, 0, unseen)
        j = below(words, 0, unseen)
        if owners[i] == owners[j] or (i < old) != (j < old):
            continue
        before = surplus_of(state, counts, owners[i]) + surplus_of(state, counts, owners[j])
        exchange(counts, cards, owners, i, j)
        change = surplus_of(state, counts, owners[i]) + surplus_of(state, counts, owners[j]) - before
        if change > 0:
            exchange(counts, cards, owners, i, j)
        elif change < 0:
            surplus += change
            if surplus == 0:
                tries = MIXING
    return surplus == 0


@jit.kernel
def exchange(counts, cards, owners, i, j):
    """Exchange the unseen cards of two places."""
    add_card(counts, owners[i], cards[i], -1)
    add_card(counts, owners[j], cards[j], -1)
    kept = cards[i]
    cards[i] = cards[j]
    cards[j] = kept
    add_card(counts, owners[i], cards[i], 1)
    add_card(counts, owners[j], cards[j], 1)


@jit.kernel
def add_card(counts, owner, card, number):
    """Count a card of a hand by its colour and its number."""
    if owner >= 0:
        counts[owner, COLOUR[card]] += number
        counts[owner, 8 + NUMBER[card]] += number


@jit.kernel
def surplus_of(state, counts, owner):
    """By how many cards a hand exceeds what its seat can hold of each colour and number."""
    surplus = np.int64(0)
    if owner >= 0:
        for kind in range(18):
            surplus += max(0, counts[owner, kind] - state.most[owner, kind])
    return surplus
