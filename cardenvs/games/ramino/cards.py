"""The cards, and words that stand for many of them.

A *word* is an integer whose bit 14·suit + rank stands for a type, bit 56 for the joker (RA-01). In words of runs, bit 14·suit +
position - 1 is a *cell*: the same bit up to the king, and bit 13 of a suit for the ace high. A *pair* is an array of two words:
what is there at least once, and what is there twice. No type is in a pair more often, for there are two equal copies.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cardenvs.core import jit

SUITS = "SHDC"
RANKS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
CARDS = (*(rank + suit for suit in SUITS for rank in RANKS), "JK")
NUM_TYPES = len(CARDS)
JOKER = NUM_TYPES - 1
NUM_CARDS = 2 * NUM_TYPES
MAX_SEATS = 6
MAX_HAND = 14
"""Cards of a seat in its turn: 13, and the one drawn."""

BITS = np.array([1 << 14 * (card // 13) + card % 13 for card in range(NUM_TYPES)])
"""The bit of each type."""
JOKER_BIT = 1 << 56
ACES = sum(1 << 14 * suit for suit in range(4))
"""The aces, and the cells of position 1."""
HIGH_ACES = ACES << 13
NATURALS = sum(int(bit) for bit in BITS[:JOKER])
ALL = NATURALS | JOKER_BIT
SUIT = (1 << 14) - 1
"""The cells of the first suit."""

POINTS = np.array([11, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10])
"""Face value of each rank; an ace at position 1 is worth 1 (RA-09)."""
POSITION_POINTS = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 11])
"""Face value of each position 1 … 14 of a run."""
JOKER_PENALTY = 25
CLEAN_PENALTY = 25


def deck(num_players: int, options: Mapping[str, Any]) -> list[int]:
    """Types before the shuffle: 0, 0, 1, 1, … 52, 52."""
    return np.repeat(np.arange(NUM_TYPES), 2).tolist()


@jit.inline
def add(pair, word):
    """One more of each type in `word`."""
    pair[1] |= pair[0] & word
    pair[0] |= word


@jit.inline
def remove(pair, word):
    """One less of each type in `word`; all of them are there."""
    pair[0] &= ~word | pair[1]
    pair[1] &= ~word


@jit.inline
def with_one(one, two, word):
    """`add`, of a pair as two words."""
    return one | word, two | (one & word)


@jit.inline
def without(one, two, word):
    """`remove`, of a pair as two words."""
    return one & (~word | two), two & ~word


@jit.inline
def copies(pair, bit):
    """How often the type of that bit is there."""
    return (1 if pair[0] & bit else 0) + (1 if pair[1] & bit else 0)


@jit.inline
def cells(word):
    """The cells that the types of a word can take: an ace has two."""
    return (word & NATURALS) | (word & ACES) << 13


@jit.inline
def types(word):
    """The types of the cells in a word."""
    return (word & ~HIGH_ACES) | (word & HIGH_ACES) >> 13


@jit.inline
def suits_of(word, rank):
    """The suits of a rank that are in a word: bit s for suit s."""
    word >>= rank
    return (word & 1) | (word >> 13 & 2) | (word >> 26 & 4) | (word >> 39 & 8)


@jit.inline
def of_suits(suits, rank):
    """The word of the types of a rank in so many suits; the inverse of `suits_of`."""
    return ((suits & 1) | (suits & 2) << 13 | (suits & 4) << 26 | (suits & 8) << 39) << rank


_PLACES = np.array([next((place for place in range(57) if 2**place % 67 == rest), -1) for rest in range(67)])


@jit.inline
def place_of(bit):
    """The place of a word's only bit: no two powers of 2 up to the joker's leave the same rest by 67."""
    return _PLACES[bit % 67]


COUNT = np.array([bin(suits).count("1") for suits in range(16)])
"""Number of suits in each set of suits."""


# A set on the table is a code; those of a rank stand in the order of their codes, which is the page's.


@jit.inline
def set_code(suits, jokers, fresh):
    """Open sets first, then by jokers and suits of the naturals, fresh before old."""
    return (COUNT[suits] + jokers == 4) << 7 | jokers << 5 | suits << 1 | (1 - fresh)


@jit.inline
def is_open(code):
    return 0 < code < 128


@jit.inline
def suits_in(code):
    return code >> 1 & 15


@jit.inline
def jokers_in(code):
    return code >> 5 & 3


@jit.inline
def is_fresh(code):
    return code > 0 and code & 1 == 0


def _near(place: int) -> int:
    suit, rank = divmod(place, 14)
    word = ACES << rank & ~(1 << place)
    for position in range(1, 15):
        if 0 < min(abs(position - 1 - rank), abs(position - 14) if rank == 0 else 9) < 3:
            word |= 1 << 14 * suit + (position - 1) % 13
    return word


NEAR = np.array([_near(place) for place in range(56)])
"""With which types the type of each place and a joker make a meld: those of its rank, and those up to two positions away."""


def _third(first: int, second: int) -> int:
    """The types that make a meld of naturals with those of two places."""
    (suit, rank), (other, rank2) = divmod(first, 14), divmod(second, 14)
    if suit != other:
        return sum(1 << 14 * s + rank for s in range(4) if s not in (suit, other)) if rank == rank2 else 0
    word = 0
    for low in range(12):
        three = {low, low + 1, (low + 2) % 13}
        if rank != rank2 and {rank, rank2} <= three:
            word |= sum(1 << 14 * suit + third for third in three - {rank, rank2})
    return word


THIRD = np.array([[_third(first, second) for second in range(56)] for first in range(56)])
"""By two places: the types that make a meld with their types."""


@jit.kernel
def completing(word):
    """The types that make a meld of naturals with two types of a word."""
    found, first = word & 0, word & NATURALS
    while first:
        one = first & -first
        first ^= one
        second = first & NEAR[place_of(one)]
        while second:
            other = second & -second
            second ^= other
            found |= THIRD[place_of(one), place_of(other)]
    return found


@jit.kernel
def fitting(state):
    """The types that can be added to melds on the table."""
    word = types((state.low[0] & ~ACES) >> 1 | (state.high[0] & ~HIGH_ACES) << 1)
    for rank in range(13):
        for i in range(3):
            code = np.int64(state.sets[rank, i])
            if not is_open(code):  # open sets come first
                break
            word |= of_suits(15 - suits_in(code), rank)
    return word


@jit.kernel
def neighbours(word):
    """The types of a word that make a meld with another type of it and a joker."""
    near, left = word & 0, word & NATURALS
    while left:
        one = left & -left
        left ^= one
        near |= NEAR[place_of(one)]
    return word & near


_BYTES = np.array([[byte >> i & 1 for i in range(8)] for byte in range(256)], np.int8)
_PAIRS = np.array([[(one | two << 4) >> 4 * (i % 2) + i // 2 & 1 for i in range(8)] for two in range(16) for one in range(16)], np.int8)


@jit.inline
def packed(word):
    """The types of a word without the gaps: bit t for type t."""
    return (word & 0x1FFF) | (word >> 1 & 0x1FFF << 13) | (word >> 2 & 0x1FFF << 26) | (word >> 3 & 0x1FFF << 39) | (word >> 4 & 1 << 52)


@jit.inline
def put_bits(out, at, size, word):
    """Write the lowest `size` bits of a word, eight at a time: up to seven features after them are cleared. Returns the next place."""
    for skip in range(0, size, 8):
        byte = word >> skip & 255
        for i in range(8):
            out[at + skip + i] = _BYTES[byte, i]
    return at + size


@jit.inline
def put_pair(out, at, size, one, two):
    """Write how often each of the lowest `size` bits is in a pair, as thermometers of two features each; like `put_bits` otherwise."""
    if one == 0:
        return at + 2 * size
    for skip in range(0, size, 4):
        index = (one >> skip & 15) | (two >> skip & 15) << 4
        for i in range(8):
            out[at + 2 * skip + i] = _PAIRS[index, i]
    return at + 2 * size
