"""The whole way in a few minutes: train an agent of ReCURRRing by self-play, evaluate it on duplicate deals, say where the plot lies.

cardenvs demo --minutes 2
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cardenvs.experiments import evaluate, parse, tables, train


@dataclass
class Arguments:
    """Train for a short time, then evaluate."""

    game: str = "recurrring-v0"
    """id of the game"""
    minutes: float = 2.0
    """of training"""
    deals: int = 500
    """duplicate deals against each kind of opponent"""
    seed: int = 0
    """of training, deals and players"""
    option: tuple[str, ...] = ("num_games=1",)
    """options of the game, as name=value"""
    runs: Path = Path("runs")
    """folder for the run"""


def main(argv: Sequence[str] | None = None) -> str:
    """The command line; returns the table that it prints."""
    arguments = parse(Arguments, argv)
    options = ["--option", *arguments.option] if arguments.option else []
    budget = ["--minutes", str(arguments.minutes), "--evaluations", "4", "--seed", str(arguments.seed)]
    run = train.main([arguments.game, *budget, *options, "--runs", str(arguments.runs), "--name", "demo"])
    rows = []
    for opponent in ("random", "easy", "strong"):
        player = f"checkpoint:{run}"
        deals = evaluate.evaluate(
            evaluate.Arguments(
                arguments.game, player=player, opponents=(opponent,), option=arguments.option, deals=arguments.deals, seed=arguments.seed
            )
        )
        row = evaluate.player_rows(deals)[0]
        rows.append(
            {
                "trained agent against": f"{len(deals.players) - 1} x {opponent}",
                "score above mean": tables.signed(row["score_above_mean"]),
                "win share": tables.share(row["win_share"]),
            }
        )
    table = tables.markdown(rows)
    print(f"\n{arguments.game}, {arguments.deals} duplicate deals each, 95 % intervals over deals:\n\n{table}\n")
    print(f"learning curve: {run}/learning_curve.png")
    print(f"all of the run:  {run}")
    print(f"play against it: cardenvs play {arguments.game} --opponents checkpoint:{run}")
    return table


if __name__ == "__main__":
    main()
