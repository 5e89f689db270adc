"""Pictures of experiments: curves over one axis or a grid of them, as PNG and SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Scale = Literal["log", "linear"]
Series = dict[str, tuple[Sequence[float], Sequence[float]]]


@dataclass(frozen=True, slots=True)
class Panel:
    """Curves over one axis: ``series`` has the x and y of each label."""

    title: str
    x: str
    y: str
    series: Series
    x_scale: Scale = "log"
    y_scale: Scale = "log"

    def draw(self, axes: Any) -> None:
        axes.set(
            title=self.title, xlabel=self.x, ylabel=self.y, xscale=self.x_scale, yscale=self.y_scale
        )
        for label, (xs, ys) in self.series.items():
            axes.plot(xs, ys, marker="o", label=label)
        axes.grid(alpha=0.3)
        if self.series:
            axes.legend()


@dataclass(frozen=True, slots=True)
class Plot:
    """One picture: panels in rows of ``columns``, under a title if there are several."""

    name: str
    title: str
    panels: Sequence[Panel]
    columns: int = 3

    def draw(self, folder: Path) -> bool:
        """Write NAME.png and NAME.svg; False, and nothing written, without matplotlib."""
        try:
            from matplotlib import rc_context
            from matplotlib.figure import Figure
        except ImportError:
            return False
        columns = min(self.columns, len(self.panels))
        rows = -(-len(self.panels) // columns)
        size = (7, 4.5) if len(self.panels) == 1 else (4.5 * columns, 3.5 * rows)
        figure = Figure(figsize=size, layout="constrained")
        if len(self.panels) > 1:
            figure.suptitle(self.title)
        for place, panel in enumerate(self.panels, 1):
            panel.draw(figure.add_subplot(rows, columns, place))
        # No date and no program in the files: the same figures give the same bytes.
        with rc_context({"svg.hashsalt": self.name}):
            figure.savefig(folder / f"{self.name}.png", dpi=120, metadata={"Software": None})
            figure.savefig(folder / f"{self.name}.svg", metadata={"Date": None, "Creator": None})
        return True
