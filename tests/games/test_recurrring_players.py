"""The scripted players of ReCURRRing: legal, from the view alone, and as strong as they should be."""

import numpy as np
import pytest

from cardenvs.core.state import new_states
from cardenvs.envs.common import lane_words
from cardenvs.games.recurrring import GAME
from cardenvs.games.recurrring.cards import COUNTS, VALUES

RANDOM, EASY, STRONG = 0, 1, 2
NO_DECK = np.zeros(0, np.int64)


def start(num_players, seeds):
    """Games of one deal each, from words of lanes."""
    blank, _ = GAME.configure(num_players, {"num_games": 1})
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


def advance(states, action):
    """One decision of a single table."""
    view, mask = new_states(GAME.state, 1), np.zeros(GAME.actions.size, np.int8)
    GAME.loops.step_one(states, action, view, np.zeros(GAME.observation.size, np.int8), mask)


@pytest.mark.parametrize("num_players", GAME.players)
def test_choices_are_legal_repeatable_and_made_from_the_view_alone(num_players):
    generator, other = np.random.default_rng(5), new_states(GAME.state, 1)
    decisions = resampled = 0
    for seed in lane_words(num_players, 2)[1]:
        states = start(num_players, np.array([seed]))
        while not states["terminated"][0]:
            for policy in (EASY, STRONG):
                action, view, mask = choose(states, policy)
                kept = view.copy()
                assert mask[action] == 1
                assert choose(states, policy)[0] == action
                GAME.loops.resample_one(view, generator.integers(1 << 63, size=1, dtype=np.uint64), other)
                resampled += (other["hand"] != states["hand"]).any()
                assert choose(other, policy)[0] == action
                GAME.loops.choose_one(view, mask, policy, np.array([1], np.uint64))
                assert (view == kept).all()
            advance(states, choose(states, (RANDOM, EASY, STRONG)[generator.integers(3)], generator.integers(1 << 60))[0])
            decisions += 1
    assert decisions > 50
    assert resampled > 25


def above_mean(lineup, deals, seed):
    """Points of the first player above the table's mean, of each deal: its mean over the cyclic seatings."""
    seats = len(lineup)
    states = start(seats, np.tile(lane_words(seed, deals)[1], seats))
    policies = np.concatenate([np.tile(np.roll(lineup, shift), (deals, 1)) for shift in range(seats)]).astype(np.int8)
    lanes, view, mask = np.arange(len(states)), new_states(GAME.state, 1), np.zeros(GAME.actions.size, np.int8)
    words = lane_words(seed + 1, len(states))[1]
    GAME.loops.play_lanes(states, lanes, policies, words, 0, view, mask, np.zeros((len(states), GAME.max_seats)))
    scores = np.zeros((len(states), seats), np.int64)
    for lane in lanes:
        GAME.loops.scores_one(states[lane : lane + 1], scores[lane])
    above = (scores - scores.mean(1, keepdims=True)).reshape(seats, deals, seats)
    return np.mean([above[shift, :, shift] for shift in range(seats)], axis=0)


@pytest.mark.parametrize("num_players", GAME.players)
@pytest.mark.parametrize(("player", "others", "least"), [(STRONG, RANDOM, 5.5), (EASY, RANDOM, 2.5), (STRONG, EASY, 3.0)])
def test_strong_beats_easy_beats_random(num_players, player, others, least):
    """Points a game above the mean of the table; three standard errors of 200 duplicate deals must leave the bound."""
    points = above_mean([player] + [others] * (num_players - 1), 200, seed=11)
    assert points.mean() - 3 * points.std(ddof=1) / np.sqrt(len(points)) > least


@pytest.mark.parametrize("player", [EASY, STRONG])
def test_a_player_among_copies_of_itself_is_average(player):
    """It plays the same whatever seat it has: every deal of copies is the same game in all seatings."""
    assert above_mean([player] * 4, 20, seed=3) == pytest.approx(0)


def position(hands, table, owner, **fields):
    """A three-player table at which seat 0 is to act; cards that nobody holds lie in the piles of seat 2."""
    states = start(3, lane_words(1, 1)[1])
    states["seat"] = 0
    states["hand"] = states["known"] = states["pile"] = 0
    left = COUNTS[3].copy()
    for seat, cards in enumerate(hands):
        for value, count in cards.items():
            states["hand"][0, seat, VALUES.index(value)] = count
            left[VALUES.index(value)] -= count
    value, count = table
    states["table_value"], states["table_count"], states["owner"] = VALUES.index(value), count, owner
    left[VALUES.index(value)] -= count
    states["hand_size"][0] = states["hand"][0].sum(1)
    for name, content in fields.items():
        for seat, cards in content.items():
            for key, count in cards.items():
                states[name][0, seat, VALUES.index(key)] = count
                left[VALUES.index(key)] -= count if name == "pile" else 0
    states["pile"][0, 2] += left.astype(np.int8)
    return states


def text(states, policy=STRONG):
    return GAME.actions.text(choose(states, policy)[0])


@pytest.mark.parametrize("player", [EASY, STRONG])
def test_takes_certain_points_when_everybody_else_is_out(player):
    """The owner has emptied its hand and the third seat has passed: four cards score at once (RC-10)."""
    states = position([{"5": 4, "R": 2}, {"6": 2, "7": 3}, {}], ("R", 3), owner=2)
    states["first_out"], states["passed"][0, 1] = 2, 1
    assert text(states, player) == "play 5x4"


def test_strong_goes_out_when_that_scores_its_r_cards():
    """Its only two cards beat the table, and six scored R cards count from then on (RC-12)."""
    states = position([{"3": 2}, {"6": 4, "7": 4}, {"5": 4, "R": 3}], ("4", 2), owner=2, pile={0: {"R": 6}})
    assert text(states) == "play 3x2"


def test_strong_counts_cards_in_the_last_round():
    """Seat 1 is known to hold three 4s: three 5s or 6s would be taken, three 3s cannot be."""
    states = position([{"3": 3, "6": 3}, {"4": 3, "7": 1}, {}], ("7", 3), owner=2, known={1: {"4": 3}})
    states["first_out"] = 2
    assert text(states) == "play 3x3"
