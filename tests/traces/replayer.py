"""Replay of recorded games that an independent engine wrote from the rule pages (see README.md)."""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import cardenvs

MASK64 = (1 << 64) - 1


def recorded_games(path: Path) -> Iterator[dict]:
    """The games of a file, in order."""
    with gzip.open(path, "rt") as lines:
        for line in lines:
            yield json.loads(line)


def replay_file(path: Path, facts: Callable) -> int:
    """Replay every game of a file and compare it step by step; returns the number of decisions.

    `facts(env, agent)` gives, from the agent's view and observation, what the recording lists under `facts`.
    """
    decisions = 0
    env, key = None, None
    for game in recorded_games(path):
        setting = (game["num_players"], game["seed"], json.dumps(game["options"]))
        if setting != key or game["game_index"] == 0:
            env, key = cardenvs.make(f"{game['game']}-v{game['version']}", game["num_players"], **game["options"]), setting
            env.reset(seed=game["seed"])
            for _ in range(game["game_index"]):
                env.reset()
        else:
            env.reset()
        where = f"{path.name}: {game['num_players']} players, seed {game['seed']}, game {game['game_index']}"
        assert game_seed(env) == int(game["game_seed"]), where
        returns = np.zeros(game["num_players"])
        for number, step in enumerate(game["steps"]):
            agent = f"player_{step['seat']}"
            assert env.agent_selection == agent, (where, number)
            assert sorted(map(env.action_text, env.legal_actions())) == step["legal"], (where, number)
            if "facts" in step:
                assert facts(env, agent) == step["facts"], (where, number)
            env.step(env.action_id(step["action"]))
            rewards = [env.rewards[player] for player in env.possible_agents]
            assert rewards == pytest.approx(step["rewards"], abs=1e-6), (where, number)
            returns += rewards
            decisions += 1
        assert env.scores() == game["scores"], where
        assert returns.tolist() == pytest.approx(game["returns"], abs=1e-6), where
        assert all(flag == game["terminated"] for flag in env.terminations.values()), where
        assert all(flag == game["truncated"] for flag in env.truncations.values()), where
        assert env.states["rng"][0].tolist() == [int(word) for word in game["final_rng"]], where
    return decisions


def game_seed(env) -> int:
    """The word that the running game drew: the output that belongs to the lane's word (G-06, G-08)."""
    z = int(env.states["seeds"][0, 0])
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK64
    return z ^ (z >> 31)
