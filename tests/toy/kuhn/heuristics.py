"""Scripted players of Kuhn poker."""

import numpy as np

from cardenvs.core import jit
from cardenvs.core.rng import below
from tests.toy.kuhn.rules import BET, PASS

OUT_OF = 6
BETS = np.array([[1, 0, 3], [2, 0, 6], [0, 2, 6], [0, 3, 6]])
"""How often out of six the equilibrium with alpha = 1/6 bets with J, Q, K: at first, after a pass, after a bet, after pass and bet.

Source: H. W. Kuhn, "A simplified two-person poker" (1950).
"""


@jit.kernel
def choose_easy(view, mask, words):
    """Plain sense: bet the king, call with king or queen."""
    card = view.hand[view.viewer]
    called = view.chips[1 - view.viewer] > view.chips[view.viewer]
    return BET if card == 2 or (card == 1 and called) else PASS


@jit.kernel
def choose_strong(view, mask, words):
    """The equilibrium."""
    row = view.num_moves
    if view.num_moves == 1 and view.moves[0] == BET:
        row = 2
    elif view.num_moves == 2:
        row = 3
    return BET if below(words, 0, OUT_OF) < BETS[row, view.hand[view.viewer]] else PASS
