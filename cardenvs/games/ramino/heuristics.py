"""Scripted players of Ramino."""

import numpy as np

from cardenvs.core import jit
from cardenvs.core.state import SCORE, seat_after
from cardenvs.games.ramino.cards import (
    ACES,
    BITS,
    HIGH_ACES,
    JOKER,
    JOKER_BIT,
    NEAR,
    POINTS,
    cells,
    copies,
    is_open,
    of_suits,
    place_of,
    suits_in,
    types,
    with_one,
)
from cardenvs.games.ramino.plan import ADD, COST, LEFT, NEW, NO_PLAN, NODE, SWAP, TWIN, search
from cardenvs.games.ramino.plan import DISCARD as THROWN
from cardenvs.games.ramino.rules import (
    ADD_LOW,
    ADD_LOW_JOKER,
    ADD_SET_JOKER,
    DISCARD,
    DRAW,
    DRAW_PILE,
    DRAW_STOCK,
    NEW_SET,
    NUM_ACTIONS,
    SWAP_RUN,
)
from cardenvs.games.ramino.safety import barred_bit

# Easy.


@jit.kernel
def choose_easy(view, mask, words):
    """Take what can be laid, lay what can be laid but no joker alone, throw the dearest card that has no neighbour."""
    hand = view.hand[view.viewer]
    if view.phase == DRAW:
        top = BITS[view.pile[view.pile_size - 1]]
        return DRAW_PILE if mask[DRAW_PILE] and (top == JOKER_BIT or can_lay(view, hand[0], top)) else DRAW_STOCK
    for action in range(NEW_SET, NUM_ACTIONS):
        if mask[action] and (view.owed or not adds_joker(action)):
            return action
    thrown, most = 0, -1
    for card in range(JOKER + 1):
        if mask[DISCARD + card]:
            worth = 0
            if card != JOKER:
                near = hand[0] & NEAR[place_of(BITS[card])]
                worth = POINTS[card % 13] + (0 if near else 20)
            if worth > most:
                thrown, most = DISCARD + card, worth
    return thrown


@jit.kernel
def can_lay(view, word, card):
    """Whether a card makes a meld with two naturals of a word, or can be added on the table by the viewer."""
    if view.opened[view.viewer] and card & fitting(view):
        return True
    partners = word & NEAR[place_of(card)] & ~card
    while partners:
        partner = partners & -partners
        partners ^= partner
        if partners & THIRD[place_of(card), place_of(partner)]:
            return True
    return False


@jit.kernel
def fitting(view):
    """The types that can be added to melds on the table."""
    word = types((view.low[0] & ~ACES) >> 1 | (view.high[0] & ~HIGH_ACES) << 1)
    for rank in range(13):
        for i in range(3):
            code = np.int64(view.sets[rank, i])
            if is_open(code):
                word |= of_suits(15 - suits_in(code), rank)
    return word


@jit.inline
def adds_joker(action):
    """Whether the action adds a joker to a meld."""
    return ADD_SET_JOKER <= action < ADD_LOW or ADD_LOW_JOKER <= action < SWAP_RUN


def _third(first: int, second: int) -> int:
    """The types that make a meld of naturals with those of two places."""
    (suit, rank), (other, rank2) = divmod(first, 14), divmod(second, 14)
    if suit != other:
        return sum(1 << 14 * s + rank for s in range(4) if s not in (suit, other)) if rank == rank2 else 0
    word = 0
    for low in range(12):
        three = {low, low + 1, (low + 2) % 13}
        if rank != rank2 and {rank, rank2} <= three:
            word |= sum(1 << 14 * suit + third for third in three - {rank, rank2})
    return word


THIRD = np.array([[_third(first, second) for second in range(56)] for first in range(56)])
"""By two places: the types that make a meld with their types."""

# Strong. Prices and gains are in thousandths of a card that stays in hand.

WEIGHTS = np.array([1000, 1500, 16, 3, 10, 1, 300, 100, 60, 150])
CARD, OWN_JOKER, PAIR, NEIGHBOUR, REACH, POINT, FEEDS, FEEDS_LATER, MATCHES, STOCK = range(10)
"""CARD, OWN_JOKER: a natural and a joker that stay. PAIR, NEIGHBOUR, REACH: off for every unseen card that makes a meld with the
natural and another of the hand, that makes one with it and a joker, that lies between it and the end of a run. POINT: for each
point of penalty. FEEDS, FEEDS_LATER: throwing what fits on the table, before a seat that is opened or not. MATCHES: throwing what is
near a card that the next seat surely holds, for each. STOCK: what is hoped for from the stock."""


@jit.kernel
def choose_strong(view, mask, words):
    """Plan with the exact search, hold melds until the hand can be closed, throw what is of least use to the hand and to the next seat."""
    return decide(view, mask, WEIGHTS)


@jit.kernel
def decide(view, mask, weights):
    """`choose_strong`, with any weights."""
    price, gain, best = np.zeros(TWIN + 1, np.int64), np.zeros(TWIN + 1, np.int64), np.zeros(NODE, np.int64)
    hand = view.hand[view.viewer]
    one, two, jokers = hand[0], hand[1], copies(hand, JOKER_BIT)
    if view.phase == DRAW:
        if not mask[DRAW_PILE]:
            return DRAW_STOCK
        set_prices(view, one, two, weights, price, gain)
        search(view, one & ~JOKER_BIT, two & ~JOKER_BIT, jokers, 0, False, price, gain, best)
        before = best[COST]
        top = BITS[view.pile[view.pile_size - 1]]
        one, two = with_one(one, two, top)
        jokers += 1 if top == JOKER_BIT else 0
        set_prices(view, one, two, weights, price, gain)
        search(view, one & ~JOKER_BIT, two & ~JOKER_BIT, jokers, 0 if view.throw_back else top, True, price, gain, best)
        return DRAW_PILE if best[COST] + weights[STOCK] < before else DRAW_STOCK
    set_prices(view, one, two, weights, price, gain)
    search(view, one & ~JOKER_BIT, two & ~JOKER_BIT, jokers + view.owed, barred_bit(view), True, price, gain, best)
    planned = best[COST] < NO_PLAN
    closes = planned and best[LEFT] == 1
    if planned and (closes or view.owed > 0 or view.laid > 0 or lays_early(view)):
        for kind in (NEW, SWAP, ADD):
            if best[kind] >= 0 and mask[best[kind]]:
                return best[kind]
    if closes or view.owed > 0:
        for action in range(ADD_SET_JOKER, SWAP_RUN):
            if mask[action] and adds_joker(action):
                return action
    action = DISCARD + best[THROWN] // 14 * 13 + best[THROWN] % 14
    if planned and mask[action]:
        return action
    for action in range(NUM_ACTIONS - 1, -1, -1):
        if mask[action]:
            return action
    return -1


@jit.kernel
def lays_early(view):
    """Whether melds are laid before the hand can be closed: where points count, and at the end of the deal."""
    return view.reward == SCORE or view.num_deals > 1 or view.target > 0 or view.turns >= 58 * np.int64(view.num_seats)


@jit.kernel
def set_prices(view, one, two, weights, price, gain):
    """Write what each card of a hand costs if it stays, and what it is worth to throw it."""
    following = seat_after(view.viewer, 1, view.num_seats)
    held, opened = view.held[following, 0], view.opened[following]
    fits = fitting(view)
    low, high = view.low[0], view.high[0]
    price[JOKER_PLACE] = weights[OWN_JOKER]
    gain[JOKER_PLACE] = -weights[OWN_JOKER]
    price[TWIN] = weights[CARD]
    left = one & ~JOKER_BIT
    while left:
        card = left & -left
        left ^= card
        place = place_of(card)
        near = NEAR[place]
        worth = weights[NEIGHBOUR] * unseen(view, near)
        partners = one & near
        while partners:
            partner = partners & -partners
            partners ^= partner
            worth += weights[PAIR] * unseen(view, THIRD[place, place_of(partner)])
        there = cells(card)
        between = (there & high << 2 & ABOVE_TWO) >> 1 | (there & low >> 2 & BELOW_TWO) << 1
        worth += weights[REACH] * unseen(view, types(between))
        price[place] = weights[CARD] - worth + weights[POINT] * POINTS[place % 14]
        risk = weights[MATCHES] * bits(held & near)
        if card & fits:
            risk += weights[FEEDS] if opened else weights[FEEDS_LATER]
        gain[place] = price[place] - risk


JOKER_PLACE = 56
ABOVE_TWO = ACES * 0x3FFC
BELOW_TWO = ACES * 0x0FFF
"""The cells from position 3 on, and up to 12."""


@jit.inline
def unseen(view, word):
    """How many unseen cards there are of the types of a word."""
    return bits(view.unseen[0] & word) + bits(view.unseen[1] & word)


@jit.inline
def bits(word):
    """The number of bits in a word."""
    count = 0
    while word:
        word &= word - 1
        count += 1
    return count
