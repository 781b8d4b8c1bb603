"""Playing at the terminal, and stepping through records."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import cardenvs
from cardenvs.experiments import play
from tests.common import ROOT

ROGUES = "tests.experiments.rogues"


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What is typed; then the input ends. Each answer may be an exception, as Ctrl-C gives one."""
    answers: list = []

    def answer(prompt: str = "") -> str:
        print(prompt, end="")
        found = answers.pop(0) if answers else EOFError
        if isinstance(found, str):
            return found
        raise found

    monkeypatch.setattr("builtins.input", answer)
    return answers


def saved_game(path: Path, seed: int = 0, moves: int | None = None) -> dict:
    """A record of random moves, in a file."""
    env = cardenvs.make("recurrring-v0", 3, num_games=1)
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    while not env.terminations["player_0"] and (moves is None or moves > 0):
        env.step(int(rng.choice(env.legal_actions())))
        moves = moves and moves - 1
    path.write_text(json.dumps(env.record()))
    return env.record()


def test_a_whole_game_is_played_and_saved(typed, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    out = tmp_path / "deep" / "game.json"
    typed += ["1"] * 500
    play.main(["recurrring-v0", "--num-players", "3", "--option", "num_games=1", "--seat", "1", "--seed", "4", "--out", str(out)])
    shown = capsys.readouterr().out
    record = json.loads(out.read_text())
    env = cardenvs.replay(record)
    assert env.terminations["player_0"]
    assert record["players"] == ["easy", "human", "easy"]
    assert "you are player_1; player_0 is easy, player_1 is human, player_2 is easy" in shown
    assert f"Scores: player_0 {env.scores()[0]}, player_1 {env.scores()[1]}, player_2 {env.scores()[2]}." in " ".join(shown.split())
    assert str(out) in "".join(shown.split("\n"))
    seated = [cardenvs.replay(record, number).agent_selection for number in range(len(record["actions"]))]
    assert shown.count("Your move: ") == seated.count("player_1") > 0
    first = cardenvs.make("recurrring-v0", 3, num_games=1)
    first.reset(seed=4)
    assert record["lane_word"] == first.record()["lane_word"]


def test_a_person_is_shown_its_own_view_only(typed, tmp_path, capsys, monkeypatch):
    """What is told between its moves are lines of its own view."""
    monkeypatch.setenv("COLUMNS", "200")
    typed += ["1"] * 500
    out = tmp_path / "game.json"
    play.main(["recurrring-v0", "--option", "num_games=1", "--seed", "1", "--out", str(out)])
    record = json.loads(out.read_text())
    texts = [cardenvs.replay(record, number).text("player_0") for number in range(len(record["actions"]) + 1)]
    own = {line.strip() for text in texts for line in text.splitlines()}
    told = {line[4:] for line in capsys.readouterr().out.splitlines() if line.startswith("  | ")}
    assert len(told) > 10
    assert told <= own


@pytest.mark.parametrize("leaving", [EOFError, KeyboardInterrupt])
def test_leaving_saves_the_game(typed, tmp_path, capsys, leaving):
    """FC-89"""
    out = tmp_path / "game.json"
    typed += ["nonsense", "77", "1", leaving]
    play.main(["recurrring-v0", "--seed", "4", "--out", str(out)])
    shown = capsys.readouterr().out
    assert shown.count("is no legal move") == 2
    assert "You left the game." in shown
    env = cardenvs.replay(out.read_text())
    assert not any(env.terminations.values())
    assert env.record()["actions"]


def test_broken_opponents_end_the_game_with_a_record(typed, tmp_path, capsys):
    out = tmp_path / "game.json"
    typed += ["1"] * 9
    play.main(["kuhn-v0", "--opponents", f"{ROGUES}:Illegal", "--seed", "1", "--out", str(out)])
    assert "The game cannot go on, player_1 failed: action 2 of player_1 does not exist" in " ".join(capsys.readouterr().out.split())
    play.main(["kuhn-v0", "--opponents", f"{ROGUES}:Exiting", "--seed", "1", "--seat", "1", "--out", str(out)])
    assert "player_0 failed: its process ended with exit code 3" in " ".join(capsys.readouterr().out.split())
    assert json.loads(out.read_text())["players"] == [f"{ROGUES}:Exiting", "human"]


def test_several_people_take_turns(typed, tmp_path, capsys):
    typed += ["bet", "bet"]
    play.main(["kuhn-v0", "--opponents", "human", "--out", str(tmp_path / "game.json")])
    shown = capsys.readouterr().out
    assert shown.count("Your move: ") == 2
    assert "| " not in shown


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("kuhn-v0 --seat 2", "InvalidOption: seat=2 is not allowed: it must be from 0 to 1"),
        ("kuhn-v0 --opponents nobody", "UnknownAgent: no player is called 'nobody'"),
        ("--record /no/such/file.json", "InvalidOption: the record /no/such/file.json cannot be read: No such file"),
    ],
)
def test_wrong_arguments_are_told_plainly(command, told):
    with pytest.raises(SystemExit) as caught:
        play.main(command.split())
    assert str(caught.value).startswith(told)


def test_a_record_is_stepped_through(typed, tmp_path, capsys):
    record = saved_game(tmp_path / "game.json")
    last = len(record["actions"])
    typed += ["", "", "b", "what", str(last + 1), str(last), "b", "", ""]
    play.main(["--record", str(tmp_path / "game.json")])
    shown = capsys.readouterr().out
    numbers = [int(line.split()[1]) for line in shown.splitlines() if line.startswith("After ")]
    assert numbers == [0, 1, 2, 1, 1, 1, last, last - 1, last]
    assert f"There is no move 'what': 0 to {last}." in shown
    assert f"Next: player_{cardenvs.replay(record, 0).agent_selection[-1]} {record['actions'][0]!r}" in shown
    assert " ".join(cardenvs.replay(record, 2).text().split()) in " ".join(shown.split())
    assert "The game is over. Scores: player_0" in shown


def test_a_record_is_shown_from_a_seat(typed, tmp_path, capsys):
    record = saved_game(tmp_path / "game.json", moves=6)
    typed += ["6", "q"]
    play.main([f"--record={tmp_path / 'game.json'}", "--seat", "2"])
    shown = " ".join(capsys.readouterr().out.split())
    for number in (0, 6):
        assert " ".join(cardenvs.replay(record, number).text("player_2").split()) in shown
    with pytest.raises(SystemExit, match="seat=3 is not allowed"):
        play.main(["--record", str(tmp_path / "game.json"), "--seat", "3"])


def test_a_record_that_is_none_is_refused(tmp_path):
    (tmp_path / "game.json").write_text("{}")
    with pytest.raises(SystemExit, match="ReplayError: this is no record of a game"):
        play.main(["--record", str(tmp_path / "game.json")])


def test_in_a_pipe(tmp_path):
    """FC-89: the end of the input, a narrow window, no colour."""
    done = subprocess.run(
        [sys.executable, "-m", "cardenvs.experiments.play", "recurrring-v0", "--seed", "3", "--out", "game.json"],
        input="what\n1\n", capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "40"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert "You left the game." in done.stdout
    lines = done.stdout.splitlines()
    assert max(len(line) for line in lines if "Your move" not in line) <= 40
    assert lines[-1] == "The record is in game.json."
    cardenvs.replay((tmp_path / "game.json").read_text())


def test_at_a_terminal_ctrl_c_leaves_cleanly(tmp_path):
    """FC-89"""
    main_end, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "cardenvs.experiments.play", "recurrring-v0", "--seed", "3", "--out", "game.json"],
        stdin=terminal, stdout=terminal, stderr=terminal, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True, preexec_fn=lambda: _control(terminal),
    )  # fmt: skip
    os.close(terminal)
    try:
        shown = _read_until(main_end, "Your move: ")
        os.write(main_end, b"1\n")
        shown += _read_until(main_end, "Your move: ")
        shown += _read_until(main_end, "game.json", press=b"\x03")
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        os.close(main_end)
    assert "You left the game." in shown
    assert "Traceback" not in shown
    assert json.loads((tmp_path / "game.json").read_text())["actions"]


def _control(terminal: int) -> None:
    """Make the terminal that of the new session, so that Ctrl-C reaches it, also where the tests run in the background and ignore it."""
    import fcntl
    import termios

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)


def _read_until(descriptor: int, text: str, press: bytes = b"", limit: float = 120.0) -> str:
    """What is shown, up to `text` or a little more; `press` is pressed while nothing happens."""
    shown, deadline = "", time.monotonic() + limit
    while text not in shown:
        assert time.monotonic() < deadline, shown
        if select.select([descriptor], [], [], 1.0)[0]:
            shown += os.read(descriptor, 4096).decode()
        elif press:
            os.write(descriptor, press)
    return shown
