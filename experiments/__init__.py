"""What one runs: training, evaluation, tournaments, play. Each script takes one dataclass of arguments."""

if __name__ != "cardenvs.experiments":  # in the folder of a checkout, Python also finds it under its short name
    raise ImportError("import cardenvs.experiments, not experiments")

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any, TypeVar

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is first imported: threads only slow small networks down

from cardenvs.core.game import Game
from cardenvs.errors import CardEnvError, InvalidOption

Arguments = TypeVar("Arguments")


def parse(arguments: type[Arguments], argv: Sequence[str] | None = None, positional: bool = True) -> Arguments:
    """The command line (or `argv`) as an instance of the dataclass `arguments`; fields without a default are `positional`."""
    try:
        import tyro
    except ImportError as error:
        raise SystemExit("the experiments need the extra [train]: pip install 'cardenvs[train]'") from error
    refuse_repetitions(arguments, argv)
    command = arguments.__module__.rpartition(".")[2].replace("_", "-")
    return tyro.cli(arguments, prog=f"cardenvs {command}", args=argv, config=(tyro.conf.PositionalRequiredArgs,) if positional else ())


def refuse_repetitions(arguments: type, argv: Sequence[str] | None) -> None:
    """End with a sentence if a flag that takes several values is given twice: only the last would count."""
    words = sys.argv[1:] if argv is None else argv
    flags = [word.partition("=")[0].replace("_", "-") for word in words]
    for field in fields(arguments):
        flag = f"--{field.name.replace('_', '-')}"
        if "tuple" in str(field.type) and flags.count(flag) > 1:
            raise SystemExit(f"{flag} is given twice: give it once, with all of its values")


def parse_options(game: Game, texts: Iterable[str]) -> dict[str, Any]:
    """Game options given as `name=value`; raises `InvalidOption` for a text of another form (the game checks the values)."""
    options: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise InvalidOption(f"the option {text!r} is not of the form name=value; {game.id} has {', '.join(game.options)}")
        choices = game.options[name].choices if name in game.options else ()
        known = {str(choice): choice for choice in choices} | {"None": None}
        options[name] = known[value] if value in known else int(value) if re.fullmatch(r"-?[0-9]+", value) else value
    return options


@contextlib.contextmanager
def told_plainly() -> Iterator[None]:
    """Our own errors end the program with their text, without a traceback."""
    try:
        yield
    except CardEnvError as error:
        raise SystemExit(f"{type(error).__name__}: {error}") from None


def counter(total: int, unit: str) -> Callable[[int], None] | None:
    """Shows how many of `total` are done, on a line of the terminal that is cleared in the end; None if there is no terminal."""
    if not sys.stderr.isatty():
        return None

    def show(done: int) -> None:
        line = f"{done}/{total} {unit}"
        print(f"\r{line}" if done < total else f"\r{' ' * len(line)}\r", end="", file=sys.stderr, flush=True)

    return show
