"""Scripted players of Timbre: rules of thumb, and a player that tries its actions out on hands that the others may hold."""

import functools

import numpy as np

from cardenvs.core import jit
from cardenvs.core.rng import RACES, next_word
from cardenvs.core.state import new_states, seat_after
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

SAMPLES, BATCH = 96, 16
MOST_ACTIONS = 5
CLEAR = 2.5
"""Standard errors by which an action must trail the best to be dropped."""


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

two_states = functools.partial(new_states, STATE, 2) if jit.DISABLED else jit.kernel(lambda: np.empty(2, STATE))
"""Room for two states, as records that kernels can read."""


@jit.kernel
def choose_strong(view, mask, words):
    """The action that leads to the best chance to win, on average over hands that the others may hold, which are played to their end.

    DING and exchange go by rule of thumb: trying them out has not been better.
    """
    if view.phase == RACING or view.phase == EXCHANGING:
        return rule_of_thumb(view)
    actions = np.zeros(MOST_ACTIONS, np.int64)
    number = 0
    for action in range(len(mask)):
        if mask[action]:
            actions[number] = action
            number += 1
    if number > 1:
        try_out(view, actions, number, words)
    return actions[0]


@jit.kernel
def try_out(view, actions, number, words):
    """Put the best action first. All are tried on the same draws; after each batch the ones that clearly trail are dropped."""
    values = np.zeros((SAMPLES, MOST_ACTIONS))
    sims = two_states()
    for sample in range(SAMPLES):
        sims[0] = view
        draw_hidden(sims[0], words)
        for k in range(number):
            sims[1] = sims[0]
            sim = sims[1]
            rules.step(sim, actions[k])
            while not (sim.terminated or sim.truncated):
                rules.step(sim, rule_of_thumb(sim))
            values[sample, k] = chance(sim, view.seat)
        if (sample + 1) % BATCH == 0:
            number = drop_worse(actions, values, sample + 1, number)
            if number == 1:
                return


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
def chance(state, seat):
    """A seat's chance to win, from the positions before a hand."""
    total = 0.0
    for other in range(state.num_seats):
        if state.position[other] == FINISH:
            return 1.0 if other == seat else 0.0
        total += GROWTH[state.position[other]]
    return GROWTH[state.position[seat]] / total


@jit.kernel
def drop_worse(actions, values, samples, number):
    """Put the best action first and drop those that trail it clearly; returns how many are left."""
    best, best_total = 0, -1.0
    for k in range(number):
        total = 0.0
        for sample in range(samples):
            total += values[sample, k]
        if total > best_total:
            best, best_total = k, total
    swap(actions, values, samples, 0, best)
    kept = 1
    for k in range(1, number):
        total, squares = 0.0, 0.0
        for sample in range(samples):
            difference = values[sample, 0] - values[sample, k]
            total += difference
            squares += difference * difference
        if squares > 0.0 and total * total <= CLEAR * CLEAR * (squares - total * total / samples):
            swap(actions, values, samples, kept, k)
            kept += 1
    return kept


@jit.kernel
def swap(actions, values, samples, i, j):
    """Exchange the places of two actions."""
    action = actions[i]
    actions[i] = actions[j]
    actions[j] = action
    for sample in range(samples):
        value = values[sample, i]
        values[sample, i] = values[sample, j]
        values[sample, j] = value
