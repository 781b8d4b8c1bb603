"""Result tables, and files that are there wholly or not at all."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cardenvs.experiments.matches import Fault, Interval


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file through a neighbour that takes its place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_bytes(content.encode() if isinstance(content, str) else content)
    part.replace(path)


def signed(interval: Interval, digits: int = 2) -> str:
    """As `+1.25 [+1.02, +1.48]`."""
    mean, low, high = (f"{round(limit, digits) + 0.0:+.{digits}f}" for limit in interval)
    return f"{mean} [{low}, {high}]"


def share(interval: Interval) -> str:
    """As `31.2 % [29.8, 32.6]`."""
    return "{:.1f} % [{:.1f}, {:.1f}]".format(*(100 * limit for limit in interval))


def markdown(rows: Sequence[dict[str, str]]) -> str:
    """A Markdown table of rows with the same keys, which head its columns; those after the first are flush right."""
    names = list(rows[0])
    widths = [max(len(name), 4, *(len(row[name]) for row in rows)) for name in names]
    lines = [names, ["-" * width if i == 0 else "-" * (width - 1) + ":" for i, width in enumerate(widths)]]
    lines += [list(row.values()) for row in rows]
    pads: list[Callable[..., str]] = [str.ljust, *[str.rjust] * (len(names) - 1)]
    return "\n".join(
        "| " + " | ".join(pad(cell, width) for pad, cell, width in zip(pads, line, widths, strict=True)) + " |" for line in lines
    )


def flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row with three columns in place of each interval."""
    cells: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Interval):
            cells |= {name: value.mean, f"{name}_low": value.low, f"{name}_high": value.high}
        else:
            cells[name] = value
    return cells


def csv_text(rows: Sequence[dict[str, Any]]) -> str:
    """Rows with the same keys as CSV."""
    cells = [flat(row) for row in rows]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(cells[0]))
    writer.writeheader()
    writer.writerows(cells)
    return out.getvalue()


def json_text(value: Any) -> str:
    """Indented JSON; an interval is a list of mean and limits."""
    return json.dumps(value, indent=1) + "\n"


def fault_lines(players: Sequence[str], faults: Sequence[Fault]) -> list[str]:
    """For each player and kind of fault, how often and what the first one was."""
    groups: dict[tuple[str, str], list[Fault]] = {}
    for fault in faults:
        groups.setdefault((players[fault.position], fault.kind), []).append(fault)
    lines = []
    for (name, kind), found in groups.items():
        games = f"{len(found)} game{'s' if len(found) > 1 else ''}"
        message = (found[0].message.strip() or "no message").splitlines()[-1]
        lines.append(f"{name} lost {games} by a fault ({kind}), first in deal {found[0].deal}: {message}")
    return lines
