"""Run folders: what was run, what came out, and how to go on after a crash."""

import csv
import io
import json
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from sb3_contrib import MaskablePPO
from torch.utils.tensorboard import SummaryWriter

from cardenvs.agents.network import layout_digest
from cardenvs.core.game import Game
from cardenvs.errors import InvalidOption
from cardenvs.experiments import plots
from cardenvs.experiments.tables import json_text, write_whole

PACKAGES = ("cardenvs", "numpy", "numba", "gymnasium", "pettingzoo", "stable-baselines3", "sb3-contrib", "torch")


def now() -> str:
    """Date and time with the zone."""
    return time.strftime("%Y-%m-%d %H:%M:%S%z")


class RunFolder:
    """`runs/<game>-<N>p/<algorithm>/<date>-<name>-s<seed>/` with these files:

    config.yaml (all settings), command.txt, meta.json (commit, versions, machine, times), progress.csv (one row for each
    update), eval.jsonl (one line for each evaluation against one opponent), TensorBoard events, checkpoints/ (the pool's
    policies and `last.pt` to go on from), best.zip, policy.safetensors (the same policy) and learning_curve.png.
    """

    def __init__(self, path: Path):
        self.path = path
        self.checkpoints = path / "checkpoints"
        self._tensorboard: SummaryWriter | None = None
        self._purge_step: int | None = None

    @classmethod
    def create(cls, root: Path, game: Game, num_players: int, algorithm: str, name: str, seed: int, config: dict[str, Any]) -> "RunFolder":
        """A new folder; a second run of the same minute gets a number."""
        start = root / f"{game.id}-{num_players}p" / algorithm / f"{time.strftime('%Y%m%d-%H%M')}-{name}-s{seed}"
        path, number = start, 2
        while path.exists():
            path, number = start.with_name(f"{start.name}-{number}"), number + 1
        run = cls(path)
        run.checkpoints.mkdir(parents=True)
        (path / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
        (path / "command.txt").write_text(command_line() + "\n")
        run.write_meta(
            commit=commit(),
            versions={"python": platform.python_version(), **{package: installed(package) for package in PACKAGES}},
            machine={"cpu": cpu_name(), "cores": os.cpu_count(), "system": platform.platform(), "torch_threads": torch.get_num_threads()},
            game=game.id,
            num_players=num_players,
            observation={"layout": layout_digest(game), "size": game.observation.size},
            started=now(),
        )
        return run

    def resume(self, config: dict[str, Any]) -> None:
        """Note that the run goes on with these settings, and is not finished."""
        meta = json.loads((self.path / "meta.json").read_text())
        for name in ("finished", "seconds", "decisions"):
            meta.pop(name, None)
        write_whole(self.path / "meta.json", json_text(meta))
        write_whole(self.path / "config.yaml", yaml.safe_dump(config, sort_keys=False))
        with open(self.path / "command.txt", "a") as file:
            file.write(command_line() + "\n")

    def write_meta(self, **facts: Any) -> None:
        """Add facts to meta.json."""
        path = self.path / "meta.json"
        known = json.loads(path.read_text()) if path.exists() else {}
        write_whole(path, json_text(known | facts))

    def add_progress(self, row: dict[str, Any]) -> None:
        """A row of progress.csv and TensorBoard; `row["decisions"]` is the place on the x axis."""
        path = self.path / "progress.csv"
        with open(path, "a", newline="") as file:
            writer = csv.DictWriter(file, list(row))
            if file.tell() == 0:
                writer.writeheader()
            writer.writerow(row)
        self._to_tensorboard("train", row, row["decisions"])

    def add_evaluation(self, row: dict[str, Any]) -> None:
        """A line of eval.jsonl and TensorBoard; an interval is a list of mean and limits."""
        with open(self.path / "eval.jsonl", "a") as file:
            file.write(json.dumps(row) + "\n")
        means = {key: row[key].mean for key in ("score_above_mean", "win_share")}
        self._to_tensorboard(f"eval/{row['opponent']}/{row['policy']}", means, row["decisions"])

    def _to_tensorboard(self, group: str, values: dict[str, Any], decisions: int) -> None:
        if self._tensorboard is None:
            self._tensorboard = SummaryWriter(str(self.path), purge_step=self._purge_step)
        for key, value in values.items():
            self._tensorboard.add_scalar(f"{group}/{key}", value, decisions)

    def save_model(self, model: MaskablePPO) -> None:
        """Write best.zip, which `MaskablePPO.load` reads."""
        content = io.BytesIO()
        model.save(content, exclude=["rollout_buffer_class", "_last_obs", "_last_episode_starts"])
        write_whole(self.path / "best.zip", content.getvalue())

    def save_checkpoint(self, values: dict[str, Any], policies: Iterable[str]) -> None:
        """Write checkpoints/last.pt: tensors, arrays and plain values; of the files beside it keep those of `policies`."""
        content = io.BytesIO()
        torch.save(to_tensors(values), content)
        write_whole(self.checkpoints / "last.pt", content.getvalue())
        if self._tensorboard is not None:
            self._tensorboard.flush()
        for file in self.checkpoints.glob("*.safetensors"):
            if file.name not in policies:
                file.unlink()

    def load_checkpoint(self) -> dict[str, Any]:
        """What `save_checkpoint` wrote last, with tensors for arrays; lines of progress and evaluations that came later are dropped.

        Nothing but tensors and plain values is unpickled. Raises `InvalidOption` if there is none.
        """
        try:
            values = torch.load(self.checkpoints / "last.pt", weights_only=True)
        except OSError as error:
            raise InvalidOption(f"there is no checkpoint to go on from: {error}") from error
        self._purge_step = values["decisions"] + 1
        self._keep_lines("progress.csv", values["decisions"], lambda line: line.split(",")[0])
        self._keep_lines("eval.jsonl", values["decisions"], lambda line: json.loads(line)["decisions"])
        return values

    def _keep_lines(self, name: str, decisions: int, place: Callable[[str], Any]) -> None:
        """Drop what lies beyond `decisions`, and a torn last line."""
        path = self.path / name
        if not path.exists():
            return
        lines = [line for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
        heads = 1 if name.endswith(".csv") else 0
        write_whole(path, "".join(lines[:heads] + [line for line in lines[heads:] if int(place(line)) <= decisions]))

    def plot(self, game: Game, num_players: int) -> None:
        """Draw learning_curve.png: score above the table's mean and share of wins against each opponent, with intervals."""
        rows = [json.loads(line) for line in (self.path / "eval.jsonl").read_text().splitlines()]
        drawn, axes = plots.figure(12, 4.5, 2)
        panels = {"score_above_mean": ("score above the table's mean", 0.0), "win_share": ("share of wins", 1 / num_players)}
        for number, opponent in enumerate(dict.fromkeys(row["opponent"] for row in rows)):
            for policy, style in (("sampling", "-"), ("greedy", "--")):
                chosen = [row for row in rows if (row["opponent"], row["policy"]) == (opponent, policy)]
                millions = [row["decisions"] / 1e6 for row in chosen]
                for panel, key in zip(axes, panels, strict=True):
                    mean, low, high = np.array([row[key] for row in chosen]).reshape(-1, 3).T
                    panel.plot(millions, mean, style, color=f"C{number}", label=f"against {opponent}, {policy}")
                    panel.fill_between(millions, low, high, color=f"C{number}", alpha=0.15, linewidth=0)
        for panel, (title, even) in zip(axes, panels.values(), strict=True):
            panel.axhline(even, color="0.6", linewidth=1)
            panel.set(xlabel="decisions of the learner (millions)", title=title)
        axes[0].legend(fontsize="small")
        drawn.suptitle(f"{game.title}: one learner and {num_players - 1} opponents, {rows[-1]['deals']} duplicate deals, 95 % intervals")
        plots.save(drawn, self.path / "learning_curve.png")

    def close(self) -> None:
        """Close TensorBoard's file."""
        if self._tensorboard is not None:
            self._tensorboard.close()
            self._tensorboard = None


def to_tensors(values: Any) -> Any:
    """The same with tensors for the arrays in dictionaries and lists."""
    return _replace(values, np.ndarray, torch.from_numpy)


def to_arrays(values: Any) -> Any:
    """The same with arrays for the tensors in dictionaries and lists."""
    return _replace(values, torch.Tensor, lambda tensor: tensor.numpy())


def _replace(values: Any, kind: type, change: Callable[[Any], Any]) -> Any:
    if isinstance(values, dict):
        return {key: _replace(value, kind, change) for key, value in values.items()}
    if isinstance(values, list):
        return [_replace(value, kind, change) for value in values]
    return change(values) if isinstance(values, kind) else values


def command_line() -> str:
    """The command that runs, as one would type it."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    program = ["-m", spec.name.removesuffix(".__main__")] if spec else sys.argv[:1]
    return shlex.join(["python", *program, *sys.argv[1:]])


def commit() -> str | None:
    """The commit of this checkout, with `-dirty` if files differ from it; None outside of one."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
            cwd=Path(__file__).resolve().parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def installed(package: str) -> str | None:
    """The version of a package, None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def cpu_name() -> str:
    """The processor, as the system calls it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()
