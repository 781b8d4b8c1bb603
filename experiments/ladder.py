"""The ladder of every game, measured: each player against each other, and at tables of different players.

    cardenvs ladder --budget small
    cardenvs ladder --budget full --publish
    cardenvs ladder --games ringer-v0 --players mymodule:MyPlayer mine=checkpoint:RUN

Each game is a tournament (see `cardenvs.experiments.tournament`) in a folder of its own, so that the same command goes on where it was
interrupted, and players of yours join a ladder that is already measured. Searches, and players of yours, play fewer deals than
the others: what is known of them is rougher. With `--budget medium` or `full` a best response (see `cardenvs.experiments.best_response`) is
trained against every scripted player and every network; it begins as the game's own network.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import cardenvs
from cardenvs.core.game import POLICIES
from cardenvs.errors import InvalidOption
from cardenvs.experiments import parse, tables, told_plainly, tournament
from cardenvs.experiments.best_response import Arguments as BestResponse
from cardenvs.experiments.best_response import best_response
from cardenvs.experiments.matches import Interval
from cardenvs.experiments.tournament import Standing, Tournament, deals_for, games_per_deal, leaderboard

ROOT = Path(__file__).resolve().parents[1]

LADDER = ("random", "easy", "strong", "flat-mc:100", "ismcts:100", "ppo")
"""Players that every game has."""

START, END = "<!-- leaderboard -->", "<!-- /leaderboard -->"


@dataclass(frozen=True)
class Budget:
    """What is spent on one game."""

    games: int
    """of each pairing"""
    mixed_games: int
    """of each table of different players"""
    search_games: int
    """of either where a search takes part"""
    responses: int
    """choices of each best response; 0 trains none"""


BUDGETS = {
    "small": Budget(1000, 400, 16, 0),
    "medium": Budget(1000, 400, 32, 200_000),
    "full": Budget(4000, 1000, 128, 200_000),
}

RESPONSE_DEALS = 1000
"""On which a best response is evaluated."""


@dataclass
class Arguments:
    """Measure the ladder of every game."""

    budget: Literal["small", "medium", "full"] = "small"
    """small: about ten minutes on two cores, when all is compiled; medium: with best responses, about 35; full: more than an hour"""
    games: tuple[str, ...] = ()
    """ids; all games if none is named"""
    players: tuple[str, ...] = ()
    """further players: checkpoint:PATH, module:Class, … ; label=… before one gives it another name"""
    num_players: int = 4
    """seats of the tables"""
    seed: int = 0
    """of deals and players"""
    time_limit: float = 5.0
    """seconds a decision for players of the form module:Class, which run in processes of their own"""
    workers: int = os.cpu_count() or 1
    """matches that are played at the same time"""
    out: Path | None = None
    """folder of the results (None: runs/leaderboard-BUDGET)"""
    publish: bool = False
    """write the results to leaderboard/ and the README of this checkout, too"""


def measure(arguments: Arguments, game_id: str, folder: Path) -> dict[str, Any]:
    """Play the ladder of one game in `folder`, where the tournament is written too; returns its results."""
    budget = BUDGETS[arguments.budget]
    ladder = Tournament(
        tournament.Arguments(
            game_id,
            players=(*LADDER, *arguments.players),
            num_players=arguments.num_players,
            seed=arguments.seed,
            time_limit=arguments.time_limit,
            workers=arguments.workers,
            out=folder,
            games=budget.games,
            mixed_games=budget.mixed_games,
            search_games=budget.search_games,
        )
    )
    matches = ladder.play()
    standings = leaderboard(matches, ladder.anchor)
    ladder.write(matches, standings)
    gains = respond(ladder, arguments, budget, folder) if budget.responses else {}
    return {
        "game": game_id,
        "title": ladder.game.title,
        "budget": arguments.budget,
        **asdict(budget),
        "num_players": arguments.num_players,
        "seed": arguments.seed,
        "workers": arguments.workers,
        "standings": [standing._asdict() for standing in standings],
        "gains": gains,
    }


def respond(ladder: Tournament, arguments: Arguments, budget: Budget, folder: Path) -> dict[str, Interval]:
    """The shares of wins of greedy best responses to the players that can be trained against; kept in files, like matches."""
    targets = {label: spec for label, spec in ladder.players.items() if spec in POLICIES or spec.partition(":")[0] in ("ppo", "checkpoint")}
    settings = {
        label: BestResponse(
            game=ladder.game.id,
            target=spec,
            budgets=(budget.responses,),
            start="ppo" if "ppo" in targets.values() else None,
            imitated=budget.responses // 4,
            num_players=ladder.num_players,
            reward=ladder.options["reward"],
            deals=RESPONSE_DEALS,
            seed=arguments.seed,
        )
        for label, spec in targets.items()
    }
    paths = {label: folder / "responses" / f"{label}-{_digest_of(setting)}.json" for label, setting in settings.items()}
    left = [label for label, path in paths.items() if not path.exists()]
    with tournament.processes(arguments.workers) as run_all:
        trained = run_all(_respond, [settings[label] for label in left], [paths[label] for label in left])
        for label, seconds in zip(left, trained, strict=True):
            print(f"best response to {label}: {seconds:.0f} s", flush=True)
    return {label: _greedy_wins(json.loads(path.read_text())) for label, path in paths.items()}


def _respond(settings: BestResponse, path: Path) -> float:
    rows = best_response(settings)
    tables.write_whole(path, tables.json_text(rows))
    return rows[-1]["seconds"]


def _digest_of(settings: BestResponse) -> str:
    """Of the settings, and of the code that trains."""
    sources = [Path(__file__).with_name(f"{name}.py").read_bytes() for name in ("best_response", "binary", "learner", "selfplay")]
    return hashlib.sha256(repr(settings).encode() + b"".join(sources)).hexdigest()[:12]


def _greedy_wins(rows: list[dict[str, Any]]) -> Interval:
    (row,) = (row for row in rows if row["policy"] == "greedy")
    return Interval(*row["win_share"])


def read(path: Path) -> dict[str, Any]:
    """Results of a game from a file, with standings as such."""
    results = json.loads(path.read_text())
    for row in results["standings"]:
        for name, value in row.items():
            if Standing.__annotations__[name] in (Interval, Interval | None) and value is not None:
                row[name] = Interval(*value)
    results["gains"] = {label: Interval(*gain) for label, gain in results["gains"].items()}
    return results


def table(results: dict[str, Any]) -> str:
    """A game's ladder as Markdown."""
    rows, gains = [Standing(**row) for row in results["standings"]], results["gains"]
    return tables.markdown(
        [
            {
                results["title"]: f"`{row.player}`",
                "score above mean": tables.signed(row.score_above_mean),
                "wins": tables.share(row.win_share),
                **tournament.mixed_cells(row),
                "rating": "{:.0f} [{:.0f}, {:.0f}]".format(*row.rating),
                "ms/decision": f"{row.ms_per_decision:.3f}",
                **({"best response wins": tables.share(gains[row.player]) if row.player in gains else ""} if gains else {}),
            }
            for row in rows
        ]
    )


def section(results: Sequence[dict[str, Any]]) -> str:
    """The ladders of all games as Markdown, with how they were measured."""
    first = results[0]
    settings = ("budget", "num_players", "seed", "workers", *Budget.__annotations__)
    for row in results:
        if names := [name for name in settings if row[name] != first[name]]:
            raise InvalidOption(f"{first['game']} and {row['game']} were measured with another {', '.join(names)}: measure both alike")
    seats = first["num_players"]

    def games(number: int) -> str:
        deals = deals_for(number, seats)
        return f"{deals * games_per_deal(seats):,} games on {deals:,} deals"

    text = (
        f"`cardenvs ladder --budget {first['budget']}`, {seats} seats, seed {first['seed']}. Every pairing "
        f"plays {games(first['games'])}, with a search {games(first['search_games'])}. *mixed* are tables of {seats} different players, "
        f"{first['mixed_games']:,} games each, with a search {first['search_games']:,}. Ratings are Bradley-Terry's over "
        "all of these games, `random` at 0, 400 points are ten to one. Intervals are 95 % bootstrap intervals over deals; players are "
        f"sorted by the lower bound of their score. Times are means while {first['workers']} matches ran at once: scripted players and "
        "networks decide for many tables together where no search takes part."
    )
    if first["responses"]:
        text += (
            f" *best response wins* is what a learner wins in one seat with that player in all others ({1 / seats:.0%} is a fair share), "
            f"when it begins as `ppo` and trains for {first['responses']:,} choices, greedy on {RESPONSE_DEALS:,} deals. It is a lower "
            "bound on what one seat can win; where it is below the fair share, nothing was found that beats a copy of the player."
        )
    return "\n\n".join([text, *map(table, results)])


def write_readme(readme: Path, text: str) -> None:
    """Put `text` between the marks of the README."""
    before, start, rest = readme.read_text().partition(START)
    _, end, after = rest.partition(END)
    if not (start and end):
        raise InvalidOption(f"{readme} has no place for the tables: it must hold {START} and after it {END}")
    tables.write_whole(readme, f"{before}{START}\n\n{text}\n\n{END}{after}")


def published(*folders: Path) -> str:
    """The section of the README that belongs to the results in folders; those of a game are taken from the first that has them."""
    found = [[path for folder in folders if (path := folder / f"{game_id}.json").exists()] for game_id in cardenvs.game_ids()]
    return section([read(paths[0]) for paths in found if paths])


def publish(folder: Path, checkout: Path) -> None:
    """Put the results in `folder`, if they go together with those that stay, into leaderboard/ and the README of a checkout."""
    place = checkout / "leaderboard"
    write_readme(checkout / "README.md", published(folder, place))
    for game_id in cardenvs.game_ids():
        if (folder / f"{game_id}.json").exists():
            for name in (f"{game_id}.json", f"{game_id}.png"):
                tables.write_whole(place / name, (folder / name).read_bytes())


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    arguments = parse(Arguments, argv)
    folder = arguments.out or Path("runs") / f"leaderboard-{arguments.budget}"
    with told_plainly():
        if unknown := set(arguments.games) - set(cardenvs.game_ids()):
            raise InvalidOption(f"no game is called {', '.join(sorted(unknown))}; there are {', '.join(cardenvs.game_ids())}")
        if arguments.publish and arguments.players:
            raise InvalidOption("players of your own cannot be published: leave out --players or --publish")
        try:
            for game_id in arguments.games or cardenvs.game_ids():
                print(f"{game_id}:", flush=True)
                results = measure(arguments, game_id, folder / game_id)
                tables.write_whole(folder / f"{game_id}.json", tables.json_text(results))
                tables.write_whole(folder / f"{game_id}.png", (folder / game_id / "leaderboard.png").read_bytes())
                print(f"\n{table(read(folder / f'{game_id}.json'))}\n", flush=True)
        except KeyboardInterrupt:
            raise SystemExit(f"interrupted; finished matches are kept in {folder}: the same command goes on") from None
        tables.write_whole(folder / "leaderboard.md", published(folder) + "\n")
        if arguments.publish:
            publish(folder, ROOT)
    print(f"written to {folder}")


if __name__ == "__main__":
    main()
