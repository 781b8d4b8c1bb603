"""Gymnasium environments: one learner at each table, the other seats played by given players."""

import copy
from collections.abc import Sequence
from typing import Any, Protocol

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from cardenvs.core.game import POLICIES, Game
from cardenvs.core.loops import EXTERNAL
from cardenvs.core.state import new_states
from cardenvs.envs.common import action_number, check_count, check_room, check_seed, find_game, lane_words, observation_space
from cardenvs.errors import IllegalAction, InvalidAction, InvalidOption, NotReset

ALLOWED = f"an opponent is {', '.join(map(repr, POLICIES))}, or an object with `reset` and `act` such as agents.make('ppo') gives"


class Opponent(Protocol):
    """A player in Python, such as those of `cardenvs.agents.make`."""

    def reset(self, game: Game, num_players: int, seat: int, seed: int) -> None:
        """A game begins."""

    def act(self, observation: np.ndarray, mask: np.ndarray, view: np.ndarray) -> int:
        """A legal action id, from the seat's own observation, mask and view."""


class CardGymVectorEnv(VectorEnv):
    """`num_envs` tables with one learner each; the other seats are played inside, and what the learner earns meanwhile arrives.

    Args:
        game: id such as `"recurrring-v0"`, or a `Game`.
        num_envs: number of tables N.
        num_players: seats of every table; None takes the game's usual number.
        opponents: `"random"`, `"easy"`, `"strong"` or an `Opponent` for all other seats, or a sequence of these, one for each of the
            N - 1 seats from the learner's left on. An object is copied for every table and seat (`copy.deepcopy`), so that each copy
            remembers one game, unless it has `act_batch`, as players have that remember nothing.
        seat: the learner's seat, or `"rotate"`: one further in each game (table i begins at seat i modulo N).
        options: the game's own options.

    Observations are int8 (N, n); `action_masks()` and `infos["action_mask"]` are int8 (N, a). A game that ends before the
    learner has acted is not shown: the next one is dealt. Autoreset is in the same step: `infos["final_obs"]` (N, n) holds the
    learner's last observation where `infos["_final_obs"]` says so. An illegal action raises `IllegalAction` and changes nothing.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": ["ansi"], "render_fps": 4}  # noqa: RUF012
    _autoreset = True

    def __init__(
        self,
        game: str | Game,
        num_envs: int = 1,
        num_players: int | None = None,
        *,
        opponents: str | Opponent | Sequence[str | Opponent] = "easy",
        seat: int | str = "rotate",
        render_mode: str | None = None,
        **options: Any,
    ):
        self.game = find_game(game)
        self._blank, self.options = self.game.configure(num_players, options)
        self.num_envs = check_room(self.game, check_count("num_envs", num_envs))
        self.num_players = int(self._blank["num_seats"][0])
        whole = isinstance(seat, int | np.integer) and not isinstance(seat, bool)
        if seat != "rotate" and not (whole and 0 <= int(seat) < self.num_players):
            raise InvalidOption(f"seat={seat!r} is not allowed: it must be 'rotate' or a whole number from 0 to {self.num_players - 1}")
        if render_mode not in (None, "ansi"):
            raise InvalidOption(f"render_mode={render_mode!r} is not allowed: it must be None or 'ansi'")
        self.render_mode = render_mode
        self._seat_option = seat
        others = self._check_opponents(opponents)
        self._opponents = [
            [other if hasattr(other, "act_batch") else copy.deepcopy(other) for other in others] for _ in range(self.num_envs)
        ]
        self.single_observation_space = observation_space(self.game)
        self.single_action_space = gymnasium.spaces.Discrete(self.game.actions.size)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

        seats, lanes = self.game.max_seats, num_envs
        self.states = new_states(self.game.state, lanes)
        self._view = new_states(self.game.state, 1)
        self._policies = np.full((lanes, seats), EXTERNAL, np.int8)
        self._seats = np.zeros(lanes, np.int64)
        self._games = np.zeros(lanes, np.int64)
        self._earned = np.zeros((lanes, seats))
        self._mask = np.zeros((lanes, self.game.actions.size), np.int8)
        self._observation = np.zeros((lanes, self.game.observation.size), np.int8)
        self._turn = np.zeros(lanes, np.int64)
        self._step_rewards = np.zeros((lanes, seats))
        self._ended = np.zeros((2, lanes), np.int8)
        self._scores = np.zeros((lanes, seats), np.int64)
        self.seed: int | None = None

    def _check_opponents(self, opponents: Any) -> list:
        others = self.num_players - 1
        if isinstance(opponents, str) or hasattr(opponents, "act"):
            opponents = [opponents] * others
        if not isinstance(opponents, Sequence):
            raise InvalidOption(f"opponents={opponents!r} is not allowed: give one for all, or {others}; {ALLOWED}")
        opponents = list(opponents)
        if len(opponents) != others:
            raise InvalidOption(f"{len(opponents)} opponents for {self.num_players} players: give one for all, or {others}")
        for opponent in opponents:
            if opponent not in POLICIES and not hasattr(opponent, "act"):
                raise InvalidOption(f"opponent {opponent!r} is not allowed; {ALLOWED}")
        return opponents

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Start the next game in every lane, or with `seed` the first of each; the seed in use is in `env.seed`."""
        if options:
            raise InvalidOption(f"reset has no option {', '.join(map(repr, options))} here")
        if seed is not None or self.seed is None:
            self.seed, words = lane_words(seed, self.num_envs)
            self.states["seeds"][:, 0] = words
            self._games[:] = 0
            chance = np.random.SeedSequence(self.seed, spawn_key=(1,))  # the opponents' own
            self._words = chance.generate_state(self.num_envs, np.uint64)
            self._seeder = np.random.default_rng(chance.spawn(1)[0])
        self._deal(np.arange(self.num_envs))
        return self._write()

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """The learners' decisions, shape (N,), and all others' up to the learners' next."""
        if self.seed is None:
            raise NotReset("the tables have no games yet: call reset first")
        lanes = np.arange(self.num_envs)
        if np.shape(actions) != (self.num_envs,):
            raise InvalidAction(f"actions must be whole numbers of shape ({self.num_envs},), not of shape {np.shape(actions)}")
        actions = np.array([action_number(action) for action in actions], np.int64)
        wrong = self.game.loops.find_illegal(lanes, actions, self._mask)
        if wrong >= 0:
            raise IllegalAction(
                f"action {actions[wrong]} of seat {self._seats[wrong]} in lane {wrong} of {self.game.id} is illegal: choose with "
                "action_masks(), and train and evaluate with an algorithm that uses it (such as MaskablePPO and its masked evaluation)"
            )
        self._earned[:] = 0
        self._step_lanes(lanes, actions)
        self._play_others(lanes)
        rewards = self._earned[lanes, self._seats]
        terminated, truncated = self.states["terminated"] == 1, self.states["truncated"] == 1
        observation, infos = self._write()
        over = self._over()
        if over.size and self._autoreset:
            final = observation
            self._deal(over)
            observation, infos = self._write()
            infos |= {"final_obs": final, "_final_obs": terminated | truncated}
        return observation, rewards, terminated, truncated, infos

    def action_masks(self) -> np.ndarray:
        """The learners' legal actions, int8 (N, a)."""
        return self._mask.copy()

    def render(self) -> tuple[str, ...] | None:
        """The learners' views as text, in mode `ansi`."""
        if self.render_mode is None:
            return None
        return tuple(self.game.text(self._view_of(lane, self._seats[lane])[0]) for lane in range(self.num_envs))

    def _deal(self, lanes: np.ndarray) -> None:
        """Start games in `lanes` and play to the learners' first decisions."""
        while lanes.size:
            self.game.loops.start_lanes(self.states, lanes, self._blank, np.zeros(0, np.int64))
            for lane in lanes:
                self._seat_players(lane)
            self._earned[lanes] = 0
            self._play_others(lanes)
            lanes = lanes[(self.states["terminated"] | self.states["truncated"])[lanes] == 1]

    def _write(self) -> tuple[np.ndarray, dict[str, Any]]:
        """Observations and infos of the learners now; where a game is over, of its end."""
        lanes = np.arange(self.num_envs)
        self.game.loops.write_turns(self.states, lanes, self._view, self._observation, self._mask, self._turn)
        for lane in self._over():
            self._observe(lane, self._observation[lane])
        return self._observation.copy(), {"action_mask": self._mask.copy(), "_action_mask": np.ones(self.num_envs, bool)}

    def _over(self) -> np.ndarray:
        """The lanes whose game is over."""
        return np.flatnonzero(self.states["terminated"] | self.states["truncated"])

    def _seat_players(self, lane: int) -> None:
        """Give the learner and the opponents their seats for a new game of a lane."""
        learner = (lane + self._games[lane]) % self.num_players if self._seat_option == "rotate" else int(self._seat_option)
        self._games[lane] += 1
        self._seats[lane] = learner
        for place, opponent in enumerate(self._opponents[lane], 1):
            seat = (learner + place) % self.num_players
            self._policies[lane, seat] = POLICIES.index(opponent) if isinstance(opponent, str) else EXTERNAL
            if not isinstance(opponent, str):
                opponent.reset(self.game, self.num_players, seat, int(self._seeder.integers(2**63)))
        self._policies[lane, learner] = EXTERNAL

    def _play_others(self, lanes: np.ndarray) -> None:
        """Play on until the learners are to act or the games are over."""
        while lanes.size:
            self.game.loops.play_lanes(
                self.states, lanes, self._policies, self._words, 0, self._view, np.zeros(self.game.actions.size, np.int8), self._earned
            )
            state = self.states[lanes]
            lanes = lanes[(state["terminated"] == 0) & (state["truncated"] == 0) & (state["seat"] != self._seats[lanes])]
            actions = np.zeros(self.num_envs, np.int64)
            for lane in lanes:
                seat = int(self.states["seat"][lane])
                observation = np.zeros_like(self._observation[0])
                mask = self._observe(lane, observation, seat)
                opponent = self._opponents[lane][(seat - self._seats[lane] - 1) % self.num_players]
                actions[lane] = action_number(opponent.act(observation, mask, self._view_of(lane, seat)))
                if not 0 <= actions[lane] < mask.size or not mask[actions[lane]]:
                    raise IllegalAction(f"opponent {opponent!r} at seat {seat} chose {actions[lane]}, which is illegal")
            self._step_lanes(lanes, actions)

    def _step_lanes(self, lanes: np.ndarray, actions: np.ndarray) -> None:
        """One decision in `lanes`; what it pays is added to `_earned`."""
        self.game.loops.step_lanes(
            self.states,
            lanes,
            actions,
            self._blank,
            0,
            self._view,
            self._observation,
            self._mask,
            self._turn,
            self._step_rewards,
            *self._ended,
            self._scores,
        )
        self._earned[lanes] += self._step_rewards[lanes]

    def _observe(self, lane: int, observation: np.ndarray, seat: int | None = None) -> np.ndarray:
        """Write the observation of a seat (None: the learner's) and return its mask."""
        mask = np.zeros(self.game.actions.size, np.int8)
        seat = int(self._seats[lane]) if seat is None else seat
        self.game.loops.observe_one(self.states[lane : lane + 1], seat, self._view, observation, mask)
        return mask

    def _view_of(self, lane: int, seat: int) -> np.ndarray:
        view = new_states(self.game.state, 1)
        self.game.loops.view_one(self.states[lane : lane + 1], int(seat), view)
        return view.view(np.recarray)


class _Table(CardGymVectorEnv):
    """A single table that stays as it is when its game is over."""

    _autoreset = False


class CardGymEnv(gymnasium.Env):
    """One table with one learner; the arguments are those of `CardGymVectorEnv`, less `num_envs`.

    Observations are int8 (n,), `action_masks()` and `info["action_mask"]` int8 (a,).
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}  # noqa: RUF012

    def __init__(self, game: str | Game, num_players: int | None = None, **options: Any):
        self._table = _Table(game, 1, num_players, **options)
        self.game = self._table.game
        self.num_players = self._table.num_players
        self.render_mode = self._table.render_mode
        self.observation_space = self._table.single_observation_space
        self.action_space = self._table.single_action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Start the next game, or with `seed` the first of its lane."""
        super().reset(seed=check_seed(seed))
        observation, infos = self._table.reset(seed=seed, options=options)
        return observation[0], {"action_mask": infos["action_mask"][0]}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """The learner's decision, and all others' up to its next."""
        if self._table.seed is not None and self._table._over().size:
            raise NotReset("the game is over: call reset")
        observation, rewards, terminated, truncated, infos = self._table.step(np.array([action_number(action)]))
        return observation[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), {"action_mask": infos["action_mask"][0]}

    def action_masks(self) -> np.ndarray:
        """The learner's legal actions, int8 (a,); zero when the game is over."""
        return self._table.action_masks()[0]

    def render(self) -> str | None:
        """The learner's view as text, in mode `ansi`."""
        shown = self._table.render()
        return shown[0] if shown else None
