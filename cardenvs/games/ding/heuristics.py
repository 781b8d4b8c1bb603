"""Scripted players of Ding!"""

import numpy as np

from cardenvs.core import jit
from cardenvs.core.state import seat_after
from cardenvs.games.ding.cards import COLOUR, CONDITIONS, NUM_CARDS, NUMBER, PRINTED
from cardenvs.games.ding.rules import DECLINE, DING, DRAW, DRAWN, ONLY_THIS, OTHERS_HAVE_MORE, OTHERS_HAVE_ONE, fits, is_true_now, top_card

KINDS = ("step", "same number", "same colour", "number", "colour", "others have one", "only this", "others have more", "event")
STEP, SAME_NUMBER, SAME_COLOUR, NUMBERS, COLOURS = range(5)
KIND = np.array([KINDS.index(condition.kind) for condition in CONDITIONS])
VALUE = np.array([condition.value for condition in CONDITIONS])

# weights
W = np.array(
    [
        1.0,  # 0 P: chance to play
        0.4,  # 1 E: enabling
        1.0,  # 2 D1
        0.3,  # 3 D2
        0.7,  # 4 decay
        0.2,  # 5 skip
        0.8,  # 6 follow up
        3.0,  # 7 win by follow up
        1.0,  # 8 loss when cannot play
        0.3,  # 9 stay
        # potentials
        0.25,
        0.5,
        0.5,
        0.1,
        0.1,
        0.3,
        1.0,
        0.4,
        0.02,  # 10..18 by kind
        0.3,
        0.1,  # 19 three colours, 20 three numbers
        0.3,  # 21 blocked
    ]
)
WIN = 1000.0


@jit.kernel
def potential(view, card, w):
    condition = PRINTED[view.conditions, card]
    if condition < 0:
        return 0.0
    kind = KIND[condition]
    if VALUE[condition] == 3 and kind == SAME_COLOUR:
        return w[19]
    if VALUE[condition] == 3 and kind == SAME_NUMBER:
        return w[20]
    return w[10 + kind]


@jit.kernel
def says(view, card, top, second, third, left):
    """Whether the condition of a card would be true for the viewer with these last cards and so many own cards left."""
    condition = PRINTED[view.conditions, card]
    if condition < 0:
        return False
    kind, value = KIND[condition], VALUE[condition]
    if kind == STEP:
        return second >= 0 and NUMBER[top] - NUMBER[second] == value
    if kind == SAME_NUMBER:
        return second >= 0 and NUMBER[top] == NUMBER[second] and (value == 2 or (third >= 0 and NUMBER[top] == NUMBER[third]))
    if kind == SAME_COLOUR:
        return second >= 0 and COLOUR[top] == COLOUR[second] and (value == 2 or (third >= 0 and COLOUR[top] == COLOUR[third]))
    if kind == NUMBERS:
        return second >= 0 and NUMBER[top] == value and NUMBER[second] == value
    if kind == COLOURS:
        return second >= 0 and COLOUR[top] == value and COLOUR[second] == value
    if condition == ONLY_THIS:
        return left == 1
    for seat in range(view.num_seats):
        if seat != view.viewer:
            if condition == OTHERS_HAVE_ONE and view.hand_sizes[seat] == 1:
                return True
            if condition == OTHERS_HAVE_MORE and view.hand_sizes[seat] > view.hand_size:
                return True
    return False


@jit.kernel
def position(view, unseen, gone, top, seat, waits, w):
    """hand without `gone`; returns (hand value, chance to play)"""
    colours = np.int64(0)
    numbers = np.int64(0)
    value = 0.0
    for card in range(NUM_CARDS):
        if view.holder[card] == view.viewer and card != gone:
            value -= 1.0 - potential(view, card, w)
            colours |= 1 << COLOUR[card]
            numbers |= 1 << NUMBER[card]
    near_all = near = far_all = far = 0.0
    for card in range(NUM_CARDS):
        if unseen[card]:
            f = 1.0 if ((colours >> COLOUR[card]) | (numbers >> NUMBER[card])) & 1 else 0.0
            far_all += 1.0
            far += f
            if fits(card, top):
                near_all += 1.0
                near += f
    on_top = 1.0 if ((colours >> COLOUR[top]) | (numbers >> NUMBER[top])) & 1 else 0.0
    stay = 1.0
    close = 0.0
    blocked = 0.0
    share = 1.0 - near_all / far_all if far_all > 0 else 0.0
    for _ in range(waits):
        could = min(view.hand_sizes[seat], view.most[seat, COLOUR[top]] + view.most[seat, 8 + NUMBER[top]])
        b = share**could
        blocked += stay * b
        close = close * w[9] + stay * (1.0 - b)
        stay *= b
        seat = seat_after(seat, 1, view.num_seats)
    chance = stay * on_top + close * (near / near_all if near_all > 0 else on_top)
    chance += (1.0 - stay - close) * (far / far_all if far_all > 0 else on_top)
    return value + w[21] * blocked, chance


@jit.kernel
def danger(view, unseen, top, seat, waits, w):
    """what the seats from `seat` on can do before the viewer's turn"""
    total = 0.0
    factor = 1.0
    for i in range(waits):
        size = view.hand_sizes[seat]
        if size <= 2:
            fit = 0.7
            if i == 0:
                all_cards = 0.0
                good = 0.0
                for card in range(NUM_CARDS):
                    if unseen[card]:
                        possible = view.most[seat, COLOUR[card]] > 0 and view.most[seat, 8 + NUMBER[card]] > 0
                        if possible:
                            all_cards += 1
                            good += fits(card, top)
                share = good / all_cards if all_cards > 0 else 0.0
                fit = share if size == 1 else 1 - (1 - share) * (1 - share)
            total += factor * fit * (w[2] if size == 1 else w[3])
        factor *= w[4]
        seat = seat_after(seat, 1, view.num_seats)
    return total


@jit.kernel
def after(view, unseen, gone, w):
    """the worth of the table when the viewer has just played or called `gone`"""
    me = view.viewer
    left = np.int64(view.hand_sizes[me]) - 1
    if left == 0:
        return WIN
    counted = np.int64(view.num_discards) - view.uncounted
    second = np.int64(view.discards[view.num_discards - 1]) if counted >= 1 else -1
    third = np.int64(view.discards[view.num_discards - 2]) if counted >= 2 else -1
    waits = view.num_seats - 1
    value, chance = position(view, unseen, gone, gone, seat_after(me, 1, view.num_seats), waits, w)
    worth = value + w[0] * chance
    # own follow-ups, others' calls
    follow = 0.0
    enabled = 0.0
    num_unseen = 0.0
    for card in range(NUM_CARDS):
        if card != gone:
            own = view.holder[card] == me
            if unseen[card]:
                num_unseen += 1.0
            if own or unseen[card]:
                if says(view, card, gone, second, third, left):
                    if own:
                        follow = max(follow, w[7] if left == 1 else 1.0 - potential(view, card, w))
                    else:
                        enabled += 1.0
    others = np.int64(0)
    for seat in range(view.num_seats):
        if seat != me:
            others += view.hand_sizes[seat]
    if num_unseen > 0:
        enabled *= others / num_unseen
    worth += w[6] * follow - w[1] * enabled
    worth -= danger(view, unseen, gone, seat_after(me, 1, view.num_seats), waits, w)
    return worth


@jit.kernel
def waiting(view, unseen, mask, w):
    """the worth of not calling"""
    me, seats = view.viewer, view.num_seats
    top = top_card(view)
    if view.phase == DRAWN or view.actor == me:
        value, chance = position(view, unseen, -1, top, view.turn, seats - 1, w)
        return value + w[0] * chance - danger(view, unseen, top, view.turn, seats - 1, w)
    if view.turn == me:
        best = -WIN
        for card in range(NUM_CARDS):
            if view.holder[card] == me and fits(card, top):
                best = max(best, after(view, unseen, card, w))
        if best > -WIN:
            return best
        value, chance = position(view, unseen, -1, top, seat_after(me, 1, seats), seats - 1, w)
        return value + w[0] * chance - w[8] - danger(view, unseen, top, seat_after(me, 1, seats), seats - 1, w)
    waits = np.int64(me) - view.turn
    if waits < 0:
        waits += seats
    value, chance = position(view, unseen, -1, top, view.turn, waits, w)
    return value + w[0] * chance + chance - (1 - chance) * w[8] - w[5] * waits - danger(view, unseen, top, view.turn, waits, w)


@jit.kernel
def weighted(view, mask, words, w):
    unseen = np.zeros(NUM_CARDS, np.int8)
    for card in range(NUM_CARDS):
        unseen[card] = view.holder[card] < 0
    for place in range(view.num_discards):
        unseen[view.discards[place]] = 0
    best, chosen = -1e9, -1
    for action in range(len(mask)):
        if mask[action]:
            if action < DRAW:
                worth = after(view, unseen, action, w)
            elif action == DRAW:
                worth = -2 * WIN
            elif action == DECLINE:
                worth = waiting(view, unseen, mask, w)
            elif is_true_now(view, action - DING):
                worth = after(view, unseen, action - DING, w)
            else:
                worth = -3 * WIN
            if worth > best:
                best, chosen = worth, action
    return chosen


@jit.kernel
def choose_easy(view, mask, words):
    """Call whenever a condition is true; play the card with most fitting cards left in the hand."""
    best, chosen = -1, -1
    for action in range(len(mask)):
        if mask[action]:
            worth = 0
            if DING <= action < DECLINE:
                worth = 1 if is_true_now(view, action - DING) else -1
            elif action < DRAW:
                worth = 1
                for card in range(NUM_CARDS):
                    worth += view.holder[card] == view.viewer and fits(card, action)
            if worth > best:
                best, chosen = worth, action
    return chosen


@jit.kernel
def choose_strong(view, mask, words):
    return weighted(view, mask, words, W)
