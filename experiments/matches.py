"""Matches on duplicate deals, and intervals over deals."""

import contextlib
import functools
import itertools
import json
import os
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cardenvs
from cardenvs.agents import Agent, BatchAgent, CompiledAgent, make
from cardenvs.agents.agent import ALLOWED, OWN_KINDS, UnknownAgent, find_module
from cardenvs.agents.isolated import IsolatedAgent, PlayerFault
from cardenvs.core.game import POLICIES, Game
from cardenvs.core.loops import EXTERNAL
from cardenvs.core.state import new_states
from cardenvs.envs.aec import CardEnv
from cardenvs.envs.common import action_number, check_count, find_game, lane_words
from cardenvs.errors import IllegalAction, InvalidAction, InvalidOption

MAX_LANES = 1024
"""Tables that are played together, about: as many as the processor's cache likes."""

FORFEIT_AFTER = 10
"""So many faults of a player in a row, and it loses the rest of the match unasked."""

RESAMPLES = 1000
"""Resamples of a bootstrap."""


@dataclass(frozen=True)
class Fault:
    """A game that a player lost by misbehaving: `illegal` action, `raised`, `timeout`, `exited`, or `forfeit` after too many of these."""

    deal: int
    rotation: int
    position: int
    kind: str
    message: str
    record: dict[str, Any] | None
    """The game so far, for `cardenvs.replay`; None where it was played in the batch loops, or not at all."""


@dataclass(frozen=True)
class Deals:
    """What a match brought. Arrays are indexed (deal, rotation, position): a position is a place in the line-up, not a seat.

    A game that ends by a fault counts as `illegal_action="loss"` of `CardEnv` says: returns of -1 for the offender and
    1 / (N - 1) for each other player, added to what was earned before; the others share the win.
    """

    game: str
    options: dict[str, Any]
    players: tuple[str, ...]
    seed: int
    deal_seeds: np.ndarray
    """uint64 (deals,): `CardEnv.reset(seed=…)` deals the same."""
    seats: np.ndarray
    """int64 (rotations, positions): where each player of the line-up sits."""
    scores: np.ndarray
    """int64: printed scores, as they stood when a game ended."""
    returns: np.ndarray
    """float64: sums of rewards."""
    truncated: np.ndarray
    """int8 (deals, rotations)."""
    decisions: np.ndarray
    """int64."""
    seconds: np.ndarray
    """float64 (positions,): time that each player took in all."""
    faults: tuple[Fault, ...] = ()

    @property
    def wins(self) -> np.ndarray:
        """float64: shares of the win, by final scores whatever was paid; all but an offender win where it loses by a fault.

        Where nobody wins a truncated game (see `Game.wins_truncated`), all share.
        """
        best = self.scores == self.scores.max(axis=2, keepdims=True)
        if self.truncated.any() and not find_game(self.game).wins_truncated:
            best |= self.truncated[..., None] != 0
        for fault in self.faults:
            best[fault.deal, fault.rotation] = np.arange(best.shape[2]) != fault.position
        return best / best.sum(axis=2, keepdims=True)

    @property
    def worst(self) -> float:
        """The lowest score above the mean that anybody got without a fault in the game; -1 if that is higher, or there is none."""
        above = self.scores - self.scores.mean(axis=2, keepdims=True)
        clean = np.ones(above.shape[:2], bool)
        clean[tuple(np.array([(fault.deal, fault.rotation) for fault in self.faults], int).reshape(-1, 2).T)] = False
        return min(above[clean].min(initial=0.0), -1.0)

    @property
    def above(self) -> np.ndarray:
        """float64: scores above the mean of the table; see `above_mean`."""
        return self.above_mean(self.worst)

    def above_mean(self, worst: float) -> np.ndarray:
        """float64: scores above the mean of the table. An offender gets `worst`, and the others share the opposite.

        `worst` is that of this match, or of all matches that are compared, so that misbehaving never pays.
        """
        above = self.scores - self.scores.mean(axis=2, keepdims=True)
        for fault in self.faults:
            above[fault.deal, fault.rotation] = -worst / (above.shape[2] - 1)
            above[fault.deal, fault.rotation, fault.position] = worst
        return above

    @property
    def beats(self) -> np.ndarray:
        """float64 (deals, positions, positions): in how many of a deal's games one player was ranked above another, ties half.

        The ranking of a game is by final scores; an offender is last and the others tie.
        """
        scores = self.scores.copy()
        for fault in self.faults:
            scores[fault.deal, fault.rotation] = 0
            scores[fault.deal, fault.rotation, fault.position] = -1
        above = scores[..., :, None] > scores[..., None, :]
        equal = scores[..., :, None] == scores[..., None, :]
        return (above + 0.5 * equal).sum(axis=1) * ~np.eye(above.shape[-1], dtype=bool)

    def save(self, path: Path) -> None:
        """Write a file that is there wholly or not at all."""
        texts = {"game", "options", "players", "seed", "faults"}
        described = {name: getattr(self, name) for name in texts - {"faults"}} | {"faults": [asdict(fault) for fault in self.faults]}
        arrays = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in texts}
        part = path.with_name(path.name + ".part")
        with open(part, "wb") as file:
            np.savez_compressed(file, description=np.array(json.dumps(described)), **arrays)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)

    @classmethod
    def load(cls, path: Path) -> "Deals":
        """What `save` wrote."""
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        described = json.loads(str(arrays.pop("description")))
        described["players"] = tuple(described["players"])
        described["faults"] = tuple(Fault(**fault) for fault in described["faults"])
        return cls(**described, **arrays)


def rotations(num_players: int) -> np.ndarray:
    """Seats of the line-up's positions, int64 (rotations, positions): all orders up to 3 seats, cyclic ones from 4 up."""
    if num_players <= 3:
        return np.array(list(itertools.permutations(range(num_players))))
    return (np.arange(num_players) + np.arange(num_players)[:, None]) % num_players


@contextlib.contextmanager
def seated(specs: Sequence[str], time_limit: float) -> Iterator[list[Agent]]:
    """The players of a line-up of texts for `cardenvs.agents.make`.

    Those of the form `module:Class` get processes of their own with `time_limit` seconds a decision, which end with the context.
    Raises `UnknownAgent` for other texts than those of players, if there is no such module, and if a player cannot be made.
    """
    if not 0 < time_limit < float("inf"):
        raise InvalidOption(f"time_limit={time_limit} is not allowed: it must be a number of seconds above 0")
    players: list[Agent] = []
    shared: dict[str, Agent] = {}
    try:
        for spec in specs:
            kind, colon, _ = spec.partition(":")
            if colon and kind not in OWN_KINDS:
                if find_module(kind) is None:
                    raise UnknownAgent(f"no player is called {spec!r}, and there is no module {kind!r}; there are {ALLOWED}")
                foreign = IsolatedAgent(spec, time_limit)
                players.append(foreign)
                try:
                    foreign.make()
                except PlayerFault as error:
                    reason = str(error).strip().splitlines()[-1]
                    raise UnknownAgent(f"the player {spec!r} cannot be made: {reason}") from None
                continue
            player = shared.get(spec) or make(spec)
            if isinstance(player, BatchAgent):
                shared[spec] = player
            players.append(player)
        yield players
    finally:
        for player in players:
            if isinstance(player, IsolatedAgent):
                player.close()


@functools.cache
def warm_up(game: Game, num_players: int, spec: str) -> None:
    """Load or compile what a player needs, before its time is taken; once in a process."""
    loops = game.loops
    loops.play_lanes, loops.write_turns, loops.step_lanes, loops.start_lanes  # noqa: B018 - asking for a loop compiles it
    if spec.partition(":")[0] in (*POLICIES, *OWN_KINDS):
        env = CardEnv(game, num_players)
        env.reset(seed=0)
        while (seen := env.observe(env.agent_selection))["action_mask"].sum() == 1:  # nobody thinks about a forced action
            env.step(int(seen["action_mask"].argmax()))
        player = make(spec)
        player.reset(game, num_players, env.possible_agents.index(env.agent_selection), 0)
        player.act(seen["observation"], seen["action_mask"], env.view(env.agent_selection))


def play_deals(
    game: str | Game,
    players: Sequence[Agent | BatchAgent],
    deals: int,
    seed: int,
    options: dict[str, Any] | None = None,
    *,
    faults: str = "raise",
    progress: Callable[[int], None] | None = None,
) -> Deals:
    """Play `deals` duplicate deals between `players`, one of the line-up per position: every deal once per rotation of the seats.

    The chance of a deal is the same in all its rotations and follows from `seed`, so that two matches of one seed are
    played on the same deals. Players get other seeds, one for each game and position. If every player is compiled or a
    `BatchAgent`, the tables advance together; else they are played one by one.

    Args:
        players: their number is that of the seats. An object may hold several positions if it is a `BatchAgent` or compiled.
        faults: what an exception or an illegal action of a player does: `"raise"`, or `"loss"` of that game (see `Deals`).
        progress: called now and then with the number of finished deals.
    """
    if faults not in ("raise", "loss"):
        raise InvalidOption(f"faults={faults!r} is not allowed: it must be 'raise' or 'loss'")
    deals = check_count("deals", deals)
    seed, _ = lane_words(seed, 1)
    game = find_game(game)
    blank, all_options = game.configure(len(players), options or {})
    seats = rotations(len(players))
    shape = (deals, *seats.shape)
    match = Deals(
        game=game.id,
        options=all_options,
        players=tuple(player.name for player in players),
        seed=seed,
        deal_seeds=np.random.SeedSequence(seed).generate_state(deals, np.uint64),
        seats=seats,
        scores=np.zeros(shape, np.int64),
        returns=np.zeros(shape),
        truncated=np.zeros(shape[:2], np.int8),
        decisions=np.zeros(shape, np.int64),
        seconds=np.zeros(len(players)),
    )
    words = np.random.SeedSequence(seed, spawn_key=(1,)).generate_state(match.scores.size, np.uint64).reshape(shape)
    if all(isinstance(player, CompiledAgent | BatchAgent) for player in players):
        found = _play_together(game, blank, players, match, words, faults, progress)
    else:
        found = _play_singly(game, players, match, words, faults, progress)
    return Deals(**{**vars(match), "faults": tuple(sorted(found, key=lambda fault: (fault.deal, fault.rotation)))})


def _play_together(game: Game, blank, players, match: Deals, words: np.ndarray, faults: str, progress) -> list[Fault]:
    """Fill `match` with many tables at a time."""
    deals, turns, positions = match.scores.shape
    for position, player in enumerate(players):
        if hasattr(player, "reset"):
            player.reset(game, positions, position, int(words[0, 0, position]))
    rngs = [np.random.default_rng(np.random.SeedSequence(match.seed, spawn_key=(2, position))) for position in range(positions)]
    found = []
    size = max(1, MAX_LANES // turns)
    for start in range(0, deals, size):
        part = slice(start, min(start + size, deals))
        tables = _Tables(game, blank, match, part)
        for position, player in enumerate(players):
            tables.seat(position, player, words[part, :, position].ravel(), rngs[position], faults)
        tables.play()
        tables.report(match, part)
        found += tables.faults
        if progress:
            progress(part.stop)
    return found


class _Tables:
    """All rotations of some deals, one lane each, that are played at the same time.

    Each player in turn plays on all lanes where it is to act; the others are EXTERNAL to it.
    """

    def __init__(self, game: Game, blank: np.ndarray, match: Deals, part: slice):
        self.game, self.blank = game, blank
        self.turns, self.positions = match.seats.shape
        self.first_deal = part.start
        words = [lane_words(int(seed), 1)[1][0] for seed in match.deal_seeds[part]]
        lanes = len(words) * self.turns
        self.states = new_states(game.state, lanes)
        self.states["seeds"][:, 0] = np.repeat(words, self.turns)
        game.loops.start_lanes(self.states, np.arange(lanes), blank, np.zeros(0, np.int64))
        self.seats = np.tile(match.seats, (len(words), 1))
        self.holders = np.argsort(self.seats, axis=1)
        self.returns = np.zeros((lanes, game.max_seats))
        self.decisions = np.zeros((lanes, self.positions), np.int64)
        self.seconds = np.zeros(self.positions)
        self.faults: list[Fault] = []
        self.view = new_states(game.state, 1)
        self.movers: list[Callable[[np.ndarray], None]] = []
        self.lost = np.zeros(lanes, bool)  # by a fault
        self.acting = np.empty(lanes, np.int64)  # position to act, or -1 when the game is over
        self.update(np.arange(lanes))

    def update(self, lanes: np.ndarray) -> None:
        """Find who is to act in `lanes`."""
        over = self.lost[lanes] | ((self.states["terminated"][lanes] | self.states["truncated"][lanes]) != 0)
        self.acting[lanes] = np.where(over, -1, self.holders[lanes, self.states["seat"][lanes]])

    def seat(self, position: int, player, words: np.ndarray, rng: np.random.Generator, faults: str) -> None:
        """Give the next position to a player."""
        if isinstance(player, CompiledAgent):
            policies = np.full(self.returns.shape, EXTERNAL, np.int8)
            np.put_along_axis(policies, self.seats[:, [position]], np.int8(player.policy), axis=1)
            self.movers.append(self._compiled(policies, np.ascontiguousarray(words)))
        else:
            self.movers.append(self._batch(position, player, rng, faults))

    def _compiled(self, policies: np.ndarray, words: np.ndarray) -> Callable[[np.ndarray], None]:
        mask = np.zeros(self.game.actions.size, np.int8)
        play_lanes = self.game.loops.play_lanes

        def move(lanes: np.ndarray) -> None:
            play_lanes(self.states, lanes, policies, words, 0, self.view, mask, self.returns)

        return move

    def _batch(self, position: int, player: BatchAgent, rng: np.random.Generator, faults: str) -> Callable[[np.ndarray], None]:
        lanes, seats = self.returns.shape
        observation = np.zeros((lanes, self.game.observation.size), np.int8)
        masks = np.zeros((lanes, self.game.actions.size), np.int8)
        seat, actions = np.zeros(lanes, np.int64), np.zeros(lanes, np.int64)
        rewards, scores = np.zeros((lanes, seats)), np.zeros((lanes, seats), np.int64)
        terminated, truncated = np.zeros(lanes, np.int8), np.zeros(lanes, np.int8)
        write_turns, step_lanes = self.game.loops.write_turns, self.game.loops.step_lanes

        def move(lanes: np.ndarray) -> None:
            write_turns(self.states, lanes, self.view, observation, masks, seat)
            try:
                chosen = np.asarray(player.act_batch(observation[lanes], masks[lanes], rng))
                if chosen.shape != lanes.shape or chosen.dtype.kind not in "iu":
                    raise InvalidAction(f"actions must be whole numbers of shape {lanes.shape}, not {chosen.dtype} of shape {chosen.shape}")
            except Exception:
                if faults == "raise":
                    raise
                self.lose(lanes, position, "raised", traceback.format_exc())
                return
            actions[lanes] = chosen
            exists = (chosen >= 0) & (chosen < masks.shape[1])
            legal = exists & (masks[lanes, np.where(exists, chosen, 0)] != 0)
            for lane in lanes[~legal]:
                message = _illegal(self.game, player, int(actions[lane]), masks[lane])
                if faults == "raise":
                    raise IllegalAction(message)
                self.lose(np.array([lane]), position, "illegal", message)
            lanes = lanes[legal]
            step_lanes(
                self.states, lanes, actions, self.blank, 0, self.view, observation, masks, seat, rewards, terminated, truncated, scores
            )
            self.returns[lanes] += rewards[lanes]

        return move

    def lose(self, lanes: np.ndarray, position: int, kind: str, message: str) -> None:
        """End the games of `lanes` as lost by a player."""
        self.lost[lanes] = True
        for lane in lanes:
            self.returns[lane, : self.positions] += _loss(self.positions, self.seats[lane, position])
            deal, rotation = divmod(int(lane), self.turns)
            self.faults.append(Fault(self.first_deal + deal, rotation, position, kind, message, None))

    def play(self) -> None:
        """Play all games to their ends."""
        while (self.acting >= 0).any():
            for position, move in enumerate(self.movers):
                lanes = np.flatnonzero(self.acting == position)
                if not len(lanes):
                    continue
                before = self.states["steps"][lanes]
                start = time.perf_counter()
                move(lanes)
                self.seconds[position] += time.perf_counter() - start
                self.decisions[lanes, position] += self.states["steps"][lanes] - before
                self.update(lanes)

    def report(self, match: Deals, part: slice) -> None:
        """Enter the results in `match`."""
        scores = np.zeros(self.returns.shape, np.int64)
        self.game.loops.scores_lanes(self.states, np.arange(len(scores)), scores)
        shape = match.scores[part].shape
        match.scores[part] = np.take_along_axis(scores, self.seats, axis=1).reshape(shape)
        match.returns[part] = np.take_along_axis(self.returns, self.seats, axis=1).reshape(shape)
        match.decisions[part] = self.decisions.reshape(shape)
        match.truncated[part] = self.states["truncated"].reshape(shape[:2])
        match.seconds[:] += self.seconds


def _play_singly(game: Game, players, match: Deals, words: np.ndarray, faults: str, progress) -> list[Fault]:
    """Fill `match` table by table, where players see their own observation, mask and view only."""
    keeping = [id(player) for player in players if not isinstance(player, CompiledAgent | BatchAgent)]
    if len(set(keeping)) < len(keeping):
        raise InvalidOption("one object holds several positions, but remembers one seat: make a player for each")
    env = cardenvs.make(game, len(players), **match.options)  # type: ignore[arg-type]
    found: list[Fault] = []
    in_row = [0] * len(players)
    for deal, rotation in np.ndindex(match.scores.shape[:2]):
        seats = match.seats[rotation]
        env.reset(seed=int(match.deal_seeds[deal]))
        fault = _play_one(env, players, seats, words[deal, rotation], match, (deal, rotation), in_row, faults)
        for position in range(len(players)):
            in_row[position] = in_row[position] + 1 if fault and fault.position == position else 0
        if fault:
            found.append(fault)
            match.returns[deal, rotation] += _loss(len(players), fault.position)
        match.scores[deal, rotation] = np.array(env.scores())[seats]
        match.truncated[deal, rotation] = env.states["truncated"][0]
        if progress and rotation == len(match.seats) - 1:
            progress(deal + 1)
    return found


def _play_one(env, players, seats, words, match: Deals, place: tuple[int, int], in_row: list[int], faults: str) -> Fault | None:
    """Play the game that `env` has dealt; returns what ended it early, if anything did."""
    for position, row in enumerate(in_row):
        if row >= FORFEIT_AFTER:
            return Fault(*place, position, "forfeit", f"not asked after {FORFEIT_AFTER} faults in a row", None)
    holders = np.argsort(seats).tolist()
    state = env.states[0]
    try:
        for position, player in enumerate(players):
            with _blaming(position, faults):
                player.reset(env.game, len(players), int(seats[position]), int(words[position]))
        while not (state["terminated"] or state["truncated"]):
            agent = env.agent_selection
            position = holders[state["seat"]]
            seen, view = env.observe(agent), env.view(agent)
            start = time.perf_counter()
            with _blaming(position, faults):
                action = action_number(players[position].act(seen["observation"], seen["action_mask"], view))
                if action not in env.legal_actions():
                    raise IllegalAction(_illegal(env.game, players[position], action, env.observe(agent)["action_mask"]))
            match.seconds[position] += time.perf_counter() - start
            env.step(action)
            match.decisions[*place, position] += 1
            match.returns[place] += np.array([env.rewards[agent] for agent in env.possible_agents])[seats]
    except _Misbehaved as misbehaved:
        position, kind, message = misbehaved.args
        return Fault(*place, position, kind, message, env.record())
    return None


class _Misbehaved(Exception):
    """Position, kind and message of a fault."""


@contextlib.contextmanager
def _blaming(position: int, faults: str) -> Iterator[None]:
    """What is raised within is the fault of the player at a position."""
    try:
        yield
    except Exception as error:
        if faults == "raise":
            raise
        if isinstance(error, InvalidAction):
            raise _Misbehaved(position, "illegal", str(error)) from error
        if isinstance(error, PlayerFault):
            raise _Misbehaved(position, error.kind, str(error)) from error
        raise _Misbehaved(position, "raised", traceback.format_exc()) from error


def _loss(num_players: int, offender: int) -> np.ndarray:
    """Returns of a game that one seat or position loses by a fault."""
    returns = np.full(num_players, 1 / (num_players - 1))
    returns[offender] = -1.0
    return returns


def _illegal(game: Game, player, action: int, mask: np.ndarray) -> str:
    name = repr(game.actions.texts[action]) if 0 <= action < game.actions.size else "no action"
    legal = ", ".join(game.actions.texts[number] for number in np.flatnonzero(mask))
    return f"action {action} ({name}) of {player.name} is illegal in {game.id}; legal were: {legal}"


class Interval(NamedTuple):
    """A mean, and the limits of its confidence interval (nan for a single deal)."""

    mean: float
    low: float
    high: float


def as_share(interval: Interval) -> Interval:
    """The interval of a share, with limits that a share can have: stretched ones may go beyond."""
    return Interval(interval.mean, max(0.0, interval.low), min(1.0, interval.high))


def resamples(deals: int, seed: int = 0) -> Iterator[np.ndarray]:
    """The deals of all bootstrap resamples, int64 (some, deals) at a time: the same for the same number of deals and seed."""
    rng = np.random.default_rng(seed)
    size = max(1, (1 << 20) // deals)
    for start in range(0, RESAMPLES, size):
        yield rng.integers(0, deals, (min(size, RESAMPLES - start), deals))


def stretch(deals: int) -> float:
    """By how much the deviations of bootstrapped means of so few deals are too small: with it their intervals are those of Student's t.

    From the expansion of t in 1/(deals - 1) by R. A. Fisher and E. A. Cornish (1960), good to 1 % from 4 deals up.
    """
    z, free = 1.959964, deals - 1
    terms = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return (1 + sum(term / free**power for power, term in enumerate(terms, 1)) / z) * float(np.sqrt(deals / free))


def limits(values: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """The percentile interval of bootstrapped `values` along the first axis."""
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return low, high


def interval(values_per_deal: np.ndarray, level: float = 0.95, seed: int = 0) -> Interval:
    """The mean over deals and its bootstrap interval, stretched where deals are few; the deal is the unit.

    `values_per_deal` is of shape (deals,), or has further axes (rotations) over which each deal is averaged first.
    """
    values = np.asarray(values_per_deal, float)
    values = values.reshape(len(values), -1).mean(axis=1)
    if len(values) < 2:
        return Interval(float(values.mean()), np.nan, np.nan)
    means = np.concatenate([values[drawn].mean(axis=1) for drawn in resamples(len(values), seed)])
    low, high = limits(values.mean() + stretch(len(values)) * (means - values.mean()), level)
    return Interval(float(values.mean()), float(low), float(high))
