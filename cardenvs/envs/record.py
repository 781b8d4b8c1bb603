"""Saved games: what was dealt and played, as JSON."""

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from cardenvs import registry
from cardenvs.errors import CardEnvError, ReplayError

if TYPE_CHECKING:
    from cardenvs.envs.aec import CardEnv

_KEYS = {"game", "num_players", "options", "illegal_action", "lane_word", "deck", "players", "actions", "scores", "terminated", "truncated"}


def record(env: "CardEnv") -> dict[str, Any]:
    """See `CardEnv.record`. `lane_word` is the lane's word before this game was drawn from it (G-08), in decimal."""
    return {
        "game": env.game.id,
        "num_players": env.num_players,
        "options": env.options,
        "illegal_action": env.illegal_action,
        "lane_word": str(env._lane_word),
        "deck": [env.game.cards[card] for card in env._deck] or None,
        "players": [None] * env.num_players,
        "actions": [env.game.actions.texts[action] for action in env._history],
        "scores": env.scores(),
        "terminated": bool(env.states["terminated"][0]),
        "truncated": bool(env.states["truncated"][0]),
    }


def replay(saved: dict[str, Any] | str, moves: int | None = None) -> "CardEnv":
    """Play a record again, wholly or its first `moves` decisions, and return the environment as it stands then.

    `saved` is what `CardEnv.record` returned, or that as JSON text. Raises `ReplayError` if it is no record, or if this
    version of the game plays it differently, with the number of the move (from 1) or the scores that differ.
    """
    from cardenvs.envs.aec import CardEnv

    try:
        saved = json.loads(saved) if isinstance(saved, str) else dict(saved)
    except (ValueError, TypeError) as error:
        raise ReplayError(f"this is no record of a game: {error}") from error
    if missing := sorted(_KEYS - set(saved)):
        raise ReplayError(f"this is no record of a game: it lacks {', '.join(missing)}")
    if saved["game"] not in registry.game_ids():
        raise ReplayError(f"the record is of {saved['game']}; this version plays {', '.join(registry.game_ids())}")
    try:
        env = CardEnv(saved["game"], saved["num_players"], illegal_action=saved["illegal_action"], **saved["options"])
        env.states["seeds"] = np.uint64(int(saved["lane_word"]))
        env.seed = -1
        env.reset(options={"deck": saved["deck"]})
        env.seed = None
    except (CardEnvError, ValueError, TypeError, OverflowError) as error:
        raise ReplayError(f"the record cannot be set up: {error}") from error
    for number, text in enumerate(saved["actions"][:moves], 1):
        try:
            env.step(env.action_id(text))
        except (CardEnvError, TypeError) as error:
            raise ReplayError(f"move {number} ({text}) differs: {error}") from error
    if moves is None or moves >= len(saved["actions"]):
        again = record(env)
        for key in ("scores", "terminated", "truncated"):
            if again[key] != saved[key]:
                raise ReplayError(f"{key} after the last move differ: recorded {saved[key]}, now {again[key]}")
    return env
