"""Players for tests: well-behaved ones that always do the same, and every kind of misbehaviour (FC-62, FC-63)."""

import gc
import os
import sys
import time

import numpy as np

from cardenvs.core.game import Game
from cardenvs.envs.aec import CardEnv
from cardenvs.envs.vector import CardVectorEnv


class First:
    """Plays the first legal action."""

    name = "first"

    def reset(self, game: Game, num_players: int, seat: int, seed: int) -> None:
        self.game = game
        self.told = (num_players, seat, seed)
        self.decisions = 0

    def act(self, observation: np.ndarray, mask: np.ndarray, view: np.ndarray) -> int:
        self.decisions += 1
        return int(np.flatnonzero(mask)[0])


class BatchLast:
    """Plays the last legal action, at one table or many."""

    name = "last"

    def reset(self, game: Game, num_players: int, seat: int, seed: int) -> None:
        pass

    def act(self, observation: np.ndarray, mask: np.ndarray, view: np.ndarray) -> int:
        return int(self.act_batch(observation[None], mask[None], np.random.default_rng(0))[0])

    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


class Last(First):
    """Plays the last legal action."""

    name = "last"

    def act(self, observation: np.ndarray, mask: np.ndarray, view: np.ndarray) -> int:
        return int(np.flatnonzero(mask)[-1])


class Unmade(First):
    def __init__(self) -> None:
        raise RuntimeError("cannot be made")


class UnreadyForGames(First):
    def reset(self, *arguments) -> None:
        raise RuntimeError("cannot start")


class Raising(First):
    def act(self, *arguments) -> int:
        raise RuntimeError("lost my cards")


class Sleeping(First):
    def act(self, *arguments) -> int:
        time.sleep(60)
        return 0


class Illegal(First):
    def act(self, observation: np.ndarray, mask: np.ndarray, view: np.ndarray) -> int:
        return len(mask)


class Negative(First):
    def act(self, *arguments) -> int:
        return -1


class Silent(First):
    def act(self, *arguments):
        return None


class Rambling(First):
    def act(self, *arguments):
        return "x" * 100_000_000


class Exiting(First):
    def act(self, *arguments) -> int:
        os._exit(3)


class Leaving(First):
    def act(self, *arguments) -> int:
        sys.exit("I am off")


class SometimesExiting(First):
    """Leaves in games whose seed is even."""

    def act(self, observation: np.ndarray, mask: np.ndarray, view: np.ndarray) -> int:
        if self.told[2] % 2 == 0:
            os._exit(1)
        return super().act(observation, mask, view)


class Printing(First):
    """Prints 100 MB on either stream, once; otherwise well-behaved."""

    printed = False

    def act(self, observation: np.ndarray, mask: np.ndarray, view: np.ndarray) -> int:
        if not self.printed:
            for stream in (sys.stdout, sys.stderr):
                stream.write("x" * 50_000_000)
        self.printed = True
        return super().act(observation, mask, view)


class Spying(First):
    """Raises if it can get hold of a table, of other players, or of anything but a view."""

    name = "spying"

    def act(self, observation: np.ndarray, mask: np.ndarray, view: np.ndarray) -> int:
        for found in gc.get_objects():
            if isinstance(found, CardEnv | CardVectorEnv) or type(found).__name__ in ("First", "Last", "CompiledAgent", "Deals"):
                raise RuntimeError(f"found a {type(found).__name__}")
        if view["rng"].any() or view["seeds"].any() or view["viewer"][0] != self.told[1]:
            raise RuntimeError("this is more than a view")
        if sys.stdin.read():
            raise RuntimeError("there is something to read")
        return super().act(observation, mask, view)


class BatchRaising(BatchLast):
    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        raise RuntimeError("no batch today")


class BatchSometimesIllegal(BatchLast):
    """Gives an illegal action when it has seven legal ones."""

    def act_batch(self, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        actions = super().act_batch(observations, masks, rng)
        actions[masks.sum(axis=1) == 7] = -5
        return actions
