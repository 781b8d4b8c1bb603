"""The cards: four colours of fifteen and the wilds (TI-01), and sets of cards as the bits of one integer.

A card is a number: colour by colour 2 … 12, D, i, n, g, then the wilds. The copies of the wild are 60, 61 and 62; where only the
kind of a card counts (in actions and texts), a wild is 60.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cardenvs.core import jit

COLOURS = ("blue", "orange", "yellow", "green")
FACES = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "D", "i", "n", "g")
KINDS = (*(f"{colour}-{face}" for colour in COLOURS for face in FACES), "wild")
WILD = 60
NUM_CARDS = 63

BIT = np.left_shift(1, np.arange(NUM_CARDS))
"""The set that holds one card."""
COLOUR = np.minimum(np.arange(NUM_CARDS) // 15, 4)
"""The colour of a card; 4 for a wild."""
FACE = np.where(np.arange(NUM_CARDS) < WILD, np.arange(NUM_CARDS) % 15, 15)
"""The place among `FACES` of a card; 15 for a wild."""
RANK = np.concatenate((np.arange(2, 13), [1] * 4, [13]))[FACE]
"""Strength within a suit: letters 1, numbers their value, the wild 13 (TI-12)."""

SUIT = np.array([BIT[colour == COLOUR].sum() for colour in range(5)])
"""The cards of each colour, then the wilds."""
LETTERS = np.array([BIT[face == FACE].sum() for face in range(11, 15)])
"""The cards D, i, n and g of all colours."""
WILDS = int(SUIT[4])
ALL = np.array([0, 0, BIT[:62].sum(), BIT.sum()])
"""All cards of a table, by its number of wilds."""


def deck(num_players: int, options: Mapping[str, Any]) -> list[int]:
    """Kinds of cards before the shuffle: colour by colour, wilds last."""
    return [*range(WILD), *[WILD] * options["wilds"]]


@jit.inline
def _count_bits(cards):
    """The number of cards in a set."""
    number = 0
    while cards:  # compiled to one machine instruction
        cards &= cards - 1
        number += 1
    return number


def _count_bits_plain(cards):
    """The number of cards in a set."""
    return int(cards).bit_count()


count = _count_bits_plain if jit.DISABLED else _count_bits


@jit.inline
def lowest(cards):
    """The lowest card of a set that is not empty."""
    return count((cards & -cards) - 1)
