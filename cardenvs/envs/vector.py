"""Many tables of a game that advance together."""

import copy
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from cardenvs.core.game import Game
from cardenvs.core.state import new_states
from cardenvs.envs.common import check_count, check_layout, check_room, find_game, lane_words, mask_space, observation_space
from cardenvs.errors import IllegalAction, InvalidAction, NotReset


class Batch(NamedTuple):
    """What `reset` and `step` return, one row for each of N tables."""

    observation: np.ndarray
    """int8 (N, n): features of the view of the seat to act."""
    action_mask: np.ndarray
    """int8 (N, a): its legal actions."""
    seat: np.ndarray
    """int64 (N,): the seat to act."""
    rewards: np.ndarray
    """float64 (N, seats): of all seats for the last decision."""
    terminated: np.ndarray
    """bool (N,): where the last decision ended a game; the next one is dealt already."""
    truncated: np.ndarray
    """bool (N,): where it reached the game's limit."""
    scores: np.ndarray
    """int64 (N, seats): final scores where a game ended, else 0."""


class CardVectorEnv:
    """`num_envs` tables (lanes) of a game. Where a game ends, the lane's next game is dealt in the same step.

    Args:
        game: id such as `"recurrring-v0"`, or a `Game`.
        num_envs: number of tables N.
        num_players: seats of every table; None takes the game's usual number.
        threads: threads that share the lanes; kernels run without the interpreter lock.
        copy: False hands out the same arrays every time, which the next step overwrites: faster.
        options: the game's own options.

    Lane i plays exactly what `CardEnv` plays from the i-th word of the seed (G-08).
    """

    def __init__(
        self, game: str | Game, num_envs: int, num_players: int | None = None, *, threads: int = 1, copy: bool = True, **options: Any
    ):
        num_envs, threads = check_count("num_envs", num_envs), check_count("threads", threads)
        self.game = find_game(game)
        self._blank, self.options = self.game.configure(num_players, options)
        self.num_envs = check_room(self.game, num_envs)
        self.num_players = int(self._blank["num_seats"][0])
        self.single_observation_space = observation_space(self.game)
        self.single_mask_space = mask_space(self.game)
        self.threads = min(threads, self.num_envs)
        self.copy = copy
        self.seed: int | None = None
        self.states = new_states(self.game.state, self.num_envs)
        self.lanes = np.arange(self.num_envs)
        seats = self.num_players
        self._batch = Batch(
            observation=np.zeros((self.num_envs, self.game.observation.size), np.int8),
            action_mask=np.zeros((self.num_envs, self.game.actions.size), np.int8),
            seat=np.zeros(self.num_envs, np.int64),
            rewards=np.zeros((self.num_envs, seats)),
            terminated=np.zeros(self.num_envs, np.int8),
            truncated=np.zeros(self.num_envs, np.int8),
            scores=np.zeros((self.num_envs, seats), np.int64),
        )
        self._views = [new_states(self.game.state, 1) for _ in range(self.threads)]
        self._pool: ThreadPoolExecutor | None = None
        self._pool_process = 0

    def reset(self, seed: int | None = None) -> Batch:
        """Start the next game in every lane, or with `seed` the first of each; the seed in use is in `env.seed`."""
        if seed is not None or self.seed is None:
            self.seed, words = lane_words(seed, self.num_envs)
            self.states["seeds"][:, 0] = words
        for array in self._batch:
            array[:] = 0
        self.game.loops.start_lanes(self.states, self.lanes, self._blank, np.zeros(0, np.int64))
        self._run("write_turns", self.lanes, (), self._batch[:3])
        return self._hand_out()

    def step(self, actions: np.ndarray, lanes: np.ndarray | None = None) -> Batch:
        """One decision in every lane, or in `lanes` only (distinct whole numbers below N); rows of other lanes stay as they are.

        `actions` is of shape (N,), whole numbers; entries of other lanes are ignored. If one is illegal, `IllegalAction`
        names lane, seat and action, and no lane has changed; other mistakes raise `InvalidAction`.
        """
        if self.seed is None:
            raise NotReset("the tables have no games yet: call reset first")
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise InvalidAction(f"actions must be whole numbers of shape ({self.num_envs},), not {actions.dtype} of shape {actions.shape}")
        lanes = self.lanes if lanes is None else self._check_lanes(lanes)
        actions = np.ascontiguousarray(actions, np.int64)
        wrong = self.game.loops.find_illegal(lanes, actions, self._batch.action_mask)
        if wrong >= 0:
            seat, action = self._batch.seat[wrong], actions[wrong]
            name = repr(self.game.actions.texts[action]) if 0 <= action < self.game.actions.size else "no action"
            raise IllegalAction(
                f"action {action} ({name}) of seat {seat} in lane {wrong} of {self.game.id} is illegal: choose with action_mask"
            )
        self._run("step_lanes", lanes, (actions, self._blank, 1), self._batch)
        return self._hand_out()

    def _check_lanes(self, lanes: Any) -> np.ndarray:
        lanes = np.asarray(lanes)
        if lanes.ndim == 1 and not lanes.size:
            return np.zeros(0, np.int64)
        if lanes.ndim != 1 or lanes.dtype.kind not in "iu" or not (lanes.min() >= 0 and lanes.max() < self.num_envs):
            raise InvalidAction(f"lanes must be whole numbers from 0 to {self.num_envs - 1} in one row, not {lanes!r}")
        if np.bincount(lanes).max() > 1:
            raise InvalidAction(f"lanes must be distinct, not {lanes!r}")
        return np.ascontiguousarray(lanes, np.int64)

    def scores(self) -> np.ndarray:
        """The printed scores of all running games now, int64 (N, seats) (G-13)."""
        out = np.zeros((self.num_envs, self.num_players), np.int64)
        for lane in range(self.num_envs):
            self.game.loops.scores_one(self.states[lane : lane + 1], out[lane])
        return out

    def close(self) -> None:
        """End the threads, if there are any."""
        if self._pool is not None and self._pool_process == os.getpid():
            self._pool.shutdown()
        self._pool = None

    def _run(self, loop: str, lanes: np.ndarray, before: tuple, after: tuple) -> None:
        """Call a loop over `lanes`, in as many slices as there are threads."""
        function: Callable[..., None] = getattr(self.game.loops, loop)
        if self.threads == 1:
            function(self.states, lanes, *before, self._views[0], *after)
            return
        if self._pool is None or self._pool_process != os.getpid():  # threads do not survive a fork
            self._pool, self._pool_process = ThreadPoolExecutor(self.threads), os.getpid()
        slices = zip(np.array_split(lanes, self.threads), self._views, strict=True)
        for done in [self._pool.submit(function, self.states, part, *before, view, *after) for part, view in slices]:
            done.result()

    def _hand_out(self) -> Batch:
        batch = Batch(*(array.copy() for array in self._batch)) if self.copy else self._batch
        return batch._replace(terminated=batch.terminated.view(np.bool_), truncated=batch.truncated.view(np.bool_))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pool": None}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        check_layout(saved["game"], saved["states"])
        self.__dict__.update(saved)

    def clone(self) -> "CardVectorEnv":
        """An independent copy: same games, same future chance."""
        return copy.deepcopy(self)
