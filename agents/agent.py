"""What a player is, and how one is made from a text."""

import importlib
import importlib.util
from importlib.machinery import ModuleSpec
from typing import Protocol, runtime_checkable

import numpy as np

from cardenvs.core.game import POLICIES, Game
from cardenvs.errors import CardEnvError, InvalidOption

SEARCHES = ("flat-mc", "ismcts")
"""Players that think for milliseconds."""

OWN_KINDS = ("checkpoint", "ppo", *SEARCHES)
"""What may stand before a colon and is no module: players of this package."""

ALLOWED = (
    f"{', '.join(POLICIES)}, flat-mc, flat-mc:BUDGET, ismcts, ismcts:BUDGET, ppo, ppo:sampling, human, checkpoint:PATH, "
    "checkpoint:PATH?greedy or module:Class"
)
"""The texts that `make` takes, for people."""


class UnknownAgent(CardEnvError, LookupError):
    """A text that stands for no player, or for one that cannot be loaded."""


class MissingExtra(CardEnvError, ImportError):
    """A player that needs a package which is not installed."""


class Agent(Protocol):
    """A player, who holds one seat of one table at a time."""

    name: str

    def reset(self, game: Game, num_players: int, seat: int, seed: int) -> None:
        """A game starts: this player holds `seat`. `seed` is a whole number below 2**64, for a generator of the player's own.

        The game's options are fields of the view.
        """

    def act(self, observation: np.ndarray, mask: np.ndarray, view: np.ndarray) -> int:
        """The id of a legal action.

        `observation` int8 (n,) and `mask` int8 (a,) are the seat's, `view` is its view as records of shape (1,).
        All are the player's to keep.
        """


@runtime_checkable
class BatchAgent(Protocol):
    """What a player may offer beside `Agent`: many decisions at once, at different tables and seats.

    Nothing is kept between decisions, so that one such player may hold several seats. If it has `reset` too, that is called
    once per position before a match that is played in batches.
    """

    name: str

    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Ids of legal actions, whole numbers of shape (k,), for observations int8 (k, n) and masks int8 (k, a)."""


class BatchPlayer:
    """An `Agent` by its `act_batch`: one decision is a batch of one, with a generator of the player's own."""

    def reset(self, game: Game, num_players: int, seat: int, seed: int) -> None:
        """Start the generator; see `Agent.reset`."""
        self._rng = np.random.default_rng(seed)

    def act(self, observation: np.ndarray, mask: np.ndarray, view: np.ndarray) -> int:
        """A legal action; see `Agent.act`."""
        return int(self.act_batch(observation[None], mask[None], self._rng)[0])

    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """See `BatchAgent.act_batch`."""
        raise NotImplementedError


class CompiledAgent:
    """One of the policies that every game has as a kernel; `policy` is its place in `cardenvs.core.game.POLICIES`."""

    def __init__(self, policy: int):
        if not 0 <= policy < len(POLICIES):
            raise InvalidOption(f"policy={policy!r} is not allowed: it must be a place in {POLICIES}")
        self.policy = policy
        self.name = POLICIES[policy]

    def reset(self, game: Game, num_players: int, seat: int, seed: int) -> None:
        """Start the policy's generator at the word `seed`."""
        self._game = game
        self._words = np.array([seed], np.uint64)

    def act(self, observation: np.ndarray, mask: np.ndarray, view: np.ndarray) -> int:
        """The policy's choice; see `Agent.act`."""
        view, mask = np.ascontiguousarray(view, self._game.state), np.ascontiguousarray(mask, np.int8)
        return int(self._game.loops.choose_one(view, mask, self.policy, self._words))


def find_module(name: str) -> ModuleSpec | None:
    """Where a module would be loaded from, None if there is none. Packages that it lies in are imported."""
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None


def make(spec: str) -> Agent:
    """The player that a text stands for; raises `UnknownAgent` with the texts there are.

    `random`, `easy`, `strong`: the policies of every game. `flat-mc`, `ismcts`: search, with a budget as in `ismcts:500`
    (playouts) or `ismcts:50ms`. `ppo`: the trained network that comes with the game, which takes its likeliest action, or
    with `ppo:sampling` draws one. `human`: a person at the terminal. `checkpoint:PATH`: a trained network, which draws its
    actions, or as `checkpoint:PATH?greedy` takes the likeliest (see `cardenvs.agents.network.NetworkAgent`).
    `module:Class`: any class that is made without arguments and is an `Agent`; its code runs here.
    """
    kind, _, rest = spec.partition(":")
    if spec in POLICIES:
        return CompiledAgent(POLICIES.index(spec))
    if kind in SEARCHES:
        from cardenvs.agents.search import FlatMonteCarlo, TreeSearch

        searcher = FlatMonteCarlo if kind == "flat-mc" else TreeSearch
        return searcher(rest)
    if spec == "human":
        from cardenvs.agents.human import HumanAgent

        return HumanAgent()
    if (kind == "checkpoint" and rest) or spec in ("ppo", "ppo:sampling"):
        try:
            from cardenvs.agents.network import NetworkAgent, ShippedNetwork

            return NetworkAgent(rest) if kind == "checkpoint" else ShippedNetwork(greedy=spec == "ppo")
        except ImportError as error:
            raise MissingExtra(
                f"{spec} needs {error.name}: pip install {error.name}, or all for training: pip install 'cardenvs[train]'"
            ) from error
    if kind and rest and kind not in OWN_KINDS:
        try:
            found = getattr(importlib.import_module(kind), rest)
        except (ImportError, AttributeError) as error:
            raise UnknownAgent(f"the player {spec!r} cannot be loaded: {error}") from error
        return found()
    raise UnknownAgent(f"no player is called {spec!r}; there are {ALLOWED}")
