"""The cards and the conditions that they print (DI-01, DI-02)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

COLOURS = ("green", "yellow", "pink", "violet", "orange", "blue", "brown", "black", "grey")
NUM_CARDS = 81
CARDS = tuple(f"{colour}-{number}" for colour in COLOURS for number in range(1, 10))
"""Texts by card index, 9 · colour + number - 1."""

COLOUR = np.repeat(np.arange(9), 9)
NUMBER = np.tile(np.arange(1, 10), 9)
"""Colour 0 … 8 and number 1 … 9 of each card."""

MAX_SEATS = 7
MAX_HAND_SIZE = 13

_FITS = (COLOUR[:, None] == COLOUR) | (NUMBER[:, None] == NUMBER)
NUM_FITTING = 17
FITTING = np.array([np.flatnonzero(row) for row in _FITS], np.int8)
"""The 17 cards that have the number or the colour of each card, itself among them (DI-05)."""


class Condition(NamedTuple):
    """What a card prints: a `kind` of statement about its `value`, and its wording for people."""

    kind: str
    value: int
    label: str


_EVENTS = (
    # the cards with number 3
    "answers a question with \"yes\"", "asks about the rules", "whistles", "coughs", "yawns", "laughs", "drinks",
    "talks about the weather", "talks about their cards",
    # 5
    "makes a mistake about the rules", "uses a phone", "touches the game box", "touches their hair", "scratches their face",
    "points at a card", "taps the table", "sings", "hums",
    # 6
    "mentions UNO", "clears their throat", "tells a joke", "mentions food", "asks the time", "swears", "thanks somebody",
    "apologises", "counts aloud",
    # 7
    "leans back in their chair", "stands up", "crosses their legs", "stretches", "shakes their head", "nods", "shrugs", "waves",
    "claps",
    # 8
    "leans on their elbow", "folds their arms", "rests their chin", "rubs their eyes", "adjusts their glasses",
    "looks at a watch", "rolls up a sleeve", "drops a card", "sorts their hand",
    # 9
    "turns their back to the table", "looks away", "looks at the ceiling", "closes their eyes", "smiles", "frowns", "winks",
    "sneezes", "snaps their fingers",
)  # fmt: skip

CONDITIONS = (
    Condition("step", 1, "the last card is higher by exactly 1 than the one before"),
    Condition("step", -1, "the last card is lower by exactly 1 than the one before"),
    Condition("same number", 2, "the last two cards have the same number"),
    Condition("same colour", 2, "the last two cards have the same colour"),
    Condition("same colour", 3, "the last three cards have the same colour"),
    Condition("others have one", 1, "somebody has exactly one card"),
    Condition("only this", 1, "you have only this card"),
    Condition("others have more", 1, "somebody has more cards than were dealt"),
    Condition("number", 4, "the last two cards are 4s"),
    *(Condition("colour", (c + 1) % 9, f"the last two cards are {COLOURS[(c + 1) % 9]}") for c in range(9)),
    *(Condition("number", k, f"the last two cards are {k}s") for k in (1, 2, 3, 5, 6, 7, 8, 9)),
    Condition("same number", 3, "the last three cards have the same number"),
    *(Condition("event", event, f"somebody {text}") for event, text in enumerate(_EVENTS)),
)
"""All 81 conditions in the order of the rule page: those of the 1s, 2s, 4s, 3s, 5s, 6s, 7s, 8s, 9s, by colour (DI-02)."""

_PLACES = {(condition.kind, condition.value): place for place, condition in enumerate(CONDITIONS)}


def condition_id(kind: str, value: int = 1) -> int:
    """The place of a condition in `CONDITIONS`."""
    return _PLACES[kind, value]


EVENTS = tuple(condition.label for condition in CONDITIONS if condition.kind == "event")
NUM_EVENTS = len(EVENTS)
EVENT_NUMBERS = (3, 5, 6, 7, 8, 9)
"""Numbers of the cards that print events, in the order of the events."""

VERSIONS = ("v1", "pile_and_hand", "none")
"""The option `conditions`."""

_ROWS = {
    "v1": {1: 0, 2: 1, 4: 2, 3: 3, 5: 4, 6: 5, 7: 6, 8: 7, 9: 8},
    "pile_and_hand": {1: 0, 3: 0, 7: 0, 2: 1, 5: 1, 8: 1, 4: 2, 6: 2, 9: 2},
}


def condition_of(card: int, version: str) -> Condition | None:
    """The condition that a card prints in a version of the table; None in `"none"`."""
    if version == "none":
        return None
    return CONDITIONS[9 * _ROWS[version][int(NUMBER[card])] + int(COLOUR[card])]


PRINTED = np.array(
    [[CONDITIONS.index(condition) if (condition := condition_of(card, name)) else -1 for card in range(NUM_CARDS)] for name in VERSIONS]
)
"""The place in `CONDITIONS` of what each card prints in each version, or -1."""

MOST_PRINTERS = 3
PRINTERS = np.full((len(VERSIONS), len(CONDITIONS), MOST_PRINTERS), -1)
"""The cards that print each condition in each version, ascending; -1 where there are fewer."""
for _version, _name in enumerate(VERSIONS):
    for _place, _condition in enumerate(CONDITIONS):
        _cards = [card for card in range(NUM_CARDS) if condition_of(card, _name) is _condition]
        PRINTERS[_version, _place, : len(_cards)] = _cards


def deck(num_players: int, options: Mapping[str, Any]) -> range:
    """Card indices before the shuffle."""
    return range(NUM_CARDS)
