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
        mask[END] = 0
    left = below(words, 0, mask.sum())
    for action in range(len(mask)):
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
# Values are points against the mean of the others. What they depend on beyond the own cards is estimated with these
# weights, found by play on duplicate deals.
(
    HELD,  # a card kept beyond six, before the end phase
    HELD_AT_END,  # a card kept in the end phase
    PASS,  # the card that a pass draws
    PASS_FULL,  # a pass with ten cards
    LATER,  # chance of a seat after the next to take the pile, by now unknown
    MINE,  # worth of a card that is left for the next own turn
    TAKER,  # chance that a seat that can take the turn does
    TAKEN,  # loss for each card of the pile when it does
    AFTER,  # each card held after a Ringer: the next one
    AFTER_AT_END,
    FRESH,  # cards that the next Ringer brings beside the pile, with a fresh hand
    DRAWN,  # a card drawn by a power
    ASKED,
    STOLEN,
    REROLLED,
    TURN,  # taking the turn, and for each seat that it skips
    SKIPPED,
    ON_TURN,  # loss for each card of the pile to a seat that goes on with its turn
) = range(18)
WEIGHTS = np.array([0.35, 0.7, 0.5, 0.1, 0.4, 0.2, 0.6, 0.3, 0.25, 0.5, 1.5, 0.5, 0.5, 0.5, 0.2, 0.5, 0.3, 0.3])

CHANCES = np.full((14, 6), 0.4)
"""Chance that six cards can score: by number of the top card (0: Reroll), plus 7 if it is wild, and die - 1."""


@jit.kernel
def choose_strong(view, mask, words):
    """Plan the turn; take it where that pays; ask, steal, give and put away by what the cards would be worth."""
    return decide(view, mask, WEIGHTS)


@jit.kernel
def decide(view, mask, weights):
    """`choose_strong` with other weights."""
    unseen = np.empty(KINDS, np.int64)
    count_unseen(view, unseen)
    if view.phase in (PLAY, STARTER):
        cards = np.empty(MAX_HAND, np.int64)
        size = list_hand(view, cards)
        return plan(view, unseen, cards[:size], view.top, view.pile_size, True, weights)[1]
    if view.phase == WINDOW:
        return choose_take(view, unseen, mask, weights)
    if view.phase == NAME_ASK:
        return choose_question(view, unseen, mask, weights)
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
def plan(view, unseen, cards, top, pile, exact, weights):
    """Value and first action of the best way to go on: with `cards` in hand, `top` on a pile of so many.

    `best[rest, last, die]` is the value with the set of cards `rest` in hand and card `last` on top (the last index: `top`).
    All six dice are looked at if a Reroll is in hand and `exact`.
    """
    size = len(cards)
    whole = (1 << size) - 1
    rerolls = False
    for card in cards:
        rerolls = rerolls or POWER[card] == REROLL
    first_die, dice = (1, 6) if rerolls and exact else (view.die, 1)
    risk = np.empty(size)
    loss = np.empty((size + 1, dice))
    chance = np.empty((size + 1, dice))
    for last in range(size + 1):
        on_top = top if last == size else cards[last]
        if last < size:
            risk[last] = chance_of_taker(view, unseen, on_top, weights)
        for d in range(dice):
            chance[last, d] = chance_of_ringer(on_top, first_die + d, FULL_HAND)
            loss[last, d] = loss_of_pile(view, on_top, first_die + d, weights)
    best = np.empty((whole + 1, size + 1, dice))
    value = 0.0
    action = END
    for rest in range(whole + 1):
        held = 0
        for c in range(size):
            held += (rest >> c) & 1
        on_pile = pile + size - held
        kept = worth_of_hand(view, held, weights)
        for last in range(size + 1):
            if (last == size) != (rest == whole) or (last < size and (rest >> last) & 1):
                continue
            on_top = top if last == size else cards[last]
            for d in range(dice):
                value = kept - on_pile * loss[last, d]
                action = END
                if rest == whole:
                    if view.phase == STARTER:
                        value = -1e9
                    elif not view.played and not view.end_phase and view.phase == PLAY:
                        value += weights[PASS] if size < HAND_LIMIT else weights[PASS_FULL]
                if held == 0 and not view.end_phase:  # a streak
                    value = max(value, value + chance[last, d] * (on_pile * (1 + loss[last, d]) + weights[FRESH]))
                for c in range(size):
                    kind = cards[c]
                    if not (rest >> c) & 1 or not LEGAL[view.wrap, on_top + 1, kind]:
                        continue
                    left = rest ^ (1 << c)
                    if NUMBER[kind] == first_die + d and on_top >= 0:
                        result = on_pile + 1 + worth_after(view, held - 1, weights)
                    else:
                        if POWER[kind] == REROLL and dice == 6:
                            result = 0.0
                            for other in range(6):
                                result += best[left, c, other] / 6
                        else:
                            result = best[left, c, d]
                        if on_top >= 0 or view.starter_power:
                            result += worth_of_power(view, POWER[kind], weights)
                        taken = worth_of_hand(view, held - 1, weights) - (on_pile + 1) * weights[TAKEN]
                        result += risk[c] * (taken - result)
                    if result > value:
                        value = result
                        action = kind
                best[rest, last, d] = value
                if rest == whole and first_die + d == view.die:
                    root_value, root_action = value, action
    return root_value, root_action


@jit.kernel
def worth_of_hand(view, held, weights):
    """What so many cards are worth at the end of the turn."""
    if view.end_phase:
        return -weights[HELD_AT_END] * held
    return weights[HELD] * max(0, held - FULL_HAND)


@jit.kernel
def worth_after(view, held, weights):
    """What so many cards are worth after a Ringer, on an unknown card and die."""
    if view.end_phase:
        held = max(0, held - 1)  # one is the next first card
        return (weights[AFTER_AT_END] - weights[HELD_AT_END]) * held
    if held == 0:
        held = FULL_HAND
    return weights[AFTER] * held + worth_of_hand(view, held, weights)


@jit.kernel
def worth_of_power(view, power, weights):
    if power == ASK:
        return weights[ASKED]
    if power == STEAL:
        return weights[STOLEN]
    if power == REROLL:
        return weights[REROLLED]
    if power in (DRAW_1, DRAW_2) and not view.end_phase:
        return weights[DRAWN] * (power - DRAW_1 + 1)
    return 0.0


@jit.kernel
def chance_of_ringer(top, die, held):
    """Chance that so many unknown cards can score."""
    if top < 0 or held == 0:
        return 0.0
    row = NUMBER[top] + (7 if SUIT[top] == WILD else 0)
    return 1 - (1 - CHANCES[row, die - 1]) ** (held / FULL_HAND)


@jit.kernel
def loss_of_pile(view, top, die, weights):
    """What each card of a pile that is left costs: others may win it, the seat to the left first."""
    seats = view.num_seats
    next_seat = seat_after(view.viewer, 1, seats)
    held = np.int64(view.hand_size[next_seat])
    if view.owed[next_seat]:
        held = max(held, FULL_HAND)
    chance = chance_of_ringer(top, die, held)
    for kind in range(KINDS):
        if view.hand[next_seat, kind] and NUMBER[kind] == die and LEGAL[view.wrap, top + 1, kind]:
            chance = 1.0
    left = (1 - chance) * (1 - weights[LATER]) ** (seats - 2)
    return (1 - left) / (seats - 1) - left * weights[MINE]


@jit.kernel
def chance_of_taker(view, unseen, top, weights):
    """Chance that somebody takes the turn on this card."""
    hidden, all_unseen = 0, 0
    for seat in range(view.num_seats):
        if seat != view.viewer:
            hidden += view.hand_size[seat] - view.hand[seat].sum()
    for kind in range(KINDS):
        all_unseen += unseen[kind]
    nobody = 1.0
    for take in TAKES:
        if LEGAL[view.wrap, top + 1, take]:
            for _ in range(unseen[take]):
                nobody *= 1 - weights[TAKER] * hidden / all_unseen
            for seat in range(view.num_seats):
                if seat != view.viewer and view.hand[seat, take]:
                    nobody *= 1 - weights[TAKER]
    return 1 - nobody


@jit.kernel
def choose_take(view, unseen, mask, weights):
    """Take the turn if the plan from there is worth more than what is left after the seat on turn goes on."""
    cards = np.empty(MAX_HAND, np.int64)
    size = list_hand(view, cards)
    skipped = view.viewer - view.turn - 1
    if skipped < 0:
        skipped += view.num_seats
    best = worth_of_hand(view, size, weights) - view.pile_size * weights[ON_TURN] - weights[TURN] - weights[SKIPPED] * skipped
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
            value = plan(view, unseen, rest, take, view.pile_size + 1, True, weights)[0]
            if value > best:
                best = value
                action = take
    return action


@jit.kernel
def choose_question(view, unseen, mask, weights):
    """Ask for what would help the plan most, where it is likely to be."""
    cards = np.empty(MAX_HAND + 1, np.int64)
    size = list_hand(view, cards)
    gains = np.zeros(KINDS)
    before = plan(view, unseen, cards[:size], view.top, view.pile_size, False, weights)[0]
    for kind in range(KINDS):
        known = False
        for seat in range(view.num_seats):
            known = known or (seat != view.viewer and view.hand[seat, kind] > 0)
        if unseen[kind] > 0 or known:
            cards[size] = kind
            gains[kind] = plan(view, unseen, cards[: size + 1], view.top, view.pile_size, False, weights)[0] - before
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
        value = 0.0
        if SUIT[kind] == WILD:
            value += 1.0
        if POWER[kind] == TAKE:
            value += 0.7
        if POWER[kind] == REROLL:
            value += 0.5
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
