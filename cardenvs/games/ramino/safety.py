"""Whether a turn can still end: in a discard (RA-20), and with the points that opening takes (RA-09)."""

import numpy as np

from cardenvs.core import jit
from cardenvs.games.ramino.cards import (
    ACES,
    BITS,
    COUNT,
    HIGH_ACES,
    JOKER_BIT,
    NEAR,
    POINTS,
    POSITION_POINTS,
    copies,
    is_fresh,
    is_open,
    jokers_in,
    of_suits,
    place_of,
    suits_in,
    suits_of,
    types,
    with_one,
    without,
)

OPENING_POINTS = np.array([0, 40, 51])
TO_HAND = 1
MOST = 11
"""No card is worth more."""
NUM_SETS = 39
"""Sets that can lie on the table: three of each rank."""


@jit.kernel
def can_end(state):
    """Whether the seat to act can end its turn in keeping with the rules."""
    seat = state.seat
    if state.opened[seat]:
        return is_safe(state)
    return can_open(state, OPENING_POINTS[state.opening_points] - state.laid)


@jit.inline
def barred_bit(state):
    """The bit of the type that may not be discarded, 0 if there is none (RA-05)."""
    if state.taken < 0 or state.throw_back:
        return 0
    return BITS[state.taken]


@jit.kernel
def is_safe(state):
    """RA-20. Of all that could be laid and exchanged, this is what decides.

    A card to discard must be left. Only where jokers come to the hand can one be had for the type that is barred. Owed jokers
    go to places on the table or into new melds: two of them with any natural, one with two naturals, and that meld has a place for another.
    """
    hand = state.hand[state.seat]
    one, two = hand[0], hand[1]
    barred = barred_bit(state)
    wishes = types(state.jokers[0]) | state.doubled  # a single card of these types frees a joker
    if state.joker_reuse == TO_HAND:
        return one & ~barred != 0 or one & barred & wishes != 0
    if one & ~barred == 0:
        return False
    if state.owed <= state.places:
        return True
    if state.owed == 2:
        return two != 0 or one & (one - 1) != 0
    return can_lay_joker(one, two, barred, wishes)


@jit.kernel
def can_lay_joker(one, two, barred, wishes):
    """Whether one owed joker can be laid although the table has no place, with a card to discard left."""
    left = one & ~JOKER_BIT
    while left:
        card = left & -left
        left ^= card
        fewer, pairs = without(one, two, card)
        if fewer & JOKER_BIT:  # with the own joker
            rest, _ = without(fewer, pairs, JOKER_BIT)
            if rest & ~barred:
                return True
        partners = fewer & NEAR[place_of(card)]
        if partners:  # with another natural
            partner = partners & barred
            if partner == 0:
                partner = partners & -partners
            rest, _ = without(fewer, pairs, partner)
            if rest & ~barred:
                return True
        if card & wishes and fewer & ~barred and (pairs != 0 or fewer & (fewer - 1) != 0):  # both jokers, after another exchange
            return True
    return False


# A node of the search of `can_open`: what is still open, and what has been decided.
ONE, TWO, JOKERS = 0, 1, 2  # cards of the hand about which nothing is decided: a pair of naturals, and jokers
NEED, BOUND = 3, 4  # value that is missing, and no less than what these cards can be worth
KEPT = 5  # types that stay in hand
FREES = 6  # whether the barred type in hand would free a joker for it
LENGTH, CELL, STEP = 7, 8, 9  # a run of so many cards is being laid, and goes on from the cell by the step; length 0: none is
LOW, LOWS, HIGH, HIGHS, SETS = 10, 11, 12, 13, 14  # ends of fresh runs (two pairs) and sets (from this number on) not decided yet
NODE = 15
MOST_NODES = 512
"""A card has less than 20 children, a cell of a run three; no more wait at a time than those of 14 cards in a row."""


@jit.inline
def put_node(stack, top, node):
    """Write a node to the stack."""
    for i in range(len(node)):
        stack[top, i] = node[i]


@jit.inline
def take_node(stack, top, node):
    """Read a node from the stack."""
    for i in range(len(node)):
        node[i] = stack[top, i]


@jit.kernel
def can_open(state, need):
    """Whether the seat to act, which has not opened, can lay what is worth `need` and end its turn after that (RA-09).

    It may add to fresh melds and lay new ones. The search is exact: it extends the fresh runs and sets in every way, then puts
    every natural card in turn into each of the melds that it can be in, or leaves it in hand.
    """
    hand = state.hand[state.seat]
    barred = barred_bit(state)
    reuse = barred & ~JOKER_BIT if state.joker_reuse == TO_HAND else 0
    stack = np.empty((MOST_NODES, NODE), np.int64)
    node = np.zeros(NODE, np.int64)
    node[ONE], node[TWO], node[JOKERS] = hand[0] & ~JOKER_BIT, hand[1] & ~JOKER_BIT, copies(hand, JOKER_BIT)
    node[NEED], node[BOUND] = need, worth(node[ONE], node[TWO], node[JOKERS])
    node[FREES] = types(state.jokers[0]) & reuse
    node[LOW], node[LOWS], node[HIGH], node[HIGHS] = state.fresh_low[0], state.fresh_low[1], state.fresh_high[0], state.fresh_high[1]
    put_node(stack, 0, node)
    top = 1
    while top > 0:
        top -= 1
        take_node(stack, top, node)
        if node[NEED] > node[BOUND]:
            continue
        one, jokers, length = node[ONE], node[JOKERS], node[LENGTH]
        if node[NEED] <= 0 and (length == 0 or length >= 3):
            rest = node[KEPT] | one | (JOKER_BIT if jokers > 0 else 0)
            if rest & ~barred or (node[FREES] and rest & reuse):
                return True
        if length > 0:
            top = continue_run(stack, top, node, reuse)
        elif node[LOW] or node[HIGH]:
            top = extend_run(stack, top, node, reuse)
        elif node[SETS] < NUM_SETS:
            top = extend_set(stack, top, node, reuse, np.int64(state.sets[node[SETS] // 3, node[SETS] % 3]))
        elif one:
            top = use_card(stack, top, node, reuse)
    return False


@jit.kernel
def worth(one, two, jokers):
    """No less than what these cards can be worth in melds: face values, and every joker as an ace."""
    total = MOST * jokers
    for rank in range(13):
        total += POINTS[rank] * (COUNT[suits_of(one, rank)] + COUNT[suits_of(two, rank)])
    return total


@jit.inline
def put_natural(child, card, value):
    """In a node, lay a natural card for so many points."""
    child[ONE], child[TWO] = without(child[ONE], child[TWO], card)
    child[NEED] -= value
    child[BOUND] -= POINTS[place_of(card) % 14]


@jit.inline
def put_joker(child, value):
    """In a node, lay a joker for so many points."""
    child[JOKERS] -= 1
    child[NEED] -= value
    child[BOUND] -= MOST


@jit.kernel
def extend_run(stack, top, node, reuse):
    """An end of a fresh run stays, or a card is added to it."""
    ends, step, last = (LOW, -1, ACES) if node[LOW] else (HIGH, 1, HIGH_ACES)
    end = node[ends] & -node[ends]
    node[ends], node[ends + 1] = without(node[ends], node[ends + 1], end)
    put_node(stack, top, node)
    top += 1
    if end & last:
        return top
    cell = end >> 1 if step < 0 else end << 1
    node[ends], node[ends + 1] = with_one(node[ends], node[ends + 1], cell)
    return put_at(stack, top, node, reuse, cell)


@jit.kernel
def continue_run(stack, top, node, reuse):
    """The run that is being laid ends, or a card is added to it."""
    if node[LENGTH] >= 3:
        put_node(stack, top, node)
        stack[top, LENGTH] = 0
        top += 1
    position = node[CELL] % 14 + 1 + node[STEP]
    if not 1 <= position <= 14:
        return top
    node[LENGTH] += 1
    node[CELL] += node[STEP]
    return put_at(stack, top, node, reuse, 1 << node[CELL])


@jit.kernel
def put_at(stack, top, node, reuse, cell):
    """A joker or the natural is laid in the cell of a run."""
    card = types(cell)
    value = POSITION_POINTS[place_of(cell) % 14 + 1]
    if node[JOKERS] > 0:
        put_node(stack, top, node)
        put_joker(stack[top], value)
        stack[top, FREES] |= card & reuse
        top += 1
    if node[ONE] & card:
        put_node(stack, top, node)
        put_natural(stack[top], card, value)
        top += 1
    return top


@jit.kernel
def extend_set(stack, top, node, reuse, code):
    """The next set of the table stays, or a card is added to it, if it is fresh and open."""
    rank = node[SETS] // 3
    node[SETS] += 1
    missing = of_suits(15 - suits_in(code), rank)
    put_node(stack, top, node)
    if jokers_in(code) == 2:
        stack[top, FREES] |= missing & reuse
    top += 1
    if not (is_open(code) and is_fresh(code)):
        return top
    if node[JOKERS] > 0 and jokers_in(code) < 2:
        put_node(stack, top, node)
        put_joker(stack[top], POINTS[rank])
        if jokers_in(code) == 1:
            stack[top, FREES] |= missing & reuse
        top += 1
    cards = missing & node[ONE]
    while cards:
        card = cards & -cards
        cards ^= card
        put_node(stack, top, node)
        put_natural(stack[top], card, POINTS[rank])
        if jokers_in(code) == 2:
            stack[top, FREES] |= missing & ~card & reuse
        top += 1
    return top


@jit.kernel
def use_card(stack, top, node, reuse):
    """The first natural card stays in hand, or goes into a set or a run."""
    card = node[ONE] & -node[ONE]
    place = place_of(card)
    suit, rank = place // 14, place % 14
    put_node(stack, top, node)  # it stays, and its twin: to lay one of them is tried below
    stack[top, KEPT] |= card
    stack[top, ONE] &= ~card
    stack[top, TWO] &= ~card
    stack[top, BOUND] -= POINTS[rank] * (2 if node[TWO] & card else 1)
    top += 1
    if rank == 0:  # a run from the ace high downwards
        put_node(stack, top, node)
        put_natural(stack[top], card, POSITION_POINTS[14])
        stack[top, LENGTH], stack[top, CELL], stack[top, STEP] = 1, place + 13, -1
        top += 1
    put_natural(node, card, POINTS[rank])
    others = suits_of(node[ONE], rank) & ~(1 << suit)
    suits = others
    while True:  # sets with any of the other suits; those before it are decided
        for jokers in range(max(0, 2 - COUNT[suits]), min(node[JOKERS], 3 - COUNT[suits]) + 1):
            put_node(stack, top, node)
            child = stack[top]
            child[ONE], child[TWO] = without(child[ONE], child[TWO], of_suits(suits, rank))
            child[NEED] -= POINTS[rank] * COUNT[suits]
            child[BOUND] -= POINTS[rank] * COUNT[suits]
            for _ in range(jokers):
                put_joker(child, POINTS[rank])
            if jokers == 2:
                child[FREES] |= of_suits(15 & ~(suits | 1 << suit), rank) & reuse
            top += 1
        if suits == 0:
            break
        suits = (suits - 1) & others
    node[NEED] += POINTS[rank] - POSITION_POINTS[rank + 1]
    node[LENGTH], node[CELL], node[STEP] = 1, place, 1
    for below in range(min(node[JOKERS], rank) + 1):  # a run from it upwards, after so many jokers
        if below > 0:
            put_joker(node, POSITION_POINTS[rank + 1 - below])
            node[LENGTH] += 1
            node[FREES] |= 1 << place - below & reuse
        put_node(stack, top, node)
        top += 1
    return top
