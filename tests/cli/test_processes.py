"""The command as a process: pipes, signals, and output that nobody reads."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

Start = Callable[..., "subprocess.Popen[bytes]"]
MATCH = ("match", "--subscriptions", "alerts.txt", "--events", "-")
SECONDS = 60

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")


def test_a_result_arrives_before_the_input_ends(start: Start, subscriptions: str) -> None:
    with start(*MATCH) as process:
        for price in (500, 600):
            process.stdin.write(b'{"price": %d}\n' % price)
            process.stdin.flush()
            assert process.stdout.readline().endswith(b'"matches": [5]}\n')
        rest, errors = process.communicate(timeout=SECONDS)
    assert (process.returncode, rest, errors) == (0, b"", b"")


def test_a_bad_line_does_not_hold_back_what_came_before(start: Start, subscriptions: str) -> None:
    with start(*MATCH) as process:
        process.stdin.write(b'{"price": 500}\nnonsense\n\n{"pri')
        process.stdin.flush()
        assert process.stdout.readline().startswith(b'{"event": 1')
        assert process.stderr.readline().startswith(b"boolfilter: <stdin>:2: not JSON")
        rest, _ = process.communicate(b'ce": 5}', timeout=SECONDS)
    assert (process.returncode, rest) == (1, b'{"event": 4, "matches": ["alice"]}\n')


def test_a_reader_that_leaves_is_no_reason_to_complain(start: Start, subscriptions: str) -> None:
    with start(*MATCH) as process:
        process.stdin.write(b'{"price": 500}\n')
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        with suppress(BrokenPipeError):
            for _ in range(10_000):
                process.stdin.write(b'{"price": 500}\n')
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.wait(SECONDS)
        assert (process.returncode, process.stderr.read()) == (141, b"")


def test_interrupt_ends_with_130_and_without_a_traceback(start: Start, subscriptions: str) -> None:
    with start(*MATCH) as process:
        process.stdin.write(b'{"price": 500}\n')
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=SECONDS)
    assert (process.returncode, errors) == (130, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line_on_stderr(start: Start, subscriptions: str) -> None:
    with open("/dev/full", "wb") as full, start(*MATCH, stdout=full) as process:
        _, errors = process.communicate(b'{"price": 500}\n', timeout=SECONDS)
    assert (process.returncode, errors) == (2, b"boolfilter: No space left on device\n")


def test_output_in_a_poor_encoding_is_escaped(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.txt").write_text("x\tname = '\u00e9' y", encoding="utf-8")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    with start("check", "s.txt") as process:
        out, errors = process.communicate(timeout=SECONDS)
    assert (process.returncode, errors) == (1, b"boolfilter: s.txt: 1 subscription, 1 error\n")
    assert b"name = '\\xe9' y" in out
