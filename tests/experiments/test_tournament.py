"""Round robins: ratings, resumption, misbehaviour."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cardenvs.agents import make
from cardenvs.errors import InvalidOption
from cardenvs.experiments import tournament
from cardenvs.experiments.matches import Deals, play_deals, stretch
from cardenvs.experiments.tournament import ELO, Arguments, Match, Tournament, bradley_terry, labelled, leaderboard, line_ups, pairings

ROGUES = "tests.experiments.rogues"


def run(folder: Path, command: str) -> list[dict]:
    """The leaderboard that a command writes to `folder`."""
    tournament.main([*command.split(), "--out", str(folder)])
    return json.loads((folder / "leaderboard.json").read_text())


def without_times(standings: list[dict]) -> list[dict]:
    return [{name: value for name, value in standing.items() if name != "ms_per_decision"} for standing in standings]


def kuhn_matches(*specs: str, deals: int = 40, seed: int = 0) -> list[Match]:
    return [Match((a, b), play_deals("kuhn-v0", [make(a), make(b)], deals, seed)) for i, a in enumerate(specs) for b in specs[i + 1 :]]


# Ratings


def test_bradley_terry_of_two_players():
    """Three wins to one are odds of three."""
    assert bradley_terry(np.array([[0, 30], [10, 0]]), prior=0)[0] == pytest.approx([np.log(3) / 2, -np.log(3) / 2])


def test_bradley_terry_finds_the_strengths_that_expect_these_results():
    """With expected counts in place of results, the likeliest strengths are the true ones."""
    strengths = np.array([0.0, 1.5, -0.3, 0.7])
    games = np.array([[0, 10, 40, 7], [10, 0, 3, 20], [40, 3, 0, 5], [7, 20, 5, 0]])
    wins = games / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    assert bradley_terry(wins, prior=0)[0] == pytest.approx(strengths - strengths.mean())


def test_bradley_terry_stays_finite_when_somebody_wins_always():
    for count in (1, 1000, 10**7):
        ratings, _ = bradley_terry(np.array([[0, count, count], [0, 0, count], [0, 0, 0]], float))
        assert np.isfinite(ratings).all()
        assert (np.diff(ratings) < -1).all()


def test_slopes_tell_how_ratings_change_with_wins():
    """A hundredth of a game that the first player takes from the third one."""
    wins = np.array([[0.0, 31, 22], [17, 0, 9], [12, 30, 0]])
    change = np.array([[0, 0, 0.01], [0, 0, 0], [-0.01, 0, 0]])
    ratings, slopes = bradley_terry(wins)
    assert bradley_terry(wins + change)[0] - ratings == pytest.approx(slopes @ change.sum(axis=1), rel=0.01)


def test_intervals_of_ratings_from_few_deals_cover_what_they_say():
    """Two players; the deal decides how often the first one wins, on average three games of four."""
    rng = np.random.default_rng(8)
    places = np.tile([[1, 0], [0, 1]], (5, 1, 1))
    blank = play_deals("kuhn-v0", [make("random"), make("easy")], 5, 0)
    covered = []
    for _ in range(300):
        won = rng.random((5, 2)) < rng.choice([0.6, 0.9], (5, 1))
        returns = np.where(won[..., None], [1.0, -1.0], [-1.0, 1.0])
        match = Match(("a", "b"), replace(blank, returns=returns, scores=returns.astype(int), seats=places[0]))
        first = next(standing for standing in leaderboard([match], "b") if standing.player == "a")
        covered.append(first.rating.low <= ELO * np.log(3) <= first.rating.high)
    assert np.mean(covered) > 0.9


def test_a_prior_hardly_matters():
    wins = np.array([[0, 600], [400, 0]])
    assert bradley_terry(wins)[0] == pytest.approx(bradley_terry(wins, prior=0)[0], rel=1e-3)


# Leaderboards


def test_the_order_of_matches_changes_nothing():
    """FC-60"""
    matches = kuhn_matches("random", "easy", "strong")
    standings = leaderboard(matches, "random")
    for order in ([2, 0, 1], [1, 2, 0], [2, 1, 0]):
        assert leaderboard([matches[i] for i in order], "random") == standings


def test_swapped_names_swap_the_standings():
    """FC-60"""
    swapped = {"random": "strong", "strong": "random", "easy": "easy"}
    matches = kuhn_matches("random", "easy", "strong")
    renamed = [Match(tuple(swapped[label] for label in match.labels), match.deals) for match in matches]
    standings = {standing.player: standing for standing in leaderboard(matches)}
    for standing in leaderboard(renamed):
        before = standings[swapped[standing.player]]
        assert standing.score_above_mean == pytest.approx(before.score_above_mean)
        assert standing.win_share == pytest.approx(before.win_share)
        assert standing.rating == pytest.approx(before.rating)


def test_standings_of_a_scored_tournament():
    """Two players, two deals: every figure by hand."""
    deals = play_deals("kuhn-v0", [make("random"), make("easy")], 2, 0)
    scores = np.array([[[2, -2], [1, -1]], [[1, -1], [-1, 1]]])
    deals = Deals(**{**vars(deals), "scores": scores, "returns": np.sign(scores).astype(float), "seconds": np.array([0.5, 0.25])})
    first, second = leaderboard([Match(("a", "b"), deals)], "b")
    assert (first.player, second.player) == ("a", "b")
    assert first.score_above_mean.mean == 0.75
    assert first.score_above_mean[1:] == pytest.approx((0.75 - 0.75 * stretch(2), 0.75 + 0.75 * stretch(2)))
    assert first.win_share.mean == 0.75
    assert first.seat_score_above_mean[0].mean == 1.5  # rotation 0 sits as listed
    assert first.seat_score_above_mean[1].mean == 0
    assert second.seat_win_share[1].mean == 0
    assert first.rating.mean == pytest.approx(ELO * np.log(3.05 / 1.05))
    assert second.rating == (0, 0, 0)
    assert first.ms_per_decision == pytest.approx(500 / deals.decisions[..., 0].sum())
    assert first.score_against == {"b": first.score_above_mean}
    assert first.games == second.games == 4


def test_sorted_by_the_lower_bound():
    standings = leaderboard(kuhn_matches("random", "easy", "strong"))
    lows = [standing.score_above_mean.low for standing in standings]
    assert lows == sorted(lows, reverse=True)


def test_players_of_a_pairing_hold_as_many_seats():
    """FC-58"""
    for seats in range(2, 9):
        held = np.bincount(np.concatenate(line_ups(seats)), minlength=2)
        assert held[0] == held[1]
        for line_up in line_ups(seats):
            assert {0, 1} == set(line_up)
    assert line_ups(3) == [[0, 1, 0], [1, 0, 1]]


def test_matches_of_different_lengths_count_as_much():
    """A pairing that was played on few deals weighs as much as one of many, and its interval is as wide as its deals are few."""
    long, short = kuhn_matches("easy", "random", deals=2000)[0], kuhn_matches("random", "strong", deals=20)[0]
    both = {row.player: row for row in leaderboard([long, short])}
    by_match = [{row.player: row for row in leaderboard([match])} for match in (long, short)]
    assert both["random"].score_above_mean.mean == pytest.approx(np.mean([rows["random"].score_above_mean.mean for rows in by_match]))
    assert both["easy"].score_above_mean == by_match[0]["easy"].score_above_mean
    assert both["strong"].score_above_mean == by_match[1]["strong"].score_above_mean
    width = {name: row.score_above_mean.high - row.score_above_mean.low for name, row in both.items()}
    assert width["strong"] > 3 * width["easy"]


def test_mixed_tables_are_rated_but_counted_apart():
    """Three different players at a table: what they win of each other is rated; their scores are given by themselves."""
    players = ("easy", "random", "strong")
    paired = [
        Match(
            tuple((a, b)[seat] for seat in line_up),
            play_deals("recurrring-v0", [make((a, b)[seat]) for seat in line_up], 4, 0, {"num_games": 1}),
        )
        for a, b in (("easy", "random"), ("easy", "strong"), ("random", "strong"))
        for line_up in line_ups(3)
    ]
    mixed = Match(players, play_deals("recurrring-v0", [make(player) for player in players], 4, 0, {"num_games": 1}))
    before = {row.player: row for row in leaderboard(paired, "random")}
    after = {row.player: row for row in leaderboard([*paired, mixed], "random")}
    for position, name in enumerate(players):
        assert before[name].mixed_win_share is None
        assert after[name].score_above_mean == before[name].score_above_mean
        assert after[name].score_against == before[name].score_against
        assert after[name].mixed_score_above_mean.mean == pytest.approx(mixed.deals.above[..., position].mean())
        assert after[name].mixed_win_share.mean == pytest.approx(mixed.deals.wins[..., position].mean())
        assert after[name].games == before[name].games + 4 * 6
    assert sum(row.mixed_score_above_mean.mean for row in after.values()) == pytest.approx(0)
    assert after["strong"].rating != before["strong"].rating


@pytest.mark.parametrize(
    ("games", "seats", "deals"), [(7, 2, 4), (8, 2, 4), (10, 3, 2), (13, 3, 2), (25, 3, 3), (4001, 4, 1001), (1, 4, 2)]
)
def test_games_are_rounded_up_to_whole_deals(games, seats, deals):
    """FC-58"""
    assert tournament.deals_for(games, seats) == deals


def test_odd_numbers_of_seats_are_balanced():
    """FC-58: at three seats each player is as often in every seat, and what one gains the other loses."""
    matches = []
    for line_up in line_ups(3):
        labels = tuple(("easy", "random")[player] for player in line_up)
        matches.append(Match(labels, play_deals("recurrring-v0", [make(label) for label in labels], 6, 0, {"num_games": 1})))
    easy, random = leaderboard(matches, "random")
    assert (easy.player, random.player) == ("easy", "random")
    assert easy.score_above_mean.mean == pytest.approx(-random.score_above_mean.mean)
    assert easy.score_above_mean.mean == pytest.approx(np.mean([seat.mean for seat in easy.seat_score_above_mean]))
    assert easy.games == random.games == 72


def test_labels():
    found = labelled(["random", "best of all=checkpoint:runs/a=b/policy.safetensors", "module:Class"])
    assert found == {
        "random": "random",
        "best of all": "checkpoint:runs/a=b/policy.safetensors",
        "module:Class": "module:Class",
    }
    with pytest.raises(InvalidOption, match="two players are called 'easy'"):
        labelled(["easy", "easy"])
    with pytest.raises(InvalidOption, match="at least 2"):
        labelled(["easy"])


def test_pairings_do_not_depend_on_the_order_of_players():
    players = {"c": "easy", "a": "random", "b": "strong"}
    assert pairings(players) == pairings(dict(reversed(players.items()))) == [("c", "a"), ("c", "b"), ("a", "b")]


# The command


def test_the_command_writes_everything(tmp_path, capsys):
    standings = run(tmp_path, "kuhn-v0 --players random easy other=easy --games 7")
    shown = capsys.readouterr().out
    assert "7 games are no whole number of duplicate deals with all rotations: every pairing plays 8" in shown
    assert (tmp_path / "leaderboard.md").read_text() in shown
    assert {path.name for path in tmp_path.iterdir()} == {
        "settings.json", "matches", "faults.json", "leaderboard.csv", "leaderboard.json", "leaderboard.md", "leaderboard.png"
    }  # fmt: skip
    assert (tmp_path / "leaderboard.png").read_bytes().startswith(b"\x89PNG")
    with open(tmp_path / "leaderboard.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["player"] for row in rows] == [standing["player"] for standing in standings]
    assert float(rows[0]["rating_low"]) == pytest.approx(standings[0]["rating"][1])
    assert float(rows[0]["win_share_seat_1"]) == pytest.approx(standings[0]["seat_win_share"][1][0])
    by_name = {standing["player"]: standing for standing in standings}
    assert by_name["random"]["rating"] == [0, 0, 0]
    assert by_name["easy"]["score_against"]["random"] == by_name["other"]["score_against"]["random"]


def test_the_order_of_players_changes_nothing(tmp_path):
    one = run(tmp_path / "one", "kuhn-v0 --players random easy strong --games 40")
    other = run(tmp_path / "other", "kuhn-v0 --players strong random easy --games 40")
    assert without_times(one) == without_times(other)


def test_an_interrupted_tournament_goes_on(tmp_path, monkeypatch):
    """FC-67"""
    command = "kuhn-v0 --players random easy strong --games 40"
    whole = run(tmp_path / "whole", command)
    played: list[tuple[str, ...]] = []
    play = Tournament.play_match

    def interrupted(self, labels, *match):
        if len(played) == 2:
            raise KeyboardInterrupt
        played.append(tuple(labels))
        return play(self, labels, *match)

    monkeypatch.setattr(Tournament, "play_match", interrupted)
    with pytest.raises(SystemExit, match="the same command goes on"):
        run(tmp_path / "broken", command)
    assert len(played) == 2
    (tmp_path / "broken" / "matches" / "half.npz.part").write_bytes(b"half")  # as a kill while writing leaves it
    monkeypatch.setattr(Tournament, "play_match", lambda self, *match: played.append(match[0]) or play(self, *match))
    assert without_times(run(tmp_path / "broken", command)) == without_times(whole)
    assert len(played) == len(set(played)) == 3
    again = run(tmp_path / "broken", command)
    assert without_times(again) == without_times(whole)
    assert len(played) == 3


def test_players_may_be_added(tmp_path, monkeypatch):
    run(tmp_path, "kuhn-v0 --players random easy --games 8")
    played: list[tuple[str, ...]] = []
    play = Tournament.play_match
    monkeypatch.setattr(Tournament, "play_match", lambda self, *match: played.append(match[0]) or play(self, *match))
    standings = run(tmp_path, "kuhn-v0 --players random strong easy --games 8")
    assert len(standings) == 3
    assert sorted(played) == [("easy", "strong"), ("random", "strong")]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("kuhn-v0 --players random easy --games 12", "another games"),
        ("kuhn-v0 --players random easy --games 8 --seed 1", "another seed"),
        ("kuhn-v0 --players random easy --games 8 --option reward=score", "another options"),
        ("kuhn-v0 --players random easy=strong --games 8", "another player easy"),
        ("recurrring-v0 --players random easy --games 8", "another game, num_players, options"),
    ],
)
def test_a_folder_holds_one_tournament(tmp_path, command, told):
    run(tmp_path, "kuhn-v0 --players random easy --games 8")
    before = (tmp_path / "settings.json").read_text()
    with pytest.raises(SystemExit, match=f"{told}.*: give another folder with --out"):
        run(tmp_path, command)
    assert (tmp_path / "settings.json").read_text() == before


def test_results_of_other_code_are_not_mixed_in(tmp_path, monkeypatch):
    run(tmp_path, "kuhn-v0 --players random easy --games 8")
    monkeypatch.setattr(tournament, "_digest", lambda *paths: "other")
    with pytest.raises(SystemExit, match="another code"):
        run(tmp_path, "kuhn-v0 --players random easy --games 8")


def test_unknown_players_are_refused_before_anything_is_played(tmp_path):
    for wrong in ("esay", "ismtcs:100", "easy:", "no_package.players:Mine"):
        with pytest.raises(SystemExit, match=f"no player is called '{wrong}'"):
            run(tmp_path, f"kuhn-v0 --players random {wrong} --games 8")
    assert not list(tmp_path.iterdir())
    with pytest.raises(InvalidOption, match="games=0"):
        Tournament(Arguments("kuhn-v0", games=0, out=tmp_path))


def test_misbehaving_players_lose_their_games_and_the_rest_goes_on(tmp_path, monkeypatch):
    """FC-62"""
    monkeypatch.setattr("cardenvs.experiments.matches.FORFEIT_AFTER", 1)
    players = f"random easy crash={ROGUES}:Exiting hang={ROGUES}:Sleeping"
    standings = run(tmp_path, f"kuhn-v0 --players {players} --games 4 --time-limit 0.5")
    by_name = {standing["player"]: standing for standing in standings}
    assert set(by_name) == {"random", "easy", "crash", "hang"}
    assert by_name["random"]["faults"] == by_name["easy"]["faults"] == 0
    assert by_name["crash"]["faults"] + by_name["hang"]["faults"] == 5 * 4  # every game of either, those of both once
    assert by_name["crash"]["score_against"]["easy"] == [-2, -2, -2]  # the worst of all games, chips lost to a call
    assert by_name["random"]["score_against"]["easy"][0] != 0
    faults = json.loads((tmp_path / "faults.json").read_text())
    assert len(faults) == 20
    kinds = {(fault["player"], fault["kind"]) for fault in faults}
    assert {("crash", "exited"), ("hang", "timeout")} <= kinds
    assert faults[0]["record"]["game"] == "kuhn-v0"
    text = (tmp_path / "leaderboard.md").read_text()
    assert "crash lost" in text
    assert "no answer within 0.5 seconds" in text


def test_searches_play_fewer_deals_and_mixed_tables_have_different_players(tmp_path):
    arguments = Arguments(
        "recurrring-v0", ("random", "easy", "strong", "flat-mc:2"), num_players=3, games=100, mixed_games=30, search_games=20, out=tmp_path
    )
    plan = Tournament(arguments).plan()
    paired = {labels: deals for labels, deals in plan.items() if len(set(labels)) == 2}
    assert len(paired) == 6 * 2
    assert {deals for labels, deals in paired.items() if "flat-mc:2" not in labels} == {9}  # 12 games on each deal
    assert {deals for labels, deals in paired.items() if "flat-mc:2" in labels} == {2}
    mixed = {labels: deals for labels, deals in plan.items() if labels not in paired}
    assert {frozenset(labels): deals for labels, deals in mixed.items()} == {
        frozenset(("easy", "flat-mc:2", "random")): 4,
        frozenset(("easy", "flat-mc:2", "strong")): 4,
        frozenset(("flat-mc:2", "random", "strong")): 4,
        frozenset(("easy", "random", "strong")): 5,
    }


def test_mixed_tables_sit_in_an_order_that_is_drawn(tmp_path):
    """In the order of the labels, the same player would sit left of another at every table."""
    players = ("random", "easy", "strong", "flat-mc:2", "other=easy", "third=easy")
    plan = Tournament(Arguments("ding-v0", players, games=4, mixed_games=100, search_games=20, out=tmp_path)).plan()
    tables = {labels: deals for labels, deals in plan.items() if len(set(labels)) == 4}
    assert len({frozenset(labels) for labels in tables}) == len(tables) == 15
    assert {deals for labels, deals in tables.items() if "flat-mc:2" in labels} == {5}
    assert {deals for labels, deals in tables.items() if "flat-mc:2" not in labels} == {25}
    left_of_easy = [labels[(labels.index("easy") + 1) % 4] for labels in tables if "easy" in labels]
    assert len(set(left_of_easy)) >= 4
    assert tournament.seating(("a", "b", "c", "d")) == tournament.seating(("a", "b", "c", "d"))


def test_several_processes_play_the_same_matches(tmp_path):
    command = "recurrring-v0 --players random easy strong --num-players 3 --games 12 --mixed-games 6 --option num_games=1"
    one, two = run(tmp_path / "one", command), run(tmp_path / "two", f"{command} --workers 2")
    assert without_times(one) == without_times(two)
    assert "mixed: wins" in (tmp_path / "two" / "leaderboard.md").read_text()


def test_who_always_loses_by_faults_is_last_on_every_scale(tmp_path: Path):
    standings = run(tmp_path, f"ramino-v0 --num-players 2 --games 8 --workers 1 --players random easy strong crash={ROGUES}:Raising")
    by_name = {row["player"]: row for row in standings}
    assert standings[-1]["player"] == "crash"
    for scale in ("score_above_mean", "win_share", "rating"):
        assert by_name["crash"][scale][0] < min(row[scale][0] for name, row in by_name.items() if name != "crash")


def test_a_player_that_cannot_be_made_is_refused_before_anything_is_written(tmp_path: Path):
    with pytest.raises(SystemExit, match=r"UnknownAgent: the player '.*:Missing' cannot be made"):
        tournament.main(["kuhn-v0", "--players", "random", f"{ROGUES}:Missing", "--out", str(tmp_path / "t")])
    assert not (tmp_path / "t").exists()
