"""``boolfilter match``: formats in, JSON lines out, and bad data on the way."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from boolfilter.cli import files, main
from boolfilter.cli.events import typed
from tests.cli.conftest import Run

TOY = {"price": 5, "category": "Toy", "tags": ["sale"], "user": {"name": "u1"}}
DEAR = {"price": 500, "brand": "Acme"}
NOTHING = {"brand": "Acme", "price": 50}
EVENTS = [TOY, DEAR, NOTHING]
RESULTS = [["alice", "bob"], [5], []]


def jsonl(records: list[object]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def events(tmp_path: Path) -> str:
    (tmp_path / "events.jsonl").write_text(jsonl(EVENTS))
    return "events.jsonl"


def test_each_event_is_a_line_with_its_number_and_matches(
    run: Run, subscriptions: str, events: str
) -> None:
    done = run("match", "--subscriptions", subscriptions, "--events", events)
    assert (done.code, done.err) == (0, "")
    assert done.lines() == [{"event": n, "matches": m} for n, m in enumerate(RESULTS, 1)]


def test_events_from_stdin(run: Run, subscriptions: str) -> None:
    arguments = ("match", "--subscriptions", subscriptions, "--events", "-")
    done = run(*arguments, stdin=jsonl(EVENTS).encode())
    assert [line["matches"] for line in done.lines()] == RESULTS


def test_id_names_events_by_an_attribute_or_a_dotted_path(
    run: Run, subscriptions: str, events: str
) -> None:
    arguments = ("match", "--subscriptions", subscriptions, "--events", events, "--id")
    assert [line["event"] for line in run(*arguments, "price").lines()] == [5, 500, 50]
    assert [line["event"] for line in run(*arguments, "user.name").lines()] == ["u1", None, None]


def test_only_matched_and_count(run: Run, subscriptions: str, events: str) -> None:
    arguments = ("match", "--subscriptions", subscriptions, "--events", events)
    assert [line["event"] for line in run(*arguments, "--only-matched").lines()] == [1, 2]
    totals = {"events": 3, "matched": 2, "matches": 3, "bad": 0}
    assert run(*arguments, "--count").lines() == [totals]
    assert run(*arguments, "--count", "--only-matched").code == 2


def test_nulls_decide_what_not_makes_of_an_absent_attribute(run: Run, tmp_path: Path) -> None:
    (tmp_path / "not.txt").write_text("NOT a = 1\n")
    arguments = ("match", "--subscriptions", "not.txt", "--events", "-", "--nulls")
    assert run(*arguments, "false", stdin=b"{}").lines() == [{"event": 1, "matches": [1]}]
    assert run(*arguments, "sql", stdin=b"{}").lines() == [{"event": 1, "matches": []}]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.jsonl", jsonl([{"id": "x", "expression": "a = 1"}, {"expression": "a > 0"}])),
        ("s.csv", 'id,expression\nx,a = 1\n2,"a > 0"\n'),
        ("s.txt", "x\ta = 1\na > 0\n"),
        ("s.unknown", "x\ta = 1\r\na > 0"),
        ("s.marked", "\ufeffx\ta = 1\na > 0"),
    ],
)
def test_subscriptions_in_every_text_format(run: Run, tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_bytes(text.encode())
    done = run("match", "--subscriptions", name, "--events", "-", stdin=b'{"a": 1}')
    assert (done.code, done.err) == (0, "")
    assert list(map(str, done.lines()[0]["matches"])) == ["x", "2"]


def test_csv_events_are_typed(run: Run, tmp_path: Path) -> None:
    texts = ["price = 5", "price = '5'", "used", "zip = '007'", "zip IS NULL", "u.x = 'a\"b\nc'"]
    (tmp_path / "s.txt").write_text("\n".join(text.replace("\n", " ") for text in texts))
    (tmp_path / "e.csv").write_text(
        ',price,used,zip,u.x\n0,5,TRUE,007,"a""b c"\n1,,false,,\n2,5.0,x,1\n'
    )
    done = run("match", "--subscriptions", "s.txt", "--events", "e.csv")
    assert [line["matches"] for line in done.lines()] == [[1, 3, 4, 6], [5]]
    assert (done.code, done.errors()) == (1, ["boolfilter: e.csv:4: 4 values under 5 columns"])
    done = run("match", "--subscriptions", "s.txt", "--events", "e.csv", "--strings", "price")
    assert done.lines()[0]["matches"] == [2, 3, 4, 6]


def test_rows_of_csv_over_several_lines_go_by_their_first(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("b = 2")
    (tmp_path / "e.csv").write_text('a,b\n"x\ny",2\n\nz,2\n"open,2\n')
    done = run("match", "--subscriptions", "s.txt", "--events", "e.csv")
    assert [line["event"] for line in done.lines()] == [2, 5]
    assert done.errors() == ["boolfilter: e.csv:6: not CSV: unexpected end of data"]


def test_numbers_of_csv_are_those_of_the_language() -> None:
    assert [typed(t) for t in ["0", "-7", "1.5", ".5", "1e3", "+2"]] == [0, -7, 1.5, 0.5, 1000, 2]
    strings = ["00", "1_000", "nan", "inf", "0x1", "1.", "e5", "9" * 5000, "\u0661", " 5"]
    assert [typed(text) for text in strings] == strings


def test_text_events_are_name_value_pairs(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("price = 5\ntitle = 'a \"b\" c'\ntag = 'y'\nused\nn = '5'\n")
    (tmp_path / "e.txt").write_text(
        'price=5 title="a \\"b\\" c" tag=x tag=y used n="5"\n\nprice="5\nprice= tag=y\n'
    )
    done = run("match", "--subscriptions", "s.txt", "--events", "e.txt")
    assert [line["matches"] for line in done.lines()] == [[1, 2, 3, 4, 5], [3]]
    assert done.errors() == ["boolfilter: e.txt:3: name=value is needed at position 1"]


def test_timestamps_are_read_where_they_are_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("day.listed >= DATE '2024-06-01'")
    arguments = ("match", "--subscriptions", "s.txt", "--events", "-", "--timestamps")
    lines = jsonl([{"day": {"listed": ["2024-07-01", "2020-01-01"]}}, {"day": {"listed": "soon"}}])
    done = run(*arguments, "day.listed", stdin=lines.encode())
    assert [line["matches"] for line in done.lines()] == [[1]]
    assert done.errors() == ["boolfilter: <stdin>:2: 'soon' is not an ISO 8601 timestamp"]


BAD_EVENTS = [
    (b"[1]", "a JSON object is needed, not an array"),
    (b"null", "a JSON object is needed, not null"),
    (b'{"a": ', "not JSON: Expecting value at position 7"),
    (b'{"a": "\xff"}', "not UTF-8: byte 0xff at position 8"),
    (b'{"a": ' + b"[" * 100_000, "the JSON is nested too deeply"),
    (b'{"a": ' + b"9" * 10_000 + b"}", "not usable as JSON: "),
]


@pytest.mark.parametrize(("line", "message"), BAD_EVENTS, ids=range(len(BAD_EVENTS)))
def test_bad_events_are_told_with_their_line_and_skipped(
    run: Run, subscriptions: str, line: bytes, message: str
) -> None:
    stdin = b'{"price": 5}\n\n' + line + b'\n{"price": 100}\n'
    arguments = ("match", "--subscriptions", subscriptions, "--events", "-")
    done = run(*arguments, stdin=stdin)
    assert done.code == 1
    assert [result["event"] for result in done.lines()] == [1, 4]
    assert len(done.errors()) == 1
    assert done.err.startswith(f"boolfilter: <stdin>:3: {message}")
    strict = run(*arguments, "--strict", stdin=stdin)
    assert (strict.code, strict.err) == (1, done.err)
    assert [result["event"] for result in strict.lines()] == [1]


def test_lines_that_are_too_long_are_skipped(
    run: Run, subscriptions: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LONGEST_LINE", 1000)
    monkeypatch.setattr(files, "_CHUNK", 300)
    lines = [b'{"price": 5}', b'{"x": "' + b"x" * 5000 + b'"}', b'{"price": 100}']
    arguments = ("match", "--subscriptions", subscriptions, "--events", "-")
    done = run(*arguments, stdin=b"\n".join(lines))
    assert [line["event"] for line in done.lines()] == [1, 3]
    assert done.errors() == ["boolfilter: <stdin>:2: the line is longer than 1,000 bytes"]


@pytest.mark.parametrize("chunk", [1, 2, 7, 1 << 18])
def test_lines_do_not_depend_on_how_they_arrive(
    run: Run, subscriptions: str, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(files, "_CHUNK", chunk)
    stdin = jsonl(EVENTS).replace("\n", "\r\n").encode()
    done = run("match", "--subscriptions", subscriptions, "--events", "-", stdin=stdin)
    assert [line["matches"] for line in done.lines()] == RESULTS


def test_bad_subscriptions_are_told_with_line_and_column_and_left_out(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "s.txt").write_bytes(b"x\ta = \nok\ta = 1\nok\ta = 2\n\xff\n")
    arguments = ("match", "--subscriptions", "s.txt", "--events", "-")
    done = run(*arguments, stdin=b'{"a": 1}')
    assert (done.code, done.lines()) == (1, [{"event": 1, "matches": ["ok"]}])
    places = [error.split(": ")[1] for error in done.errors()]
    assert places == ["s.txt:1:7", "s.txt:3", "s.txt:4"]
    strict = run(*arguments, "--strict", stdin=b'{"a": 1}')
    assert (strict.code, strict.out) == (1, "")


def test_only_the_first_of_many_bad_subscriptions_are_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("a =\n" * 1000)
    done = run("match", "--subscriptions", "s.txt", "--events", "-")
    assert len(done.errors()) == 21
    assert "980 more errors" in done.errors()[-1]


def test_parquet_in_both_places(run: Run, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    texts = ["price < 10", "price = ", "tags CONTAINS 'sale'", "u.x = 1"]
    pq.write_table(pa.table({"id": list("abcd"), "expression": texts}), tmp_path / "s.parquet")
    rows = [{"price": 5, "tags": ["sale"], "u": {"x": None}}, {"price": None, "u": {"x": 1}}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "e.parquet")
    arguments = ("match", "--subscriptions", "s.parquet", "--events", "e.parquet")
    done = run(*arguments)
    assert done.code == 1
    assert done.errors()[0].startswith("boolfilter: s.parquet:2: expected a value")
    assert done.lines() == [{"event": 1, "matches": ["a", "c"]}, {"event": 2, "matches": ["d"]}]
    by_field = run(*arguments, "--id", "u.x").lines()
    assert [line["event"] for line in by_field] == [None, 1]
    by_row = run(*arguments, "--strings", "u.x").lines()  # the way by dicts
    assert [line["matches"] for line in by_row] == [["a", "c"], []]


def test_parquet_without_pyarrow_says_what_to_install(
    run: Run, tmp_path: Path, subscriptions: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "e.parquet").write_bytes(b"PAR1")
    arguments = ("match", "--subscriptions", subscriptions, "--events", "e.parquet")
    assert run(*arguments).code == 2
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = run(*arguments)
    assert (done.code, "boolfilter[arrow]" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x1f\x8b\x08", "it is compressed"),
        (b"\xff\xfe{\0}\0", "it is UTF-16"),
        (b"PAR1....", "it is a Parquet file"),
        (b"\x89BOOLF\r\n...", "it is a saved engine"),
    ],
)
def test_foreign_files_are_recognised(
    run: Run, subscriptions: str, content: bytes, message: str
) -> None:
    done = run("match", "--subscriptions", subscriptions, "--events", "-", stdin=content)
    assert done.code == 2
    assert done.err.startswith(f"boolfilter: <stdin>: {message}")


def test_files_that_cannot_be_read_are_one_line_on_stderr(run: Run, subscriptions: str) -> None:
    for arguments in [
        ("--subscriptions", "missing.txt", "--events", "-"),
        ("--subscriptions", "missing.bf", "--events", "-"),
        ("--subscriptions", subscriptions, "--events", "missing.jsonl"),
        ("--subscriptions", subscriptions, "--events", "."),
        ("--subscriptions", ".", "--events", "-"),
        ("--subscriptions", "-", "--events", "-"),
        ("--subscriptions", subscriptions, "--events", "-", "--format", "parquet"),
        ("--subscriptions", "-", "--subscriptions-format", "saved", "--events", "."),
    ]:
        done = run("match", *arguments)
        assert (done.code, len(done.errors())) == (2, 1), arguments
        assert done.err.startswith("boolfilter: ")


def test_empty_files_are_no_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "empty.csv").write_text("")
    done = run("match", "--subscriptions", "empty.txt", "--events", "empty.csv")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_main_takes_a_list_and_returns_the_code() -> None:
    assert main(["match"]) == 2
