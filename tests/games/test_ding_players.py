"""The scripted players of Ding! play legally, see what is good, and are as strong as they claim."""

import numpy as np
import pytest

import cardenvs
from cardenvs.core.game import POLICIES
from cardenvs.core.state import new_states
from cardenvs.envs.aec import CardEnv
from cardenvs.envs.common import lane_words
from tests.games.test_ding import FOUR, MIXTURES, play, random_games, table

RANDOM, EASY, STRONG = range(len(POLICIES))


def choice(env: CardEnv, policy: int, seed: int = 0) -> str:
    """What a player does in the place of the seat to act."""
    seen = env.observe(env.agent_selection)
    words = lane_words(seed, 1)[1]
    return env.action_text(env.game.loops.choose_one(env.view(env.agent_selection), seen["action_mask"], policy, words))


def duplicate_deals(challenger: int, others: int, deals: int, num_players: int = 4, seed: int = 0, **options) -> tuple[float, float]:
    """Mean reward of a challenger among equal others, each deal once from every seat; with half the width of its 95 % interval."""
    game = cardenvs.find("ding-v0")
    blank, _ = game.configure(num_players, options)
    lanes = np.arange(deals)
    words = lane_words(seed, deals)[1]
    total = np.zeros(deals)
    for seat in range(num_players):
        states = new_states(game.state, deals)
        states["seeds"][:, 0] = words
        policies = np.full((deals, game.max_seats), others, np.int8)
        policies[:, seat] = challenger
        rewards, mask = np.zeros((deals, game.max_seats)), np.zeros(game.actions.size, np.int8)
        game.loops.start_lanes(states, lanes, blank, np.zeros(0, np.int64))
        game.loops.play_lanes(states, lanes, policies, lane_words(seed + 1, deals)[1], 0, new_states(game.state, 1), mask, rewards)
        total += rewards[:, seat] / num_players
    return float(total.mean()), float(1.96 * total.std() / deals**0.5)


@pytest.mark.parametrize("policy", [EASY, STRONG])
def test_players_play_legally(policy: int):
    """In every phase, with every number of players; with the same words they do the same."""
    for options in MIXTURES:
        for env, rng in random_games(6, seed=21, **options):
            if rng.random() < 0.3:
                action = choice(env, policy)
                assert env.action_id(action) in env.legal_actions()
                assert choice(env, policy) == action


@pytest.mark.parametrize("policy", [EASY, STRONG])
def test_players_call_to_win(policy: int):
    env = table("green-7 violet-1", "brown-8 pink-5", starter="green-6")
    play(env, "0 play green-7")
    assert choice(env, policy) == "ding violet-1"


@pytest.mark.parametrize("policy", [EASY, STRONG])
def test_players_do_not_call_falsely(policy: int):
    """Where any card may be called, they call true ones only."""
    calls = 0
    for env, _ in random_games(6, seed=22, false_dings=True):
        action = choice(env, policy)
        if action.startswith("ding"):
            calls += 1
            view = env.view(env.agent_selection)[0]
            assert env.action_id(action) - 82 in view.true_cards[: view.num_true]
    assert calls > 10


def test_strong_calls_when_it_costs_no_turn():
    """player_0 has just played, so that the call is one card less for nothing."""
    env = table(*FOUR, starter="green-6")
    play(env, "0 play green-7", "1 decline", "2 decline")
    assert choice(env, STRONG) == "ding green-1"


def test_strong_keeps_the_card_that_wins_alone():
    """brown-1 may be called as soon as it is the only card."""
    env = table("brown-8 brown-1", "pink-5 blue-3", "yellow-2 yellow-3", starter="brown-6")
    assert choice(env, STRONG) == "play brown-8"


def test_strong_plays_what_lets_it_call_at_once():
    """green-7 on green-6 makes its violet-1 true, pink-6 would not."""
    env = table("green-7 pink-6 violet-1 grey-3", "brown-8 pink-5 blue-2 black-3", "yellow-2 orange-8 blue-4 brown-5", starter="green-6")
    assert choice(env, STRONG) == "play green-7"


def test_strong_draws_only_when_it_must():
    for env, _ in random_games(6, seed=23, voluntary_pass=True):
        if len(env.legal_actions()) > 1:
            assert choice(env, STRONG) != "draw"
            assert choice(env, EASY) != "draw"


@pytest.mark.parametrize(("challenger", "others", "least"), [(EASY, RANDOM, 0.02), (STRONG, RANDOM, 0.07), (STRONG, EASY, 0.02)])
def test_players_win_on_duplicate_deals(challenger: int, others: int, least: float):
    mean, margin = duplicate_deals(challenger, others, deals=1500)
    assert mean - margin > least


@pytest.mark.slow
@pytest.mark.parametrize("num_players", range(2, 8))
def test_strong_wins_at_every_table(num_players: int):
    """Also with the shorter games of `pile_and_hand`."""
    for options in ({}, {"conditions": "pile_and_hand"}):
        mean, margin = duplicate_deals(STRONG, EASY, 6000, num_players, **options)
        assert mean - margin > 0
