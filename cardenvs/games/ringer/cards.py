"""The cards: 65 kinds in kind order (RI-01, RI-02), and sets of cards."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cardenvs.core import jit

SUITS = "PBGYW"
WILD = 4
POWERS = ("ask", "draw1", "draw2", "take", "steal")
NO_POWER, ASK, DRAW_1, DRAW_2, TAKE, STEAL, REROLL = range(-1, 6)
"""Powers of kinds: the first five are those of `POWERS`."""

KINDS = 65
SUIT, _OF_SUIT = np.divmod(np.arange(KINDS), 13)
NUMBER = np.where(_OF_SUIT == 12, 0, _OF_SUIT // 2 + 1)
"""1 … 6, or 0 for a Reroll."""
POWER = np.where(NUMBER == 0, REROLL, np.where(_OF_SUIT % 2 == 1, (NUMBER + SUIT) % 5, NO_POWER))
TAKES = np.flatnonzero(POWER == TAKE)
"""The kinds that take the turn."""

DECKS = ("default", "powers")
COPIES = np.where(NUMBER == 0, 3, np.where((POWER == NO_POWER) == [[True], [False]], 2, 1)).astype(np.int8)
"""Copies of each kind by deck: the plain or the power copy of a number is doubled (RI-02)."""

NUM_CARDS = 105
MAX_SEATS = 5
FULL_HAND = 6
HAND_LIMIT = 10
MAX_HAND = HAND_LIMIT + 1
"""The most that is ever held, while cards drawn by a power are put back."""


def kind_text(kind: int) -> str:
    """A kind as the page writes it: `P3`, `P3-take`, `W-reroll`."""
    if NUMBER[kind] == 0:
        return f"{SUITS[SUIT[kind]]}-reroll"
    power = f"-{POWERS[POWER[kind]]}" if POWER[kind] != NO_POWER else ""
    return f"{SUITS[SUIT[kind]]}{NUMBER[kind]}{power}"


TEXTS = tuple(map(kind_text, range(KINDS)))


def deck(num_players: int, options: Mapping[str, Any]) -> list[int]:
    """Kinds of the 105 cards before the shuffle, in kind order."""
    return np.repeat(np.arange(KINDS), COPIES[DECKS.index(options["deck"])]).tolist()


# A *set* of cards is an int8 array of 0/1 features, one for each of the 105 cards: for each kind whether there is at
# least one; for each suit and number (last the Rerolls) whether there is a second of the doubled kind; for each suit
# whether there is a third Reroll.
SECOND = KINDS + 7 * SUIT + np.where(NUMBER == 0, 6, NUMBER - 1)
THIRD = KINDS + 35 + SUIT


@jit.inline
def add_card(cards, kind):
    """Put a card into a set."""
    if not cards[kind]:
        cards[kind] = 1
    elif not cards[SECOND[kind]]:
        cards[SECOND[kind]] = 1
    else:
        cards[THIRD[kind]] = 1


@jit.inline
def remove_card(cards, kind, deck):
    """Take a card out of a set that holds it."""
    if NUMBER[kind] == 0 and cards[THIRD[kind]]:
        cards[THIRD[kind]] = 0
    elif COPIES[deck, kind] > 1 and cards[SECOND[kind]]:
        cards[SECOND[kind]] = 0
    else:
        cards[kind] = 0


@jit.inline
def copies(cards, kind, deck):
    """How many cards of a kind a set holds."""
    count = np.int64(cards[kind])
    if COPIES[deck, kind] > 1:
        count += cards[SECOND[kind]]
    if NUMBER[kind] == 0:
        count += cards[THIRD[kind]]
    return count
