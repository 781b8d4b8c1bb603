"""The scripted players of Timbre: legal, from the view alone, and as strong as they should be."""

import numpy as np
import pytest

from cardenvs.core.state import new_states
from cardenvs.envs.common import lane_words
from cardenvs.games.timbre import GAME
from tests.games.test_timbre import ORDER, card, play, table

RANDOM, EASY, STRONG = 0, 1, 2
NO_DECK = np.zeros(0, np.int64)
FIELDS = GAME.state.names or ()


def start(num_players, seeds, **options):
    """The first game of each lane."""
    blank, _ = GAME.configure(num_players, options)
    states = new_states(GAME.state, len(seeds))
    states["seeds"][:, 0] = seeds
    GAME.loops.start_lanes(states, np.arange(len(seeds)), blank, NO_DECK)
    return states


def choose(states, policy, word=1):
    """The choice of the seat to act, and its view and mask."""
    view, mask = new_states(GAME.state, 1), np.zeros(GAME.actions.size, np.int8)
    GAME.loops.view_one(states, int(states["seat"][0]), view)
    GAME.loops.legal_one(states, mask)
    return GAME.loops.choose_one(view, mask, policy, np.array([word], np.uint64)), view, mask


@pytest.mark.parametrize("num_players", [3, 4, 8])
def test_choices_are_legal_repeatable_and_made_from_the_view_alone(num_players):
    generator, other = np.random.default_rng(5), new_states(GAME.state, 1)
    view, observation = new_states(GAME.state, 1), np.zeros(GAME.observation.size, np.int8)
    mask = np.zeros(GAME.actions.size, np.int8)
    phases = set()
    options = {"race": "random", "wild_must_follow": False, "max_hands": 3}
    for seed in lane_words(num_players, 3)[1]:
        states = start(num_players, np.array([seed]), **options)
        while not (states["terminated"][0] or states["truncated"][0]):
            for policy in (EASY, STRONG):
                action, seen, legal = choose(states, policy)
                kept = seen.copy()
                assert legal[action] == 1
                GAME.loops.resample_one(seen, generator.integers(1 << 63, size=1, dtype=np.uint64), other)
                assert choose(other, policy)[0] == action
                GAME.loops.choose_one(seen, legal, policy, np.array([1], np.uint64))
                assert all((seen[name] == kept[name]).all() for name in FIELDS)
            phases.add(int(states["phase"][0]))
            policy = (RANDOM, EASY, STRONG)[generator.integers(3)]
            action = choose(states, policy, generator.integers(1 << 60))[0]
            GAME.loops.step_one(states, action, view, observation, mask)
    assert {0, 1, 3} <= phases


def above_mean(lineup, deals, seed):
    """Spaces of the first player above the table's mean, and its wins, of each deal: their means over the cyclic seatings."""
    seats = len(lineup)
    states = start(seats, np.tile(lane_words(seed, deals)[1], seats))
    policies = np.concatenate([np.tile(np.roll(lineup, shift), (deals, 1)) for shift in range(seats)]).astype(np.int8)
    lanes, view, mask = np.arange(len(states)), new_states(GAME.state, 1), np.zeros(GAME.actions.size, np.int8)
    words = lane_words(seed + 1, len(states))[1]
    GAME.loops.play_lanes(states, lanes, policies, words, 0, view, mask, np.zeros((len(states), GAME.max_seats)))
    spaces = states["position"][:, :seats].astype(float).reshape(seats, deals, seats)
    above = spaces - spaces.mean(2, keepdims=True)
    own = range(seats)
    return np.mean([above[k, :, k] for k in own], axis=0), np.mean([spaces[k, :, k] == 17 for k in own], axis=0)


def lower(values):
    """Three standard errors below the mean."""
    return values.mean() - 3 * values.std(ddof=1) / np.sqrt(len(values))


@pytest.mark.parametrize("num_players", [3, 4, 6])
def test_easy_beats_random(num_players):
    """Three standard errors of 100 duplicate deals must leave the bounds."""
    spaces, wins = above_mean([EASY] + [RANDOM] * (num_players - 1), 100, seed=11)
    assert lower(spaces) > 5
    assert lower(wins) > 0.8


def test_strong_beats_random():
    spaces, wins = above_mean([STRONG] + [RANDOM] * 3, 60, seed=12)
    assert lower(spaces) > 7
    assert lower(wins) > 0.8


def test_strong_beats_easy():
    spaces, wins = above_mean([STRONG] + [EASY] * 3, 150, seed=13)
    assert spaces.mean() > 0
    assert lower(wins) > 0.25


def test_easy_among_copies_of_itself_is_average():
    """It plays the same whatever seat it has: every deal of copies is the same game in all seatings."""
    assert above_mean([EASY] * 4, 30, seed=3)[0] == pytest.approx(0)


def chosen(env, policy=STRONG):
    return GAME.actions.text(choose(env.states, policy)[0])


@pytest.mark.parametrize("policy", [EASY, STRONG])
def test_declares_a_ding(policy):
    env = table("bD oi yn gg b2", "", "")
    play(env, "in", "in", "out", "stand", "stand")
    assert chosen(env, policy) == "ding"


@pytest.mark.parametrize("policy", [EASY, STRONG])
def test_goes_in_with_trumps_and_stays_out_with_nothing_near_finish(policy):
    strong = table("g12 g11 w b12 o12", "", "", "", positions=(14, 3, 4, 2))
    assert chosen(strong, policy) == "in"
    weak = table("b2 b3 o2 y3 y4", "", "", "", positions=(16, 3, 1, 2))
    assert chosen(weak, policy) == "out"


@pytest.mark.parametrize("policy", [EASY, STRONG])
def test_keeps_a_ding_that_lacks_one_letter_or_none(policy):
    env = table("bD oi yn b2 b3", "", "", turned="gg")
    play(env, "in", "in", "out")
    assert chosen(env, policy) == "stand"


@pytest.mark.parametrize("policy", [EASY, STRONG])
def test_exchanges_poor_cards_and_keeps_trumps(policy):
    env = table("b2 o3 y4 g12 w", "", "")
    play(env, "in", "in", "out")
    assert chosen(env, policy) == f"discard {card('b2')}"
    play(env, "discard b2")
    assert chosen(env, policy) == f"discard {card('o3')}"


@pytest.mark.parametrize("policy", [EASY, STRONG])
def test_wins_as_cheaply_as_the_last_seat_can(policy):
    env = table("b9 y2 y3 y4 y6", "b12 b10 b11 b2 b3", "", positions=(4, 4, 4))
    play(env, "in", "in", "out", "stand", "stand", "play b9")
    assert ORDER.index(chosen(env, policy).removeprefix("play ")) in (ORDER.index(card(name)) for name in ("b10", "b11", "b12"))
