"""Chance: SplitMix64 words and draws (rules G-06, G-07). Sequences of words live in the game's record, never elsewhere."""

import numpy as np

from cardenvs.core import jit

# The streams of a game (G-06).
DEALS, EVENTS, BLIND, RACES = 0, 1, 2, 3

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_A = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B = np.uint64(0x94D049BB133111EB)


@jit.kernel
def next_word(words, stream):
    """Advance `words[stream]` and return its next 64 random bits (G-06)."""
    words[stream] += _GAMMA
    z = words[stream]
    z = (z ^ (z >> np.uint64(30))) * _MIX_A
    z = (z ^ (z >> np.uint64(27))) * _MIX_B
    return z ^ (z >> np.uint64(31))


if jit.DISABLED:  # NumPy reports that scalars wrap, as they are meant to here; compiled code does not
    next_word = np.errstate(over="ignore")(next_word)


@jit.kernel
def below(words, stream, n):
    """A whole number from 0 to n - 1, 1 <= n <= 2**31; draws one word even for n = 1 (G-06)."""
    return np.int64(((next_word(words, stream) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@jit.kernel
def shuffle(words, stream, items):
    """Shuffle the one-dimensional array `items` in place (G-07)."""
    for i in range(len(items) - 1, 0, -1):
        j = below(words, stream, i + 1)
        kept = items[i]
        items[i] = items[j]
        items[j] = kept
