"""DuckDB as the referee of nulls="sql": the same text, run as a WHERE, picks the same rows.

The texts are written without regard to precedence: parentheses stand anywhere or nowhere, so the
two parsers must agree on what binds tighter too. What is kept out of them, and why:

- Constants are of the kind of their column, and the constants of one IN list or BETWEEN of one
  kind: DuckDB would cast (``'1' = 1``) or refuse where we say that kinds never mix.
- DuckDB compares integers with doubles as doubles. So the integer column, which goes past 2**53,
  meets integers and short decimals (exact there too), and the double column no integer past 2**53.
- There is no NaN: to us it is absent, to DuckDB a number above all others.
- ILIKE: DuckDB lowers character by character, Python's str.lower knows a few letters that depend
  on their neighbours or become two (final sigma, dotted I). The alphabet has none of these, and
  the escape character is no letter, which DuckDB would lower with the pattern.
- Timestamp literals have no offset: DuckDB's TIMESTAMP has no time zone.
- XOR is no SQL operator. Between booleans ``<>`` is the same in three-valued logic, which gives
  it a test of its own, with parentheses.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boolfilter as bf

COLUMNS = {
    "i": "BIGINT",
    "d": "DOUBLE",
    "s": "VARCHAR",
    "b": "BOOLEAN",
    "t": "TIMESTAMP",
    "two words": "BIGINT",
}
BIG = 2**53
INTEGERS = [-3, 0, 1, 2, 3, 4, 5, BIG, BIG + 1, BIG + 2, -BIG - 1, 2**63 - 1]
DOUBLES = [-2.5, -0.0, 0.0, 0.1, 1.0, 1.5, 2.0, 1000.0, 1e-7, 1e300, float("inf")]
CHARACTERS = "aAbBéÉ%_!\\'x 😀\n"
EPOCH = datetime(2024, 2, 28)
MOMENTS = [EPOCH + timedelta(hours=12 * n) for n in range(6)] + [EPOCH + timedelta(microseconds=1)]
ROWS = 150

quick = settings(max_examples=400, derandomize=True, database=None, deadline=None)


# -- rows -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    chance = random.Random(2024)
    return [random_row(chance) for _ in range(ROWS)]


def random_row(chance: random.Random) -> dict[str, Any]:
    row = {
        "i": chance.choice(INTEGERS),
        "d": chance.choice(DOUBLES),
        "s": "".join(chance.choices(CHARACTERS, k=chance.choice([0, 1, 1, 2, 2, 3, 4]))),
        "b": chance.random() < 0.5,
        "t": chance.choice(MOMENTS),
        "two words": chance.randrange(3),
    }
    row = {name: None if chance.random() < 0.25 else value for name, value in row.items()}
    # A nested event is a STRUCT column: the dotted name means the same in both.
    row["u"] = {"n": chance.choice([None, 1, 2, 3]), "s": chance.choice([None, "a", "AB"])}
    return row


@pytest.fixture(scope="module")
def table(rows: list[dict[str, Any]]) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        columns = ", ".join(f'"{name}" {kind}' for name, kind in COLUMNS.items())
        connection.execute(
            f"CREATE TABLE events (number INTEGER, {columns}, u STRUCT(n BIGINT, s VARCHAR))"
        )
        connection.executemany(
            f"INSERT INTO events VALUES ({', '.join('?' * (len(COLUMNS) + 2))})",
            [[number, *row.values()] for number, row in enumerate(rows)],
        )
        yield connection


def picked_by_duckdb(table: duckdb.DuckDBPyConnection, condition: str) -> set[int]:
    found = table.execute(f"SELECT number FROM events WHERE {condition}").fetchall()
    return {number for (number,) in found}


def picked_by_us(expression: bf.Expression, rows: list[dict[str, Any]]) -> set[int]:
    return {number for number, row in enumerate(rows) if bf.evaluate(expression, row, nulls="sql")}


# -- texts ------------------------------------------------------------------------------------


def one_of(*words: str) -> st.SearchStrategy[str]:
    return st.sampled_from(words)


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def in_any_case(word: str) -> st.SearchStrategy[str]:
    return one_of(word, word.lower(), word.capitalize())


integers = st.sampled_from(INTEGERS).map(str)
small_integers = st.integers(-1, 4).map(str)
decimals = one_of("2.5", "0.0", "1.50", "-.5", "4.")
doubles = one_of("0.1", "1.5", "1e3", "1.0E-7", "-25e-1", "+2", "0", "1", "-3")
strings = st.text(CHARACTERS, max_size=3).map(quoted)
booleans = one_of("TRUE", "FALSE", "true", "False")
moments = st.sampled_from(MOMENTS).flatmap(
    lambda moment: one_of(
        f"TIMESTAMP '{moment}'",
        f"timestamp '{moment.isoformat()}'",
        f"DATE '{moment.date()}'",
    )
)
CONSTANTS_OF = {
    "i": st.one_of(integers, decimals),
    '"i"': integers,
    "d": doubles,
    "s": strings,
    "b": booleans,
    "t": moments,
    '"two words"': small_integers,
    "u.n": small_integers,
    "u.s": strings,
}
comparisons = one_of("=", "==", "<>", "!=", "<", "<=", ">", ">=")
negation = st.one_of(st.just(""), in_any_case("NOT").map(lambda word: word + " "))


@st.composite
def likes(draw: st.DrawFn) -> str:
    name, sign = draw(one_of("s", "u.s")), draw(negation)
    word = draw(one_of("LIKE", "like", "ILIKE", "ilike"))
    escape = draw(st.sampled_from([None, "!", "\\", "%", "_", "'"]))
    # A pattern that ends with its escape character is an error to both of us; so each escape
    # character comes with the one that it quotes.
    atoms = [c for c in CHARACTERS + "%%__" if c != escape]
    if escape is not None:
        atoms += [escape + c for c in ("%", "_", escape, "a")]
    pattern = "".join(draw(st.lists(st.sampled_from(atoms), max_size=4)))
    suffix = "" if escape is None else f" ESCAPE {quoted(escape)}"
    return f"{name} {sign}{word} {quoted(pattern)}{suffix}"


@st.composite
def constant_tests(draw: st.DrawFn) -> str:
    name, constants = draw(st.sampled_from(list(CONSTANTS_OF.items())))
    form = draw(one_of("compare", "compare", "in", "between"))
    if form == "compare":
        return f"{name} {draw(comparisons)} {draw(constants)}"
    sign = draw(negation)
    if form == "in":
        listed = ", ".join(draw(st.lists(constants, min_size=1, max_size=4)))
        return f"{name} {sign}{draw(in_any_case('IN'))} ({listed})"
    return f"{name} {sign}BETWEEN {draw(constants)} AND {draw(constants)}"


def null_tests() -> st.SearchStrategy[str]:
    names = st.sampled_from(list(CONSTANTS_OF))
    return st.tuples(names, one_of("IS NULL", "IS NOT NULL", "is not null")).map(" ".join)


leaves = st.one_of(
    constant_tests(), constant_tests(), likes(), null_tests(), one_of("b", "TRUE", "FALSE")
)
joiners = one_of("AND", "OR", "and", "or", "AND -- both\n", "OR -- either\n")


@st.composite
def conditions(draw: st.DrawFn, nesting: int = 2) -> str:
    pieces = []
    for _ in range(draw(st.integers(1, 4))):
        prefix = draw(one_of("", "", "", "NOT ", "not Not "))
        if nesting and draw(one_of("leaf", "leaf", "group")) == "group":
            pieces.append(f"{prefix}({draw(conditions(nesting - 1))})")
        else:
            pieces.append(prefix + draw(leaves))
        pieces.append(draw(joiners))
    return " ".join(pieces[:-1])


# -- the comparison ---------------------------------------------------------------------------


@quick
@given(condition=leaves)
def test_single_predicates_pick_the_rows_that_duckdb_picks(
    condition: str, table: duckdb.DuckDBPyConnection, rows: list[dict[str, Any]]
) -> None:
    assert picked_by_us(bf.parse(condition), rows) == picked_by_duckdb(table, condition)


@quick
@given(condition=conditions())
def test_texts_pick_the_rows_that_duckdb_picks(
    condition: str, table: duckdb.DuckDBPyConnection, rows: list[dict[str, Any]]
) -> None:
    expression = bf.parse(condition)
    expected = picked_by_duckdb(table, condition)
    assert picked_by_us(expression, rows) == expected
    assert picked_by_us(bf.normalise(expression, nulls="sql"), rows) == expected


@quick
@given(condition=conditions())
def test_printed_expressions_pick_the_rows_that_duckdb_picks(
    condition: str, table: duckdb.DuckDBPyConnection, rows: list[dict[str, Any]]
) -> None:
    printed = str(bf.parse(condition))
    assert picked_by_us(bf.parse(condition), rows) == picked_by_duckdb(table, printed)


@settings(quick, max_examples=100)
@given(operands=st.lists(conditions(1), min_size=2, max_size=4), negated=st.booleans())
def test_xor_is_inequality_of_booleans(
    operands: list[str],
    negated: bool,
    table: duckdb.DuckDBPyConnection,
    rows: list[dict[str, Any]],
) -> None:
    ours = " XOR ".join(f"({operand})" for operand in operands)
    theirs = f"({operands[0]})"
    for operand in operands[1:]:
        theirs = f"({theirs} <> ({operand}))"
    if negated:
        ours, theirs = f"NOT ({ours})", f"NOT {theirs}"
    expression = bf.parse(ours)
    expected = picked_by_duckdb(table, theirs)
    assert picked_by_us(expression, rows) == expected
    assert picked_by_us(bf.normalise(expression, nulls="sql"), rows) == expected


def test_the_rows_tell_conditions_apart(
    table: duckdb.DuckDBPyConnection, rows: list[dict[str, Any]]
) -> None:
    for name in [*COLUMNS, "u.n", "u.s"]:
        column = name if "." in name else f'"{name}"'
        assert 0 < len(picked_by_duckdb(table, f"{column} IS NULL")) < len(rows)
    assert picked_by_duckdb(table, f"i = {BIG + 1}") != picked_by_duckdb(table, f"i = {BIG}")
