"""A line on stderr that says how far a long run is, if someone is there to read it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

_SECONDS_BETWEEN = 0.2
_ERASE_LINE = "\r\x1b[K"


class Progress:
    """Prints ``what``, a count and a rate, over and over on one line; erased when it is done."""

    def __init__(self, what: str, *, shown: bool) -> None:
        self._what = what
        self._shown = shown
        self._started = self._last = time.monotonic()

    def __call__(self, done: int, total: int | None = None) -> None:
        now = time.monotonic()
        if not self._shown or now - self._last < _SECONDS_BETWEEN:
            return
        self._last = now
        share = f" of {total:,}" if total is not None else ""
        rate = done / (now - self._started)
        sys.stderr.write(f"{_ERASE_LINE}{self._what}: {done:,}{share} ({rate:,.0f}/s)")
        sys.stderr.flush()

    def erase(self) -> None:
        if self._shown:
            sys.stderr.write(_ERASE_LINE)
            sys.stderr.flush()


@contextmanager
def progress(what: str, *, wanted: bool = True) -> Iterator[Progress]:
    """A progress line, on a terminal only."""
    line = Progress(what, shown=wanted and sys.stderr.isatty())
    try:
        yield line
    finally:
        line.erase()
