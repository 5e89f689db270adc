"""A cold compile of all kernels, and how soon a warm process has matched its first event.

Both in fresh processes on one core: the first with an empty cache, the others with what it left.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

from benchmarks.measure import ROOT, use_cores
from benchmarks.report import Report

MOST_COLD_SECONDS = 10
MOST_WARM_SECONDS = 1.5

_COMPILE = """
import importlib, pkgutil, time
import numba, numpy
start = time.perf_counter()
import boolfilter.kernels
for module in pkgutil.iter_modules(boolfilter.kernels.__path__):
    if module.name != "noncanonical":  # of a baseline, loaded by nobody else
        importlib.import_module(f"boolfilter.kernels.{module.name}")
print(time.perf_counter() - start)
"""
_MATCH = """
import boolfilter
engine = boolfilter.Engine()
engine.subscribe_many([(1, "price < 10 AND category = 'Toy'"), (2, "price > 5")])
print(engine.match({"price": 7, "category": "Toy"}), flush=True)
"""


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--repeats", type=int, default=5)


def run(options: argparse.Namespace, report: Report) -> None:
    use_cores(1)
    with tempfile.TemporaryDirectory() as cache:
        cold = float(_child(_COMPILE, cache)[0])
        warm_import = statistics.median(
            float(_child(_COMPILE, cache)[0]) for _ in range(options.repeats)
        )
        _child(_MATCH, cache)
        first_match = statistics.median(_child(_MATCH, cache)[1] for _ in range(options.repeats))
    report.add(cold_compile=cold, warm_import_of_kernels=warm_import, warm_first_match=first_match)
    report.note("seconds; the first match counts from the start of Python")
    report.at_most("cold compile of all kernels, seconds", cold, MOST_COLD_SECONDS)
    report.at_most("warm process to its first match, seconds", first_match, MOST_WARM_SECONDS)


def _child(code: str, cache: str) -> tuple[str, float]:
    """The last line that a process writes, and after how many seconds it came."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        seconds = time.perf_counter() - start
        process.stdout.read()
    if process.returncode:
        raise RuntimeError(f"a child failed: {process.returncode}")
    return line, seconds
