"""The scripted players of Ramino: legal, from the view alone, and as strong as they should be."""

import numpy as np
import pytest

from cardenvs.core.state import new_states
from cardenvs.envs.common import lane_words
from cardenvs.games.ramino import GAME
from tests.games.test_ramino import FIELDS, idle, play, rich_deck, seen, table

RANDOM, EASY, STRONG = 0, 1, 2
NO_DECK = np.zeros(0, np.int64)


def start(num_players, seeds, deck=NO_DECK, **options):
    """The first game of each lane."""
    blank, _ = GAME.configure(num_players, options)
    states = new_states(GAME.state, len(seeds))
    states["seeds"][:, 0] = seeds
    GAME.loops.start_lanes(states, np.arange(len(seeds)), blank, deck)
    return states


def choose(states, policy, word=1):
    """The choice of the seat to act, and its view and mask."""
    view, mask = new_states(GAME.state, 1), np.zeros(GAME.actions.size, np.int8)
    GAME.loops.view_one(states, int(states["seat"][0]), view)
    GAME.loops.legal_one(states, mask)
    return GAME.loops.choose_one(view, mask, policy, np.array([word], np.uint64)), view, mask


OPTIONS: list[dict] = [
    {},
    {"opening_points": 51},
    {"opening_points": 40, "joker_reuse": "to_hand", "hand_size": 7},
    {"throw_back": True, "reward": "score", "hand_size": 5},
    {"joker_reuse": "to_hand", "num_deals": 2, "hand_size": 6},
]


@pytest.mark.parametrize("num_players", [2, 4, 6])
def test_choices_are_legal_repeatable_and_made_from_the_view_alone(num_players):
    generator, other = np.random.default_rng(num_players), new_states(GAME.state, 1)
    view, observation = new_states(GAME.state, 1), np.zeros(GAME.observation.size, np.int8)
    mask = np.zeros(GAME.actions.size, np.int8)
    decisions = resampled = 0
    for options, seed in zip(OPTIONS, lane_words(num_players, len(OPTIONS))[1], strict=True):
        deck = np.array([GAME.cards.index(card) for card in rich_deck(generator)])
        states = start(num_players, np.array([seed]), deck, **options)
        for _ in range(150):
            if states["terminated"][0]:
                break
            for policy in (EASY, STRONG):
                action, seen_now, legal = choose(states, policy)
                kept = seen_now.copy()
                assert legal[action] == 1
                GAME.loops.resample_one(seen_now, generator.integers(1 << 63, size=1, dtype=np.uint64), other)
                resampled += (other["hand"] != states["hand"]).any()
                assert choose(other, policy)[0] == action
                GAME.loops.choose_one(seen_now, legal, policy, np.array([1], np.uint64))
                assert all((seen_now[name] == kept[name]).all() for name in FIELDS)
            policy = (RANDOM, EASY, STRONG)[generator.integers(3)]
            GAME.loops.step_one(states, choose(states, policy, generator.integers(1 << 60))[0], view, observation, mask)
            decisions += 1
    assert decisions > 150
    assert resampled > 150


def above_mean(lineup, deals, seed, reward="win"):
    """Rewards of the first player in each deal: the mean over the cyclic seatings (rewards add up to 0)."""
    seats = len(lineup)
    states = start(seats, np.tile(lane_words(seed, deals)[1], seats), reward=reward)
    policies = np.concatenate([np.tile(np.roll(lineup, shift), (deals, 1)) for shift in range(seats)]).astype(np.int8)
    lanes, view, mask = np.arange(len(states)), new_states(GAME.state, 1), np.zeros(GAME.actions.size, np.int8)
    words, rewards = lane_words(seed + 1, len(states))[1], np.zeros((len(states), GAME.max_seats))
    GAME.loops.play_lanes(states, lanes, policies, words, 0, view, mask, rewards)
    by_seating = rewards[:, :seats].reshape(seats, deals, seats)
    return np.mean([by_seating[shift, :, shift] for shift in range(seats)], axis=0)


def lower(values):
    """Three standard errors below the mean."""
    return values.mean() - 3 * values.std(ddof=1) / np.sqrt(len(values))


@pytest.mark.parametrize("num_players", [2, 3, 4, 6])
def test_easy_beats_random(num_players):
    """Nearly every game is won: three standard errors of 100 duplicate deals leave the bound."""
    assert lower(above_mean([EASY] + [RANDOM] * (num_players - 1), 100, seed=11)) > 0.8


def test_strong_beats_random():
    assert lower(above_mean([STRONG] + [RANDOM] * 3, 20, seed=12)) > 0.85


@pytest.mark.parametrize(("num_players", "least"), [(2, 0.15), (3, 0.2), (4, 0.2), (6, 0.15)])
def test_strong_beats_easy(num_players, least):
    assert lower(above_mean([STRONG] + [EASY] * (num_players - 1), 120, seed=13)) > least


def test_strong_earns_more_points_than_easy():
    """With `reward="score"`: hundreds of points a deal above the mean of the table."""
    assert lower(above_mean([STRONG] + [EASY] * 3, 120, seed=14, reward="score")) > 0.05


def test_easy_among_copies_of_itself_is_average():
    """It plays the same whatever seat it has: every deal of copies is the same game in all seatings."""
    assert above_mean([EASY] * 4, 30, seed=3) == pytest.approx(0)


def chosen(env, policy=STRONG):
    return GAME.actions.text(choose(env.states, policy)[0])


def finish(env, policy=STRONG):
    """Play this seat's turn."""
    seat, texts = env.agent_selection, []
    while env.agent_selection == seat and not any(env.terminations.values()):
        texts.append(chosen(env, policy))
        play(env, texts[-1])
    return texts


@pytest.mark.parametrize("policy", [EASY, STRONG])
def test_closes_when_it_can(policy):
    env = table("5S 5H 5D 9S 10S JS", "", "", up="2H", stock="KD")
    play(env, "draw stock")
    finish(env, policy)
    assert all(env.terminations.values())
    assert seen(env)["match_points"][0] == 0


@pytest.mark.parametrize("policy", [EASY, STRONG])
def test_takes_what_makes_a_meld_and_jokers(policy):
    for up in ("5D", "QS", "JK"):
        env = table("5S 5H KS JS 2D 7C", "", "", up=up, stock="9D")
        assert chosen(env, policy) == "draw pile"
    env = table("5S 5H KS JS 2D 7C", "", "", up="9H", stock="9D")
    assert chosen(env, policy) == "draw stock"


def test_strong_lays_a_long_run_and_closes_with_a_joker_in_a_hole():
    env = table("3S 4S 6S 7S 9H 9D JK", "", "", stock="9C 2D")
    play(env, "draw stock")
    assert len(finish(env)) > 3
    assert all(env.terminations.values())


def test_strong_holds_its_melds_for_a_close_where_only_winning_counts():
    """And throws what is of least use; where points count it lays when a seat has few cards left."""
    hands = ("5S 5H 5D 9S 10S JS 2C KH", "QS QH QD QC KD KC 3H 8D", "")
    for reward in ("win", "score"):
        env = table(*hands, stock="7D 8C", reward=reward)
        play(env, "draw stock")
        assert chosen(env).startswith("discard")
        play(env, chosen(env), "draw stock", "set Q SHD", "add-set QC #0", "discard 8C")
        idle(env)
        env.states["cards"][0, 1] = 3
        play(env, "draw stock")
        assert chosen(env).startswith("discard") == (reward == "win")


def test_strong_keeps_what_can_still_become_a_meld():
    """Both other sevens lie in the pile or on the table: that pair is dead, the other is not."""
    env = table("7S 7H 9D 10D KS", "7D 7C 7D QS QC", "", up="7C", stock="2C 4C 5H", hand_size=5)
    play(env, "draw stock", "discard KS", "draw stock", "discard 7D")
    idle(env)
    play(env, "draw stock")
    assert chosen(env) not in ("discard 9D", "discard 10D")


@pytest.mark.parametrize("policy", [EASY, STRONG])
def test_lays_an_owed_joker(policy):
    env = table("7S 9S JK 3H KC", "8S QS QH QD 2C", stock="4D 6D")
    play(env, "draw stock", "run S@7 njn", "discard 4D", "draw stock", "set Q SHD", "swap-run S@8")
    texts = finish(env, policy)
    assert texts[0].endswith(("S@6*", "S@10*", "Q* #0"))
    assert texts[-1].startswith("discard")


@pytest.mark.parametrize("policy", [EASY, STRONG])
def test_never_throws_a_joker(policy):
    env = table("2S 4H JK 9C KD", "", stock="6H")
    play(env, "draw stock")
    assert chosen(env, policy) != "discard JK"
