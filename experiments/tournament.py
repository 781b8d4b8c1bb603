"""Round robin between any players, on the same duplicate deals for every pairing.

    cardenvs tournament recurrring-v0 --players random easy strong mine=checkpoint:runs/…/policy.safetensors

A pairing fills the table by turns, A B A B …, so that both players hold as many seats and have an opponent on either side.
With an odd number of seats it is played twice, A B A and B A B (at three seats: one against two, both ways). With all
rotations of the seats, each player of a pairing is as often in every seat as the other.

With `--mixed-games` every choice of as many different players as there are seats plays a table of its own as well, in an order
of sitting that is drawn for it.

The leaderboard is sorted by the lower bound of the mean score above the table's mean. Ratings are Bradley-Terry's by maximum
likelihood over all pairs of opponents in every game's ranking (a tie is half a win each), in points of which 400 mean ten to
one, with `random` at 0 if it takes part, else their mean. Intervals are 95 % bootstrap intervals over deals.

Finished pairings are kept in the output folder. The same command goes on where an interrupted one stopped; more players may
be added to it.
"""

import contextlib
import functools
import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cardenvs
from cardenvs import agents
from cardenvs.agents.agent import OWN_KINDS, SEARCHES, find_module
from cardenvs.agents.isolated import IsolatedAgent
from cardenvs.core.game import Game
from cardenvs.errors import InvalidOption
from cardenvs.experiments import counter, parse, parse_options, plots, tables, told_plainly
from cardenvs.experiments.matches import (
    RESAMPLES,
    Deals,
    Fault,
    Interval,
    as_share,
    limits,
    play_deals,
    resamples,
    rotations,
    seated,
    stretch,
    warm_up,
)

ELO = 400 / np.log(10)
PRIOR = 0.1
"""Tied games added between every two players that met, so that ratings stay finite when one of them won every game."""


@dataclass
class Arguments:
    """Round robin between players on duplicate deals."""

    game: str
    """id of the game, such as recurrring-v0"""
    players: tuple[str, ...] = ("random", "easy", "strong")
    """random, easy, strong, flat-mc:BUDGET, ismcts:BUDGET, ppo, checkpoint:PATH or module:Class; label=… before it gives it another name"""
    num_players: int | None = None
    """seats of the table (None: the game's usual number)"""
    option: tuple[str, ...] = ()
    """options of the game, as name=value"""
    games: int = 4000
    """of each pairing; rounded up to whole duplicate deals"""
    mixed_games: int = 0
    """of each table of different players; rounded up likewise; 0 for no such tables"""
    search_games: int | None = None
    """in place of `games` and `mixed_games` where a search or a player of the form module:Class takes part, if that is less"""
    workers: int = 1
    """matches that are played at the same time, in processes"""
    seed: int = 0
    """of deals and players"""
    time_limit: float = 5.0
    """seconds a decision for players of the form module:Class, which run in processes of their own"""
    out: Path | None = None
    """folder of the results (None: runs/GAME-Np/tournament)"""


class Match(NamedTuple):
    """A line-up, of a pairing or of different players: their labels by position, and what it brought."""

    labels: tuple[str, ...]
    deals: Deals


def line_ups(num_players: int) -> list[list[int]]:
    """Who of a pairing (0 or 1) holds each position."""
    alternating = [position % 2 for position in range(num_players)]
    return [alternating] if num_players % 2 == 0 else [alternating, [1 - player for player in alternating]]


def deals_for(games: int, num_players: int) -> int:
    """Duplicate deals of a pairing that make at least so many games; at least 2, for intervals."""
    return max(2, -(-games // games_per_deal(num_players)))


def games_per_deal(num_players: int) -> int:
    """Games that a pairing plays on each deal."""
    return len(rotations(num_players)) * len(line_ups(num_players))


def labelled(texts: Iterable[str]) -> dict[str, str]:
    """Players by label from texts `spec` or `label=spec`; raises `InvalidOption` if two have the same label."""
    players: dict[str, str] = {}
    for text in texts:
        match = re.fullmatch(r"([\w. -]+)=(.+)", text)
        label, spec = match.groups() if match else (text, text)
        if label in players:
            raise InvalidOption(f"two players are called {label!r}: give one another name, for example other={spec}")
        players[label] = spec
    if len(players) < 2:
        raise InvalidOption("a tournament needs at least 2 players")
    return players


def pairings(players: Mapping[str, str]) -> list[tuple[str, str]]:
    """All pairs of labels, in an order that depends neither on that of the players nor, among different ones, on their labels."""
    return list(itertools.combinations(sorted(players, key=lambda label: (players[label], label)), 2))


def bradley_terry(wins: np.ndarray, prior: float = PRIOR) -> tuple[np.ndarray, np.ndarray]:
    """Ratings (n,), natural logarithms of strength with mean 0, from wins (n, n) of row over column; by Newton's method.

    Every two players that met get `prior` further games, tied. Also returns how ratings change, to first order, with the wins
    of each player: (n, n), rating by player.
    """
    games = wins + wins.T
    won = wins + prior / 2 * (games > 0)
    games = games + prior * (games > 0)
    ratings = np.zeros(len(wins))
    for _ in range(200):
        expected = 1 / (1 + np.exp(ratings - ratings[:, None]))
        curvature = games * expected * (1 - expected)
        slopes = np.linalg.inv(np.diag(curvature.sum(axis=1)) - curvature + 1 / len(wins))
        change = np.clip(slopes @ (won - games * expected).sum(axis=1), -1, 1)
        ratings += change
        if np.abs(change).max() < 1e-10:
            break
    return ratings - ratings.mean(), slopes


class Standing(NamedTuple):
    """A player's line of the leaderboard."""

    player: str
    score_above_mean: Interval
    win_share: Interval
    mixed_score_above_mean: Interval | None
    mixed_win_share: Interval | None
    rating: Interval
    ms_per_decision: float
    games: int
    faults: int
    seat_score_above_mean: list[Interval]
    seat_win_share: list[Interval]
    score_against: dict[str, Interval]


def leaderboard(matches: Iterable[Match], anchor: str | None = None, seed: int = 0) -> list[Standing]:
    """The standings after `matches`, in whatever order; `anchor` is the label that is rated 0.

    A player's score and share of wins are means over its pairings, of which there must be one at least, each with the same
    weight. Those of mixed tables are given by themselves (None without them); both are rated together. Matches of the same
    number of deals are taken to be played on the same ones, and are bootstrapped together. Whoever loses a game by a fault
    gets the worst score of all matches for it.
    """
    matches = sorted(matches, key=lambda match: match.labels)
    worst = min(match.deals.worst for match in matches)
    labels = sorted({label for match in matches for label in match.labels})
    size, seats = len(labels), len(matches[0].labels)
    draws = RESAMPLES + 1  # the deals as they were, then all resamples
    above, shares = np.zeros((2, draws, size, size, seats))  # sums by player, opponent (in mixed tables the player itself) and seat
    held = np.zeros((size, size, seats))
    wins, won = np.zeros((size, size)), np.zeros((draws, size))
    decisions, seconds, games, faults = np.zeros((4, size))
    for match in matches:
        weights = _weights(len(match.deals.scores), seed)
        players = np.array([labels.index(label) for label in match.labels])
        mixed = len(set(match.labels)) > 2
        opponents = players if mixed else players.min() + players.max() - players
        above_mean, win_shares = _mean(weights, match.deals.above_mean(worst)), _mean(weights, match.deals.wins)
        beats = _mean(weights, match.deals.beats) * len(match.deals.scores)
        for position, (player, opponent) in enumerate(zip(players, opponents, strict=True)):
            for rotation, seat in enumerate(match.deals.seats[:, position]):
                above[:, player, opponent, seat] += above_mean[:, rotation, position]
                shares[:, player, opponent, seat] += win_shares[:, rotation, position]
                held[player, opponent, seat] += 1
            for other in np.flatnonzero(players != player):
                wins[player, players[other]] += beats[0, position, other]
                won[:, player] += beats[:, position, other]
            decisions[player] += match.deals.decisions[..., position].sum()
            seconds[player] += match.deals.seconds[position]
        games[np.unique(players)] += match.deals.truncated.size
        for fault in match.deals.faults:
            faults[players[fault.position]] += 1

    rating, slopes = bradley_terry(wins)
    ratings = ELO * (rating + (won - won[0]) @ slopes.T)
    if anchor is not None:
        ratings -= ratings[:, [labels.index(anchor)]]
    everybody = np.arange(size)

    def estimate(sums: np.ndarray, player: int, opponents: np.ndarray, seat: int | slice = slice(None)) -> Interval:
        """The mean over all that a player held against `opponents`."""
        values = sums[:, player, opponents, seat].reshape(draws, -1).sum(axis=1) / held[player, opponents, seat].sum()
        low, high = limits(values[1:])
        return Interval(float(values[0]), float(low), float(high))

    standings = []
    for i, label in enumerate(labels):
        low, high = limits(ratings[1:, i])
        others, itself, mixed = everybody != i, everybody == i, held[i, i].any()
        standings.append(
            Standing(
                player=label,
                score_above_mean=estimate(above, i, others),
                win_share=as_share(estimate(shares, i, others)),
                mixed_score_above_mean=estimate(above, i, itself) if mixed else None,
                mixed_win_share=as_share(estimate(shares, i, itself)) if mixed else None,
                rating=Interval(float(ratings[0, i]), float(low), float(high)),
                ms_per_decision=1e3 * float(seconds[i] / max(1, decisions[i])),
                games=int(games[i]),
                faults=int(faults[i]),
                seat_score_above_mean=[estimate(above, i, others, seat) for seat in range(seats)],
                seat_win_share=[as_share(estimate(shares, i, others, seat)) for seat in range(seats)],
                score_against={other: estimate(above, i, everybody == j) for j, other in enumerate(labels) if j != i and held[i, j].any()},
            )
        )
    return sorted(standings, key=lambda standing: (-standing.score_above_mean.low, standing.player))


@functools.cache
def _weights(deals: int, seed: int) -> np.ndarray:
    """Weights of deals, float (draws, deals): equal ones, then those of all bootstrap resamples, stretched where deals are few."""
    drawn = [np.bincount(row, minlength=deals) for rows in resamples(deals, seed) for row in rows]
    return (1 + stretch(deals) * (np.array([np.ones(deals), *drawn]) - 1)) / deals


def _mean(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Means over deals (the first axis of `values`) for each row of `weights`."""
    return np.tensordot(weights, values, 1)


def mixed_cells(standing: Standing) -> dict[str, str]:
    """Cells of a row about tables of different players, if there were any."""
    if standing.mixed_score_above_mean is None or standing.mixed_win_share is None:
        return {}
    return {"mixed: score": tables.signed(standing.mixed_score_above_mean), "mixed: wins": tables.share(standing.mixed_win_share)}


def is_slow(spec: str) -> bool:
    """Whether a player thinks, or may: a search, or one of somebody's own."""
    kind, colon, _ = spec.partition(":")
    return kind in SEARCHES or (bool(colon) and kind not in OWN_KINDS)


def seating(labels: tuple[str, ...]) -> tuple[str, ...]:
    """An order of sitting that the labels draw: from four seats up, where not all orders are played, it matters who sits next to whom."""
    rng = np.random.default_rng(list(json.dumps(labels).encode()))
    return tuple(rng.permutation(labels).tolist())


class Tournament:
    """A round robin in a folder; raises `InvalidOption` if the folder holds one that does not go together with it."""

    def __init__(self, arguments: Arguments):
        self.game: Game = cardenvs.find(arguments.game)
        self.num_players = self.game.default_players if arguments.num_players is None else arguments.num_players
        _, self.options = self.game.configure(self.num_players, parse_options(self.game, arguments.option))
        for name, least in (("games", 1), ("mixed_games", 0), ("search_games", 1), ("workers", 1)):
            number = getattr(arguments, name)
            if number is not None and number < least:
                raise InvalidOption(f"{name}={number} is not allowed: it must be a whole number from {least}")
        self.players = labelled(arguments.players)
        self.games, self.mixed_games, self.search_games = arguments.games, arguments.mixed_games, arguments.search_games
        self.workers = arguments.workers
        self.seed = arguments.seed
        self.time_limit = arguments.time_limit
        self.folder = arguments.out or Path("runs") / f"{self.game.id}-{self.num_players}p" / "tournament"
        with seated(list(self.players.values()), self.time_limit) as players:  # wrong ones are refused before anything is played
            for player in players:
                if not isinstance(player, IsolatedAgent):
                    player.reset(self.game, self.num_players, 0, 0)
        self._remember()

    @property
    def anchor(self) -> str | None:
        """The label of `random`, if it takes part."""
        return next((label for label, spec in self.players.items() if spec == "random"), None)

    def _remember(self) -> None:
        """Check the folder's settings against ours, and write them."""
        settings: dict[str, Any] = {
            "game": self.game.id,
            "num_players": self.num_players,
            "options": self.options,
            "games": self.games,
            "mixed_games": self.mixed_games,
            "search_games": self.search_games,
            "seed": self.seed,
            "time_limit": self.time_limit,
            "code": _digest(*sorted(path for package in (agents, cardenvs) for path in Path(package.__path__[0]).rglob("*.py"))),
            "players": {label: _identity(spec, self.game) for label, spec in self.players.items()},
        }
        path = self.folder / "settings.json"
        if path.exists():
            kept = json.loads(path.read_text())
            settings["players"] = kept["players"] | settings["players"]
            names = [name for name in settings if name != "players" and settings[name] != kept.get(name)]
            names += [f"player {label}" for label, identity in kept["players"].items() if settings["players"][label] != identity]
            if names:
                raise InvalidOption(
                    f"{self.folder} holds a tournament with another {', '.join(names)}: "
                    "give another folder with --out, or a player another label"
                )
        tables.write_whole(path, tables.json_text(settings))

    def plan(self) -> dict[tuple[str, ...], int]:
        """The number of deals of every match, by labels at the positions."""
        pairs = pairings(self.players)
        paired = [tuple(pair[player] for player in line_up) for pair in pairs for line_up in line_ups(self.num_players)]
        plan = {labels: deals_for(self.games_of(labels, self.games), self.num_players) for labels in paired}
        if self.mixed_games and self.num_players > 2:
            for labels in itertools.combinations(sorted(self.players), self.num_players):
                games = self.games_of(labels, self.mixed_games)
                plan[seating(labels)] = max(2, -(-games // len(rotations(self.num_players))))
        return plan

    def games_of(self, labels: Iterable[str], games: int) -> int:
        """How many of `games` are played where these players meet."""
        slow = any(is_slow(self.players[label]) for label in labels)
        return min(games, self.search_games) if slow and self.search_games is not None else games

    def play(self) -> list[Match]:
        """All matches: those that are finished in the folder are read, the others played."""
        plan = self.plan()
        paths = {labels: self.folder / "matches" / _file_name(labels) for labels in plan}
        paths[next(iter(paths))].parent.mkdir(exist_ok=True)
        left = sorted((labels for labels in plan if not paths[labels].exists()), key=lambda labels: plan[labels])  # searches first
        with processes(self.workers) as play_all:
            played = play_all(self.play_match, left, [plan[labels] for labels in left], [paths[labels] for labels in left])
            for number, (labels, seconds) in enumerate(zip(left, played, strict=True), 1):
                print(f"{number}/{len(left)} {' '.join(labels)}: {plan[labels]} deals, {seconds:.0f} s", flush=True)
        return [Match(labels, Deals.load(path)) for labels, path in paths.items()]

    def play_match(self, labels: Sequence[str], deals: int, path: Path) -> float:
        """Play one line-up and write what it brought to `path`; returns the seconds that the players took."""
        with seated([self.players[label] for label in labels], self.time_limit) as players:
            for label in sorted(set(labels)):
                warm_up(self.game, self.num_players, self.players[label])
            progress = counter(deals, "deals") if self.workers == 1 else None
            match = play_deals(self.game, players, deals, self.seed, self.options, faults="loss", progress=progress)
        match.save(path)
        return float(match.seconds.sum())

    def report(self, matches: Sequence[Match], standings: Sequence[Standing]) -> str:
        """The results as Markdown."""
        options = ", ".join(f"{name}={value}" for name, value in self.options.items())
        counts = " or ".join(f"{deals * games_per_deal(self.num_players)} games on {deals} deals" for deals in self.pairing_deals())
        parts = [
            f"# Tournament of {self.game.id}, {self.num_players} players",
            f"{options}. Every pairing: {counts}, the same for all, seed {self.seed}. "
            "Sorted by the lower bound of the score above the table's mean; intervals are 95 % bootstrap intervals over deals.",
            tables.markdown(
                [
                    {
                        "player": standing.player,
                        "score above mean": tables.signed(standing.score_above_mean),
                        "win share": tables.share(standing.win_share),
                        **mixed_cells(standing),
                        "rating": "{:.0f} [{:.0f}, {:.0f}]".format(*standing.rating),
                        "ms/decision": f"{standing.ms_per_decision:.4f}",
                        "lost by fault": str(standing.faults),
                    }
                    for standing in standings
                ]
            ),
            "Score above mean by seat:",
            tables.markdown(
                [
                    {"player": row.player, **{f"player_{s}": tables.signed(value) for s, value in enumerate(row.seat_score_above_mean)}}
                    for row in standings
                ]
            ),
            "Score above mean against each opponent:",
            tables.markdown(
                [
                    {
                        "player": row.player,
                        **{
                            other.player: tables.signed(row.score_against[other.player]) if other.player != row.player else ""
                            for other in standings
                        },
                    }
                    for row in standings
                ]
            ),
        ]
        for match in matches:
            parts += [f"{' '.join(match.labels)}: {line}" for line in tables.fault_lines(match.labels, match.deals.faults)]
        return "\n\n".join(parts) + "\n"

    def pairing_deals(self) -> list[int]:
        """The numbers of deals that pairings are played on, the largest first."""
        return sorted({deals for labels, deals in self.plan().items() if len(set(labels)) == 2}, reverse=True)

    def write(self, matches: Sequence[Match], standings: Sequence[Standing]) -> str:
        """Write leaderboard.md, .csv, .json, .png and faults.json; returns the first."""
        text = self.report(matches, standings)
        rows = [standing._asdict() for standing in standings]
        mixed = ("mixed_score_above_mean", "mixed_win_share") if standings[0].mixed_win_share else ()
        columns = ("player", "score_above_mean", "win_share", *mixed, "rating", "ms_per_decision", "games", "faults")
        by_seat = {
            standing.player: {
                f"{measure}_seat_{seat}": value
                for measure in ("score_above_mean", "win_share")
                for seat, value in enumerate(getattr(standing, f"seat_{measure}"))
            }
            for standing in standings
        }
        faults: list[dict[str, Any]] = [_told(fault, match) for match in matches for fault in match.deals.faults]
        tables.write_whole(self.folder / "leaderboard.json", tables.json_text(rows))
        flat_rows = [{name: row[name] for name in columns} | by_seat[row["player"]] for row in rows]
        tables.write_whole(self.folder / "leaderboard.csv", tables.csv_text(flat_rows))
        tables.write_whole(self.folder / "faults.json", tables.json_text(faults))
        tables.write_whole(self.folder / "leaderboard.md", text)
        panels = {
            "score above the table's mean": [standing.score_above_mean for standing in standings],
            "Bradley-Terry rating": [standing.rating for standing in standings],
        }
        title = f"{self.game.title}, {self.num_players} players"
        plots.leaderboard(self.folder / "leaderboard.png", title, [standing.player for standing in standings], panels)
        return text


@contextlib.contextmanager
def processes(number: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """A `map` in so many processes, which stops what is not begun when the context is left; with one, the ordinary `map`."""
    if number == 1:
        yield map
        return
    pool = ProcessPoolExecutor(number)
    try:
        yield pool.map
    finally:
        pool.shutdown(cancel_futures=True)


def _file_name(labels: Sequence[str]) -> str:
    words = "_".join(re.sub(r"[^\w.-]+", "-", label)[-40:] for label in dict.fromkeys(labels))
    return f"{words}_{hashlib.sha256(json.dumps(labels).encode()).hexdigest()[:12]}.npz"


def _told(fault: Fault, match: Match) -> dict[str, Any]:
    """A fault with the labels of who played."""
    return {"line_up": match.labels, "player": match.labels[fault.position], **asdict(fault)}


def _identity(spec: str, game: Game) -> str:
    """The text of a player, and for a network its content, for a class of somebody's own its source file's."""
    kind, _, rest = spec.partition(":")
    if rest and kind not in OWN_KINDS:
        found = find_module(kind)
        return f"{spec} {_digest(Path(found.origin))}" if found and found.origin and Path(found.origin).is_file() else spec
    if kind not in ("checkpoint", "ppo"):
        return spec
    from cardenvs.agents.network import find_policy, shipped_policy

    return f"{spec} {_digest(find_policy(Path(rest.partition('?')[0])) if kind == 'checkpoint' else shipped_policy(game))}"


def _digest(*paths: Path) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    arguments = parse(Arguments, argv)
    with told_plainly():
        tournament = Tournament(arguments)
        games = tournament.pairing_deals()[0] * games_per_deal(tournament.num_players)
        if games > arguments.games:
            print(f"{arguments.games} games are no whole number of duplicate deals with all rotations: every pairing plays {games}")
        try:
            matches = tournament.play()
        except KeyboardInterrupt:
            raise SystemExit(f"interrupted; finished matches are kept in {tournament.folder}: the same command goes on") from None
        print("\n" + tournament.write(matches, leaderboard(matches, tournament.anchor)))
        print(f"written to {tournament.folder}")


if __name__ == "__main__":
    main()
