"""The command line, installed as ``boolfilter``.

``main`` turns whatever goes wrong into one line on stderr and an exit code:

====  =========================================================================
0     all went well
1     some of the data had errors, which were reported (and skipped)
2     the command could not run: wrong usage, a file that cannot be read, ...
130   interrupted by Ctrl-C
141   the reader of the output has gone (``boolfilter match ... | head``)
====  =========================================================================
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from boolfilter.cli.arguments import parse_arguments
from boolfilter.cli.problems import EXIT_UNUSABLE, CommandError, describe_os_error, say
from boolfilter.errors import BoolFilterError

__all__ = ["main"]

EXIT_INTERRUPTED = 130
EXIT_READER_GONE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; ``argv`` as in ``sys.argv[1:]``."""
    _make_output_safe()
    try:
        options = parse_arguments(argv)
        code: int = options.run(options)
        sys.stdout.flush()  # here, where a reader that has gone is still caught
    except SystemExit as stop:  # argparse has said what there was to say
        return stop.code if isinstance(stop.code, int) else EXIT_UNUSABLE
    except KeyboardInterrupt:
        _abandon_output()
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _abandon_output()
        return EXIT_READER_GONE
    except (CommandError, BoolFilterError) as error:
        return _fail(str(error))
    except OSError as error:
        _abandon_output()
        return _fail(describe_os_error(error))
    except MemoryError:
        return _fail("out of memory")
    return code


def _fail(message: str) -> int:
    say(message)
    return EXIT_UNUSABLE


def _make_output_safe() -> None:
    """Print what the terminal's encoding lacks as escapes; a closed stream swallows its text."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _abandon_output() -> None:
    """Drop what is still buffered: Python would try to write it at exit, and print a traceback."""
    with suppress(OSError, ValueError):
        descriptor = sys.stdout.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)
