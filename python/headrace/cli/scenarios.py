"""`headrace run`, `check` and `schema`."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from headrace import scenario
from headrace._core import ScenarioError
from headrace.cli.asking import Budget, PrecisionOption, precision_of
from headrace.cli.options import (
    CUT_SHORT,
    INTERRUPTED,
    AsJson,
    File,
    ReportFile,
    Sets,
    cannot_write,
    changes,
    exit_where_lost,
    refuse,
    telling_losses,
    write,
)
from headrace.experiment.precision import run_until_precise
from headrace.files import keep_apart
from headrace.view import words


def run(
    file: File,
    as_json: AsJson = False,
    sets: Sets = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Another seed than the file's.")] = None,
    replications: Annotated[int | None, typer.Option(min=1, metavar="N", help="Number of independent runs.")] = None,
    precision: PrecisionOption = None,
    budget: Budget = None,
    threads: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Maximum number of threads. [default: one per processor]")
    ] = None,
    requests: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write every request as Parquet, 250,000 a file.")
    ] = None,
    timeline: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json", help="Write the way of the first requests, for Perfetto or chrome://tracing."
        ),
    ] = None,
    first: Annotated[int, typer.Option(min=1, metavar="N", help="How many requests the timeline shows.")] = 100,
    report: ReportFile = None,
) -> None:
    """Simulate the system in FILE and print what it does, beside what theory says."""
    wanted = precision_of(precision, budget)
    if wanted and replications is not None:
        raise typer.BadParameter("`--precision` sets how many replications there are", param_hint="--replications")
    changed: dict[str, object] = dict(changes(sets))
    changed |= {"run.seed": seed} if seed is not None else {}
    changed |= {"run.replications": replications} if replications is not None else {}
    from headrace.view.terminal import progress  # noqa: PLC0415 - rich takes longer to load than --help may
    from headrace.view.terminal import results as terminal  # noqa: PLC0415

    try:
        loaded = scenario.load(file).with_(changed)
        keep_apart({"--report": report, "--requests": requests, "--timeline": timeline}, loaded.inputs())
        with telling_losses() as lost, progress.of_run(quiet=as_json) as watch:
            how: dict[str, Any] = {
                "threads": threads,
                "watch": watch,
                "requests": requests,
                "timeline": timeline,
                "first": first,
            }
            found = run_until_precise(loaded, wanted, **how) if wanted else loaded.run(**how)
    except ScenarioError as error:
        refuse(error, as_json)
    except OSError as error:
        cannot_write(error, error.filename or requests or timeline)
    results = found.data
    if as_json:
        print(json.dumps(results, indent=2))
    else:
        terminal.show(results)
    if report:
        write(lambda page: found.report(page, title=file.stem), report)
    exit_where_lost(lost)
    _exit_unless_complete(results)


def _exit_unless_complete(results: dict[str, Any]) -> None:
    if not results["complete"]:
        raise typer.Exit(INTERRUPTED if results["ended"] == "cancelled" else CUT_SHORT)


def check(file: File, as_json: AsJson = False, sets: Sets = None) -> None:
    """Check FILE without running it. All errors are reported together, with location, cause and fix."""
    try:
        checking = scenario.load(file).with_(changes(sets) or {})
        checked = checking.check()
    except ScenarioError as error:
        refuse(error, as_json)
    if as_json:
        print(json.dumps({"ok": True, "scenario": checked}, indent=2))
    else:
        streams, components = len(checked["workload"]), len(checking.graph()["components"])
        print(f"{file} is valid: {words.counted(streams, 'stream')}, {words.counted(components, 'component')}")


class Document(StrEnum):
    """A document that headrace reads."""

    scenario = "scenario"
    experiment = "experiment"
    device = "device"


def schema(
    document: Annotated[Document, typer.Argument(help="Of what.")] = Document.scenario, as_json: AsJson = True
) -> None:
    """Print the JSON Schema of a document, for editors that complete and check as you type."""
    del as_json  # A schema is JSON either way.
    print(json.dumps(scenario.schema(document.value), indent=2))
