"""Matching while subscriptions come and go, against matching alone.

One thread subscribes a text, unsubscribes the oldest, and matches ten dicts, again and again; the
engine merges in its background thread. The rate is matches over all the time taken, so it pays for
the subscriptions and for merges too, and the mix goes on until the largest segment was merged. It
is compared with matching alone on an engine at rest, all in one segment, before and after.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import deque
from collections.abc import Iterator
from itertools import count, cycle
from typing import Any

import numpy as np

import boolfilter as bf
from benchmarks.engines import engine_of_workload
from benchmarks.measure import use_cores
from benchmarks.report import Report
from boolfilter.workloads import Pairs

LEAST_SHARE = 0.6
LONGEST_PAUSE_MILLIS = 200
_MATCHES = 10
_BATCH = 5_000


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--subscriptions", type=int, default=1_000_000)
    command.add_argument("--seconds", type=float, default=60.0, help="of the mix, at least")
    command.add_argument("--alone", type=float, default=3.0, help="seconds of each stretch alone")
    command.add_argument("--cores", type=int, default=1)


def run(options: argparse.Namespace, report: Report) -> None:
    use_cores(options.cores)
    workload = Pairs()
    events = cycle(workload.events(0, 4096, options.seed))
    engine = engine_of_workload(workload, options.subscriptions, options.seed)
    texts = _texts(workload, options.subscriptions, options.seed)
    engine.match(next(events))
    before = _alone(engine, events, options.alone)
    mixed = _mixed(engine, events, texts, options)
    layers = len(engine._snapshot.layers)
    engine.optimise()  # waits for a merge under way: it would slow down the matching alone
    after = _alone(engine, events, options.alone)
    alone = statistics.mean((before, after))
    latencies = np.array(mixed["match_micros"])
    share = mixed["rate"] / alone
    report.add(
        subscriptions=options.subscriptions,
        cores=options.cores,
        alone_before=before,
        alone_after=after,
        mixed=mixed["rate"],
        share=share,
        match_median_micros=float(np.median(latencies)),
        match_99_micros=float(np.percentile(latencies, 99)),
        match_longest_millis=float(latencies.max()) / 1e3,
        subscribe_micros=float(np.mean(mixed["subscribe_micros"])),
        subscribe_longest_millis=float(max(mixed["subscribe_micros"])) / 1e3,
        unsubscribe_micros=float(np.mean(mixed["unsubscribe_micros"])),
        subscribed=len(mixed["subscribe_micros"]),
        largest_segments_replaced=mixed["replaced"],
        layers=layers,
    )
    report.note("rates in matches a second")
    report.at_least("share of the rate of matching alone", share, LEAST_SHARE)
    report.at_most(
        "longest match, milliseconds", float(latencies.max()) / 1e3, LONGEST_PAUSE_MILLIS
    )


def _texts(workload: Pairs, first: int, seed: int) -> Iterator[tuple[int, str]]:
    for start in count(first, _BATCH):
        yield from enumerate(workload.texts(start, start + _BATCH, seed), start)


def _alone(engine: bf.Engine, events: Iterator[dict[str, Any]], seconds: float) -> float:
    matched = 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        for _ in range(_MATCHES):
            engine.match(next(events))
        matched += _MATCHES
    return matched / (time.perf_counter() - start)


def _mixed(
    engine: bf.Engine,
    events: Iterator[dict[str, Any]],
    texts: Iterator[tuple[int, str]],
    options: argparse.Namespace,
) -> dict[str, Any]:
    oldest = count()
    ready: deque[tuple[int, str]] = deque()
    subscribed, unsubscribed, matched = [], [], []
    largest = engine._snapshot.layers[0].segment
    replaced = 0
    spent = 0.0
    clock = time.perf_counter
    while spent < options.seconds or (not replaced and spent < 3 * options.seconds):
        if not ready:  # texts are made outside the time that counts
            ready.extend(next(texts) for _ in range(_BATCH))
        begin = clock()
        engine.subscribe(*ready.popleft())
        middle = clock()
        engine.unsubscribe(next(oldest))
        end = clock()
        subscribed.append((middle - begin) * 1e6)
        unsubscribed.append((end - middle) * 1e6)
        for _ in range(_MATCHES):
            start = end
            engine.match(next(events))
            end = clock()
            matched.append((end - start) * 1e6)
        spent += end - begin
        if engine._snapshot.layers[0].segment is not largest:
            largest = engine._snapshot.layers[0].segment
            replaced += 1
    return {
        "rate": len(matched) / spent,
        "match_micros": matched,
        "subscribe_micros": subscribed,
        "unsubscribe_micros": unsubscribed,
        "replaced": replaced,
    }
