"""The rules of Ramino; rule ids are those of the README beside this file."""

import numpy as np

from cardenvs.core import jit
from cardenvs.core.jit import copy_row
from cardenvs.core.rng import DEALS, EVENTS, below, shuffle
from cardenvs.core.state import SCORE, new_states, pay_win, seat_after, state_dtype
from cardenvs.games.ramino.cards import (
    ACES,
    ALL,
    BITS,
    CLEAN_PENALTY,
    COUNT,
    HIGH_ACES,
    JOKER_BIT,
    JOKER_PENALTY,
    MAX_SEATS,
    NUM_CARDS,
    NUM_TYPES,
    POINTS,
    POSITION_POINTS,
    add,
    cells,
    copies,
    is_fresh,
    is_open,
    jokers_in,
    of_suits,
    packed,
    place_of,
    put_bits,
    remove,
    set_code,
    suits_in,
    suits_of,
    types,
)
from cardenvs.games.ramino.safety import OPENING_POINTS, TO_HAND, barred_bit, can_end

# The first action of each block.
DRAW_STOCK, DRAW_PILE, DISCARD, NEW_SET, NEW_RUN = 0, 1, 2, 55, 237
ADD_SET, ADD_SET_JOKER, ADD_LOW, ADD_HIGH, ADD_LOW_JOKER, ADD_HIGH_JOKER = 573, 677, 716, 760, 804, 848
SWAP_RUN, SWAP_BOTH, SWAP_ONE, NUM_ACTIONS = 892, 948, 974, 1026

SET_SUITS = np.array([7, 11, 13, 14, 3, 5, 6, 9, 10, 12, 1, 2, 4, 8])
"""Suits of the naturals in each new set of a rank, as bits; jokers fill up to three."""
SET_JOKERS = np.array([0] * 4 + [1] * 6 + [2] * 4)
RUN_NATURALS = np.array([7, 6, 5, 3, 4, 2, 1])
"""Which of the three cards of each new run at a cell are naturals (bit 0 for the lowest); the others are jokers."""
RUN_JOKERS = np.array([0, 1, 1, 1, 2, 2, 2])
STARTS = ACES * 0xFFF
"""The cells at which a new run can begin: positions 1 … 12."""
RANK_BITS = 0x1FFF

# Rows of the mask, by number of jokers and what is in hand: suits of a rank, three cells of a suit.
_NEW_SETS = np.array([[(SET_SUITS & ~suits == 0) & (jokers >= SET_JOKERS) for suits in range(16)] for jokers in range(3)], np.int8)
_NEW_RUNS = np.array([[(RUN_NATURALS & ~three == 0) & (jokers >= RUN_JOKERS) for three in range(8)] for jokers in range(3)], np.int8)

DRAW, MELD, OVER = 0, 1, 2
"""Phases; OVER after the last decision."""
ACE_POINTS = np.array([11, 10])
TURNS = 60
"""A deal has at most so many turns for each seat (RA-17)."""
SCALE = 100.0

FIELDS = [
    ("hand_size", np.int32),  # option
    ("num_deals", np.int32),  # option
    ("target", np.int32),  # option, 0 for None
    ("opening_points", np.int8),  # option, its place in OPENING_POINTS
    ("ace_points", np.int8),  # option, its place in ACE_POINTS
    ("joker_reuse", np.int8),  # option: 0 for same_turn, TO_HAND
    ("throw_back", np.int8),  # option
    ("deal", np.int32),  # from 0
    ("points", np.int32, MAX_SEATS),  # penalty points of the finished deals
    ("dealer", np.int8),
    ("phase", np.int8),
    ("turns", np.int16),  # finished turns of this deal
    ("hand", np.int64, (MAX_SEATS, 2)),  # pairs; in a view, of other seats the surely held cards only
    ("held", np.int64, (MAX_SEATS, 2)),  # pairs: cards that are surely in the hand, because all saw them come into it
    ("cards", np.int8, MAX_SEATS),  # number of cards in hand
    ("opened", np.int8, MAX_SEATS),
    ("drawn", np.int16, MAX_SEATS),  # cards drawn from the stock since the last reshuffle
    ("stock", np.int8, NUM_CARDS),  # types; of these the last `stock_size`, the top first; blank in a view
    ("stock_size", np.int8),
    ("pile", np.int8, NUM_CARDS),  # types, from oldest to newest
    ("pile_size", np.int8),
    ("reshuffles", np.int16),
    ("reshuffled", np.int64, 2),  # pair: what the last reshuffle put into the stock
    ("shown", np.int64, 2),  # pair: the cards of the pile and the table, and owed jokers
    ("unseen", np.int64, 2),  # pair, in a view: cards that are neither shown nor in the own hand
    ("taken", np.int8),  # the type taken from the pile in this turn, or -1
    ("owed", np.int8),  # freed jokers that must be laid again in this turn
    ("laid", np.int16),  # value laid so far by a seat that has laid something but is not opened
    ("clean", np.int8),  # whether the seat to act can still close clean
    # The runs: pairs of cells. Which low end belongs to which high end never matters.
    ("low", np.int64, 2),
    ("high", np.int64, 2),
    ("naturals", np.int64, 2),
    ("jokers", np.int64, 2),
    ("fresh_low", np.int64, 2),
    ("fresh_high", np.int64, 2),
    # The sets of each rank: codes in their order, 0 where there are no more.
    ("sets", np.int16, (13, 3)),
    ("doubled", np.int64),  # the types that are missing in the set with two jokers, 0 if there is none
    ("places", np.int16),  # jokers that could be added on the table
]
"""The game's own fields of a record."""

STATE = state_dtype(MAX_SEATS, FIELDS)


# The deal.


@jit.kernel
def deal(state, deck):
    """Draw the first dealer and deal (RA-02)."""
    state.dealer = below(state.rng, DEALS, state.num_seats)
    deal_cards(state, deck)


@jit.kernel
def deal_cards(state, deck):
    """Shuffle, deal one at a time from the seat after the dealer, turn the next card up (RA-02)."""
    for i in range(NUM_CARDS):
        state.stock[i] = i // 2
    shuffle(state.rng, DEALS, state.stock)
    if len(deck) > 0:
        copy_row(state.stock, deck)
    clear_table(state)
    seats = state.num_seats
    first = seat_after(state.dealer, 1, seats)
    seat = first
    for i in range(seats * state.hand_size):
        add(state.hand[seat], BITS[state.stock[i]])
        seat = seat_after(seat, 1, seats)
    state.cards[:seats] = state.hand_size
    state.stock_size = NUM_CARDS - seats * state.hand_size
    put_on_pile(state, draw_stock(state))
    begin_turn(state, first)


@jit.kernel
def clear_table(state):
    """No cards anywhere, and no notes about them."""
    state.turns = 0
    state.taken = -1
    state.hand[:] = 0
    state.held[:] = 0
    state.opened[:] = 0
    state.drawn[:] = 0
    state.pile[:] = 0
    state.pile_size = 0
    state.reshuffles = 0
    state.reshuffled[:] = 0
    state.shown[:] = 0
    state.low[:] = 0
    state.high[:] = 0
    state.naturals[:] = 0
    state.jokers[:] = 0
    state.sets[:] = 0
    state.doubled = 0
    state.places = 0


@jit.kernel
def begin_turn(state, seat):
    """RA-03; a seat that has laid something before cannot close clean (RA-14)."""
    state.seat = seat
    state.phase = DRAW
    state.clean = 1 - state.opened[seat]


@jit.inline
def draw_stock(state):
    """Take the top card of the stock."""
    card = state.stock[NUM_CARDS - state.stock_size]
    state.stock_size -= 1
    return card


@jit.kernel
def put_on_pile(state, card):
    state.pile[state.pile_size] = card
    state.pile_size += 1
    add(state.shown, BITS[card])


# Sets and runs on the table.


@jit.kernel
def put_set(state, rank, suits, jokers, fresh):
    """Put a set among those of its rank, in their order."""
    code = set_code(suits, jokers, fresh)
    sets = state.sets[rank]
    k = 2
    while k > 0 and (sets[k - 1] == 0 or sets[k - 1] > code):
        sets[k] = sets[k - 1]
        k -= 1
    sets[k] = code
    if jokers == 2:
        state.doubled = of_suits(15 - suits, rank)


@jit.kernel
def take_set(state, rank, k):
    """Take the set in place k of its rank away; returns its code."""
    sets = state.sets[rank]
    code = np.int64(sets[k])
    for i in range(k, 2):
        sets[i] = sets[i + 1]
    sets[2] = 0
    if jokers_in(code) == 2:
        state.doubled = 0
    return code


@jit.kernel
def find_set(state, rank, suit, fewest, most, k):
    """The place of the k-th different open set of a rank, of those with `fewest` to `most` jokers that lack `suit` (-1: any suit).

    Equal sets count once, and then the fresh one is meant.
    """
    last = 0
    for i in range(3):
        code = np.int64(state.sets[rank, i])
        if is_open(code) and code >> 1 != last and fewest <= jokers_in(code) <= most and (suit < 0 or not suits_in(code) >> suit & 1):
            if k == 0:
                return i
            k -= 1
            last = code >> 1
    return -1


# Legal actions.

if jit.DISABLED:

    def scratch():
        """A record to try an action in."""
        return new_states(STATE, 1)

else:

    @jit.kernel
    def scratch():
        """A record to try an action in."""
        return np.empty(1, STATE)


@jit.kernel
def legal_actions(state, mask):
    """RA-03: draw; then any melding, and a discard."""
    if state.phase == DRAW:
        mask[DRAW_STOCK] = 1
        mask[DRAW_PILE] = may_take(state)
        return
    seat = state.seat
    hand = state.hand[seat]
    barred = barred_bit(state)
    if state.owed == 0 and state.laid == 0:  # RA-09, RA-12
        put_bits(mask, DISCARD, NUM_TYPES, packed(hand[0] & ~barred))
    opened = state.opened[seat]
    if state.opening_points and not opened:  # RA-09
        if state.laid > 0 or can_end(state):
            mark_new_melds(state, mask)
            mark_additions(state, mask, state.fresh_low[0], state.fresh_high[0], 1)
            keep_safe(state, mask, NEW_SET, SWAP_RUN)
        return
    spare = state.cards[seat] - copies(hand, barred) - 1  # cards besides one that can be discarded
    if state.owed == 0 and (spare >= 3 or not hand[0] & barred):  # RA-20 asks for no more than the card to discard
        if spare >= 3:
            mark_new_melds(state, mask)
        if spare >= 1 and opened:
            mark_additions(state, mask, state.low[0], state.high[0], 0)
    else:
        mark_new_melds(state, mask)
        if opened:
            mark_additions(state, mask, state.low[0], state.high[0], 0)
        keep_safe(state, mask, NEW_SET, SWAP_RUN)
    if opened and mark_exchanges(state, mask):
        keep_safe(state, mask, SWAP_RUN, NUM_ACTIONS)


@jit.kernel
def may_take(state):
    """Whether the top of the pile may be taken: not for a hand of that type only (RA-04, RA-05)."""
    top = BITS[state.pile[state.pile_size - 1]]
    return state.throw_back or state.hand[state.seat, 0] & ~top != 0


@jit.kernel
def keep_safe(state, mask, first, last):
    """Of the possible melding actions from `first` to before `last`, keep those after which the turn can end (RA-09, RA-20)."""
    trial = scratch()
    for action in range(first, last):
        if mask[action]:
            trial[0] = state
            meld(trial[0], action)
            mask[action] = can_end(trial[0])


@jit.kernel
def mark_new_melds(state, mask):
    """New sets (RA-06) and new runs (RA-07)."""
    hand = state.hand[state.seat]
    jokers = state.owed + copies(hand, JOKER_BIT)
    ranks = ranks_for_sets(hand[0], jokers)
    while ranks:
        rank = place_of(ranks & -ranks)
        ranks &= ranks - 1
        put_row(mask, NEW_SET + 14 * rank, _NEW_SETS[jokers, suits_of(hand[0], rank)])
    there = cells(hand[0])
    starts = starts_of_runs(there, jokers)
    while starts:
        cell = place_of(starts & -starts)
        starts &= starts - 1
        put_row(mask, NEW_RUN + 7 * (cell - cell // 14 * 2), _NEW_RUNS[jokers, there >> cell & 7])


@jit.inline
def ranks_for_sets(word, jokers):
    """The ranks, as bits, of which the word has enough suits for a set with at most so many jokers."""
    spades, hearts, diamonds, clubs = word & RANK_BITS, word >> 14 & RANK_BITS, word >> 28 & RANK_BITS, word >> 42 & RANK_BITS
    black_red, red_black = spades & hearts, diamonds & clubs
    if jokers == 0:
        return black_red & (diamonds | clubs) | red_black & (spades | hearts)
    if jokers == 1:
        return black_red | red_black | (spades | hearts) & (diamonds | clubs)
    return spades | hearts | diamonds | clubs


@jit.inline
def starts_of_runs(there, jokers):
    """The cells from which three can be laid with at most so many jokers, one natural at least."""
    first, second, third = there & STARTS, there >> 1 & STARTS, there >> 2 & STARTS
    if jokers == 0:
        return first & second & third
    if jokers == 1:
        return first & second | first & third | second & third
    return first | second | third


@jit.inline
def put_row(mask, at, row):
    for i in range(len(row)):
        mask[at + i] = row[i]


@jit.kernel
def mark_additions(state, mask, lows, highs, fresh_only):
    """Cards added to open sets, with `fresh_only` to fresh ones, and to the runs with these ends (RA-10)."""
    hand = state.hand[state.seat]
    joker = state.owed > 0 or hand[0] & JOKER_BIT != 0
    for rank in range(13):
        sets = state.sets[rank]
        if not is_open(sets[0]):
            continue
        own = suits_of(hand[0], rank)
        lacked, last, k = 0, 0, 0
        for i in range(3):
            code = np.int64(sets[i])
            if not is_open(code) or code >> 1 == last:
                continue
            last = code >> 1
            may = not fresh_only or is_fresh(code)
            for suit in range(4):
                if not suits_in(code) >> suit & 1:
                    if may and own >> suit & 1:
                        mask[ADD_SET + 2 * (4 * rank + suit) + (lacked >> suit & 1)] = 1
                    lacked |= 1 << suit
            if jokers_in(code) < 2:
                mask[ADD_SET_JOKER + 3 * rank + k] = may and joker
                k += 1
    there = cells(hand[0])
    lows = (lows & ~ACES) >> 1
    highs = (highs & ~HIGH_ACES) << 1
    mark_cells(mask, ADD_LOW, lows & there, 11)
    mark_cells(mask, ADD_HIGH - 3, highs & there, 11)
    if joker:
        mark_cells(mask, ADD_LOW_JOKER, lows, 11)
        mark_cells(mask, ADD_HIGH_JOKER - 3, highs, 11)


@jit.kernel
def mark_cells(mask, first, word, width):
    """Mark the actions of the cells in a word, where the block has `width` actions for each suit."""
    while word:
        cell = place_of(word & -word)
        word &= word - 1
        mask[first + cell // 14 * width + cell % 14] = 1


@jit.kernel
def mark_exchanges(state, mask):
    """Jokers exchanged for cards of the hand (RA-11); returns whether there are any."""
    hand = state.hand[state.seat]
    in_runs = state.jokers[0] & cells(hand[0])
    mark_cells(mask, SWAP_RUN, in_runs, 14)
    in_sets = state.doubled & hand[0]
    found = in_runs | in_sets != 0
    while in_sets:
        place = place_of(in_sets & -in_sets)
        in_sets &= in_sets - 1
        mask[SWAP_ONE + place % 14 * 4 + place // 14] = 1
    for rank in range(13):
        sets = state.sets[rank]
        last, k = 0, 0
        for i in range(3):
            code = np.int64(sets[i])
            if is_open(code) and jokers_in(code) == 1 and code >> 1 != last:
                last = code >> 1
                if suits_of(hand[0], rank) | suits_in(code) == 15:
                    mask[SWAP_BOTH + 2 * rank + k] = 1
                    found = True
                k += 1
    return found


# Steps.


@jit.kernel
def step(state, action):
    """RA-03"""
    if state.phase == DRAW:
        draw(state, action == DRAW_PILE)
    elif action < NEW_SET:
        discard(state, action - DISCARD)
    else:
        meld(state, action)


@jit.kernel
def draw(state, from_pile):
    """RA-04; what is taken from the pile is known to all."""
    seat = state.seat
    if from_pile:
        state.pile_size -= 1
        card = state.pile[state.pile_size]
        state.taken = card
        remove(state.shown, BITS[card])
        add(state.held[seat], BITS[card])
    else:
        card = draw_stock(state)
        state.drawn[seat] += 1
    add(state.hand[seat], BITS[card])
    state.cards[seat] += 1
    state.phase = MELD


@jit.kernel
def discard(state, card):
    """The end of a turn."""
    seat = state.seat
    lose(state, seat, BITS[card], 1)
    if state.cards[seat] > 0 and state.stock_size == 0:
        reshuffle(state)
    put_on_pile(state, card)
    state.turns += 1
    state.taken = -1
    age_melds(state)
    if state.cards[seat] == 0:
        end_deal(state, seat)  # RA-13
    elif state.turns == TURNS * np.int64(state.num_seats):
        end_deal(state, -1)  # RA-17
    else:
        begin_turn(state, seat_after(seat, 1, state.num_seats))


@jit.kernel
def lose(state, seat, word, count):
    """So many different cards leave the hand, seen by all; those that surely were there go first."""
    remove(state.hand[seat], word)
    remove(state.held[seat], word & state.held[seat, 0])
    state.cards[seat] -= count


@jit.kernel
def reshuffle(state):
    """The pile becomes the stock (RA-15)."""
    size = state.pile_size
    old = state.pile[:size]
    shuffle(state.rng, EVENTS, old)
    copy_row(state.stock[NUM_CARDS - size :], old)
    state.stock_size = size
    state.reshuffled[:] = 0
    for card in old:
        remove(state.shown, BITS[card])
        add(state.reshuffled, BITS[card])
    state.pile_size = 0
    state.reshuffles += 1
    state.drawn[:] = 0


@jit.kernel
def age_melds(state):
    """No meld is fresh any more."""
    state.fresh_low[:] = 0
    state.fresh_high[:] = 0
    for rank in range(13):
        for i in range(3):
            if state.sets[rank, i]:
                state.sets[rank, i] |= 1


@jit.kernel
def meld(state, action):
    """One melding action; all of its cards come from the hand, but for owed jokers."""
    if action < NEW_RUN:
        rank, i = (action - NEW_SET) // 14, (action - NEW_SET) % 14
        suits, jokers = SET_SUITS[i], SET_JOKERS[i]
        lay(state, of_suits(suits, rank), 3 - jokers, jokers, 3 * POINTS[rank])
        put_set(state, rank, suits, jokers, 1)
        state.places += 1 if jokers < 2 else 0
    elif action < ADD_SET:
        start, i = (action - NEW_RUN) // 7, (action - NEW_RUN) % 7
        cell = start // 12 * 14 + start % 12
        lay(state, types(RUN_NATURALS[i] << cell), 3 - RUN_JOKERS[i], RUN_JOKERS[i], run_points(cell))
        add(state.naturals, RUN_NATURALS[i] << cell)
        add(state.jokers, (7 - RUN_NATURALS[i]) << cell)
        add(state.low, 1 << cell)
        add(state.high, 4 << cell)
        add(state.fresh_low, 1 << cell)
        add(state.fresh_high, 4 << cell)
        state.places += 11
    elif action < ADD_SET_JOKER:
        index = action - ADD_SET
        rank, suit, k = index // 8, index // 2 % 4, index % 2
        add_to_set(state, rank, find_set(state, rank, suit, 0, 2, k), suit)
    elif action < ADD_LOW:
        index = action - ADD_SET_JOKER
        add_to_set(state, index // 3, find_set(state, index // 3, -1, 0, 1, index % 3), -1)
    elif action < SWAP_RUN:
        index = action - ADD_LOW
        block = index // 44
        step = 1 if block % 2 else -1
        cell = index % 44 // 11 * 14 + index % 11 + (3 if step > 0 else 0)
        add_to_run(state, cell, block // 2, step)
    elif action < SWAP_BOTH:
        swap_in_run(state, action - SWAP_RUN)
    elif action < SWAP_ONE:
        rank, k = (action - SWAP_BOTH) // 2, (action - SWAP_BOTH) % 2
        swap_in_set(state, rank, find_set(state, rank, -1, 1, 1, k), 15)
    else:
        rank, suit = (action - SWAP_ONE) // 4, (action - SWAP_ONE) % 4
        for i in range(3):
            if jokers_in(state.sets[rank, i]) == 2:
                swap_in_set(state, rank, i, 1 << suit)
                break


@jit.inline
def run_points(cell):
    """The value of a run of three from a cell on."""
    position = cell % 14 + 1
    return POSITION_POINTS[position] + POSITION_POINTS[position + 1] + POSITION_POINTS[position + 2]


@jit.kernel
def lay(state, word, naturals, jokers, value):
    """Cards worth `value` go to the table: a word of so many naturals, and jokers, owed ones first (RA-12). It may open (RA-09)."""
    seat = state.seat
    lose(state, seat, word, naturals)
    add(state.shown, word)
    for _ in range(jokers):
        if state.owed > 0:
            state.owed -= 1
        else:
            lose(state, seat, JOKER_BIT, 1)
            add(state.shown, JOKER_BIT)
    if not state.opened[seat]:
        state.laid += value
        if state.laid >= OPENING_POINTS[state.opening_points]:
            state.opened[seat] = 1
            state.laid = 0


@jit.kernel
def add_to_set(state, rank, i, suit):
    """Add the natural of a suit, or a joker (-1), to the set in place i of its rank (RA-10)."""
    code = take_set(state, rank, i)
    suits, jokers, fresh = suits_in(code), jokers_in(code), is_fresh(code)
    if jokers < 2:
        state.places -= 1
    if suit < 0:
        lay(state, 0, 0, 1, POINTS[rank])
        jokers += 1
    else:
        lay(state, 1 << 14 * suit + rank, 1, 0, POINTS[rank])
        suits |= 1 << suit
    put_set(state, rank, suits, jokers, fresh)
    state.clean &= fresh  # RA-14


@jit.kernel
def add_to_run(state, cell, jokers, step):
    """Add a natural or a joker (`jokers` 0 or 1) to a run, in a cell below (`step` -1) or above (1) it (RA-10)."""
    value = POSITION_POINTS[cell % 14 + 1]
    if jokers:
        lay(state, 0, 0, 1, value)
        add(state.jokers, 1 << cell)
    else:
        lay(state, types(1 << cell), 1, 0, value)
        add(state.naturals, 1 << cell)
    state.places -= 1
    if step < 0:
        state.clean &= move_end(state.low, state.fresh_low, 2 << cell, 1 << cell)
    else:
        state.clean &= move_end(state.high, state.fresh_high, 1 << cell - 1, 1 << cell)


@jit.kernel
def move_end(ends, fresh_ends, old, new):
    """A run ends elsewhere; a fresh one, if there is one. Returns whether it is fresh."""
    remove(ends, old)
    add(ends, new)
    if not fresh_ends[0] & old:
        return 0
    remove(fresh_ends, old)
    add(fresh_ends, new)
    return 1


@jit.kernel
def swap_in_run(state, cell):
    """RA-11 (a)"""
    swap(state, types(1 << cell), 1)
    remove(state.jokers, 1 << cell)
    add(state.naturals, 1 << cell)


@jit.kernel
def swap_in_set(state, rank, i, suits):
    """RA-11 (b), (c): those of the `suits` that are missing in the set in place i of its rank take the place of a joker."""
    code = take_set(state, rank, i)
    suits &= ~suits_in(code) & 15
    if jokers_in(code) == 1:
        state.places -= 1
    elif is_open(code):
        state.places += 1
    swap(state, of_suits(suits, rank), COUNT[suits])
    put_set(state, rank, suits_in(code) | suits, jokers_in(code) - 1, is_fresh(code))


@jit.kernel
def swap(state, word, naturals):
    """A word of so many naturals frees a joker (RA-12), and nobody can close clean in this turn (RA-14)."""
    seat = state.seat
    lose(state, seat, word, naturals)
    add(state.shown, word)
    state.clean = 0
    if state.joker_reuse == TO_HAND:
        remove(state.shown, JOKER_BIT)
        add(state.hand[seat], JOKER_BIT)
        add(state.held[seat], JOKER_BIT)
        state.cards[seat] += 1
    else:
        state.owed += 1


# The end of a deal.


@jit.kernel
def penalty(state, seat):
    """What the hand counts (RA-16)."""
    hand = state.hand[seat]
    total = JOKER_PENALTY * copies(hand, JOKER_BIT)
    for rank in range(13):
        value = ACE_POINTS[state.ace_points] if rank == 0 else POINTS[rank]
        total += value * (COUNT[suits_of(hand[0], rank)] + COUNT[suits_of(hand[1], rank)])
    return total


@jit.kernel
def end_deal(state, closer):
    """Count the hands and pay (RA-16, RA-18); deal again, or end the match (RA-19). `closer` is -1 if nobody has closed."""
    seats = state.num_seats
    lost = np.zeros(MAX_SEATS, np.int64)
    for seat in range(seats):
        if seat != closer:
            lost[seat] = penalty(state, seat) + (CLEAN_PENALTY if closer >= 0 and state.clean else 0)
            state.points[seat] += lost[seat]
    total = lost.sum()
    if state.reward == SCORE:
        for seat in range(seats):
            payoff = total / seats - lost[seat] if closer < 0 else -lost[seat]
            state.rewards[seat] = (total if seat == closer else payoff) / SCALE
    last = state.points[:seats].max() >= state.target if state.target else state.deal + 1 == state.num_deals
    if not last:
        state.deal += 1
        state.dealer = seat_after(state.dealer, 1, seats)
        deal_cards(state, lost[:0])
        return
    state.terminated = 1
    state.phase = OVER
    state.clean = 0
    if state.reward != SCORE:
        pay_win(state, -state.points)


@jit.kernel
def scores(state, out):
    """Penalty points of the finished deals, negative (RA-19)."""
    for seat in range(state.num_seats):
        out[seat] = -state.points[seat]


# Hidden information.


@jit.kernel
def hide(view):
    """Of other hands only what is surely held is seen, and nothing of the stock."""
    view.stock[:] = 0
    for seat in range(view.num_seats):
        if seat != view.viewer:
            copy_row(view.hand[seat], view.held[seat])
    one, two = view.hand[view.viewer, 0], view.hand[view.viewer, 1]
    view.unseen[0] = ALL & ~(two | view.shown[1] | (one & view.shown[0]))
    view.unseen[1] = ALL & ~(one | view.shown[0])


@jit.kernel
def hidden_cards(view, out):
    """Write to the pair `out` the cards of which the viewer does not know where they are."""
    copy_row(out, view.unseen)
    for seat in range(view.num_seats):
        if seat != view.viewer:
            remove(out, view.held[seat, 0])
            remove(out, view.held[seat, 1])


@jit.kernel
def resample(state, words):
    """Deal the hidden cards at random to the stock and to the places in other hands that are not known.

    After a reshuffle the stock holds nothing but what was put there, and a hand no more of this than the seat has drawn since.
    """
    hidden = np.empty(2, np.int64)
    hidden_cards(state, hidden)
    seats = np.empty(NUM_CARDS, np.int64)  # owners of the free places in hands; first of those that nothing drawn since fills
    drawn = np.empty(NUM_CARDS, np.int64)  # owners of the others
    num_seats, num_drawn = 0, 0
    for seat in range(state.num_seats):
        free = state.cards[seat] - size(state.hand[seat])
        since = min(free, np.int64(state.drawn[seat])) if state.reshuffles else 0
        for i in range(free):
            if i < since:
                drawn[num_drawn] = seat
                num_drawn += 1
            else:
                seats[num_seats] = seat
                num_seats += 1
    shuffle(words, 0, seats[:num_seats])
    shuffle(words, 0, drawn[:num_drawn])
    copy_row(seats[num_seats:], drawn[:num_drawn])
    num_seats += num_drawn
    cards = np.empty(NUM_CARDS, np.int64)  # first those that cannot be in the stock
    others = np.empty(NUM_CARDS, np.int64)
    num_cards, num_others = 0, 0
    for card in range(NUM_TYPES):
        number = copies(hidden, BITS[card])
        stocked = min(number, copies(state.reshuffled, BITS[card])) if state.reshuffles else number
        for i in range(number):
            if i < stocked:
                others[num_others] = card
                num_others += 1
            else:
                cards[num_cards] = card
                num_cards += 1
    shuffle(words, 0, cards[:num_cards])
    shuffle(words, 0, others[:num_others])
    copy_row(cards[num_cards:], others[:num_others])
    for i in range(num_seats):
        add(state.hand[seats[i]], BITS[cards[i]])
    copy_row(state.stock[NUM_CARDS - state.stock_size :], cards[num_seats : num_cards + num_others])
    state.unseen[:] = 0


@jit.kernel
def size(pair):
    """Number of cards in a pair."""
    total = 0
    for i in range(2):
        word = pair[i]
        while word:
            word &= word - 1
            total += 1
    return total
