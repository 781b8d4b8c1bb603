"""Training runs: what they leave behind, and that they can be repeated and resumed (FC-42, FC-54, FC-64, FC-92)."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from safetensors.numpy import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from cardenvs import agents
from cardenvs.experiments import runs, train
from cardenvs.experiments.matches import interval, play_deals
from cardenvs.experiments.train import Config, Training
from tests.common import ROOT

TINY = ["--tables", "16", "--steps", "8", "--minibatch", "64", "--epochs", "1", "--layers", "16", "--deals", "4", "--snapshot-every", "3"]
TIMES = ("seconds", "decisions_per_second")


def tiny(runs_folder: Path, *more: str, game: str = "kuhn-v0", updates: int = 12) -> Path:
    """A run of so many updates, with two evaluations after the first."""
    decisions = ["--decisions", str(16 * 8 * updates), "--evaluations", "2"]
    path = train.main([game, *TINY, *decisions, "--runs", str(runs_folder), *more])
    assert path is not None
    return path


def progress(path: Path) -> list[dict[str, str]]:
    """The rows of progress.csv without times."""
    with open(path / "progress.csv", newline="") as file:
        return [{name: value for name, value in row.items() if name not in TIMES} for row in csv.DictReader(file)]


def evaluations(path: Path) -> list[dict[str, Any]]:
    """The lines of eval.jsonl without times."""
    return [{**json.loads(line), "seconds": 0} for line in (path / "eval.jsonl").read_text().splitlines()]


def weights(path: Path) -> dict[str, np.ndarray]:
    """Of the policy at the end."""
    return load_file(max((path / "checkpoints").glob("*.safetensors")))


def assert_same_run(one: Path, other: Path) -> None:
    assert progress(one) == progress(other)
    assert evaluations(one) == evaluations(other)
    for name, array in weights(one).items():
        np.testing.assert_array_equal(array, weights(other)[name])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole run, to look at."""
    return tiny(tmp_path_factory.mktemp("runs"))


def test_a_run_leaves_settings_results_and_policies(run: Path):
    """FC-92"""
    root = run.parents[2]
    assert run.relative_to(root).parts[:2] == ("kuhn-v0-2p", "maskable-ppo")
    assert run.name.endswith("-selfplay-s0")
    files = {str(file.relative_to(run)) for file in run.rglob("*") if "tfevents" not in file.name}
    files -= {name for name in files if name.startswith("checkpoints/0")}
    assert files == {
        "config.yaml", "command.txt", "meta.json", "progress.csv", "eval.jsonl", "best.zip", "policy.safetensors",
        "learning_curve.png", "checkpoints", "checkpoints/last.pt",
    }  # fmt: skip
    settings = yaml.safe_load((run / "config.yaml").read_text())
    assert (settings["game"], settings["tables"], settings["seed"], settings["decisions"]) == ("kuhn-v0", 16, 0, 1536)
    meta = json.loads((run / "meta.json").read_text())
    assert meta["versions"]["torch"]
    assert meta["machine"]["torch_threads"] == 1
    assert meta["observation"]["layout"]
    assert meta["decisions"] == 1536
    assert meta["finished"] >= meta["started"]
    rows = progress(run)
    assert [int(row["decisions"]) for row in rows] == list(range(128, 1537, 128))
    assert [float(row["entropy_coefficient"]) for row in rows[::6]] == pytest.approx([0.05, 0.03])
    assert [float(row["learning_rate"]) for row in rows[::6]] == pytest.approx([1e-3, 5e-4])
    lines = evaluations(run)
    assert [line["decisions"] for line in lines[::6]] == [0, 768, 1536]
    expected = [(policy, opponent) for policy in ("sampling", "greedy") for opponent in ("random", "easy", "strong")]
    assert [(line["policy"], line["opponent"]) for line in lines] == expected * 3
    for line in lines:
        mean, low, high = line["score_above_mean"]
        assert low <= mean <= high
        assert 0 <= line["win_share"][0] <= 1
    assert (run / "learning_curve.png").read_bytes().startswith(b"\x89PNG")
    events = EventAccumulator(str(run)).Reload()
    assert [event.step for event in events.Scalars("train/entropy")] == list(range(128, 1537, 128))
    assert [event.step for event in events.Scalars("eval/strong/sampling/score_above_mean")] == [0, 768, 1536]


def test_best_is_the_policy_that_does_best_on_the_average_of_its_opponents(run: Path):
    scores: dict[int, list[float]] = {}
    for line in evaluations(run):
        if line["policy"] == "sampling":
            scores.setdefault(line["decisions"], []).append(line["score_above_mean"][0])
    decisions = max(scores, key=lambda number: (np.mean(scores[number]), -number))
    best = agents.make(f"checkpoint:{run}")
    line = next(line for line in evaluations(run) if line["decisions"] == decisions and line["opponent"] == "strong")
    training = Training(Config.load(run / "config.yaml"), run)
    match = play_deals("kuhn-v0", [best, agents.make("strong")], 4, training.evaluation_seed, {"reward": "score"})
    assert interval(match.above[..., 0]).mean == pytest.approx(line["score_above_mean"][0], abs=1e-9)


def test_a_config_runs_again_with_the_same_results(run: Path):
    """FC-54"""
    again = train.main(["--config", str(run / "config.yaml")])
    assert again is not None
    assert again != run
    assert_same_run(run, again)
    other = train.main(["--config", str(run / "config.yaml"), "--seed", "1"])
    assert other is not None
    assert progress(run) != progress(other)


@pytest.mark.parametrize(
    ("game", "more"),
    [
        ("kuhn-v0", ()),
        ("kuhn-v0", ("--imitate", "strong", "--imitated", "500")),
        ("recurrring-v0", ("--num-players", "3", "--option", "num_games=1")),
    ],
)
def test_a_run_that_died_goes_on_as_if_nothing_had_happened(
    game: str, more: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """FC-64: pool, counters and generators are those of the last checkpoint; later lines are dropped."""
    whole = tiny(tmp_path / "whole", *more, game=game)
    update, updates = Training.update, []

    def dies(self: Training, progress: float) -> float:
        if len(updates) == 8:
            raise MemoryError
        updates.append(self)
        return update(self, progress)

    monkeypatch.setattr(Training, "update", dies)
    with pytest.raises(MemoryError):
        tiny(tmp_path / "died", *more, game=game)
    monkeypatch.undo()
    died = updates[0].run.path
    assert len(progress(died)) == 8
    with open(died / "progress.csv", "a") as file:
        file.write("1152,9,torn")
    assert train.main(["--resume", str(died)]) == died
    assert_same_run(whole, died)
    assert yaml.safe_load((died / "config.yaml").read_text())["decisions"] == 1536
    assert {file.name for file in (whole / "checkpoints").iterdir()} == {file.name for file in (died / "checkpoints").iterdir()}


def test_a_run_that_died_while_it_imitated_goes_on_as_if_nothing_had_happened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """FC-64"""
    whole = tiny(tmp_path / "whole", "--imitate", "strong", "--imitated", "1000")
    calls, imitate = [], train.imitate

    def dies(*arguments: Any) -> float:
        if len(calls) == 3:
            raise KeyboardInterrupt
        calls.append(arguments)
        return imitate(*arguments)

    monkeypatch.setattr(train, "imitate", dies)
    died = tiny(tmp_path / "died", "--imitate", "strong", "--imitated", "1000")
    monkeypatch.undo()
    assert not (died / "progress.csv").exists()
    assert train.main(["--resume", str(died)]) == died
    assert_same_run(whole, died)


def test_imitation_is_no_part_of_the_budget_of_minutes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    imitate = train.imitate
    monkeypatch.setattr(train, "imitate", lambda *arguments: time.sleep(2) or imitate(*arguments))
    budget = ["--minutes", "0.02", "--evaluations", "1", "--imitate", "strong", "--imitated", "128"]
    path = train.main(["kuhn-v0", *TINY, *budget, "--runs", str(tmp_path)])
    assert path is not None
    first = progress(path)[0]
    assert float(first["progress"]) < 0.9
    assert json.loads((path / "meta.json").read_text())["imitation"]["seconds"] >= 2


def test_a_finished_run_goes_on_with_a_larger_budget(run: Path, tmp_path: Path):
    first = tiny(tmp_path, updates=3)
    train.main(["--resume", str(first), "--decisions", "768"])
    assert [int(row["decisions"]) for row in progress(first)] == [128, 256, 384, 512, 640, 768]
    assert list(dict.fromkeys(line["decisions"] for line in evaluations(first))) == [0, 256, 384, 768]
    assert len((first / "command.txt").read_text().splitlines()) == 2


def test_settings_that_a_run_cannot_change_are_refused(run: Path):
    kept = (run / "config.yaml").read_bytes()
    for change, name in ((["--tables", "8"], "tables"), (["--layers", "4"], "layers"), (["--reward", "win"], "reward")):
        with pytest.raises(SystemExit, match=f"another {name} is not allowed in a run that goes on"):
            train.main(["--resume", str(run), *change])
    assert (run / "config.yaml").read_bytes() == kept


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("--pool easy ppo", "ppo is not allowed in the pool: it takes random, easy, strong"),
        ("--against easy ismtcs:9", "the player 'ismtcs:9' cannot be loaded"),
        ("--seed -1", "seed=-1 is not allowed: it must be at least 0"),
        ("--layers", "give the sizes of one or more layers"),
        ("--tables 0", "tables=0 is not allowed: it must be at least 1"),
        ("--deals 1", "deals=1 is not allowed: it must be at least 2"),
        ("--minutes -1", "minutes=-1.0 is not allowed"),
        ("--pool-share 2", "must be a share from 0 to 1"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_made(tmp_path: Path, change: str, message: str):
    small = TINY[: TINY.index("--layers")] if change == "--layers" else TINY
    with pytest.raises(SystemExit, match=message):
        train.main(["kuhn-v0", *small, *change.split(), "--runs", str(tmp_path)])
    assert not list(tmp_path.iterdir())


def test_a_run_may_only_imitate_and_be_evaluated_against_any_player(tmp_path: Path):
    budget = ["--decisions", "0", "--imitate", "easy", "--imitated", "200", "--against", "flat-mc:2", "tests.experiments.rogues:First"]
    path = train.main(["kuhn-v0", *TINY, *budget, "--runs", str(tmp_path)])
    assert path is not None
    assert json.loads((path / "meta.json").read_text())["imitation"]["choices"] == 256
    assert [(line["decisions"], line["opponent"]) for line in evaluations(path)] == [
        (0, "flat-mc:2"), (0, "tests.experiments.rogues:First")
    ] * 2  # fmt: skip


def test_no_half_written_file_takes_the_place_of_a_whole_one(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """FC-64"""
    folder = runs.RunFolder(tmp_path)
    folder.checkpoints.mkdir()
    folder.save_checkpoint({"decisions": 1}, [])

    def dies(*arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", dies)
    monkeypatch.setattr(Path, "replace", dies)
    with pytest.raises(KeyboardInterrupt):
        folder.save_checkpoint({"decisions": 2}, [])
    assert folder.load_checkpoint() == {"decisions": 1}


def test_a_budget_of_minutes_ends(tmp_path: Path):
    start = time.monotonic()
    path = train.main(["kuhn-v0", *TINY, "--minutes", "0.02", "--evaluations", "1", "--runs", str(tmp_path)])
    assert path is not None
    assert time.monotonic() - start > 1.2
    assert [line["opponent"] for line in evaluations(path)] == ["random", "easy", "strong"] * 4
    assert json.loads((path / "meta.json").read_text())["seconds"] >= 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "which game"),
        (["chess-v0"], "no game is called 'chess-v0'"),
        (["kuhn-v0", "--option", "stakes=3"], "no option 'stakes'"),
        (["kuhn-v0", "--num-players", "3"], "num_players=3 is not allowed"),
        (["--resume", "nowhere"], "there is no run to read"),
    ],
)
def test_wrong_arguments_are_told_plainly(arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=message):
        train.main(arguments)
    assert not list(tmp_path.iterdir())


def test_a_run_that_diverges_says_so(tmp_path: Path):
    with pytest.raises(SystemExit, match="training has diverged"):
        tiny(tmp_path, "--learning-rate", "1e30", "1e30", "--evaluations", "0")


def test_the_ceiling_is_printed(capsys: pytest.CaptureFixture[str]):
    assert train.main(["kuhn-v0", *TINY, "--ceiling"]) is None
    assert "remain" in capsys.readouterr().out


def test_without_torch_the_extra_is_named():
    """FC-87"""
    code = "import sys; sys.modules['torch'] = None; import cardenvs.experiments.train"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.strip() == "training needs torch, which the extra [train] installs: pip install 'cardenvs[train]'"


@pytest.mark.slow
def test_a_killed_run_resumes(tmp_path: Path):
    """FC-64: SIGKILL in the middle of training."""
    command = [sys.executable, "-m", "cardenvs.experiments.train"]
    start = ["recurrring-v0", *TINY, "--decisions", "30000", "--evaluations", "2", "--runs", str(tmp_path)]
    process = subprocess.Popen([*command, *start], cwd=ROOT)
    while not (found := list(tmp_path.glob("*/*/*/progress.csv"))) or len(found[0].read_text().splitlines()) < 50:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    died = found[0].parent
    subprocess.run([*command, "--resume", str(died)], cwd=ROOT, check=True)
    whole = train.main([*start, "--name", "whole"])
    assert whole is not None
    assert_same_run(whole, died)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_short_training_beats_random_clearly(tmp_path: Path, seed: int):
    """FC-42"""
    command = ["recurrring-v0", "--num-players", "3", "--tables", "256", "--decisions", "200000", "--evaluations", "1", "--seed", str(seed)]
    path = train.main([*command, "--runs", str(tmp_path)])
    assert path is not None
    before, after = ([line for line in evaluations(path) if line["opponent"] == "random"][number] for number in (0, 2))
    assert after["policy"] == "sampling"
    assert after["score_above_mean"][1] > max(2.0, before["score_above_mean"][2])
    assert after["win_share"][1] > 0.4
