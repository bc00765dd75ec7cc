"""The command line: `headrace run|check|schema|devices|trace|validate|…`, one file a group of commands."""

import codecs
import errno
import io
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated

import typer

from headrace._core import __version__
from headrace.cli import (
    decisions,
    devices,
    durability,
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

# Every command by its words. A new one is a function in a file of this folder, and a line here.
COMMANDS: dict[str, Callable[..., None]] = {
    "init": starting.init,
    "run": scenarios.run,
    "solve": solve.solve,
    "durability": durability.durability,
    "check": scenarios.check,
    "schema": scenarios.schema,
    "devices": devices.devices,
    "validate": devices.validate,
    "measure": measurements.measure,
    "explore": explore.explore,
    "study list": studies.study_list,
    "study run": studies.study_run,
    "calibrate disk": devices.calibrate_disk,
    "calibrate scenario": measurements.calibrate,
    "import disksim": devices.import_disksim,
    "import fio": measurements.import_fio,
    "import dlio": measurements.import_dlio,
    "import darshan": measurements.import_darshan,
    "import elbencho": measurements.import_elbencho,
    "import iostat": measurements.import_iostat,
    "trace info": traces.trace_info,
    "trace convert": traces.trace_convert,
    "logs analyse": logs.analyse,
    "logs convert": logs.convert,
    "logs synthesise": logs.synthesise,
    "sweep": sweeps.sweep_command,
    "results": sweeps.results_command,
    "report": sweeps.report_command,
    "compare": decisions.compare_command,
    "capacity": decisions.capacity_command,
    "optimise": decisions.optimise_command,
    "sensitivity": decisions.sensitivity_command,
}
GROUPS = {
    "study": "Published systems, claim by claim.",
    "calibrate": "Fit devices and scenarios to measurements.",
    "import": "Import devices, measurements, traces and scenarios from files of other programs.",
    "trace": "Summarise and convert traces of requests.",
    "logs": "Analyse, convert and synthesise the logs of archives.",
}

app = Commands(
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="""Simulate and solve storage systems described in one file.

    Exit codes: 0 success; 1 a claim of a study fails or is undecided; 2 invalid input; 3 a limit ended the run early;
    4 an objective is not met; 5 the system is saturated, so times grow with the length of the run;
    130 interrupted. After 3 and 130, partial results are printed and marked.""",
)
groups = {name: Commands(no_args_is_help=True, help=about) for name, about in GROUPS.items()}
for name, group in groups.items():
    app.add_typer(group, name=name)
for words, command in COMMANDS.items():
    *within, last = words.split()
    groups.get(" ".join(within), app).command(last)(command)


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


def _end_at_once() -> None:
    """Let the next signal end the program at once, without a trace of where it was."""
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, signal.SIG_DFL)


def main() -> None:
    """Run the command line. A scheduler that ends it (SIGTERM) gets what Ctrl-C gets: the answer so far."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        _print_anywhere()
        app()
    except KeyboardInterrupt:
        # One more ends the program at once, without a trace of where it was.
        _end_at_once()
        print("interrupted", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(0) from None
    except MemoryError:
        print("error: out of memory; raise `ulimit -v`, or simulate less at once", file=sys.stderr)
        raise SystemExit(MISTAKE) from None
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        print("error: cannot write the output: no space left on its device", file=sys.stderr)
        with suppress(OSError):
            sys.stdout.close()
        raise SystemExit(MISTAKE) from None
    finally:
        # Python itself takes a moment to end.
        _end_at_once()
