"""What there is to play: the games, and the options of one."""

import sys
from collections.abc import Sequence

from cardenvs.errors import UnknownGame
from cardenvs.registry import find, game_ids


def games() -> str:
    """The games, a line each."""
    lines = []
    for game_id in game_ids():
        game = find(game_id)
        size = f"{game.actions.size} actions, {game.observation.size} features"
        lines.append(f"{game_id:<15}{game.title:<12}{game.players[0]}-{game.max_seats} players, {size}")
    return "\n".join(lines)


def options(game_id: str) -> str:
    """The options of a game, with what they mean and allow."""
    game = find(game_id)
    lines = [f"{game.id}: {game.title}, {game.players[0]} to {game.max_seats} players (usually {game.default_players})"]
    for name, option in game.options.items():
        lines.append(f"  {name}={option.default}: {option.meaning}; {option.allowed}")
    return "\n".join(lines)


def main(argv: Sequence[str]) -> None:
    """`cardenvs games`, or `cardenvs games GAME …` for their options."""
    if argv and argv[0] in ("-h", "--help"):
        print("usage: cardenvs games [GAME …]\n\nLists the games, or the options of those that are named.")
        return
    try:
        print("\n\n".join(options(game_id) for game_id in argv) if argv else games())
    except UnknownGame as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None
