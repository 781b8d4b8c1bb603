"""The command `cardenvs`, which is also `python -m cardenvs`: its first word chooses what runs, the rest is for that."""

import importlib
import sys
from collections.abc import Sequence

COMMANDS = {
    "games": ("cardenvs.listing", "list the games, or the options of one"),
    "compile": ("cardenvs.compile", "compile games for this machine now, in place of at their first use"),
    "play": ("cardenvs.experiments.play", "play against any players at the terminal"),
    "evaluate": ("cardenvs.experiments.evaluate", "measure one player against others on duplicate deals"),
    "tournament": ("cardenvs.experiments.tournament", "play every pairing of some players, and rate them"),
    "ladder": ("cardenvs.experiments.ladder", "rate the players of every game, with yours"),
    "train": ("cardenvs.experiments.train", "train a network by self-play"),
    "best-response": ("cardenvs.experiments.best_response", "train against a frozen player: what can one seat gain?"),
    "publish": ("cardenvs.experiments.publish", "make the best policy of a run a player with a model card"),
    "exploitability": ("cardenvs.experiments.exploitability", "measure players of small games exactly, through OpenSpiel"),
    "benchmark": ("cardenvs.experiments.benchmark", "measure decisions per second, beside other suites"),
    "demo": ("cardenvs.experiments.demo", "train for two minutes, evaluate, and show the result"),
}
"""The module of each command, whose `main` takes the rest of the command line, and what it does."""


def usage() -> str:
    """The commands, a line each."""
    lines = [f"  {name:<16}{meaning}" for name, (_, meaning) in COMMANDS.items()]
    return "\n".join(["usage: cardenvs COMMAND …", "", *lines, "", "cardenvs COMMAND --help explains its settings."])


def main(argv: Sequence[str] | None = None) -> None:
    """Run a command; a mistake on the command line ends the program with a sentence and exit code 2."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] in ("-h", "--help"):
        print(usage())
        return
    name, *rest = words
    if name == "--version":
        from cardenvs import __version__

        print(f"cardenvs {__version__}")
        return
    if name not in COMMANDS:
        print(f"cardenvs has no command {name!r}; it has {', '.join(COMMANDS)}", file=sys.stderr)
        raise SystemExit(2)
    if "" not in sys.path:
        sys.path.insert(0, "")  # for players and games of the working folder, such as mymodule:MyPlayer
    try:
        importlib.import_module(COMMANDS[name][0]).main(rest)
    except SystemExit as end:
        if not isinstance(end.code, str):
            raise
        print(end.code, file=sys.stderr)
        raise SystemExit(2) from None
