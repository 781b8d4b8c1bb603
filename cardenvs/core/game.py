"""The contract between a game folder and everything else."""

import functools
import inspect
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from cardenvs import registry
from cardenvs.core import jit, loops
from cardenvs.core.encoding import ActionTable, ObservationTable
from cardenvs.core.state import new_states
from cardenvs.errors import InvalidDeck, InvalidOption

POLICIES = ("random", "easy", "strong")
"""Policies that every game has as kernels; their place is their number in compiled loops."""


@dataclass(frozen=True)
class Option:
    """A constructor option: one of `choices`, or a whole number from `low` to `high`; None too where `none` says so.

    The record holds the place among the choices, the number itself, or 0 for None.
    """

    default: Any
    meaning: str
    choices: tuple = ()
    low: int = 1
    high: int = 1_000_000
    none: bool = False

    @property
    def allowed(self) -> str:
        """The allowed values, for people."""
        if self.choices:
            return " or ".join(map(repr, self.choices))
        return f"a whole number from {self.low} to {self.high}" + (" or None" if self.none else "")

    def encode(self, name: str, value: Any) -> int:
        """The number that the record holds for `value`; raises `InvalidOption` with the allowed values."""
        for number, choice in enumerate(self.choices):
            if type(value) is type(choice) and value == choice:
                return number
        if self.none and value is None:
            return 0
        if not self.choices and not isinstance(value, bool | np.bool_):
            try:
                if self.low <= (number := operator.index(value)) <= self.high:
                    return number
            except TypeError:
                pass
        raise InvalidOption(f"{name}={value!r} is not allowed: it must be {self.allowed}")


def plain(value: Any) -> Any:
    """NumPy's numbers, booleans and texts as Python's own, other values as they are."""
    return value.item() if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.shape) else value


REWARD = Option("win", "what is paid: the game's win (G-10) or the scores (G-11)", choices=("win", "score"))


KERNELS = ("deal", "legal_actions", "step", "hide", "resample", "observe", "scores", "choose_easy", "choose_strong")


@dataclass(frozen=True, eq=False)
class Game:
    """A game: its tables, and its kernels over records of `state` (see CONTRIBUTING.md, "Add a game").

    Kernels, all compiled:

    * `deal(state, deck)`: start a game in a record whose generator words and options are set, all else blank;
      `deck` is empty, or the card ids that take the place of the first shuffle's result (its draws are made all the same).
    * `legal_actions(state, mask)`: set to 1 the legal actions of the seat to act in `mask`, int8 zeros of shape (actions.size,).
    * `step(state, action)`: apply a legal action and all that follows by itself; writes `rewards` (zeros before) and `seat`,
      `terminated` or `truncated`. `steps` counts this decision already.
    * `hide(view)`: in a copy of a state, blank what the seat `view.viewer` may not know. Generator words, seeds, rewards and
      the count of decisions are blank already. Hiding twice is hiding once.
    * `resample(state, words)`: in a view, draw what is hidden from what is consistent with it, with the generator `words[0]`.
    * `observe(view, out)`: set the features of a view to 1 in `out`, int8 zeros of shape (observation.size,).
    * `scores(state, out)`: printed scores (G-13), int64.
    * `choose_easy`, `choose_strong(view, mask, words)`: a legal action of the seat to act, from its view.

    Plain Python:

    * `text(view)`: the table for people.
    * `deck(num_players, options)`: card ids in the page's order before the first shuffle.
    * `check(num_players, options)`: raises `InvalidOption` for options that do not go together; None if all do.
    """

    name: str
    title: str
    version: int
    players: range
    default_players: int
    state: np.dtype
    options: Mapping[str, Option]
    actions: ActionTable
    observation: ObservationTable
    cards: tuple[str, ...]
    deck: Callable[[int, Mapping[str, Any]], Iterable[int]]
    deal: Callable
    legal_actions: Callable
    step: Callable
    hide: Callable
    resample: Callable
    observe: Callable
    scores: Callable
    choose_easy: Callable
    choose_strong: Callable
    text: Callable[[np.ndarray], str]
    check: Callable[[int, Mapping[str, Any]], None] | None = None
    wins_truncated: bool = False
    """Whether the best scores win a game that is truncated (else nobody does)."""

    @property
    def id(self) -> str:
        """The versioned id, like `ringer-v0`."""
        return f"{self.name}-v{self.version}"

    @property
    def max_seats(self) -> int:
        """Seats of the largest table."""
        return self.players[-1]

    def configure(self, num_players: int | None, options: Mapping[str, Any]) -> tuple[np.ndarray, dict[str, Any]]:
        """A blank record with checked options, shape (1,), and all options by name with defaults filled in."""
        if num_players is None:
            num_players = self.default_players
        if isinstance(num_players, bool | np.bool_) or not hasattr(num_players, "__index__") or num_players not in self.players:
            raise InvalidOption(
                f"num_players={num_players!r} is not allowed: {self.id} takes {self.players[0]} to {self.max_seats} players"
            )
        unknown = sorted(set(options) - set(self.options))
        if unknown:
            raise InvalidOption(f"{self.id} has no option {', '.join(map(repr, unknown))}; its options are {', '.join(self.options)}")
        values = {name: plain(options.get(name, option.default)) for name, option in self.options.items()}
        state = new_states(self.state, 1)
        state["num_seats"] = num_players
        state["viewer"] = -1
        for name, option in self.options.items():
            state[name] = option.encode(name, values[name])
        if self.check:
            self.check(int(num_players), values)
        return state, values

    def deck_ids(self, texts: Iterable[str] | None, num_players: int, options: Mapping[str, Any]) -> np.ndarray:
        """Card ids of a fixed deck, int64 (empty for None); raises `InvalidDeck` unless it is the deck of such a game."""
        if texts is None:
            return np.zeros(0, np.int64)
        texts = list(texts)
        if not all(isinstance(text, str) for text in texts):
            raise InvalidDeck(f"a deck is a list of card texts, for example {self.cards[0]!r}")
        wanted = Counter(self.cards[card] for card in self.deck(num_players, options))
        given = Counter(texts)
        if given != wanted:
            wrong = [
                f"{given[text]} x {text!r} in place of {wanted[text]}" for text in sorted(given | wanted) if given[text] != wanted[text]
            ]
            raise InvalidDeck(f"not the deck of {self.id} with {num_players} players ({wanted.total()} cards): {', '.join(wrong[:8])}")
        return np.array([self.cards.index(text) for text in texts], np.int64)

    @functools.cached_property
    def loops(self) -> "GameLoops":
        """The shared loops of `cardenvs.core.loops`, compiled for this game when first used."""
        return GameLoops(self)

    def __copy__(self) -> "Game":
        return self

    def __deepcopy__(self, memory: dict[int, Any]) -> "Game":
        return self

    def __reduce__(self):
        return registry.find, (self.id,)


class GameLoops:
    """The loops of a module bound to one game; each is compiled, or read from the cache, when first asked for.

    The module is `cardenvs.core.loops`, or one that builds on it in the same way: its functions may use the names of the
    game's kernels and of the helpers there. Functions without annotations are helpers, parts of the loops.
    """

    def __init__(self, game: Game, module: ModuleType = loops):
        self._game, self._module = game, module
        self._name = game.id if module is loops else f"{game.id}-{module.__name__}"
        self._namespace = {**vars(loops), **vars(module), **{kernel: getattr(game, kernel) for kernel in KERNELS}}
        for part in dict.fromkeys((loops, module)):
            for name, value in vars(part).items():
                if isinstance(value, FunctionType) and value.__module__ == part.__name__ and not value.__annotations__:
                    self._namespace[name] = jit.kernel(jit.rebind(value, self._namespace))
        self._folder = jit.cache_folder(
            self._name, [getattr(game, kernel) for kernel in KERNELS], (Path(__file__).parent, Path(inspect.getfile(module)))
        )

    def __getattr__(self, name: str) -> Callable:
        loop = jit.bind(getattr(self._module, name), self._game.state, self._name, self._namespace, self._folder)
        setattr(self, name, loop)
        return loop
