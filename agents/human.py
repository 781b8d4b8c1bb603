"""A person at the terminal."""

import shutil
import textwrap
from collections.abc import Callable, Iterable

import numpy as np

from cardenvs.core.game import Game


def fit(text: str, width: int | None = None) -> str:
    """`text` with its lines broken between words to the window's width (or `width`), further lines indented."""
    width = width or shutil.get_terminal_size().columns
    lines = []
    for line in text.splitlines():
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        lines.append(textwrap.fill(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False))
    return "\n".join(lines)


def menu(choices: Iterable[str], width: int | None = None) -> str:
    """Numbered choices, side by side as far as the window is wide."""
    width = width or shutil.get_terminal_size().columns
    entries = [f"{number}) {choice}" for number, choice in enumerate(choices, 1)]
    column = max(map(len, entries)) + 2
    across = max(1, width // column)
    rows = [entries[i : i + across] for i in range(0, len(entries), across)]
    return "\n".join("".join(entry.ljust(column) for entry in row).rstrip() for row in rows)


class HumanAgent:
    """Shows its view and the legal moves, and asks until one is given, by its number or its text.

    The end of the input (`EOFError`) and Ctrl-C (`KeyboardInterrupt`) go to whoever runs the game.
    """

    name = "human"

    def __init__(self, ask: Callable[[str], str] | None = None, show: Callable[[str], object] | None = None):
        self._ask = ask or input
        self._show = show or print

    def reset(self, game: Game, num_players: int, seat: int, seed: int) -> None:
        """A game starts."""
        self._game = game

    def act(self, observation: np.ndarray, mask: np.ndarray, view: np.ndarray) -> int:
        """The person's choice; see `Agent.act`."""
        moves = {self._game.actions.texts[action]: int(action) for action in np.flatnonzero(mask)}
        texts = list(moves)
        self._show(f"\n{fit(self._game.text(view[0]))}\n{menu(texts)}")
        while True:
            answer = " ".join(self._ask("Your move: ").split())
            if answer in moves:
                return moves[answer]
            if answer.isdecimal() and 1 <= int(answer) <= len(texts):
                return moves[texts[int(answer) - 1]]
            self._show(fit(f"{answer!r} is no legal move: give a number from 1 to {len(texts)}, or the move as it is written."))
