"""What the equivalence tests run in processes of their own: `python -m tests.processes trace | workers | core …`."""

import json
import multiprocessing
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import cardenvs
from cardenvs.core.state import new_states
from cardenvs.envs.aec import CardEnv
from tests.common import POLICIES, Case, cases, mixtures, over, pick, seat_to_act, short_digest, some_players, view_of


def trace(case: Case, decisions: int) -> list[str]:
    """A digest for each of so many decisions: what is seen, chosen by every policy, drawn from the view, earned, and left to chance.

    Policies that try actions out are slow as plain Python: the strongest is asked once in twelve decisions.
    """
    digests = []
    for number, options in enumerate(mixtures(case, 3, seed=20)):
        env = case.make(**options)
        env.reset(seed=number)
        rng = np.random.default_rng(number)
        drawn = new_states(env.game.state, 1)
        for decision in range(decisions):
            if over(env):
                env.reset()
            seen = list(env.observe(env.agent_selection).values())
            view = view_of(env, seat_to_act(env))
            words = rng.integers(2**64, size=1, dtype=np.uint64)
            env.game.loops.resample_one(view, words, drawn)
            policies = range(len(POLICIES) if decision % 12 == 0 else 2)
            choices = [pick(env, rng, policy) for policy in policies]
            env.step(choices[-1] if decision % 3 else choices[0])
            earned = np.round(list(env.rewards.values()), 9), np.array(env.scores())
            digests.append(short_digest(*seen, np.array(choices), *fields(view), *fields(drawn), words, *earned, *fields(env.states)))
    return digests


def fields(states: np.ndarray) -> list[np.ndarray]:
    """All fields of records, without the padding between them; rewards rounded."""
    return [np.round(states[name], 9) if name == "rewards" else states[name] for name in states.dtype.names or ()]


def play_a_little(case: Case, threads: int = 1) -> str:
    """A digest of some steps at several tables."""
    env = case.make_vec(4, threads=threads)
    batch = env.reset(seed=1)
    total = []
    for _ in range(20):
        batch = env.step(batch.action_mask.argmax(1))
        total.append(short_digest(*batch))
    single = case.started(seed=1, decisions=20)
    env.close()
    return " ".join(total) + short_digest(*fields(single.states))


inherited: list[Callable] = []
"""Steps of a batch with running threads, made before the fork."""


def play_all(number: int) -> list[str]:
    """Digests of every game, in a worker."""
    if inherited:
        inherited[0]()
    return [play_a_little(case, threads=2) for case in smallest()]


def smallest() -> list[Case]:
    """Every game with its fewest players."""
    return [case for case in cases() if case.num_players == case.game.players[0]]


def workers() -> None:
    """Play here, with threads, and then in workers of every kind (FC-82)."""
    here = [play_a_little(case) for case in smallest()]
    env = smallest()[0].make_vec(4, threads=2)
    batch = env.step(env.reset(seed=1).action_mask.argmax(1))
    inherited.append(lambda: env.step(env.reset(seed=1).action_mask.argmax(1)))
    for method in ("fork", "forkserver", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            there = pool.map(play_all, range(2), chunksize=1)
        if there != [here, here]:
            raise SystemExit(f"workers made by {method} play differently")
    env.step(batch.action_mask.argmax(1))


def uncached(play: bool) -> None:
    """Compile one loop, or play, in two games where no machine code can be kept (FC-80). Prints the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        game = cardenvs.find("kuhn-v0")
        for each in (game, replace(game, name="another")):
            if not play:
                each.loops.scores_one(new_states(each.state, 1), np.zeros(2, np.int64))
                continue
            env = CardEnv(each)
            env.reset(seed=1)
            while not over(env):
                env.step(0)
    print(json.dumps([str(warning.message) for warning in caught]))


def core() -> None:
    """Every game without the extras, which are neither here nor asked for (FC-87)."""
    for name in (
        "torch",
        "matplotlib",
        "stable_baselines3",
        "sb3_contrib",
        "tensorboard",
        "tyro",
        "rich",
        "pygame",
        "cardenvs.agents",
        "cardenvs.experiments",
    ):
        sys.modules[name] = None  # type: ignore[assignment]  # makes its import fail
    for case in smallest():
        play_a_little(case)
        env = case.finished(seed=1, render_mode="ansi")
        env.render()
        cardenvs.replay(env.record())


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["trace", game_id, decisions]:
            players = some_players(cardenvs.find(game_id))
            print(json.dumps([trace(Case(game_id, num_players), int(decisions)) for num_players in players]))
        case ["workers"]:
            workers()
        case ["uncached", what]:
            uncached(what == "play")
        case ["core"]:
            core()
        case _:
            raise SystemExit(__doc__)
