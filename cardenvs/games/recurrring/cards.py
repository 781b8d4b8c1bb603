"""The cards: ten values, 1 … 9 and R, by index 0 … 9; a lower index is stronger (RC-01)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

VALUES = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "R")
R = 9
COPIES = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 12])
"""Most copies of each value on any table."""

MAX_SEATS = 5
MAX_HAND = 13
"""Hands start with at most 13 cards and never grow."""

COUNTS = np.zeros((MAX_SEATS + 1, 10), np.int64)
"""Copies of each value by number of players (RC-02)."""
COUNTS[3] = (1, 2, 3, 4, 5, 6, 7, 0, 0, 11)
COUNTS[4] = (1, 2, 3, 4, 5, 6, 7, 8, 0, 12)
COUNTS[5] = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)


def deck(num_players: int, options: Mapping[str, Any]) -> list[int]:
    """Value indices before the shuffle: values ascending, R last (RC-03)."""
    return np.repeat(np.arange(10), COUNTS[num_players]).tolist()
