"""The scripted players of Ringer: legal, from the view alone, and as strong as they should be."""

import numpy as np
import pytest

import cardenvs
from cardenvs.core.game import POLICIES
from cardenvs.core.state import new_states
from cardenvs.envs.common import lane_words
from tests.games.test_ringer import CHAIN, PLAIN, actor, drained, legal, over, play, plays, seen, table

RANDOM, EASY, STRONG = range(len(POLICIES))
GAME = cardenvs.find("ringer-v0")


def choice(env, policy: int = STRONG) -> str:
    """What a player does in the place of the seat to act."""
    seen_now = env.observe(env.agent_selection)
    action = GAME.loops.choose_one(env.view(env.agent_selection), seen_now["action_mask"], policy, np.array([1], np.uint64))
    return env.action_text(action)


def play_turn(env, policy: int = STRONG) -> list[str]:
    """Let a player go on until its turn is over; windows are declined. Returns what it did."""
    me, done = actor(env), []
    while not over(env) and seen(env)["turn"] == me:
        if actor(env) == me:
            done.append(choice(env, policy))
            play(env, done[-1])
        else:
            play(env, "decline")
    return done


@pytest.mark.parametrize("num_players", GAME.players)
@pytest.mark.parametrize("options", [{}, {"deck": "powers", "wrap": True, "race": "random", "starter_power": False, "stall_limit": 1}])
def test_choices_are_legal_repeatable_and_made_from_the_view_alone(num_players, options):
    generator, other = np.random.default_rng(5), new_states(GAME.state, 1)
    view, mask = new_states(GAME.state, 1), np.zeros(GAME.actions.size, np.int8)
    env = cardenvs.make(GAME.id, num_players, **options)
    env.reset(seed=num_players)
    decisions = resampled = 0
    while not over(env):
        seat = actor(env)
        GAME.loops.view_one(env.states, seat, view)
        GAME.loops.legal_one(env.states, mask)
        kept = [*(view[name].tolist() for name in GAME.state.names or ()), mask.tolist()]
        words = generator.integers(1 << 63, size=2, dtype=np.uint64)
        for policy in (EASY, STRONG):
            action = GAME.loops.choose_one(view, mask, policy, words[:1].copy())
            assert mask[action] == 1
            assert [*(view[name].tolist() for name in GAME.state.names or ()), mask.tolist()] == kept
            GAME.loops.resample_one(view, words[1:].copy(), other)
            resampled += (other["hand"] != env.states["hand"]).any()
            again = new_states(GAME.state, 1)
            GAME.loops.view_one(other, seat, again)
            assert GAME.loops.choose_one(again, mask, policy, words[:1].copy()) == action
        env.step(GAME.loops.choose_one(view, mask, int(generator.integers(3)), words[:1].copy()))
        decisions += 1
    assert decisions > 50
    assert resampled > 50


def above_mean(lineup, deals, seed):
    """Score of the first player above the table's mean, of each deal: its mean over the cyclic seatings."""
    seats = len(lineup)
    blank, _ = GAME.configure(seats, {})
    states = new_states(GAME.state, deals * seats)
    states["seeds"][:, 0] = np.tile(lane_words(seed, deals)[1], seats)
    lanes, view, mask = np.arange(len(states)), new_states(GAME.state, 1), np.zeros(GAME.actions.size, np.int8)
    GAME.loops.start_lanes(states, lanes, blank, np.zeros(0, np.int64))
    policies = np.concatenate([np.tile(np.roll(lineup, shift), (deals, 1)) for shift in range(seats)]).astype(np.int8)
    words = lane_words(seed + 1, len(states))[1]
    GAME.loops.play_lanes(states, lanes, policies, words, 0, view, mask, np.zeros((len(states), GAME.max_seats)))
    scores = np.zeros((len(states), seats), np.int64)
    for lane in lanes:
        GAME.loops.scores_one(states[lane : lane + 1], scores[lane])
    above = (scores - scores.mean(1, keepdims=True)).reshape(seats, deals, seats)
    return np.mean([above[shift, :, shift] for shift in range(seats)], axis=0)


@pytest.mark.parametrize("num_players", GAME.players)
@pytest.mark.parametrize(("player", "others", "least"), [(STRONG, RANDOM, 24.0), (EASY, RANDOM, 13.0), (STRONG, EASY, 6.0)])
def test_strong_beats_easy_beats_random(num_players, player, others, least):
    """Cards above the mean of the table; three standard errors of the duplicate deals must leave the bound."""
    points = above_mean([player] + [others] * (num_players - 1), 150, seed=11)
    assert points.mean() - 3 * points.std(ddof=1) / np.sqrt(len(points)) > least


def test_strong_among_copies_of_itself_is_average():
    """It plays the same whatever seat it has: every deal of copies is the same game in all seatings."""
    assert above_mean([STRONG] * 4, 20, seed=3) == pytest.approx(0)


@pytest.mark.parametrize("player", [EASY, STRONG])
def test_a_ringer_that_is_there_is_scored(player):
    env = table("P3 G6 Y6 G1 Y1 B1", "", "", "", top="P2", dice=(3,))
    assert play_turn(env, player)[0] == "play P3"
    assert len(seen(env, 0)["won"][0]) >= 2


def test_strong_scores_at_the_end_of_a_chain():
    """The only way to the die leads over two other cards."""
    env = table("P3 P4 P5 G1 Y1 B1", "", "", "", top="P2", dice=(5,))
    assert play_turn(env)[:3] == plays("P3 P4 P5")
    assert len(seen(env, 0)["won"][0]) >= 4


def test_strong_takes_the_longer_way_to_the_same_ringer():
    """P3 would score two cards at once; with P1 and P2 before it, it is four."""
    env = table("P3 P1 P2 G6 Y6 B6", "", "", "", top="P2", dice=(3,))
    assert play_turn(env)[:3] == plays("P1 P2 P3")


def test_strong_does_not_lay_the_pile_ready_for_others():
    """P4 goes on the pile and leads nowhere, but whoever holds a five would then win it."""
    env = table("P4 G1 Y1 B1 G2 Y2", "", "", "", top="P3", dice=(5,))
    assert legal(env) == ["play P4", "end"]
    assert choice(env) == "end"


def test_strong_empties_its_hand_in_the_end_phase():
    env = drained(f"{CHAIN} G6", PLAIN, "B1", dice=(6, 3))
    play_turn(env)
    assert len(seen(env, 0)["won"][0]) == 95


def test_strong_takes_the_turn_to_win_a_large_pile():
    """On its W4 it has a W5, the number of the die."""
    env = table("P1 P2 P3 P4", "W4-take W5 G1 Y1 B6 G2", "", top="B1", dice=(5,))
    play(env, *plays("P1 P2 P3"), "decline", "play P4")
    assert choice(env) == "play W4-take"
    play(env, "play W4-take")
    assert play_turn(env)[0] == "play W5"
    assert len(seen(env, 1)["won"][1]) >= 7


def test_strong_asks_for_what_it_knows():
    """Seat 0 got W5 from it, which on G4 would be a Ringer."""
    env = table("B4-ask", "B3 G3-ask G4 W5 G1 Y1", "", top="B3", dice=(5,))
    play(env, "play B4-ask", "ask +1 5", "give W5", "end", "play B3", "play G3-ask")
    assert seen(env)["known"][0] == ["W5"]
    assert choice(env) == "ask +2 5"


def test_strong_does_not_ask_twice_in_vain():
    """What a hand was found to lack is not asked for again."""
    env = table("P5-ask W6-ask", "G1 G2 G3 Y1 Y2 Y3", "B1 B2 B3 B4 P1 P2", top="P4", dice=(1,))
    play(env, "play P5-ask", "ask +1 blue", "play W6-ask")
    assert seen(env)["asks"][0]["match"] is False
    assert choice(env) != "ask +1 blue"
