"""The command line: `headrace run|check|schema|devices|trace|validate|…`, one file a group of commands."""

import codecs
import errno
import io
import shlex
import sys
from contextlib import suppress
from typing import Annotated

import typer

from headrace import reports
from headrace._core import __version__
from headrace.cli import (
    decisions,
    devices,
    explore,
    logs,
    measurements,
    scenarios,
    solve,
    starting,
    studies,
    sweeps,
    traces,
)
from headrace.cli.commands import Commands
from headrace.cli.options import INTERRUPTED, MISTAKE

app = Commands(
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="""Simulate and solve storage systems described in one file.

    Exit codes: 0 success; 1 a claim of a study fails or is undecided; 2 invalid input; 3 a limit ended the run early;
    130 interrupted. After 3 and 130, partial results are printed and marked.""",
)
for command in (starting.init, scenarios.run, solve.solve, scenarios.check, scenarios.schema, devices.devices):
    app.command()(command)
app.command()(devices.validate)
app.command()(measurements.measure)
app.command()(explore.explore)
app.add_typer(studies.commands, name="study")
devices.imports.command("fio")(measurements.import_fio)
devices.calibrate.command("scenario")(measurements.calibrate)
app.add_typer(devices.calibrate, name="calibrate")
app.add_typer(devices.imports, name="import")
app.add_typer(traces.commands, name="trace")
app.add_typer(logs.commands, name="logs")
app.add_typer(sweeps.commands)
app.add_typer(decisions.commands)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"headrace {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


# What a terminal without Unicode shows instead; all else that it lacks is a question mark.
IN_ASCII = str.maketrans({"×": "x", "±": "+/-", "█": "#", "—": "-", "–": "-", "…": "...", "²": "^2", "µ": "u"})


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end].translate(IN_ASCII)
    return text.encode("ascii", "replace").decode(), error.end


def _print_anywhere() -> None:
    """Replace characters that a terminal lacks, so that none of them ends the command."""
    codecs.register_error("headrace", _in_ascii)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="headrace")


def main() -> None:
    """Run the command line."""
    try:
        _print_anywhere()
        reports.asked_by(shlex.join(["headrace", *sys.argv[1:]]))
        app()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(0) from None
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        print("error: cannot write the output: no space left on its device", file=sys.stderr)
        with suppress(OSError):
            sys.stdout.close()
        raise SystemExit(MISTAKE) from None
