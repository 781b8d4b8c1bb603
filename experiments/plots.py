"""Pictures of results, drawn without a display."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cardenvs.experiments.matches import Interval
from cardenvs.experiments.tables import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def figure(width: float, height: float, columns: int = 1) -> "tuple[Figure, Sequence[Axes]]":
    """A figure of one row of axes; sizes in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawn = Figure((width, height), layout="constrained")
    FigureCanvasAgg(drawn)
    return drawn, drawn.subplots(1, columns, squeeze=False)[0]


def save(drawn: "Figure", path: Path, dpi: int = 120) -> None:
    """Write a PNG that is there wholly or not at all."""
    picture = io.BytesIO()
    drawn.savefig(picture, format="png", dpi=dpi)
    write_whole(path, picture.getvalue())


def leaderboard(path: Path, title: str, names: Sequence[str], panels: Mapping[str, Sequence[Interval]]) -> None:
    """Points with intervals for each player, the first on top, a panel for each measure."""
    drawn, all_axes = figure(4.2 * len(panels) + 1, 1.4 + 0.35 * len(names), len(panels))
    for axes, (label, intervals) in zip(all_axes, panels.items(), strict=True):
        places = range(len(names))
        means = [interval.mean for interval in intervals]
        below = [max(0.0, interval.mean - interval.low) for interval in intervals]
        beyond = [max(0.0, interval.high - interval.mean) for interval in intervals]
        axes.axvline(0, color="0.8", linewidth=1)
        axes.errorbar(means, places, xerr=[below, beyond], fmt="o", capsize=3)
        axes.set_yticks(places, names if axes is all_axes[0] else [""] * len(names))
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlabel(label)
    drawn.suptitle(title)
    save(drawn, path)
