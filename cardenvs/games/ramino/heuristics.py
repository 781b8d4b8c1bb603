"""Scripted players of Ramino."""

import numpy as np

from cardenvs.core import jit
from cardenvs.core.state import SCORE, seat_after
from cardenvs.games.ramino.cards import (
    ACES,
    BITS,
    JOKER,
    JOKER_BIT,
    NEAR,
    POINTS,
    THIRD,
    cells,
    completing,
    fitting,
    neighbours,
    place_of,
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
    TURNS,
    hidden_cards,
)
from cardenvs.games.ramino.safety import barred_bit

# Easy.


@jit.kernel
def choose_easy(view, mask, words):
    """Take what can be laid, lay what can be laid but no joker alone, throw the dearest card that has no neighbour."""
    hand = view.hand[view.viewer]
    if view.phase == DRAW:
        top = BITS[view.pile[view.pile_size - 1]]
        usable = JOKER_BIT | completing(hand[0])
        if view.opened[view.viewer]:
            usable |= fitting(view)
        return DRAW_PILE if mask[DRAW_PILE] and top & usable else DRAW_STOCK
    for action in range(NEW_SET, NUM_ACTIONS):
        if mask[action] and (view.owed or not adds_joker(action)):
            return action
    paired = neighbours(hand[0])
    thrown, most = -1, -1
    for card in range(JOKER + 1):
        if mask[DISCARD + card]:
            worth = 0
            if card != JOKER:
                worth = POINTS[card % 13] + (0 if BITS[card] & paired else 20)
            if worth > most:
                thrown, most = DISCARD + card, worth
    return thrown if thrown >= 0 else last_legal(mask)


@jit.kernel
def last_legal(mask):
    """The last legal action."""
    action = NUM_ACTIONS - 1
    while not mask[action]:
        action -= 1
    return action


@jit.inline
def adds_joker(action):
    """Whether the action adds a joker to a meld."""
    return ADD_SET_JOKER <= action < ADD_LOW or ADD_LOW_JOKER <= action < SWAP_RUN


# Strong. Costs are in thousandths of a natural that stays in hand.

CARD, OWN_JOKER = 1000, 1500
"""What a natural and a joker cost that stay."""
PAIR, NEIGHBOUR, REACH = 16, 3, 10
"""Off the cost of a natural for every hidden card that makes a meld with it and another of the hand; that makes one with it and a
joker; that lies between it and the end of a run."""
FEEDS, FEEDS_LATER, MATCHES = 300, 100, 60
"""Risks of a discard: it fits on the table, and the next seat is opened or not; for each card near it that this seat surely holds."""
CLOSE = 1000
"""Off the cost of a hand that can be closed."""
TAKE = 400
"""What a card of the pile must save to be taken: what is hoped from the stock."""
FEW = 3
"""Where points count, melds are laid when another seat has so few cards."""


@jit.kernel
def choose_strong(view, mask, words):
    """Plan with the exact search, take what saves much, hold melds until the hand can be closed, throw what leaves the cheapest hand."""
    price, gain, best = np.zeros(TWIN + 1, np.int64), np.zeros(TWIN + 1, np.int64), np.zeros(NODE, np.int64)
    hidden = np.empty(2, np.int64)
    hidden_cards(view, hidden)
    hand = view.hand[view.viewer]
    one, two = hand[0], hand[1]
    if view.phase == DRAW:
        if not mask[DRAW_PILE]:
            return DRAW_STOCK
        kept = cost(view, hidden, one, two, 0, False, price, gain, best)
        top = BITS[view.pile[view.pile_size - 1]]
        one, two = with_one(one, two, top)
        taken = cost(view, hidden, one, two, 0 if view.throw_back else top, True, price, gain, best)
        return DRAW_PILE if taken + TAKE < kept else DRAW_STOCK
    cost(view, hidden, one, two, barred_bit(view), True, price, gain, best)
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
    thrown = DISCARD + best[THROWN] // 14 * 13 + best[THROWN] % 14
    if planned and mask[thrown]:
        return thrown
    return last_legal(mask)


@jit.kernel
def lays_early(view):
    """Whether melds are laid before the hand can be closed: at the end of a deal, and where points count if somebody may close soon."""
    if view.turns >= (TURNS - 2) * np.int64(view.num_seats):
        return True
    if view.reward != SCORE and view.num_deals == 1 and view.target == 0:
        return False
    for seat in range(view.num_seats):
        if seat != view.viewer and view.cards[seat] <= FEW:
            return True
    return False


@jit.kernel
def cost(view, hidden, one, two, barred, discards, price, gain, best):
    """What a hand (`one`, `two`) costs as it is, or after the best discard if the seat `discards`; `best` is the plan."""
    set_prices(view, hidden, one, price, gain)
    jokers = view.owed + (1 if one & JOKER_BIT else 0) + (1 if two & JOKER_BIT else 0)
    search(view, one & ~JOKER_BIT, two & ~JOKER_BIT, jokers, barred, discards, price, gain, best)
    return best[COST] - (CLOSE if best[LEFT] == (1 if discards else 0) else 0)


@jit.kernel
def set_prices(view, hidden, one, price, gain):
    """Write what each card of a hand costs if it stays, and what it is worth to throw it."""
    following = seat_after(view.viewer, 1, view.num_seats)
    held, risk_of_fit = view.held[following, 0], FEEDS if view.opened[following] else FEEDS_LATER
    fits = fitting(view)
    low, high = view.low[0], view.high[0]
    price[JOKER_PLACE] = OWN_JOKER
    gain[JOKER_PLACE] = -OWN_JOKER
    price[TWIN] = CARD
    left = one & ~JOKER_BIT
    while left:
        card = left & -left
        left ^= card
        place = place_of(card)
        near = NEAR[place]
        worth = NEIGHBOUR * number_of(hidden, near)
        partners = one & near
        while partners:
            partner = partners & -partners
            partners ^= partner
            worth += PAIR * number_of(hidden, THIRD[place, place_of(partner)])
        there = cells(card)
        between = (there & high << 2 & ABOVE_TWO) >> 1 | (there & low >> 2 & BELOW_TWO) << 1
        worth += REACH * number_of(hidden, types(between))
        price[place] = CARD - worth + POINTS[place % 14]
        gain[place] = price[place] - MATCHES * bits(held & near) - (risk_of_fit if card & fits else 0)


JOKER_PLACE = 56
ABOVE_TWO = ACES * 0x3FFC
BELOW_TWO = ACES * 0x0FFF
"""The cells from position 3 on, and up to 12."""


@jit.inline
def number_of(hidden, word):
    """How many hidden cards there are of the types of a word."""
    return bits(hidden[0] & word) + bits(hidden[1] & word)


@jit.inline
def bits(word):
    """The number of bits in a word."""
    count = 0
    while word:
        word &= word - 1
        count += 1
    return count
