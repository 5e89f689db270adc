"""What an experiment found: a table on the screen, and files that say on what machine and how.

NAME.json has everything, NAME.md is for reading, NAME.parquet has the rows, and plots are beside
them as PNG and SVG.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.markdown import cell, document, table
from benchmarks.plots import Panel, Plot

RESULTS = Path(__file__).parent / "results"
_BUSY = 0.7  # processes that wanted to run, over the last minute
PACKAGES = ("boolfilter", "numpy", "numba", "lark", "pyarrow", "pyspark")


@dataclass
class Report:
    """Rows of figures, with the command, seed, machine and versions that made them.

    >>> report = Report("sizes", ["sizes"], seed=1, about="How large a thing is.")
    >>> report.add(things=10, bytes_each=3.5)
    >>> report.at_most("bytes each", 3.5, bound=4)
    >>> report.claim("a thing is small", 3.5 < 4, "3.5 bytes")
    """

    experiment: str
    arguments: list[str]
    seed: int
    about: str = ""
    rows: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    targets: list[dict[str, Any]] = field(default_factory=list)
    claims: list[dict[str, Any]] = field(default_factory=list)
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
        self._target(what, f"at most {cell(bound)}", measured, measured <= bound)

    def at_least(self, what: str, measured: float, bound: float) -> None:
        self._target(what, f"at least {cell(bound)}", measured, measured >= bound)

    def claim(self, text: str, holds: bool, evidence: str) -> None:
        """Whether a claim, of a paper or our own, holds here, and the figures that say so."""
        self.claims.append({"claim": text, "holds": bool(holds), "evidence": evidence})

    def plot(self, *, name: str, title: str, **panel: Any) -> None:
        """A picture to draw when the report is saved; for the rest see :class:`Panel`."""
        self.grid(name, title, [Panel(title=title, **panel)])

    def grid(self, name: str, title: str, panels: list[Panel], columns: int = 3) -> None:
        """A picture of several panels to draw when the report is saved."""
        self.plots.append(Plot(name, title, panels, columns))

    def show(self) -> None:
        print(table(self.rows))
        for verdicts in filter(None, (self.targets, self.claims)):
            print("\n" + table(verdicts))
        for text in self.notes:
            print(text)

    def save(self, folder: Path = RESULTS) -> Path:
        """Write the files; returns that of the JSON."""
        folder.mkdir(parents=True, exist_ok=True)
        drawn = [plot for plot in self.plots if plot.draw(folder)]
        if len(drawn) < len(self.plots):
            self.note("no plots: matplotlib is not installed")
        content = self._content()
        plots = [(plot.title, f"{plot.name}.png") for plot in drawn]
        (folder / f"{self.experiment}.md").write_text(document(content, plots))
        _write_rows(self.rows, folder / f"{self.experiment}.parquet")
        path = folder / f"{self.experiment}.json"
        path.write_text(json.dumps(content, indent=2) + "\n")
        return path

    def _content(self) -> dict[str, Any]:
        return {
            "experiment": self.experiment,
            "about": self.about.strip(),
            "command": " ".join(["python -m benchmarks", *self.arguments]),
            "seed": self.seed,
            "machine": {**machine(), "load_before": round(self.load_before, 2)},
            "versions": versions(),
            "rows": self.rows,
            "targets": self.targets,
            "claims": self.claims,
            "notes": self.notes,
        }

    def _target(self, what: str, bound: str, measured: float, met: bool) -> None:
        verdict = "met" if met else "MISSED"
        self.targets.append(
            {"target": what, "bound": bound, "measured": measured, "verdict": verdict}
        )


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


def _write_rows(rows: list[dict[str, Any]], place: Path) -> None:
    if not rows:
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    def column(name: str) -> pa.Array:
        values = [row.get(name) for row in rows]
        try:
            return pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # of several kinds
            return pa.array([None if value is None else str(value) for value in values])

    names = dict.fromkeys(name for row in rows for name in row)
    pq.write_table(pa.table({name: column(name) for name in names}), place)


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
