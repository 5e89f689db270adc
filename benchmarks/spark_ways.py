"""Other ways to match subscriptions with events on Spark, as one writes them without an engine.

Spark cannot evaluate an expression that is held in a column, so there is no cross join with
`expr`. What there is instead: expressions as columns of a select, which are compiled to Java; a
cross join with a Python UDF, which compiles the text of each subscription; and a loop over compiled
Python functions in `mapInArrow`, their sources broadcast. Each gives DataFrame(event_id,
subscription_id). The subscriptions are those of P: comparisons of integers that are never absent.
Beside them stand the papers' algorithms, which are compiled as the engine is, one in each worker.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, reduce
from typing import Any, cast

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from boolfilter.arrow import columns_of, encode_batch
from boolfilter.baselines.subscribed import CompiledMatcher, Tables
from boolfilter.matchers import matcher

SCHEMA = "event_id bigint, subscription_id bigint"
_PAIRS = pa.schema([("event_id", pa.int64()), ("subscription_id", pa.int64())])
_A_SELECT = 50  # expressions: the time to compile a select grows with their square

Batches = Iterable[pa.RecordBatch]


def expressions_as_columns(
    events: DataFrame, texts: Sequence[str], of_a_select: int = _A_SELECT
) -> DataFrame:
    """Selects of an array each, with the id of every subscription that is true."""

    def select(first: int) -> DataFrame:
        some = enumerate(texts[first : first + of_a_select], first)
        ids = ", ".join(f"CASE WHEN {text} THEN {number}L END" for number, text in some)
        return events.selectExpr(
            "event_id", f"explode(array_compact(array({ids}))) AS subscription_id"
        )

    return reduce(DataFrame.union, map(select, range(0, len(texts), of_a_select)))


def cross_join(events: DataFrame, texts: Sequence[str]) -> DataFrame:
    """All pairs, and those kept for which a UDF says so."""
    session = events.sparkSession
    attributes = [name for name in events.columns if name != "event_id"]
    arguments = ", ".join(attributes)
    rows = pa.table({"subscription_id": range(len(texts)), "expression": list(map(python, texts))})

    holds = f.udf(
        lambda expression, *values: compiled(f"lambda {arguments}: {expression}")(*values),
        "boolean",
    )
    pairs = events.crossJoin(f.broadcast(session.createDataFrame(rows)))
    return pairs.where(holds("expression", *attributes)).select("event_id", "subscription_id")


def broadcast_loop(events: DataFrame, texts: Sequence[str]) -> DataFrame:
    """Every event through every function, in a worker."""
    sources = [f"lambda event: {_of_a_dict(python(text))}" for text in texts]
    held = events.sparkSession.sparkContext.broadcast(sources)

    def match(batches: Batches) -> Iterator[pa.RecordBatch]:
        functions = list(enumerate(map(compiled, held.value)))
        for batch in batches:
            pairs = [
                (event["event_id"], number)
                for event in batch.to_pylist()
                for number, function in functions
                if function(event)
            ]
            yield as_batch(pairs)

    return events.mapInArrow(match, SCHEMA)


def baseline(events: DataFrame, texts: Sequence[str], name: str) -> DataFrame:
    """A compiled algorithm of the papers (see `boolfilter.matchers`) in each worker, on Arrow."""
    held = events.sparkSession.sparkContext.broadcast(tuple(texts))

    def match(batches: Batches) -> Iterator[pa.RecordBatch]:
        tables = tables_of(name, held.value)
        for batch in batches:
            items = encode_batch(tables.encoder, columns_of(batch.drop_columns(["event_id"])))
            event, ordinals = tables.match(items)
            ids = batch.column("event_id").take(pa.array(event))
            yield pa.record_batch([ids, ordinals.astype("int64")], schema=_PAIRS)

    return events.mapInArrow(match, SCHEMA)


@cache
def tables_of(name: str, texts: tuple[str, ...]) -> Tables:
    """Compiled once in each worker."""
    some = matcher(name)
    some.subscribe_many(enumerate(texts))
    return cast(CompiledMatcher, some).tables()


def as_batch(pairs: Sequence[tuple[int, int]]) -> pa.RecordBatch:
    columns = list(zip(*pairs, strict=True)) or [(), ()]
    return pa.record_batch([pa.array(column, pa.int64()) for column in columns], schema=_PAIRS)


def python(text: str) -> str:
    """A subscription of P as a Python expression.

    >>> python("(a1 < 5 OR a2 = 3) AND a4 > 1")
    '(a1 < 5 or a2 == 3) and a4 > 1'
    """
    return text.replace(" AND ", " and ").replace(" OR ", " or ").replace(" = ", " == ")


@cache
def compiled(source: str) -> Callable[..., Any]:
    """Compiled once in each worker."""
    function: Callable[..., Any] = eval(source)
    return function


def _of_a_dict(expression: str) -> str:
    return re.sub(r"\b(a\d+)\b", r"event['\1']", expression)
