"""Ctrl-C while the command line is still being imported: its script imports the package before it calls `main`."""

import os
import sys
from pathlib import Path
from types import TracebackType

INTERRUPTED = 130


def _ended(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Report an exception that nobody handled; end as `main` does if it was Ctrl-C."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
        return
    print("interrupted", file=sys.stderr, flush=True)
    os._exit(INTERRUPTED)


if Path(*sys.argv[:1]).name == "headrace":  # Programs that import the package decide for themselves.
    sys.excepthook = _ended
