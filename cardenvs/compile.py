"""Compile games now, for images and clusters, in place of at their first use."""

import sys
import time
from collections.abc import Iterable, Sequence
from types import FunctionType

from cardenvs.agents import search
from cardenvs.core import jit, loops
from cardenvs.core.game import Game
from cardenvs.errors import UnknownGame
from cardenvs.registry import find, game_ids


def compile_game(game: Game) -> float:
    """Compile all loops of a game, those of the searches included, or read them where they are kept; returns the seconds."""
    start = time.perf_counter()
    for bound, module in ((game.loops, loops), (search.search_loops(game), search)):
        for name, loop in vars(module).items():
            if isinstance(loop, FunctionType) and loop.__module__ == module.__name__ and jit.is_loop(loop):
                getattr(bound, name)
    return time.perf_counter() - start


def compile_games(ids: Iterable[str]) -> None:
    """Compile these games and print a line for each."""
    for game in [find(game_id) for game_id in ids]:
        print(f"{game.id}: {compile_game(game):.1f} s", flush=True)


def main(argv: Sequence[str]) -> None:
    """`cardenvs compile [GAME …]`"""
    if argv and argv[0] in ("-h", "--help"):
        print("usage: cardenvs compile [GAME …]\n\nCompiles games for this machine now, all of them if none is named.")
        return
    try:
        compile_games(argv or game_ids())
    except UnknownGame as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None
