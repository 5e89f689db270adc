"""Reports of experiments: what they write, and that it says what was found."""

import json
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from benchmarks.plots import Panel
from benchmarks.report import Report


@pytest.fixture
def report() -> Report:
    made = Report("sizes", ["sizes", "--n", "2"], seed=7, about="How large a thing is.")
    made.add(things=1_000, bytes_each=3.5)
    made.add(things=2_000, bytes_each=4, kind="old")
    made.at_most("bytes each", 4, 3.9)
    made.claim("things do not grow", False, "3.5 to 4 bytes")
    made.note("one run")
    return made


def test_save_writes_markdown_with_everything_a_reader_asks(report: Report, tmp_path: Path) -> None:
    report.save(tmp_path)
    text = (tmp_path / "sizes.md").read_text()
    for part in ("# sizes", "How large a thing is.", "python -m benchmarks sizes --n 2", "MISSED",
                 "things do not grow |    no | 3.5 to 4 bytes", "1,000 |       3.50", "- one run",
                 "- seed: 7", "- python: ", "- pyarrow: "):  # fmt: skip
        assert part in text


def test_save_writes_the_same_as_json_and_rows_as_parquet(report: Report, tmp_path: Path) -> None:
    content = json.loads(report.save(tmp_path).read_text())
    assert content["claims"] == report.claims
    assert content["targets"][0]["verdict"] == "MISSED"
    rows = pq.read_table(tmp_path / "sizes.parquet").to_pylist()
    assert rows == [
        {"things": 1_000, "bytes_each": 3.5, "kind": None},
        {"things": 2_000, "bytes_each": 4.0, "kind": "old"},
    ]


def test_column_of_several_kinds_is_text_in_parquet(tmp_path: Path) -> None:
    report = Report("mixed", [], seed=1)
    for value in (1, "too slow", None):
        report.add(micros=value)
    report.save(tmp_path)
    assert pq.read_table(tmp_path / "mixed.parquet")["micros"].to_pylist() == [
        "1", "too slow", None,
    ]  # fmt: skip


def test_claims_and_targets_are_shown(report: Report, capsys: pytest.CaptureFixture[str]) -> None:
    report.show()
    shown = capsys.readouterr().out
    assert "things do not grow" in shown
    assert "MISSED" in shown


def test_plots_are_drawn_linked_and_the_same_each_time(report: Report, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    curve = {"ours": ([1, 10, 100], [1.0, 2.0, 3.0])}
    report.plot(name="one", title="One", x="n", y="micros", series=curve, y_scale="linear")
    panels = [Panel(f"part {number}", "n", "micros", curve) for number in range(4)]
    report.grid("grid", "All parts", panels, columns=2)
    report.save(tmp_path)
    text = (tmp_path / "sizes.md").read_text()
    assert "![One](one.png)" in text
    assert "![All parts](grid.png)" in text
    first = {place.name: place.read_bytes() for place in tmp_path.glob("*.[ps][nv]g")}
    assert set(first) == {"one.png", "one.svg", "grid.png", "grid.svg"}
    assert b"part 3" in first["grid.svg"]
    report.save(tmp_path)
    assert first == {name: (tmp_path / name).read_bytes() for name in first}


def test_without_matplotlib_the_report_says_so(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    report.plot(name="one", title="One", x="n", y="micros", series={})
    report.save(tmp_path)
    text = (tmp_path / "sizes.md").read_text()
    assert "matplotlib is not installed" in text
    assert "one.png" not in text
