"""Files and pipes as lines, and which format they are in."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from boolfilter.cli.problems import CommandError, RecordError
from boolfilter.storage import MAGIC

EVENT_FORMATS = ("jsonl", "csv", "parquet", "text")
SUBSCRIPTION_FORMATS = ("text", "jsonl", "csv", "parquet", "saved")
STDIN = "-"

_FORMAT_OF_ENDING = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv", ".txt": "text",
    ".parquet": "parquet", ".pq": "parquet", ".bf": "saved",
}  # fmt: skip
_FOREIGN = {
    b"\x1f\x8b": "it is compressed: pipe it through zcat",
    b"\x28\xb5\x2f\xfd": "it is compressed: pipe it through zstdcat",
    b"\xff\xfe": "it is UTF-16, and UTF-8 is needed",
    b"\xfe\xff": "it is UTF-16, and UTF-8 is needed",
    b"PAR1": "it is a Parquet file: say --format parquet, and name it instead of piping it",
    MAGIC: "it is a saved engine, which must be named as a file and holds no events",
}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CHUNK = 1 << 18
LONGEST_LINE = 1 << 26


def format_of(path: str, chosen: str | None, default: str) -> str:
    """The chosen format, or that of the file's ending."""
    if chosen is not None:
        return chosen
    ending = os.path.splitext(path)[1].lower()
    return _FORMAT_OF_ENDING.get(ending, default)


def display_name(path: str) -> str:
    return "<stdin>" if path == STDIN else path


def is_saved(path: str) -> bool:
    """Whether the file starts as saved engines do; pipes are not touched."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def do_nothing() -> None:
    pass


class Lines:
    """The lines of a file or pipe as bytes, without their ends; None for one that is too long.

    ``number`` and ``last`` are those of the line given last. ``before_wait`` is called before each
    read, which may have to wait for a pipe: the moment to hand out what there is.
    """

    def __init__(
        self, stream: IO[bytes], name: str, before_wait: Callable[[], None] = do_nothing
    ) -> None:
        self.name = name
        self.number = 0
        self.last: bytes | None = b""
        self._stream = stream
        self._before_wait = before_wait

    def __iter__(self) -> Iterator[bytes | None]:
        for line in self._split():
            self.number += 1
            self.last = line
            yield line

    def _split(self) -> Iterator[bytes | None]:
        pieces: list[bytes] = []
        held = 0
        for chunk in self._chunks():
            first, *others = chunk.split(b"\n")
            if held <= LONGEST_LINE:
                pieces.append(first)
            held += len(first)
            if others:
                yield _line(pieces, held)
                yield from [line.removesuffix(b"\r") for line in others[:-1]]
                pieces, held = [others[-1]], len(others[-1])
        if held:
            yield _line(pieces, held)

    def _chunks(self) -> Iterator[bytes]:
        read: Callable[[int], bytes] = getattr(self._stream, "read1", self._stream.read)
        at_start = True
        while True:
            self._before_wait()
            chunk = read(_CHUNK)
            if not chunk:
                return
            if at_start:
                self._refuse_foreign(chunk)
                chunk = chunk.removeprefix(_BYTE_ORDER_MARK)
                at_start = False
            yield chunk

    def _refuse_foreign(self, chunk: bytes) -> None:
        for start, problem in _FOREIGN.items():
            if chunk.startswith(start):
                raise CommandError(f"{self.name}: {problem}")


@contextmanager
def open_stream(path: str) -> Iterator[IO[bytes]]:
    """A file, or stdin if the path is ``-``."""
    if path != STDIN:
        with open(path, "rb") as file:
            yield file
    elif sys.stdin is None:
        raise CommandError("stdin is closed")
    else:
        yield sys.stdin.buffer


@contextmanager
def open_lines(path: str, before_wait: Callable[[], None] = do_nothing) -> Iterator[Lines]:
    """The lines of a file, or of stdin if the path is ``-``."""
    with open_stream(path) as stream:
        yield Lines(stream, display_name(path), before_wait)


def decoded(line: bytes | None) -> str:
    """A line as text; RecordError if it is none."""
    if line is None:
        raise RecordError(f"the line is longer than {LONGEST_LINE:,} bytes")
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise RecordError(
            f"not UTF-8: byte 0x{line[error.start]:02x} at position {error.start + 1}"
        ) from None


def parquet_batches(path: str, rows: int, columns: list[str] | None = None) -> Iterator[Any]:
    """The record batches of a Parquet file."""
    if path == STDIN:
        raise CommandError("Parquet cannot be read from stdin: name a file")
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise CommandError(
            "Parquet needs pyarrow: pip install 'boolfilter[arrow]', or convert the file to JSONL"
        ) from None
    with open(path, "rb") as file:  # says what is wrong with a path as all commands do
        try:
            opened = pq.ParquetFile(file)
            for name in columns or ():
                if name not in opened.schema_arrow.names:
                    raise CommandError(f"{path}: there is no column {name!r}")
            yield from opened.iter_batches(rows, columns=columns)
        except (pa.ArrowException, OSError) as error:
            raise CommandError(f"{path}: {error}") from None


def _line(pieces: list[bytes], length: int) -> bytes | None:
    return None if length > LONGEST_LINE else b"".join(pieces).removesuffix(b"\r")
