"""Record games of a game: `python -m tests.playthroughs.generate GAME_ID …` (after a new game, or a new version of one).

`<game id>.json` holds, for every number of players and for other options, a game (or several short ones that follow each other):
its beginning, decision by decision, and a digest of the rest. Actions are drawn evenly from the mask by Python's own
generator, so that they depend on nothing but the rules.
"""

import hashlib
import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np

import cardenvs
from cardenvs.envs.aec import CardEnv
from tests.common import Case, allowed, other_values, over, seat_to_act

FOLDER = Path(__file__).parent
CLOSELY = 100
"""Decisions that are recorded one by one; games are played until there are so many."""
AT_MOST = 2500
"""Decisions, if the last game is not over before."""
PARTS = ("seat", "observation", "mask", "rewards", "scores")


def to_record(game_id: str) -> list[tuple[int, dict[str, Any]]]:
    """Numbers of players and options: the defaults with each number, each other choice and a small number for each option."""
    game = cardenvs.find(game_id)
    settings: list[tuple[int, dict[str, Any]]] = [(num_players, {}) for num_players in game.players]
    for name, option in game.options.items():
        values = other_values(option)
        changes = [{name: value} for value in (values if option.choices else values[-2:][:1])]
        settings += [(game.default_players, change) for change in changes if allowed(Case(game_id, game.default_players), change)]
    return settings


def steps(game_id: str, num_players: int, options: dict[str, Any], seed: int) -> tuple[list[tuple[int, str]], CardEnv]:
    """The actions, each with two hexadecimal digits for each of `PARTS` as they stand after it; and the table at the end."""
    env = cardenvs.make(game_id, num_players, **options)
    env.reset(seed=seed)
    generator = random.Random(seed)
    taken: list[tuple[int, str]] = []
    while len(taken) < (AT_MOST if not over(env) else CLOSELY):
        if over(env):
            env.reset()
        legal = env.legal_actions()
        action = legal[int(generator.random() * len(legal))]
        env.step(action)
        seen = env.observe(env.agent_selection)
        parts = (seat_to_act(env), *seen.values(), np.round(list(env.rewards.values()), 6), env.scores())
        taken.append((action, "".join(hashlib.sha256(np.asarray(part).tobytes()).hexdigest()[:2] for part in parts)))
    return taken, env


def record(game_id: str, num_players: int, options: dict[str, Any], seed: int) -> dict[str, Any]:
    """What the file holds of a setting."""
    taken, env = steps(game_id, num_players, options, seed)
    return {
        "num_players": num_players,
        "options": options,
        "seed": seed,
        "beginning": " ".join(f"{action}:{digits}" for action, digits in taken[:CLOSELY]),
        "decisions": len(taken),
        "digest": hashlib.sha256(repr(taken).encode()).hexdigest()[:16],
        "scores": env.scores(),
        "terminated": bool(env.states["terminated"][0]),
        "truncated": bool(env.states["truncated"][0]),
        "rng": [str(word) for word in env.states["rng"][0]],
    }


def generate(game_id: str) -> None:
    """Write the file of a game."""
    games = [record(game_id, num_players, options, seed) for seed, (num_players, options) in enumerate(to_record(game_id))]
    lines = ",\n".join(json.dumps(game) for game in games)
    (FOLDER / f"{game_id}.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    if not sys.argv[1:]:
        raise SystemExit(__doc__)
    for each in sys.argv[1:]:
        generate(each)
