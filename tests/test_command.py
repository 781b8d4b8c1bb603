"""The command `cardenvs`."""

import contextlib
import importlib.util

import pytest

from cardenvs.command import COMMANDS, main
from tests.common import GAMES, run_python


def test_the_usage_names_every_command(capsys: pytest.CaptureFixture):
    main(["--help"])
    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture):
    with contextlib.suppress(SystemExit):
        main([name, "--help"])
    assert f"usage: cardenvs {name}" in capsys.readouterr().out


def test_every_command_is_a_module_of_the_package():
    for module, _ in COMMANDS.values():
        assert importlib.util.find_spec(module) is not None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gmaes"], "no command 'gmaes'; it has games,"),
        (["games", "rringer-v0"], "no game is called 'rringer-v0'"),
        (["train"], "which game?"),
        (["evaluate", "ding-v0", "--option", "max_steps=--5"], "max_steps='--5' is not allowed"),
        (["evaluate", "ding-v0", "--option", "race=random", "--option", "max_steps=50"], "--option is given twice"),
        (["evaluate", "ding-v0", "--opponents=easy", "--opponents", "random"], "--opponents is given twice"),
        (["tournament", "ding-v0", "--players", "easy", "--players", "random"], "--players is given twice"),
        (["train", "ding-v0", "--against", "easy", "--against", "random"], "--against is given twice"),
        (["best-response", "ding-v0", "--budgets", "1", "--budgets", "2"], "--budgets is given twice"),
    ],
)
def test_mistakes_are_told_in_a_sentence(words: list[str], said: str, capsys: pytest.CaptureFixture):
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert said in "".join(capsys.readouterr())


def test_games_lists_all_games_and_the_options_of_one(capsys: pytest.CaptureFixture):
    main(["games"])
    shown = capsys.readouterr().out
    assert [line.split()[0] for line in shown.splitlines()] == list(GAMES)
    main(["games", "ding-v0"])
    assert "social_percent" in capsys.readouterr().out


def test_the_package_runs_as_a_module():
    assert run_python("-m", "cardenvs", "games").startswith(GAMES[0])
