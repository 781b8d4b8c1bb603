"""The leaderboard of all games: what it measures, writes and publishes."""

import json
from pathlib import Path

import pytest

from cardenvs.errors import InvalidOption
from cardenvs.experiments import ladder
from cardenvs.experiments.ladder import END, START, Budget, published, read, table, write_readme
from cardenvs.experiments.tournament import Standing
from tests.common import ROOT

BUDGET = "--games kuhn-v0 --num-players 2 --workers 1"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ladder that plays at once."""
    monkeypatch.setattr(ladder, "LADDER", ("random", "easy", "flat-mc:2"))
    monkeypatch.setattr(ladder, "BUDGETS", {"small": Budget(games=24, mixed_games=12, search_games=12, responses=0)})


def test_the_command_measures_and_writes_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    ladder.main([*f"{BUDGET} --players mine=tests.experiments.rogues:First --out".split(), str(tmp_path)])
    assert {path.name for path in tmp_path.iterdir()} == {"kuhn-v0", "kuhn-v0.json", "kuhn-v0.png", "leaderboard.md"}
    results = read(tmp_path / "kuhn-v0.json")
    rows = {row["player"]: Standing(**row) for row in results["standings"]}
    assert set(rows) == {"random", "easy", "flat-mc:2", "mine"}
    assert rows["random"].rating == (0, 0, 0)
    assert rows["random"].games == 24 + 12 + 12  # searches and players of one's own play fewer
    assert rows["flat-mc:2"].games == 3 * 12
    assert set(rows["mine"].score_against) == {"random", "easy", "flat-mc:2"}
    shown = capsys.readouterr().out
    assert table(results) in shown
    assert "`mine`" in table(results)


def test_players_join_a_ladder_that_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    ladder.main([*BUDGET.split(), "--out", str(tmp_path)])
    before = read(tmp_path / "kuhn-v0.json")
    played = []
    play = ladder.Tournament.play_match
    monkeypatch.setattr(ladder.Tournament, "play_match", lambda self, *match: played.append(match[0]) or play(self, *match))
    ladder.main([*BUDGET.split(), "--players", "strong", "--out", str(tmp_path)])
    after = {row["player"]: row for row in read(tmp_path / "kuhn-v0.json")["standings"]}
    assert all("strong" in labels for labels in played)
    assert len(played) == 3
    for row in before["standings"]:
        for opponent, score in row["score_against"].items():
            assert after[row["player"]]["score_against"][opponent] == score


def test_tables_of_different_players_are_shown(tmp_path: Path):
    ladder.main(["--games", "recurrring-v0", "--num-players", "3", "--workers", "1", "--out", str(tmp_path)])
    results = read(tmp_path / "recurrring-v0.json")
    shown = table(results)
    assert shown.splitlines()[0].split("|")[1].strip() == "ReCURRRing"
    assert "mixed: wins" in shown
    assert sum(row["mixed_score_above_mean"].mean for row in results["standings"]) == pytest.approx(0)
    text = published(tmp_path)
    assert shown in text
    assert "24 games on 2 deals, with a search 24 games on 2 deals" in text  # of twelve games each, and at least two
    assert (tmp_path / "leaderboard.md").read_text() == text + "\n"


def test_best_responses_are_trained_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    budget = Budget(games=24, mixed_games=12, search_games=12, responses=8192)
    monkeypatch.setattr(ladder, "BUDGETS", {"small": budget})
    monkeypatch.setattr(ladder, "RESPONSE_DEALS", 40)
    trained = []
    train = ladder.best_response
    monkeypatch.setattr(ladder, "best_response", lambda settings: trained.append((settings.target, settings.reward)) or train(settings))
    for _ in range(2):
        ladder.main([*BUDGET.split(), "--out", str(tmp_path)])
    assert trained == [("random", "win"), ("easy", "win")]
    results = read(tmp_path / "kuhn-v0.json")
    assert set(results["gains"]) == {"random", "easy"}
    rows = [line.split("|") for line in table(results).splitlines()]
    assert rows[0][-2].strip() == "best response wins"
    cells = {row[1].strip(): row[-2].strip() for row in rows[2:]}
    assert cells["`flat-mc:2`"] == ""
    assert cells["`random`"].startswith(f"{100 * results['gains']['random'].mean:.1f} %")
    assert "a lower bound" in published(tmp_path)


def test_a_section_takes_the_place_of_the_old_one(tmp_path: Path):
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{START}\nold\n{END}\nafter\n")
    write_readme(readme, "new")
    assert readme.read_text() == f"before\n{START}\n\nnew\n\n{END}\nafter\n"


def test_a_readme_without_a_place_for_the_tables_is_left_as_it_is(tmp_path: Path):
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{START}\nafter\n")
    with pytest.raises(InvalidOption, match="has no place for the tables"):
        write_readme(readme, "new")
    assert readme.read_text() == f"before\n{START}\nafter\n"


def test_what_was_measured_differently_is_not_shown_together(tmp_path: Path):
    ladder.main([*BUDGET.split(), "--out", str(tmp_path)])
    with pytest.raises(SystemExit, match="recurrring-v0 and kuhn-v0 were measured with another num_players"):
        ladder.main(["--games", "recurrring-v0", "--num-players", "3", "--workers", "1", "--out", str(tmp_path)])


def test_results_are_published_together_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ladder, "ROOT", tmp_path)
    readme = tmp_path / "README.md"
    readme.write_text(f"{START}{END}")
    command = [*BUDGET.split(), "--publish", "--out"]
    ladder.main([*command, str(tmp_path / "first")])
    assert {path.name for path in (tmp_path / "leaderboard").iterdir()} == {"kuhn-v0.json", "kuhn-v0.png"}
    assert published(tmp_path / "leaderboard") in readme.read_text()
    before = {path: path.read_bytes() for path in (readme, tmp_path / "leaderboard" / "kuhn-v0.json")}
    other = ["--games", "recurrring-v0", "--workers", "1", "--publish", "--out"]
    with pytest.raises(SystemExit, match="measured with another num_players"):
        ladder.main([*other, str(tmp_path / "other")])
    assert {path: path.read_bytes() for path in before} == before
    assert not (tmp_path / "leaderboard" / "recurrring-v0.json").exists()


def test_own_players_are_not_published():
    with pytest.raises(SystemExit, match="cannot be published"):
        ladder.main([*BUDGET.split(), "--players", "strong", "--publish"])


def test_unknown_games_are_told_plainly(tmp_path: Path):
    with pytest.raises(SystemExit, match="no game is called chess-v0; there are"):
        ladder.main(["--games", "chess-v0", "--out", str(tmp_path)])
    assert not list(tmp_path.iterdir())


def test_the_readme_shows_the_published_results():
    """What the README says is what the files of the last published measurement hold."""
    readme = (ROOT / "README.md").read_text()
    assert f"{START}\n\n{published(ROOT / 'leaderboard')}\n\n{END}" in readme
    for path in (ROOT / "leaderboard").glob("*.json"):
        assert json.loads(path.read_text())["budget"] in ("small", "medium", "full")
        assert path.with_suffix(".png").exists()
