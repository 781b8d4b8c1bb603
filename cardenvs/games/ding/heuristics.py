"""Scripted players of Ding!"""

import numpy as np

from cardenvs.core import jit
from cardenvs.core.state import seat_after
from cardenvs.games.ding.cards import COLOUR, CONDITIONS, NUM_CARDS, NUMBER, PRINTED
from cardenvs.games.ding.rules import DECLINE, DING, DRAW, DRAWN, fits, is_true_now, top_card

STEP, SAME_NUMBER, SAME_COLOUR, NUMBERS, COLOURS, OTHERS_HAVE_ONE, ONLY_THIS, OTHERS_HAVE_MORE, EVENT = range(9)
THREE_NUMBERS, THREE_COLOURS = 9, 10
"""Kinds of conditions that the estimate tells apart."""
_KINDS = ("step", "same number", "same colour", "number", "colour", "others have one", "only this", "others have more", "event")
KIND = np.array([_KINDS.index(condition.kind) for condition in CONDITIONS])
VALUE = np.array([condition.value for condition in CONDITIONS])
KIND[(KIND == SAME_NUMBER) & (VALUE == 3)] = THREE_NUMBERS
KIND[(KIND == SAME_COLOUR) & (VALUE == 3)] = THREE_COLOURS

# The estimate is a weighted sum of these features, listed by their places.
WAITS = 0  # turns of others before the viewer's next one
HAND_SIZE = 0  # 1 … 8: one of them is 1, for as many own cards, 8 for more
LONG_HAND = 9  # own cards beyond eight
KINDS = 10  # 10 … 20: own cards that print each kind of condition
NEXT_BLOCKED = 21  # chance that the next seat has no card that fits
NEXT_WINS = 22  # chance that it has one, and no other card
BLOCKED = 23  # seats, on average, that find the same top card and have none that fits
CHANCE = 23  # 24 … 28: chance to have a card that fits in the next turn; at the place for 1 … 4, 5 or more own cards
SHORT_HANDS = 28  # 29 … 31: other seats with one, two and three cards
OTHERS = 32  # cards of another seat, on average
FOLLOW_UP = 32  # 33 … 35: the move makes an own card true; at the place for 1, 2, 3 or more own cards
ENABLED = 36  # cards in other hands, on average, that it makes true
NUM_FEATURES = 37

MOVED, STAYED, WAITED = range(3)
# fmt: off
WEIGHTS = np.array([
    [
        8, 28, -18, -19, -24, -32, -22, -7, 21, 23, -27, -26, -19, -39, -39, -17, 16, -58, -45, -31, -27, 11, -100, 15, 400,
        117, 48, 55, 75, -49, -19, -5, 28, 470, 107, 15, -18,
    ],
    [
        10, 449, 50, -21, -14, -43, -36, -28, -9, 24, -26, -10, -13, -34, -33, -21, 22, -40, -35, -31, -16, 72, -116, 0, 25,
        -20, 15, -20, 24, -42, -23, -5, 25, 0, 0, 0, 0,
    ],
    [
        1, 312, 17, -39, -28, -22, -20, -14, -5, 18, -27, -16, -18, -28, -31, -16, 19, -43, -34, -27, -14, 16, -66, -1, 159,
        113, 49, 12, 13, -21, -3, 7, 30, 0, 0, 0, 0,
    ],
])
# fmt: on
"""Thousandths of a win, for the hand after an own move, as it stays, and before others move: fitted to games of 2 to 7 players."""
USUALLY_BLOCKED = 0.3
"""Chance that a seat cannot play on a card that another has just played."""
WON, ILL = 1e6, -1e6


@jit.kernel
def choose_easy(view, mask, words):
    """Call whenever a condition is true; play the card that leaves most cards in the hand that fit it."""
    best, chosen = -1, -1
    for action in range(len(mask)):
        if mask[action]:
            worth = 0
            if action < DRAW:
                for card in range(NUM_CARDS):
                    worth += 1 if view.holder[card] == view.viewer and fits(card, action) else 0
            elif DING <= action < DECLINE:
                worth = 1 if is_true_now(view, action - DING) else -1
            if worth > best:
                best, chosen = worth, action
    return chosen


@jit.kernel
def choose_strong(view, mask, words):
    """The action with the best estimate of the chance to win.

    It counts the cards that are not seen by colour and number, keeps cards that are likely to fit or to be callable, prefers moves after
    which it can call at once and others cannot, and weighs a call against the turns that it skips and the own turn that it uses up.
    """
    unseen = np.ones(NUM_CARDS, np.int8)
    for card in range(NUM_CARDS):
        if view.holder[card] >= 0:
            unseen[card] = 0
    for place in range(view.num_discards):
        unseen[view.discards[place]] = 0
    features = np.empty(NUM_FEATURES)
    best, chosen = -np.inf, -1
    for action in range(len(mask)):
        if mask[action]:
            if action < DRAW:
                worth = worth_of_move(view, unseen, action, features)
            elif action == DRAW:
                worth = ILL
            elif action == DECLINE:
                worth = worth_of_waiting(view, unseen, features)
            elif is_true_now(view, action - DING):
                worth = worth_of_move(view, unseen, action - DING, features)
            else:
                worth = ILL
            if worth > best:
                best, chosen = worth, action
    return chosen


@jit.kernel
def worth_of_move(view, unseen, card, features):
    """The worth of having played or called `card`: either makes it the top card, and the left neighbour the next in turn."""
    if view.hand_sizes[view.viewer] == 1:
        return WON
    left = np.int64(view.hand_sizes[view.viewer]) - 1
    describe(view, unseen, card, left, card, seat_after(view.viewer, 1, view.num_seats), view.num_seats - 1, features)
    describe_calls(view, unseen, card, left, features)
    return weigh(features, MOVED)


@jit.kernel
def worth_of_waiting(view, unseen, features):
    """The worth of keeping the hand as it is in a window, or after drawing a card that could be played."""
    me, seats, top = view.viewer, view.num_seats, top_card(view)
    hand_size = np.int64(view.hand_sizes[me])
    if view.phase == DRAWN or view.actor == me:
        describe(view, unseen, -1, hand_size, top, view.turn, seats - 1, features)
        return weigh(features, STAYED)
    if view.turn == me:
        best = ILL
        for card in range(NUM_CARDS):
            if view.holder[card] == me and fits(card, top):
                best = max(best, worth_of_move(view, unseen, card, features))
        if best == ILL:  # a card will have to be drawn
            describe(view, unseen, -1, hand_size + 1, top, seat_after(me, 1, seats), seats - 1, features)
            best = weigh(features, STAYED)
        return best
    waits = np.int64(me) - view.turn
    describe(view, unseen, -1, hand_size, top, view.turn, waits + seats if waits < 0 else waits, features)
    return weigh(features, WAITED)


@jit.kernel
def weigh(features, row):
    """The estimate for these features, with the weights of a row."""
    total = 0.0
    for k in range(NUM_FEATURES):
        total += features[k] * WEIGHTS[row, k]
    return total


@jit.kernel
def describe(view, unseen, gone, left, top, first, waits, features):
    """Set the features of a hand of `left` cards, without `gone`, when `waits` seats from `first` on find the card `top`."""
    features[:] = 0.0
    me, seats = view.viewer, view.num_seats
    features[WAITS] = waits
    features[HAND_SIZE + min(left, 8)] = 1.0
    features[LONG_HAND] = max(0, left - 8)
    colours = np.int64(0)
    numbers = np.int64(0)
    for card in range(NUM_CARDS):
        if view.holder[card] == me and card != gone:
            if PRINTED[view.conditions, card] >= 0:
                features[KINDS + KIND[PRINTED[view.conditions, card]]] += 1.0
            colours |= 1 << COLOUR[card]
            numbers |= 1 << NUMBER[card]
    near = near_good = far = far_good = 0
    for card in range(NUM_CARDS):
        if unseen[card]:
            good = ((colours >> COLOUR[card]) | (numbers >> NUMBER[card])) & 1
            far += 1
            far_good += good
            if fits(card, top):
                near += 1
                near_good += good
    stays = 1.0  # chance that `top` is still the top card
    moved = 0.0  # chance that exactly one card has been played on it
    misfit = 1.0 - near / far if far > 0 else 1.0
    seat = np.int64(first)
    for wait in range(waits):
        could_fit = min(np.int64(view.hand_sizes[seat]), np.int64(view.most[seat, COLOUR[top]]) + view.most[seat, 8 + NUMBER[top]])
        blocked = misfit**could_fit
        if wait == 0:
            features[NEXT_BLOCKED] = blocked
            features[NEXT_WINS] = 1.0 - blocked if view.hand_sizes[seat] == 1 else 0.0
        features[BLOCKED] += stays * blocked
        moved = moved * USUALLY_BLOCKED + stays * (1.0 - blocked)
        stays *= blocked
        seat = seat_after(seat, 1, seats)
    on_top = ((colours >> COLOUR[top]) | (numbers >> NUMBER[top])) & 1
    chance = stays * on_top + moved * (near_good / near if near > 0 else on_top)
    chance += (1.0 - stays - moved) * (far_good / far if far > 0 else on_top)
    features[CHANCE + min(left, 5)] = chance
    cards = np.int64(0)
    for other in range(seats):
        if other != me:
            cards += view.hand_sizes[other]
            if view.hand_sizes[other] <= 3:
                features[SHORT_HANDS + view.hand_sizes[other]] += 1.0
    features[OTHERS] = cards / (seats - 1)


@jit.kernel
def describe_calls(view, unseen, top, left, features):
    """Set the features of what can be called when `top` has just become the top card, and `left` own cards are left."""
    counted = np.int64(view.num_discards) - view.uncounted
    second = np.int64(view.discards[view.num_discards - 1]) if counted >= 1 else -1
    third = np.int64(view.discards[view.num_discards - 2]) if counted >= 2 else -1
    enabled = num_unseen = 0
    for card in range(NUM_CARDS):
        num_unseen += unseen[card]
        own = view.holder[card] == view.viewer and card != top
        if (own or unseen[card]) and would_be_true(view, card, top, second, third, left):
            if own:
                features[FOLLOW_UP + min(left, 3)] = 1.0
            else:
                enabled += 1
    if num_unseen > 0:
        features[ENABLED] = enabled * features[OTHERS] * (view.num_seats - 1) / num_unseen


@jit.kernel
def would_be_true(view, card, top, second, third, left):
    """Whether a card's condition would be true for the viewer with these last cards (-1: none that counts) and so many own cards."""
    condition = PRINTED[view.conditions, card]
    if condition < 0:
        return False
    kind, value = KIND[condition], VALUE[condition]
    if kind == ONLY_THIS:
        return left == 1
    if kind in (OTHERS_HAVE_ONE, OTHERS_HAVE_MORE):
        for seat in range(view.num_seats):
            size = view.hand_sizes[seat]
            if seat != view.viewer and (size == 1 if kind == OTHERS_HAVE_ONE else size > view.hand_size):
                return True
        return False
    if kind == EVENT or second < 0:
        return False
    if kind == STEP:
        return NUMBER[top] - NUMBER[second] == value
    same_number = NUMBER[top] == NUMBER[second]
    same_colour = COLOUR[top] == COLOUR[second]
    if kind == SAME_NUMBER:
        return same_number
    if kind == SAME_COLOUR:
        return same_colour
    if kind == NUMBERS:
        return same_number and NUMBER[top] == value
    if kind == COLOURS:
        return same_colour and COLOUR[top] == value
    if third < 0:
        return False
    if kind == THREE_NUMBERS:
        return same_number and NUMBER[top] == NUMBER[third]
    return same_colour and COLOUR[top] == COLOUR[third]
