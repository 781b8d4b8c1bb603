"""Self-play for MaskablePPO: every seat of every table is a learner, and each seat's trajectory is kept apart.

`SeatVecEnv` has one row for each table: what the seat to act there sees and may do. `SeatRolloutBuffer` tells the rows of
different seats apart, so that a reward reaches the seat that earned it and a value is bootstrapped from that seat's own view.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer
from stable_baselines3.common.vec_env import VecEnv

from cardenvs.agents.agent import BatchAgent
from cardenvs.core.game import POLICIES, Game
from cardenvs.core.loops import EXTERNAL
from cardenvs.core.state import new_states
from cardenvs.envs.vector import CardVectorEnv
from cardenvs.errors import CardEnvError

NOBODY = -1
"""Opponent of a table where all seats learn."""


class EmptyMask(CardEnvError):
    """A seat was to act without any legal action."""


class Pool:
    """The opponents at some of the tables: compiled players, and the latest snapshots of the learner.

    An opponent is known by its number: the place in `POLICIES`, or for snapshots one number after the other.
    """

    def __init__(self, players: Sequence[str], recent: int):
        self.policies = [POLICIES.index(player) for player in players]
        self.recent = recent
        self.snapshots: dict[int, BatchAgent] = {}
        self.latest: list[int] = []
        self.count = 0

    def add(self, snapshot: BatchAgent) -> int:
        """Add a snapshot, which takes the place of the oldest if there are `recent` others; returns its number."""
        number = len(POLICIES) + self.count
        self.count += 1
        self.snapshots[number] = snapshot
        self.latest = [*self.latest, number][-self.recent :] if self.recent else []
        return number

    def forget(self, playing: np.ndarray) -> None:
        """Drop the snapshots that are neither among the latest nor in `playing`, the opponents of the running games."""
        kept = {*self.latest, *playing.tolist()}
        self.snapshots = {number: agent for number, agent in self.snapshots.items() if number in kept}

    def draw(self, rng: np.random.Generator) -> int:
        """An opponent: a compiled player or a snapshot with the same chance, if there are both."""
        kinds = [kind for kind in (self.policies, self.latest) if kind]
        return int(rng.choice(kinds[rng.integers(len(kinds))])) if kinds else NOBODY


class SeatVecEnv(VecEnv):
    """Tables of a game for self-play; row i is the seat to act at table i.

    Args:
        game: id, or a `Game`.
        num_tables: rows.
        num_players: seats of every table; None takes the game's usual number.
        seed: of the deals, the compiled opponents and who plays where.
        pool: opponents; None for self-play alone.
        pool_share: share of the tables (the last ones) where an opponent holds some seats. Who and how many is drawn when a
            game starts and stays until it ends.
        one_learner: at those tables an opponent holds all seats but one.
        shaping: what a point of score above the mean of the table is worth while the game runs. It is paid when it is made and
            taken back at the end (A. Y. Ng, D. Harada and S. Russell, "Policy invariance under reward transformations", 1999).
        options: the game's own.

    A decision with one legal action and the decisions of opponents are played inside: every row is a learner's choice.
    After each step hold for the choices just made, until the next step: `acted` int64 (N,) the seats that made them, `paid`
    float64 (N, seats) what each seat earned up to the next choice or the end of the game, and `ended` bool (N,).
    `decisions` counts all decisions so far, `games` the finished games.
    Truncated games have their final rewards (G-04), so that an end is an end. Raises `EmptyMask`, `IllegalAction`.
    """

    def __init__(
        self,
        game: str | Game,
        num_tables: int,
        num_players: int | None = None,
        *,
        seed: int = 0,
        pool: Pool | None = None,
        pool_share: float = 0.2,
        one_learner: bool = False,
        shaping: float = 0.0,
        **options: Any,
    ):
        self.tables = CardVectorEnv(game, num_tables, num_players, copy=False, **options)
        self.game, self.num_players = self.tables.game, self.tables.num_players
        self.render_mode = None
        super().__init__(num_tables, self.tables.single_observation_space, spaces.Discrete(self.game.actions.size))
        self.pool = pool or Pool((), 0)
        self.pool_tables = range(num_tables - round(num_tables * pool_share) if pool else num_tables, num_tables)
        self.one_learner = one_learner
        streams = np.random.SeedSequence(seed).spawn(3)
        self._first_seed = int(streams[0].generate_state(1, np.uint64)[0])
        self.words = streams[1].generate_state(num_tables, np.uint64)
        self.rng = np.random.default_rng(streams[2])

        seats = self.num_players
        self.opponents = np.full(num_tables, NOBODY)
        self.learns = np.ones((num_tables, seats), bool)
        self.policies = np.full((num_tables, seats), EXTERNAL, np.int8)
        self.acted = np.zeros(num_tables, np.int64)
        self.paid = np.zeros((num_tables, seats))
        self.ended = np.zeros(num_tables, bool)
        self.decisions = self.games = 0
        self.shaping = shaping
        self._earned = np.zeros((num_tables, seats))
        self._scores = np.zeros((num_tables, seats), np.int64)
        self._blank, _ = self.game.configure(seats, options)
        self._view = new_states(self.game.state, 1)
        self._mask = np.zeros(self.game.actions.size, np.int8)
        self._no_deck = np.zeros(0, np.int64)
        self._infos: list[dict[str, Any]] = [{} for _ in range(num_tables)]

    def reset(self) -> np.ndarray:
        """Start the next game at every table, at first the first ones of the seed; returns the observations, int8 (N, n)."""
        self.now = self.tables.reset(self._first_seed if self.tables.seed is None else None)
        self.ended[:] = True
        self._start_games(self.tables.lanes)
        self._play_others()
        self._potential = self._worth()
        return self.now.observation.copy()

    def step_async(self, actions: np.ndarray) -> None:
        """The choices for all tables, int64 (N,)."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Observations of the next choices, what the seats that acted earned so far (float32), ends, and empty infos."""
        self.acted[:] = self.now.seat
        self.tables.step(self._actions)
        self.decisions += self.num_envs
        self.paid[:] = self.now.rewards
        self.ended[:] = self.now.terminated | self.now.truncated
        self.games += int(self.ended.sum())
        self._start_games(np.flatnonzero(self.ended))
        self._play_others()
        if self.shaping:
            before, self._potential = self._potential, self._worth()
            self.paid += np.where(self.ended[:, None], 0, self._potential) - before
        earned = self.paid[self.tables.lanes, self.acted].astype(np.float32)
        return self.now.observation.copy(), earned, self.ended.copy(), self._infos

    def action_masks(self) -> np.ndarray:
        """The legal actions of all rows, int8 (N, a); raises `EmptyMask` if a row has none."""
        self._count_choices(self.tables.lanes)
        return self.now.action_mask

    def choices_of(self, player: int | BatchAgent) -> np.ndarray:
        """What a player would choose at every table, int64 (N,); a compiled one is given by its place in `POLICIES`."""
        if isinstance(player, BatchAgent):
            return player.act_batch(self.now.observation.copy(), self.now.action_mask.copy(), self.rng)
        actions = np.empty(self.num_envs, np.int64)
        lanes = self.tables.lanes
        self.game.loops.choose_turns(self.tables.states, lanes, player, self.words, self._view, self.now.action_mask, actions)
        return actions

    def seat_observations(self) -> np.ndarray:
        """What every seat sees now, whoever is to act: int8 (N, seats, n)."""
        views = np.zeros((self.num_envs, self.num_players, self.game.observation.size), np.int8)
        states = self.tables.states
        observe = self.game.loops.observe_one
        for table in range(self.num_envs):
            for seat in range(self.num_players):
                observe(states[table : table + 1], seat, self._view, views[table, seat], self._mask)
        return views

    def _worth(self) -> np.ndarray:
        """The potential of every seat at every table now: its score above the mean, times `shaping`."""
        if self.shaping:
            self.game.loops.scores_lanes(self.tables.states, self.tables.lanes, self._scores)
        return self.shaping * (self._scores - self._scores.mean(axis=1, keepdims=True))

    def _count_choices(self, lanes: np.ndarray) -> np.ndarray:
        choices = self.now.action_mask[lanes].sum(axis=1, dtype=np.int64)
        if not choices.all():
            lane = lanes[choices.argmin()]
            raise EmptyMask(
                f"{self.game.id}: seat {self.now.seat[lane]} at table {lane} is to act at step {self.tables.states['steps'][lane]} "
                "of its game and has no legal action"
            )
        return choices

    def _start_games(self, lanes: np.ndarray) -> None:
        """Games start in these lanes: draw who holds which seats where the pool plays."""
        for lane in lanes[lanes >= self.pool_tables.start]:
            opponent = self.pool.draw(self.rng)
            seats = self.rng.permutation(self.num_players)
            seats = seats[: self.num_players - 1 if self.one_learner else self.rng.integers(1, self.num_players)]
            self.opponents[lane] = opponent
            self.learns[lane] = True
            self.policies[lane] = EXTERNAL
            if opponent != NOBODY:
                self.learns[lane, seats] = False
                self.policies[lane, seats] = opponent if opponent < len(POLICIES) else EXTERNAL

    def _play_others(self) -> None:
        """Play on until a learner has a choice at every table."""
        lanes = self.tables.lanes
        while True:
            seats = self.now.seat[lanes]
            forced = self._count_choices(lanes) == 1
            others = forced | ~self.learns[lanes, seats]
            asked = others & ~forced & (self.policies[lanes, seats] == EXTERNAL)
            snapshots, lanes, played = lanes[asked], lanes[others], lanes[others & ~asked]
            if not len(lanes):
                return
            self._play_compiled(played)
            if len(snapshots):
                self._play_snapshots(snapshots)

    def _play_compiled(self, lanes: np.ndarray) -> None:
        """Decisions of compiled opponents and those without a choice."""
        loops, states = self.game.loops, self.tables.states
        self._earned[lanes] = 0
        self.decisions += loops.play_lanes(states, lanes, self.policies, self.words, 1, self._view, self._mask, self._earned)
        over = lanes[(states["terminated"][lanes] | states["truncated"][lanes]) != 0]
        self._pay(lanes, self._earned[lanes], over)
        loops.start_lanes(states, over, self._blank, self._no_deck)
        loops.write_turns(states, lanes, self._view, self.now.observation, self.now.action_mask, self.now.seat)

    def _play_snapshots(self, lanes: np.ndarray) -> None:
        """One decision of each snapshot that is to act in `lanes`."""
        actions = np.zeros(self.num_envs, np.int64)
        opponents = self.opponents[lanes]
        for opponent in np.unique(opponents):
            rows = lanes[opponents == opponent]
            actions[rows] = self.pool.snapshots[opponent].act_batch(self.now.observation[rows], self.now.action_mask[rows], self.rng)
        self.tables.step(actions, lanes)
        self.decisions += len(lanes)
        self._pay(lanes, self.now.rewards[lanes], lanes[(self.now.terminated | self.now.truncated)[lanes] != 0])

    def _pay(self, lanes: np.ndarray, rewards: np.ndarray, over: np.ndarray) -> None:
        """Add what was earned by others' decisions; after an end it belongs to the next game, where nobody has chosen yet."""
        self.paid[lanes] += np.where(self.ended[lanes, None], 0, rewards)
        self.ended[over] = True
        self.games += len(over)
        self._start_games(over)

    def save(self) -> dict[str, Any]:
        """All that a later process needs to go on exactly here, as arrays and plain values; the pool's snapshots by number."""
        arrays = {name: getattr(self, name).copy() for name in ("words", "opponents", "learns", "policies")}
        return {
            **arrays,
            "states": self.tables.states.view(np.uint8).copy(),
            "seed": self.tables.seed,
            "rng": self.rng.bit_generator.state,
            "decisions": self.decisions,
            "games": self.games,
            "pool_count": self.pool.count,
            "pool_latest": self.pool.latest,
        }

    def load(self, saved: dict[str, Any], snapshots: Mapping[int, BatchAgent]) -> np.ndarray:
        """Go on from what `save` returned, with the pool's snapshots by number; returns the observations."""
        self.now = self.tables.reset(0)
        for name in ("words", "opponents", "learns", "policies"):
            getattr(self, name)[:] = saved[name]
        self.tables.states[:] = saved["states"].view(self.game.state)
        self.tables.seed = saved["seed"]
        self.rng.bit_generator.state = saved["rng"]
        self.decisions, self.games = saved["decisions"], saved["games"]
        self.pool.count, self.pool.latest = saved["pool_count"], list(saved["pool_latest"])
        self.pool.snapshots = dict(snapshots)
        turn = (self.now.observation, self.now.action_mask, self.now.seat)
        self.game.loops.write_turns(self.tables.states, self.tables.lanes, self._view, *turn)
        self._potential = self._worth()
        return self.now.observation.copy()

    def close(self) -> None:
        """Close the tables."""
        self.tables.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The attribute, once for each of the tables asked for."""
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: the tables have no attributes of their own."""
        raise AttributeError(f"{attr_name} cannot be set at single tables")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """The rows of what the method returns for all tables."""
        rows = getattr(self, method_name)(*method_args, **method_kwargs)
        return list(rows if indices is None else rows[list(self._get_indices(indices))])

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """No table is wrapped."""
        return [False] * len(list(self._get_indices(indices)))


class SeatRolloutBuffer(MaskableRolloutBuffer):
    """A rollout buffer for the rows of a `SeatVecEnv`, which belong to different seats.

    `attach` must be called before it is filled. The rewards and ends that are added are not used: those of `env` are.
    """

    env: SeatVecEnv
    value_of: Callable[[np.ndarray], np.ndarray]

    def attach(self, env: SeatVecEnv, value_of: Callable[[np.ndarray], np.ndarray]) -> None:
        """Take seats, rewards and ends from `env`, and the values of observations (k, n) from `value_of`, float of shape (k,)."""
        self.env, self.value_of = env, value_of
        self.seats = np.zeros((self.buffer_size, self.n_envs), np.int64)
        self.paid = np.zeros((self.buffer_size, self.n_envs, env.num_players), np.float32)
        self.ended = np.zeros((self.buffer_size, self.n_envs), bool)

    def add(self, *args: Any, **kwargs: Any) -> None:
        """Store a row of every table; see `MaskableRolloutBuffer.add`."""
        self.seats[self.pos] = self.env.acted
        self.paid[self.pos] = self.env.paid
        self.ended[self.pos] = self.env.ended
        super().add(*args, **kwargs)

    def compute_returns_and_advantage(self, last_values: Any, dones: np.ndarray) -> None:
        """Generalized advantages along each seat's own choices, in games that end for all seats at once.

        Each seat's value at the end of the rollout is that of its own view, so `last_values` (of the seats to act) are not used.
        """
        views = self.env.seat_observations()
        next_value = self.value_of(views.reshape(-1, views.shape[-1])).reshape(views.shape[:2]).astype(np.float32)
        next_advantage = np.zeros_like(next_value)
        earned = np.zeros_like(next_value)
        tables = np.arange(self.n_envs)
        for t in reversed(range(self.buffer_size)):
            for array in (next_value, next_advantage, earned):
                array[self.ended[t]] = 0
            earned += self.paid[t]
            own = tables, self.seats[t]
            delta = earned[own] + self.gamma * next_value[own] - self.values[t]
            self.advantages[t] = delta + self.gamma * self.gae_lambda * next_advantage[own]
            next_advantage[own], next_value[own], earned[own] = self.advantages[t], self.values[t], 0
        self.returns = self.advantages + self.values


class StubVecEnv(SeatVecEnv):
    """No game at all: every row stays as it was after `reset`. What a learner reaches on it is its own ceiling."""

    def reset(self) -> np.ndarray:
        """The rows; see `SeatVecEnv.reset`."""
        rows = super().reset()
        self._views = super().seat_observations()
        return rows

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """The same rows again, no rewards and no ends."""
        self.acted = (self.acted + 1) % self.num_players
        self.paid[:], self.ended[:] = 0, False
        return self.now.observation, np.zeros(self.num_envs, np.float32), self.ended.copy(), self._infos

    def seat_observations(self) -> np.ndarray:
        """What the seats saw after `reset`."""
        return self._views
