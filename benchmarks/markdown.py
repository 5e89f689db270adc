"""What an experiment found, as Markdown: for people who do not run it."""

from __future__ import annotations

from typing import Any


def document(content: dict[str, Any], plots: list[tuple[str, str]]) -> str:
    """The report of an experiment: ``content`` is its JSON, ``plots`` are titles and file names."""
    parts = [f"# {content['experiment']}", content["about"], f"```\n{content['command']}\n```"]
    for heading, name in (("Targets", "targets"), ("Claims", "claims"), ("Results", "rows")):
        if content[name]:
            parts += [f"## {heading}", table(content[name])]
    parts += [f"![{title}]({file})" for title, file in plots]
    if content["notes"]:
        parts += ["## Notes", "\n".join(f"- {note}" for note in content["notes"])]
    made = {"seed": content["seed"], **content["machine"], **content["versions"]}
    parts += ["## Made with", "\n".join(f"- {name}: {value}" for name, value in made.items())]
    return "\n\n".join(part for part in parts if part) + "\n"


def table(rows: list[dict[str, Any]]) -> str:
    """Rows as a Markdown table, aligned so that it also reads on a terminal."""
    if not rows:
        return "(no rows)"
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = [columns, *([cell(row.get(name)) for name in columns] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(columns))]
    lines = [
        "| "
        + " | ".join(text.rjust(width) for text, width in zip(line, widths, strict=True))
        + " |"
        for line in cells
    ]
    rule = "|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def cell(value: Any) -> str:
    """A value in a table: figures as short as they can be compared.

    >>> [cell(value) for value in (None, True, 1234567, 0.00123, 12.345, 1234.5, "a | b")]
    ['', 'yes', '1,234,567', '0.0012', '12.35', '1,234', 'a \\\\| b']
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if 0 < abs(value) < 0.1:
            return f"{value:.2g}"
        return f"{value:,.2f}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value).replace("|", "\\|")
