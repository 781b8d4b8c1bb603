"""The rules of Ding!; rule ids are those of the README beside this file."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cardenvs.core import jit
from cardenvs.core.rng import DEALS, EVENTS, RACES, below, shuffle
from cardenvs.core.state import SCORE, pay_score, pay_win, seat_after
from cardenvs.errors import InvalidOption
from cardenvs.games.ding.cards import (
    COLOUR,
    FITTING,
    MAX_SEATS,
    MOST_PRINTERS,
    NUM_CARDS,
    NUM_EVENTS,
    NUM_FITTING,
    NUMBER,
    PRINTERS,
    condition_id,
)

DRAW = NUM_CARDS
DING = DRAW + 1
"""The action that calls the card of index 0; the actions before `DRAW` play a card."""
DECLINE = DING + NUM_CARDS

TURN, DRAWN, WINDOW = 0, 1, 2
"""Phases: a seat's turn, its decision about a card just drawn, a seat asked whether it calls."""

CLOCKWISE, RANDOM = 0, 1  # option `race`

HIGHER, LOWER = condition_id("step", 1), condition_id("step", -1)
SAME_NUMBER, THREE_NUMBERS = condition_id("same number", 2), condition_id("same number", 3)
SAME_COLOUR, THREE_COLOURS = condition_id("same colour", 2), condition_id("same colour", 3)
OTHERS_HAVE_ONE, ONLY_THIS, OTHERS_HAVE_MORE = condition_id("others have one"), condition_id("only this"), condition_id("others have more")
TWO_OF_NUMBER = np.array([-1] + [condition_id("number", number) for number in range(1, 10)])
TWO_OF_COLOUR = np.array([condition_id("colour", colour) for colour in range(9)])
FIRST_EVENT = condition_id("event", 0)
MISTAKE = 9
"""The event that a false call is: "makes a mistake about the rules" (DI-13)."""

MAX_TRUE = 8 * MOST_PRINTERS
"""No more cards have a true condition at a time: seven conditions about pile and hands and an event."""
NO_LIMIT = 9

SCALE = 10.0

FIELDS = [
    # options
    ("conditions", np.int8),
    ("hand_size", np.int8),
    ("voluntary_pass", np.int8),
    ("play_drawn", np.int8),
    ("race", np.int8),
    ("starter_counts", np.int8),
    ("social_percent", np.int8),
    ("false_dings", np.int8),
    ("max_steps", np.int32),
    # the table
    ("phase", np.int8),
    ("turn", np.int8),  # next in turn: the seat on turn, or the one that plays if nobody calls
    ("actor", np.int8),  # the seat that acted last, -1 before
    ("event", np.int8),  # the visible event 0 … 53, or -1
    ("subject", np.int8),  # whom it happened to, or -1
    ("drawn", np.int8),  # the card that the phase DRAWN asks about, or -1
    ("queue", np.int8, MAX_SEATS),  # the seats asked in this window in their order; blank in a view
    ("queue_next", np.int8),  # place of the one to ask next
    ("queue_end", np.int8),
    ("was_false", np.int8, MAX_SEATS),  # has called falsely since the last turn action
    ("hand_sizes", np.int8, MAX_SEATS),
    ("holder", np.int8, NUM_CARDS),  # the seat that has the card in its hand, or -1; in a view for own and called cards only
    ("called", np.int8, NUM_CARDS),  # falsely called and still in its hand
    ("stock", np.int8, NUM_CARDS),  # the draw pile from place `stock_top` on; blank in a view
    ("stock_top", np.int8),
    ("stock_size", np.int8),
    ("discards", np.int8, NUM_CARDS),  # from oldest to newest
    ("num_discards", np.int8),
    ("uncounted", np.int8),  # 1 while the first card lies in the pile but does not count (DI-11)
    ("reshuffled", np.int8, NUM_CARDS),  # place of each card in the pile at the last reshuffle, the newest at 1; 0 if elsewhere
    ("num_reshuffled", np.int8),
    ("true_cards", np.int8, MAX_TRUE),  # the cards in hands whose condition is true now; in a view, the own ones
    ("num_true", np.int8),
    # what everybody can tell of the hands from the plays and draws; `resample` and the scripted players use it
    ("fresh", np.int8, MAX_SEATS),  # cards in hand that were in the draw pile when it was last shuffled
    ("most", np.int8, (MAX_SEATS, 18)),  # no more cards in hand of each colour, then of each number: draws show what a seat lacks
]
"""The game's own fields of a record."""


def check(num_players: int, options: Mapping[str, Any]) -> None:
    """The deck must hold the hands, a first card and two more (DI-04)."""
    if num_players * options["hand_size"] + 3 > NUM_CARDS:
        most = (NUM_CARDS - 3) // num_players
        raise InvalidOption(f"hand_size={options['hand_size']!r} is not allowed with {num_players} players: it must be at most {most}")


@jit.kernel
def deal(state, deck):
    """DI-04"""
    seats = state.num_seats
    start = below(state.rng, DEALS, seats)
    for card in range(NUM_CARDS):
        state.stock[card] = card
    shuffle(state.rng, DEALS, state.stock)
    for place in range(len(deck)):
        state.stock[place] = deck[place]
    state.holder[:] = -1
    seat = start
    dealt = np.int64(seats) * state.hand_size
    for place in range(dealt):
        state.holder[state.stock[place]] = seat
        seat = seat_after(seat, 1, seats)
    for seat in range(seats):
        state.hand_sizes[seat] = state.hand_size
        state.fresh[seat] = state.hand_size
    state.discards[0] = state.stock[dealt]
    state.num_discards = 1
    state.uncounted = 1 - state.starter_counts
    state.stock_top = dealt + 1
    state.stock_size = NUM_CARDS - dealt - 1
    state.most[:] = NO_LIMIT
    state.turn = start
    state.seat = start
    state.actor = -1
    state.event = -1
    state.subject = -1
    state.drawn = -1
    judge(state)


@jit.kernel
def top_card(state):
    return state.discards[state.num_discards - 1]


@jit.kernel
def fits(card, top):
    """DI-05"""
    return COLOUR[card] == COLOUR[top] or NUMBER[card] == NUMBER[top]


@jit.kernel
def legal_actions(state, mask):
    """DI-05, DI-08, DI-13"""
    seat = state.seat
    if state.phase == TURN:
        top = top_card(state)
        playable = 0
        for k in range(NUM_FITTING):
            card = FITTING[top, k]
            own = 1 if state.holder[card] == seat else 0
            mask[card] = own
            playable |= own
        mask[DRAW] = state.voluntary_pass | (1 - playable)
    elif state.phase == DRAWN:
        mask[state.drawn] = 1
        mask[DECLINE] = 1
    else:
        if state.false_dings and not state.was_false[seat]:
            for card in range(NUM_CARDS):
                mask[DING + card] = state.holder[card] == seat
        else:
            for k in range(state.num_true):
                card = np.int64(state.true_cards[k])
                if state.holder[card] == seat:
                    mask[DING + card] = 1
        mask[DECLINE] = 1


@jit.kernel
def step(state, action):
    seat = state.seat
    if action < DRAW:
        play(state, seat, action)
    elif action == DRAW:
        draw(state, seat)
    elif action < DECLINE:
        call(state, seat, action - DING)
    elif state.phase == DRAWN:
        end_turn_action(state, seat)
    else:
        ask_next(state)
    if state.steps >= state.max_steps and not state.terminated:  # DI-14
        state.truncated = 1


@jit.kernel
def play(state, seat, card):
    """A card from the hand in a turn (DI-05)."""
    clear_event(state)
    discard(state, seat, card)
    if state.hand_sizes[seat] == 0:
        finish(state)
    else:
        end_turn_action(state, seat)


@jit.kernel
def draw(state, seat):
    """Draw in a turn, and play the card if that may be asked (DI-05)."""
    clear_event(state)
    top = top_card(state)
    if not state.voluntary_pass:  # all see that the hand had nothing that fits
        state.most[seat, COLOUR[top]] = 0
        state.most[seat, 8 + NUMBER[top]] = 0
    card = take_card(state, seat)
    if state.play_drawn and card >= 0 and fits(card, top):
        state.phase = DRAWN
        state.drawn = card
        state.turn = seat_after(seat, 1, state.num_seats)
        judge(state)
    else:
        end_turn_action(state, seat)


@jit.kernel
def end_turn_action(state, seat):
    """An event may happen (DI-12), then a window opens (DI-08)."""
    seats = state.num_seats
    if below(state.rng, EVENTS, 100) < state.social_percent:
        state.event = below(state.rng, EVENTS, NUM_EVENTS)
        state.subject = below(state.rng, EVENTS, seats)
    state.drawn = -1
    state.was_false[:] = 0
    state.turn = seat_after(seat, 1, seats)
    open_window(state, seat)


@jit.kernel
def call(state, seat, card):
    """A DING, true (DI-09) or false (DI-13)."""
    clear_event(state)
    if is_true_now(state, card):
        discard(state, seat, card)
        state.turn = seat_after(seat, 1, state.num_seats)
        if state.hand_sizes[seat] == 0:
            finish(state)
            return
    else:
        state.called[card] = 1
        state.was_false[seat] = 1
        take_card(state, seat)
        state.event = MISTAKE
        state.subject = seat
    open_window(state, seat)


@jit.kernel
def is_true_now(state, card):
    """Whether a card in a hand was found true by the last `judge`."""
    for k in range(state.num_true):
        if state.true_cards[k] == card:
            return True
    return False


@jit.kernel
def clear_event(state):
    """An event is visible until the next turn action or call (DI-12)."""
    state.event = -1
    state.subject = -1


@jit.kernel
def discard(state, seat, card):
    """A card leaves the hand and becomes the top card."""
    state.holder[card] = -1
    state.called[card] = 0
    state.hand_sizes[seat] -= 1
    state.discards[state.num_discards] = card
    state.num_discards += 1
    if was_shuffled(state, card):
        state.fresh[seat] -= 1
    state.most[seat, COLOUR[card]] -= 1
    state.most[seat, 8 + NUMBER[card]] -= 1


@jit.kernel
def was_shuffled(state, card):
    """Whether a card was in the draw pile when that was last shuffled; before the first reshuffle that is the whole deck."""
    return state.num_reshuffled == 0 or state.reshuffled[card] > 2


@jit.kernel
def take_card(state, seat):
    """Draw a card to the hand; returns it, or -1 if there is none (DI-06)."""
    if state.stock_size == 0:
        reshuffle(state)
    if state.stock_size == 0:
        return np.int64(-1)
    card = np.int64(state.stock[state.stock_top])
    state.stock_top += 1
    state.stock_size -= 1
    state.holder[card] = seat
    state.hand_sizes[seat] += 1
    state.fresh[seat] += 1
    for kind in range(18):
        state.most[seat, kind] = min(state.most[seat, kind] + 1, NO_LIMIT)
    return card


@jit.kernel
def reshuffle(state):
    """All discards but the top two become the draw pile (DI-06)."""
    count = state.num_discards - 2
    if count <= 0:
        return
    state.reshuffled[:] = 0
    for place in range(state.num_discards):
        state.reshuffled[state.discards[place]] = state.num_discards - place
    state.num_reshuffled = state.num_discards
    for place in range(count):
        state.stock[place] = state.discards[place]
    shuffle(state.rng, EVENTS, state.stock[:count])
    state.stock_top = 0
    state.stock_size = count
    state.discards[0] = state.discards[count]
    state.discards[1] = state.discards[count + 1]
    state.num_discards = 2
    state.uncounted = 0
    state.fresh[:] = 0


@jit.kernel
def open_window(state, actor):
    """Ask, clockwise from the left of the seat that acted last, who has a card whose condition is true (DI-08)."""
    judge(state)
    state.actor = actor
    list_asked(state)
    if state.race == RANDOM:
        shuffle(state.rng, RACES, state.queue[: state.queue_end])
    ask_next(state)


@jit.kernel
def list_asked(state):
    """Queue the seats to ask, clockwise from the left of the seat that acted last (DI-08)."""
    asked = np.int64(0)
    for k in range(state.num_true):
        asked |= 1 << np.int64(state.holder[state.true_cards[k]])
    count = 0
    for k in range(1, state.num_seats + 1):
        seat = seat_after(state.actor, k, state.num_seats)
        if state.false_dings or (asked >> seat) & 1:  # DI-13
            state.queue[count] = seat
            count += 1
    state.queue_next = 0
    state.queue_end = count


@jit.kernel
def ask_next(state):
    """Ask the next seat of the window; after the last one the game goes on."""
    if state.queue_next < state.queue_end:
        state.phase = WINDOW
        state.seat = state.queue[state.queue_next]
        state.queue_next += 1
    else:
        state.phase = TURN
        state.seat = state.turn


@jit.kernel
def judge(state):
    """List the cards in hands whose condition is true now (DI-10)."""
    state.num_true = 0
    counted = state.num_discards - state.uncounted  # DI-11
    if counted >= 2:
        top = state.discards[state.num_discards - 1]
        second = state.discards[state.num_discards - 2]
        if COLOUR[top] == COLOUR[second]:
            add_true(state, SAME_COLOUR)
            add_true(state, TWO_OF_COLOUR[COLOUR[top]])
            if counted >= 3 and COLOUR[state.discards[state.num_discards - 3]] == COLOUR[top]:
                add_true(state, THREE_COLOURS)
        higher = NUMBER[top] - NUMBER[second]
        if higher == 0:
            add_true(state, SAME_NUMBER)
            add_true(state, TWO_OF_NUMBER[NUMBER[top]])
            if counted >= 3 and NUMBER[state.discards[state.num_discards - 3]] == NUMBER[top]:
                add_true(state, THREE_NUMBERS)
        elif higher == 1:
            add_true(state, HIGHER)
        elif higher == -1:
            add_true(state, LOWER)
    one = more = False
    for seat in range(state.num_seats):
        one = one or state.hand_sizes[seat] == 1
        more = more or state.hand_sizes[seat] > state.hand_size
    if one:
        add_true(state, OTHERS_HAVE_ONE)
        add_true(state, ONLY_THIS)
    if more:
        add_true(state, OTHERS_HAVE_MORE)
    if state.event >= 0:
        add_true(state, FIRST_EVENT + state.event)


@jit.kernel
def add_true(state, condition):
    """List the cards in hands that print a condition that is true for their holders."""
    for k in range(MOST_PRINTERS):
        card = PRINTERS[state.conditions, condition, k]
        if card >= 0 and state.holder[card] >= 0 and is_true_for(state, condition, state.holder[card]):
            state.true_cards[state.num_true] = card
            state.num_true += 1


@jit.kernel
def is_true_for(state, condition, caller):
    """Whether a condition that is true for some seat is true for this one: "somebody" is never the caller (DI-03)."""
    if condition == ONLY_THIS:
        return state.hand_sizes[caller] == 1
    if condition == OTHERS_HAVE_ONE:
        for seat in range(state.num_seats):
            if seat != caller and state.hand_sizes[seat] == 1:
                return True
        return False
    if condition == OTHERS_HAVE_MORE:
        for seat in range(state.num_seats):
            if seat != caller and state.hand_sizes[seat] > state.hand_size:
                return True
        return False
    return condition < FIRST_EVENT or caller != state.subject  # DI-12


@jit.kernel
def scores(state, out):
    """Minus the cards left in hand (DI-14)."""
    for seat in range(state.num_seats):
        out[seat] = -np.int64(state.hand_sizes[seat])


@jit.kernel
def finish(state):
    """A hand is empty: its seat wins at once (DI-07)."""
    state.terminated = 1
    state.phase = TURN
    judge(state)
    points = np.zeros(MAX_SEATS, np.int64)
    scores(state, points)
    if state.reward == SCORE:
        pay_score(state, points, SCALE)
    else:
        pay_win(state, points)
