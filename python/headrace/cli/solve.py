"""`headrace solve`."""

import sys
from typing import Annotated

import typer

from headrace import scenario, solution
from headrace._core import ScenarioError
from headrace.cli.options import (
    INTERRUPTED,
    AsJson,
    File,
    ReportFile,
    Sets,
    cannot_write,
    changes,
    note,
    refuse,
    show,
    texts,
)
from headrace.files import keep_apart
from headrace.report import files
from headrace.reports import solution as reports
from headrace.stopped import Interrupted


def _range(given: str | None) -> tuple[float, float] | None:
    """Return the two ends of `--load`."""
    if given is None:
        return None
    try:
        begin, to, end = given.partition("..")
        ends = [float(one.strip().removesuffix("/s")) for one in ((begin, end) if to else (begin, begin))]
    except ValueError:
        message = f"`{given}` is not FROM..TO, such as 1..32 clients or 50..200 requests per second"
        raise typer.BadParameter(message, param_hint="--load") from None
    return ends[0], ends[1]


def solve(
    file: File,
    load: Annotated[
        str | None,
        typer.Option(
            metavar="FROM..TO",
            help="Range of loads: number of clients of closed streams, requests per second of open ones. "
            "[default: from little to saturation]",
        ),
    ] = None,
    simulate: Annotated[bool, typer.Option("--simulate", help="Simulate each load too, for comparison.")] = False,
    report: ReportFile = None,
    as_json: AsJson = False,
    sets: Sets = None,
) -> None:
    """Solve FILE as a network of queues: throughput, response and utilisation against load, without simulating.

    Each component states the service demand of a request. The answer says what limits the system, where the bottleneck
    moves next, and which assumptions of the formulas fail.
    """
    between, interrupted = _range(load), False
    try:
        loaded = scenario.load(file).with_(changes(sets) or {})
        plan = loaded.plan()
        note(plan.remarks)
        keep_apart({"--report": report}, plan.inputs)
        found = plan.solve(between)
        if simulate:
            try:
                found = solution.simulate(found, loaded, None if as_json else _progress)
            except Interrupted as stopped:
                found, interrupted = stopped.found, True
    except ScenarioError as error:
        refuse(error, as_json)
    except OSError as error:
        cannot_write(error, error.filename or report)
    told = reports.report(found.data, file.stem, drawn=load is not None)
    show(found.data, told.also(*files(texts(file))), report, as_json=as_json)
    if interrupted:
        print("interrupted: not every load was simulated", file=sys.stderr)
        raise typer.Exit(INTERRUPTED)


def _progress(done: int, loads: int) -> None:
    if sys.stderr.isatty():
        print(f"\rsimulating load {done + 1} of {loads}", end="\n" if done + 1 == loads else "", file=sys.stderr)
