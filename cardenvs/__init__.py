"""Reinforcement-learning environments for modern card games: PettingZoo, batch and Gymnasium, on one compiled rules core."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardenvs.registry import find, game_ids, register

if not (Path(__file__).parent / "agents").is_dir():  # a checkout without symbolic links
    __path__.append(str(Path(__file__).parents[1]))

if TYPE_CHECKING:
    from cardenvs.envs.aec import CardEnv
    from cardenvs.envs.vector import CardVectorEnv

__version__ = "0.1.0"

__all__ = ["__version__", "find", "game_ids", "make", "make_vec", "register", "replay"]


def make(game_id: str, num_players: int | None = None, **options: Any) -> "CardEnv":
    """A PettingZoo AEC environment of the game; see `cardenvs.envs.aec.CardEnv`."""
    from cardenvs.envs.aec import CardEnv

    return CardEnv(game_id, num_players, **options)


def make_vec(game_id: str, num_envs: int, num_players: int | None = None, **options: Any) -> "CardVectorEnv":
    """`num_envs` tables of the game that advance together; see `cardenvs.envs.vector.CardVectorEnv`."""
    from cardenvs.envs.vector import CardVectorEnv

    return CardVectorEnv(game_id, num_envs, num_players, **options)


def replay(record: "dict | str", moves: int | None = None) -> "CardEnv":
    """Play a recorded game again; see `cardenvs.envs.record.replay`."""
    from cardenvs.envs.record import replay as play_again

    return play_again(record, moves)
