"""What an experiment found: rows for a table on the screen and a JSON file that says on what."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("boolfilter", "numpy", "numba", "lark", "pyarrow", "pyspark")


@dataclass
class Report:
    """Rows of figures, with the command, seed, machine and versions that made them."""

    experiment: str
    arguments: list[str]
    seed: int
    rows: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, **figures: Any) -> None:
        self.rows.append(figures)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def show(self) -> None:
        print(table(self.rows))
        for text in self.notes:
            print(text)

    def save(self) -> Path:
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / f"{self.experiment}.json"
        content = {
            "experiment": self.experiment,
            "command": " ".join(["python -m benchmarks", *self.arguments]),
            "seed": self.seed,
            "machine": machine(),
            "versions": versions(),
            "rows": self.rows,
            "notes": self.notes,
        }
        path.write_text(json.dumps(content, indent=2) + "\n")
        return path


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
