"""The rules of Timbre; rule ids are those of the README beside this file."""

import numpy as np

from cardenvs.core import jit
from cardenvs.core.jit import copy_row
from cardenvs.core.rng import DEALS, RACES, below, shuffle
from cardenvs.core.state import SCORE, pay_score, pay_win, seat_after
from cardenvs.games.timbre.cards import ALL, BIT, COLOUR, LETTERS, NUM_CARDS, RANK, SUIT, WILD, WILDS, count, lowest

IN, OUT = 0, 1
DISCARD = 2
"""The action that discards card 0; those of the other kinds follow."""
STAND, DING, NO_DING = 63, 64, 65
PLAY = 66
"""The action that plays card 0; those of the other kinds follow."""

CHOOSING, EXCHANGING, RACING, TRICKS = 0, 1, 2, 3
"""Phases; RACING is the window of TI-09."""

MAX_SEATS = 8
HAND = 5
MAX_DISCARDS = 3
FINISH = 17
NEAR = 12
"""From here on a pawn may reach Finish by tricks alone (TI-14)."""
PRIZE = 5
"""Spaces for a DING (TI-09) and for the only seat that is IN (TI-07)."""
SCALE = 10.0
NOBODY = -1
UNKNOWN = -1

FIELDS = [
    ("max_hands", np.int32),  # options, up to `wild_must_follow`
    ("wilds", np.int8),
    ("back_moves", np.int8),  # 0 rising, 1 falling
    ("all_out", np.int8),  # 0 void, 1 dealer_in
    ("race", np.int8),  # 0 clockwise, 1 random
    ("wild_must_follow", np.int8),
    ("phase", np.int8),
    ("hand_number", np.int32),  # from 0
    ("dealer", np.int8),
    ("trump", np.int8),
    ("near", np.int8),  # whether pawns move trick by trick (TI-14)
    ("position", np.int8, MAX_SEATS),
    ("choice", np.int8, MAX_SEATS),  # 1 IN, 0 OUT, UNKNOWN before it is made and, in a view, before it is revealed
    ("hand", np.int64, MAX_SEATS),  # a set of cards; in a view, of other seats the known ones only
    ("discarded", np.int64, MAX_SEATS),
    ("exchanged", np.int8, MAX_SEATS),  # how many
    ("stacked", np.int8, MAX_SEATS),  # where in the deck the seat's discards begin, 0 while they do not lie there
    ("last_discard", np.int8),  # of the seat that exchanges, or NOBODY's
    ("community", np.int64),
    ("deck", np.int8, NUM_CARDS + MAX_SEATS * MAX_DISCARDS),  # as shuffled, then the discards; the stock lies from `top` to `end`
    ("top", np.int8),
    ("end", np.int8),
    ("racers", np.int8, MAX_SEATS),  # the seats asked in the window, in order
    ("num_racers", np.int8),
    ("racer", np.int8),  # place among them of the one being asked
    ("trick", np.int8),  # from 0
    ("led", np.int8),  # suit led, or -1
    ("winner", np.int8),  # who is winning the trick
    ("best", np.int8),  # with a card of this power
    ("leader", np.int8, HAND),  # who led each trick, or NOBODY
    ("played", np.int8, (MAX_SEATS, HAND)),  # card played to each trick, or -1
    ("gone", np.int64),  # all cards played in this hand
    ("tricks", np.int8, MAX_SEATS),  # won in this hand
    ("void", np.int8, MAX_SEATS),  # bits: colours that a seat has failed to follow; 16 for wilds that it has shown not to hold
    ("choice_before", np.int8, MAX_SEATS),  # of the hand before
    ("ding_before", np.int8),
    ("tricks_before", np.int8, MAX_SEATS),
]
"""The game's own fields of a record."""

_IN_ORDER = np.arange(NUM_CARDS, dtype=np.int8)


@jit.kernel
def deal(state, deck):
    """All pawns at Start; the first dealer is drawn (TI-05)."""
    state.dealer = below(state.rng, DEALS, state.num_seats)
    state.choice_before[:] = UNKNOWN
    state.ding_before = NOBODY
    shuffle_cards(state)
    wild = WILD
    for i in range(len(deck)):
        state.deck[i] = deck[i]
        if deck[i] == WILD:  # each copy under its own number
            state.deck[i] = wild
            wild += 1
    deal_hand(state)


@jit.kernel
def shuffle_cards(state):
    """All cards afresh (TI-05)."""
    state.end = WILD + state.wilds
    for i in range(NUM_CARDS):
        state.deck[i] = _IN_ORDER[i]
    shuffle(state.rng, DEALS, state.deck[: state.end])


@jit.kernel
def deal_hand(state):
    """Deal five cards to each seat and turn the community cards (TI-05)."""
    seats = state.num_seats
    state.hand[:] = 0
    seat = state.dealer
    for i in range(HAND * seats):
        seat = seat_after(seat, 1, seats)
        state.hand[seat] |= BIT[state.deck[i]]
    top = HAND * seats
    state.community = BIT[state.deck[top]]
    while state.deck[top] >= WILD:
        top += 1
        state.community |= BIT[state.deck[top]]
    state.trump = COLOUR[state.deck[top]]
    state.top = top + 1
    state.choice[:] = UNKNOWN
    state.discarded[:] = 0
    state.exchanged[:] = 0
    state.stacked[:] = 0
    state.last_discard = -1
    state.near = 0
    state.trick = 0
    state.led = -1
    state.winner = NOBODY
    state.best = 0
    state.leader[:] = NOBODY
    state.played[:] = -1
    state.gone = 0
    state.tricks[:] = 0
    state.void[:] = 0
    state.phase = CHOOSING
    state.seat = seat_after(state.dealer, 1, seats)


@jit.inline
def allow(mask, first, cards):
    """Set the actions that begin with `first`, one for each kind, of the kinds of `cards`."""
    while cards != 0:
        mask[first + min(lowest(cards), WILD)] = 1
        cards &= cards - 1


@jit.kernel
def legal_actions(state, mask):
    hand = state.hand[state.seat]
    if state.phase == CHOOSING:  # TI-06
        mask[IN] = mask[OUT] = 1
    elif state.phase == EXCHANGING:  # TI-08: not below the last discard, but an equal wild
        above = state.last_discard + 1
        allow(mask, DISCARD, (hand >> above) << above)
        mask[STAND] = 1
    elif state.phase == RACING:  # TI-09
        mask[DING] = mask[NO_DING] = 1
    else:
        allow(mask, PLAY, playable(state, hand))


@jit.kernel
def playable(state, hand):
    """The cards of `hand` that may be played now (TI-10, TI-11)."""
    if state.led < 0:
        return hand
    follows = hand & SUIT[state.led]
    if state.led == state.trump and (follows != 0 or must_follow_wild(state)):
        follows |= hand & WILDS
    return follows if follows != 0 else hand


@jit.kernel
def must_follow_wild(state):
    """Whether a seat whose only trumps are wilds must play one to this trump lead (TI-11)."""
    return state.wild_must_follow == 1 or state.played[state.leader[state.trick], state.trick] >= WILD


@jit.kernel
def step(state, action):
    seat = state.seat
    if action <= OUT:
        choose(state, seat, 1 if action == IN else 0)
    elif action < STAND:
        discard(state, seat, action - DISCARD)
    elif action == STAND:
        draw(state, seat)
    elif action == DING:
        declare_ding(state, seat)
    elif action == NO_DING:
        state.racer += 1
        ask_racer(state)
    else:
        play(state, seat, action - PLAY)


@jit.kernel
def choose(state, seat, choice):
    """A secret choice; when the dealer has chosen, all are revealed (TI-06)."""
    state.choice[seat] = choice
    if seat != state.dealer:
        state.seat = seat_after(seat, 1, state.num_seats)
        return
    state.phase = EXCHANGING
    mover, seats_in = state.dealer, 0
    for other in range(state.num_seats):
        if state.choice[other] == 1:
            mover = other
            seats_in += 1
    if seats_in >= 2:
        state.seat = next_in(state, state.dealer)
        return
    if seats_in == 1 or state.all_out == 1:  # TI-07
        move_forward(state, mover, PRIZE)
    end_hand(state, NOBODY)


@jit.inline
def next_in(state, seat):
    """The first IN seat clockwise after `seat`."""
    seat = seat_after(seat, 1, state.num_seats)
    while state.choice[seat] != 1:
        seat = seat_after(seat, 1, state.num_seats)
    return seat


@jit.kernel
def pick(hand, kind):
    """The card of that kind in a hand: of wilds, the lowest copy."""
    return lowest(hand & WILDS) if kind == WILD else kind


@jit.kernel
def discard(state, seat, kind):
    """Put a card aside to be exchanged; the third ends it (TI-08)."""
    card = pick(state.hand[seat], kind)
    state.hand[seat] ^= BIT[card]
    state.discarded[seat] |= BIT[card]
    state.exchanged[seat] += 1
    state.last_discard = card
    if state.exchanged[seat] == MAX_DISCARDS:
        draw(state, seat)


@jit.kernel
def draw(state, seat):
    """Draw as many cards as were discarded, then the discards go under the stock (TI-08)."""
    for _ in range(state.exchanged[seat]):
        state.hand[seat] |= BIT[state.deck[state.top]]
        state.top += 1
    if state.exchanged[seat] > 0:
        state.stacked[seat] = state.end
        state.end += state.exchanged[seat]
        stack(state, seat)
    state.last_discard = -1
    following = next_in(state, seat)
    if following == next_in(state, state.dealer):
        start_race(state)
    else:
        state.seat = following


@jit.inline
def stack(state, seat):
    """A seat's discards lie in the deck: first discarded first, which is ascending."""
    place, left = state.stacked[seat], state.discarded[seat]
    while left != 0:
        state.deck[place] = lowest(left)
        place += 1
        left &= left - 1


@jit.kernel
def start_race(state):
    """After the exchange: who can build a DING is asked (TI-09)."""
    far = 0
    for seat in range(state.num_seats):
        far += state.choice[seat] == 1 and state.position[seat] >= NEAR
    state.near = far >= 2  # TI-14
    list_racers(state)
    if state.race == 1 and state.num_racers >= 2:
        shuffle(state.rng, RACES, state.racers[: state.num_racers])
    ask_racer(state)


@jit.kernel
def list_racers(state):
    """The IN seats that can build a DING, clockwise from the dealer's left."""
    state.num_racers = 0
    state.racer = 0
    first = next_in(state, state.dealer)
    seat = first
    while True:
        if can_ding(state.hand[seat] | state.community):
            state.racers[state.num_racers] = seat
            state.num_racers += 1
        seat = next_in(state, seat)
        if seat == first:
            return


@jit.kernel
def can_ding(cards):
    """Whether wilds can stand for all letters that are missing (TI-09)."""
    missing = 0
    for letter in range(4):
        missing += (cards & LETTERS[letter]) == 0
    return count(cards & WILDS) >= missing


@jit.kernel
def ask_racer(state):
    """Ask the next seat in the window, or begin the tricks (TI-09, TI-10)."""
    if state.racer < state.num_racers:
        state.phase = RACING
        state.seat = state.racers[state.racer]
    else:
        state.phase = TRICKS
        state.seat = next_in(state, state.dealer)


@jit.kernel
def declare_ding(state, seat):
    """TI-09"""
    state.phase = TRICKS
    for other in range(state.num_seats):
        if state.choice[other] == 1 and other != seat:
            move_back(state, other)
    move_forward(state, seat, PRIZE)
    end_hand(state, seat)


@jit.kernel
def power_of(state, card):
    """The strength of a card in the running trick: 0 for plain cards of other suits than the one led (TI-12)."""
    if card >= WILD or COLOUR[card] == state.trump:
        return RANK[card] + 13
    return RANK[card] if COLOUR[card] == state.led else 0


@jit.kernel
def play(state, seat, kind):
    """Play a card to the trick (TI-10)."""
    trick = state.trick
    card = pick(state.hand[seat], kind)
    state.hand[seat] ^= BIT[card]
    state.gone |= BIT[card]
    suit = state.trump if card >= WILD else COLOUR[card]
    if state.led < 0:
        state.led = suit
        state.leader[trick] = seat
    state.played[seat, trick] = card
    power = power_of(state, card)
    if suit != state.led:
        state.void[seat] |= 1 << state.led
        if state.led == state.trump and must_follow_wild(state):
            state.void[seat] |= 16
    if power > state.best:  # of equal cards the first played wins (TI-12)
        state.best = power
        state.winner = seat
    following = next_in(state, seat)
    if following == state.leader[trick]:
        end_trick(state)
    else:
        state.seat = following


@jit.kernel
def end_trick(state):
    winner = state.winner
    state.tricks[winner] += 1
    state.seat = winner
    state.trick += 1
    state.led = -1
    state.winner = NOBODY
    state.best = 0
    if state.near:
        move_forward(state, winner, 1)  # TI-14
    if state.trick == HAND:
        move_after_tricks(state)
        end_hand(state, NOBODY)
    elif state.position[winner] == FINISH:
        end_hand(state, NOBODY)


@jit.kernel
def move_after_tricks(state):
    """TI-13; with `near` the tricks have moved the pawns already, and nobody moves back once one is at Finish (TI-14)."""
    finished = False
    for seat in range(state.num_seats):
        finished = finished or state.position[seat] == FINISH
    for seat in range(state.num_seats):
        if state.choice[seat] != 1:
            continue
        if state.tricks[seat] == 0:
            if not finished:
                move_back(state, seat)
        elif not state.near:
            move_forward(state, seat, state.tricks[seat])


@jit.kernel
def move_forward(state, seat, spaces):
    """A pawn stops at Finish (TI-15)."""
    state.position[seat] = min(state.position[seat] + spaces, FINISH)


@jit.kernel
def move_back(state, seat):
    """Back by the zone in which the pawn stands (TI-02, TI-03)."""
    place = state.position[seat]
    if place > 0:
        zone = (place - 1) >> 2
        state.position[seat] = max(0, place - (4 - zone if state.back_moves == 1 else 1 + zone))


@jit.kernel
def end_hand(state, ding):
    """All moves are made: the game is over, or the next hand is dealt (TI-05, TI-15)."""
    copy_row(state.choice_before, state.choice)
    state.ding_before = ding
    copy_row(state.tricks_before, state.tricks)
    at_finish = 0
    for seat in range(state.num_seats):
        at_finish += state.position[seat] == FINISH
    if at_finish > 0:
        assert at_finish == 1
        state.terminated = 1
    elif state.hand_number + 1 >= state.max_hands:
        state.truncated = 1
    else:
        state.hand_number += 1
        state.dealer = seat_after(state.dealer, 1, state.num_seats)
        shuffle_cards(state)
        deal_hand(state)
        return
    if state.reward == SCORE:
        pay_score(state, state.position, SCALE)
    elif state.terminated:
        pay_win(state, state.position)


@jit.kernel
def scores(state, out):
    """Positions."""
    for seat in range(state.num_seats):
        out[seat] = state.position[seat]


@jit.kernel
def hide(view):
    """Hands, discards, the stock, choices before the reveal and the window of TI-09 are hidden from the others.

    Cards of others are known where they drew what the viewer discarded.
    """
    viewer = view.viewer
    own = view.discarded[viewer]
    for i in range(len(view.deck)):
        view.deck[i] = -1
    if view.stacked[viewer] > 0:
        stack(view, viewer)
    for seat in range(view.num_seats):
        if seat != viewer:
            view.hand[seat] &= own
            view.discarded[seat] = 0
            if view.phase == CHOOSING:
                view.choice[seat] = UNKNOWN
    view.racers[:] = NOBODY
    view.num_racers = 0
    view.racer = 0
    if view.seat == viewer:
        return
    view.last_discard = -1
    if view.phase == RACING:  # as if nobody were asked
        view.phase = TRICKS
        view.seat = next_in(view, view.dealer)
    if view.phase == CHOOSING:
        view.seat = NOBODY


_DISCARDS, _STOCK = MAX_SEATS, MAX_SEATS + 1
"""Places of hidden cards besides the hands: before the seat that exchanges, and in the stock."""


@jit.kernel
def resample(state, words):
    """Draw what is hidden: choices, hands, discards and the stock; hand sizes, known cards and shown voids hold.

    Cards are dealt at random, then swapped until every void holds. Who declined to DING may hold one all the same.
    """
    if state.phase == CHOOSING:
        draw_choices(state, words)
    cards, places = list_hidden(state)
    shuffle(words, 0, cards)
    while not repair_voids(state, cards, places, words):
        shuffle(words, 0, cards)
    at = state.top
    for i in range(len(cards)):
        if places[i] < MAX_SEATS:
            state.hand[places[i]] |= BIT[cards[i]]
        elif places[i] == _DISCARDS:
            state.discarded[state.seat] |= BIT[cards[i]]
            state.last_discard = max(state.last_discard, cards[i])
        else:
            while state.deck[at] >= 0:
                at += 1
            state.deck[at] = cards[i]
    sort_discards(state)
    if state.phase == RACING:
        list_racers(state)
        if state.race == 1:
            shuffle(words, 0, state.racers[: state.num_racers])
        while state.racers[state.racer] != state.viewer:
            state.racer += 1


@jit.kernel
def draw_choices(state, words):
    """Draw who is asked, if it is not the viewer, and what those before have chosen."""
    seats = state.num_seats
    before = state.viewer - state.dealer - 1  # seats that choose before the viewer
    if before < 0:
        before += seats
    chosen = before
    if state.seat != state.viewer:
        if state.choice[state.viewer] == UNKNOWN:
            chosen = below(words, 0, before)
        else:
            chosen = before + 1 + below(words, 0, seats - before - 1)
    seat = seat_after(state.dealer, 1, seats)
    for _ in range(chosen):
        if seat != state.viewer:
            state.choice[seat] = below(words, 0, 2)
        seat = seat_after(seat, 1, seats)
    state.seat = seat


@jit.kernel
def list_hidden(state):
    """The cards that the viewer does not know, and their places: seats for their hands, _DISCARDS, _STOCK; as many of each."""
    hidden = ALL[state.wilds] & ~(state.community | state.gone | state.discarded[state.viewer])
    for seat in range(state.num_seats):
        hidden &= ~state.hand[seat]
    cards = np.empty(count(hidden), np.int8)
    places = np.empty(len(cards), np.int8)
    for i in range(len(cards)):
        cards[i] = lowest(hidden)
        hidden &= hidden - 1
    at = 0
    for seat in range(state.num_seats):
        missing = HAND - count(state.hand[seat])
        for trick in range(HAND):
            missing -= state.played[seat, trick] >= 0
        if state.phase == EXCHANGING and seat == state.seat:
            missing -= state.exchanged[seat]
            if seat != state.viewer:
                places[at : at + state.exchanged[seat]] = _DISCARDS
                at += state.exchanged[seat]
        places[at : at + missing] = seat
        at += missing
    places[at:] = _STOCK
    return cards, places


@jit.kernel
def repair_voids(state, cards, places, words):
    """Swap cards until no seat holds one of a suit that it does not have; False if a card has nowhere to go."""
    for i in range(len(cards)):
        if fits(state, cards[i], places[i]):
            continue
        j = below(words, 0, len(cards))
        tried = 0
        while not (fits(state, cards[i], places[j]) and fits(state, cards[j], places[i])):
            j = seat_after(j, 1, len(cards))
            tried += 1
            if tried == len(cards):
                return False
        kept = cards[i]
        cards[i] = cards[j]
        cards[j] = kept
    return True


@jit.kernel
def fits(state, card, place):
    """Whether a hidden card may lie in that place."""
    return place >= MAX_SEATS or (state.void[place] >> COLOUR[card]) & 1 == 0


@jit.kernel
def sort_discards(state):
    """What the other seats discarded, in the order of TI-08, from the cards that lie there now.

    A discard that was drawn again is one of the cards of who drew it.
    """
    taken = state.discarded[state.viewer]
    for seat in range(state.num_seats):
        if seat == state.viewer or state.stacked[seat] == 0:
            continue
        for place in range(state.stacked[seat], state.stacked[seat] + state.exchanged[seat]):
            if place >= state.top:
                card = BIT[state.deck[place]]
            else:
                card = BIT[lowest(cards_of(state, who_drew(state, place)) & ~taken)]
            state.discarded[seat] |= card
            taken |= card
        stack(state, seat)


@jit.kernel
def cards_of(state, seat):
    """All cards that a seat has held since the exchange."""
    cards = state.hand[seat]
    for trick in range(HAND):
        if state.played[seat, trick] >= 0:
            cards |= BIT[state.played[seat, trick]]
    return cards


@jit.kernel
def who_drew(state, place):
    """The seat that drew the card at that place of the deck in its exchange."""
    end = HAND * state.num_seats + count(state.community)
    seat = np.int64(state.dealer)
    while place >= end:
        seat = next_in(state, seat)
        end += state.exchanged[seat]
    return seat
