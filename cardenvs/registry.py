"""The games, and where outside libraries find them. A game's code is imported when it is first used."""

import importlib
from typing import TYPE_CHECKING

import gymnasium
import pettingzoo

from cardenvs.errors import UnknownGame

if TYPE_CHECKING:
    from cardenvs.core.game import Game

_MODULES = {
    "ringer-v0": "cardenvs.games.ringer",
    "ramino-v0": "cardenvs.games.ramino",
    "ding-v0": "cardenvs.games.ding",
    "timbre-v0": "cardenvs.games.timbre",
    "recurrring-v0": "cardenvs.games.recurrring",
}


def game_ids() -> tuple[str, ...]:
    """The ids of all games."""
    return tuple(_MODULES)


def find(game_id: str) -> "Game":
    """The game of that id; raises `UnknownGame` with the ids there are."""
    if game_id not in _MODULES:
        raise UnknownGame(f"no game is called {game_id!r}; there are {', '.join(_MODULES)}")
    return importlib.import_module(_MODULES[game_id]).GAME


def register(game_id: str, module: str) -> None:
    """Make the game `GAME` of `module` known here, to PettingZoo (`cardenvs/<id>`) and to Gymnasium (`cardenvs/<Id>`)."""
    _MODULES[game_id] = module
    name = f"cardenvs/{game_id}"
    if name not in pettingzoo.aec_registry:
        pettingzoo.register("aec", name, entry_point="cardenvs.envs.aec:CardEnv", kwargs={"game": game_id})
    name = f"cardenvs/{game_id[0].upper()}{game_id[1:]}"
    if name not in gymnasium.registry:
        gymnasium.register(
            name,
            entry_point="cardenvs.envs.single:CardGymEnv",
            vector_entry_point="cardenvs.envs.single:CardGymVectorEnv",
            kwargs={"game": game_id},
            disable_env_checker=True,
        )


for _id, _module in list(_MODULES.items()):
    register(_id, _module)
