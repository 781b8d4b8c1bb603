"""The PettingZoo environment of every game."""

import copy
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from cardenvs.core import loops
from cardenvs.core.game import Game
from cardenvs.core.state import new_states
from cardenvs.envs import record
from cardenvs.envs.common import action_number, check_layout, find_game, lane_words, mask_space, observation_space, reset_deck
from cardenvs.errors import IllegalAction, InvalidAction, InvalidOption, NotReset

RENDER_MODES = ["ansi", "human"]
_LANE = np.zeros(1, np.int64)
_SET_BY_RESET = {"agents", "num_agents", "agent_selection", "rewards", "terminations", "truncations", "infos", "_cumulative_rewards"}


class CardEnv(AECEnv):
    """One table of a game.

    Args:
        game: id such as `"recurrring-v0"`, or a `Game`.
        num_players: seats; None takes the game's usual number.
        render_mode: None, `"ansi"` (`render()` returns the text) or `"human"` (it is printed after `reset` and each step).
        illegal_action: `"raise"` raises `IllegalAction` and changes nothing; `"loss"` ends the game: -1 for the
            offender, 1 / (N - 1) for each other seat, in place of all further rewards.
        options: the game's own options, with `reward="win" | "score"`.

    Agents are `player_0` … in clockwise order. An observation is `{"observation": int8[n], "action_mask": int8[a]}` of 0/1
    features of the agent's own view, the same for every number of players; the mask is zero unless the agent is to act.
    Infos are empty. Raises `InvalidOption`, `InvalidAction`, `IllegalAction`, `InvalidDeck`, `InvalidSeed`, `NotReset`.
    """

    def __init__(
        self,
        game: str | Game,
        num_players: int | None = None,
        *,
        render_mode: str | None = None,
        illegal_action: str = "raise",
        **options: Any,
    ):
        self.game = find_game(game)
        self._blank, self.options = self.game.configure(num_players, options)
        self.metadata = {
            "name": self.game.id.replace("-", "_"),
            "render_modes": ["ansi", "human"],
            "is_parallelizable": False,
            "render_fps": 4,
        }
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise InvalidOption(f"render_mode={render_mode!r} is not allowed: it must be None or 'ansi' or 'human'")
        if illegal_action not in ("raise", "loss"):
            raise InvalidOption(f"illegal_action={illegal_action!r} is not allowed: it must be 'raise' or 'loss'")
        self.render_mode = render_mode
        self.illegal_action = illegal_action
        self.num_players = int(self._blank["num_seats"][0])
        self.possible_agents = [f"player_{seat}" for seat in range(self.num_players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        box: dict[str, spaces.Space] = {"observation": observation_space(self.game), "action_mask": mask_space(self.game)}
        self.observation_spaces = {agent: spaces.Dict(copy.deepcopy(box)) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(self.game.actions.size) for agent in self.possible_agents}
        self.state_space = spaces.Box(0, 1, (self.game.max_seats * self.game.observation.size,), np.int8)

        self.states = new_states(self.game.state, 1)
        self._view = new_states(self.game.state, 1)
        self._observation = np.zeros(self.game.observation.size, np.int8)
        self._mask = np.zeros(self.game.actions.size, np.int8)
        self.seed: int | None = None
        self._started = False

    def __getattr__(self, name: str) -> Any:
        if name in _SET_BY_RESET:
            raise NotReset(f"there is no {name} yet: call reset first")
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def observation_space(self, agent: str) -> spaces.Dict:
        """The agent's observation space, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The agent's action space, always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start the next game of this lane (G-08), or with `seed` the first of the lane that it stands for.

        `options={"deck": [...]}` fixes the deal: the game's whole deck, as card texts in the order in which it lies after
        the first shuffle; other keys are ignored. The seed of the lane is in `env.seed`, also if it came from the operating system.
        """
        deck = reset_deck(self.game, options, self.num_players, self.options)
        if seed is not None or self.seed is None:
            self.seed, words = lane_words(seed, 1)
            self.states["seeds"][0] = words[0]
        self._lane_word = int(self.states["seeds"][0, 0])
        self._deck = deck
        self._begin()
        if self.render_mode == "human":
            self.render()

    def _begin(self) -> None:
        """Deal from the lane's word and the deck that are set, and clear what the last game left."""
        self.game.loops.start_lanes(self.states, _LANE, self._blank, self._deck)
        self._seat = int(self.states["seat"][0])
        self.game.loops.observe_one(self.states, self._seat, self._view, self._observation, self._mask)
        self._history: list[int] = []
        self._started = True
        self._over = False
        self._paid = False
        self.agents = self.possible_agents[:]
        self.agent_selection = self.agents[self._seat]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None

    def step(self, action: Any) -> None:
        """Play the action id of `agent_selection`; None once that agent is done."""
        self._check_started()
        if self._over:
            self._step_done(action)
            return
        number = action if type(action) is int else action_number(action)
        if not 0 <= number < self._mask.size:
            raise InvalidAction(f"action {number} of {self.agent_selection} does not exist: ids are 0 … {self._mask.size - 1}")
        if self._mask[number]:
            seat = self.game.loops.step_one(self.states, number, self._view, self._observation, self._mask)
        else:
            seat = self._step_illegal(number)
        self._history.append(number)
        self._cumulative_rewards[self.agent_selection] = 0.0
        self._seat = seat % loops.NEWS
        self.agent_selection = self.possible_agents[self._seat]
        if seat >= loops.NEWS or self._paid:
            self._publish()
        if self.render_mode == "human":
            self.render()

    def _step_done(self, action: Any) -> None:
        """The step of an agent whose game is over."""
        if not self.agents:
            raise InvalidAction("the game is over and all agents are done: call reset")
        if action is not None:
            raise InvalidAction(f"{self.agent_selection} is done: the only action it may give is None, not {action!r}")
        self._was_dead_step(None)

    def _step_illegal(self, action: int) -> int:
        """Refuse, or with `illegal_action="loss"` end the game with the offender alone losing."""
        if self.illegal_action == "raise":
            allowed = ", ".join(self.game.actions.texts[legal] for legal in self.legal_actions())
            raise IllegalAction(
                f"action {action} ({self.game.actions.texts[action]}) of {self.agent_selection} is illegal now; legal are: {allowed}. "
                "Choose with the action mask (observation['action_mask'])."
            )
        self.states["terminated"] = 1
        self.states["rewards"][0, : self.num_players] = 1 / (self.num_players - 1)
        self.states["rewards"][0, self._seat] = -1.0
        self._mask[:] = 0
        return self._seat + loops.NEWS

    def _publish(self) -> None:
        """Bring PettingZoo's dictionaries up to date when somebody is or was paid, or the game is over."""
        rewards = self.states["rewards"][0, : self.num_players].tolist()
        self._paid = any(rewards)
        self.rewards = dict(zip(self.agents, rewards, strict=True))
        self._accumulate_rewards()
        terminated, truncated = bool(self.states["terminated"][0]), bool(self.states["truncated"][0])
        if terminated or truncated:
            self._over = True
            self.terminations = dict.fromkeys(self.agents, terminated)
            self.truncations = dict.fromkeys(self.agents, truncated)
            self._deads_step_first()

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """Observation and mask of any agent, own arrays of the caller; changes nothing."""
        seat = self._seat_of(agent)
        if seat == self._seat and not self._over:
            return {"observation": self._observation.copy(), "action_mask": self._mask.copy()}
        observation = np.empty(self.game.observation.size, np.int8)
        mask = np.empty(self.game.actions.size, np.int8)
        self.game.loops.observe_one(self.states, seat, self._view, observation, mask)
        return {"observation": observation, "action_mask": mask}

    def view(self, agent: str) -> np.ndarray:
        """What the agent may know, as a record of the game's dtype, shape (1,); fields are read as attributes too."""
        view = new_states(self.game.state, 1)
        self.game.loops.view_one(self.states, self._seat_of(agent), view)
        return view.view(np.recarray)

    def state(self) -> np.ndarray:
        """For centralised critics, what all seats know together: their observations from player_0 on, absent seats zero, int8.

        Nobody knows the order of a face-down pile, which is in `env.states` alone.
        """
        self._check_started()
        rows = np.zeros((self.game.max_seats, self.game.observation.size), np.int8)
        mask = np.empty(self.game.actions.size, np.int8)
        for seat in range(self.num_players):
            self.game.loops.observe_one(self.states, seat, self._view, rows[seat], mask)
        return rows.ravel()

    def legal_actions(self) -> list[int]:
        """Ids of the legal actions of the seat to act; empty when the game is over."""
        self._check_started()
        return self._mask.nonzero()[0].tolist()

    def action_text(self, action: int) -> str:
        """The text of an action id."""
        return self.game.actions.text(action_number(action))

    def action_id(self, text: str) -> int:
        """The id of an action text."""
        return self.game.actions.id(text)

    def describe_observation(self, observation: np.ndarray) -> dict[str, Any]:
        """Names and values of an observation; lists over seats begin with its owner."""
        return self.game.observation.describe(observation)

    def scores(self) -> list[int]:
        """The printed scores of all seats now (G-13)."""
        self._check_started()
        scores = np.zeros(self.game.max_seats, np.int64)
        self.game.loops.scores_one(self.states, scores)
        return scores[: self.num_players].tolist()

    def text(self, agent: str | None = None) -> str:
        """The table as text, from the view of an agent (None: the one to act)."""
        self._check_started()
        return self.game.text(self.view(agent or self.possible_agents[self._seat])[0])

    def render(self) -> str | None:
        """The view of the agent to act as text: returned in mode `ansi`, printed in mode `human`."""
        self._check_started()
        if self.render_mode == "ansi":
            return self.text()
        if self.render_mode == "human":
            print(self.text(), end="\n\n")
        return None

    def close(self) -> None:
        """Nothing to release."""

    def clone(self) -> "CardEnv":
        """An independent copy: same game, same future chance."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        for name in ("states", "_view", "_observation", "_mask"):
            twin.__dict__[name] = self.__dict__[name].copy()
        if self._started:
            twin._history = self._history[:]
            twin.agents = self.agents[:]
            for name in ("rewards", "_cumulative_rewards", "terminations", "truncations"):
                twin.__dict__[name] = self.__dict__[name].copy()
            twin.infos = {agent: {} for agent in self.infos}
        return twin

    def __setstate__(self, saved: dict[str, Any]) -> None:
        check_layout(saved["game"], saved["states"])
        self.__dict__.update(saved)

    def record(self) -> dict[str, Any]:
        """The game so far as plain JSON values, for `cardenvs.replay`."""
        self._check_started()
        return record.record(self)

    def _check_started(self) -> None:
        if not self._started:
            raise NotReset("this needs a game: call reset first")

    def _seat_of(self, agent: str) -> int:
        self._check_started()
        if agent not in self._seats:
            raise InvalidOption(f"no agent is called {agent!r}; agents are {', '.join(self.possible_agents)}")
        return self._seats[agent]
