"""The command line run in this process and in one of its own."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from boolfilter.cli import main

CHECKOUT = Path(__file__).parents[2]
SUBSCRIPTIONS = """\
# saved searches
alice\tprice < 10 AND (category = 'Toy' OR NOT brand IN ('Acme', 'Bolt'))

-- and one without an id
price >= 100
bob\ttags CONTAINS 'sale'
"""


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]

    def errors(self) -> list[str]:
        return self.err.splitlines()


Run = Callable[..., Outcome]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command in ``tmp_path``; ``stdin`` is what it can read."""
    monkeypatch.chdir(tmp_path)

    def run_main(*arguments: str, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(arguments)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Outcome(code, captured.out, captured.err)

    return run_main


@pytest.fixture
def subscriptions(tmp_path: Path) -> str:
    (tmp_path / "alerts.txt").write_text(SUBSCRIPTIONS)
    return "alerts.txt"


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., subprocess.Popen[bytes]]:
    """Start a command as a process of its own, with pipes."""

    def start_process(*arguments: str, **settings: Any) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        settings = {"stdin": pipe, "stdout": pipe, "stderr": pipe} | settings
        return subprocess.Popen(
            [sys.executable, "-m", "boolfilter.cli", *arguments],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
            preexec_fn=_listen_to_interrupts,
            **settings,
        )

    return start_process


def _listen_to_interrupts() -> None:
    """What a shell starts in the background ignores SIGINT, and so would its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
