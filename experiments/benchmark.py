"""Measure decisions per second, memory, compile and import times, and put them next to other suites.

    cardenvs benchmark --games recurrring-v0

All figures come from one run: the cases take turns, several rounds of them, and the median of the rounds is shown, since
the speed of a shared machine changes from second to second. Ratios are of medians.
"""

import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

import cardenvs
from cardenvs.core.state import new_states
from cardenvs.envs.common import lane_words
from cardenvs.experiments import parse, told_plainly
from cardenvs.experiments.tables import json_text, write_whole


@dataclass
class Arguments:
    """What to measure."""

    games: list[str] = field(default_factory=lambda: list(cardenvs.game_ids()))
    """Ids of games."""
    num_players: int = 4
    """Seats, where the game allows so many."""
    tables: list[int] = field(default_factory=lambda: [1, 64, 1024, 8192])
    """Batch sizes."""
    threads: list[int] = field(default_factory=lambda: [1, 2])
    """Threads of the batch environment."""
    seconds: float = 0.5
    """Time for a case in a round."""
    rounds: int = 5
    """Rounds."""
    peers: bool = True
    """Also measure the other suites that are installed."""
    out: Path = Path("runs/benchmark")
    """Folder of the results, benchmark.json and benchmark.md."""


Case = Callable[[float], int]
"""Play for so many seconds and return the number of decisions."""


def until(seconds: float, play: Callable[[], int]) -> int:
    """Call `play`, which returns decisions, until the time is over."""
    end = time.perf_counter() + seconds
    decisions = 0
    while time.perf_counter() < end:
        decisions += play()
    return decisions


def aec_case(make: Callable[[], Any]) -> Case:
    """The textbook loop of PettingZoo: `last()`, a random legal action from the mask, `step`."""
    env, generator = make(), random.Random(0)

    def game() -> int:
        decisions = 0
        env.reset()
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
            else:
                legal = observation["action_mask"].nonzero()[0]
                env.step(int(legal[int(generator.random() * len(legal))]))
                decisions += 1
        return decisions

    env.reset(seed=0)
    return lambda seconds: until(seconds, game)


def batch_case(game_id: str, num_players: int, tables: int, threads: int) -> Case:
    """The batch environment: choose a random legal action in every table (compiled), step; observation and mask are written each time."""
    env = cardenvs.make_vec(game_id, tables, num_players, threads=threads, copy=False)
    batch = env.reset(seed=0)
    words = lane_words(1, tables)[1]
    actions = np.zeros(tables, np.int64)

    def step() -> int:
        env.game.loops.choose_lanes(env.lanes, batch.action_mask, words, actions)
        env.step(actions)
        return tables

    return lambda seconds: until(seconds, step)


def playout_case(game_id: str, num_players: int) -> Case:
    """Whole games of random players inside one compiled loop, without observations, as search plays them."""
    game = cardenvs.find(game_id)
    blank, _ = game.configure(num_players, {})
    lanes, states, view = np.arange(64), new_states(game.state, 64), new_states(game.state, 1)
    states["seeds"][:, 0] = lane_words(0, 64)[1]
    words, policies = lane_words(1, 64)[1], np.zeros((64, game.max_seats), np.int8)
    mask, rewards = np.zeros(game.actions.size, np.int8), np.zeros((64, game.max_seats))

    def games() -> int:
        game.loops.start_lanes(states, lanes, blank, np.zeros(0, np.int64))
        return game.loops.play_lanes(states, lanes, policies, words, 0, view, mask, rewards)

    return lambda seconds: until(seconds, games)


def openspiel_case(name: str) -> Case:
    """Random play in OpenSpiel, with the information-state or observation tensor of the player to act each time."""
    import pyspiel

    game, generator = pyspiel.load_game(name), random.Random(0)
    tensor = "observation_tensor" if game.get_type().provides_observation_tensor else "information_state_tensor"

    def play() -> int:
        state, decisions = game.new_initial_state(), 0
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, chances = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(generator.choices(outcomes, chances)[0])
            else:
                np.asarray(getattr(state, tensor)(state.current_player()))
                state.apply_action(generator.choice(state.legal_actions()))
                decisions += 1
        return decisions

    return lambda seconds: until(seconds, play)


def rlcard_case(name: str) -> Case:
    """Random play in RLCard."""
    import rlcard

    env, generator = rlcard.make(name), random.Random(0)

    def play() -> int:
        state, _ = env.reset()
        decisions = 0
        while not env.is_over():
            state, _ = env.step(generator.choice(list(state["legal_actions"])))
            decisions += 1
        return decisions

    return lambda seconds: until(seconds, play)


def classic_case(module: str) -> Case:
    """Random play in an environment of PettingZoo Classic."""
    import importlib

    env_module = importlib.import_module(f"pettingzoo.classic.{module}")
    return aec_case(lambda: (getattr(env_module, "raw_env", None) or env_module.env)())


def pgx_case(name: str, tables: int = 1024) -> Case:
    """Random play in Pgx at many tables, compiled by JAX, which uses all cores; games that end start anew."""
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make(name)
    advance = auto_reset(env.step, env.init)

    def choose(state: Any, key: Any) -> Any:
        chance, mine = jax.random.split(key)
        return advance(state, jax.random.categorical(mine, jnp.where(state.legal_action_mask, 0.0, -1e9)), chance)

    step = jax.jit(jax.vmap(choose))
    key = jax.random.key(0)
    now = jax.jit(jax.vmap(env.init))(jax.random.split(key, tables))

    def play() -> int:
        nonlocal key, now
        key, mine = jax.random.split(key)
        now = jax.block_until_ready(step(now, jax.random.split(mine, tables)))
        return tables

    return lambda seconds: until(seconds, play)


def peer_cases() -> dict[str, Case]:
    """The cases of other suites that can be set up here."""
    wanted: dict[str, Callable[[], Case]] = {
        "OpenSpiel gin_rummy": lambda: openspiel_case("gin_rummy"),
        "OpenSpiel hearts": lambda: openspiel_case("hearts"),
        "Pgx backgammon, 1024 tables": lambda: pgx_case("backgammon"),
        "Pgx leduc_holdem, 1024 tables": lambda: pgx_case("leduc_holdem"),
        "Pgx sparrow_mahjong, 1024 tables": lambda: pgx_case("sparrow_mahjong"),
        "RLCard uno": lambda: rlcard_case("uno"),
        "PettingZoo connect_four_v3": lambda: classic_case("connect_four_v3"),
        "PettingZoo leduc_holdem_v4": lambda: classic_case("leduc_holdem_v4"),
        "PettingZoo texas_holdem_v4": lambda: classic_case("texas_holdem_v4"),
        "PettingZoo tictactoe_v3": lambda: classic_case("tictactoe_v3"),
    }
    cases = {}
    for name, build in wanted.items():
        try:
            case = build()
            case(0.01)
            cases[name] = case
        except Exception as error:  # a peer may fail in any way, at import or later: it is left out and said so
            print(f"{name} is not measured: {type(error).__name__}: {error}", file=sys.stderr)
    return cases


_START = """
import time; start = time.perf_counter()
import cardenvs; imported = time.perf_counter()
env = cardenvs.make({game!r}); env.reset(seed=0); env.step(env.legal_actions()[0]); stepped = time.perf_counter()
print(imported - start, stepped - imported)
"""


def start_times(game_id: str) -> dict[str, float]:
    """Seconds for `import cardenvs`, and for making a game up to its first step: with an empty cache, then with a filled one."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "XDG_CACHE_HOME": cache}
        environment.pop("NUMBA_CACHE_DIR", None)
        runs = []
        for _ in range(4):
            command = [sys.executable, "-c", _START.format(game=game_id)]
            printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
            runs.append([float(number) for number in printed.split()])
    return {
        "import": statistics.median(run[0] for run in runs),
        "cold_first_step": runs[0][1],
        "warm_first_step": statistics.median(run[1] for run in runs[1:]),
    }


def measure(cases: dict[str, Case], seconds: float, rounds: int) -> dict[str, float]:
    """Median decisions per second of each case over rounds in which they take turns."""
    speeds: dict[str, list[float]] = {name: [] for name in cases}
    for case in cases.values():
        case(0.05)
    for _ in range(rounds):
        for name, case in cases.items():
            start = time.perf_counter()
            speeds[name].append(case(seconds) / (time.perf_counter() - start))
    return {name: statistics.median(values) for name, values in speeds.items()}


def bytes_per_table(game_id: str) -> dict[str, int]:
    """Bytes of a running game, and of what the batch environment holds for it besides."""
    game = cardenvs.find(game_id)
    return {"state": game.state.itemsize, "observation": game.observation.size, "action_mask": game.actions.size}


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    with told_plainly():
        benchmark(parse(Arguments, argv))


def benchmark(arguments: Arguments) -> dict[str, Any]:
    """Measure, print a Markdown report, and save it with the raw figures."""
    for game_id in arguments.games:
        cardenvs.find(game_id)  # wrong ones are refused at once
    starts = {game_id: start_times(game_id) for game_id in arguments.games}
    cases: dict[str, Case] = {}
    for game_id in arguments.games:
        players = cardenvs.find(game_id).players
        seats = arguments.num_players if arguments.num_players in players else players[-1]
        cases[f"{game_id} AEC"] = aec_case(partial(cardenvs.make, game_id, seats))
        for threads in arguments.threads:
            for tables in arguments.tables:
                if threads <= tables:
                    cases[f"{game_id} batch {tables} x {threads}"] = batch_case(game_id, seats, tables, threads)
        cases[f"{game_id} playouts"] = playout_case(game_id, seats)
    peers = peer_cases() if arguments.peers else {}
    speeds = measure({**cases, **peers}, arguments.seconds, arguments.rounds)

    lines = ["| case | decisions per second |" + "".join(f" x {peer} |" for peer in peers)]
    lines.append("|---|---:|" + "---:|" * len(peers))
    for name in [*cases, *peers]:
        ratios = "".join(f" {speeds[name] / speeds[peer]:,.1f} |" for peer in peers)
        lines.append(f"| {name} | {speeds[name]:,.0f} |{ratios}")
    lines += [
        "",
        "| game | import s | cold first step s | warm first step s | bytes of a game | observation | mask |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for game_id, times in starts.items():
        held = bytes_per_table(game_id)
        seconds = " | ".join(f"{times[key]:.2f}" for key in ("import", "cold_first_step", "warm_first_step"))
        lines.append(f"| {game_id} | {seconds} | {held['state']} | {held['observation']} | {held['action_mask']} |")
    report = "\n".join(lines)
    print(report)
    results = {
        "decisions_per_second": speeds,
        "start": starts,
        "bytes_per_table": {game_id: bytes_per_table(game_id) for game_id in arguments.games},
        "machine": {"processor": platform.processor() or platform.machine(), "cpus": os.cpu_count(), "python": platform.python_version()},
        "versions": {name: _version(name) for name in ("cardenvs", "numpy", "numba", "pettingzoo", "open-spiel", "rlcard", "pgx", "jax")},
    }
    write_whole(arguments.out / "benchmark.json", json_text(results))
    write_whole(arguments.out / "benchmark.md", report + "\n")
    return results


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    main()
