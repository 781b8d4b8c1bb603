"""What a hand can be made of: an exact search over all ways to lay at most 14 cards in new melds and on the table."""

import numpy as np

from cardenvs.core import jit
from cardenvs.games.ramino.cards import (
    ACES,
    COUNT,
    HIGH_ACES,
    JOKER_BIT,
    cells,
    is_open,
    jokers_in,
    of_suits,
    place_of,
    suits_in,
    suits_of,
    types,
    without,
)
from cardenvs.games.ramino.rules import (
    ADD_HIGH,
    ADD_HIGH_JOKER,
    ADD_LOW,
    ADD_LOW_JOKER,
    ADD_SET,
    NEW_RUN,
    NEW_SET,
    RUN_NATURALS,
    SET_SUITS,
    SWAP_BOTH,
    SWAP_ONE,
    SWAP_RUN,
    ranks_for_sets,
    starts_of_runs,
)
from cardenvs.games.ramino.safety import TO_HAND, put_node, take_node

# A node of the search: what is still open, and what has been decided.
ONE, TWO, JOKERS, OWED = 0, 1, 2, 3  # undecided: a pair of naturals, and jokers, of which so many must be laid
COST, LEFT = 4, 5  # price and number of the cards that stay in hand
DISCARD, GAIN = 6, 7  # place of the best of them to throw (-1: none), and what that is worth
LENGTH, CELL, STEP = 8, 9, 10  # a run of so many cards is being laid, up to the cell, and goes on by the step; length 0: none is
START, NATURALS = 11, 12  # its first cell, and which of its cards in their order are naturals
LOW, HIGH, FITS = 13, 14, 15  # on the table: ends of runs, and types that fit into open sets
WISHES, DOUBLED, BOTH = 16, 17, 18  # cells of jokers in runs; types missing in the set with two jokers, in open sets with one
PLACES = 19  # for jokers
NEWS, ADDS = 20, 21  # number of new melds, and of additions and exchanges
NEW, ADD, SWAP = 22, 23, 24  # the first action of each kind, -1: none
NODE = 25
MOST_NODES = 512
"""A card has less than 25 children, a cell of a run four; no more wait at a time than those of 14 cards in a row."""

NO_PLAN = 1 << 40
"""The cost where there is no plan."""
TWIN = 57
"""The place in a table of prices for the second card of a type."""

_SET_OF = np.array([next((i for i in range(14) if SET_SUITS[i] == suits), -1) for suits in range(16)])
"""The number of a new set by the suits of its naturals."""
_RUN_OF = np.array([next((i for i in range(7) if RUN_NATURALS[i] == naturals), -1) for naturals in range(8)])
"""The number of a new run by which of its cards are naturals."""
_TURNED = np.array([0, 4, 2, 6, 1, 5, 3, 7])
"""Three bits in the other order."""


@jit.kernel
def search(view, one, two, jokers, barred, discards, price, gain, best):
    """Find the way to lay that leaves the least cost and write its last node to `best`; its cost is NO_PLAN if there is none.

    (`one`, `two`) are the naturals of the hand, `jokers` its jokers with the owed ones. A card that stays costs `price[place]`;
    if the seat `discards`, one of them is thrown, not of the bit `barred`, and is worth `gain[place]`.
    """
    node = np.zeros(NODE, np.int64)
    node[ONE], node[TWO], node[JOKERS], node[OWED] = one, two, jokers, view.owed
    node[DISCARD], node[NEW], node[ADD], node[SWAP] = -1, -1, -1, -1
    node[LOW], node[HIGH], node[WISHES], node[DOUBLED] = view.low[0], view.high[0], view.jokers[0], view.doubled
    node[PLACES] = view.places
    for rank in range(13):
        for i in range(3):
            code = np.int64(view.sets[rank, i])
            if is_open(code):
                missing = of_suits(15 - suits_in(code), rank)
                node[FITS] |= missing
                if jokers_in(code) == 1 and not node[BOTH] & of_suits(15, rank):
                    node[BOTH] |= missing
    opened = view.opened[view.seat]
    to_hand = view.joker_reuse == TO_HAND
    most = gain.max() if discards else 0
    best[COST] = NO_PLAN
    stack = np.empty((MOST_NODES, NODE), np.int64)
    put_node(stack, 0, node)
    top = 1
    while top > 0:
        top -= 1
        take_node(stack, top, node)
        if node[COST] - most >= best[COST]:
            continue
        if node[LENGTH] > 0:
            top = continue_run(stack, top, node)
            continue
        keep_useless(node, barred, price, gain)
        if node[ONE]:
            top = use_card(stack, top, node, barred, to_hand, price, gain)
        else:
            finish(node, opened, view.clean, barred, discards, price, gain, best)


@jit.kernel
def finish(node, opened, clean, barred, discards, price, gain, best):
    """All naturals are decided: lay the jokers that are left, and compare with the best plan so far."""
    may_add = opened or node[NEWS] > 0
    if node[ADDS] > 0 and not may_add:
        return
    laid = min(node[JOKERS], node[PLACES]) if may_add else 0
    if laid < node[OWED]:
        return
    if laid < node[JOKERS]:
        keep(node, JOKER_BIT, node[JOKERS] - laid, barred, price, gain)
    if discards:
        if node[DISCARD] < 0:
            return
        node[COST] -= node[GAIN]
    if clean and node[ADDS] > 0:  # of equal plans one that closes clean (RA-14)
        node[COST] += 1
    if node[COST] < best[COST]:
        for i in range(NODE):
            best[i] = node[i]


@jit.kernel
def keep(node, card, count, barred, price, gain):
    """So many cards of a type stay in hand; of two, one is the twin, and is the one to throw."""
    place = place_of(card)
    extra = price[TWIN] if count == 2 else 0
    node[COST] += price[place] + extra
    node[LEFT] += count
    worth = gain[place] + (extra - price[place] if count == 2 else 0)
    if not card & barred and (node[DISCARD] < 0 or worth > node[GAIN]):
        node[DISCARD], node[GAIN] = place, worth


@jit.kernel
def keep_useless(node, barred, price, gain):
    """Where no joker is to be had: naturals stay that are in no possible meld and fit nowhere on the table."""
    there = cells(node[ONE])
    both = node[BOTH] & node[ONE]
    if node[JOKERS] > 0 or there & node[WISHES] or node[DOUBLED] & node[ONE] or both & (both - 1):
        return
    up, down = (node[HIGH] & ~HIGH_ACES) << 1 & there, (node[LOW] & ~ACES) >> 1 & there
    while True:  # what can follow on the ends of runs
        more = (up & ~HIGH_ACES) << 1 & there & ~up
        less = (down & ~ACES) >> 1 & there & ~down
        if not more | less:
            break
        up |= more
        down |= less
    starts = starts_of_runs(there, 0)
    ranks = ranks_for_sets(node[ONE], 0)
    sets = ranks | ranks << 14 | ranks << 28 | ranks << 42
    useless = node[ONE] & ~(types(starts | starts << 1 | starts << 2 | up | down) | sets | node[FITS])
    while useless:
        card = useless & -useless
        useless ^= card
        stay(node, card, barred, price, gain)


@jit.kernel
def stay(node, card, barred, price, gain):
    """All undecided cards of a type stay in hand."""
    keep(node, card, 2 if node[TWO] & card else 1, barred, price, gain)
    node[ONE] &= ~card
    node[TWO] &= ~card


@jit.inline
def use(node, card):
    """One natural is decided."""
    node[ONE], node[TWO] = without(node[ONE], node[TWO], card)


@jit.inline
def note(node, kind, action):
    """The first action of its kind is remembered."""
    if node[kind] < 0:
        node[kind] = action


@jit.kernel
def use_card(stack, top, node, barred, to_hand, price, gain):
    """The first natural card stays, or is laid in any way that there is; returns the number of nodes then."""
    card = node[ONE] & -node[ONE]
    place = place_of(card)
    suit, rank = place // 14, place % 14
    put_node(stack, top, node)
    stay(stack[top], card, barred, price, gain)
    top += 1
    use(node, card)
    if node[FITS] & card:
        put_node(stack, top, node)
        child = stack[top]
        child[FITS] &= ~of_suits(15, rank)
        child[PLACES] -= 1
        child[ADDS] += 1
        note(child, ADD, ADD_SET + 2 * (4 * rank + suit))
        top += 1
    swaps = cells(card) & node[WISHES]
    while swaps:
        cell = swaps & -swaps
        swaps ^= cell
        put_node(stack, top, node)
        stack[top, WISHES] &= ~cell
        free_joker(stack[top], SWAP_RUN + place_of(cell), to_hand)
        top += 1
    if node[DOUBLED] & card:
        put_node(stack, top, node)
        stack[top, DOUBLED] = 0
        free_joker(stack[top], SWAP_ONE + 4 * rank + suit, to_hand)
        top += 1
    other = node[BOTH] & node[ONE] & of_suits(15, rank) & ~card
    if node[BOTH] & card and other:
        put_node(stack, top, node)
        child = stack[top]
        use(child, other)
        child[BOTH] &= ~(card | other)
        child[FITS] &= ~(card | other)
        child[PLACES] -= 1
        free_joker(child, SWAP_BOTH + 2 * rank, to_hand)
        top += 1
    others = suits_of(node[ONE], rank) & ~(1 << suit)
    suits = others
    while True:  # new sets with any of the other suits; those before it are decided
        for jokers in range(max(0, 2 - COUNT[suits]), min(node[JOKERS], 3 - COUNT[suits]) + 1):
            put_node(stack, top, node)
            lay_set(stack[top], rank, suit, suits, jokers)
            top += 1
        if suits == 0:
            break
        suits = (suits - 1) & others
    node[LENGTH], node[NATURALS] = 1, 1
    if rank == 0:  # a run from the ace high downwards
        node[CELL], node[START], node[STEP] = place + 13, place + 13, -1
        put_node(stack, top, node)
        top += 1
    node[CELL], node[START], node[STEP] = place, place, 1
    for _ in range(min(node[JOKERS], rank) + 1):  # a run from it upwards, after so many jokers
        put_node(stack, top, node)
        top += 1
        pay_jokers(node, 1)
        node[LENGTH] += 1
        node[START] -= 1
        node[NATURALS] <<= 1
    return top


@jit.kernel
def free_joker(node, action, to_hand):
    """RA-11, RA-12"""
    node[JOKERS] += 1
    if not to_hand:
        node[OWED] += 1
    node[ADDS] += 1
    note(node, SWAP, action)


@jit.inline
def pay_jokers(node, jokers):
    """Jokers are laid, owed ones first (RA-12)."""
    node[JOKERS] -= jokers
    node[OWED] = max(0, node[OWED] - jokers)


@jit.kernel
def lay_set(node, rank, own, others, jokers):
    """A new set of a natural of the suit `own`, those of the suits `others`, and jokers: three or four cards."""
    suits = others | 1 << own
    use(node, of_suits(others, rank))
    pay_jokers(node, jokers)
    if COUNT[suits] + jokers == 3 and jokers < 2:
        node[PLACES] += 1
    node[NEWS] += 1
    note(node, NEW, NEW_SET + 14 * rank + _SET_OF[suits if suits != 15 else 7])


@jit.kernel
def continue_run(stack, top, node):
    """The run that is being laid ends, if it may, or is longer by a joker or a natural; returns the number of nodes then."""
    cell, step, start, length = node[CELL], node[STEP], node[START], node[LENGTH]
    last = cell % 14 == (13 if step > 0 else 0)
    following = 0 if last else 1 << cell + step
    joins = node[HIGH] & 1 << start - 1 if step > 0 and start % 14 > 0 else 0
    meets = following & node[LOW if step > 0 else HIGH]
    if joins or meets:  # added to a run on the table
        put_node(stack, top, node)
        child = stack[top]
        if joins:
            child[HIGH] = child[HIGH] & ~joins | 1 << cell
            note(child, ADD, high_action(start, node[NATURALS] & 1))
        elif step < 0:
            child[HIGH] = child[HIGH] & ~meets | 1 << start
            note(child, ADD, high_action(cell, node[NATURALS] >> length - 1 & 1))
        else:
            child[LOW] = child[LOW] & ~meets | 1 << start
            note(child, ADD, (ADD_LOW if node[NATURALS] >> length - 1 & 1 else ADD_LOW_JOKER) + cell // 14 * 11 + cell % 14)
        child[ADDS] += 1
        child[PLACES] -= length
        child[LENGTH] = 0
        top += 1
    if length >= 3:  # a new run
        put_node(stack, top, node)
        child = stack[top]
        child[LOW] |= 1 << (start if step > 0 else cell)
        child[HIGH] |= 1 << (cell if step > 0 else start)
        first, naturals = (start, node[NATURALS] & 7) if step > 0 else (start - 2, _TURNED[node[NATURALS] & 7])
        note(child, NEW, NEW_RUN + 7 * (first - first // 14 * 2) + _RUN_OF[naturals])
        child[NEWS] += 1
        child[PLACES] += 14 - length
        child[LENGTH] = 0
        top += 1
    if last:
        return top
    node[LENGTH] += 1
    node[CELL] += step
    if node[JOKERS] > 0:
        put_node(stack, top, node)
        pay_jokers(stack[top], 1)
        top += 1
    card = types(following)
    if node[ONE] & card:
        use(node, card)
        node[NATURALS] |= 1 << length
        put_node(stack, top, node)
        top += 1
    return top


@jit.inline
def high_action(cell, natural):
    """The action that adds a natural or a joker above a run."""
    return (ADD_HIGH if natural else ADD_HIGH_JOKER) + cell // 14 * 11 + cell % 14 - 3
