"""What the generic tests share: the tables to test, options, and seeded play."""

import copy
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cardenvs
from cardenvs.core.game import POLICIES, Game, Option
from cardenvs.core.state import new_states
from cardenvs.envs.aec import CardEnv
from cardenvs.envs.vector import CardVectorEnv
from cardenvs.errors import InvalidOption

ROOT = Path(__file__).parent.parent
GAMES = cardenvs.game_ids()
RANDOM, EASY, STRONG = range(len(POLICIES))


class Case(NamedTuple):
    """A game with a number of players."""

    game_id: str
    num_players: int

    @property
    def game(self) -> Game:
        return cardenvs.find(self.game_id)

    def make(self, **options: Any) -> CardEnv:
        return cardenvs.make(self.game_id, self.num_players, **options)

    def make_vec(self, num_envs: int, **options: Any) -> CardVectorEnv:
        return cardenvs.make_vec(self.game_id, num_envs, self.num_players, **options)

    def started(self, seed: int = 0, decisions: int = 0, **options: Any) -> CardEnv:
        """An environment after so many random decisions, or fewer if the game is over before."""
        env = self.make(**options)
        env.reset(seed=seed)
        for _ in play(env, np.random.default_rng(seed), decisions):
            pass
        return env

    def finished(self, seed: int = 0, decisions: int = 20_000, **options: Any) -> CardEnv:
        """An environment whose game has just ended, before any dead step; of ten seeds the first that gets there."""
        for attempt in range(10):
            env = self.started(seed + attempt, decisions, **options)
            if over(env):
                return env
        raise AssertionError(f"no game of {self} ends within {decisions} decisions")


def cases() -> list[Case]:
    """Every game with each of its numbers of players."""
    return [Case(game_id, num_players) for game_id in GAMES for num_players in cardenvs.find(game_id).players]


def some_players(game: Game) -> list[int]:
    """The fewest, the usual and the most players: what the fast tests are content with."""
    return sorted({game.players[0], game.default_players, game.players[-1]})


def other_values(option: Option) -> list[Any]:
    """Allowed values of an option beside its default; of numbers a few, mostly low ones."""
    if option.choices:
        values = list(option.choices)
    else:
        values = [option.low, option.low + 1, option.low + 4, option.low + 20]
        values = [value for value in values if value <= option.high] + [None] * option.none
    return [value for value in values if value != option.default or type(value) is not type(option.default)]


def allowed(case: Case, options: dict[str, Any]) -> bool:
    """Whether the game takes these options together."""
    try:
        case.game.configure(case.num_players, options)
    except InvalidOption:
        return False
    return True


def single_changes(case: Case) -> list[dict[str, Any]]:
    """The defaults, then every option changed alone."""
    changes = [{name: value} for name, option in case.game.options.items() for value in other_values(option)]
    return [{}] + [options for options in changes if allowed(case, options)]


def mixtures(case: Case, count: int, seed: int = 0) -> list[dict[str, Any]]:
    """The defaults, then so many random sets of options less one."""
    rng = np.random.default_rng([seed, case.num_players, *case.game_id.encode()])
    found: list[dict[str, Any]] = [{}]
    while len(found) < count:
        options = {}
        for name, option in case.game.options.items():
            values = other_values(option)
            if values and rng.random() < (0.2 if name.startswith("max_") else 0.5):
                options[name] = values[rng.integers(len(values))]
        if allowed(case, options):
            found.append(options)
    return found


def over(env: CardEnv) -> bool:
    """Whether the game has ended (or nobody is left to take a dead step)."""
    return not env.agents or any(env.terminations.values()) or any(env.truncations.values())


def seat_to_act(env: CardEnv) -> int:
    return env.possible_agents.index(env.agent_selection)


def play(env: CardEnv, rng: np.random.Generator, decisions: int, policy: int = RANDOM) -> Iterator[int]:
    """Play on until the game is over, at most so many decisions; yields the number of each before it is made.

    Half of the actions are the policy's, the others random.
    """
    for number in range(decisions):
        if over(env):
            return
        yield number
        env.step(pick(env, rng, policy if rng.random() < 0.5 else RANDOM))


def pick(env: CardEnv, rng: np.random.Generator, policy: int = RANDOM) -> int:
    """A legal action of the seat to act."""
    legal = env.legal_actions()
    if policy == RANDOM:
        return legal[rng.integers(len(legal))]
    words = rng.integers(2**64, size=1, dtype=np.uint64)
    return env.game.loops.choose_one(view_of(env, seat_to_act(env)), mask_of(env), policy, words)


def view_of(env: CardEnv, seat: int) -> np.ndarray:
    """The view of a seat, shape (1,)."""
    view = new_states(env.game.state, 1)
    env.game.loops.view_one(env.states, seat, view)
    return view


def mask_of(env: CardEnv) -> np.ndarray:
    """The mask of the seat to act."""
    return env.observe(env.agent_selection)["action_mask"]


def seen(env: CardEnv, states: np.ndarray, seat: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
    """View, observation, mask and text of a seat in `states`, which may be those of another table of the same game."""
    view = new_states(env.game.state, 1)
    observation = np.empty(env.game.observation.size, np.int8)
    mask = np.empty(env.game.actions.size, np.int8)
    env.game.loops.observe_one(states, seat, view, observation, mask)
    return view, observation, mask, env.game.text(view.view(np.recarray)[0])


def differences(a: np.ndarray, b: np.ndarray) -> list[str]:
    """The fields in which two arrays of records differ; padding does not count."""
    assert a.dtype.names is not None
    return [name for name in a.dtype.names if not np.array_equal(a[name], b[name])]


def snapshot(env: CardEnv) -> dict[str, Any]:
    """All that an environment holds, in values of their own that compare with ==."""
    left_out = ("_view", "action_spaces", "observation_spaces")
    values = {name: copy.deepcopy(value) for name, value in vars(env).items() if name not in left_out}
    for name in ("states", "_blank"):
        values[name] = {field: values[name][field].tolist() for field in values[name].dtype.names}
    values |= {name: values[name].tolist() for name in ("_observation", "_mask", "_deck") if name in values}
    return values


def short_digest(*arrays: Any) -> str:
    """Eight hexadecimal digits of a digest of arrays."""
    total = hashlib.sha256()
    for array in arrays:
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()[:8]


def run_python(*arguments: str, cwd: Path = ROOT, environment: dict[str, str] | None = None, without: tuple[str, ...] = ()) -> str:
    """Output of a new Python process that can import the repository; fails with what it wrote if it fails."""
    variables = {name: value for name, value in os.environ.items() if name not in without}
    variables |= {"PYTHONPATH": str(ROOT), **(environment or {})}
    done = subprocess.run([sys.executable, *arguments], cwd=cwd, env=variables, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
    return done.stdout
