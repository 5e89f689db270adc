"""How things are timed: one core, sides taking turns, medians."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
Run = Callable[[int], Any]


def use_cores(count: int) -> None:
    """Keep this process, and the children it starts, on so many cores."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-count:])


def seconds_of(run: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    run()
    return clock() - start


def micros_per_event(
    sides: Mapping[str, tuple[Run, int]],
    repeats: int = 5,
    seconds: float = 0.4,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """The median time an event of each side, in microseconds.

    A side is called with a number of events to match: as many as it does in about `seconds`, and
    no more than it has. The sides take turns, so that what disturbs the machine disturbs all. For
    what runs in one thread and waits for nothing, ``time.thread_time`` leaves out what others take.
    """
    counts = {}
    for name, (run, most) in sides.items():
        run(1)  # what is made once
        count = 4
        while (taken := seconds_of(lambda: run(count), clock)) < seconds / 8 and count < most:  # noqa: B023
            count = min(most, 4 * count)
        counts[name] = max(1, min(most, int(count * seconds / taken)))
    found: dict[str, list[float]] = {name: [] for name in sides}
    gc.collect()
    for _ in range(repeats):
        for name, (run, _) in sides.items():
            taken = seconds_of(lambda: run(counts[name]), clock)  # noqa: B023
            found[name].append(taken / counts[name] * 1e6)
    return {name: statistics.median(times) for name, times in found.items()}


def seconds_in_turns(sides: Mapping[str, Callable[[], Any]], turns: int) -> dict[str, float]:
    """The median seconds of each side, once it ran to warm up."""
    for run in sides.values():
        run()
    found: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(turns):
        for name, run in sides.items():
            found[name].append(seconds_of(run))
    return {name: statistics.median(seconds) for name, seconds in found.items()}


def resident_bytes() -> int:
    """What of this process is in memory, after everything that is free was given back."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def in_child(module: str, function: str, **arguments: Any) -> Any:
    """The result of a function of a benchmark module, called in a fresh process."""
    code = (
        f"import json, sys; from benchmarks.{module} import {function} as run;"
        "print(json.dumps(run(**json.loads(sys.argv[1]))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(arguments)],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])
