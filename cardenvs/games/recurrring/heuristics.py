"""Scripted players of ReCURRRing.

Values of positions are in points of a game. The constants of the strong player were fitted by policy gradient in games against
copies of itself, easy and random players at tables of 3 to 5, and checked in duplicate matches.
"""

from math import comb

import numpy as np

from cardenvs.core import jit
from cardenvs.games.recurrring.cards import COPIES, MAX_HAND, R
from cardenvs.games.recurrring.rules import PASS, PLAYED_COUNT, PLAYED_VALUE, is_in

BINS = 32
"""Chances are rounded to so many steps."""

ENOUGH = np.zeros((COPIES.max() + 1, MAX_HAND + 2, BINS + 1))
"""[u, m, b]: chance that a hand has at least m of u cards, each of which it has with chance b / BINS."""
for _cards in range(len(ENOUGH)):
    for _bin in range(BINS + 1):
        _each = _bin / BINS
        _exactly = [comb(_cards, i) * _each**i * (1 - _each) ** (_cards - i) for i in range(_cards + 1)]
        ENOUGH[_cards, : _cards + 1, _bin] = np.cumsum(_exactly[::-1])[::-1]

# A hand, worth early in the game and late in it (late: 1 less a twelfth of the smallest other hand).
SET_EARLY = np.array([0.0, 0.14, -0.16, -0.34, -0.33, 0.04, 1.07])
SET_LATE = np.array([0.0, -0.74, -0.64, -0.08, 0.19, -0.3, -0.77])
"""By size of a set of number cards, 6 stands for more too."""
SET_UNBEATEN = 0.39  # times the chance that nobody could beat the set
STRENGTH = 0.73  # a card 1; nothing for a 9
R_SET, R_CARD, R_CARD_LATE, R_UNBEATEN = -0.43, -0.52, 0.51, 1.0
RACE, RACE_LATE, RACE_LEAD = -0.15, 0.24, 3  # a card more than the smallest other hand, at most so many
R_SCORED = 0.44  # scored R cards to every card left in the hand

# Cards played, times the chance that they stay.
KEPT, KEPT_SQUARED = 1.16, -2.07
KEPT_NUMBER = 1.0  # a number card; times the square of the chance
KEPT_R, KEPT_SHORT = 2.78, 2.55  # an R card; any set; both divided by the cards left in the hand and one
# Times the chance that they do not stay.
REPLY, BEST_REPLY = 0.27, 0.27  # every larger set in the hand; the points that the best of the next two sizes may bring

ONE_MORE = -1.15  # exchanging by method B
LEAD_WEAK, LEAD_R = 0.42, -0.56

PASSING, PASSING_LATE = 2.54, -1.43
PASSING_NUMBER = -0.49  # a number card on the table
PASSING_OWNER = -7.44  # divided by the cards in the owner's hand and one

OUT_R, OUT_SMALLEST = 1.14, 0.95  # emptying the hand: a scored R card; a card in the smallest other hand

LAST_NUMBER, LAST_REPLY = 0.48, 0.7  # in the last round: as KEPT_NUMBER and BEST_REPLY


@jit.kernel
def choose_easy(view, mask, words):
    """Collects sets: a number card counts 3 on the table and in the hand, but for the first of its value; an R in the hand -2.

    In the last round only the table counts.
    """
    hand = view.hand[view.viewer]
    best, choice = -1000, PASS
    for action in range(len(mask)):
        if mask[action] == 0:
            continue
        value, count = PLAYED_VALUE[action], PLAYED_COUNT[action]
        points = 3 * count if 0 <= value < R else 0
        if view.first_out < 0:
            points -= 2 * _after(view, hand, value, count, R)
            for v in range(R):
                points += 3 * max(0, _after(view, hand, value, count, v) - 1)
        if points > best:
            best, choice = points, action
    return choice


@jit.kernel
def choose_strong(view, mask, words):
    """The action after which the own position is worth most."""
    hand = view.hand[view.viewer]
    unbeaten = np.ones((2, MAX_HAND + 2, 10))
    _write_unbeaten(view, unbeaten, hand.max() + view.table_count)
    smallest = _smallest_hand(view)
    late = max(0.0, 1.0 - smallest / 12.0)
    best, choice = -np.inf, PASS
    for action in range(len(mask)):
        if mask[action] == 0:
            continue
        if view.first_out >= 0:
            worth = _last_round(view, hand, action, unbeaten[0])
        else:
            worth = _play(view, hand, action, unbeaten[0]) if action != PASS else _pass(view, late)
            worth += _hand(view, hand, action, unbeaten[1], smallest, late)
        if worth > best:
            best, choice = worth, action
    return choice


@jit.inline
def _after(view, hand, value, count, v):
    """Cards of value `v` in the hand after an exchange; `value` is -1 for a pass."""
    cards = np.int64(hand[v])
    if value >= 0:
        if v == value:
            cards -= count
        if v == view.table_value:
            cards += view.table_count
    return cards


@jit.inline
def _size_after(view, count):
    """Cards in the hand after playing so many (0 for a pass); a hand that is emptied takes nothing (RC-09)."""
    size = np.int64(view.hand_size[view.viewer]) - count
    return size if size == 0 or count == 0 else size + view.table_count


@jit.kernel
def _smallest_hand(view):
    """Cards in the smallest hand of another seat."""
    smallest = MAX_HAND
    for seat in range(view.num_seats):
        if seat != view.viewer:
            smallest = min(smallest, view.hand_size[seat])
    return smallest


@jit.kernel
def _write_unbeaten(view, unbeaten, longest):
    """[0, k, v]: chance that no seat that is still in has what beats k cards of value v; [1, k, v]: that no other seat has.

    Chances of values and seats are multiplied as if they were independent. `unbeaten` holds ones before; k up to `longest`.
    """
    unseen = np.int64(0)
    for v in range(10):
        unseen += view.unseen[v]
    for seat in range(view.num_seats):
        if seat == view.viewer:
            continue
        hidden = np.int64(view.hand_size[seat])
        for v in range(10):
            hidden -= view.known[seat, v]
        each = (2 * BINS * hidden + unseen) // (2 * unseen) if unseen > 0 else 0
        still_in = is_in(view, seat)
        for k in range(1, min(longest + 1, view.hand_size[seat]) + 1):
            none = 1.0  # chance of no k cards of any value stronger than v: method A
            for v in range(10):
                unbeaten[1, k, v] *= none
                if still_in:
                    unbeaten[0, k, v] *= none
                none *= 1.0 - ENOUGH[view.unseen[v], max(0, k - view.known[seat, v]), each]
            none = 1.0  # and of no k cards of v or weaker; both together of no method B against k - 1
            for v in range(9, -1, -1):
                none *= 1.0 - ENOUGH[view.unseen[v], max(0, k - view.known[seat, v]), each]
                unbeaten[1, k - 1, v] *= none
                if still_in:
                    unbeaten[0, k - 1, v] *= none


@jit.kernel
def _hand(view, hand, action, unbeaten, smallest, late):
    """Worth of the hand after an action; of an empty one, of the end of the game."""
    value, count = PLAYED_VALUE[action], PLAYED_COUNT[action]
    size = _size_after(view, count)
    scored = view.pile[view.viewer, R]
    if size == 0:
        return OUT_R * scored + OUT_SMALLEST * smallest
    worth = R_SCORED * scored / size + (RACE + RACE_LATE * late) * max(-RACE_LEAD, min(RACE_LEAD, size - smallest))
    for v in range(R):
        cards = _after(view, hand, value, count, v)
        if cards > 0:
            at = min(cards, 6)
            worth += (1.0 - late) * SET_EARLY[at] + late * SET_LATE[at]
            worth += SET_UNBEATEN * unbeaten[cards, v] + STRENGTH * cards * (8 - v) / 8.0
    cards = _after(view, hand, value, count, R)
    if cards > 0:
        worth += R_SET + (R_CARD + R_CARD_LATE * late) * cards + R_UNBEATEN * unbeaten[cards, R]
    return worth


@jit.kernel
def _play(view, hand, action, unbeaten):
    """Worth of the cards played, besides the hand that is left."""
    value, count = PLAYED_VALUE[action], PLAYED_COUNT[action]
    kept = unbeaten[count, value]
    left = _size_after(view, count) + 1.0
    worth = KEPT * kept + KEPT_SQUARED * kept * kept + KEPT_SHORT * kept / left
    if value == R:
        worth += KEPT_R * kept * count / left
    else:
        worth += KEPT_NUMBER * kept * kept * count
    if left > 1.0:
        larger = 0
        for v in range(10):
            larger += _after(view, hand, value, count, v) > count
        worth += (1.0 - kept) * (REPLY * larger + BEST_REPLY * _best_reply(view, hand, value, count, unbeaten))
    if count > view.table_count:
        worth += ONE_MORE
    if view.owner < 0:
        worth += LEAD_WEAK * value / 9.0 + (LEAD_R if value == R else 0.0)
    return worth


@jit.kernel
def _best_reply(view, hand, value, count, unbeaten):
    """Points that the best number set one or two cards larger than the one played may bring."""
    best = 0.0
    for v in range(R):
        for k in range(count + 1, min(_after(view, hand, value, count, v), count + 2) + 1):
            best = max(best, k * unbeaten[k, v])
    return best


@jit.kernel
def _pass(view, late):
    """Worth of passing, besides the hand."""
    worth = PASSING + PASSING_LATE * late + PASSING_OWNER / (1.0 + view.hand_size[view.owner])
    return worth + PASSING_NUMBER * view.table_count if view.table_value < R else worth


@jit.kernel
def _last_round(view, hand, action, unbeaten):
    """Worth of an action when only the table cards can still score (RC-09)."""
    if action == PASS:
        return 0.0
    value, count = PLAYED_VALUE[action], PLAYED_COUNT[action]
    kept = unbeaten[count, value]
    worth = LAST_NUMBER * kept * kept * count if value < R else 0.0
    if _size_after(view, count) > 0:
        worth += LAST_REPLY * (1.0 - kept) * _best_reply(view, hand, value, count, unbeaten)
    return worth
