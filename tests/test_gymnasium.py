"""The Gymnasium environments: one learner, the other seats played inside."""

import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import cardenvs
from cardenvs.envs.single import CardGymEnv, CardGymVectorEnv
from cardenvs.errors import IllegalAction, InvalidAction, InvalidOption, NotReset

GAME = "recurrring-v0"


class First:
    """Plays the first legal action; notes what it is shown."""

    def __init__(self):
        self.seats: list[int] = []

    def reset(self, game, num_players, seat, seed):
        self.seats.append(seat)

    def act(self, observation, mask, view):
        assert view["viewer"][0] == self.seats[-1]
        assert set(np.unique(observation)) <= {0, 1}
        return int(mask.argmax())


def play(env, seed, moves=60):
    """Seeded random play; returns everything that was seen."""
    generator = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    seen = [observation.tobytes(), info["action_mask"].tobytes()]
    for _ in range(moves):
        observation, reward, terminated, truncated, info = env.step(int(generator.choice(info["action_mask"].nonzero()[0])))
        seen += [observation.tobytes(), reward, terminated, truncated, info["action_mask"].tobytes()]
        if terminated or truncated:
            assert not info["action_mask"].any()
            observation, info = env.reset()
    return seen


@pytest.mark.parametrize("game_id", cardenvs.game_ids())
def test_made_by_gymnasium_and_passes_its_checker(game_id):
    name = f"cardenvs/{game_id[0].upper()}{game_id[1:]}"
    env = gymnasium.make(name, opponents="random", render_mode="ansi")
    observation, info = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    assert info["action_mask"].tolist() == env.unwrapped.action_masks().tolist()
    assert isinstance(env.render(), str)
    check_env(_Forgiving(game_id, opponents="random"), skip_render_check=True)


class _Forgiving(CardGymEnv):
    """Gymnasium's checker samples without masks: any action stands for the first legal one from it on."""

    def step(self, action):
        mask = self.action_masks()
        return super().step(int(np.roll(mask, -action).argmax() + action) % len(mask))


def test_rewards_earned_while_others_act_arrive_in_every_seat():
    """FC-41: the learner's rewards add up to what its seat is paid, also when the game ends on another's move."""
    for seat in range(3):
        env = CardGymEnv(GAME, 3, seat=seat, opponents="random", reward="score")
        generator = np.random.default_rng(seat)
        for _ in range(5):
            _, info = env.reset(seed=int(generator.integers(1000)))
            total, over = 0.0, False
            while not over:
                _, reward, terminated, truncated, info = env.step(int(generator.choice(info["action_mask"].nonzero()[0])))
                total += reward
                over = terminated or truncated
            points = env.unwrapped._table.states["points"][0, :3]
            assert total == pytest.approx((points[seat] - points.mean()) / 10)


class Told(First):
    """Notes for all copies who was told which seat."""

    told: list[tuple[int, int]] = []  # noqa: RUF012

    def reset(self, game, num_players, seat, seed):
        super().reset(game, num_players, seat, seed)
        self.told.append((id(self), seat))


@pytest.fixture
def told():
    """What was told during the test, as (player, seat)."""
    Told.told.clear()
    return Told.told


def test_seat_rotates_or_stays(told):
    env = CardGymEnv(GAME, 3, seat="rotate", opponents=["random", Told()], num_games=1)
    env.reset(seed=0)
    for _ in range(3):
        env.reset()
    assert [seat for _, seat in told[:4]] == [2, 0, 1, 2]  # the second to the left of a learner in seats 0, 1, 2, 0
    told.clear()
    env = CardGymEnv(GAME, 3, seat=1, opponents=["random", Told()])
    env.reset(seed=0)
    env.reset()
    assert {seat for _, seat in told} == {0}


def test_an_opponent_that_remembers_holds_one_seat_of_one_table(told):
    """`First` asserts that it is asked for the seat that it was told last."""
    player = Told()
    env = CardGymVectorEnv(GAME, 2, 4, opponents=player, num_games=1)
    _, infos = env.reset(seed=0)
    assert len({number for number, _ in told}) == len(told) == 2 * 3
    assert id(player) not in {number for number, _ in told}
    for _ in range(40):
        *_, infos = env.step(infos["action_mask"].argmax(axis=1))


def test_an_opponent_without_memory_holds_all_seats(told):
    class Batch(Told):
        def act(self, observation, mask, view):
            return int(mask.argmax())

        def act_batch(self, observations, masks, rng):
            return masks.argmax(axis=1)

    player = Batch()
    CardGymVectorEnv(GAME, 2, 4, opponents=player).reset(seed=0)
    assert {number for number, _ in told} == {id(player)}


def test_same_seed_same_games():
    """FC-34, FC-35"""
    assert play(CardGymEnv(GAME, opponents="easy"), 5) == play(CardGymEnv(GAME, opponents="easy"), 5)
    assert play(CardGymEnv(GAME, opponents="easy"), 5) != play(CardGymEnv(GAME, opponents="easy"), 6)


def test_compiled_and_python_opponents_play_alike():
    """The same opponent, compiled (`easy`) and as an object, gives the same games if it uses no chance of its own."""

    class Only(First):
        def act(self, observation, mask, view):
            words = np.zeros(1, np.uint64)
            return game.loops.choose_one(view.view(np.ndarray), mask, 1, words)

    game = cardenvs.find(GAME)
    words = np.zeros(1, np.uint64)
    env = cardenvs.make(GAME, 3)
    env.reset(seed=0)
    choices = {
        int(game.loops.choose_one(env.view("player_1").view(np.ndarray), env.observe("player_1")["action_mask"], 1, words))
        for _ in range(9)
    }
    assert len(choices) == 1  # easy is deterministic
    assert play(CardGymEnv(GAME, 3, opponents="easy"), 3) == play(CardGymEnv(GAME, 3, opponents=Only()), 3)


def test_vector_form_is_the_single_form_lane_by_lane():
    """FC-78: metadata, final observations, rewards and masks."""
    lanes = 5
    vector = gymnasium.make_vec(
        "cardenvs/Recurrring-v0", num_envs=lanes, vectorization_mode="vector_entry_point", opponents="random", num_games=1
    )
    assert vector.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    generator = np.random.default_rng(0)
    observation, infos = vector.reset(seed=9)
    assert vector.observation_space.contains(observation)
    ended = 0
    for _ in range(200):
        actions = np.array([generator.choice(mask.nonzero()[0]) for mask in infos["action_mask"]])
        observation, rewards, terminated, truncated, infos = vector.step(actions)
        assert vector.observation_space.contains(observation)
        assert rewards.shape == terminated.shape == truncated.shape == (lanes,)
        assert (infos["action_mask"].sum(axis=1) > 0).all()
        assert (rewards[~terminated] == 0).all()
        for lane in np.flatnonzero(terminated):
            described = cardenvs.find(GAME).observation.describe(infos["final_obs"][lane])
            assert described["turn"] is None
            assert (rewards[lane] > 0) == (described["points"][0] == max(described["points"]))
            ended += 1
        assert ("final_obs" in infos) == bool(terminated.any() or truncated.any())
    assert ended > 20


def test_handed_out_arrays_stay():
    """FC-77"""
    env = CardGymVectorEnv(GAME, 3, opponents="random")
    observation, infos = env.reset(seed=0)
    kept, mask = observation.copy(), infos["action_mask"].copy()
    env.step(mask.argmax(axis=1))
    assert (observation == kept).all()
    assert (infos["action_mask"] == mask).all()


def test_pickled_mid_game():
    """FC-32"""
    env = CardGymEnv(GAME, opponents="easy")
    _, info = env.reset(seed=4)
    twin = pickle.loads(pickle.dumps(env))
    for _ in range(30):
        action = int(info["action_mask"].argmax())
        a, b = env.step(action), twin.step(action)
        assert a[0].tobytes() == b[0].tobytes()
        assert a[1:4] == b[1:4]
        info = a[4]
        if a[2]:
            break


def test_bad_input():
    """FC-45 and the constructor's refusals; nothing changes."""
    env = CardGymEnv(GAME, opponents="random")
    with pytest.raises(NotReset, match="reset"):
        env.step(0)
    _, info = env.reset(seed=0)
    illegal = int((info["action_mask"] == 0).nonzero()[0][0])
    for wrong, error in ((illegal, IllegalAction), (10_000, IllegalAction), (None, InvalidAction), (1.5, InvalidAction)):
        with pytest.raises(error):
            env.step(wrong)
    with pytest.raises(IllegalAction, match=r"action_masks\(\)"):
        env.step(illegal)
    assert env.action_masks().tolist() == info["action_mask"].tolist()
    for arguments in (
        {"opponents": "genius"},
        {"opponents": ["random"]},
        {"opponents": [3, 4, 5]},
        {"opponents": None},
        {"opponents": "ppo"},
        {"seat": None},
        {"seat": 1.5},
        {"seat": 4},
        {"seat": -1},
        {"seat": "left"},
        {"render_mode": "rgb_array"},
        {"num_players": 9},
        {"colour": 1},
    ):
        with pytest.raises(InvalidOption, match=r"allowed|players|option"):
            CardGymEnv(GAME, **arguments)
    for tables in (0, 2.0, True):
        with pytest.raises(InvalidOption, match="num_envs"):
            CardGymVectorEnv(GAME, tables)
    with pytest.raises(InvalidOption, match=r"agents\.make\('ppo'\)"):
        CardGymEnv(GAME, opponents="ppo")
    two = CardGymVectorEnv(GAME, 2)
    _, infos = two.reset(seed=0)
    with pytest.raises(InvalidAction, match=r"shape \(2,\)"):
        two.step(infos["action_mask"].argmax(axis=1)[:1])
    with pytest.raises(InvalidOption, match="deck"):
        env.reset(options={"deck": []})


def test_stable_baselines3():
    """FC-47, FC-49, FC-50: its vector environments and wrappers; masks arrive; no image space."""
    pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.preprocessing import get_flattened_obs_dim, is_image_space
    from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecMonitor

    def make(seat, wrapper=Monitor):
        return lambda: wrapper(CardGymEnv(GAME, 3, seat=seat, opponents="random", num_games=1))

    space = CardGymEnv(GAME).observation_space
    assert not is_image_space(space)
    assert get_flattened_obs_dim(space) == cardenvs.find(GAME).observation.size

    def statistics(env):
        env.seed(3)
        env.reset()
        lengths = []
        for _ in range(60):
            masks = np.stack(env.env_method("action_masks"))
            *_, infos = env.step(masks.argmax(axis=1))
            lengths += [(info["episode"]["r"], info["episode"]["l"]) for info in infos if "episode" in info]
        env.close()
        return lengths

    expected = statistics(DummyVecEnv([make(0), make(1)]))
    assert len(expected) > 2
    assert [pair[1] for pair in statistics(VecMonitor(DummyVecEnv([make(0, gymnasium.Wrapper), make(1, gymnasium.Wrapper)])))] == [
        pair[1] for pair in expected
    ]
    for method in ("fork", "forkserver", "spawn"):
        assert statistics(SubprocVecEnv([make(0), make(1)], start_method=method)) == expected


@pytest.mark.parametrize("seed", [np.int64(3), np.uint8(3)])
def test_seeds_of_numpy_are_taken_as_everywhere(game_id: str, seed: np.integer):
    env = gymnasium.make(f"cardenvs/{game_id[0].upper()}{game_id[1:]}")
    assert np.array_equal(env.reset(seed=seed)[0], env.reset(seed=3)[0])
