"""The rules of Ringer; rule ids are those of the README beside this file."""

import numpy as np

from cardenvs.core import jit, piles
from cardenvs.core.rng import BLIND, DEALS, EVENTS, RACES, below, shuffle
from cardenvs.core.state import SCORE, pay_score, pay_win, seat_after
from cardenvs.games.ringer.cards import (
    ASK,
    COPIES,
    DRAW_1,
    DRAW_2,
    FULL_HAND,
    HAND_LIMIT,
    KINDS,
    MAX_SEATS,
    NUM_CARDS,
    NUMBER,
    POWER,
    REROLL,
    STEAL,
    SUIT,
    TAKE,
    TAKES,
    WILD,
    add_card,
    copies,
    remove_card,
)

# Phases: what the seat to act is asked for.
PLAY, WINDOW, NAME_ASK, NAME_STEAL, GIVE, DISCARD, STARTER = range(7)

# Actions: `play K` are 0 … 64.
END = KINDS
FIRST_ASK = END + 1
FIRST_STEAL = FIRST_ASK + 40
FIRST_GIVE = FIRST_STEAL + 4
FIRST_DISCARD = FIRST_GIVE + KINDS
DECLINE = FIRST_DISCARD + KINDS
NUM_ACTIONS = DECLINE + 1

QUESTIONS = 10
"""What an Ask names: the numbers 1 … 6, then the four colours."""
MATCHES = np.array([n == NUMBER for n in range(1, 7)] + [s == SUIT for s in range(4)], np.int8)
"""By question and kind: whether such a card must be given (RI-16)."""

ANY = np.ones(KINDS, np.int8)
MATCH_BITS = (MATCHES << np.arange(QUESTIONS)[:, None]).sum(0)
"""By kind: a bit for each question that it matches."""

MAX_ASKS = 12
"""Most Asks and most Steals of a game: each card is played once at most."""
ASKED, WAS_ASKED, STOLE, WAS_ROBBED = range(0, 4 * MAX_ASKS, MAX_ASKS)
"""Where in a row of `history` its four parts begin."""

# Columns of `moves`, the cards that went from hand to hand.
TO, OF, SURE = range(3)

SCALE = 20.0

FIELDS = [
    ("stall_limit", np.int32),  # options
    ("max_steps", np.int32),
    ("passes", np.int32),  # in a row
    ("deck", np.int8),  # options
    ("wrap", np.int8),
    ("race", np.int8),
    ("starter_power", np.int8),
    ("phase", np.int8),  # in a view of a seat that is not asked in a window: PLAY
    ("turn", np.int8),  # the seat on turn
    ("played", np.int8),  # whether a card was played in this turn
    ("emptied", np.int8),  # whether the card that is being resolved was the last of its hand
    ("end_phase", np.int8),
    ("die", np.int8),
    ("top", np.int8),  # the top card of the Play Pile, or -1
    ("pile_size", np.int8),
    ("asked_seat", np.int8),  # the pending question of an Ask: whom and what, or -1
    ("asked_what", np.int8),
    ("num_asks", np.int8),
    ("num_steals", np.int8),
    ("num_moves", np.int8),
    ("under", np.int8),  # how many cards of the draw pile, all at its bottom, were put under it
    ("stock_ends", np.int16, 2),
    ("claims", np.int8, MAX_SEATS),  # in a window: who is still to be asked, in this order, then -1; blank in a view
    ("owed", np.int8, MAX_SEATS),
    ("hand_size", np.int8, MAX_SEATS),
    ("won_size", np.int8, MAX_SEATS),
    ("lacks", np.int16, MAX_SEATS),  # a bit for each question that the hand answered with no since it last got a card
    ("moves", np.int8, (2 * MAX_ASKS, 3)),  # SURE: the kind that seat OF can be sure that TO still has from it, or -1; others see -1
    ("pile", np.int8, NUM_CARDS),  # from the bottom, then -1
    ("stock", np.int8, NUM_CARDS),  # a ring; in a view the own cards put under it, else -1
    ("put_by", np.int8, NUM_CARDS),  # who put the card at this place of the ring, or -1
    ("answers", np.int8, (MAX_ASKS, QUESTIONS + 2)),  # by answered Ask: 1 at what it named, then at whether there was no match or one
    ("history", np.int8, (MAX_SEATS, 4 * MAX_ASKS)),  # 1 where the seat made answered Ask i, was asked, made Steal i, was robbed
    ("open", np.int8, NUM_CARDS),  # the set of all cards that lie face up, in the Play Pile or won
    ("hand", np.int8, (MAX_SEATS, NUM_CARDS)),  # sets of cards; in a view, of other seats the cards that are surely there
    ("won", np.int8, (MAX_SEATS, NUM_CARDS)),
]
"""The game's own fields of a record."""


def legal_table(wrap: bool) -> np.ndarray:
    """What may be played: 0/1 by top card + 1 (row 0: the pile is empty) and card (RI-05 … RI-09, RI-20, RI-23)."""
    suit, top_suit, number, top_number = SUIT, SUIT[:, None], NUMBER, NUMBER[:, None]
    numbers = (number > 0) & (top_number > 0)
    gap = np.abs(number - top_number)
    neighbours = (gap == 1) | (wrap & (gap == 5))
    wild, top_wild = suit == WILD, top_suit == WILD
    coloured = ~wild & ~top_wild & ((suit == top_suit) & neighbours | (number == top_number))
    one_wild = (wild != top_wild) & (neighbours | (number == top_number))
    both_wild = wild & top_wild & neighbours
    rerolls = (suit == top_suit) | wild | top_wild
    legal = np.where(numbers, coloured | one_wild | both_wild, rerolls)
    legal &= (suit != top_suit) | (number != top_number)
    legal &= (POWER != TAKE) | ~top_wild | (top_number > 0)
    return np.vstack([np.ones(KINDS, bool), legal]).astype(np.int8)


LEGAL = np.array([legal_table(False), legal_table(True)])


@jit.kernel
def deal(state, deck):
    """RI-04"""
    seats = state.num_seats
    state.turn = below(state.rng, DEALS, seats)
    at = 0
    for kind in range(KINDS):
        for _ in range(COPIES[state.deck, kind]):
            state.stock[at] = kind
            at += 1
    shuffle(state.rng, DEALS, state.stock)
    for i in range(len(deck)):
        state.stock[i] = deck[i]
    state.stock_ends[1] = NUM_CARDS
    state.put_by[:] = -1
    state.pile[:] = -1
    state.claims[:] = -1
    state.asked_seat = -1
    state.asked_what = -1
    for i in range(FULL_HAND * seats):
        draw_card(state, (state.turn + i) % seats)
    roll(state)
    turn_card(state)
    state.seat = state.turn
    state.phase = PLAY


@jit.kernel
def legal_actions(state, mask):
    seat, phase = state.seat, state.phase
    hand = state.hand[seat]
    if phase in (PLAY, STARTER):
        legal = LEGAL[state.wrap, state.top + 1]
        for kind in range(KINDS):
            mask[kind] = hand[kind] & legal[kind]
        mask[END] = phase == PLAY
    elif phase == WINDOW:  # RI-18
        for take in TAKES:
            mask[take] = hand[take] & LEGAL[state.wrap, state.top + 1, take]
        mask[DECLINE] = 1
    elif phase == GIVE:
        for kind in range(KINDS):
            mask[FIRST_GIVE + kind] = hand[kind] & MATCHES[state.asked_what, kind]
    elif phase == DISCARD:
        for kind in range(KINDS):
            mask[FIRST_DISCARD + kind] = hand[kind]
    else:
        for d in range(1, state.num_seats):
            if state.hand_size[seat_after(seat, d, state.num_seats)] > 0:
                if phase == NAME_STEAL:
                    mask[FIRST_STEAL + d - 1] = 1
                else:
                    mask[FIRST_ASK + QUESTIONS * (d - 1) : FIRST_ASK + QUESTIONS * d] = 1


@jit.kernel
def step(state, action):
    phase = state.phase
    if phase == WINDOW:
        if action == DECLINE:
            ask_next_claimant(state)
        else:
            take_turn(state, action)
    elif action < END:
        play(state, action)
    elif action == END:
        end_turn(state)
    elif phase == NAME_ASK:
        d, what = divmod(action - FIRST_ASK, QUESTIONS)
        ask(state, seat_after(state.seat, d + 1, state.num_seats), what)
    elif phase == NAME_STEAL:
        steal(state, seat_after(state.seat, action - FIRST_STEAL + 1, state.num_seats))
    elif phase == GIVE:
        give(state, action - FIRST_GIVE)
    else:
        discard(state, action - FIRST_DISCARD)
    if not state.terminated and state.steps >= state.max_steps:
        state.truncated = 1
        pay(state)


@jit.kernel
def play(state, kind):
    """RI-10 for the seat on turn; a first card on an empty pile never scores (RI-23)."""
    first = state.top < 0
    leave_hand(state, state.turn, kind)
    put_on_pile(state, kind)
    state.played = 1
    if first and not state.starter_power:
        finish_card(state)
    elif not first and NUMBER[kind] == state.die:
        score_ringer(state)
    else:
        use_power(state, POWER[kind])


@jit.kernel
def leave_hand(state, seat, kind):
    """A card is played: all see which one, and whether it was the last (RI-14)."""
    remove_card(state.hand[seat], kind, state.deck)
    state.hand_size[seat] -= 1
    state.emptied = state.hand_size[seat] == 0
    state.passes = 0  # RI-24
    forget(state, seat, kind, -1, ANY)


@jit.kernel
def put_on_pile(state, kind):
    state.pile[state.pile_size] = kind
    state.pile_size += 1
    state.top = kind
    add_card(state.open, kind)


@jit.kernel
def score_ringer(state):
    """RI-12; in the end phase RI-23"""
    won = state.won[state.turn]
    state.won_size[state.turn] += state.pile_size
    for i in range(state.pile_size):
        add_card(won, state.pile[i])
        state.pile[i] = -1
    state.pile_size = 0
    state.top = -1
    roll(state)
    if not state.end_phase:
        turn_card(state)
        finish_draw(state)
        finish_card(state)
    elif state.hand_size[state.turn] > 0:
        state.phase = STARTER
    elif no_cards_left(state):
        end_game(state)
    else:
        next_turn(state)


@jit.kernel
def use_power(state, power):
    """RI-13, RI-16, RI-17; Take the Turn has none in the own turn (RI-20)."""
    if power == REROLL:
        roll(state)
    elif (power in (DRAW_1, DRAW_2)) and not state.end_phase:
        for _ in range(min(power - DRAW_1 + 1, state.stock_ends[1])):
            draw_card(state, state.turn)
        if state.hand_size[state.turn] > HAND_LIMIT:
            state.phase = DISCARD
            return
        finish_draw(state)
    elif power in (ASK, STEAL):
        for seat in range(state.num_seats):
            if seat != state.turn and state.hand_size[seat] > 0:
                state.phase = NAME_ASK if power == ASK else NAME_STEAL
                return
    finish_card(state)


@jit.kernel
def ask(state, seat, what):
    """RI-16: the seat on turn asks another for a number or a colour."""
    for kind in range(KINDS):
        if state.hand[seat, kind] and MATCHES[what, kind]:
            state.asked_seat = seat
            state.asked_what = what
            state.seat = seat
            state.phase = GIVE
            return
    state.lacks[seat] |= 1 << what
    note_answer(state, seat, what, 0)
    finish_card(state)


@jit.kernel
def give(state, kind):
    """RI-16: the asked seat gives a card of its choice."""
    what = state.asked_what
    state.asked_seat = -1
    state.asked_what = -1
    note_answer(state, state.seat, what, 1)
    move_card(state, state.seat, kind, MATCHES[what])


@jit.kernel
def steal(state, seat):
    """RI-16: a card of another hand, drawn in kind order."""
    left = below(state.rng, BLIND, state.hand_size[seat])
    kind = 0
    while True:
        left -= copies(state.hand[seat], kind, state.deck)
        if left < 0:
            break
        kind += 1
    state.history[state.turn, STOLE + state.num_steals] = 1
    state.history[seat, WAS_ROBBED + state.num_steals] = 1
    state.num_steals += 1
    move_card(state, seat, kind, ANY)


@jit.kernel
def note_answer(state, seat, what, matched):
    """An Ask is answered."""
    state.history[state.turn, ASKED + state.num_asks] = 1
    state.history[seat, WAS_ASKED + state.num_asks] = 1
    state.answers[state.num_asks, what] = 1
    state.answers[state.num_asks, QUESTIONS + matched] = 1
    state.num_asks += 1


@jit.kernel
def move_card(state, seat, kind, possible):
    """A card goes from another hand to the seat on turn; the two see which one."""
    remove_card(state.hand[seat], kind, state.deck)
    state.hand_size[seat] -= 1
    add_card(state.hand[state.turn], kind)
    state.hand_size[state.turn] += 1
    state.lacks[state.turn] = 0
    forget(state, seat, kind, state.turn, possible)
    move = state.moves[state.num_moves]
    move[TO] = state.turn
    move[OF] = seat
    move[SURE] = kind
    state.num_moves += 1
    finish_card(state)


@jit.kernel
def forget(state, seat, kind, witness, possible):
    """A card leaves a hand: its `witness` (-1: all) knows of one less of its kind, others of one less of each `possible` kind."""
    for i in range(state.num_moves):
        move = state.moves[i]
        if move[SURE] < 0 or move[TO] != seat:
            continue
        if witness < 0 or move[OF] == witness:
            gone = move[SURE] == kind
        else:
            gone = possible[move[SURE]] > 0
        for j in range(i + 1, state.num_moves):  # of several cards of a kind that one seat knows, the latest goes
            later = state.moves[j]
            gone = gone and not (later[TO] == seat and later[OF] == move[OF] and later[SURE] == move[SURE])
        if gone:
            move[SURE] = -1


@jit.kernel
def discard(state, kind):
    """A card goes under the draw pile: before the draw of a pass (RI-11), or after a power has drawn (RI-17)."""
    seat = state.turn
    remove_card(state.hand[seat], kind, state.deck)
    state.hand_size[seat] -= 1
    forget(state, seat, kind, seat, ANY)
    state.put_by[(state.stock_ends[0] + state.stock_ends[1]) % NUM_CARDS] = seat
    piles.put_under(state.stock, state.stock_ends, kind)
    state.under += 1
    if not state.played:
        draw_for_pass(state)
    elif state.hand_size[seat] == HAND_LIMIT:
        finish_draw(state)
        finish_card(state)


@jit.kernel
def finish_card(state):
    """After Ringer or power: streak (RI-14), end (RI-24), window (RI-18)."""
    if state.emptied and not state.end_phase:
        refill(state)
    if no_cards_left(state):
        end_game(state)
    else:
        open_window(state)


@jit.kernel
def open_window(state):
    """RI-18"""
    seats = state.num_seats
    claimants = 0
    state.claims[:] = -1
    for d in range(1, seats):
        seat = seat_after(state.turn, d, seats)
        if may_take(state, seat):
            state.claims[claimants] = seat
            claimants += 1
    if state.race and claimants > 1:
        shuffle(state.rng, RACES, state.claims[:claimants])
    ask_next_claimant(state)


@jit.kernel
def may_take(state, seat):
    """Whether a seat holds a Take the Turn card that is legal on the top card."""
    for kind in TAKES:
        if state.hand[seat, kind] and LEGAL[state.wrap, state.top + 1, kind]:
            return True
    return False


@jit.kernel
def ask_next_claimant(state):
    """The next seat of the window is asked; after the last the turn goes on."""
    state.seat = state.claims[0]
    state.phase = WINDOW
    for i in range(MAX_SEATS - 1):
        state.claims[i] = state.claims[i + 1]
    if state.seat < 0:
        state.seat = state.turn
        state.phase = PLAY


@jit.kernel
def take_turn(state, kind):
    """RI-19"""
    taker = state.seat
    state.owed[state.turn] = not state.end_phase  # RI-21
    state.turn = taker
    state.played = 1
    leave_hand(state, taker, kind)
    put_on_pile(state, kind)
    refill_owed(state)
    finish_card(state)


@jit.kernel
def end_turn(state):
    """RI-11, RI-15"""
    if not state.played:
        if state.end_phase:
            finish_pass(state)
        elif state.hand_size[state.turn] == HAND_LIMIT:
            state.phase = DISCARD
        else:
            draw_for_pass(state)
        return
    if not state.end_phase:
        refill(state)
    next_turn(state)


@jit.kernel
def draw_for_pass(state):
    """RI-11; a pass that takes the last card is not counted (RI-24)."""
    draw_card(state, state.turn)
    refill(state)
    if state.end_phase:
        next_turn(state)
    else:
        finish_pass(state)


@jit.kernel
def finish_pass(state):
    """RI-24, RI-25"""
    state.passes += 1
    if not state.end_phase and state.passes >= state.stall_limit * state.num_seats:
        turn_card(state)
        state.passes = 0
        finish_draw(state)
    next_turn(state)


@jit.kernel
def next_turn(state):
    """The seat to the left begins its turn; in the end phase those without cards pass, and N passes end the game (RI-24)."""
    while not state.end_phase or state.passes < state.num_seats:
        state.turn = seat_after(state.turn, 1, state.num_seats)
        state.played = 0
        refill_owed(state)
        if not state.end_phase or state.hand_size[state.turn] > 0:
            state.seat = state.turn
            state.phase = PLAY
            return
        state.passes += 1
    end_game(state)


@jit.kernel
def refill_owed(state):
    """RI-21"""
    if state.owed[state.turn]:
        state.owed[state.turn] = 0
        refill(state)


@jit.kernel
def refill(state):
    """The seat on turn draws until it holds 6, or what is left (RI-14, RI-15, RI-21)."""
    while state.hand_size[state.turn] < FULL_HAND and state.stock_ends[1] > 0:
        draw_card(state, state.turn)
    finish_draw(state)


@jit.kernel
def finish_draw(state):
    """RI-22"""
    if state.stock_ends[1] == 0 and not state.end_phase:
        state.end_phase = 1
        state.passes = 0
        state.owed[:] = 0


@jit.kernel
def take_top(state):
    """The top card of the draw pile."""
    state.put_by[state.stock_ends[0]] = -1
    state.under = min(state.under, state.stock_ends[1] - 1)
    return piles.draw(state.stock, state.stock_ends)


@jit.kernel
def draw_card(state, seat):
    add_card(state.hand[seat], take_top(state))
    state.hand_size[seat] += 1
    state.lacks[seat] = 0


@jit.kernel
def turn_card(state):
    """The top card of the draw pile comes on the Play Pile, without power or Ringer."""
    put_on_pile(state, take_top(state))


@jit.kernel
def roll(state):
    state.die = 1 + below(state.rng, EVENTS, 6)


@jit.kernel
def no_cards_left(state):
    for seat in range(state.num_seats):
        if state.hand_size[seat] > 0:
            return False
    return True


@jit.kernel
def end_game(state):
    state.terminated = 1
    state.phase = PLAY
    pay(state)


@jit.kernel
def pay(state):
    """RI-26"""
    points = np.empty(MAX_SEATS, np.int64)
    scores(state, points)
    if state.reward == SCORE:
        pay_score(state, points, SCALE)
    else:
        pay_win(state, points)


@jit.kernel
def scores(state, out):
    """RI-26"""
    for seat in range(state.num_seats):
        out[seat] = np.int64(state.won_size[seat]) - state.hand_size[seat]


@jit.kernel
def hide(view):
    """Seen are the own hand, the own cards under the draw pile, and cards in other hands that came from the own.

    A seat that is not asked in a window sees what it would see if the window were over (G-05).
    """
    viewer = view.viewer
    if view.phase == WINDOW and view.seat != viewer:
        view.seat = view.turn
        view.phase = PLAY
    view.claims[:] = -1
    if view.under == 0:
        view.stock[:] = -1
    else:
        for i in range(NUM_CARDS):
            if view.put_by[i] != viewer:
                view.stock[i] = -1
    for seat in range(view.num_seats):
        if seat != viewer:
            for i in range(NUM_CARDS):
                view.hand[seat, i] = 0
    for i in range(view.num_moves):
        move = view.moves[i]
        if move[OF] != viewer:
            move[SURE] = -1
        elif move[SURE] >= 0:
            add_card(view.hand[move[TO]], move[SURE])


@jit.kernel
def resample(state, words):
    """Deal the unseen cards at random to the unknown places of other hands and of the draw pile.

    What others know of each other's hands stays open: they are sure of nothing.
    """
    deck = state.deck
    cards = np.empty(NUM_CARDS, np.int64)
    size = 0
    for kind in range(KINDS):
        unseen = np.int64(COPIES[deck, kind]) - copies(state.open, kind, deck)
        for seat in range(state.num_seats):
            unseen -= copies(state.hand[seat], kind, deck)
        for i in range(NUM_CARDS):
            unseen -= state.stock[i] == kind
        cards[size : size + unseen] = kind
        size += unseen
    cards = cards[:size]
    seats = np.empty(size, np.int64)
    while True:
        shuffle(words, 0, cards)
        if find_seats(state, cards, seats):
            break
    place = 0
    for i in range(size):
        if seats[i] >= 0:
            add_card(state.hand[seats[i]], cards[i])
        else:
            while state.stock[(state.stock_ends[0] + place) % NUM_CARDS] >= 0:
                place += 1
            state.stock[(state.stock_ends[0] + place) % NUM_CARDS] = cards[i]
    if state.phase == WINDOW:
        resample_claims(state, words)


@jit.kernel
def find_seats(state, cards, seats):
    """Who gets each of the unseen cards, -1 the draw pile, from the first card on; False if it does not come out.

    No hand gets what it is known to lack, and one that was asked and is about to give has something to give.
    """
    seats[:] = -1
    can_give = state.phase != GIVE or state.seat == state.viewer
    if not can_give:
        for kind in range(KINDS):
            can_give = can_give or (state.hand[state.seat, kind] > 0 and MATCHES[state.asked_what, kind] > 0)
    for free in range(2):  # hands that lack something come first
        for seat in range(state.num_seats):
            if seat == state.viewer or (state.lacks[seat] == 0) != free:
                continue
            missing = state.hand_size[seat] - state.hand[seat].sum()
            for i in range(len(cards)):
                if missing > 0 and seats[i] < 0 and not state.lacks[seat] & MATCH_BITS[cards[i]]:
                    seats[i] = seat
                    missing -= 1
                    can_give = can_give or (seat == state.seat and MATCHES[state.asked_what, cards[i]] > 0)
            if missing > 0:
                return False
    return can_give


@jit.kernel
def resample_claims(state, words):
    """The seats that could take the turn after the viewer; the others were asked before and declined (RI-18)."""
    order = np.empty(MAX_SEATS, np.int64)
    claimants = 0
    for d in range(1, state.num_seats):
        seat = seat_after(state.turn, d, state.num_seats)
        if seat == state.viewer or may_take(state, seat):
            order[claimants] = seat
            claimants += 1
    if state.race:
        shuffle(words, 0, order[:claimants])
    at = -1
    for i in range(claimants):
        if at >= 0:
            state.claims[at] = order[i]
        if at >= 0 or order[i] == state.viewer:
            at += 1
