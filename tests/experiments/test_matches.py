"""Matches on duplicate deals, and their intervals."""

import itertools
from typing import Any

import numpy as np
import pytest

import cardenvs
from cardenvs.agents import UnknownAgent, make
from cardenvs.agents.isolated import IsolatedAgent
from cardenvs.core import jit
from cardenvs.core.game import Game
from cardenvs.errors import IllegalAction, InvalidOption, InvalidSeed
from cardenvs.experiments import matches, parse_options
from cardenvs.experiments.matches import Deals, interval, play_deals, rotations, seated, stretch
from tests.experiments import rogues

SHORT = {"num_games": 1}


def play_rogue(kuhn: Game, name: str, deals: int = 1, time_limit: float = 30.0) -> Deals:
    """Kuhn poker of a player in a process of its own against `First`."""
    with seated([f"tests.experiments.rogues:{name}"], time_limit) as (rogue,):
        return play_deals(kuhn, [rogue, rogues.First()], deals, 5, faults="loss")


def same_games(a: Deals, b: Deals) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("scores", "returns", "decisions", "truncated"))


class Noting(rogues.First):
    """Notes what it is told and shown."""

    def __init__(self) -> None:
        self.games: list[tuple] = []

    def reset(self, game: Game, num_players: int, seat: int, seed: int) -> None:
        super().reset(game, num_players, seat, seed)
        self.games.append((seat, seed, []))

    def act(self, observation: np.ndarray, mask: np.ndarray, view: np.ndarray) -> int:
        self.games[-1][2].append((observation.copy(), mask.copy(), view.copy()))
        observation[:] = mask[:] = 1 - mask[0]  # its own copies: nothing changes
        return super().act(observation, self.games[-1][2][-1][1], view)


def test_every_order_of_few_seats_and_every_rotation_of_more():
    assert sorted(map(tuple, rotations(2))) == [(0, 1), (1, 0)]
    assert sorted(map(tuple, rotations(3))) == sorted(itertools.permutations(range(3)))
    for seats in (4, 5, 8):
        table = rotations(seats)
        assert table.shape == (seats, seats)
        for position in range(seats):
            assert sorted(table[:, position]) == list(range(seats))
            assert ((table[:, position] - table[:, 0]) % seats == position).all()


def test_a_deal_is_the_same_in_all_rotations(kuhn):
    players = [Noting(), Noting()]
    deals = play_deals(kuhn, players, 20, 3)
    cards = np.zeros((20, 2, 2), int)  # deal, rotation, seat
    for player in players:
        for place, (seat, _, shown) in zip(np.ndindex(20, 2), player.games, strict=True):
            assert seat == shown[0][2]["viewer"][0]
            cards[*place, seat] = shown[0][2]["hand"][0, seat]
    assert (cards[:, 0] == cards[:, 1]).all()
    assert len({tuple(hands) for hands in cards[:, 0].tolist()}) == 6
    for deal, seed in enumerate(deals.deal_seeds.tolist()):
        env = cardenvs.make(kuhn)
        env.reset(seed=seed)
        assert env.states["hand"][0].tolist() == cards[deal, 0].tolist()


def test_players_get_seeds_of_their_own(kuhn):
    players = [Noting(), Noting()]
    deals = play_deals(kuhn, players, 10, 3)
    seeds = [seed for player in players for _, seed, _ in player.games]
    assert len({*seeds, *deals.deal_seeds.tolist()}) == 2 * 20 + 10


def test_a_longer_match_begins_like_a_shorter_one(kuhn):
    long, short = (play_deals(kuhn, [make("random"), make("strong")], count, 8) for count in (50, 20))
    assert (long.scores[:20] == short.scores).all()
    assert (play_deals(kuhn, [make("random"), make("strong")], 50, 9).scores != long.scores).any()


@pytest.mark.parametrize(
    ("game", "specs", "options"), [("kuhn-v0", ["random", "strong"], {}), ("recurrring-v0", ["easy", "random", "random"], SHORT)]
)
def test_compiled_players_play_together_what_they_play_singly(kuhn, monkeypatch, game, specs, options):
    together = play_deals(game, [make(spec) for spec in specs], 7, 2, options)
    monkeypatch.setattr(matches, "MAX_LANES", 4)
    assert same_games(together, play_deals(game, [make(spec) for spec in specs], 7, 2, options))

    class Plain:
        def __init__(self, spec: str):
            self.player, self.name = make(spec), spec

        def __getattr__(self, name: str) -> Any:
            return getattr(self.player, name)

    assert same_games(together, play_deals(game, [Plain(spec) for spec in specs], 7, 2, options))


def test_batch_players_play_together_what_they_play_singly():
    other = [make("random"), make("easy"), make("random")]
    batch = rogues.BatchLast()
    assert same_games(
        play_deals("recurrring-v0", [batch, *other], 3, 2, SHORT), play_deals("recurrring-v0", [rogues.Last(), *other], 3, 2, SHORT)
    )
    four = [batch, make("random"), batch, batch]
    plain = [rogues.Last(), make("random"), rogues.Last(), rogues.Last()]
    together, singly = (play_deals("recurrring-v0", players, 3, 2, SHORT) for players in (four, plain))
    assert same_games(together, singly)
    assert together.players == singly.players == ("last", "random", "last", "last")
    assert (together.seconds > 0).all()


def test_results_stand_by_position(kuhn):
    """`First` passes for ever; `Last` bets: whoever bets wins the ante."""
    deals = play_deals(kuhn, [rogues.First(), rogues.Last()], 3, 0)
    assert (deals.scores == [-1, 1]).all()
    assert (deals.returns == [-1, 1]).all()
    assert (deals.wins == [0, 1]).all()
    assert deals.decisions[0].tolist() in ([[1, 1], [2, 1]], [[2, 1], [1, 1]])
    assert deals.seats.tolist() == [[0, 1], [1, 0]]


def test_ties_share_the_win(kuhn):
    deals = play_deals(kuhn, [make("random"), make("random")], 2, 0)
    tied = Deals(**{**vars(deals), "returns": np.zeros((2, 2, 2)), "scores": np.full((2, 2, 2), 4)})
    assert (tied.wins == 0.5).all()
    assert tied.beats.tolist() == [[[0, 1], [1, 0]]] * 2


def test_ranking_is_by_final_scores_whatever_was_paid():
    deals = play_deals("recurrring-v0", [make("random")] * 3, 1, 0, SHORT)
    returns, scores = np.zeros((2, 1, 6, 3))
    returns[:] = [1, -0.5, -0.5]
    scores[:] = [5, 9, 3]
    beats = Deals(**{**vars(deals), "returns": returns, "scores": scores}).beats
    assert beats.tolist() == [[[0, 0, 6], [6, 0, 6], [0, 0, 0]]]


@pytest.mark.skipif(jit.DISABLED, reason="plays many games")
@pytest.mark.parametrize(("game", "player", "seats"), [("kuhn-v0", "easy", 2), ("kuhn-v0", "strong", 2), ("recurrring-v0", "random", 4)])
def test_against_itself_a_player_gets_nothing_in_any_seat(kuhn, game, player, seats):
    """FC-59: over 2,000 games, in every position within the interval (99.9 %)."""
    deals = play_deals(game, [make(player) for _ in range(seats)], 2000 // seats, 1, SHORT if seats > 2 else {})
    for position in range(seats):
        for values, expected in ((deals.above, 0), (deals.wins, 1 / seats)):
            found = interval(values[..., position], 0.999)
            assert found.low <= expected <= found.high


def test_duplicate_deals_narrow_the_interval(kuhn):
    deals = play_deals(kuhn, [make("strong"), make("easy")], 1000, 4)
    both = interval(deals.above[..., 0])
    single = interval(np.concatenate([deals.above[:500, 0, 0], deals.above[500:, 1, 0]]))
    assert both.high - both.low < 0.7 * (single.high - single.low)


def test_interval_averages_a_deal_before_resampling():
    values = np.random.default_rng(0).normal(size=(400, 1))
    found = interval(values + np.array([-1.0, 1.0]))
    assert found.mean == pytest.approx(values.mean())
    assert found == pytest.approx(interval(values[:, 0]))
    half_width = 1.96 * values.std() / 20
    assert (found.high - found.mean, found.mean - found.low) == pytest.approx((half_width, half_width), rel=0.15)
    assert interval(values, seed=1) != interval(values, seed=2)
    assert np.isnan(interval(values[:1]).low)


def test_intervals_cover_what_they_say():
    rng = np.random.default_rng(1)
    found = [interval(rng.exponential(size=80)) for _ in range(200)]
    assert 0.9 <= np.mean([low <= 1 <= high for _, low, high in found]) <= 0.99


def test_refusals(kuhn):
    with pytest.raises(InvalidOption, match="deals=0"):
        play_deals(kuhn, [make("random"), make("random")], 0, 0)
    with pytest.raises(InvalidOption, match="faults='ignore'"):
        play_deals(kuhn, [make("random"), make("random")], 1, 0, faults="ignore")
    with pytest.raises(InvalidOption, match="2 to 2 players"):
        play_deals(kuhn, [make("random")] * 3, 1, 0)
    with pytest.raises(InvalidSeed):
        play_deals(kuhn, [make("random")] * 2, 1, -1)
    with pytest.raises(InvalidOption, match="make a player for each"):
        play_deals(kuhn, [rogues.First()] * 2, 1, 0)


def test_progress_is_told(kuhn):
    for players in ([make("random"), make("random")], [make("random"), rogues.First()]):
        told: list[int] = []
        play_deals(kuhn, players, 5, 0, progress=told.append)
        assert told[-1] == 5


def test_a_match_is_saved_whole(kuhn, tmp_path):
    deals = play_rogue(kuhn, "Raising")
    deals.save(tmp_path / "match.npz")
    again = Deals.load(tmp_path / "match.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["match.npz"]
    for name, value in vars(deals).items():
        assert np.array_equal(getattr(again, name), value), name
    assert np.array_equal(again.above, deals.above)


# Misbehaviour (FC-62, FC-63)


@pytest.mark.parametrize(("name", "reason"), [("Unmade", "RuntimeError: cannot be made"), ("NotThere", "has no attribute 'NotThere'")])
def test_a_player_that_cannot_be_made_is_refused_before_any_game(kuhn, name: str, reason: str):
    with pytest.raises(UnknownAgent, match=f"cannot be made: .*{reason}"):
        play_rogue(kuhn, name)


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("UnreadyForGames", "raised", "RuntimeError: cannot start"),
        ("Raising", "raised", "RuntimeError: lost my cards"),
        ("Illegal", "illegal", "action 2 (no action) of tests.experiments.rogues:Illegal is illegal in kuhn-v0; legal were: pass, bet"),
        ("Negative", "illegal", "action -1"),
        ("Silent", "illegal", "an action is a whole number (its id), not None"),
        ("Rambling", "illegal", "an action is a whole number (its id), not 'xxx"),
        ("Exiting", "exited", "ended with exit code 3"),
        ("Leaving", "exited", "ended with exit code 1"),
    ],
)
def test_a_player_that_misbehaves_loses_that_game(kuhn, name, kind, message):
    deals = play_rogue(kuhn, name)
    assert len(deals.faults) == 2
    for fault, (deal, rotation) in zip(deals.faults, np.ndindex(1, 2), strict=True):
        assert (fault.deal, fault.rotation, fault.position, fault.kind) == (deal, rotation, 0, kind)
        assert len(fault.message) < 6000
        again = cardenvs.replay(fault.record)
        assert again.states["steps"][0] == deals.decisions[deal, rotation].sum()
    assert message in deals.faults[0].message
    assert (deals.returns == [-1, 1]).all()
    assert (deals.wins == [0, 1]).all()
    assert (deals.above == [-1, 1]).all()
    assert deals.beats.tolist() == [[[0, 0], [2, 0]]]


def test_a_player_that_hangs_loses_that_game_in_time(kuhn):
    deals = play_rogue(kuhn, "Sleeping", time_limit=0.2)
    assert [fault.kind for fault in deals.faults] == ["timeout"] * 2
    assert deals.faults[0].message == "no answer within 0.2 seconds"
    assert deals.seconds[0] < 20


def test_a_player_that_prints_much_is_not_heard(kuhn, capfd):
    deals = play_rogue(kuhn, "Printing")
    assert not deals.faults
    assert capfd.readouterr() == ("", "")


def test_a_player_that_spies_finds_its_view_only(kuhn):
    """FC-63; in this process it would find more."""
    assert play_rogue(kuhn, "Spying").faults == ()
    with pytest.raises(RuntimeError, match="found a "):
        play_deals(kuhn, [rogues.Spying(), rogues.First()], 1, 0)


def test_a_player_that_ended_is_replaced(kuhn):
    deals = play_rogue(kuhn, "SometimesExiting", deals=4)
    faulty = {(fault.deal, fault.rotation) for fault in deals.faults}
    assert 0 < len(faulty) < 8
    for place in np.ndindex(4, 2):
        assert (deals.decisions[place].min() > 0) or place in faulty


def test_who_misbehaves_often_is_not_asked_any_more(kuhn, monkeypatch):
    monkeypatch.setattr(matches, "FORFEIT_AFTER", 3)
    deals = play_rogue(kuhn, "Exiting", deals=4)
    assert [fault.kind for fault in deals.faults] == ["exited"] * 3 + ["forfeit"] * 5
    assert (deals.wins == [0, 1]).all()
    assert deals.faults[-1].record is None


def test_who_won_does_not_depend_on_what_is_paid():
    """RA-18, RA-19: payments of single deals rank otherwise than the totals that decide the match."""
    by_win, by_score = (
        play_deals("ramino-v0", [make(name) for name in ("strong", "easy", "random")], 12, 3, {"num_deals": 3, "reward": reward})
        for reward in ("win", "score")
    )
    assert (by_win.scores == by_score.scores).all()
    assert (by_win.wins == by_score.wins).all()
    assert (by_win.beats == by_score.beats).all()
    assert (
        by_win.wins == (by_win.returns == by_win.returns.max(axis=2, keepdims=True)) / (by_win.returns > 0).sum(axis=2)[..., None]
    ).all()


@pytest.mark.parametrize(("game_id", "limit", "shared"), [("ding-v0", 6, True), ("ringer-v0", 30, False)])
def test_a_truncated_game_is_shared_where_nobody_wins_it(game_id: str, limit: int, shared: bool):
    result = play_deals(game_id, [make("random") for _ in range(4)], 4, 0, {"max_steps": limit})
    assert result.truncated.all()
    assert bool((result.wins == 0.25).all()) == shared


def test_misbehaving_costs_the_worst_result_of_the_match():
    deals = play_deals("recurrring-v0", [make("random") for _ in range(4)], 6, 0, SHORT)
    fault = matches.Fault(1, 2, 3, "raised", "", None)
    faulty = Deals(**{**vars(deals), "faults": (fault,)})
    clean = np.ones((6, 4), bool)
    clean[1, 2] = False
    worst = deals.above[clean].min()
    assert faulty.above[1, 2].tolist() == pytest.approx([-worst / 3] * 3 + [worst])
    assert faulty.wins[1, 2].tolist() == pytest.approx([1 / 3] * 3 + [0])
    assert (faulty.above[clean] == deals.above[clean]).all()
    assert np.allclose(faulty.above.sum(axis=2), 0)
    others = faulty.beats[1] - Deals(**{**vars(deals), "scores": deals.scores[1:2], "returns": deals.returns[1:2]}).beats[0]
    assert others[:3, 3].min() >= 0
    assert (others[3, :3] <= 0).all()


def test_faults_are_raised_unless_asked_to_count(kuhn):
    with pytest.raises(RuntimeError, match="lost my cards"):
        play_deals(kuhn, [rogues.Raising(), make("random")], 1, 0)
    with pytest.raises(IllegalAction, match="action 2"):
        play_deals(kuhn, [rogues.Illegal(), make("random")], 1, 0)
    with pytest.raises(RuntimeError, match="no batch"):
        play_deals(kuhn, [rogues.BatchRaising(), make("random")], 1, 0)
    with pytest.raises(IllegalAction, match="action -5"):
        play_deals("recurrring-v0", [rogues.BatchSometimesIllegal(), *[make("random")] * 3], 6, 0, SHORT)


def test_batch_players_lose_the_games_of_their_faults(kuhn):
    deals = play_deals(kuhn, [make("random"), rogues.BatchRaising()], 3, 0, faults="loss")
    assert {(fault.position, fault.kind) for fault in deals.faults} == {(1, "raised")}
    assert len(deals.faults) == 6
    assert (deals.wins == [1, 0]).all()
    sometimes = play_deals("recurrring-v0", [rogues.BatchSometimesIllegal(), *[make("random")] * 3], 6, 0, SHORT, faults="loss")
    assert {fault.kind for fault in sometimes.faults} == {"illegal"}
    assert 0 < len(sometimes.faults) < 24
    usual = play_deals("recurrring-v0", [rogues.BatchLast(), *[make("random")] * 3], 6, 0, SHORT)
    clean = np.ones((6, 4), bool)
    for fault in sometimes.faults:
        clean[fault.deal, fault.rotation] = False
        assert sometimes.returns[fault.deal, fault.rotation, 0] == -1
    assert (sometimes.scores[clean] == usual.scores[clean]).all()


def test_a_lost_game_leaves_the_same_scores_however_it_is_played():
    wrong = rogues.BatchSometimesIllegal()
    together = play_deals("recurrring-v0", [wrong, *[rogues.BatchLast()] * 3], 4, 0, faults="loss")
    singly = play_deals("recurrring-v0", [wrong, rogues.Last(), rogues.Last(), rogues.Last()], 4, 0, faults="loss")
    assert together.scores.any(axis=2).any()
    assert len(together.faults) == len(singly.faults) > 4
    assert same_games(together, singly)


def test_processes_end_with_the_match(kuhn):
    with seated(["tests.experiments.rogues:First"], 5.0) as (player,):
        assert isinstance(player, IsolatedAgent)
        play_deals(kuhn, [player, rogues.Last()], 1, 0, faults="loss")
        process = player._process
        assert process.poll() is None
    assert process.poll() is not None


def test_options_are_read_from_texts():
    game = cardenvs.find("recurrring-v0")
    assert parse_options(game, ["num_games=2", "reward=score"]) == {"num_games": 2, "reward": "score"}
    with pytest.raises(InvalidOption, match="name=value"):
        parse_options(game, ["num_games"])
    with pytest.raises(InvalidOption, match="num_games='many'"):
        game.configure(4, parse_options(game, ["num_games=many"]))


@pytest.mark.parametrize(("deals", "student"), [(4, 3.182), (10, 2.262), (30, 2.045), (1000, 1.962)])
def test_intervals_of_few_deals_are_as_wide_as_those_of_student(deals: int, student: float):
    """A bootstrap's deviations are too small by the factor that divides by n in place of n - 1, and its limits are the normal ones."""
    assert stretch(deals) == pytest.approx(student / 1.96 * (deals / (deals - 1)) ** 0.5, rel=0.01)


def test_intervals_of_few_deals_cover_what_they_say():
    rng = np.random.default_rng(3)
    covered = [low <= 0 <= high for _, low, high in (interval(rng.normal(size=5)) for _ in range(600))]
    assert 0.92 < np.mean(covered) < 0.985


@pytest.mark.parametrize("limit", ["inf", "nan", "0", "-1"])
def test_time_limits_that_are_none_are_refused(limit: str):
    with pytest.raises(InvalidOption, match="must be a number of seconds above 0"), seated([], float(limit)):
        pass
