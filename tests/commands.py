"""Runs commands of `headrace` one by one, each in a fork of this process, which has imported all that they use.

A line of the input is a command: its arguments, its folder, its environment, and the files that get its output and its
errors. A line of the output is its exit code. Imports are half a second of work, which a command need not repeat.
"""

import contextlib
import gc
import importlib
import io
import json
import multiprocessing
import os
import pkgutil
import sys

import headrace.cli

# Seconds that only a command that hangs takes.
BROKEN = 600

# What functions import.
LATE = ("duckdb", "scipy.stats")
# What has libraries of its own, which few commands need.
RARE = ("headrace.explore", "headrace.studies", "headrace.view.explore")


def prepare() -> None:
    """Import what commands import, but for Polars: a fork would wait for the threads that it starts."""
    sys.modules["polars"] = None  # type: ignore[assignment]
    of_headrace = (module.name for module in pkgutil.walk_packages(headrace.__path__, "headrace."))
    for name in (*LATE, *of_headrace):
        if not name.startswith(RARE):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        headrace.cli.app(["schema"])  # So that its parser has imported what it needs.
    del sys.modules["polars"]
    gc.freeze()  # A fork copies the pages that it writes to, so its collector must leave these alone.


def run(arguments: list[str], folder: str, environment: dict[str, str], output: str, errors: str) -> None:
    """Run a command as if a user had started it in a folder."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["headrace", *arguments]
    for standard, file in ((1, output), (2, errors)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), standard)
    headrace.cli.main()


if __name__ == "__main__":
    prepare()
    for line in sys.stdin:
        process = multiprocessing.get_context("fork").Process(target=run, args=json.loads(line))
        process.start()
        process.join(BROKEN)
        process.kill()
        process.join()
        print(process.exitcode, flush=True)
