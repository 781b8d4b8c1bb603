"""Scripted players of Timbre: rules of thumb, and a player that tries its actions out on hands that the others may hold."""

import numpy as np

from cardenvs.core import jit
from cardenvs.core.rng import RACES, next_word
from cardenvs.core.state import seat_after
from cardenvs.games.timbre import rules
from cardenvs.games.timbre.cards import BIT, COLOUR, LETTERS, RANK, WILD, WILDS, count, lowest
from cardenvs.games.timbre.encoding import STATE
from cardenvs.games.timbre.rules import CHOOSING, DING, DISCARD, EXCHANGING, FINISH, IN, MAX_DISCARDS, OUT, PLAY, RACING, STAND

PLAIN_WORTH = np.array([0, 2, 2, 2, 2, 2, 2, 3, 5, 8, 15, 30, 50, 0])
TRUMP_WORTH = np.array([0, 30, 34, 36, 38, 40, 44, 48, 54, 62, 72, 84, 95, 100])
"""Tricks that a card of each rank may win, in hundredths."""
POOR = 20
"""A card worth less is exchanged."""
WORTH_IN = np.array([0, 0, 40, 60, 80])
"""From which worth of the hand on a seat at Start, or in zone 1 … 4, is IN."""

GROWTH = np.exp(0.06 * np.arange(FINISH + 1) + 0.0078 * np.arange(FINISH + 1) ** 2)
"""Chance to win from each space, up to a factor: fitted to games of four strong players, at the beginnings of hands."""

SAMPLES, BATCH = 48, 12
MOST_PLANS = 6
CLEAR = 2.0
"""Standard errors by which a plan must trail the best to be dropped."""


@jit.inline
def worth(card, trump):
    if card >= WILD or COLOUR[card] == trump:
        return TRUMP_WORTH[RANK[card]]
    return PLAIN_WORTH[RANK[card]]


@jit.kernel
def worth_of_all(cards, trump):
    total = 0
    while cards != 0:
        total += worth(lowest(cards), trump)
        cards &= cards - 1
    return total


@jit.kernel
def letter_cards(hand, community):
    """The cards of a hand that bring it nearer to a DING: one of each letter that is not among the community cards, and wilds."""
    useful = hand & WILDS
    for letter in range(4):
        held = hand & LETTERS[letter]
        if held != 0 and community & LETTERS[letter] == 0:
            useful |= held & -held
    return useful


@jit.kernel
def missing_letters(hand, community):
    """Cards that a hand lacks for a DING (TI-09); 0 or less if it can build one."""
    missing = 4 - count(letter_cards(hand, community)) - count(community & WILDS)
    for letter in range(4):
        missing -= community & LETTERS[letter] != 0
    return missing


@jit.kernel
def worst(cards, trump):
    """The card worth least in a set that is not empty."""
    found = lowest(cards)
    while cards != 0:
        card = lowest(cards)
        cards &= cards - 1
        if worth(card, trump) < worth(found, trump):
            found = card
    return found


# Rules of thumb.


@jit.kernel
def wants_in(state, seat):
    """Whether the hand is worth the risk of the zone."""
    zone = (state.position[seat] + 3) >> 2
    return worth_of_all(state.hand[seat], state.trump) >= WORTH_IN[zone] or missing_letters(state.hand[seat], state.community) <= 1


@jit.kernel
def to_exchange(state, hand):
    """Which of five cards to exchange: all but a DING or one that lacks one card, or else the poor ones."""
    missing = missing_letters(hand, state.community)
    if missing <= 0:
        return hand & 0
    if missing == 1:
        poor = hand & ~letter_cards(hand, state.community)
    else:
        poor = hand & 0
        rest = hand
        while rest != 0:
            if worth(lowest(rest), state.trump) < POOR:
                poor |= rest & -rest
            rest &= rest - 1
    chosen = hand & 0
    while poor != 0 and count(chosen) < MAX_DISCARDS:
        card = BIT[worst(poor, state.trump)]
        chosen |= card
        poor ^= card
    return chosen


@jit.kernel
def next_discard(state, seat, chosen):
    """The next action of an exchange of `chosen`; of what a seat has put aside already, nothing can be taken back."""
    above = state.last_discard + 1
    left = ((chosen & state.hand[seat]) >> above) << above
    return STAND if left == 0 else DISCARD + min(lowest(left), WILD)


@jit.kernel
def play_card(state, seat):
    """Lead the strongest card; win as cheaply as the last seat can, else with the strongest card; if that is too weak, lose the weakest."""
    legal = rules.playable(state, state.hand[seat])
    last = state.led >= 0 and rules.next_in(state, seat) == state.leader[state.trick]
    weakest, cheapest, strongest = 0, 0, 0
    weakest_power, cheapest_power, strongest_power = 99, 99, 0
    while legal != 0:
        card = lowest(legal)
        legal &= legal - 1
        power = RANK[card]
        if card >= WILD or COLOUR[card] == state.trump:
            power += 13
        if power < weakest_power:
            weakest_power = power
            weakest = card
        wins = state.led < 0 or (power > state.best and (power > 13 or COLOUR[card] == state.led))
        if wins and power < cheapest_power:
            cheapest_power = power
            cheapest = card
        if wins and power > strongest_power:
            strongest_power = power
            strongest = card
    if strongest_power == 0:
        card = weakest
    elif last:
        card = cheapest
    else:
        card = strongest
    return PLAY + min(card, WILD)


@jit.kernel
def rule_of_thumb(state):
    """A fair action of the seat to act, from what it may know."""
    seat = state.seat
    if state.phase == CHOOSING:
        return IN if wants_in(state, seat) else OUT
    if state.phase == EXCHANGING:
        return next_discard(state, seat, to_exchange(state, state.hand[seat] | state.discarded[seat]))
    if state.phase == RACING:
        return DING
    return play_card(state, seat)


@jit.kernel
def choose_easy(view, mask, words):
    """IN with a hand that is worth its risk, exchange the poor cards, DING, and win tricks where it can."""
    return rule_of_thumb(view)


# Trying out.


@jit.kernel
def choose_strong(view, mask, words):
    """The plan that leads to the best chance to win, on average over hands that the others may hold, which are played to their end.

    A plan is an action, or a set of cards to exchange.
    """
    if view.phase == RACING:
        return DING
    plans = np.zeros(MOST_PLANS, np.int64)
    if view.phase == EXCHANGING:
        number = list_exchanges(view, plans)
    else:
        number = 0
        for action in range(len(mask)):
            if mask[action]:
                plans[number] = action
                number += 1
    plan = plans[0] if number == 1 else best_plan(view, plans, number, words)
    return next_discard(view, view.seat, plan) if view.phase == EXCHANGING else plan


@jit.kernel
def list_exchanges(view, plans):
    """Sets to exchange that go with what is put aside already: the 0 … 3 cards worth least, and those that no DING needs."""
    aside = view.discarded[view.seat]
    hand = view.hand[view.seat] | aside
    above = view.last_discard + 1
    number = 0
    chosen = hand & 0
    for size in range(MAX_DISCARDS + 2):
        if size > MAX_DISCARDS:
            chosen = hand & ~letter_cards(hand, view.community)
        elif size > 0:
            chosen |= BIT[worst(hand & ~chosen, view.trump)]
        left = chosen & ~aside
        known = count(chosen) > MAX_DISCARDS or aside & ~chosen != 0 or left != (left >> above) << above
        for k in range(number):
            known = known or plans[k] == chosen
        if not known:
            plans[number] = chosen
            number += 1
    if number == 0:
        plans[0] = aside
        number = 1
    return number


@jit.kernel
def best_plan(view, plans, number, words):
    """Try the plans on the same draws; after each batch the ones that clearly trail are dropped."""
    values = np.zeros((SAMPLES, MOST_PLANS))
    sims = np.empty(2, STATE)
    for sample in range(SAMPLES):
        sims[0] = view
        draw_hidden(sims[0], words)
        for k in range(number):
            sims[1] = sims[0]
            sim = sims[1]
            carry_out(sim, plans[k])
            while not (sim.terminated or sim.truncated):
                rules.step(sim, rule_of_thumb(sim))
            values[sample, k] = chance(sim, view.seat)
        if (sample + 1) % BATCH == 0:
            number = drop_plans(plans, values, sample + 1, number)
            if number == 1:
                break
    return plans[0]


@jit.kernel
def draw_hidden(sim, words):
    """Make a view a state that it may stand for, in the last hand of a game; seats that have chosen before did so by rule of thumb."""
    rules.resample(sim, words)
    sim.rng[RACES] = next_word(words, 0)
    sim.max_hands = 0
    if sim.phase == CHOOSING:
        seat = seat_after(sim.dealer, 1, sim.num_seats)
        while seat != sim.seat:
            sim.choice[seat] = wants_in(sim, seat)
            seat = seat_after(seat, 1, sim.num_seats)


@jit.kernel
def carry_out(sim, plan):
    """Play an action, or exchange a set of cards."""
    if sim.phase != EXCHANGING:
        rules.step(sim, plan)
        return
    seat = sim.seat
    while sim.seat == seat and sim.phase == EXCHANGING:
        rules.step(sim, next_discard(sim, seat, plan))


@jit.kernel
def chance(state, seat):
    """A seat's chance to win, from the positions before a hand."""
    total = 0.0
    for other in range(state.num_seats):
        if state.position[other] == FINISH:
            return 1.0 if other == seat else 0.0
        total += GROWTH[state.position[other]]
    return GROWTH[state.position[seat]] / total


@jit.kernel
def drop_plans(plans, values, samples, number):
    """Put the best plan first and drop those that trail it clearly; returns how many are left."""
    best = 0
    for k in range(1, number):
        if values[:samples, k].sum() > values[:samples, best].sum():
            best = k
    kept = 1
    swap(plans, values, samples, 0, best)
    for k in range(1, number):
        mean, square = 0.0, 0.0
        for sample in range(samples):
            difference = values[sample, 0] - values[sample, k]
            mean += difference / samples
            square += difference * difference / samples
        if mean * mean * samples <= CLEAR * CLEAR * (square - mean * mean) and square > 0.0:
            swap(plans, values, samples, kept, k)
            kept += 1
    return kept


@jit.kernel
def swap(plans, values, samples, i, j):
    """Exchange the places of two plans."""
    plan = plans[i]
    plans[i] = plans[j]
    plans[j] = plan
    for sample in range(samples):
        value = values[sample, i]
        values[sample, i] = values[sample, j]
        values[sample, j] = value
