"""Actions and observation of Kuhn poker."""

from cardenvs.core import jit
from cardenvs.core.encoding import ActionTable, ObservationTable, Section, put_count, put_one_hot
from cardenvs.core.state import SCORE
from tests.toy.kuhn.rules import CARDS, MOST_MOVES, SEATS

ACTIONS = ActionTable(("move", ["pass", "bet"]))

OBSERVATION = ObservationTable(
    Section("reward", "one-hot", (2,), "the option `reward`", labels=("win", "score")),
    Section("turn", "one-hot", (SEATS,), "the seat to act, the viewer is 0; none when the game is over"),
    Section("role", "one-hot", (SEATS,), "whether the viewer moves first", labels=("first", "second")),
    Section("card", "one-hot", (3,), "the own card", labels=CARDS),
    Section("moves", "one-hot", (2,) * MOST_MOVES, "the moves so far", labels=("pass", "bet")),
    each_seat=(
        Section("chips", "count", (2,), "chips in the pot"),
        Section("shown", "one-hot", (3,), "the card, once both are shown", labels=CARDS),
    ),
    seats=SEATS,
)


@jit.kernel
def observe(view, out):
    """Write the sections in the order of `OBSERVATION`."""
    viewer = view.viewer
    at = put_one_hot(out, 0, 2, 1 if view.reward == SCORE else 0)
    at = put_one_hot(out, at, SEATS, -1 if view.terminated else abs(view.seat - viewer))
    at = put_one_hot(out, at, SEATS, viewer)
    at = put_one_hot(out, at, 3, view.hand[viewer])
    for move in view.moves:
        at = put_one_hot(out, at, 2, move)
    for k in range(SEATS):
        seat = abs(viewer - k)
        at = put_count(out, at, 2, view.chips[seat])
        at = put_one_hot(out, at, 3, view.hand[seat] if view.shown else -1)
