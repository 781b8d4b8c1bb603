"""Kuhn poker as text."""

from tests.toy.kuhn.encoding import ACTIONS
from tests.toy.kuhn.rules import CARDS, SEATS


def text(view) -> str:
    """The table as the viewer sees it."""
    over = f"player_{view.winner} wins the pot." if view.terminated else f"player_{view.seat} is to move."
    lines = [f"Kuhn poker: {over}"]
    for seat in range(SEATS):
        card = CARDS[view.hand[seat]] if view.hand[seat] >= 0 else "?"
        lines.append(f"  player_{seat}{' (you)' if seat == view.viewer else ''}: {card}, {view.chips[seat]} in the pot")
    lines.append("Moves: " + (", ".join(ACTIONS.texts[move] for move in view.moves[: view.num_moves]) or "none"))
    return "\n".join(lines)
