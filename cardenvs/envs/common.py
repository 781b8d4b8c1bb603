"""What the environments share: seeds, spaces and actions, checked."""

import operator
import os
from typing import Any

import numpy as np
from gymnasium import spaces

from cardenvs import registry
from cardenvs.core.game import Game
from cardenvs.errors import InvalidAction, InvalidOption, InvalidSeed, ReplayError


def find_game(game: str | Game) -> Game:
    """A game by its id; a `Game` is itself."""
    return game if isinstance(game, Game) else registry.find(game)


def check_count(name: str, value: Any) -> int:
    """The value as an int; raises `InvalidOption` unless it is a whole number from 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InvalidOption(f"{name}={value!r} is not allowed: it must be a whole number from 1")
    return int(value)


def check_room(game: Game, num_envs: int) -> int:
    """The number of tables; raises `InvalidOption` if this machine's memory cannot hold them."""
    needed = num_envs * (game.state.itemsize + game.observation.size + game.actions.size)
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on Windows
        memory = 1 << 40
    if needed > memory:
        most = memory // (needed // num_envs)
        raise InvalidOption(f"num_envs={num_envs} is not allowed: the memory of this machine holds at most {most:,} tables of {game.id}")
    return num_envs


def observation_space(game: Game) -> spaces.Box:
    """The space of one observation, int8 of shape (game.observation.size,)."""
    return spaces.Box(0, 1, (game.observation.size,), np.int8)


def mask_space(game: Game) -> spaces.Box:
    """The space of one action mask, int8 of shape (game.actions.size,)."""
    return spaces.Box(0, 1, (game.actions.size,), np.int8)


def check_seed(seed: Any) -> int | None:
    """The seed as an int, or None; raises `InvalidSeed` for all that is not a whole number from 0."""
    if seed is None:
        return None
    if isinstance(seed, bool | np.bool_) or not hasattr(seed, "__index__") or operator.index(seed) < 0:
        raise InvalidSeed(f"seed={seed!r} is not allowed: it must be a whole number from 0, or None")
    return operator.index(seed)


def lane_words(seed: Any, lanes: int) -> tuple[int, np.ndarray]:
    """The seed to report (drawn from the operating system if it is None), and the words of so many lanes (G-08)."""
    seed = check_seed(seed)
    if seed is None:
        seed = operator.index(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
    return seed, np.random.SeedSequence(seed).generate_state(lanes, np.uint64)


def action_number(action: Any) -> int:
    """An action id as an int; raises `InvalidAction` if it is not a whole number."""
    if not isinstance(action, bool | np.bool_):
        try:
            return operator.index(action)
        except TypeError:
            pass
    raise InvalidAction(f"an action is a whole number (its id), not {action!r} of type {type(action).__name__}")


def reset_deck(game: Game, reset_options: dict | None, num_players: int, options: dict[str, Any]) -> np.ndarray:
    """Card ids of the deck in reset options; empty if there is none. Other keys are ignored: PettingZoo's API test gives one."""
    return game.deck_ids((reset_options or {}).get("deck"), num_players, options)


def check_layout(game: Game, states: np.ndarray) -> None:
    """Raise `ReplayError` if records that were pickled have other fields than this version's."""
    saved, now = ({name: str(dtype[name]) for name in dtype.names or ()} for dtype in (states.dtype, game.state))
    if list(saved.items()) != list(now.items()):
        changed = sorted(name for name in saved | now if saved.get(name) != now.get(name)) or ["their order"]
        raise ReplayError(f"this table of {game.id} was saved by another version: its record differs in {', '.join(changed)}")
