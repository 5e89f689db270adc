"""The other commands: check, explain, build, stats, bench, and what all share."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

BAD = """\
alice\tprice < 10
bob\tprice < 10 AND brand = "Acme"
alice\tprice > 1

price <
"""


@pytest.mark.parametrize("command", ["match", "check", "explain", "build", "stats", "bench"])
def test_help_has_an_example(run: Run, command: str) -> None:
    done = run(command, "--help")
    assert (done.code, done.err) == (0, "")
    assert f"\n  boolfilter {command} " in done.out


def test_usage_errors_are_one_line_and_code_2(run: Run) -> None:
    for arguments in [("nonsense",), ("check",), ("bench", "--events", "0"), ("match", "--even")]:
        done = run(*arguments)
        assert (done.code, done.out, len(done.errors())) == (2, "", 1)
        assert done.err.startswith("boolfilter: ")


def test_without_a_command_there_is_help_on_stderr(run: Run) -> None:
    done = run()
    assert (done.code, done.out) == (2, "")
    assert "commands:" in done.err


def test_version(run: Run) -> None:
    done = run("--version")
    assert done.code == 0
    assert done.out.startswith("boolfilter ")


def test_check_shows_all_errors_with_place_excerpt_and_hint(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text(BAD)
    done = run("check", "bad.txt")
    assert done.code == 1
    assert (
        done.out
        == """\
bad.txt:2:28: expected a value, found '"Acme"'
  price < 10 AND brand = "Acme"
                         ^
  hint: a string takes single quotes: 'Acme'; double quotes are for attribute names
bad.txt:3: the id 'alice' is in use since line 1
bad.txt:5:8: expected a value, found the end of the text
  price <
         ^
"""
    )
    assert done.err == "boolfilter: bad.txt: 4 subscriptions, 3 errors\n"


def test_check_as_json(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text(BAD)
    done = run("check", "bad.txt", "--json")
    report = json.loads(done.out)
    assert (report["file"], report["subscriptions"]) == ("bad.txt", 4)
    found = [(error["line"], error["column"], error["id"]) for error in report["errors"]]
    assert found == [(2, 28, "bob"), (3, None, "alice"), (5, 8, 5)]


def test_check_finds_the_column_in_jsonl_and_csv_where_nothing_is_escaped(
    run: Run, tmp_path: Path
) -> None:
    records = [{"expression": "a = "}, {"expression": 'a = "b"'}, {"id": 1}, {"expression": 5}]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    lines = run("check", "s.jsonl").out.splitlines()
    places = [line.split(": ")[0] for line in lines if line.startswith("s.jsonl")]
    assert places == ["s.jsonl:1:21", "s.jsonl:2", "s.jsonl:3", "s.jsonl:4"]
    assert "column 5 of the expression" in lines[3]
    (tmp_path / "s.csv").write_text('id,expression\nx,a = \ny,"a = ""b"""\nz\n')
    places = [line.split(": ")[0] for line in run("check", "s.csv").out.splitlines()]
    assert [place for place in places if place.startswith("s.csv")] == [
        "s.csv:2:7", "s.csv:3", "s.csv:4"
    ]  # fmt: skip


def test_check_without_errors(run: Run, subscriptions: str) -> None:
    done = run("check", subscriptions)
    assert (done.code, done.out) == (0, "")
    assert done.err == "boolfilter: alerts.txt: 3 subscriptions, 0 errors\n"


def test_check_survives_anything(run: Run) -> None:
    hostile = [
        b"\xff\xfe\x00", b"\x00\n\x01\t\x02", b"(" * 100_000, b"NOT " * 100_000, b"a MATCHES '('",
        b"a = " + b"9" * 10_000, b"'" * 9_999, b"\t\t\t", b"a" * 1_000_000,
    ]  # fmt: skip
    for format in ("text", "jsonl", "csv"):
        for stdin in (*hostile, b"id,expression\n" + b"\n".join(hostile)):
            done = run("check", "-", "--format", format, stdin=stdin)
            assert done.code in (0, 1, 2)


def test_explain_tells_which_parts_decided(run: Run, subscriptions: str) -> None:
    arguments = ("explain", "--subscriptions", subscriptions, "--id", "alice", "--event")
    done = run(*arguments, '{"price": 5, "category": "Toy", "brand": "Acme"}')
    assert done.code == 0
    assert done.out.startswith("alice: match\n* true    AND\n")
    assert run(*arguments, "{}").out.startswith("alice: no match\n")


def test_explain_takes_line_numbers_files_and_gives_json(
    run: Run, subscriptions: str, tmp_path: Path
) -> None:
    (tmp_path / "event.json").write_text('{\n"price": 500\n}')
    arguments = ("explain", "--subscriptions", subscriptions, "--id", "5", "--json", "--event")
    expected = {"id": 5, "matches": True}
    assert expected.items() <= json.loads(run(*arguments, "@event.json").out).items()
    assert json.loads(run(*arguments, "@-", stdin=b"{}").out)["matches"] is False


def test_explain_of_what_is_not_there(run: Run, subscriptions: str, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("x\ta =")
    for file, id, event in [
        (subscriptions, "carol", "{}"),
        (subscriptions, "alice", "[]"),
        (subscriptions, "alice", "{"),
        (subscriptions, "alice", "@missing"),
        ("bad.txt", "x", "{}"),
    ]:
        done = run("explain", "--subscriptions", file, "--id", id, "--event", event)
        assert (done.code, done.out, len(done.errors())) == (2, "", 1)


def test_deep_explanations_are_refused_as_json_only(run: Run, tmp_path: Path) -> None:
    deep = "a = 1"
    for level in range(900):
        deep = f"({deep}) {'AND' if level % 2 else 'OR'} b{level} = 1"
    (tmp_path / "deep.txt").write_text(f"x\t{deep}")
    arguments = ("explain", "--subscriptions", "deep.txt", "--id", "x", "--event", "{}")
    assert run(*arguments).code == 0
    assert run(*arguments, "--json").code in (0, 2)


def test_a_built_file_answers_as_its_source(run: Run, subscriptions: str) -> None:
    built = run("build", subscriptions, "-o", "alerts.bf")
    assert (built.code, built.out) == (0, "")
    assert built.err.startswith("boolfilter: alerts.bf: 3 subscriptions, ")
    stdin = b'{"price": 5, "tags": ["sale"]}\n{"price": 500}'
    for command in (
        ("match", "--events", "-", "--subscriptions"),
        ("explain", "--id", "5", "--event", '{"price": 500}', "--subscriptions"),
    ):
        from_text, from_built = (
            run(*command, file, stdin=stdin) for file in (subscriptions, "alerts.bf")
        )
        assert from_built.out
        assert from_built == from_text
    assert run("check", "alerts.bf").code == 0


def test_a_built_file_is_known_by_its_content(run: Run, subscriptions: str) -> None:
    run("build", subscriptions, "-o", "alerts.data", "--nulls", "sql")
    assert run("stats", "alerts.data").code == 0
    done = run("match", "--subscriptions", "alerts.data", "--events", "-", "--nulls", "false")
    assert (done.code, done.err) == (
        2, "boolfilter: alerts.data was built with --nulls sql, not false\n"
    )  # fmt: skip


def test_damaged_built_files_are_refused(run: Run, subscriptions: str, tmp_path: Path) -> None:
    run("build", subscriptions, "-o", "alerts.bf")
    content = (tmp_path / "alerts.bf").read_bytes()
    for damaged in (content[:-1], content[:7], b"", content[:-9] + b"x" + content[-8:]):
        (tmp_path / "damaged.bf").write_bytes(damaged)
        for command in (("stats",), ("check",), ("match", "--events", "-", "--subscriptions")):
            done = run(*command, "damaged.bf")
            assert (done.code, done.out, len(done.errors())) == (2, "", 1)


def test_build_leaves_bad_ones_out_or_is_strict(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text(BAD)
    done = run("build", "bad.txt", "-o", "strict.bf", "--strict")
    assert (done.code, (tmp_path / "strict.bf").exists()) == (1, False)
    done = run("build", "bad.txt", "-o", "good.bf")
    assert (done.code, "good.bf: 1 subscription" in done.err) == (1, True)
    assert run("build", "bad.txt", "-o", ".").code == 2
    assert run("build", "bad.txt", "-o", "missing/x.bf").code == 2


def test_stats_as_text_and_as_json(run: Run, subscriptions: str) -> None:
    assert "subscriptions" in run("stats", subscriptions).out
    assert json.loads(run("stats", subscriptions, "--json").out)["subscriptions"] == 3


def test_bench_measures(run: Run) -> None:
    arguments = ("bench", "--subscriptions", "200", "--events", "20", "--workload", "lesubscribe")
    assert "match p99 micros" in run(*arguments).out
    measured = json.loads(run(*arguments, "--json").out)
    assert measured["match_events_per_second"] > 0
    assert measured["match_p50_micros"] <= measured["match_max_micros"]
