"""Foreign players in processes of their own, with time limits that are enforced from outside.

The process is given what the seat may know, as plain bytes: observation, mask and view. It answers with one whole number;
nothing that it sends is unpickled, and what it prints is dropped. This keeps players away from the table and from each
other, but it is no sandbox: their code runs with your rights.
"""

import contextlib
import json
import os
import reprlib
import signal
import socket
import subprocess
import sys
import time
import traceback

import numpy as np

from cardenvs import registry
from cardenvs.agents.agent import Agent, make
from cardenvs.core.game import Game
from cardenvs.envs.common import action_number
from cardenvs.errors import CardEnvError, InvalidAction

_HEADER = 4  # bytes: the length of the message that follows
_LONGEST_ANSWER = 1 << 16
_LONGEST_TEXT = 4000
_LAST_WORDS = 5.0  # seconds for a process that closed the connection to end by itself
_ANSWERS = ("action", "illegal", "raised")  # an answer begins with one of these places; a text follows


class PlayerFault(CardEnvError, RuntimeError):
    """A foreign player misbehaved; `kind` is `illegal`, `raised`, `timeout` or `exited`."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


class IsolatedAgent:
    """The player `module:Class` in a process of its own, started when a game needs it and ended by `close`.

    Args:
        spec: as for `cardenvs.agents.make`.
        time_limit: seconds for each decision.
        start_limit: seconds for each `reset`, where a player may load and compile; the first one starts the process.

    Whatever goes wrong over there raises `PlayerFault`. A process that has ended, or did not answer in time, is replaced at
    the next `reset`.
    """

    def __init__(self, spec: str, time_limit: float = 5.0, start_limit: float = 60.0):
        self.name = spec
        self.time_limit = time_limit
        self.start_limit = start_limit
        self._process: subprocess.Popen | None = None

    def make(self) -> None:
        """Start the process and make the player in it."""
        if self._process is None:
            self._start()
        self._ask(b"M", self.start_limit)

    def reset(self, game: Game, num_players: int, seat: int, seed: int) -> None:
        """A game starts; see `Agent.reset`."""
        if self._process is None:
            self._start()
        question = {"game": game.id, "module": registry._MODULES[game.id], "num_players": num_players, "seat": seat, "seed": seed}
        self._ask(b"R" + json.dumps(question).encode(), self.start_limit)

    def act(self, observation: np.ndarray, mask: np.ndarray, view: np.ndarray) -> int:
        """The player's choice, a whole number; see `Agent.act`."""
        return self._ask(b"A" + observation.tobytes() + mask.tobytes() + view.tobytes(), self.time_limit)

    def close(self) -> None:
        """End the process and what it may have started."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._socket.close()
            self._process = None

    def _start(self) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "cardenvs.agents.isolated", str(theirs.fileno()), self.name],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    def _ask(self, question: bytes, limit: float) -> int:
        """The number that answers a question; whatever else happens is a fault."""
        if self._process is None:
            raise PlayerFault("exited", "its process has ended")
        deadline = time.monotonic() + limit
        try:
            _send(self._socket, question, deadline)
            answer = _receive(self._socket, deadline, _LONGEST_ANSWER)
            kind, text = _ANSWERS[answer[0]], answer[1:].decode(errors="replace")
            if kind == "action":
                return int(text)
        except TimeoutError:
            self.close()
            raise PlayerFault("timeout", f"no answer within {limit:g} seconds") from None
        except (EOFError, ConnectionError):
            raise PlayerFault("exited", f"its process ended with exit code {self._exit_code()}") from None
        except (ValueError, IndexError):
            self.close()
            raise PlayerFault("exited", "its process sent something that is no answer, and was ended") from None
        raise PlayerFault(kind, text)

    def _exit_code(self) -> int | None:
        """That of the process, None if it only closed the connection; it is ended."""
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_WORDS)
        code = self._process.returncode
        self.close()
        return code


def _send(connection: socket.socket, message: bytes, deadline: float | None = None) -> None:
    connection.settimeout(None if deadline is None else max(deadline - time.monotonic(), 1e-3))
    connection.sendall(len(message).to_bytes(_HEADER, "big") + message)


def _receive(connection: socket.socket, deadline: float | None = None, longest: int = 1 << 31) -> bytes:
    """The next message; raises `TimeoutError`, `EOFError` (the other side is gone) or `ValueError` (it is too long)."""
    length = int.from_bytes(_read(connection, _HEADER, deadline), "big")
    if length > longest:
        raise ValueError(f"a message of {length} bytes")
    return _read(connection, length, deadline)


def _read(connection: socket.socket, length: int, deadline: float | None) -> bytes:
    data = b""
    while len(data) < length:
        connection.settimeout(None if deadline is None else max(deadline - time.monotonic(), 1e-3))
        part = connection.recv(length - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def _serve(connection: socket.socket, spec: str) -> None:
    """The other side: answer questions until the asker is gone."""
    player: Agent | None = None
    game: Game
    while True:
        try:
            question = _receive(connection)
        except EOFError:
            return
        try:
            if question[:1] == b"M":
                player, action = make(spec), 0
            elif question[:1] == b"R":
                asked = json.loads(question[1:])
                if asked["game"] not in registry.game_ids():
                    registry.register(asked["game"], asked["module"])
                game = registry.find(asked["game"])
                player = player or make(spec)
                player.reset(game, asked["num_players"], asked["seat"], asked["seed"])
                action = 0
            else:
                assert player is not None
                answer = player.act(*_unpack(question, game))
                if not hasattr(answer, "__index__"):
                    raise InvalidAction(f"an action is a whole number (its id), not {reprlib.repr(answer)}")
                action = action_number(answer)
            _send(connection, b"\0%d" % action)
        except InvalidAction as error:
            _send(connection, b"\1" + str(error)[:_LONGEST_TEXT].encode(errors="replace"))
        except Exception:
            _send(connection, b"\2" + traceback.format_exc()[-_LONGEST_TEXT:].encode(errors="replace"))


def _unpack(question: bytes, game: Game) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Observation, mask and view of a question, as arrays of the player's own."""
    mask_at = 1 + game.observation.size
    view_at = mask_at + game.actions.size
    numbers = np.frombuffer(question, np.int8, view_at)
    view = np.frombuffer(question, game.state, offset=view_at)
    return numbers[1:mask_at].copy(), numbers[mask_at:].copy(), view.copy().view(np.recarray)


if __name__ == "__main__":
    descriptor = int(sys.argv[1])
    os.set_inheritable(descriptor, False)
    _serve(socket.socket(fileno=descriptor), sys.argv[2])
