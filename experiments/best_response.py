"""How much one seat can gain against a frozen player in all others: a learner is trained to find out.

    cardenvs best-response recurrring-v0 --target easy --budgets 250000 1000000

The learner holds one seat of each table, drawn for each game. It begins as the target itself (or as another player, `--start`):
a network's weights are copied, then choices of that player are imitated. From there on it is trained with MaskablePPO. When it has made
as many choices as a budget says, it is evaluated on duplicate deals that are drawn apart from those of training, the same for
all budgets: drawing its actions, and greedy.

If all seats were the target's, each would get the mean of the table on average over its rotations; so what the learner gets
above that is its gain. A trained gain is a lower bound: a best response may gain more. (Approximate best responses as a measure
of exploitability: E. Timbers et al., "Approximate exploitability: learning a best response", 2022.)
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from cardenvs import agents
from cardenvs.agents import BatchAgent, CompiledAgent
from cardenvs.core.game import Game
from cardenvs.envs.common import lane_words
from cardenvs.errors import InvalidOption
from cardenvs.experiments import counter, parse, parse_options, tables, told_plainly
from cardenvs.experiments.matches import as_share, interval, play_deals
from cardenvs.experiments.selfplay import Pool, SeatVecEnv
from cardenvs.registry import find

try:
    from cardenvs.experiments.learner import Learning, Snapshot, imitate, learn, make_learner, policy_layers, set_policy_layers
except ImportError as error:
    raise SystemExit(f"training needs {error.name}, which the extra [train] installs: pip install 'cardenvs[train]'") from error

LOWER_BOUND = (
    "A gain is what a trained player gets in one seat above what the target would get there, with 95 % intervals over deals. "
    "It is a lower bound on what one seat can gain, not the exploitability itself: a better response may exist. "
    "Both policies of all budgets are shown, evaluated on the same deals; none was picked by its result."
)


@dataclass(frozen=True, kw_only=True)
class Arguments(Learning):
    """Train a player in one seat against a frozen one in all others."""

    game: str
    """id of the game, such as recurrring-v0"""
    target: str = "strong"
    """the frozen player: random, easy, strong, ppo, checkpoint:PATH, or another that decides in batches (it sees the option reward)"""
    budgets: tuple[int, ...] = (250_000, 1_000_000)
    """choices of the learner after which it is evaluated; the schedules end with the largest, 0 is how it begins"""
    start: str | None = None
    """player that the learner begins as (None: the target); a network brings its own `layers`"""
    imitated: int = 1_000_000
    """choices of that player that are imitated before training, beside the budgets; for a network, whose weights are there, fewer do"""
    num_players: int | None = None
    """seats of the table (None: the game's usual number)"""
    reward: Literal["score", "win"] = "score"
    """what the learner is paid: the scores (G-11), or the win (G-10)"""
    option: tuple[str, ...] = ()
    """further options of the game, as name=value"""
    deals: int = 2000
    """of each evaluation, at least 2"""
    seed: int = 0
    """of everything"""
    out: Path | None = None
    """folder for results.json, results.csv and results.md"""

    learning_rate: tuple[float, float] = (5e-4, 0.0)
    """At the start and at the end; linear in between."""
    entropy: tuple[float, float] = (0.01, 0.0)
    """Coefficient of the entropy bonus, at the start and at the end. A best response has no need to mix."""

    def check(self) -> None:
        """See `Learning.check`."""
        super().check()
        if not self.budgets or min(self.budgets) < 0:
            raise InvalidOption(f"budgets={self.budgets} is not allowed: give one or more whole numbers from 0")
        self.at_least(imitated=0, deals=2)
        lane_words(self.seed, 1)

    def game_options(self, game: Game) -> dict[str, Any]:
        """Options of all tables."""
        return {"reward": self.reward} | parse_options(game, self.option)


def best_response(
    arguments: Arguments,
    progress: Callable[[int], None] | None = None,
    evaluated: Callable[[list[dict[str, Any]]], None] | None = None,
) -> list[dict[str, Any]]:
    """Train against the target; returns two rows for each budget, of the `sampling` and the `greedy` policy.

    A row has `game`, `num_players`, `target`, `budget`, `decisions` (the learner's choices in training, those of whole updates),
    `seconds` of imitation and training, `policy`, `return_gain` (sum of rewards), `score_gain` (printed points) and `win_share` as
    intervals, `deals` and `seed`. `progress` is called now and then with the number of choices, imitated ones included;
    `evaluated` after each budget with the rows so far.
    """
    arguments.check()
    game = find(arguments.game)
    options = arguments.game_options(game)
    num_players = game.default_players if arguments.num_players is None else arguments.num_players
    game.configure(num_players, options)
    env_seed, learner_seed, evaluation_seed, *player_seeds = np.random.SeedSequence(arguments.seed).generate_state(5).tolist()
    target = make_frozen(arguments.target, game, num_players, player_seeds[0])
    start = make_frozen(arguments.start or arguments.target, game, num_players, player_seeds[1])
    network = getattr(start, "layers", None)
    learning = replace(arguments, layers=tuple(len(bias) for _, bias in network[:-1])) if network else arguments

    env = make_tables(learning, game, num_players, options, target, env_seed)
    model = make_learner(learning, env, learner_seed)
    if network:
        set_policy_layers(model, network)
    began = time.perf_counter()
    imitated = 0
    while imitated < learning.imitated:
        imitate(model, learning, start.policy if isinstance(start, CompiledAgent) else start, imitated / learning.imitated)
        imitated += learning.tables * learning.steps
        if progress:
            progress(imitated)
    seconds = time.perf_counter() - began

    budgets, rows = sorted({*learning.budgets}), []
    for budget in budgets:
        began = time.perf_counter()
        while model.num_timesteps < budget:
            learn(model, learning, model.num_timesteps / budgets[-1])
            if progress:
                progress(imitated + model.num_timesteps)
        seconds += time.perf_counter() - began
        for policy in ("sampling", "greedy"):
            player = Snapshot(policy_layers(model), greedy=policy == "greedy")
            match = play_deals(game, [player, *[target] * (num_players - 1)], learning.deals, evaluation_seed, options)
            rows.append(
                {
                    "game": game.id,
                    "num_players": num_players,
                    "target": arguments.target,
                    "budget": budget,
                    "decisions": model.num_timesteps,
                    "seconds": round(seconds, 1),
                    "policy": policy,
                    "return_gain": interval(match.returns[..., 0]),  # the returns of a table add up to zero
                    "score_gain": interval(match.above[..., 0]),
                    "win_share": as_share(interval(match.wins[..., 0])),
                    "deals": arguments.deals,
                    "seed": arguments.seed,
                }
            )
        if evaluated:
            evaluated(rows)
    return rows


def make_frozen(spec: str, game: Game, num_players: int, seed: int) -> CompiledAgent | BatchAgent:
    """The player of a text for `cardenvs.agents.make`, ready to decide for any seat of many tables; `InvalidOption` if it cannot."""
    player = agents.make(spec)
    if not isinstance(player, CompiledAgent | BatchAgent):
        raise InvalidOption(
            f"{spec} is not allowed: a player that is trained against or imitated decides at many tables at once; "
            "random, easy, strong, checkpoint:PATH and classes with act_batch do"
        )
    if hasattr(player, "reset"):
        player.reset(game, num_players, 0, seed)
    return player


def make_tables(
    learning: Learning, game: Game, num_players: int, options: dict[str, Any], target: CompiledAgent | BatchAgent, seed: int
) -> SeatVecEnv:
    """Tables where the target holds all seats but one."""
    if isinstance(target, CompiledAgent):
        pool = Pool([target.name], 0)
    else:
        pool = Pool([], 1)
        pool.add(target)
    shaping = learning.shaping
    return SeatVecEnv(
        game, learning.tables, num_players, seed=seed, pool=pool, pool_share=1.0, one_learner=True, shaping=shaping, **options
    )


def report(rows: Sequence[dict[str, Any]], options: dict[str, Any]) -> str:
    """The results as Markdown."""
    first = rows[0]
    others = first["num_players"] - 1
    settings = ", ".join(f"{name}={value}" for name, value in options.items())
    table = [
        {
            "decisions": f"{row['decisions']:,}",
            "policy": row["policy"],
            "return gained": tables.signed(row["return_gain"], 3),
            "score gained": tables.signed(row["score_gain"]),
            f"win share ({1 / (others + 1):.1%} is fair)": tables.share(row["win_share"]),
            "seconds": f"{row['seconds']:.0f}",
        }
        for row in rows
    ]
    return "\n\n".join(
        [
            f"{first['game']}, {settings}: one seat trained against {first['target']} in {others} other{'s' if others > 1 else ''}; "
            f"{first['deals']} duplicate deals, seed {first['seed']}",
            tables.markdown(table),
            LOWER_BOUND,
        ]
    )


def write(rows: Sequence[dict[str, Any]], arguments: Arguments) -> None:
    """Write results.json, .csv and .md to the folder of the arguments, if there is one."""
    if not arguments.out:
        return
    options = arguments.game_options(find(arguments.game))
    results = {"arguments": {**asdict(arguments), "out": str(arguments.out)}, "options": options, "meaning": LOWER_BOUND, "rows": rows}
    tables.write_whole(arguments.out / "results.json", tables.json_text(results))
    tables.write_whole(arguments.out / "results.csv", tables.csv_text(rows))
    tables.write_whole(arguments.out / "results.md", report(rows, options) + "\n")


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    arguments = parse(Arguments, argv)
    progress = counter(arguments.imitated + max(arguments.budgets, default=0), "choices")
    with told_plainly():
        try:
            rows = best_response(arguments, progress, lambda rows: write(rows, arguments))
        except KeyboardInterrupt:
            raise SystemExit("interrupted; with --out, what was found at finished budgets is kept there") from None
    print(report(rows, arguments.game_options(find(arguments.game))))


if __name__ == "__main__":
    main()
