"""Actions and observation of Timbre."""

import numpy as np

from cardenvs.core import jit
from cardenvs.core.encoding import ActionTable, ObservationTable, Section, put_binary, put_count, put_one_hot
from cardenvs.core.state import SCORE, seat_after, state_dtype
from cardenvs.games.timbre import rules
from cardenvs.games.timbre.cards import BIT, COLOUR, COLOURS, FACE, FACES, KINDS, LETTERS, NUM_CARDS, SUIT, WILD, WILDS, count, lowest
from cardenvs.games.timbre.rules import DISCARD, FINISH, HAND, MAX_DISCARDS, MAX_SEATS, PLAY, STAND, TRICKS

ACTIONS = ActionTable(
    ("in", ["in"]),
    ("out", ["out"]),
    ("discard", [f"discard {kind}" for kind in KINDS]),
    ("stand", ["stand"]),
    ("ding", ["ding"]),
    ("no-ding", ["no-ding"]),
    ("play", [f"play {kind}" for kind in KINDS]),
)

PHASES = ("in or out", "exchange", "ding", "tricks")
_CARDS = (1,) * WILD + (3,)
_BITS = 20
_LEFT = 8
_CODE = 6

_PUBLIC = (
    Section("players", "one-hot", (6,), "number of players", labels=("3", "4", "5", "6", "7", "8")),
    Section("reward", "one-hot", (2,), "the option `reward`", labels=("win", "score")),
    Section("wilds", "one-hot", (2,), "the option `wilds`", labels=("2", "3")),
    Section("back_moves", "one-hot", (2,), "the option `back_moves`", labels=("rising", "falling")),
    Section("all_out", "one-hot", (2,), "the option `all_out`", labels=("void", "dealer_in")),
    Section("race", "one-hot", (2,), "the option `race`", labels=("clockwise", "random")),
    Section("wild_must_follow", "one-hot", (2,), "the option `wild_must_follow`", labels=("False", "True")),
    Section("hand_number", "binary", (_BITS,), "number of this hand, from 0"),
    Section("max_hands", "binary", (_BITS,), "the option `max_hands`"),
    Section("hands_left", "count", (_LEFT,), f"hands that may follow this one (at most {_LEFT})"),
    Section("trump", "one-hot", (4,), "the trump colour", labels=COLOURS),
    Section("community_face", "one-hot", (15,), "face of the community card of that colour", labels=FACES),
    Section("community_wilds", "count", (3,), "community wilds"),
    Section("shown", "count", _CARDS, "community cards and all cards played in this hand, by kind"),
    Section("trick_number", "one-hot", (HAND,), "number of the trick, from 0"),
    Section("led", "one-hot", (4,), "suit led to this trick", labels=COLOURS),
)
_OWN = (
    Section("phase", "one-hot", (4,), "what is decided; a window that asks others is not seen", labels=PHASES),
    Section("turn", "one-hot", (MAX_SEATS,), "the seat to act, the viewer is 0; none while others choose, or when the game is over"),
    Section("hand", "count", _CARDS, "own cards by kind"),
    Section("discarded", "count", _CARDS, "what the viewer discarded in this hand, by kind"),
    Section("trumps", "flag", (1,) * len(KINDS), "by kind: own cards that are trumps"),
    Section("takes", "flag", (1,) * len(KINDS), "by kind: own cards that may be played to this trick and would be the best in it so far"),
    Section("letters", "flag", (1,) * 4, "D, i, n, g: whether the own hand or the community cards hold it"),
)
_EACH_SEAT = (
    Section("played", "binary", (_CODE,) * HAND, "card played to each trick: 16 x colour + face + 1, wild 16, none 0"),
    Section("trick_colour", "one-hot", (4,), "colour of its card in this trick; none for a wild", labels=COLOURS),
    Section("trick_face", "one-hot", (16,), "face of its card in this trick", labels=(*FACES, "wild")),
    Section("winning", "flag", (1,), "is winning this trick"),
    Section("void", "flag", (1,) * 5, "colours that it failed to follow, blue … green; last: it has shown to hold no wild"),
    Section("position", "count", (FINISH,), "space of the pawn, 0 Start, 17 Finish"),
    Section("tricks_won", "count", (HAND,), "tricks won in this hand"),
    Section("exchanged", "count", (MAX_DISCARDS,), "cards exchanged"),
    Section("leads", "flag", (1,) * HAND, "tricks that it led"),
    Section("dealer", "flag", (1,), "is the dealer"),
    Section("in_before", "flag", (1,), "was IN in the hand before"),
    Section("ding_before", "flag", (1,), "declared a DING in the hand before"),
    Section("tricks_before", "count", (HAND,), "tricks won in the hand before"),
    Section("choice", "one-hot", (2,), "its choice in this hand; before the reveal only the viewer's own", labels=("out", "in")),
)
OBSERVATION = ObservationTable(*_PUBLIC, *_OWN, each_seat=_EACH_SEAT, seats=MAX_SEATS)

_START = {section.name: np.int64(start) for section, start in OBSERVATION.places()}
_TABLE, _SEATS, _BLOCK = _START["phase"], OBSERVATION.seats_start, OBSERVATION.block
_SHOWN, _TRICK, _LED, _HAND, _DISCARDED, _TRUMPS, _TAKES, _LETTERS = (
    _START[name] for name in ("shown", "trick_number", "led", "hand", "discarded", "trumps", "takes", "letters")
)
_COLOUR, _FACE, _WINNING, _VOID, _POSITION, _TRICKS, _EXCHANGED, _LEADS, _CHOICE = (
    _START[name] - _SEATS
    for name in ("trick_colour", "trick_face", "winning", "void", "position", "tricks_won", "exchanged", "leads", "choice")
)

_CODES = np.where(np.arange(NUM_CARDS) < WILD, 16 * COLOUR + FACE + 1, 16)
"""Number of a played card in its section."""

STATE = state_dtype(MAX_SEATS, [*rules.FIELDS, ("table", np.int8, _TABLE), ("blocks", np.int8, (MAX_SEATS, _BLOCK))])
"""The record of the rules, and the features that all may see: a decision changes few of them, an observation shows all."""


@jit.kernel
def deal(state, deck):
    """`rules.deal`, with all features."""
    rules.deal(state, deck)
    write_features(state)


@jit.kernel
def step(state, action):
    """`rules.step`, with the features that it changes."""
    seat, trick, hand_number = state.seat, state.trick, state.hand_number
    rules.step(state, action)
    if state.hand_number != hand_number or state.terminated or state.truncated:
        write_features(state)
    elif action >= PLAY:
        show_play(state, seat, trick)
    elif DISCARD <= action < STAND:
        state.blocks[seat, _EXCHANGED + state.exchanged[seat] - 1] = 1


@jit.kernel
def write_features(state):
    """All features of `table` and `blocks`."""
    out = state.table
    out[:] = 0
    at = put_one_hot(out, 0, 6, state.num_seats - 3)
    at = put_one_hot(out, at, 2, 1 if state.reward == SCORE else 0)
    at = put_one_hot(out, at, 2, state.wilds - 2)
    at = put_one_hot(out, at, 2, state.back_moves)
    at = put_one_hot(out, at, 2, state.all_out)
    at = put_one_hot(out, at, 2, state.race)
    at = put_one_hot(out, at, 2, state.wild_must_follow)
    at = put_binary(out, at, _BITS, state.hand_number)
    at = put_binary(out, at, _BITS, state.max_hands)
    at = put_count(out, at, _LEFT, state.max_hands - state.hand_number - 1)
    at = put_one_hot(out, at, 4, state.trump)
    at = put_one_hot(out, at, 15, FACE[lowest(state.community)])
    at = put_count(out, at, 3, count(state.community) - 1)
    put_cards(out, at, state.community | state.gone)
    put_one_hot(out, _TRICK, HAND, state.trick)
    put_one_hot(out, _LED, 4, state.led)
    state.blocks[:] = 0
    for seat in range(state.num_seats):
        write_block(state, seat)


@jit.kernel
def write_block(state, seat):
    """The features of a seat, in a block of zeros; `choice` is written by `observe`."""
    out = state.blocks[seat]
    for trick in range(HAND):
        if state.played[seat, trick] >= 0:
            put_binary(out, _CODE * trick, _CODE, _CODES[state.played[seat, trick]])
    if state.led >= 0 and state.played[seat, state.trick] >= 0:
        put_trick_card(out, state.played[seat, state.trick])
    at = put_one_hot(out, _WINNING, 1, 0 if state.winner == seat else -1)
    at = put_binary(out, at, 5, state.void[seat])
    at = put_count(out, at, FINISH, state.position[seat])
    at = put_count(out, at, HAND, state.tricks[seat])
    at = put_count(out, at, MAX_DISCARDS, state.exchanged[seat])
    for trick in range(HAND):
        at = put_one_hot(out, at, 1, 0 if state.leader[trick] == seat else -1)
    at = put_one_hot(out, at, 1, 0 if state.dealer == seat else -1)
    at = put_one_hot(out, at, 1, state.choice_before[seat] - 1)
    at = put_one_hot(out, at, 1, 0 if state.ding_before == seat else -1)
    put_count(out, at, HAND, state.tricks_before[seat])


@jit.inline
def put_trick_card(out, card):
    if card < WILD:
        out[_COLOUR + COLOUR[card]] = 1
    out[_FACE + FACE[card]] = 1


@jit.kernel
def show_play(state, seat, trick):
    """Bring the features up to date after a card of `seat` to that trick, if the hand goes on."""
    table, block = state.table, state.blocks[seat]
    card = state.played[seat, trick]
    put_binary(block, _CODE * trick, _CODE, _CODES[card])
    put_binary(block, _VOID, 5, state.void[seat])
    table[_SHOWN + (card if card < WILD else WILD + count((state.gone | state.community) >> WILD) - 1)] = 1
    block[_LEADS + trick] = state.leader[trick] == seat
    if state.trick == trick:
        table[_LED + state.led] = 1
        put_trick_card(block, card)
        for other in range(state.num_seats):
            state.blocks[other, _WINNING] = other == state.winner
        return
    table[_TRICK + trick] = 0
    table[_TRICK + trick + 1] = 1
    for colour in range(4):
        table[_LED + colour] = 0
    for other in range(state.num_seats):
        for i in range(_COLOUR, _VOID):
            state.blocks[other, i] = 0
    winner = state.seat
    state.blocks[winner, _TRICKS + state.tricks[winner] - 1] = 1
    for space in range(state.position[winner]):
        state.blocks[winner, _POSITION + space] = 1


@jit.inline
def put_cards(out, at, cards):
    """Set the features of a set of cards by kind, the wilds as a thermometer."""
    for i in range(count(cards >> WILD)):
        out[at + WILD + i] = 1
    cards &= BIT[WILD] - 1
    while cards != 0:
        out[at + lowest(cards)] = 1
        cards &= cards - 1


@jit.inline
def put_kinds(out, at, cards):
    """Set the flags of the kinds of a set of cards."""
    while cards != 0:
        out[at + min(lowest(cards), WILD)] = 1
        cards &= cards - 1


@jit.kernel
def best_so_far(view):
    """The viewer's cards that may be played to this trick and would be the best in it so far; none if it has no turn in it any more."""
    hand = view.hand[view.viewer]
    if (
        view.terminated
        or view.truncated
        or view.phase != TRICKS
        or view.choice[view.viewer] != 1
        or view.played[view.viewer, view.trick] >= 0
    ):
        return hand & 0
    legal = rules.playable(view, hand)
    if view.led < 0:
        return legal
    takes = hand & 0
    while legal != 0:
        card = lowest(legal)
        if rules.power_of(view, card) > view.best:
            takes |= legal & -legal
        legal &= legal - 1
    return takes


@jit.kernel
def observe(view, out):
    """The features of `table`, the viewer's own, and those of the seats."""
    seats, viewer = view.num_seats, view.viewer
    for i in range(_TABLE):
        out[i] = view.table[i]
    over = view.terminated or view.truncated
    at = put_one_hot(out, _TABLE, 4, view.phase)
    put_one_hot(out, at, MAX_SEATS, -1 if over or view.seat < 0 else seat_after(view.seat, seats - viewer, seats))
    put_cards(out, _HAND, view.hand[viewer])
    put_cards(out, _DISCARDED, view.discarded[viewer])
    put_kinds(out, _TRUMPS, view.hand[viewer] & (SUIT[view.trump] | WILDS))
    put_kinds(out, _TAKES, best_so_far(view))
    held = view.hand[viewer] | view.community
    for letter in range(4):
        out[_LETTERS + letter] = held & LETTERS[letter] != 0
    seat, at = np.int64(viewer), _SEATS
    for _ in range(seats):
        for i in range(_BLOCK):
            out[at + i] = view.blocks[seat, i]
        out[at + _CHOICE] = view.choice[seat] == 0
        out[at + _CHOICE + 1] = view.choice[seat] == 1
        seat = seat_after(seat, 1, seats)
        at += _BLOCK
