"""The generated tables of the games' README files: `python -m tests.tables` says which are out of date, `--write` brings them up to date.

A README holds a table between a pair of marks, for example `<!-- actions -->` and `<!-- /actions -->`.
"""

import inspect
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import cardenvs
from cardenvs.core.encoding import Section
from cardenvs.core.game import Game


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    lines = [list(head), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def span(start: int, length: int) -> str:
    """The numbers from `start` on, for people."""
    return str(start) if length == 1 else f"{start} – {start + length - 1}"


def actions(game: Game) -> str:
    """Families of actions with their ids and texts."""
    rows = []
    for name, ids in game.actions.ranges.items():
        texts = [f"`{game.actions.texts[number]}`" for number in ids]
        shown = ", ".join(texts) if len(texts) <= 4 else f"{texts[0]}, {texts[1]}, … {texts[-1]}"
        rows.append([name, span(ids[0], len(ids)), str(len(ids)), shown])
    return table(["family", "ids", "number", "texts"], rows)


def observation(game: Game) -> str:
    """Sections of the observation with their places; those for each seat stand in a block that is repeated."""
    shown = game.observation
    rows = []
    for section, start in shown.places():
        repeated = section in shown.each_seat and section not in shown.sections
        place = f"b + ({span(start - shown.seats_start, section.length)})" if repeated else span(start, section.length)
        rows.append([f"`{section.name}`", place, code(section), section.meaning])
    text = table(["section", "features", "code", "meaning"], rows)
    if shown.seats:
        text += (
            f"\n\n{shown.size} features. The block of the seat k places to the left of the viewer begins at "
            f"b = {shown.seats_start} + {shown.block}·k, k = 0 … {shown.seats - 1}; blocks of absent seats are zero."
        )
    else:
        text += f"\n\n{shown.size} features."
    return text


def code(section: Section) -> str:
    """How the features of a section are read."""
    sizes, entries = set(section.sizes), len(section.sizes)
    text: str = section.code
    if section.code == "count" and (section.low, section.step) != (0, 1):
        text += f" from {section.low} in steps of {section.step}"
    if section.labels and len(section.labels) <= 10:
        text += f" of {', '.join(section.labels)}"
    elif len(sizes) == 1 and section.code != "flag":
        text += f" of {section.sizes[0]}"
    if len(sizes) > 1:
        return f"{entries} × {text} of {', '.join(map(str, section.sizes))}"
    return text if entries == 1 else f"{entries} × {text}"


def options(game: Game) -> str:
    """Constructor options; the first line is one that every game has."""
    rows = [["`num_players`", str(game.default_players), f"a whole number from {game.players[0]} to {game.max_seats}", "seats"]]
    rows += [[f"`{name}`", f"`{option.default!r}`", option.allowed, option.meaning] for name, option in game.options.items()]
    return table(["option", "default", "allowed", "meaning"], rows)


TABLES: dict[str, Callable[[Game], str]] = {"actions": actions, "observation": observation, "options": options}


def readme(game: Game) -> Path:
    """The page of a game."""
    return Path(inspect.getfile(game.deck)).parent / "README.md"


def refreshed(game: Game, page: str) -> str:
    """The text of a page with its tables up to date."""
    for name, make in TABLES.items():
        start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        if start in page and end in page:
            before, _, rest = page.partition(start)
            _, _, after = rest.partition(end)
            page = f"{before}{start}\n\n{make(game)}\n\n{end}{after}"
    return page


def main(write: bool) -> int:
    """Check or write all pages; returns how many were out of date."""
    import tests  # noqa: F401 — registers Kuhn poker

    stale = 0
    for game in map(cardenvs.find, cardenvs.game_ids()):
        path = readme(game)
        page = path.read_text() if path.exists() else ""
        if refreshed(game, page) != page:
            stale += 1
            print(f"{path}: {'written' if write else 'out of date'}")
            if write:
                path.write_text(refreshed(game, page))
    return stale


if __name__ == "__main__":
    write = sys.argv[1:] == ["--write"]
    sys.exit(bool(main(write)) and not write)
