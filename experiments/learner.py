"""The learner: MaskablePPO with its network, and copies of its policy that play."""

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.utils import LinearSchedule

from cardenvs.agents.agent import BatchAgent, BatchPlayer
from cardenvs.agents.network import choose
from cardenvs.core.game import POLICIES, Game
from cardenvs.errors import CardEnvError, InvalidOption
from cardenvs.experiments.binary import BinaryLinear
from cardenvs.experiments.selfplay import Pool, SeatRolloutBuffer, SeatVecEnv, StubVecEnv

ILLEGAL = -1e8
"""Logit of an illegal action: its probability is exactly 0, and products with its logarithm are finite."""

STRAY = 0.1
"""Share of random choices while a player is imitated."""

IMITATION_RATE = 1e-3
"""Learning rate when a player begins to be imitated; it falls to a tenth."""

IMITATION_MINIBATCH = 512
"""Most choices in a step of imitation: many small steps predict more than few large ones."""


class Diverged(CardEnvError):
    """The weights of a network have become infinite or undefined."""


@dataclass(frozen=True)
class Learning:
    """Settings of the learner."""

    tables: int = 256
    steps: int = 32
    """Choices at each table between two updates."""
    minibatch: int = 2048
    epochs: int = 3
    layers: tuple[int, ...] = (128, 128)
    """Sizes of the layers that policy and value share."""
    learning_rate: tuple[float, float] = (1e-3, 0.0)
    """At the start and at the end; linear in between."""
    entropy: tuple[float, float] = (0.05, 0.01)
    """Coefficient of the entropy bonus, at the start and at the end."""
    gamma: float = 1.0
    gae_lambda: float = 0.95
    clip: float = 0.2

    shaping: float = 0.0
    """What a point of score above the mean of the table is worth while the game runs, taken back at its end. Helps where pay is late."""

    threads: int = 1
    """Threads of PyTorch. More than one is slower where other programs use the cores."""
    device: str = "cpu"
    """Of PyTorch. Networks of this size are faster on the CPU."""

    def check(self) -> None:
        """Raise `InvalidOption` for settings that are not allowed."""
        self.at_least(tables=1, steps=1, minibatch=1, epochs=1, threads=1)
        if not self.layers or min(self.layers) < 1:
            raise InvalidOption(f"layers={self.layers} is not allowed: give the sizes of one or more layers")

    def at_least(self, **leasts: int) -> None:
        """Raise `InvalidOption` if one of these numbers is smaller than it may be; None may be left out."""
        for name, least in leasts.items():
            number = getattr(self, name)
            if number is not None and number < least:
                raise InvalidOption(f"{name}={number} is not allowed: it must be at least {least}")


@dataclass(frozen=True)
class SelfPlay(Learning):
    """Settings of a learner that holds all seats, and of its opponent pool."""

    pool: tuple[str, ...] = ("easy", "strong")
    """Compiled players in the opponent pool."""
    snapshots: int = 8
    """Earlier policies in the pool, the latest so many."""
    pool_share: float = 0.2
    """Share of the tables where an opponent from the pool holds some of the seats."""

    def check(self) -> None:
        """See `Learning.check`."""
        super().check()
        self.at_least(snapshots=0)
        if not 0 <= self.pool_share <= 1:
            raise InvalidOption(f"pool_share={self.pool_share} is not allowed: it must be a share from 0 to 1")
        if others := [player for player in self.pool if player not in POLICIES]:
            raise InvalidOption(f"{', '.join(others)} is not allowed in the pool: it takes {', '.join(POLICIES)}")


class Trunk(BaseFeaturesExtractor):
    """The layers that policy and value share; after each follows a ReLU."""

    def __init__(self, observation_space: spaces.Space, sizes: Sequence[int]):
        super().__init__(observation_space, sizes[-1])
        inputs = [spaces.flatdim(observation_space), *sizes]
        first, *others = itertools.pairwise(inputs)
        layers = [BinaryLinear(*first), *[torch.nn.Linear(*shape) for shape in others]]
        self.net = torch.nn.Sequential(*[part for layer in layers for part in (layer, torch.nn.ReLU())])

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Features (k, sizes[-1]) of observations (k, n), which int8 makes faster."""
        return self.net(observations)


class MaskedPolicy(MaskableActorCriticPolicy):
    """The policy of MaskablePPO with the same distributions, without `torch.distributions`, which takes most of the time otherwise.

    (Its exponentials of far negative numbers are slow, it checks every distribution, and it normalizes twice.)
    """

    def forward(
        self, obs: torch.Tensor, deterministic: bool = False, action_masks: np.ndarray | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Actions drawn (or the likeliest), values (k, 1) and log-probabilities (k,)."""
        logits, values = self._outputs(obs, action_masks)
        # p / e with e exponentially distributed is largest for each action with probability p
        weights = logits if deterministic else logits.softmax(dim=1) / torch.empty_like(logits).exponential_()
        actions = weights.argmax(dim=1)
        return actions, values, _at(logits.log_softmax(dim=1), actions)

    def evaluate_actions(
        self, obs: torch.Tensor, actions: torch.Tensor, action_masks: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Values (k, 1), log-probabilities (k,) of `actions` and entropies (k,)."""
        logits, values = self._outputs(obs, action_masks)
        logarithms = logits.log_softmax(dim=1)
        return values, _at(logarithms, actions), -(logits.softmax(dim=1) * logarithms).sum(dim=1)

    def _outputs(self, obs: torch.Tensor, masks: np.ndarray | torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
        features = self.features_extractor(obs)
        logits = self.action_net(self.mlp_extractor.forward_actor(features))
        if masks is not None:
            logits = logits.masked_fill(torch.as_tensor(masks, device=logits.device) == 0, ILLEGAL)
        return logits, self.value_net(self.mlp_extractor.forward_critic(features))


def _at(values: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
    """From each row of `values` the one of its action."""
    return values.gather(1, actions.long().reshape(-1, 1)).flatten()


class Snapshot(BatchPlayer):
    """A copy of a learner's policy as it is now, as a player that draws its actions, or with `greedy` takes the likeliest."""

    def __init__(self, layers: Mapping[str, torch.Tensor], greedy: bool = False):
        self.name = "learner"
        self.greedy = greedy
        self.layers = {name: tensor.detach().cpu().clone() for name, tensor in layers.items()}
        names = [name.removesuffix(".weight") for name in self.layers if name.endswith(".weight")]
        self._layers = [(self.layers[f"{name}.weight"], self.layers[f"{name}.bias"]) for name in names]

    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Legal actions, int64 (k,); see `agents.BatchAgent.act_batch`."""
        values = torch.from_numpy(observations).float()
        for weight, bias in self._layers[:-1]:
            values = torch.relu(torch.nn.functional.linear(values, weight, bias))
        logits = torch.nn.functional.linear(values, *self._layers[-1]).numpy()
        return choose(logits, masks, None if self.greedy else rng)


def policy_layers(model: MaskablePPO) -> dict[str, torch.Tensor]:
    """The weights that choose actions, in the order in which the layers follow each other: `<name>.weight` and `<name>.bias`."""
    tensors = model.policy.state_dict()
    return {name: tensors[name].contiguous() for name in tensors if name.startswith(("features_extractor.", "action_net."))}


def set_policy_layers(model: MaskablePPO, layers: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
    """Give the policy the weights (inputs, outputs) and biases of a network with layers of the same sizes."""
    arrays = [array for weight, bias in layers for array in (weight.T, bias)]
    names = policy_layers(model)
    model.policy.load_state_dict(
        {name: torch.from_numpy(array) for name, array in zip(names, arrays, strict=True)}, strict=False
    )  # the value is left as it is


def make_tables(
    learning: SelfPlay, game: Game, num_players: int | None, options: Mapping[str, Any], seed: int, kind: type[SeatVecEnv] = SeatVecEnv
) -> SeatVecEnv:
    """The tables to learn at, with an opponent pool of compiled players."""
    pool = Pool(learning.pool, learning.snapshots)
    share, shaping = learning.pool_share, learning.shaping
    return kind(game, learning.tables, num_players, seed=seed, pool=pool, pool_share=share, shaping=shaping, **options)


def make_learner(learning: Learning, env: SeatVecEnv, seed: int) -> MaskablePPO:
    """A MaskablePPO whose rollout buffer tells the seats of `env` apart, ready for `collect_rollouts`."""
    torch.set_num_threads(learning.threads)
    model = MaskablePPO(
        MaskedPolicy,
        env,
        learning_rate=LinearSchedule(*learning.learning_rate, 1.0),
        n_steps=learning.steps,
        batch_size=learning.minibatch,
        n_epochs=learning.epochs,
        gamma=learning.gamma,
        gae_lambda=learning.gae_lambda,
        clip_range=learning.clip,
        ent_coef=learning.entropy[0],
        rollout_buffer_class=SeatRolloutBuffer,
        policy_kwargs={"features_extractor_class": Trunk, "features_extractor_kwargs": {"sizes": learning.layers}, "net_arch": []},
        seed=seed,
        device=learning.device,
    )

    def value_of(observations: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return model.policy.predict_values(torch.as_tensor(observations, device=model.device)).cpu().numpy().ravel()

    assert isinstance(model.rollout_buffer, SeatRolloutBuffer)
    model.rollout_buffer.attach(env, value_of)
    model.set_logger(Logger(None, []))
    model._setup_learn(0)
    return model


def learn(model: MaskablePPO, learning: Learning, progress: float) -> None:
    """One rollout and what is learned from it; `progress` from 0 to 1 is the place in the schedules."""
    assert model.env is not None
    model._current_progress_remaining = 1 - progress
    model.ent_coef = learning.entropy[0] + progress * (learning.entropy[1] - learning.entropy[0])
    model.collect_rollouts(model.env, model._init_callback(None), model.rollout_buffer, model.n_steps)
    model.train()
    check_finite(model.logger.name_to_value["train/loss"])


def check_finite(loss: float) -> None:
    """Raise `Diverged` unless the loss is a number."""
    if not np.isfinite(loss):
        raise Diverged(f"training has diverged (loss {loss}): take a smaller learning rate, or go on from the last checkpoint with one")


def imitate(model: MaskablePPO, learning: Learning, player: int | BatchAgent, progress: float) -> float:
    """One rollout of a player (see `SeatVecEnv.choices_of`), and one pass of learning to predict its choices and what seats earn.

    Every tenth choice that is played is random, so that the learner sees how the player goes on from there; what it learns is
    the player's choice in all cases. `progress` from 0 to 1 is the place in the schedule. Returns the share of the choices that
    the learner gave more than half of its probability.
    """
    env, buffer = model.env, model.rollout_buffer
    assert isinstance(env, SeatVecEnv)
    assert isinstance(buffer, SeatRolloutBuffer)
    buffer.reset()
    buffer.gae_lambda = 1.0  # with values of 0 the returns are what is earned, and the value of the seat's view at the end
    zeros = torch.zeros(env.num_envs)
    for _ in range(model.n_steps):
        observations, masks = env.now.observation.copy(), env.action_masks().copy()
        choices = env.choices_of(player)
        strays = env.rng.random(env.num_envs) < STRAY
        env.step(np.where(strays, env.choices_of(POLICIES.index("random")), choices))
        buffer.add(observations, choices[:, None], zeros.numpy(), env.ended, zeros, zeros, action_masks=masks)
    buffer.compute_returns_and_advantage(zeros, env.ended)
    buffer.gae_lambda = learning.gae_lambda
    model._last_obs, model._last_episode_starts = env.now.observation.copy(), env.ended.copy()

    learner = model.policy
    learner.set_training_mode(True)
    for group in learner.optimizer.param_groups:
        group["lr"] = IMITATION_RATE * (1 - 0.9 * progress)
    same = 0.0
    for rows in buffer.get(min(IMITATION_MINIBATCH, learning.minibatch)):
        values, logarithms, _ = learner.evaluate_actions(rows.observations, rows.actions, rows.action_masks)
        loss = model.vf_coef * torch.nn.functional.mse_loss(values.flatten(), rows.returns) - logarithms.mean()
        learner.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learner.parameters(), model.max_grad_norm)
        learner.optimizer.step()
        same += (logarithms > np.log(0.5)).float().sum().item()
    check_finite(loss.item())
    return same / (env.num_envs * model.n_steps)


def measure_ceiling(
    learning: SelfPlay, game: Game, num_players: int | None, options: Mapping[str, Any], rounds: int = 5
) -> dict[str, float]:
    """Choices per second of learning at the `game`, and of the same learner without any game (`stub`); their ratio is the `share`.

    Both take turns; the medians of the rounds are returned.
    """
    seconds: dict[str, list[float]] = {"game": [], "stub": []}
    models = {}
    for name, kind in (("game", SeatVecEnv), ("stub", StubVecEnv)):
        env = make_tables(learning, game, num_players, options, 0, kind)
        models[name] = make_learner(learning, env, 0)
        env.pool.add(Snapshot(policy_layers(models[name])))
    for number in range(rounds + 1):
        for name, model in models.items():
            start = time.perf_counter()
            learn(model, learning, 0.0)
            if number:  # before that, compiled code is loaded
                seconds[name].append(time.perf_counter() - start)
    speeds = {name: learning.tables * learning.steps / float(np.median(values)) for name, values in seconds.items()}
    return {**speeds, "share": speeds["game"] / speeds["stub"]}
