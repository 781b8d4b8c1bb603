"""Round robin between any players, on the same duplicate deals for every pairing.

    python -m experiments.tournament recurrring-v0 --players random easy strong mine=checkpoint:runs/…/policy.safetensors

A pairing fills the table by turns, A B A B …, so that both players hold as many seats and have an opponent on either side.
With an odd number of seats it is played twice, A B A and B A B (at three seats: one against two, both ways). With all
rotations of the seats, each player of a pairing is as often in every seat as the other.

The leaderboard is sorted by the lower bound of the mean score above the table's mean. Ratings are Bradley-Terry's by maximum
likelihood over all pairs of opponents in every game's ranking (a tie is half a win each), in points of which 400 mean ten to
one, with `random` at 0 if it takes part, else their mean. Intervals are 95 % bootstrap intervals over deals.

Finished pairings are kept in the output folder. The same command goes on where an interrupted one stopped; more players may
be added to it.
"""

import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cardenvs
from agents.isolated import IsolatedAgent
from cardenvs.core.game import Game
from cardenvs.errors import InvalidOption
from experiments import counter, parse, parse_options, plots, tables, told_plainly
from experiments.matches import Deals, Fault, Interval, limits, play_deals, resamples, rotations, seated

ELO = 400 / np.log(10)
PRIOR = 0.1
"""Tied games added between every two players that met, so that ratings stay finite when one of them won every game."""


@dataclass
class Arguments:
    """Round robin between players on duplicate deals."""

    game: str
    """id of the game, such as recurrring-v0"""
    players: tuple[str, ...] = ("random", "easy", "strong")
    """random, easy, strong, checkpoint:PATH or module:Class; label=… before it gives it another name"""
    num_players: int | None = None
    """seats of the table (None: the game's usual number)"""
    option: tuple[str, ...] = ()
    """options of the game, as name=value"""
    games: int = 4000
    """of each pairing; rounded up to whole duplicate deals"""
    seed: int = 0
    """of deals and players"""
    time_limit: float = 5.0
    """seconds a decision for players of the form module:Class, which run in processes of their own"""
    out: Path | None = None
    """folder of the results (None: runs/GAME-Np/tournament)"""


class Match(NamedTuple):
    """One line-up of a pairing: the players' labels by position, and what it brought."""

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


def bradley_terry(wins: np.ndarray, prior: float = PRIOR) -> np.ndarray:
    """Ratings, natural logarithms of strength with mean 0, from wins (…, n, n) of row over column; by Newton's method.

    Every two players that met get `prior` further games, tied.
    """
    games = wins + wins.swapaxes(-1, -2)
    won = wins + prior / 2 * (games > 0)
    games = games + prior * (games > 0)
    ratings = np.zeros(wins.shape[:-1])
    diagonal = np.eye(wins.shape[-1])
    for _ in range(200):
        expected = 1 / (1 + np.exp(ratings[..., None, :] - ratings[..., :, None]))
        slope = (won - games * expected).sum(axis=-1)
        curvature = games * expected * (1 - expected)
        matrix = curvature.sum(axis=-1)[..., None] * diagonal - curvature + 1 / wins.shape[-1]
        change = np.clip(np.linalg.solve(matrix, slope[..., None])[..., 0], -1, 1)
        ratings += change
        if np.abs(change).max() < 1e-10:
            break
    return ratings - ratings.mean(axis=-1, keepdims=True)


class Standing(NamedTuple):
    """A player's line of the leaderboard."""

    player: str
    score_above_mean: Interval
    win_share: Interval
    rating: Interval
    ms_per_decision: float
    games: int
    faults: int
    seat_score_above_mean: list[Interval]
    seat_win_share: list[Interval]
    score_against: dict[str, Interval]


def leaderboard(matches: Iterable[Match], anchor: str | None = None, seed: int = 0) -> list[Standing]:
    """The standings after `matches` of the same number of deals, in whatever order; `anchor` is the label that is rated 0.

    A player's figures are means over all seats that it held in all games of all pairings.
    """
    matches = sorted(matches, key=lambda match: match.labels)
    labels = sorted({label for match in matches for label in match.labels})
    deals, _, seats = matches[0].deals.scores.shape
    size = len(labels)
    above, shares = np.zeros((2, deals, size, size, seats))  # sums by player, opponent and seat
    held = np.zeros((size, size, seats))
    wins = np.zeros((deals, size, size))
    decisions, seconds, games, faults = np.zeros((4, size))
    for match in matches:
        players = np.array([labels.index(label) for label in match.labels])
        opponents = players.min() + players.max() - players
        above_mean, win_shares, beats = match.deals.above, match.deals.wins, match.deals.beats
        for position, (player, opponent) in enumerate(zip(players, opponents, strict=True)):
            for rotation, seat in enumerate(match.deals.seats[:, position]):
                above[:, player, opponent, seat] += above_mean[:, rotation, position]
                shares[:, player, opponent, seat] += win_shares[:, rotation, position]
                held[player, opponent, seat] += 1
            for other in np.flatnonzero(players == opponent):
                wins[:, player, opponent] += beats[:, position, other]
            decisions[player] += match.deals.decisions[..., position].sum()
            seconds[player] += match.deals.seconds[position]
        games[np.unique(players)] += above_mean.shape[0] * above_mean.shape[1]
        for fault in match.deals.faults:
            faults[players[fault.position]] += 1

    weights = np.array([np.bincount(row, minlength=deals) for drawn in resamples(deals, seed) for row in drawn]) / deals

    def estimate(sums: np.ndarray, counts: np.ndarray) -> list:
        """Intervals of means over deals, by the axes of `counts`."""
        values = sums / np.maximum(counts, 1)
        low, high = limits(np.tensordot(weights, values, 1))
        return np.stack([values.mean(axis=0), low, high], axis=-1).tolist()

    by_player = estimate(above.sum(axis=(2, 3)), held.sum(axis=(1, 2)))
    shares_by_player = estimate(shares.sum(axis=(2, 3)), held.sum(axis=(1, 2)))
    by_seat = estimate(above.sum(axis=2), held.sum(axis=1))
    shares_by_seat = estimate(shares.sum(axis=2), held.sum(axis=1))
    by_opponent = estimate(above.sum(axis=3), held.sum(axis=2))
    drawn_wins = np.tensordot(weights, wins, 1) * deals
    ratings = ELO * bradley_terry(np.concatenate([wins.sum(axis=0)[None], drawn_wins]))
    if anchor is not None:
        ratings -= ratings[:, [labels.index(anchor)]]
    low, high = limits(ratings[1:])
    standings = [
        Standing(
            player=label,
            score_above_mean=Interval(*by_player[i]),
            win_share=Interval(*shares_by_player[i]),
            rating=Interval(float(ratings[0, i]), float(low[i]), float(high[i])),
            ms_per_decision=1e3 * float(seconds[i] / max(1, decisions[i])),
            games=int(games[i]),
            faults=int(faults[i]),
            seat_score_above_mean=[Interval(*by_seat[i][seat]) for seat in range(seats)],
            seat_win_share=[Interval(*shares_by_seat[i][seat]) for seat in range(seats)],
            score_against={other: Interval(*by_opponent[i][j]) for j, other in enumerate(labels) if held[i, j].any()},
        )
        for i, label in enumerate(labels)
    ]
    return sorted(standings, key=lambda standing: (-standing.score_above_mean.low, standing.player))


class Tournament:
    """A round robin in a folder; raises `InvalidOption` if the folder holds one that does not go together with it."""

    def __init__(self, arguments: Arguments):
        self.game: Game = cardenvs.find(arguments.game)
        self.num_players = self.game.default_players if arguments.num_players is None else arguments.num_players
        _, self.options = self.game.configure(self.num_players, parse_options(self.game, arguments.option))
        if arguments.games < 1:
            raise InvalidOption(f"games={arguments.games} is not allowed: it must be a whole number from 1")
        self.players = labelled(arguments.players)
        self.deals = deals_for(arguments.games, self.num_players)
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
            "deals": self.deals,
            "seed": self.seed,
            "time_limit": self.time_limit,
            "code": _digest(*sorted(Path(cardenvs.__file__).parent.rglob("*.py"))),
            "players": {label: _identity(spec) for label, spec in self.players.items()},
        }
        path = self.folder / "settings.json"
        if path.exists():
            kept = json.loads(path.read_text())
            settings["players"] = kept["players"] | settings["players"]
            names = [name for name in settings if name != "players" and settings[name] != kept[name]]
            names += [f"player {label}" for label, identity in kept["players"].items() if settings["players"][label] != identity]
            if names:
                raise InvalidOption(f"{self.folder} holds a tournament with another {', '.join(names)}: give another folder with --out")
        tables.write_whole(path, tables.json_text(settings))

    def play(self) -> list[Match]:
        """All matches: those that are finished in the folder are read, the others played."""
        matches = []
        pairs = pairings(self.players)
        for number, pair in enumerate(pairs, 1):
            print(f"{number}/{len(pairs)} {pair[0]} against {pair[1]}", flush=True)
            for line_up in line_ups(self.num_players):
                labels = tuple(pair[player] for player in line_up)
                name = "_".join(re.sub(r"[^\w.-]+", "-", label)[-40:] for label in labels[:2])
                path = self.folder / "matches" / f"{name}_{hashlib.sha256(json.dumps(labels).encode()).hexdigest()[:12]}.npz"
                if not path.exists():
                    path.parent.mkdir(exist_ok=True)
                    self.play_match(labels).save(path)
                matches.append(Match(labels, Deals.load(path)))
        return matches

    def play_match(self, labels: Sequence[str]) -> Deals:
        """Play one line-up."""
        with seated([self.players[label] for label in labels], self.time_limit) as players:
            progress = counter(self.deals, "deals")
            return play_deals(self.game, players, self.deals, self.seed, self.options, faults="loss", progress=progress)

    def report(self, matches: Sequence[Match], standings: Sequence[Standing]) -> str:
        """The results as Markdown."""
        options = ", ".join(f"{name}={value}" for name, value in self.options.items())
        games = self.deals * games_per_deal(self.num_players)
        parts = [
            f"# Tournament of {self.game.id}, {self.num_players} players",
            f"{options}. Every pairing: {games} games on the same {self.deals} deals, seed {self.seed}. "
            "Sorted by the lower bound of the score above the table's mean; intervals are 95 % bootstrap intervals over deals.",
            tables.markdown(
                [
                    {
                        "player": standing.player,
                        "score above mean": tables.signed(standing.score_above_mean),
                        "win share": tables.share(standing.win_share),
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

    def write(self, matches: Sequence[Match]) -> str:
        """Write leaderboard.md, .csv, .json, .png and faults.json; returns the first."""
        standings = leaderboard(matches, self.anchor)
        text = self.report(matches, standings)
        rows = [standing._asdict() for standing in standings]
        columns = ("player", "score_above_mean", "win_share", "rating", "ms_per_decision", "games", "faults")
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


def _told(fault: Fault, match: Match) -> dict[str, Any]:
    """A fault with the labels of who played."""
    return {"line_up": match.labels, "player": match.labels[fault.position], **asdict(fault)}


def _identity(spec: str) -> str:
    """The text of a player, and for a checkpoint its content."""
    if not spec.startswith("checkpoint:"):
        return spec
    from agents.network import find_policy

    return f"{spec} {_digest(find_policy(Path(spec.removeprefix('checkpoint:').partition('?')[0])))}"


def _digest(*paths: Path) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    arguments = parse(Arguments, argv)
    with told_plainly():
        tournament = Tournament(arguments)
        games = tournament.deals * games_per_deal(tournament.num_players)
        if games != arguments.games:
            print(f"{arguments.games} games are no whole number of duplicate deals with all rotations: every pairing plays {games}")
        try:
            matches = tournament.play()
        except KeyboardInterrupt:
            raise SystemExit(f"interrupted; finished matches are kept in {tournament.folder}: the same command goes on") from None
        print("\n" + tournament.write(matches))
        print(f"written to {tournament.folder}")


if __name__ == "__main__":
    main()
