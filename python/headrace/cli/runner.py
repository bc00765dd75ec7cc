"""Common parts of commands that need several runs: options, progress, and printing the answer."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, TypeVar

import typer

from headrace._core import ScenarioError
from headrace.cli.options import INTERRUPTED, command, exit_where_lost, page_first, refuse, telling_losses
from headrace.experiment import design, engines, precision, rounds
from headrace.experiment.task import Record
from headrace.report import Report
from headrace.stopped import Interrupted

if TYPE_CHECKING:
    from headrace.view.live import Live

Json = dict[str, Any]
Found = TypeVar("Found")

Vary = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        metavar="PATH=VALUES",
        help="Field and its values: a list `system.tds.disks=4,8,16`, all whole numbers of a range `run.seed=1..9`, "
        "a number of values of a range `run.seed=1..9/3`, evenly on a logarithmic scale "
        "`system.tds.stripe_unit=8 KiB..1 MiB/8 log`. May be repeated.",
    ),
]
Replications = Annotated[
    int | None, typer.Option(min=1, metavar="R", help="Number of independent runs at each point.", show_default=False)
]
PrecisionOption = Annotated[
    str | None,
    typer.Option(
        "--precision",
        metavar="SHARE",
        help="Add replications until the intervals are this narrow: `2%` applies to mean response times, "
        "`1% of p99(reads), mean(users)` for others.",
    ),
]
Budget = Annotated[
    int | None,
    typer.Option(
        "--budget", min=2, metavar="N", help="With `--precision`: maximum number of replications. [default: 50]"
    ),
]
StoreFolder = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="FOLDER",
        help="Save each run here as it ends. The same command resumes from this folder.",
    ),
]
Workers = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Maximum number of runs in parallel. [default: all processors]")
]


def axes_of(given: list[str] | None) -> dict[str, Any]:
    """Return the axes of `--vary`."""
    axes = {}
    for one in given or []:
        path, equals, values = one.partition("=")
        if not equals or not path.strip() or not values.strip():
            raise typer.BadParameter(f"`{one}` is not PATH=VALUES, such as system.tds.disks=4,8", param_hint="--vary")
        if path.strip() in axes:
            raise typer.BadParameter(f"`{path.strip()}` is varied twice", param_hint="--vary")
        try:
            axes[path.strip()] = design.axis(values)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--vary") from None
    return axes


def precision_of(text: str | None, budget: int | None) -> precision.Precision | None:
    """Return what `--precision` and `--budget` ask for."""
    if text is None:
        if budget is not None:
            raise typer.BadParameter("a budget is for `--precision`", param_hint="--budget")
        return None
    try:
        return precision.read(text, budget)
    except ValueError:
        message = f"`{text}` is invalid: write a share such as 2%, or `2% of p99(users)`"
        raise typer.BadParameter(message, param_hint="--precision") from None


class How(TypedDict):
    """How the runs behind an answer are done."""

    engine: engines.Engine
    store: Path | None
    watch: rounds.Watch | None


def answered(
    ask: Callable[[How], Found],
    tell: Callable[[Found], None],
    shown: Callable[[Found], Report],
    *,
    as_json: bool,
    kept: Path | None,
    workers: int | None = None,
    page: Path | None = None,
    live: bool = False,
) -> Found:
    """Ask, showing progress, print the answer, or the error, and write the page of what is `shown` if one is asked for.

    On Ctrl-C print what was found until then, and what is kept.
    """
    from headrace.view.terminal import progress

    with following(live, shown) as (follow, end):
        try:
            with telling_losses() as lost, progress.of_tasks(quiet=as_json) as watch:
                found = ask({"engine": engines.Local(workers), "store": kept, "watch": follow(watch)})
        except ScenarioError as error:
            refuse(error, as_json)
        except KeyboardInterrupt as stopped:
            partial = stopped.found if isinstance(stopped, Interrupted) else None
            if partial is not None:
                _tell(partial, tell, shown, page, as_json)
            going_on = f"its runs are saved in {kept}; the same command resumes there"
            print(f"interrupted; {going_on if kept else 'runs were not saved (see --store)'}", file=sys.stderr)
            end(partial, "interrupted")
            raise typer.Exit(INTERRUPTED) from None
        _tell(found, tell, shown, page, as_json)
        end(found, "done")
    exit_where_lost(lost)
    return found


def _tell(
    found: Found, tell: Callable[[Found], None], shown: Callable[[Found], Report], page: Path | None, as_json: bool
) -> None:
    """Print the answer, and write its page; or the error where it has no number that is asked for."""
    try:
        with page_first(lambda: shown(found), page):
            tell(found)
    except ScenarioError as error:
        refuse(error, as_json)


Follow = Callable[[rounds.Watch | None], rounds.Watch | None]
End = Callable[[Found | None, str], None]


@contextmanager
def following(live: bool, shown: Callable[[Found], Report]) -> Iterator[tuple[Follow, End[Found]]]:
    """Give what makes a watch show a live page too, and what shows the last one; without `live`, what does nothing."""
    if not live:
        yield lambda watch: watch, lambda found, doing: None
        return
    with served() as page:

        def follow(watch: rounds.Watch | None) -> rounds.Watch:
            def both(record: Record, standing: rounds.Standing) -> None:
                if watch:
                    watch(record, standing)
                page.offer(lambda: _report(shown, standing.found()), f"{standing.done} of {standing.wanted} runs")

            return both

        yield follow, lambda found, doing: page.finish(lambda: _report(shown, found), doing)


def _report(shown: Callable[[Found], Report], found: Found | None) -> Report | None:
    return None if found is None else shown(found)


@contextmanager
def served() -> Iterator["Live"]:
    """Serve a live page meanwhile, and print its address."""
    from headrace.view import live

    page = live.Live(command())
    with live.serving(page, lambda address: print(f"live at {address}", file=sys.stderr, flush=True)):
        yield page


def print_answer(as_json: bool, told: Json, report: Report) -> None:
    """Print an answer as JSON, or its report."""
    from headrace.view.terminal import report as terminal

    if as_json:
        print(json.dumps(told, indent=2))
    else:
        terminal.show(report)
