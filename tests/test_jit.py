"""Compiling: machine code is that of the kernels that are bound, whatever lies in the folder where it is kept."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.common import ROOT, run_python

PROGRAM = """
import dataclasses, sys
import tests, tests.variants
import cardenvs
from cardenvs.core import deferred, jit
from cardenvs.envs.aec import CardEnv
kuhn = cardenvs.find("kuhn-v0")
{before}
env = CardEnv({game}, 2)
env.reset(seed=3)
env.step(0)
env.step(0)
print(env.scores())
"""
VARIANT = "dataclasses.replace(kuhn, scores=tests.variants.no_chips)"
CLOSURE = """
def make(n):
    def scores(state, out):
        out[:] = n
    return jit.kernel(scores)
game = dataclasses.replace(kuhn, scores=make(int(sys.argv[1])))
"""


def play(folder: Path, game: str = "kuhn", before: str = "", *arguments: str) -> subprocess.CompletedProcess:
    """A short game in a process of its own that keeps machine code in `folder`."""
    program = PROGRAM.format(game=game, before=before)
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program, *arguments], env=variables, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the machine code of Kuhn poker."""
    folder = tmp_path_factory.mktemp("code")
    assert play(folder).stdout == "[1, -1]\n"
    return folder


def test_a_variant_never_runs_the_code_of_its_game_and_the_game_never_that_of_a_variant(kept: Path):
    assert play(kept, VARIANT).stdout == "[7, 7]\n"
    assert play(kept).stdout == "[1, -1]\n"
    assert play(kept, VARIANT).stdout == "[7, 7]\n"


def test_kernels_that_cannot_be_found_again_by_name_are_not_kept(kept: Path):
    before = len(list(kept.rglob("*.bin")))
    assert play(kept, "game", CLOSURE, "3").stdout == "[3, 3]\n"
    assert play(kept, "game", CLOSURE, "4").stdout == "[4, 4]\n"
    assert len(list(kept.rglob("*.bin"))) == before


def test_compiling_is_announced_once_and_not_where_the_code_is_kept(kept: Path, tmp_path: Path):
    assert play(tmp_path).stderr.count("compiling kuhn-v0 for this machine, once") == 1
    assert play(kept).stderr == ""


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:10],
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data[:200] + b"\0" * 50 + data[250:],
        lambda data: b"no machine code at all",
    ],
    ids=["cut", "empty", "one byte short", "overwritten", "other"],
)
def test_damaged_files_are_compiled_anew(kept: Path, damage: Callable[[bytes], bytes]):
    paths = list(kept.rglob("*.bin"))
    sound = {path: path.read_bytes() for path in paths}
    for path in paths:
        path.write_bytes(damage(sound[path]))
    assert play(kept).stdout == "[1, -1]\n"
    assert play(kept).stderr == ""


def test_without_room_it_plays_with_one_warning(tmp_path: Path):
    full = (
        "import errno, pathlib\n"
        "def write_bytes(path, data):\n"
        "    open(path, 'wb').close()\n"
        "    raise OSError(errno.ENOSPC, 'No space left on device')\n"
        "pathlib.Path.write_bytes = write_bytes\n"
    )
    done = play(tmp_path, "kuhn", full)
    assert done.stdout == "[1, -1]\n"
    assert done.stderr.count("No space left on device") == 1
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_numbas_settings_stay_as_they_are_while_threads_compile(tmp_path: Path):
    threads = (
        "import threading, time, numba\n"
        "seen, done = set(), False\n"
        "def watch():\n"
        "    while not done:\n"
        "        seen.add(numba.config.CACHE_DIR)\n"
        "        time.sleep(0.001)\n"
        "watcher = threading.Thread(target=watch)\n"
        "watcher.start()\n"
        "players = [threading.Thread(target=lambda: CardEnv('kuhn-v0').reset(seed=1)) for _ in range(3)]\n"
        "for player in players: player.start()\n"
        "for player in players: player.join()\n"
        "done = True\n"
        "watcher.join()\n"
        "assert seen == {numba.config.CACHE_DIR}, seen\n"
    )
    assert play(tmp_path, "kuhn", threads).stdout == "[1, -1]\n"


def test_numbas_own_way_to_compile_gives_the_same(kept: Path, tmp_path: Path):
    assert play(tmp_path, "kuhn", "assert deferred.AVAILABLE\ndeferred.AVAILABLE = False").stdout == play(kept).stdout


def test_kernels_can_be_called_from_python_after_a_loop_was_compiled():
    code = (
        "import numpy as np, cardenvs\n"
        "env = cardenvs.make('recurrring-v0'); env.reset(seed=1)\n"
        "mask = np.zeros(env.game.actions.size, np.int8)\n"
        "env.game.legal_actions(env.states[0], mask)\n"
        "print(np.flatnonzero(mask).tolist() == env.legal_actions())\n"
    )
    assert run_python("-c", code) == "True\n"
