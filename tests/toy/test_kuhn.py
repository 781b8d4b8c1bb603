"""Kuhn poker: its rules, and known values that prove the shared machinery (loops, views, chance, returns)."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import cardenvs
from cardenvs.core.state import new_states
from cardenvs.envs.aec import CardEnv
from tests.common import EASY, STRONG, mask_of, seat_to_act, view_of
from tests.toy.kuhn.heuristics import OUT_OF

DEALS = ["".join(deck) for deck in itertools.permutations("JQK")]


def dealt(deck: str, moves: str = "", **options) -> CardEnv:
    """A table with the first two cards of `deck` dealt, after the moves, `p` and `b`."""
    env = cardenvs.make("kuhn-v0", **options)
    env.reset(seed=0, options={"deck": list(deck)})
    for move in moves:
        env.step("pb".index(move))
    return env


@pytest.mark.parametrize("deck", DEALS)
def test_deals(deck: str):
    """KU-01, KU-02: every deal can be set; each seat sees its own card alone."""
    env = dealt(deck)
    assert [env.describe_observation(env.observe(agent)["observation"])["card"] for agent in env.agents] == list(deck[:2])
    assert env.states["hand"][0].tolist() == ["JQK".index(card) for card in deck[:2]]
    assert view_of(env, 0)["hand"][0].tolist() == ["JQK".index(deck[0]), -1]
    assert env.states["chips"][0].tolist() == [1, 1]


def test_seeds_deal_every_deal():
    """KU-02"""
    env = cardenvs.make("kuhn-v0")
    env.reset(seed=1)
    deals = []
    for _ in range(600):
        deals.append(tuple(env.states["hand"][0]))
        env.reset()
    counts = [deals.count(deal) for deal in set(deals)]
    assert len(counts) == 6
    assert min(counts) > 60


@pytest.mark.parametrize(
    ("moves", "winner", "chips"),
    [
        ("pp", "best", 1),  # KU-05
        ("bb", "best", 2),
        ("pbb", "best", 2),
        ("bp", 0, 1),  # KU-04
        ("pbp", 1, 1),
    ],
)
@pytest.mark.parametrize("deck", DEALS)
def test_every_game(deck: str, moves: str, winner: int | str, chips: int):
    """KU-03 … KU-06: who moves when, who wins and how much, by score and by win."""
    if winner == "best":
        winner = 0 if "JQK".index(deck[0]) > "JQK".index(deck[1]) else 1
    for reward, paid in (("score", chips), ("win", 1)):
        env = dealt(deck, reward=reward)
        for number, move in enumerate(moves):
            assert env.agent_selection == f"player_{number % 2}"
            assert env.legal_actions() == [0, 1]
            assert env.scores() == [0, 0]
            env.step("pb".index(move))
        assert env.terminations == {"player_0": True, "player_1": True}
        assert env.scores() == [chips, -chips] if winner == 0 else [-chips, chips]
        assert env.rewards[f"player_{winner}"] == paid == -env.rewards[f"player_{1 - int(winner)}"]
        assert env.text().startswith(f"Kuhn poker: player_{winner} wins the pot.")


@pytest.mark.parametrize("moves", ["pp", "bb", "pbb", "bp", "pbp"])
def test_cards_are_shown_unless_somebody_folds(moves: str):
    """KU-05, KU-07"""
    env = dealt("KJQ", moves)
    shown = env.describe_observation(env.observe("player_1")["observation"])["shown"]
    assert shown == ([None, None] if moves in ("bp", "pbp") else ["J", "K"])
    assert ("player_0: K" in env.text("player_1")) == (shown[1] == "K")


def test_twelve_information_sets():
    """Over all games the seats to act see twelve different situations, six each."""
    situations = set()
    for deck, moves in itertools.product(DEALS, ("", "p", "b", "pb")):
        env = dealt(deck, moves)
        agent = env.agent_selection
        situations.add((agent, env.observe(agent)["observation"].tobytes(), mask_of(env).tobytes()))
    assert len(situations) == 12
    assert len({situation[1:] for situation in situations}) == 12
    assert sum(agent == "player_0" for agent, *_ in situations) == 6


def words_for(number: int) -> np.ndarray:
    """A generator word whose next draw below six is `number`."""
    rng = np.random.default_rng(number)
    while True:
        word = rng.integers(2**64, size=1, dtype=np.uint64)
        if draw_below_six(int(word[0])) == number:
            return word


def draw_below_six(word: int) -> int:
    """G-06, in plain Python."""
    z = (word + 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return ((z ^ (z >> 31)) >> 32) * OUT_OF >> 32


WORDS = [words_for(number) for number in range(OUT_OF)]


def bet_share(env: CardEnv, policy: int) -> Fraction:
    """How often a policy bets: its choice for each of the six numbers that it may draw."""
    view = view_of(env, seat_to_act(env))
    return Fraction(sum(env.game.loops.choose_one(view, mask_of(env), policy, words.copy()) for words in WORDS), OUT_OF)


def value(env: CardEnv, policies: tuple[int, int]) -> Fraction:
    """Exact expected chips of the first player."""
    if env.terminations["player_0"]:
        return Fraction(env.scores()[0])
    share = bet_share(env, policies[seat_to_act(env)])
    total = Fraction(0)
    for action, weight in ((0, 1 - share), (1, share)):
        if weight:
            after = env.clone()
            after.step(action)
            total += weight * value(after, policies)
    return total


def expected(*policies: int) -> Fraction:
    """The value over all deals."""
    return sum((value(dealt(deck), (policies[0], policies[1])) for deck in DEALS), Fraction(0)) / len(DEALS)


def test_value_of_the_equilibrium():
    """Kuhn (1950): the first player loses one chip in eighteen games."""
    assert expected(STRONG, STRONG) == Fraction(-1, 18)


def test_nobody_beats_the_equilibrium():
    """Against it no player gets more than the value: none of all 64 ways to play a seat without chance, nor the easy player."""
    assert expected(EASY, STRONG) <= Fraction(-1, 18) <= expected(STRONG, EASY)
    for first in itertools.product((0, 1), repeat=6):
        assert fixed_against_strong(0, first) <= Fraction(-1, 18)
        assert fixed_against_strong(1, first) <= Fraction(1, 18)


def fixed_against_strong(seat: int, plan: tuple[int, ...]) -> Fraction:
    """Expected chips of a seat that plays `plan[3 * k + card]` at its k-th situation, against the equilibrium in the other seat."""

    def follow(env: CardEnv) -> Fraction:
        if env.terminations["player_0"]:
            return Fraction(env.scores()[seat])
        share = bet_share(env, STRONG)
        if seat_to_act(env) == seat:
            facing_bet = env.states["chips"][0, 1 - seat] > env.states["chips"][0, seat]
            share = Fraction(plan[3 * facing_bet + env.states["hand"][0, seat]])
        total = Fraction(0)
        for action, weight in ((0, 1 - share), (1, share)):
            if weight:
                after = env.clone()
                after.step(action)
                total += weight * follow(after)
        return total

    return sum((follow(dealt(deck)) for deck in DEALS), Fraction(0)) / len(DEALS)


def test_value_of_the_equilibrium_in_compiled_play():
    """40,000 games inside a compiled loop give -1/18 within four standard errors."""
    lanes = 40_000
    env = cardenvs.make_vec("kuhn-v0", lanes, reward="score")
    env.reset(seed=2)
    rewards = np.zeros((lanes, 2))
    played = env.game.loops.play_lanes(
        env.states,
        env.lanes,
        np.full((lanes, 2), STRONG, np.int8),
        np.random.default_rng(2).integers(2**64, size=lanes, dtype=np.uint64),
        0,
        new_states(env.game.state, 1),
        np.zeros(2, np.int8),
        rewards,
    )
    assert 2 * lanes < played < 3 * lanes
    assert (rewards.sum(1) == 0).all()
    error = rewards[:, 0].std() / np.sqrt(lanes)
    assert rewards[:, 0].mean() == pytest.approx(-1 / 18, abs=4 * error)
    assert error < 0.008


def test_resample_deals_both_other_cards():
    """FC-70: each of the two cards that are not seen comes up half of the time; a shown card stays."""
    for moves, kinds in (("", 2), ("pp", 1)):
        env = dealt("QKJ", moves)
        view, drawn = view_of(env, 0), new_states(env.game.state, 1)
        words = np.array([3], np.uint64)
        others = []
        for _ in range(400):
            env.game.loops.resample_one(view, words, drawn)
            assert sorted(drawn["stock"][0]) == [0, 1, 2]
            assert drawn["stock"][0, :2].tolist() == drawn["hand"][0].tolist()
            others.append(int(drawn["hand"][0, 1]))
        counts = [others.count(card) for card in set(others)]
        assert len(counts) == kinds
        assert min(counts) > 150
