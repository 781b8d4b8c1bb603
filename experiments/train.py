"""Train a player by self-play of all seats.

cardenvs train recurrring-v0 --minutes 10
cardenvs train --config RUN/config.yaml
cardenvs train --resume RUN
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from cardenvs import agents
from cardenvs.agents.network import header_of
from cardenvs.core.game import POLICIES, Game
from cardenvs.errors import InvalidOption
from cardenvs.experiments import parse_options, refuse_repetitions, tables, told_plainly
from cardenvs.experiments.matches import Interval, as_share, interval, play_deals
from cardenvs.registry import find

try:
    import torch
    import tyro
    import yaml
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from safetensors.torch import load_file, save

    from cardenvs.experiments.learner import SelfPlay, Snapshot, imitate, learn, make_learner, make_tables, measure_ceiling, policy_layers
    from cardenvs.experiments.runs import RunFolder, now, to_arrays
except ImportError as error:
    raise SystemExit(f"training needs {error.name}, which the extra [train] installs: pip install 'cardenvs[train]'") from error


@dataclass(frozen=True)
class Config(SelfPlay):
    """Train a player by self-play of all seats with MaskablePPO."""

    game: tyro.conf.Positional[str] = ""
    """Id of the game, for example recurrring-v0."""
    num_players: int | None = None
    """Seats; None takes the game's usual number."""
    reward: Literal["score", "win"] = "score"
    """What the learner is paid: the scores (G-11), or the win (G-10)."""
    option: tuple[str, ...] = ()
    """Further options of the game, as name=value."""
    minutes: float | None = None
    """Stop after so many minutes of training and evaluation, imitation apart; 10 if no budget is given."""
    decisions: int | None = None
    """Stop after so many choices of the learner. Only runs with this budget alone can be repeated exactly. With 0 it only imitates."""
    seed: int = 0
    name: str = "selfplay"
    """Part of the name of the run folder."""
    runs: Path = Path("runs")
    """Where run folders are made."""

    imitate: Literal["easy", "strong"] | None = None
    """Compiled player whose choices the policy learns to predict before self-play begins."""
    imitated: int = 2_000_000
    """So many of its choices."""

    snapshot_every: int = 25
    """After so many updates the policy joins the pool, and a checkpoint is written."""
    evaluations: int = 10
    """Evaluations, evenly spread over the budget, after a first one before self-play."""
    against: tuple[str, ...] = ("random", "easy", "strong")
    """Players to evaluate against, of one kind at all other seats; best is the policy that earns most of the reward on their average."""
    deals: int = 100
    """Duplicate deals in each evaluation."""

    config: Path | None = None
    """Take the settings from this config.yaml of a run, save for those on the command line."""
    resume: Path | None = None
    """Go on with the run in this folder from its last checkpoint."""
    ceiling: bool = False
    """Do not train, but measure how much of the learner's own speed remains with the game."""

    @classmethod
    def load(cls, path: Path) -> "Config":
        """The settings in a config.yaml."""
        try:
            values = yaml.safe_load(path.read_text())
        except OSError as error:
            raise InvalidOption(f"there is no run to read: {error}") from error
        if unknown := sorted(set(values) - {field.name for field in fields(cls)}):
            raise InvalidOption(f"{path} has unknown settings: {', '.join(unknown)}")
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        return cls(**values | {"runs": Path(values["runs"])})

    def check(self) -> None:
        """See `Learning.check`; nothing has been made by then."""
        super().check()
        self.at_least(snapshot_every=1, imitated=1, decisions=0, minutes=0, evaluations=0, deals=2, seed=0)
        for player in self.against:
            agents.make(player)  # raises for what is no player

    def saved(self) -> dict[str, Any]:
        """The settings for config.yaml."""
        return {name: value for name, value in asdict(self).items() if name not in ("config", "resume", "ceiling")} | {
            "runs": str(self.runs)
        }

    def game_options(self, game: Game) -> dict[str, Any]:
        """Options of the tables that the learner plays at."""
        return {"reward": self.reward} | parse_options(game, self.option)


FIXED = ("game", "num_players", "reward", "option", "tables", "layers")
"""Settings that a run keeps when it goes on."""


class Training:
    """One run: the learner, its tables, and the folder where all of it is kept."""

    def __init__(self, config: Config, folder: Path | None = None):
        """Start a run, or go on with the one in `folder`."""
        self.config = config
        self.game = find(config.game)
        self.options = config.game_options(self.game)
        env_seed, learner_seed, self.evaluation_seed = np.random.SeedSequence(config.seed).generate_state(3).tolist()
        self.env = make_tables(config, self.game, config.num_players, self.options, env_seed)
        self.model = make_learner(config, self.env, learner_seed)
        self.updates = self.evaluated = self.imitated = 0
        self.saved = -1
        self.best = -np.inf
        self.earlier_seconds = 0.0
        self.snapshot_files: dict[int, str] = {}
        layers = [name.removesuffix(".weight") for name in policy_layers(self.model) if name.endswith(".weight")]
        self.header = header_of(self.game, layers, self.options)
        self.model.header = self.header  # type: ignore[attr-defined]
        self.start = time.monotonic()
        if folder:
            self.run = RunFolder(folder)
            self.restore()
            self.run.resume(config.saved())
        else:
            seats = self.env.num_players
            self.run = RunFolder.create(config.runs, self.game, seats, "maskable-ppo", config.name, config.seed, config.saved())

    @property
    def decisions(self) -> int:
        """Choices of the learner so far."""
        return self.model.num_timesteps

    @property
    def seconds(self) -> float:
        """Of training and evaluation, with those before a resumption."""
        return self.earlier_seconds + time.monotonic() - self.start

    @property
    def progress(self) -> float:
        """The share of the budget that is used up, at most 1; of two budgets, of the one that ends first."""
        spent = (self.decisions, self.config.decisions), (self.seconds / 60, self.config.minutes)
        return min(max(used / budget if budget else 1.0 for used, budget in spent if budget is not None), 1.0)

    def train(self, console: Console) -> None:
        """Train, evaluate and keep everything until the budget is used up."""
        columns = BarColumn(), TextColumn("{task.percentage:.0f} %  {task.description}"), TimeElapsedColumn(), TimeRemainingColumn()
        with Progress(*columns, console=console) as bar:
            task = bar.add_task("0 decisions/s", total=1.0)
            self.imitate(console, lambda done, text: bar.update(task, completed=done, description=text))
            while True:
                progress = self.progress
                bar.update(task, completed=progress)
                self.evaluate_if_due(progress, console)
                if self.updates > self.saved and (progress == 1 or self.updates % self.config.snapshot_every == 0):
                    self.save_checkpoint()
                if progress == 1:
                    break
                speed = self.update(progress)
                bar.update(task, description=f"{speed:,.0f} decisions/s")
        self.run.write_meta(finished=now(), seconds=round(self.seconds), decisions=self.decisions)
        self.run.close()

    def imitate(self, console: Console, show: Callable[[float, str], None]) -> None:
        """Learn to predict the choices of the player that is to be imitated, if there is one and it was not done before.

        The clock of the budget starts after it. A run that dies meanwhile begins anew when it is resumed.
        """
        player = self.config.imitate
        if not player or self.imitated:
            return
        self.save_checkpoint()
        start, done, same = time.monotonic(), 0, 0.0
        while done < self.config.imitated:
            show(done / self.config.imitated, f"imitating {player}")
            same = imitate(self.model, self.config, POLICIES.index(player), done / self.config.imitated)
            done += self.config.tables * self.config.steps
        self.imitated, self.saved = done, -1
        seconds = round(time.monotonic() - start)
        self.run.write_meta(imitation={"player": player, "choices": done, "predicted": round(same, 3), "seconds": seconds})
        console.print(f"learned from {done:,} choices of {player}: {same:.1%} predicted in the end, {seconds} s")
        self.start = time.monotonic()

    def update(self, progress: float) -> float:
        """One rollout and what is learned from it; returns the learner's choices per second."""
        start = time.perf_counter()
        learn(self.model, self.config, progress)
        self.updates += 1
        speed = self.config.tables * self.config.steps / (time.perf_counter() - start)
        learned = self.model.logger.name_to_value
        row = {
            "decisions": self.decisions,
            "updates": self.updates,
            "all_decisions": self.env.decisions,
            "games": self.env.games,
            "progress": progress,
            "learning_rate": learned["train/learning_rate"],
            "entropy_coefficient": self.model.ent_coef,
            "entropy": -learned["train/entropy_loss"],
            "policy_loss": learned["train/policy_gradient_loss"],
            "value_loss": learned["train/value_loss"],
            "explained_variance": learned["train/explained_variance"],
            "approx_kl": learned["train/approx_kl"],
            "clip_fraction": learned["train/clip_fraction"],
            "seconds": self.seconds,
            "decisions_per_second": speed,
        }
        self.run.add_progress({name: value if isinstance(value, int) else float(f"{value:.6g}") for name, value in row.items()})
        return speed

    def due(self, progress: float) -> int:
        """How many evaluations belong to so much of the budget."""
        return int(progress * self.config.evaluations) + 1

    def evaluate_if_due(self, progress: float, console: Console) -> None:
        """Evaluate, if the next share of the budget is used up."""
        due = self.due(progress)
        if self.evaluated >= due or not self.config.evaluations or not self.config.against:
            return
        self.evaluated = due
        for policy in ("sampling", "greedy"):
            means = []
            player = Snapshot(policy_layers(self.model), greedy=policy == "greedy")
            for opponent in self.config.against:
                score, win = self.evaluate(player, opponent)
                means.append(win.mean if self.config.reward == "win" else score.mean)
                console.print(
                    f"{self.decisions:>12,} decisions, {policy} against {opponent}: score {tables.signed(score)}, wins {tables.share(win)}",
                    highlight=False,
                    soft_wrap=True,
                )
                self.run.add_evaluation(
                    {
                        "decisions": self.decisions,
                        "seconds": round(self.seconds, 1),
                        "policy": policy,
                        "opponent": opponent,
                        "deals": self.config.deals,
                        "score_above_mean": score,
                        "win_share": win,
                    }
                )
            if policy == "sampling" and np.mean(means) > self.best:
                self.best = float(np.mean(means))
                self.save_best()
        self.run.plot(self.game, self.env.num_players)

    def evaluate(self, player: Snapshot, opponent: str) -> tuple[Interval, Interval]:
        """Score above the table's mean and share of wins of the player among opponents of one kind, on duplicate deals."""
        others = [agents.make(opponent) for _ in range(self.env.num_players - 1)]
        match = play_deals(self.game, [player, *others], self.config.deals, self.evaluation_seed, self.options)
        return interval(match.above[..., 0]), as_share(interval(match.wins[..., 0]))

    def save_best(self) -> None:
        """Write best.zip, an ordinary file of MaskablePPO, and policy.safetensors; meta.json says after how many choices it was."""
        self.run.save_model(self.model)
        self.save_policy(self.run.path / "policy.safetensors")
        self.run.write_meta(best=self.decisions)

    def save_policy(self, path: Path) -> None:
        """Write the weights that choose actions, with a header that says what they are for."""
        tables.write_whole(path, save(policy_layers(self.model), {"header": json.dumps(self.header)}))

    def save_checkpoint(self) -> None:
        """Let the policy join the pool, once it has learned something, and write all that is needed to go on from here."""
        self.saved = self.updates
        pool, name = self.env.pool, f"{self.decisions:012d}.safetensors"
        self.save_policy(self.run.checkpoints / name)
        if self.updates:
            self.snapshot_files[pool.add(Snapshot(policy_layers(self.model)))] = name
        pool.forget(self.env.opponents)
        self.snapshot_files = {number: self.snapshot_files[number] for number in pool.snapshots}
        self.run.save_checkpoint(
            {
                "decisions": self.decisions,
                "updates": self.updates,
                "evaluated": self.evaluated,
                "imitated": self.imitated,
                "seconds": self.seconds,
                "best": float(self.best),
                "policy": self.model.policy.state_dict(),
                "optimizer": self.model.policy.optimizer.state_dict(),
                "torch": torch.get_rng_state(),
                "numpy": list(np.random.get_state()),  # noqa: NPY002 - MaskablePPO shuffles with the global generator
                "env": self.env.save(),
                "episode_starts": self.model._last_episode_starts,
                "snapshots": self.snapshot_files,
            },
            [name, *self.snapshot_files.values()],
        )

    def restore(self) -> None:
        """Go on from the last checkpoint."""
        saved = self.run.load_checkpoint()
        model = self.model
        model.num_timesteps = saved["decisions"]
        self.updates = self.saved = saved["updates"]
        self.imitated, self.best = saved["imitated"], saved["best"]
        self.earlier_seconds, self.snapshot_files = saved["seconds"], saved["snapshots"]
        self.evaluated = min(saved["evaluated"], self.due(self.progress))  # the budget may have grown
        model.policy.load_state_dict(saved["policy"])
        model.policy.optimizer.load_state_dict(saved["optimizer"])
        torch.set_rng_state(saved["torch"])
        np.random.set_state(tuple(to_arrays(saved["numpy"])))  # noqa: NPY002
        files = {number: load_file(self.run.checkpoints / name) for number, name in self.snapshot_files.items()}
        snapshots = {number: Snapshot({name: file[name] for name in policy_layers(model)}) for number, file in files.items()}
        model._last_obs = self.env.load(to_arrays(saved["env"]), snapshots)
        model._last_episode_starts = to_arrays(saved["episode_starts"])


def read_arguments(argv: Sequence[str] | None) -> Config:
    """The command line, with the settings of the run that `--config` or `--resume` names."""
    refuse_repetitions(Config, argv)
    config = tyro.cli(Config, prog="cardenvs train", args=argv)
    if source := config.resume / "config.yaml" if config.resume else config.config:
        kept = Config.load(source)
        config = tyro.cli(Config, prog="cardenvs train", args=argv, default=kept)
        if config.resume and (changed := [name for name in FIXED if getattr(config, name) != getattr(kept, name)]):
            raise InvalidOption(f"another {', '.join(changed)} is not allowed in a run that goes on: start a new one")
    if not config.game:
        raise InvalidOption("which game? Give its id, for example recurrring-v0, or --config or --resume")
    config.check()
    return replace(config, minutes=10.0) if config.minutes is None and config.decisions is None else config


def main(argv: Sequence[str] | None = None) -> Path | None:
    """Do what the command line says; returns the run folder."""
    console = Console()
    with told_plainly():
        config = read_arguments(argv)
        if config.ceiling:
            game = find(config.game)
            speeds = measure_ceiling(config, game, config.num_players, config.game_options(game))
            console.print("decisions per second with the game {game:,.0f}, without {stub:,.0f}: {share:.0%} remain".format(**speeds))
            return None
        training = Training(config, config.resume)
    console.print(f"run folder: {training.run.path}", highlight=False, soft_wrap=True)
    try:
        with told_plainly():
            training.train(console)
    except KeyboardInterrupt:
        console.print(f"stopped; go on with: cardenvs train --resume {training.run.path}", highlight=False, soft_wrap=True)
    return training.run.path


if __name__ == "__main__":
    main()
