"""Common parts of all commands: options, exit codes, and error messages."""

import json
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from headrace import address_space
from headrace._core import ScenarioError
from headrace.errors import printable
from headrace.files import NotKept
from headrace.report import Report

File = Annotated[Path, typer.Argument(help="Scenario (YAML).", show_default=False)]
ScenarioOrExperiment = Annotated[Path, typer.Argument(help="Scenario or experiment (YAML).", show_default=False)]
AnyDocument = Annotated[Path, typer.Argument(help="Scenario, experiment or device (YAML).", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON; docs/results.md lists its fields.")]


def _page(file: Path | None) -> Path | None:
    """Return the file of a report; refuse one that cannot be written, before anything runs."""
    if file is None:
        return None
    if file.suffix.lower() not in (".html", ".htm") and not file.is_char_device():  # /dev/null takes anything.
        raise typer.BadParameter(f"{file} does not end in .html: a report is a web page")
    _drawable(True)
    return to_write(file)


def to_write(file: Path | None) -> Path | None:
    """Return a file that an option names; refuse one that cannot be written, before anything runs."""
    if file is None or (file.exists() and not file.is_file() and not file.is_dir()):  # A pipe or /dev/null.
        return file
    folder = Path(os.path.realpath(file)).parent
    if file.is_dir() or not folder.is_dir():
        why = "is a folder" if file.is_dir() else f"cannot be written: there is no folder {file.parent}"
        raise typer.BadParameter(f"{file} {why}")
    if not os.access(folder, os.W_OK):
        raise typer.BadParameter(f"{file} cannot be written: you may not write to {folder}")
    return file


def _drawable(wanted: bool) -> bool:
    """Refuse charts that cannot be drawn, before anything runs."""
    if wanted:
        try:
            address_space.check()
        except OSError as error:
            raise typer.BadParameter(str(error.strerror)) from None
    return wanted


ReportFile = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE.html", callback=_page, help="Write a report: one self-contained web page."),
]
LivePage = Annotated[
    bool,
    typer.Option("--live", callback=_drawable, help="Show the report in a browser while it grows; print its address."),
]
Beside = Annotated[Path, typer.Option(metavar="FOLDER", help="Folder whose `devices/` holds your own device files.")]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Replace a value of the file: `--set run.seed=7`. May be repeated.",
    ),
]
Stream = Annotated[
    str | None,
    typer.Option("--stream", metavar="NAME", help="Stream that issues fio's requests. [default: the only one]"),
]
Requests = Annotated[
    int, typer.Option("--requests", min=100, max=100_000_000, help="Number of requests simulated for each load.")
]

# What is wrong with a command line as a whole, as the version of click that Typer uses has it.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]

MISTAKE, CUT_SHORT, MISSED, SATURATED, INTERRUPTED = 2, 3, 4, 5, 130


def changes(sets: list[str] | None) -> dict[str, str]:
    """Return what `--set` was given."""
    found = {}
    for given in sets or []:
        path, equals, value = given.partition("=")
        if not equals or not path:
            raise typer.BadParameter(f"`{given}` is not PATH=VALUE, such as run.seed=7", param_hint="--set")
        found[path.strip()] = value.strip()
    return found


def refuse(error: ScenarioError, as_json: bool) -> NoReturn:
    """Say what is wrong with what was given, and exit."""
    if as_json:
        print(json.dumps({"ok": False, "problems": json.loads(error.problems)}, indent=2))
    else:
        print(printable(str(error)), file=sys.stderr)
    raise typer.Exit(MISTAKE)


def cannot_write(error: OSError, file: object) -> NoReturn:
    """Say that a file cannot be written, and exit."""
    print(f"error: {file} cannot be written: {error.strerror}", file=sys.stderr)
    raise typer.Exit(MISTAKE) from None


def note(remarks: list[str]) -> None:
    """Print remarks on what was asked, apart from the answer."""
    for remark in remarks:
        print(f"note: {printable(remark)}", file=sys.stderr)


@contextmanager
def telling_losses() -> Iterator[list[str]]:
    """Give a list of what could not be written meanwhile; once the answer is printed, see `exit_where_lost`."""
    lost: list[str] = []

    def hear(message: Warning | str, category: type[Warning], *rest: object, **named: object) -> None:
        if issubclass(category, NotKept):
            lost.append(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", NotKept)
        warnings.showwarning = hear
        yield lost


def exit_where_lost(lost: list[str]) -> None:
    """Say what could not be written, below the answer, and exit."""
    for one in dict.fromkeys(lost):
        print(f"error: {one}", file=sys.stderr)
    if lost:
        raise typer.Exit(MISTAKE)


def texts(*files: Path | None) -> dict[str, str]:
    """Return the texts of the files that were given, by name: reports show them."""
    return {str(file): file.read_text(encoding="utf-8") for file in files if file}


def command() -> str:
    """Return the command that was given: reports say how they were made."""
    return shlex.join(["headrace", *sys.argv[1:]])


def write_page(report: Report, file: Path) -> None:
    """Write a report as a page; exit where that cannot be."""
    from headrace.view.pages import page

    write(lambda path: page.write(report, path, command=command()), file)


@contextmanager
def page_first(report: Callable[[], Report], page: Path | None) -> Iterator[None]:
    """Write the page, if one is asked for, before the block prints the answer.

    So a reader that leaves early, such as `head`, costs no report; a page that cannot be written costs no answer.
    """
    failed = None
    try:
        if page:
            from headrace.view.pages import page as pages

            pages.write(report(), page, command=command())
    except OSError as error:
        failed = error
    yield
    if page and failed:
        cannot_write(failed, page)


def show(found: object, report: Report, page: Path | None, *, as_json: bool) -> None:
    """Print what was found as JSON or as its report, and write the page if one is asked for."""
    from headrace.view.terminal import report as terminal

    with page_first(lambda: report, page):
        if as_json:
            print(json.dumps(found, indent=2))
        else:
            terminal.show(report)


def write(how: Callable[[Path], object], file: Path) -> None:
    """Write a file; exit where that cannot be."""
    try:
        how(file)
    except OSError as error:
        cannot_write(error, file)
