"""What an experiment found: rows for a table on the screen and a JSON file that says on what."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
_BUSY = 0.7  # processes that wanted to run, over the last minute
PACKAGES = ("boolfilter", "numpy", "numba", "lark", "pyarrow", "pyspark")


@dataclass
class Report:
    """Rows of figures, with the command, seed, machine and versions that made them."""

    experiment: str
    arguments: list[str]
    seed: int
    rows: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    targets: list[dict[str, Any]] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    load_before: float = field(default_factory=lambda: os.getloadavg()[0])

    def __post_init__(self) -> None:
        if self.load_before > _BUSY:
            self.note(f"THE MACHINE WAS BUSY (load {self.load_before:.1f}): times are too long")

    def add(self, **figures: Any) -> None:
        self.rows.append(figures)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def at_most(self, what: str, measured: float, bound: float) -> None:
        self._target(what, f"at most {_cell(bound)}", measured, measured <= bound)

    def at_least(self, what: str, measured: float, bound: float) -> None:
        self._target(what, f"at least {_cell(bound)}", measured, measured >= bound)

    def plot(self, **parts: Any) -> None:
        """A picture to draw when the report is saved; see :class:`Plot`."""
        self.plots.append(Plot(**parts))

    def show(self) -> None:
        print(table(self.rows))
        if self.targets:
            print("\n" + table(self.targets))
        for text in self.notes:
            print(text)

    def save(self) -> Path:
        RESULTS.mkdir(exist_ok=True)
        for plot in self.plots:
            self.note(plot.draw(RESULTS))
        path = RESULTS / f"{self.experiment}.json"
        content = {
            "experiment": self.experiment,
            "command": " ".join(["python -m benchmarks", *self.arguments]),
            "seed": self.seed,
            "machine": {**machine(), "load_before": round(self.load_before, 2)},
            "versions": versions(),
            "rows": self.rows,
            "targets": self.targets,
            "notes": self.notes,
        }
        path.write_text(json.dumps(content, indent=2) + "\n")
        return path

    def _target(self, what: str, bound: str, measured: float, met: bool) -> None:
        verdict = "met" if met else "MISSED"
        self.targets.append(
            {"target": what, "bound": bound, "measured": measured, "verdict": verdict}
        )


@dataclass(frozen=True)
class Plot:
    """Curves over one axis, on logarithmic scales: ``series`` has the x and y of each label."""

    name: str
    title: str
    x: str
    y: str
    series: dict[str, tuple[Sequence[float], Sequence[float]]]

    def draw(self, folder: Path) -> str:
        """Write NAME.png and NAME.svg; says what was done, which is nothing without matplotlib."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            return f"no plot {self.name}: matplotlib is not installed"
        figure = Figure(figsize=(7, 4.5), layout="constrained")
        axes = figure.add_subplot(xscale="log", yscale="log", xlabel=self.x, ylabel=self.y)
        axes.set_title(self.title)
        for label, (xs, ys) in self.series.items():
            axes.plot(xs, ys, marker="o", label=label)
        axes.grid(alpha=0.3)
        axes.legend()
        for kind in ("png", "svg"):
            # No date and no program in the files: the same figures give the same bytes.
            nothing = {"Software": None} if kind == "png" else {"Date": None, "Creator": None}
            figure.savefig(folder / f"{self.name}.{kind}", dpi=120, metadata=nothing)
        return f"plot: {self.name}.png and {self.name}.svg"


def machine() -> dict[str, Any]:
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def table(rows: list[dict[str, Any]]) -> str:
    """Rows as a Markdown table, aligned so that it also reads on a terminal."""
    if not rows:
        return "(no rows)"
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = [columns, *([_cell(row.get(name)) for name in columns] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(columns))]
    lines = [
        "| "
        + " | ".join(text.rjust(width) for text, width in zip(line, widths, strict=True))
        + " |"
        for line in cells
    ]
    rule = "|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.2f}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
