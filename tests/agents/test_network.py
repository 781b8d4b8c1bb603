"""Trained networks as players: the numbers of PyTorch, and nothing that is for another game or runs code (FC-51, FC-53)."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import save_file
from sb3_contrib import MaskablePPO

import cardenvs
from cardenvs import agents, registry
from cardenvs.agents.agent import UnknownAgent
from cardenvs.agents.network import WEIGHTS, NetworkAgent, WrongModel, choose, header_of, layout_digest
from cardenvs.core.encoding import ObservationTable
from cardenvs.core.game import Game
from cardenvs.experiments.learner import SelfPlay, make_learner, make_tables, policy_layers
from cardenvs.experiments.matches import interval, play_deals
from cardenvs.experiments.runs import RunFolder
from tests.common import ROOT

LEARNING = SelfPlay(tables=32, steps=4, layers=(24, 16))


@pytest.fixture
def game() -> Game:
    return cardenvs.find("kuhn-v0")


@pytest.fixture
def model(game: Game) -> MaskablePPO:
    """A network with random weights and biases."""
    env = make_tables(LEARNING, game, None, {"reward": "score"}, 0)
    model = make_learner(LEARNING, env, 0)
    with torch.no_grad():
        for parameter in model.policy.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    layers = [name.removesuffix(".weight") for name in policy_layers(model) if name.endswith(".weight")]
    model.header = header_of(game, layers, env.tables.options)
    return model


@pytest.fixture
def path(model: MaskablePPO, tmp_path: Path) -> Path:
    file = tmp_path / "policy.safetensors"
    save_file(policy_layers(model), file, {"header": json.dumps(model.header)})
    return file


def rows(model: MaskablePPO) -> tuple[np.ndarray, np.ndarray]:
    env = model.env
    assert env is not None
    observations, masks = [], []
    for number in range(4):
        observations.append(env.step(np.full(LEARNING.tables, number % 2))[0])
        masks.append(env.env_method("action_masks"))
    return np.concatenate(observations), np.concatenate(masks)


def test_logits_are_those_of_torch(model: MaskablePPO, path: Path):
    observations, _ = rows(model)
    with torch.no_grad():
        features = model.policy.extract_features(torch.from_numpy(observations))
        expected = model.policy.action_net(features).numpy()
    assert np.ptp(expected) > 0.5
    np.testing.assert_allclose(NetworkAgent(path).logits(observations), expected, atol=1e-5)


def test_sampling_follows_the_softmax_of_legal_actions():
    logits = np.tile(np.float32([0.0, 5.0, 1.0, -1.0]), (40_000, 1))
    masks = np.tile(np.int8([1, 0, 1, 1]), (40_000, 1))
    share = np.bincount(choose(logits, masks, np.random.default_rng(0)), minlength=4) / 40_000
    expected = np.exp([0.0, -np.inf, 1.0, -1.0])
    np.testing.assert_allclose(share, expected / expected.sum(), atol=0.01)


def test_of_equally_likely_actions_greedy_takes_the_first_legal_one():
    """FC-51"""
    masks = np.int8([[0, 1, 1], [1, 1, 1], [0, 0, 1]])
    assert choose(np.zeros((3, 3), np.float32), masks, None).tolist() == [1, 0, 2]


def test_greedy_is_the_mode_and_sampling_repeats_with_its_seed(model: MaskablePPO, path: Path):
    observations, masks = rows(model)
    greedy, sampling = agents.make(f"checkpoint:{path}?greedy"), agents.make(f"checkpoint:{path}")
    assert isinstance(greedy, NetworkAgent)
    assert isinstance(sampling, NetworkAgent)
    expected, _ = model.predict(observations, action_masks=masks, deterministic=True)
    np.testing.assert_array_equal(greedy.act_batch(observations, masks, np.random.default_rng(0)), expected)
    view = np.zeros(1)
    drawn = []
    for _ in range(2):
        sampling.reset(sampling.game, 2, 0, 7)
        drawn.append([sampling.act(*row, view) for row in zip(observations, masks, strict=True)])
    assert drawn[0] == drawn[1]
    assert drawn[0] != expected.tolist()


def test_the_option_reward_does_not_change_how_it_plays(path: Path):
    agent = NetworkAgent(path)
    for seed in range(6):
        seen = []
        for reward in ("score", "win"):
            env = cardenvs.make("kuhn-v0", reward=reward)
            env.reset(seed=seed)
            env.step(seed % 2)
            seen.append(env.observe("player_1")["observation"][None])
        assert not np.array_equal(*seen)
        np.testing.assert_allclose(*map(agent.logits, seen), rtol=1e-5)


def test_a_run_folder_gives_its_best_policy_or_else_the_newest(model: MaskablePPO, path: Path, tmp_path: Path):
    run = tmp_path / "run"
    (run / "checkpoints").mkdir(parents=True)
    with pytest.raises(UnknownAgent, match=r"neither policy\.safetensors nor checkpoints"):
        NetworkAgent(run)
    tensors = {name: tensor.numpy() for name, tensor in policy_layers(model).items()}
    header = {"header": json.dumps(model.header)}
    for number in (1, 3, 2):
        save_arrays({name: array * number for name, array in tensors.items()}, run / f"checkpoints/{number:012d}.safetensors", header)
    bias = tensors["action_net.bias"]
    np.testing.assert_array_equal(NetworkAgent(run).layers[-1][1], 3 * bias)
    path.rename(run / "policy.safetensors")
    np.testing.assert_array_equal(NetworkAgent(f"{run}?greedy").layers[-1][1], bias)


def test_another_game_is_refused_with_both_named(path: Path):
    agent = NetworkAgent(path)
    with pytest.raises(WrongModel, match=r"kuhn-v0.*recurrring-v0"):
        agent.reset(cardenvs.find("recurrring-v0"), 4, 0, 0)
    with pytest.raises(WrongModel, match=r"kuhn-v0, with \d+ features and 2 actions; it was asked with 1 and 2"):
        agent.act_batch(np.zeros((3, 1), np.int8), np.ones((3, 2), np.int8), np.random.default_rng(0))


def test_another_version_is_refused_with_both_named(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(registry._MODULES, "kuhn-v0")
    monkeypatch.setitem(registry._MODULES, "kuhn-v1", "tests.toy.kuhn")
    with pytest.raises(WrongModel, match=r"kuhn-v0; this version plays .*kuhn-v1"):
        NetworkAgent(path)


def test_another_layout_is_refused_with_both_named(path: Path, game: Game, monkeypatch: pytest.MonkeyPatch):
    table = game.observation
    swapped = ObservationTable(*reversed(table.sections), each_seat=table.each_seat, seats=table.seats)
    other = dataclasses.replace(game, observation=swapped)
    monkeypatch.setattr(registry, "find", lambda game_id: other)
    with pytest.raises(WrongModel, match=rf"{layout_digest(game)}.*{layout_digest(other)}"):
        NetworkAgent(path)


def test_a_zip_is_loaded_only_when_asked(model: MaskablePPO, path: Path, tmp_path: Path):
    """FC-53"""
    RunFolder(tmp_path).save_model(model)
    with pytest.raises(UnknownAgent, match=r"can run any code.*\?unpickle"):
        agents.make(f"checkpoint:{tmp_path / 'best.zip'}")
    observations, _ = rows(model)
    trusted = NetworkAgent(f"{tmp_path / 'best.zip'}?greedy&unpickle")
    assert trusted.greedy
    np.testing.assert_array_equal(trusted.logits(observations), NetworkAgent(path).logits(observations))


def test_the_zip_is_an_ordinary_file_of_maskable_ppo(model: MaskablePPO, tmp_path: Path):
    RunFolder(tmp_path).save_model(model)
    again = MaskablePPO.load(tmp_path / "best.zip")
    observations, masks = rows(model)
    expected, _ = model.predict(observations, action_masks=masks, deterministic=True)
    np.testing.assert_array_equal(again.predict(observations, action_masks=masks, deterministic=True)[0], expected)


@pytest.mark.parametrize("content", [b"", b"no weights at all", b"\x08\0\0\0\0\0\0\0{}      "])
def test_other_files_are_refused(tmp_path: Path, content: bytes):
    file = tmp_path / "other.safetensors"
    file.write_bytes(content)
    with pytest.raises(UnknownAgent, match="no policy of cardenvs"):
        NetworkAgent(file)


def test_paths_and_words_that_do_not_exist_are_refused(path: Path, tmp_path: Path):
    with pytest.raises(UnknownAgent, match="there is no file or folder"):
        NetworkAgent(tmp_path / "nowhere")
    with pytest.raises(UnknownAgent, match="not 'greedi'"):
        NetworkAgent(f"{path}?greedi")


def test_it_plays_without_torch(path: Path):
    code = (
        "import sys; sys.modules['torch'] = sys.modules['stable_baselines3'] = None; import numpy as np, tests\n"
        "from cardenvs import agents\n"
        f"agent = agents.make('checkpoint:{path}')\n"
        "print(agent.act_batch(np.zeros((3, agent.game.observation.size), np.int8), np.int8([[0, 1]] * 3), np.random.default_rng(0)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[1 1 1]"


# The networks that come with the games

SHIPPED = [game_id for game_id in registry.game_ids() if game_id != "kuhn-v0"]


def test_all_shipped_networks_are_small():
    files = list(WEIGHTS.glob("*.safetensors"))
    assert sorted(file.stem for file in files) == sorted(cardenvs.find(game_id).name for game_id in SHIPPED)
    assert sum(file.stat().st_size for file in files) < 10_000_000
    for game in map(cardenvs.find, SHIPPED):
        assert f"# `ppo` of {game.title}" in (WEIGHTS / f"{game.name}.md").read_text()


@pytest.mark.parametrize("game_id", SHIPPED)
def test_the_shipped_network_of_a_game_wins_more_than_its_share_from_random(game_id: str):
    game = cardenvs.find(game_id)
    match = play_deals(game, [agents.make("ppo"), *[agents.make("random") for _ in range(3)]], 100, 0)
    assert interval(match.wins[..., 0]).low > 1 / 4
    alone = play_deals(
        game, [agents.make(f"checkpoint:{WEIGHTS / game.name}.safetensors?greedy"), *[agents.make("random") for _ in range(3)]], 100, 0
    )
    np.testing.assert_array_equal(alone.scores, match.scores)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game_id", "opponent"),
    [*[(game_id, "easy") for game_id in cardenvs.game_ids() if game_id != "kuhn-v0"], ("timbre-v0", "strong"), ("recurrring-v0", "strong")],
)
def test_the_shipped_network_is_stronger_than(game_id: str, opponent: str):
    """By score, and where that is not next to nothing by wins."""
    match = play_deals(game_id, [agents.make("ppo"), *[agents.make(opponent) for _ in range(3)]], 2000, 2)
    assert interval(match.above[..., 0]).low > 0
    if (game_id, opponent) not in (("ramino-v0", "easy"), ("timbre-v0", "strong")):
        assert interval(match.wins[..., 0]).low > 1 / 4


def test_the_shipped_network_plays_at_every_number_of_seats():
    for num_players in cardenvs.find("ding-v0").players:
        play_deals("ding-v0", [agents.make("ppo:sampling") for _ in range(num_players)], 2, 0)


def test_a_game_without_a_network_is_told():
    with pytest.raises(UnknownAgent, match="no trained network comes with kuhn-v0; there are networks for ding"):
        agents.make("ppo").reset(cardenvs.find("kuhn-v0"), 2, 0, 0)
    with pytest.raises(UnknownAgent, match="no player is called 'ppo:best'"):
        agents.make("ppo:best")
