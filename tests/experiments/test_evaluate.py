"""The command that evaluates a player."""

import csv
import json

import numpy as np
import pytest

from cardenvs.core import jit
from cardenvs.errors import InvalidOption
from cardenvs.experiments import counter, evaluate
from cardenvs.experiments.evaluate import Arguments, line_up, player_rows, seat_rows
from cardenvs.experiments.matches import interval


def test_opponents_are_one_for_all_or_one_each():
    assert line_up("strong", ["easy"], 4) == ["strong", "easy", "easy", "easy"]
    assert line_up("strong", ["easy", "random"], 3) == ["strong", "easy", "random"]
    with pytest.raises(InvalidOption, match="2 opponents are not allowed at 4 seats: give 1 for all or 3"):
        line_up("strong", ["easy", "random"], 4)


@pytest.mark.skipif(jit.DISABLED, reason="plays many games")
def test_kuhn_values():
    """In equilibrium the seat that moves first loses 1/18 of an ante, the other wins it, and rotation makes that 0."""
    deals = evaluate.evaluate(Arguments("kuhn-v0", "strong", ("strong",), deals=20_000))
    first, second = (interval(deals.above[:, deals.seats[:, 0] == seat, 0], level=0.999) for seat in (0, 1))
    assert first.low <= -1 / 18 <= first.high < 0
    assert 0 < second.low <= 1 / 18 <= second.high
    both = player_rows(deals)[0]["score_above_mean"]
    assert both.low <= 0 <= both.high


def test_rows_are_means_over_positions_and_seats():
    deals = evaluate.evaluate(Arguments("recurrring-v0", "easy", ("random", "easy", "random"), option=("num_games=1",), deals=5))
    rows = player_rows(deals)
    assert [row["player"] for row in rows] == ["easy", "random x2", "easy"]
    assert rows[1]["score_above_mean"] == interval(deals.above[..., [1, 3]])
    assert rows[1]["score"] == pytest.approx(deals.scores[..., [1, 3]].mean())
    assert sum(row["win_share"].mean * (2 if "x2" in row["player"] else 1) for row in rows) == pytest.approx(1)
    for seat, row in enumerate(seat_rows(deals)):
        values = [deals.above[:, rotation, 0] for rotation in range(4) if deals.seats[rotation, 0] == seat]
        assert row["score_above_mean"].mean == pytest.approx(np.mean(values))


def test_the_command_prints_and_writes_tables(tmp_path, capsys):
    command = "kuhn-v0 --player tests.experiments.rogues:Illegal --opponents easy --deals 3 --seed 7 --option reward=score --out"
    evaluate.main([*command.split(), str(tmp_path / "new" / "folder")])
    shown = capsys.readouterr().out
    assert "kuhn-v0, 2 players, reward=score: 3 deals x 2 rotations, seed 7" in shown
    assert "| tests.experiments.rogues:Illegal | -1.00 [-1.00, -1.00] | 0.0 % [0.0, 0.0] |" in " ".join(shown.split())
    assert "lost 6 games by a fault (illegal), first in deal 0: action 2 (no action)" in shown
    assert (tmp_path / "new" / "folder" / "results.md").read_text() == shown
    results = json.loads((tmp_path / "new" / "folder" / "results.json").read_text())
    assert results["arguments"]["deals"] == 3
    assert results["players"][0]["score_above_mean"] == [-1, -1, -1]
    assert len(results["faults"]) == results["players"][0]["faults"] == 6
    with open(tmp_path / "new" / "folder" / "results.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[1]["player"] == "easy"
    assert float(rows[1]["win_share_low"]) == 1


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("nothing-v0", "UnknownGame: no game is called 'nothing-v0'"),
        ("kuhn-v0 --player expert", "UnknownAgent: no player is called 'expert'"),
        ("kuhn-v0 --num-players 3", "InvalidOption: num_players=3 is not allowed"),
        ("kuhn-v0 --deals 1", "InvalidOption: deals=1 is not allowed"),
        ("kuhn-v0 --option reward=gold", "InvalidOption: reward='gold' is not allowed"),
        ("kuhn-v0 --option gold=1", "InvalidOption: kuhn-v0 has no option 'gold'"),
        ("kuhn-v0 --player checkpoint:/no/such/file", "UnknownAgent: "),
    ],
)
def test_wrong_arguments_are_told_plainly(command, told):
    with pytest.raises(SystemExit) as caught:
        evaluate.main(command.split())
    assert str(caught.value).startswith(told)


def test_progress_is_shown_at_a_terminal_only(capsys, monkeypatch):
    assert counter(3, "deals") is None
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    show = counter(3, "deals")
    assert show is not None
    show(2)
    assert capsys.readouterr().err == "\r2/3 deals"
    show(3)
    assert capsys.readouterr().err.rstrip(" \r") == ""
