"""Trained networks as players, in NumPy alone."""

import functools
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from cardenvs import registry
from cardenvs.agents.agent import BatchPlayer, UnknownAgent
from cardenvs.core.game import Game
from cardenvs.errors import CardEnvError

WEIGHTS = Path(__file__).parent / "weights"
"""The networks that come with the games, `<name of the game>.safetensors`, each with a model card beside it."""

LAYERS = "layers"
"""Key of the header: the names of the network's layers in order; a layer has tensors `<name>.weight` and `<name>.bias`."""


class WrongModel(CardEnvError, ValueError):
    """A network that was trained for another game, version or observation."""


def layout_digest(game: Game) -> str:
    """Stands for what each feature of an observation and each action means."""
    table = game.observation
    sections = [(part.name, part.code, part.sizes, part.labels, part.low, part.step, start) for part, start in table.places()]
    layout = sections, table.seats, table.block, game.actions.texts
    return hashlib.sha256(repr(layout).encode()).hexdigest()[:16]


def header_of(game: Game, layers: list[str], options: Mapping[str, Any]) -> dict[str, Any]:
    """What a file of weights says of itself; `options` are those of training."""
    return {"game": game.id, "layout": layout_digest(game), "actions": game.actions.size, LAYERS: layers, "options": dict(options)}


def choose(logits: np.ndarray, masks: np.ndarray, rng: np.random.Generator | None) -> np.ndarray:
    """Actions int64 (k,) drawn from the softmax of `logits`, float (k, a), over the legal ones.

    Without `rng` the likeliest; of equals the first.
    """
    if rng is not None:  # the largest after adding Gumbel noise is a draw from the softmax
        noise = rng.standard_exponential(logits.shape, np.float32)
        logits = logits - np.log(np.maximum(noise, np.finfo(np.float32).tiny))
    return np.where(masks != 0, logits, -np.inf).argmax(axis=1)


class NetworkAgent(BatchPlayer):
    """A trained policy: draws from its probabilities, or with `greedy` takes the likeliest action (of equals the first).

    Args:
        path: `policy.safetensors`, or the folder of a training run, where the best policy is taken, else the newest. After
            `?` may follow `greedy`, and `unpickle` to allow a zip of MaskablePPO, which can run any code when it is loaded
            (and needs the extra [train]); both as `?greedy&unpickle`.

    `layers` are its weights (inputs, outputs) and biases; after each but the last follows a ReLU.

    Raises `UnknownAgent` if no network can be loaded from there, `WrongModel` if it is for another game, version or layout.
    """

    def __init__(self, path: str | Path):
        place, _, words = str(path).partition("?")
        asked = set(words.split("&")) - {""}
        if not asked <= {"greedy", "unpickle"}:
            raise UnknownAgent(f"{path}: after ? may follow greedy, unpickle or greedy&unpickle, not {words!r}")
        self.name = f"checkpoint:{path}"
        self.greedy = "greedy" in asked
        file = find_policy(Path(place))
        tensors, self.header = _read_zip(file, "unpickle" in asked) if file.suffix == ".zip" else _read(file)
        self.game = _find_game(file, self.header)
        arrays = {name: tensor.astype(np.float32) for name, tensor in tensors.items()}  # shipped weights are float16
        self.layers = [(np.ascontiguousarray(arrays[f"{layer}.weight"].T), arrays[f"{layer}.bias"]) for layer in self.header[LAYERS]]
        _ignore_reward(self.layers[0][0], self.game, self.header["options"]["reward"])
        self._rng = np.random.default_rng()

    def reset(self, game: Game, num_players: int, seat: int, seed: int) -> None:
        """Start a game; raises `WrongModel` if it is not the network's."""
        _check(self.name, self.header, game)
        super().reset(game, num_players, seat, seed)

    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Legal actions, int64 (k,); see `agents.BatchAgent.act_batch`."""
        shape = self.game.observation.size, self.game.actions.size
        if (observations.shape[1], masks.shape[1]) != shape:
            raise WrongModel(
                f"{self.name} is for {self.game.id}, with {shape[0]} features and {shape[1]} actions; "
                f"it was asked with {observations.shape[1]} and {masks.shape[1]}"
            )
        return choose(self.logits(observations), masks, None if self.greedy else rng)

    def logits(self, observations: np.ndarray) -> np.ndarray:
        """Of observations (k, n): float32 (k, a)."""
        values = observations.astype(np.float32)
        for weight, bias in self.layers[:-1]:
            values = np.maximum(values @ weight + bias, 0)
        weight, bias = self.layers[-1]
        return values @ weight + bias


class ShippedNetwork(BatchPlayer):
    """The network in `agents/weights` of whatever game is played; see `NetworkAgent`. Raises `UnknownAgent` if the game has none."""

    def __init__(self, greedy: bool = True):
        self.name = "ppo" if greedy else "ppo:sampling"
        self.greedy = greedy

    @property
    def layers(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """See `NetworkAgent.layers`; of the game that was started last."""
        return self._network.layers

    def reset(self, game: Game, num_players: int, seat: int, seed: int) -> None:
        """Start a game: this tells whose network plays."""
        self._network = _load_shipped(game, self.greedy)
        super().reset(game, num_players, seat, seed)

    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Legal actions, int64 (k,); see `agents.BatchAgent.act_batch`."""
        return self._network.act_batch(observations, masks, rng)

    def logits(self, observations: np.ndarray) -> np.ndarray:
        """See `NetworkAgent.logits`."""
        return self._network.logits(observations)


def shipped_policy(game: Game) -> Path:
    """The file of the network that comes with a game; raises `UnknownAgent` if there is none."""
    path = WEIGHTS / f"{game.name}.safetensors"
    if not path.exists():
        names = sorted(file.stem for file in WEIGHTS.glob("*.safetensors"))
        raise UnknownAgent(f"no trained network comes with {game.id}; there are networks for {', '.join(names)}")
    return path


@functools.cache
def _load_shipped(game: Game, greedy: bool) -> NetworkAgent:
    return NetworkAgent(f"{shipped_policy(game)}{'?greedy' if greedy else ''}")


def _ignore_reward(weight: np.ndarray, game: Game, trained: str) -> None:
    """Make the inputs that show the option `reward` weigh like the one of training, so that the policy plays the same for both."""
    for section, start in game.observation.places():
        if section.name == "reward":
            places = {label: start + place for place, label in enumerate(section.labels or ())}
            weight[list(places.values())] = weight[places[trained]]


def find_policy(path: Path) -> Path:
    """The file itself, or the policy of a run folder: the best one, else the newest checkpoint."""
    if path.is_dir():
        newest = sorted(path.glob("checkpoints/*.safetensors"))[-1:]
        for file in (path / "policy.safetensors", *newest):
            if file.exists():
                return file
        raise UnknownAgent(f"{path} has neither policy.safetensors nor checkpoints/*.safetensors")
    if not path.exists():
        raise UnknownAgent(f"there is no file or folder {path}")
    return path


def read_header(path: Path) -> dict[str, Any]:
    """What a file of weights says of itself; see `header_of`."""
    return _read(path)[1]


def _read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Tensors and header; nothing is unpickled."""
    try:
        with safe_open(path, framework="np") as file:
            header = json.loads((file.metadata() or {})["header"])
            return {name: file.get_tensor(name) for name in file.keys()}, header  # noqa: SIM118
    except (SafetensorError, KeyError, ValueError) as error:
        raise UnknownAgent(
            f"{path} is no policy of cardenvs ({error}); there are policy.safetensors of training runs, and zips of MaskablePPO"
        ) from error


def _read_zip(path: Path, unpickle: bool) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    if not unpickle:
        raise UnknownAgent(
            f"{path} is refused: loading a zip of MaskablePPO can run any code in it. If you trust it, write {path}?unpickle; "
            "else use the policy.safetensors beside it"
        )
    from sb3_contrib import MaskablePPO

    model = MaskablePPO.load(path, device="cpu")
    if not hasattr(model, "header"):
        raise UnknownAgent(f"{path} does not say which game it is for: only zips of cardenvs' own training runs can be loaded")
    return {name: tensor.numpy() for name, tensor in model.policy.state_dict().items()}, model.header


def _find_game(path: Path, header: dict[str, Any]) -> Game:
    if header["game"] not in registry.game_ids():
        raise WrongModel(f"{path} is for {header['game']}; this version plays {', '.join(registry.game_ids())}")
    game = registry.find(header["game"])
    _check(str(path), header, game)
    return game


def _check(name: str, header: dict[str, Any], game: Game) -> None:
    if (header["game"], header["layout"]) != (game.id, layout_digest(game)):
        raise WrongModel(
            f"{name} is for {header['game']} with layout {header['layout']}, not for {game.id} with layout {layout_digest(game)}"
        )
