"""The record of a running game (one *table*): fields that every game has, and returns that every game pays."""

import numpy as np

from cardenvs.core import jit

WIN, SCORE = 0, 1  # values of the field `reward` (G-10, G-11)


def state_dtype(max_seats: int, fields: list[tuple]) -> np.dtype:
    """The record dtype of a game: the common fields, then the game's own `fields`, at most `max_seats` seats.

    Own fields are integers of fixed shape (int8 in place of booleans), so that one dtype serves every number of players.
    """
    common: list[tuple] = [
        ("rng", np.uint64, 4),  # the streams of G-06; blank in a view
        ("seeds", np.uint64, 1),  # the lane's word of G-08; blank in a view
        ("rewards", np.float64, max_seats),  # of the last decision; blank in a view
        ("steps", np.int32),  # decisions so far; blank in a view (G-05)
        ("num_seats", np.int8),
        ("seat", np.int8),  # the seat to act
        ("viewer", np.int8),  # whose view this is, -1 for the full state
        ("reward", np.int8),  # option: WIN or SCORE
        ("terminated", np.int8),
        ("truncated", np.int8),
    ]
    return np.dtype(common + fields, align=True)


def new_states(dtype: np.dtype, count: int) -> np.ndarray:
    """`count` blank records; as a record array where kernels are plain Python and read fields as attributes."""
    states = np.zeros(count, dtype)
    return states.view(np.recarray) if jit.DISABLED else states


@jit.inline
def seat_after(seat, places, seats):
    """The seat so many places clockwise, 0 <= places <= seats (G-01); no division, which would cost most of an observation."""
    seat = np.int64(seat) + places
    return seat - seats if seat >= seats else seat


@jit.kernel
def pay_win(state, scores):
    """Rewards of `reward="win"` for the best of `scores`; ties share (G-10)."""
    seats = state.num_seats
    best = scores[:seats].max()
    winners = 0
    for seat in range(seats):
        winners += scores[seat] == best
    for seat in range(seats):
        if winners == seats:
            state.rewards[seat] = 0.0
        elif scores[seat] == best:
            state.rewards[seat] = (seats - winners) / (winners * (seats - 1))
        else:
            state.rewards[seat] = -1.0 / (seats - 1)


@jit.kernel
def pay_score(state, scores, scale):
    """Rewards of `reward="score"`: own score less the mean of all seats, by `scale` (G-11)."""
    seats = state.num_seats
    mean = scores[:seats].sum() / seats
    for seat in range(seats):
        state.rewards[seat] = (scores[seat] - mean) / scale
