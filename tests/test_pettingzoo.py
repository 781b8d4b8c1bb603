"""PettingZoo's own tests, and what users of its loop stumble over (FC numbers are those of the field cases)."""

import warnings
from collections import defaultdict
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium import spaces
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.test.state_test import test_state as check_state
from pettingzoo.test.state_test import test_state_space as check_state_space

import cardenvs
from cardenvs.core.game import Game
from cardenvs.envs.aec import CardEnv
from cardenvs.errors import InvalidAction, InvalidOption, NotReset
from tests.common import Case, mixtures, over, play, run_python, snapshot

_ONLY_FOR_GAMES_ON_ITS_OWN_LIST = (
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be",
    "Action mask numpy array is all zeros",
)
"""Warnings of PettingZoo's tests at observations with masks, and at the masks of dead agents, in all but its own environments."""


@pytest.fixture
def _as_pettingzoo_sees_it():
    """Its warnings are errors, but those."""
    with warnings.catch_warnings():
        for message in _ONLY_FOR_GAMES_ON_ITS_OWN_LIST:
            warnings.filterwarnings("ignore", message)
        yield


# PettingZoo's tests (FC-14).


@pytest.mark.usefixtures("_as_pettingzoo_sees_it")
def test_api(case: Case):
    api_test(case.make(**mixtures(case, 2, seed=2)[1]), num_cycles=40)


def test_seeds(case: Case):
    seed_test(case.make, num_cycles=40)


def test_rendering(case: Case):
    render_test(lambda **options: case.make(**options))


def test_state(case: Case):
    """It gives actions without regard to the mask, which here lose the game."""
    env = case.make(illegal_action="loss")
    check_state_space(env)
    for seed in range(5):
        check_state(env, num_cycles=10, seed=seed)


def test_made_by_pettingzoo(case: Case):
    """FC-15."""
    env = pettingzoo.make("aec", f"cardenvs/{case.game_id}", num_players=case.num_players, reward="score")
    assert isinstance(env, CardEnv)
    assert (env.game.id, env.num_players, env.options["reward"]) == (*case, "score")


def test_made_by_pettingzoo_in_a_new_process():
    """FC-15: after our import it works; without it the message names the package to import."""
    run_python("-W", "error", "-c", "import cardenvs, pettingzoo; pettingzoo.make('aec', 'cardenvs/recurrring-v0', num_players=4).reset()")
    with pytest.raises(AssertionError, match="'cardenvs' not found"):
        run_python("-c", "import pettingzoo; pettingzoo.make('aec', 'cardenvs/recurrring-v0', num_players=4)")


# The loop.


def test_textbook_loop(case: Case):
    """FC-01, FC-07, FC-10, FC-11, FC-24, FC-27: every observation fits its space, every player is paid what it earns and dies once."""
    for seed, options in enumerate(mixtures(case, 4, seed=3)):
        env = case.make(**options)
        env.reset(seed=seed)
        spaces_of = {agent: (env.observation_space(agent), env.action_space(agent)) for agent in env.possible_agents}
        received: dict[str, float] = defaultdict(float)
        returns: dict[str, float] = defaultdict(float)
        dead = []
        for agent in env.agent_iter(max_iter=1500):
            observation, reward, terminated, truncated, info = env.last()
            assert env.last(observe=False) == (None, reward, terminated, truncated, info)
            check_observation(observation, spaces_of[agent][0])
            assert info == {}
            received[agent] += reward
            done = terminated or truncated
            if done:
                dead.append(agent)
                assert not observation["action_mask"].any()
                env.step(None)
                continue
            action = spaces_of[agent][1].sample(observation["action_mask"])
            assert observation["action_mask"][action]
            env.step(action)
            for player, paid in env.rewards.items():
                returns[player] += paid
        if dead:
            assert env.agents == []
            assert sorted(dead) == env.possible_agents
            assert received == pytest.approx(returns)
            assert sum(received.values()) == pytest.approx(0)


def check_observation(observation: dict[str, np.ndarray], space: spaces.Dict) -> None:
    """FC-10: in its space, of its types, contiguous, and zeros and ones alone."""
    assert space.contains(observation)
    for name, values in observation.items():
        assert values.dtype == space[name].dtype
        assert values.shape == space[name].shape
        assert values.flags.c_contiguous
        assert values.flags.owndata
        assert set(np.unique(values)) <= {0, 1}


def test_end_of_a_game(case: Case):
    """FC-02, FC-07: all agents are still there when the game ends, and leave one by one."""
    env = case.finished(seed=1)
    assert env.agents == env.possible_agents
    finals = {agent: env.observe(agent) for agent in env.agents}
    rewards, flags = dict(env.rewards), dict(env.terminations)
    for number, agent in enumerate(env.possible_agents):
        assert env.agent_selection == agent
        assert env.agents == env.possible_agents[number:]
        observation, _, terminated, truncated, _ = env.last()
        assert np.array_equal(observation["observation"], finals[agent]["observation"])
        assert not observation["action_mask"].any()
        assert terminated == flags[agent] != truncated
        assert number > 0 or env.rewards == rewards
        env.step(None)
    assert env.agents == [] == [*env.rewards, *env.terminations, *env.truncations, *env.infos]


def test_actions_of_the_wrong_kind(case: Case):
    """FC-03, FC-04: None for the living and anything else for the dead is refused and changes nothing."""
    env = case.started(seed=2)
    before = snapshot(env)
    with pytest.raises(InvalidAction, match="not None"):
        env.step(None)
    assert snapshot(env) == before
    env = case.finished(seed=2)
    for _ in env.possible_agents:
        before = snapshot(env)
        for action in (0, 3, np.int64(0)):
            with pytest.raises(ValueError, match="only action it may give is None"):
                env.step(action)
        assert snapshot(env) == before
        env.step(None)


def test_reset_at_any_time(case: Case):
    """FC-06: nothing of the old game is left."""
    rng = np.random.default_rng(3)
    env = case.make()
    for seed in range(40):
        env.reset(seed=seed)
        assert snapshot(env) == snapshot(case.started(seed=seed))
        assert env.agents == env.possible_agents
        assert env.agents is not env.possible_agents
        assert env.agent_selection in env.agents
        assert env.rewards == dict.fromkeys(env.agents, 0.0) == env._cumulative_rewards
        assert env.terminations == env.truncations == dict.fromkeys(env.agents, False)
        assert env.infos == {agent: {} for agent in env.agents}
        for _ in play(env, rng, int(rng.integers(150))):
            pass
        if over(env):
            for _ in range(rng.integers(case.num_players + 1)):
                env.step(None)


def test_before_reset(case: Case):
    """FC-08: what needs a game says so, the spaces do not need one."""
    env = case.make()
    for ask in (
        env.render, env.last, env.state, env.scores, env.legal_actions, env.text, env.record,
        lambda: env.observe("player_0"), lambda: env.view("player_0"), lambda: env.step(0),
        lambda: env.agents, lambda: env.agent_selection, lambda: env.rewards, lambda: env.infos, lambda: env.num_agents,
        lambda: list(env.agent_iter()),
    ):  # fmt: skip
        with pytest.raises(NotReset, match="reset"):
            ask()
    assert env.possible_agents == [f"player_{seat}" for seat in range(case.num_players)]
    for agent in env.possible_agents:
        assert env.action_space(agent).n == env.game.actions.size
        assert env.observation_space(agent)["observation"].shape == (env.game.observation.size,)
    with pytest.raises(AttributeError, match="no attribute 'no_such_thing'"):
        getattr(env, "no_such_thing")  # noqa: B009
    env.close()


def test_spaces_are_the_same_objects(case: Case):
    """FC-09: so that their seeds hold."""
    env = case.started(seed=4)
    for agent in env.possible_agents:
        assert env.action_space(agent) is env.action_space(agent)
        assert env.observation_space(agent) is env.observation_space(agent)
        samples = []
        for _ in range(2):
            env.action_space(agent).seed(7)
            samples.append([env.action_space(agent).sample() for _ in range(5)])
        assert samples[0] == samples[1]
    first, second = (env.action_space(agent) for agent in env.possible_agents[:2])
    assert first is not second
    assert isinstance(env.state_space, gymnasium.spaces.Box)
    assert env.state_space.contains(env.state())


def test_limits_truncate(game: Game):
    """FC-13, G-04, G-12: the limit of a game truncates it, a game without one never is; a natural end terminates."""
    limits = [name for name in game.options if name.startswith("max_")]
    for num_players in game.players:
        case = Case(game.id, num_players)
        for name in limits:
            lowest = game.options[name].low
            cut = [case.finished(seed=seed, **{name: lowest}) for seed in range(10)]
            assert any(all(env.truncations.values()) for env in cut)
            if name == "max_steps":
                assert {len(env.record()["actions"]) for env in cut} == {lowest}
            for env in cut:
                check_flags(env)
        env = case.finished()
        check_flags(env)
        if not limits:
            assert all(env.terminations.values())


def check_flags(env: CardEnv) -> None:
    """Exactly one of the flags is set, for all agents alike."""
    assert len({*env.terminations.values()}) == len({*env.truncations.values()}) == 1
    assert all(env.terminations[agent] != env.truncations[agent] for agent in env.agents)


def test_observing_others_changes_nothing(case: Case):
    """FC-26: their masks are zero; what is handed out is the caller's own."""
    env = case.started(seed=5, decisions=3)
    before = snapshot(env)
    for agent in env.possible_agents:
        seen = env.observe(agent)
        assert seen["action_mask"].any() == (agent == env.agent_selection and not over(env))
        for values in seen.values():
            values[:] = 7
    env.view(env.agent_selection)["seat"] = 7
    env.legal_actions().clear()
    env.state()[:] = 7
    assert snapshot(env) == before
    with pytest.raises(InvalidOption, match="no agent is called 'player_99'; agents are player_0"):
        env.observe("player_99")


def test_state_is_what_all_see(case: Case):
    """The complete truth is the observations of all seats, absent ones zero."""
    env = case.started(seed=6, decisions=4)
    rows = env.state().reshape(env.game.max_seats, -1)
    for row, agent in zip(rows, env.possible_agents, strict=False):
        assert np.array_equal(row, env.observe(agent)["observation"])
    assert not rows[case.num_players :].any()


def test_returns_of_a_won_game(case: Case):
    """G-10: whoever has the best score wins, and the winners get what the others lose."""
    seats = case.num_players
    for seed in range(5):
        env = case.finished(seed=seed)
        if all(env.terminations.values()):
            scores = np.array(env.scores())
            best = scores == scores.max()
            winners = best.sum()
            expected = np.where(best, (seats - winners) / (winners * (seats - 1)), -1 / (seats - 1) if winners < seats else 0)
            assert total_rewards(env) == pytest.approx(dict(zip(env.possible_agents, expected, strict=True)))


@pytest.mark.parametrize(
    ("game_id", "limit", "reward", "scale"),
    [
        ("ding-v0", {"max_steps": 6}, "win", None),
        ("ding-v0", {"max_steps": 6}, "score", None),
        ("ringer-v0", {"max_steps": 30}, "score", 20),
        ("timbre-v0", {"max_hands": 2}, "win", None),
        ("timbre-v0", {"max_hands": 2}, "score", 10),
    ],
)
def test_a_truncated_game_pays_nothing_save_what_its_page_says(game_id: str, limit: dict[str, int], reward: str, scale: int | None):
    """G-04, DI-14, RI-26: scores in Ringer and Timbre, where they are fixed at any moment."""
    case = Case(game_id, 4)
    env = case.finished(seed=3, reward=reward, **limit)
    assert all(env.truncations.values())
    scores = np.array(env.scores())
    assert len(set(scores.tolist())) > 1
    expected = (scores - scores.mean()) / scale if scale else np.zeros(4)
    assert list(total_rewards(env).values()) == pytest.approx(expected)


def test_a_truncated_game_of_ringer_is_won_by_the_scores_reached():
    """RI-26"""
    env = Case("ringer-v0", 4).finished(seed=3, max_steps=30)
    assert all(env.truncations.values())
    scores, returns = np.array(env.scores()), np.array(list(total_rewards(env).values()))
    assert ((returns > 0) == (scores == scores.max())).all()


def total_rewards(env: CardEnv) -> dict[str, Any]:
    """The returns of a finished game, played again from its record."""
    totals: dict[str, float] = dict.fromkeys(env.possible_agents, 0.0)
    again = cardenvs.replay(env.record(), 0)
    for text in env.record()["actions"]:
        again.step(again.action_id(text))
        for agent, reward in again.rewards.items():
            totals[agent] += reward
    return totals
