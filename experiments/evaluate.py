"""A player against others, on duplicate deals.

    cardenvs evaluate recurrring-v0 --player strong --opponents easy --num-players 4 --option num_games=1

Every deal is played once per rotation of the seats with the same chance. Scores are printed scores above the mean of the
table; the winner's point is shared among ties; intervals are 95 % bootstrap intervals over deals.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import cardenvs
from cardenvs.errors import InvalidOption
from cardenvs.experiments import counter, parse, parse_options, tables, told_plainly
from cardenvs.experiments.matches import Deals, as_share, interval, play_deals, seated, warm_up


@dataclass
class Arguments:
    """Evaluate a player against others on duplicate deals."""

    game: str
    """id of the game, such as recurrring-v0"""
    player: str = "strong"
    """random, easy, strong, flat-mc:BUDGET, ismcts:BUDGET, ppo, checkpoint:PATH or module:Class"""
    opponents: tuple[str, ...] = ("random",)
    """one for all other seats, or one for each"""
    num_players: int | None = None
    """seats of the table (None: the game's usual number)"""
    option: tuple[str, ...] = ()
    """options of the game, as name=value"""
    deals: int = 1000
    """at least 2"""
    seed: int = 0
    """of deals and players; the same seed gives the same deals to any players"""
    time_limit: float = 5.0
    """seconds a decision for players of the form module:Class, which run in processes of their own"""
    out: Path | None = None
    """folder for results.json, results.csv and results.md"""


def line_up(player: str, opponents: Sequence[str], num_players: int) -> list[str]:
    """The player, and an opponent for each other seat."""
    others = [*opponents] * (num_players - 1) if len(opponents) == 1 else [*opponents]
    if len(others) != num_players - 1:
        raise InvalidOption(f"{len(opponents)} opponents are not allowed at {num_players} seats: give 1 for all or {num_players - 1}")
    return [player, *others]


def evaluate(arguments: Arguments) -> Deals:
    """Play the deals that the arguments ask for."""
    if arguments.deals < 2:
        raise InvalidOption(f"deals={arguments.deals} is not allowed: intervals need at least 2")
    game = cardenvs.find(arguments.game)
    num_players = game.default_players if arguments.num_players is None else arguments.num_players
    options = parse_options(game, arguments.option)
    game.configure(num_players, options)
    specs = line_up(arguments.player, arguments.opponents, num_players)
    with seated(specs, arguments.time_limit) as players:
        for spec in dict.fromkeys(specs):
            warm_up(game, num_players, spec)
        progress = counter(arguments.deals, "deals")
        return play_deals(game, players, arguments.deals, arguments.seed, options, faults="loss", progress=progress)


def player_rows(deals: Deals) -> list[dict[str, Any]]:
    """Results of the first player of the line-up, and of the others by name."""
    groups = {"player": [0]}
    for position, name in enumerate(deals.players[1:], 1):
        groups.setdefault(f"against {name}", []).append(position)
    return [
        {
            "player": deals.players[positions[0]] + (f" x{len(positions)}" if len(positions) > 1 else ""),
            "score_above_mean": interval(deals.above[..., positions]),
            "win_share": as_share(interval(deals.wins[..., positions])),
            "score": float(deals.scores[..., positions].mean()),
            "ms_per_decision": 1e3 * deals.seconds[positions].sum() / max(1, deals.decisions[..., positions].sum()),
            "faults": sum(fault.position in positions for fault in deals.faults),
        }
        for positions in groups.values()
    ]


def seat_rows(deals: Deals) -> list[dict[str, Any]]:
    """Results of the first player of the line-up by the seat that it held."""
    rows = []
    for seat in range(len(deals.players)):
        turns = deals.seats[:, 0] == seat
        rows.append(
            {
                "seat": seat,
                "score_above_mean": interval(deals.above[:, turns, 0]),
                "win_share": as_share(interval(deals.wins[:, turns, 0])),
            }
        )
    return rows


def report(deals: Deals, players: list[dict[str, Any]], seats: list[dict[str, Any]]) -> str:
    """The results as Markdown."""
    count, turns, positions = deals.scores.shape
    options = ", ".join(f"{name}={value}" for name, value in deals.options.items())
    player_table = [
        {
            "player": row["player"],
            "score above mean": tables.signed(row["score_above_mean"]),
            "win share": tables.share(row["win_share"]),
            "score": f"{row['score']:.2f}",
            "ms/decision": f"{row['ms_per_decision']:.4f}",
            "lost by fault": str(row["faults"]),
        }
        for row in players
    ]
    seat_table = [
        {
            "seat": f"player_{row['seat']}",
            "score above mean": tables.signed(row["score_above_mean"]),
            "win share": tables.share(row["win_share"]),
        }
        for row in seats
    ]
    return "\n\n".join(
        [
            f"{deals.game}, {positions} players, {options}: {count} deals x {turns} rotations, seed {deals.seed}",
            tables.markdown(player_table),
            f"{deals.players[0]} by seat:",
            tables.markdown(seat_table),
            *tables.fault_lines(deals.players, deals.faults),
        ]
    )


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    arguments = parse(Arguments, argv)
    with told_plainly():
        deals = evaluate(arguments)
    players, seats = player_rows(deals), seat_rows(deals)
    text = report(deals, players, seats)
    print(text)
    if arguments.out:
        results = {
            "arguments": {**asdict(arguments), "out": str(arguments.out)},
            "options": deals.options,
            "players": players,
            "seats": seats,
            "mean_decisions_per_game": float(np.mean(deals.decisions.sum(axis=2))),
            "truncated": float(deals.truncated.mean()),
            "faults": [asdict(fault) for fault in deals.faults],
        }
        tables.write_whole(arguments.out / "results.json", tables.json_text(results))
        tables.write_whole(arguments.out / "results.csv", tables.csv_text(players))
        tables.write_whole(arguments.out / "results.md", text + "\n")


if __name__ == "__main__":
    main()
