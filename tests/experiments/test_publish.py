"""Trained networks that come with the games: how a run becomes one."""

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from cardenvs.agents.network import NetworkAgent
from cardenvs.experiments import publish, train
from cardenvs.experiments.train import Config

TINY = ["--tables", "16", "--steps", "8", "--minibatch", "64", "--epochs", "1", "--layers", "16", "--evaluations", "1", "--deals", "4"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run with an imitated player."""
    path = train.main(
        ["kuhn-v0", *TINY, "--decisions", "500", "--imitate", "strong", "--imitated", "500", "--runs", str(tmp_path_factory.mktemp("runs"))]
    )
    assert path is not None
    return path


def test_a_run_becomes_the_network_of_its_game(run: Path, tmp_path: Path):
    publish.main([str(run), "--deals", "8", "--out", str(tmp_path)])
    assert {path.name for path in tmp_path.iterdir()} == {"kuhn.safetensors", "kuhn.md", "kuhn.png"}
    small, whole = load_file(tmp_path / "kuhn.safetensors"), load_file(run / "policy.safetensors")
    for name, array in whole.items():
        assert small[name].dtype == np.float16
        np.testing.assert_allclose(small[name], array, atol=1e-3, rtol=1e-3)
    assert NetworkAgent(tmp_path / "kuhn.safetensors").header == NetworkAgent(run).header
    card = (tmp_path / "kuhn.md").read_text()
    assert "512 choices of `strong`" in card
    assert card.count("| draws ") == card.count("| likeliest ") == 3
    assert "choices, which did best in its evaluations" in card
    assert str(run) not in card


def test_the_command_of_the_card_has_the_settings_of_the_run(run: Path, tmp_path: Path):
    publish.main([str(run), "--deals", "8", "--out", str(tmp_path)])
    (command,) = re.findall(r"```bash\npython -m cardenvs\.experiments\.train (.*)\n```", (tmp_path / "kuhn.md").read_text())
    config = Config.load(run / "config.yaml")
    again = train.read_arguments(shlex.split(command))
    assert {**again.saved(), "runs": ""} == {**config.saved(), "runs": ""}


def test_the_card_of_a_resumed_run_has_all_commands(run: Path, tmp_path: Path):
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    lines = "kuhn-v0 --imitate strong --runs here --decisions 500", "--resume=here/run --decisions 1000 --epochs 1 --runs=here"
    (copy / "command.txt").write_text("".join(f"python -m cardenvs.experiments.train {line}\n" for line in lines))
    publish.main([str(copy), "--deals", "8", "--out", str(tmp_path)])
    (block,) = re.findall(r"```bash\n(.*)\n```", (tmp_path / "kuhn.md").read_text(), re.DOTALL)
    assert block.splitlines() == [
        "python -m cardenvs.experiments.train kuhn-v0 --imitate strong --decisions 500",
        "python -m cardenvs.experiments.train --resume RUN --decisions 1000 --epochs 1",
    ]


def test_a_run_that_goes_on_is_not_finished(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What the card says is of the weights beside it: a larger budget that was not used up is no finished run."""
    copy = tmp_path / "run"
    shutil.copytree(run, copy)

    def dies(*arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(train.Training, "update", dies)
    train.main(["--resume", str(copy), "--decisions", "5000"])
    with pytest.raises(SystemExit, match="the run is not finished"):
        publish.main([str(copy), "--out", str(tmp_path / "out")])


def test_an_unfinished_run_is_refused(run: Path, tmp_path: Path):
    copy = tmp_path / "run"
    copy.mkdir()
    meta = json.loads((run / "meta.json").read_text())
    del meta["finished"]
    (copy / "meta.json").write_text(json.dumps(meta))
    (copy / "config.yaml").write_bytes((run / "config.yaml").read_bytes())
    with pytest.raises(SystemExit, match="the run is not finished"):
        publish.main([str(copy), "--out", str(tmp_path / "out")])
    assert not (tmp_path / "out").exists()
