"""Scripted players of Ringer."""

import numpy as np

from cardenvs.core import jit
from cardenvs.core.rng import below
from cardenvs.core.state import seat_after
from cardenvs.games.ringer.cards import (
    ASK,
    COPIES,
    DRAW_1,
    DRAW_2,
    FULL_HAND,
    HAND_LIMIT,
    KINDS,
    MAX_HAND,
    NO_POWER,
    NUM_CARDS,
    NUMBER,
    POWER,
    REROLL,
    STEAL,
    SUIT,
    TAKE,
    TAKES,
    WILD,
    copies,
)
from cardenvs.games.ringer.rules import (
    DECLINE,
    DISCARD,
    END,
    FIRST_ASK,
    FIRST_DISCARD,
    FIRST_GIVE,
    FIRST_STEAL,
    GIVE,
    LEGAL,
    MATCH_BITS,
    MATCHES,
    NAME_ASK,
    PLAY,
    QUESTIONS,
    STARTER,
    WINDOW,
)


@jit.kernel
def choose_easy(view, mask, words):
    """Score a Ringer, or play a card that one may follow at once; else keep the cards, but play any in the end phase."""
    if view.phase in (PLAY, STARTER, WINDOW):
        for kind in range(KINDS):
            if mask[kind] and view.phase == PLAY and view.top >= 0 and NUMBER[kind] == view.die:
                return kind
        for kind in range(KINDS):
            if mask[kind] and POWER[kind] != REROLL and can_follow(view, kind):
                return kind
        if view.phase == WINDOW:
            return DECLINE
        if view.phase == PLAY and (not view.end_phase or mask.sum() == 1):
            return END
    left = below(words, 0, mask.sum() - mask[END])
    for action in range(len(mask)):
        if action != END:
            left -= mask[action]
        if left < 0:
            return action
    return END


@jit.kernel
def can_follow(view, top):
    """Whether the viewer holds a card that would score on this one."""
    for kind in range(KINDS):
        if view.hand[view.viewer, kind] and NUMBER[kind] == view.die and LEGAL[view.wrap, top + 1, kind]:
            return True
    return False


# The strong player plans the rest of its turn: the best order of its cards that ends in a Ringer or leaves the pile well.
# Values are cards against the mean of the others. What they depend on beyond the own cards is estimated with these
# constants, fitted by evolution strategies in games against copies of itself and the easy player, at tables of 2 to 5.
HELD = 0.47  # every card kept beyond six, before the end phase
HELD_LATE = -0.2  # every card kept when the draw pile is empty; the less, the larger the draw pile
HELD_AT_END = -0.54  # every card kept in the end phase
KEPT_WILD, KEPT_TAKE, KEPT_REROLL = 1.62, 1.24, 0.43  # such a card kept rather than another, before the end phase
KEPT_POWER = 0.49  # a card of another power
KEPT_NUMBER = -0.16  # each number among the cards kept
PASS, PASS_FULL = 0.64, 0.47  # the card that a pass draws; with ten cards
NEXT = 0.64  # how many times as good as six random cards the seat to the left is at winning the pile
MINE = 0.29  # a card of the pile that this seat leaves
MINE_SEATS, MINE_HELD = 0.067, 0.022  # the same for each seat beyond two, and for each card kept beyond six
AFTER, AFTER_NUMBER = 0.32, 0.12  # every card held after a Ringer, for the next one; every number among them
AFTER_AT_END = 0.4  # every card then held in the end phase
FRESH = 2.9  # what the next Ringer brings beside the pile, with a fresh hand
DRAWN, ASKED, STOLEN, REROLLED = 1.14, 1.29, 1.22, -0.09  # a card that a power draws, the other powers when used
WAITING, WAITING_SKIPPED, WAITING_PILE = 1.84, 0.22, 0.39  # not taking the turn; for each seat that this skips, each card of the pile

LATE = 20
"""Cards in the draw pile from which on it is late."""

NEAR = np.array([[0.57, 0.45, 0.30, 0.23, 0.20, 0.18], [0.59, 0.62, 0.39, 0.31, 0.28, 0.25]])
ON_REROLL = np.array([0.45, 0.6])
"""Chance that six random cards hold a way to a Ringer: by whether the top card is wild, and its distance from the die."""
SHARES = (np.arange(MAX_HAND + 1) / FULL_HAND) ** 1.4
"""By number of cards: exponent of the chance that six cannot, for so many."""


@jit.kernel
def choose_strong(view, mask, words):
    """Plan the turn; take it where that pays; ask, steal, give and put away by what the cards would be worth."""
    if view.phase in (PLAY, STARTER):
        cards = np.empty(MAX_HAND, np.int64)
        size = list_hand(view, cards)
        return plan(view, cards[:size], view.top, view.pile_size, True)[1]
    if view.phase == WINDOW:
        return choose_take(view, mask)
    if view.phase == NAME_ASK:
        return choose_question(view, mask)
    if view.phase == GIVE:
        return FIRST_GIVE + cheapest(view, mask[FIRST_GIVE : FIRST_GIVE + KINDS], True)
    if view.phase == DISCARD:
        return FIRST_DISCARD + cheapest(view, mask[FIRST_DISCARD : FIRST_DISCARD + KINDS], False)
    return choose_victim(view, mask)


@jit.kernel
def count_unseen(view, unseen):
    """How many cards of each kind are where the viewer does not know."""
    for kind in range(KINDS):
        unseen[kind] = COPIES[view.deck, kind] - copies(view.open, kind, view.deck)
        for seat in range(view.num_seats):
            unseen[kind] -= copies(view.hand[seat], kind, view.deck)
    for i in range(NUM_CARDS):
        if view.stock[i] >= 0:
            unseen[view.stock[i]] -= 1


@jit.kernel
def list_hand(view, cards):
    """Write the viewer's cards one by one; returns their number."""
    size = 0
    for kind in range(KINDS):
        for _ in range(copies(view.hand[view.viewer], kind, view.deck)):
            cards[size] = kind
            size += 1
    return size


@jit.kernel
def plan(view, cards, top, pile, exact):
    """Value and first action of the best way to go on: with `cards` in hand, `top` on a pile of so many.

    `best[rest, last, die]` is the value with the set of cards `rest` in hand and card `last` on top (the last index: `top`).
    Once a Reroll is played all six dice are looked at, if `exact`; else the die stays.
    """
    size = len(cards)
    whole = (1 << size) - 1
    rerolls, scoring = 0, 0
    for c in range(size):
        if exact and POWER[cards[c]] == REROLL:
            rerolls |= 1 << c
        if NUMBER[cards[c]] == view.die:
            scoring |= 1 << c
    dice = 6 if rerolls else 1
    first_die = 1 if rerolls else view.die
    kept = np.zeros(size)
    next_scores = np.zeros((size + 1, dice))
    follow = np.zeros(size + 1, np.int64)
    for last in range(size + 1):
        on_top = top if last == size else cards[last]
        for c in range(size):
            follow[last] |= np.int64(LEGAL[view.wrap, on_top + 1, cards[c]]) << c
        for d in range(dice):
            next_scores[last, d] = chance_of_next(view, on_top, first_die + d)
        if last < size:
            kept[last] = worth_of_kind(view, on_top)

    reach = np.zeros(whole + 1, np.int64)  # by rest: a bit for every `last` that can lie on top then
    reach[whole] = 1 << size
    for rest in range(whole, 0, -1):
        if reach[rest]:
            ends = scoring if rest & rerolls == rerolls and (rest < whole or top >= 0) else 0
            for last in range(size + 1):
                if reach[rest] >> last & 1:
                    for c in range(size):
                        if (follow[last] & rest & ~ends) >> c & 1:
                            reach[rest ^ (1 << c)] |= 1 << c

    best = np.empty((whole + 1, size + 1, dice))
    value = 0.0
    action = END
    for rest in range(whole + 1):
        if not reach[rest]:
            continue
        worth, held = worth_of_cards(view, cards, kept, rest)
        on_pile = pile + size - held
        mine = worth_of_mine(view, held)
        same_die = rest & rerolls == rerolls
        for last in range(size + 1):
            if not reach[rest] >> last & 1:
                continue
            on_top = top if last == size else cards[last]
            for d in range(dice):
                if same_die and first_die + d != view.die:
                    continue
                share = (1 - next_scores[last, d]) * mine - next_scores[last, d] / (view.num_seats - 1)
                value = worth + on_pile * share
                action = END
                if rest == whole:
                    if view.phase == STARTER:
                        value = -1e9
                    elif not view.played and not view.end_phase and view.phase == PLAY:
                        value += PASS if size < HAND_LIMIT else PASS_FULL
                if held == 0 and not view.end_phase:  # a streak
                    chance = chance_of_ringer(view, on_top, first_die + d, 1.0)
                    value = max(value, value + chance * (on_pile * (1 - share) + FRESH))
                for c in range(size):
                    if not (follow[last] & rest) >> c & 1:
                        continue
                    kind = cards[c]
                    left = rest ^ (1 << c)
                    if NUMBER[kind] == first_die + d and on_top >= 0:
                        result = on_pile + 1 + worth_after(view, cards, kept, left)
                    else:
                        if rerolls >> c & 1:
                            result = 0.0
                            for other in range(6):
                                result += best[left, c, other] / 6
                        else:
                            result = best[left, c, d]
                        if on_top >= 0 or view.starter_power:
                            result += worth_of_power(view, POWER[kind])
                    if result > value:
                        value = result
                        action = kind
                best[rest, last, d] = value
    return value, action


@jit.kernel
def worth_of_cards(view, cards, kept, rest):
    """What the set `rest` of the cards is worth at the end of the turn, and how many they are."""
    held, numbers = 0, 0
    worth = 0.0
    for c in range(len(cards)):
        if rest >> c & 1:
            held += 1
            worth += kept[c]
            numbers |= 1 << NUMBER[cards[c]]
    if not view.end_phase:
        worth += KEPT_NUMBER * different_numbers(numbers)
    return worth + worth_of_hand(view, held), held


@jit.kernel
def different_numbers(numbers):
    """How many numbers there are in a set of bits; bit 0 is for Rerolls."""
    different = 0
    for number in range(1, 7):
        different += numbers >> number & 1
    return different


@jit.kernel
def worth_of_hand(view, held):
    """What so many cards are worth at the end of the turn."""
    if view.end_phase:
        return HELD_AT_END * held
    late = max(0, LATE - view.stock_ends[1]) / LATE
    return (1 - late) * HELD * max(held - FULL_HAND, 0) + late * HELD_LATE * held


@jit.kernel
def worth_of_kind(view, kind):
    """What a card is worth in hand at the end of the turn, against others."""
    worth = 0.0
    if not view.end_phase:
        if SUIT[kind] == WILD:
            worth += KEPT_WILD
        if POWER[kind] == TAKE:
            worth += KEPT_TAKE
        elif POWER[kind] == REROLL:
            worth += KEPT_REROLL
        elif POWER[kind] != NO_POWER:
            worth += KEPT_POWER
    return worth


@jit.kernel
def worth_of_mine(view, held):
    """What a card of the pile is worth if the next seat does not win it: the own next turn may, with the cards held."""
    mine = MINE + MINE_SEATS * (view.num_seats - 2)
    return mine + MINE_HELD * (held - FULL_HAND if view.end_phase else max(held - FULL_HAND, 0))


@jit.kernel
def worth_after(view, cards, kept, left):
    """What the set `left` of the cards is worth after a Ringer, on an unknown card and die."""
    worth, held = worth_of_cards(view, cards, kept, left)
    if view.end_phase:
        return worth + AFTER_AT_END * max(0, held - 1) - HELD_AT_END  # one is the next first card
    if held == 0:
        return worth + AFTER * FULL_HAND + AFTER_NUMBER * 4  # a streak
    numbers = 0
    for c in range(len(cards)):
        if left >> c & 1:
            numbers |= 1 << NUMBER[cards[c]]
    return worth + AFTER * held + AFTER_NUMBER * different_numbers(numbers)


@jit.kernel
def worth_of_power(view, power):
    """What the power of a card is worth when it acts."""
    if power == ASK:
        return ASKED
    if power == STEAL:
        return STOLEN
    if power == REROLL:
        return REROLLED
    if power in (DRAW_1, DRAW_2) and not view.end_phase:
        return DRAWN * (power - DRAW_1 + 1)
    return 0.0


@jit.kernel
def chance_of_ringer(view, top, die, share):
    """Chance that unknown cards can score, `share` times as many as six."""
    if top < 0:
        return 0.0
    wild = 1 if SUIT[top] == WILD else 0
    if NUMBER[top] == 0:
        six = ON_REROLL[wild]
    else:
        distance = abs(NUMBER[top] - die)
        six = NEAR[wild, min(distance, 6 - distance) if view.wrap else distance]
    return 1 - (1 - six) ** share


@jit.kernel
def chance_of_next(view, top, die):
    """Chance that the seat to the left wins the pile if it is left like this."""
    next_seat = seat_after(view.viewer, 1, view.num_seats)
    held = np.int64(view.hand_size[next_seat])
    if view.owed[next_seat]:
        held = max(held, FULL_HAND)
    for kind in range(KINDS):
        if view.hand[next_seat, kind] and NUMBER[kind] == die and LEGAL[view.wrap, top + 1, kind]:
            return 1.0
    return chance_of_ringer(view, top, die, NEXT * SHARES[held])


@jit.kernel
def choose_take(view, mask):
    """Take the turn if the plan from there is worth more than what is left after the seat on turn goes on."""
    cards = np.empty(MAX_HAND, np.int64)
    size = list_hand(view, cards)
    skipped = view.viewer - view.turn - 1
    if skipped < 0:
        skipped += view.num_seats
    kept = np.zeros(size)
    for c in range(size):
        kept[c] = worth_of_kind(view, cards[c])
    best = worth_of_cards(view, cards[:size], kept, (1 << size) - 1)[0]
    best += WAITING + WAITING_SKIPPED * skipped + WAITING_PILE * view.pile_size
    action = DECLINE
    for take in TAKES:
        if mask[take]:
            rest = np.empty(size - 1, np.int64)
            at = 0
            gone = False
            for card in cards[:size]:
                if card == take and not gone:
                    gone = True
                else:
                    rest[at] = card
                    at += 1
            value = plan(view, rest, take, view.pile_size + 1, True)[0]
            if value > best:
                best = value
                action = take
    return action


@jit.kernel
def choose_question(view, mask):
    """Ask for what would help the plan most, where it is likely to be."""
    unseen = np.empty(KINDS, np.int64)
    count_unseen(view, unseen)
    cards = np.empty(MAX_HAND + 1, np.int64)
    size = list_hand(view, cards)
    gains = np.zeros(KINDS)
    before = plan(view, cards[:size], view.top, view.pile_size, False)[0]
    for kind in range(KINDS):
        known = False
        for seat in range(view.num_seats):
            known = known or (seat != view.viewer and view.hand[seat, kind] > 0)
        if unseen[kind] > 0 or known:
            cards[size] = kind
            gains[kind] = plan(view, cards[: size + 1], view.top, view.pile_size, False)[0] - before
    best = -1e9
    action = FIRST_ASK
    for d in range(1, view.num_seats):
        seat = seat_after(view.viewer, d, view.num_seats)
        hidden = view.hand_size[seat] - view.hand[seat].sum()
        for what in range(QUESTIONS):
            if not mask[FIRST_ASK + QUESTIONS * (d - 1) + what]:
                continue
            expected, matching, possible, known = 0.0, 0.0, 0, 0
            for kind in range(KINDS):
                fits = not view.lacks[seat] & MATCH_BITS[kind]
                possible += unseen[kind] if fits else 0
                if MATCHES[what, kind]:
                    count = copies(view.hand[seat], kind, view.deck)
                    known += count
                    if fits and hidden > 0:
                        matching += unseen[kind]
                        expected += unseen[kind] * gains[kind]
                    matching += 100 * count
                    expected += 100 * count * gains[kind]
            if matching == 0:
                value = 0.0
            elif known > 0:
                value = expected / matching
            else:
                value = expected / matching * (1 - (1 - min(1.0, matching / max(1, possible))) ** hidden)
            if value > best:
                best = value
                action = FIRST_ASK + QUESTIONS * (d - 1) + what
    return action


@jit.kernel
def choose_victim(view, mask):
    """Steal from the seat to the left if it has cards beyond what it gets back, else where most cards are."""
    best = -1
    action = FIRST_STEAL
    for d in range(1, view.num_seats):
        seat = seat_after(view.viewer, d, view.num_seats)
        value = 4 * view.hand_size[seat] + view.won_size[seat] + (3 if d == 1 else 0)
        if mask[FIRST_STEAL + d - 1] and value > best:
            best = value
            action = FIRST_STEAL + d - 1
    return action


@jit.kernel
def cheapest(view, mask, giving):
    """The kind that is missed least; when giving, also the one that helps the seat on turn least."""
    best = 1e9
    choice = 0
    for kind in range(KINDS):
        if not mask[kind]:
            continue
        value = worth_of_kind(view, kind)
        if NUMBER[kind] == view.die:
            value += 0.7
        if copies(view.hand[view.viewer], kind, view.deck) > 1:
            value -= 0.5
        if giving and NUMBER[kind] == view.die:
            value += view.pile_size * (1.0 if LEGAL[view.wrap, view.top + 1, kind] else 0.5)
        if value < best:
            best = value
            choice = kind
    return choice
