"""Self-play: every seat's rewards and values stay its own (FC-41, FC-43, FC-44, FC-56, FC-57, FC-65)."""

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer
from stable_baselines3.common.preprocessing import is_image_space

import cardenvs
from cardenvs import agents
from cardenvs.core.game import POLICIES, Game
from cardenvs.experiments.binary import BinaryLinear
from cardenvs.experiments.learner import SelfPlay, Snapshot, imitate, learn, make_learner, make_tables, measure_ceiling, policy_layers
from cardenvs.experiments.matches import interval, play_deals
from cardenvs.experiments.selfplay import NOBODY, EmptyMask, Pool, SeatRolloutBuffer, SeatVecEnv

GAME = "recurrring-v0"
SMALL = SelfPlay(tables=16, steps=16, minibatch=128, epochs=1, layers=(16,), snapshots=3)
PASS, BET = 0, 1


class FirstLegal:
    """A snapshot that plays the first legal action and counts its decisions."""

    name = "first"

    def __init__(self) -> None:
        self.decisions = 0

    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        assert (masks.sum(axis=1) > 1).all(), "forced decisions are nobody's"
        self.decisions += len(masks)
        return masks.argmax(axis=1)


def random_actions(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.where(masks, rng.random(masks.shape), -1).argmax(axis=1)


def collect(env: SeatVecEnv, buffer: SeatRolloutBuffer, actions: Any, values: np.ndarray) -> None:
    """Fill the buffer as `collect_rollouts` does; `actions(t)` and `values` (steps, tables) are given."""
    observations = env.reset()
    starts = np.ones(env.num_envs)
    for t in range(buffer.buffer_size):
        masks = env.action_masks().copy()
        after, rewards, ends, _ = env.step(actions(t))
        value, nothing = torch.from_numpy(values[t].astype(np.float32)), torch.zeros(env.num_envs)
        buffer.add(observations, np.asarray(actions(t))[:, None], rewards, starts, value, nothing, action_masks=masks)
        observations, starts = after, ends
    buffer.compute_returns_and_advantage(torch.zeros(env.num_envs), starts)


def make_buffer(env: SeatVecEnv, steps: int, gamma: float, gae_lambda: float, value_of: Any) -> SeatRolloutBuffer:
    buffer = SeatRolloutBuffer(steps, env.observation_space, env.action_space, "cpu", gae_lambda, gamma, env.num_envs)
    buffer.attach(env, value_of)
    return buffer


def no_value(observations: np.ndarray) -> np.ndarray:
    return np.zeros(len(observations))


@pytest.mark.parametrize("moves", [(PASS, PASS), (PASS, BET, PASS), (PASS, BET, BET), (BET, PASS), (BET, BET)])
def test_every_seat_gets_its_exact_rewards_whoever_ends_the_game(kuhn: Game, moves: tuple[int, ...]):
    """FC-41: with gamma = lambda = 1 and no values, the advantage of each choice is what its seat still earns in that game."""
    games, tables = 4, 8
    env = SeatVecEnv(kuhn, tables, seed=3, reward="score")
    buffer = make_buffer(env, games * len(moves), 1.0, 1.0, no_value)
    script = np.tile(moves, games)
    collect(env, buffer, lambda t: np.full(tables, script[t]), np.zeros((len(script), tables)))

    reference = cardenvs.make("kuhn-v0", reward="score")
    words = np.random.SeedSequence(env.tables.seed).generate_state(tables, np.uint64)
    for table in range(tables):
        reference.states["seeds"], reference.seed = words[table], 0
        for game in range(games):
            reference.reset()
            for move in moves:
                reference.step(move)
            earned = list(reference.rewards.values())
            assert sorted(np.abs(earned)) in ([1, 1], [2, 2])
            rows = slice(game * len(moves), (game + 1) * len(moves))
            assert buffer.seats[rows, table].tolist() == [number % 2 for number in range(len(moves))]
            assert buffer.advantages[rows, table].tolist() == [earned[number % 2] for number in range(len(moves))]


def test_paid_agrees_with_the_aec_environment_and_forced_decisions_are_no_rows():
    """FC-41, FC-76: table by table, the rows are the choices of the AEC game, and what is paid adds up to its returns."""
    env = SeatVecEnv(GAME, 6, 3, seed=5, reward="score", num_games=2)
    env.reset()
    words = np.random.SeedSequence(env.tables.seed).generate_state(6, np.uint64)
    twins = []
    for word in words:
        twin = cardenvs.make(GAME, 3, reward="score", num_games=2)
        twin.states["seeds"], twin.seed = word, 0
        twin.reset()
        twins.append((twin, np.zeros(3)))

    def play(twin: Any, returns: np.ndarray, action: int) -> None:
        twin.step(action)
        returns += list(twin.rewards.values())

    def play_forced(twin: Any, returns: np.ndarray) -> None:
        while len(twin.legal_actions()) == 1:
            play(twin, returns, twin.legal_actions()[0])

    rng = np.random.default_rng(0)
    paid, ends = np.zeros((6, 3)), 0
    for twin, returns in twins:
        play_forced(twin, returns)
    for _ in range(150):
        masks = env.action_masks()
        assert (masks.sum(axis=1) > 1).all()
        actions = random_actions(masks, rng)
        for table, (twin, returns) in enumerate(twins):
            assert twin.possible_agents[env.now.seat[table]] == twin.agent_selection
            np.testing.assert_array_equal(env.now.observation[table], twin.observe(twin.agent_selection)["observation"])
            play(twin, returns, actions[table])
            play_forced(twin, returns)
        env.step(actions)
        paid += env.paid
        for table, (twin, returns) in enumerate(twins):
            assert env.ended[table] == twin.terminations["player_0"]
            if env.ended[table]:
                ends += 1
                np.testing.assert_allclose(paid[table], returns)
                paid[table] = returns[:] = 0
                twin.reset()
                play_forced(twin, np.zeros(3))
    assert ends == env.games >= 6


def test_shaping_pays_points_when_they_are_made_and_takes_them_back_at_the_end():
    """The same choices with and without it: in between the difference is what the running games are worth, at the end nothing."""
    plain = SeatVecEnv(GAME, 6, 3, seed=5, reward="score", num_games=2)
    shaped = SeatVecEnv(GAME, 6, 3, seed=5, shaping=0.5, reward="score", num_games=2)

    def worth() -> np.ndarray:
        scores = np.array(shaped.tables.scores())
        return 0.5 * (scores - scores.mean(axis=1, keepdims=True))

    plain.reset()
    shaped.reset()
    rng = np.random.default_rng(0)
    first, extra = worth(), np.zeros((6, 3))
    for _ in range(200):
        actions = random_actions(plain.action_masks(), rng)
        plain.step(actions)
        _, earned, _, _ = shaped.step(actions)
        np.testing.assert_allclose(earned, shaped.paid[np.arange(6), shaped.acted], rtol=1e-6)
        extra += shaped.paid - plain.paid
        over = plain.ended
        np.testing.assert_allclose(extra[over], -first[over], atol=1e-9)
        np.testing.assert_allclose(extra[~over], (worth() - first)[~over], atol=1e-9)
        first[over], extra[over] = worth()[over], 0
    assert plain.games == shaped.games >= 6


def naive_advantages(buffer: SeatRolloutBuffer, last: np.ndarray) -> np.ndarray:
    """The textbook recursion, one seat's trajectory after the other."""
    found = np.full(buffer.seats.shape, np.nan)
    steps, tables = buffer.seats.shape
    for table in range(tables):
        ends = [-1, *np.flatnonzero(buffer.ended[:, table]), steps - 1]
        for start, end in itertools.pairwise(ends):
            over = end >= 0 and buffer.ended[end, table]
            for seat in range(buffer.paid.shape[2]):
                own = [t for t in range(start + 1, end + 1) if buffer.seats[t, table] == seat]
                rewards = [buffer.paid[a:b, table, seat].sum() for a, b in itertools.pairwise([*own, end + 1])]
                values = [*buffer.values[own, table], 0.0 if over else last[table, seat]]
                advantage = 0.0
                for number in reversed(range(len(own))):
                    delta = rewards[number] + buffer.gamma * values[number + 1] - values[number]
                    advantage = delta + buffer.gamma * buffer.gae_lambda * advantage
                    found[own[number], table] = advantage
    return found


@pytest.mark.parametrize("num_players", [3, 4])
def test_advantages_equal_a_naive_reference_and_start_from_each_seats_own_view(num_players: int):
    rng = np.random.default_rng(1)
    weights = rng.normal(size=cardenvs.find(GAME).observation.size) / 10
    env = SeatVecEnv(GAME, 8, num_players, seed=2, pool=Pool(("easy", "strong"), 0), pool_share=0.5, reward="score", num_games=1)
    buffer = make_buffer(env, 100, 0.98, 0.9, lambda observations: observations @ weights)
    values = rng.normal(size=(100, 8))
    chosen: dict[int, np.ndarray] = {}
    collect(env, buffer, lambda t: chosen.setdefault(t, random_actions(env.now.action_mask, rng)), values)
    assert buffer.ended.sum() > 4
    views = np.zeros((8, num_players, len(weights)), np.int8)
    for table, seat in np.ndindex(8, num_players):
        one = env.tables.states[table : table + 1]
        env.game.loops.observe_one(one, seat, env._view, views[table, seat], env._mask)
    np.testing.assert_allclose(buffer.advantages, naive_advantages(buffer, views @ weights), atol=1e-4)
    np.testing.assert_allclose(buffer.returns, buffer.advantages + buffer.values)


def test_an_empty_mask_names_game_seat_and_step_before_anything_is_sampled():
    """FC-44"""
    learning = SMALL
    env = make_tables(learning, cardenvs.find(GAME), 4, {}, 0)
    model = make_learner(learning, env, 0)
    env.now.action_mask[7] = 0
    seat, step = env.now.seat[7], env.tables.states["steps"][7]
    calls = []
    model.policy.forward = lambda *args, **kwargs: calls.append(args)  # type: ignore[assignment]
    with pytest.raises(EmptyMask, match=rf"recurrring-v0: seat {seat} at table 7 .* step {step} "):
        learn(model, learning, 0.0)
    assert not calls


def test_a_pool_seat_stays_for_the_whole_game_and_is_never_a_row():
    """FC-57: players that join the pool while games run do not enter these games."""
    pool = Pool(("easy", "strong"), 2)
    snapshots = [FirstLegal() for _ in range(30)]
    env = SeatVecEnv(GAME, 20, 4, seed=1, pool=pool, pool_share=0.5, num_games=1)
    pool.add(snapshots[0])
    env.reset()
    rng = np.random.default_rng(0)
    seen = set()
    for number in range(300):
        if number % 10 == 9:
            pool.add(snapshots[number // 10])
            pool.forget(env.opponents)
        opponents, learns = env.opponents.copy(), env.learns.copy()
        env.step(random_actions(env.action_masks(), rng))
        running = ~env.ended
        np.testing.assert_array_equal(env.opponents[running], opponents[running])
        np.testing.assert_array_equal(env.learns[running], learns[running])
        assert env.learns[env.tables.lanes, env.now.seat].all()
        seen.update(env.opponents.tolist())
    assert (env.opponents[:10] == NOBODY).all()
    assert env.learns[:10].all()
    assert env.learns[10:].any(axis=1).all()
    assert not env.learns[10:].all(axis=1).any()
    assert {NOBODY, POLICIES.index("easy"), POLICIES.index("strong")} < seen
    assert sum(snapshot.decisions for snapshot in snapshots) > 500
    assert sum(snapshot.decisions > 0 for snapshot in snapshots) > 5


def test_many_snapshots_leave_few_behind():
    """FC-65: what the pool holds is bounded by what is recent or still plays."""
    pool = Pool(("easy",), 3)
    env = SeatVecEnv(GAME, 10, 3, seed=1, pool=pool, pool_share=0.5, num_games=1)
    env.reset()
    rng = np.random.default_rng(0)
    for _ in range(200):
        pool.add(FirstLegal())
        pool.forget(env.opponents)
        env.step(random_actions(env.action_masks(), rng))
        assert len(pool.snapshots) <= 3 + len(env.pool_tables)
    assert pool.count == 200


def test_tables_go_on_exactly_from_what_was_saved():
    rng = np.random.default_rng(0)

    def make() -> SeatVecEnv:
        return SeatVecEnv(GAME, 12, 4, seed=4, pool=Pool(("easy", "strong"), 2), pool_share=0.5, num_games=1)

    def play(env: SeatVecEnv, seed: int) -> list[np.ndarray]:
        rng = np.random.default_rng(seed)
        rows = []
        for _ in range(60):
            observations, rewards, ends, _ = env.step(random_actions(env.action_masks(), rng))
            rows += [observations, rewards, ends, env.acted.copy(), env.paid.copy(), env.opponents.copy()]
        return rows

    env, again = make(), make()
    env.reset()
    snapshot = FirstLegal()
    env.pool.add(snapshot)
    for _ in range(80):
        env.step(random_actions(env.action_masks(), rng))
    saved = env.save()
    expected = play(env, 9)
    again.load(saved, env.pool.snapshots)
    for one, other in zip(expected, play(again, 9), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (again.decisions, again.games) == (env.decisions, env.games)


def test_log_probabilities_at_collection_are_those_of_training():
    """FC-56, and FC-50: an observation is no picture, and the network takes all its features."""
    learning = SMALL
    env = make_tables(learning, cardenvs.find(GAME), 4, {}, 0)
    assert not is_image_space(env.observation_space)
    model = make_learner(learning, env, 0)
    assert policy_layers(model)["features_extractor.net.0.weight"].shape == (16, env.game.observation.size)
    learn(model, learning, 0.0)
    buffer = model.rollout_buffer
    model.collect_rollouts(env, model._init_callback(None), buffer, learning.steps)
    for rows in buffer.get(64):
        with torch.no_grad():
            _, log_prob, _ = model.policy.evaluate_actions(rows.observations, rows.actions.long().flatten(), rows.action_masks)
        torch.testing.assert_close(log_prob, rows.old_log_prob, atol=1e-5, rtol=0)
        assert rows.action_masks.gather(1, rows.actions.long()).all(), "an illegal action was sampled"


def test_a_snapshot_draws_what_the_policy_would():
    learning = SMALL
    env = make_tables(learning, cardenvs.find(GAME), 4, {}, 0)
    model = make_learner(learning, env, 0)
    observations, masks = env.now.observation.repeat(500, axis=0), env.action_masks().repeat(500, axis=0)
    actions = Snapshot(policy_layers(model)).act_batch(observations, masks, np.random.default_rng(0))
    assert masks[np.arange(len(masks)), actions].all()
    with torch.no_grad():
        expected = model.policy.get_distribution(torch.from_numpy(env.now.observation), env.action_masks()).distribution.probs.numpy()
    drawn = np.array([np.bincount(part, minlength=env.game.actions.size) for part in actions.reshape(-1, 500)]) / 500
    assert np.abs(drawn - expected).max() < 0.1
    greedy = Snapshot(policy_layers(model), greedy=True).act_batch(env.now.observation, env.action_masks(), np.random.default_rng(0))
    np.testing.assert_array_equal(greedy, expected.argmax(axis=1))


def test_the_ceiling_is_measured_with_the_same_shapes():
    speeds = measure_ceiling(SMALL, cardenvs.find(GAME), 3, {}, rounds=2)
    assert 0.02 < speeds["share"] < 1.5
    assert speeds["share"] == speeds["game"] / speeds["stub"]


@pytest.mark.slow
def test_the_seat_buffer_learns_where_the_tutorial_style_does_not():
    """FC-41: known-bad control. A plain buffer on the same rows pays a choice what was earned until the next row alone, and
    bootstraps from the value of whoever is to act there, as in PettingZoo's tutorial.
    """
    learning = SelfPlay(tables=256, steps=32, minibatch=2048, layers=(64, 64), pool_share=0.0)
    options = {"reward": "score", "num_games": 1}
    game = cardenvs.find(GAME)
    scores = {}
    for style in ("seats", "tutorial"):
        env = make_tables(learning, game, 3, options, 1)
        model = make_learner(learning, env, 1)
        if style == "tutorial":
            settings = learning.gae_lambda, learning.gamma, learning.tables
            model.rollout_buffer = MaskableRolloutBuffer(learning.steps, env.observation_space, env.action_space, "cpu", *settings)
        for number in range(25):
            learn(model, learning, number / 25)
        players = [Snapshot(policy_layers(model)), agents.make("random"), agents.make("random")]
        scores[style] = interval(play_deals(game, players, 200, 0, options).above[..., 0])
    assert scores["seats"].low > 1.0
    assert scores["seats"].low > scores["tutorial"].high


def test_the_policy_has_the_distributions_of_maskable_ppo(kuhn: Game):
    """Log-probabilities, entropies, values and draws are those of sb3-contrib's own policy with the same weights."""
    game = cardenvs.find(GAME)
    env = make_tables(SMALL, game, None, {}, 1)
    model = make_learner(SMALL, env, 1)
    observations, masks = env.reset(), env.action_masks().copy()
    rows = torch.as_tensor(observations)
    actions = torch.as_tensor(random_actions(masks, np.random.default_rng(1)))
    ours, parent = model.policy, super(type(model.policy), model.policy)
    for own, other in zip(
        ours.evaluate_actions(rows, actions, torch.as_tensor(masks)), parent.evaluate_actions(rows, actions, masks), strict=True
    ):
        torch.testing.assert_close(own, other, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(ours.forward(rows, True, masks), parent.forward(rows, True, masks), rtol=1e-4, atol=1e-5)

    torch.manual_seed(1)
    drawn = torch.stack([ours.forward(rows, False, masks)[0] for _ in range(2000)])
    shares = torch.nn.functional.one_hot(drawn, game.actions.size).double().mean(dim=0)
    expected = parent.get_distribution(rows, masks).distribution.probs.double()
    assert (shares[torch.as_tensor(masks) == 0] == 0).all()
    assert (shares - expected).abs().max() < 5 * 0.5 / 2000**0.5


def test_the_first_layer_adds_up_what_a_dense_one_multiplies():
    torch.manual_seed(1)
    for density in (0.0, 0.1, 1.0):
        ones = (torch.rand(50, 70) < density).to(torch.int8)
        layer, dense = BinaryLinear(70, 9), torch.nn.Linear(70, 9)
        dense.load_state_dict(layer.state_dict())
        gradient = torch.randn(50, 9)
        results, expected = layer(ones), dense(ones.float())
        torch.testing.assert_close(results, expected)
        torch.testing.assert_close(layer(ones.float()), expected)
        results.backward(gradient)
        expected.backward(gradient)
        torch.testing.assert_close(layer.weight.grad, dense.weight.grad)
        torch.testing.assert_close(layer.bias.grad, dense.bias.grad)


def test_imitation_learns_choices_and_returns_of_a_player():
    """Where a player is imitated, more and more of its choices are predicted, and values are what its seats earn."""
    learning = SelfPlay(tables=64, steps=32, minibatch=256, layers=(64,), pool=(), snapshots=0)
    model = make_learner(learning, make_tables(learning, cardenvs.find(GAME), None, {"num_games": 1}, 1), 1)
    same = [imitate(model, learning, POLICIES.index("strong"), number / 20) for number in range(20)]
    assert same[-1] > same[0] + 0.2
    buffer = model.rollout_buffer
    assert isinstance(buffer, SeatRolloutBuffer)
    rows = next(buffer.get())
    errors = rows.returns - model.policy.predict_values(rows.observations).detach().flatten()
    assert errors.var() < 0.9 * rows.returns.var()
