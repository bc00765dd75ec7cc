"""`headrace run`, `check` and `schema`."""

import json
import re
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from headrace import _core, scenario
from headrace._core import ScenarioError
from headrace.cli.options import (
    CUT_SHORT,
    INTERRUPTED,
    MISSED,
    SATURATED,
    AnyDocument,
    AsJson,
    File,
    ReportFile,
    Sets,
    cannot_write,
    changes,
    exit_where_lost,
    note,
    refuse,
    show,
    telling_losses,
    to_write,
)
from headrace.cli.runner import Budget, PrecisionOption, precision_of
from headrace.devices import catalogue
from headrace.errors import is_overload, is_path, read_text
from headrace.experiment import design
from headrace.experiment.precision import measured, run_until_precise
from headrace.files import keep_apart, warn_not_kept
from headrace.quantities import counted
from headrace.result_types import ResultsData
from headrace.results import is_saturated

Seed = Annotated[int | None, typer.Option(metavar="N", help="Seed of the random numbers. [default: that of the file]")]
Replications = Annotated[int | None, typer.Option(min=1, metavar="N", help="Number of independent runs.")]
Threads = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Maximum number of threads. [default: one per processor]")
]
RequestsFolder = Annotated[
    Path | None,
    typer.Option("--save-requests", metavar="FOLDER", help="Write every request as Parquet, 250,000 per file."),
]
TIMELINE = "Write the paths of the first requests for Perfetto or chrome://tracing."
TimelineFile = Annotated[Path | None, typer.Option(metavar="FILE.json", callback=to_write, help=TIMELINE)]
First = Annotated[int, typer.Option(min=1, metavar="N", help="Number of requests in the timeline.")]
METRICS = "Write the prediction as OpenMetrics, for Prometheus and Grafana."
MetricsFile = Annotated[Path | None, typer.Option(metavar="FILE.prom", callback=to_write, help=METRICS)]


def run(
    file: File,
    as_json: AsJson = False,
    sets: Sets = None,
    seed: Seed = None,
    replications: Replications = None,
    precision: PrecisionOption = None,
    budget: Budget = None,
    threads: Threads = None,
    requests: RequestsFolder = None,
    timeline: TimelineFile = None,
    first: First = 100,
    metrics: MetricsFile = None,
    report: ReportFile = None,
) -> None:
    """Simulate the system in FILE and print response times, utilisation, the bottleneck, and theory for comparison.

    Exits with 4 if an objective of the scenario is missed, or the run does not decide it.
    """
    wanted = precision_of(precision, budget)
    if wanted and replications is not None:
        raise typer.BadParameter("`--precision` sets how many replications there are", param_hint="--replications")
    from headrace import open_metrics
    from headrace.view.terminal import progress

    try:
        loaded = scenario.load(file).with_(_changed(sets, seed, replications))
        plan = (measured(loaded, wanted) if wanted else loaded).plan()
        note(plan.remarks)
        written = {"--report": report, "--save-requests": requests, "--timeline": timeline, "--metrics": metrics}
        keep_apart(written, plan.inputs)
        with telling_losses() as lost, progress.of_run(quiet=as_json) as watch:
            simulate = partial(run_until_precise, plan, wanted) if wanted else plan.run
            found = simulate(threads=threads, watch=watch, requests=requests, timeline=timeline, first=first)
            _write_metrics(lambda file: open_metrics.write(dict(found.data), file), metrics)
    except ScenarioError as error:
        if is_overload(error):
            _write_metrics(open_metrics.write_overload, metrics)
        refuse(error, as_json)
    except OSError as error:
        cannot_write(error, error.filename or requests or timeline)
    show(found.data, found.report(title=file.stem), report, as_json=as_json)
    exit_where_lost(lost)
    _exit_unless_complete(found.data)
    if any(objective["met"] is not True for objective in found.data["objectives"]):
        raise typer.Exit(MISSED)
    if is_saturated(found.data):
        raise typer.Exit(SATURATED)


def _changed(sets: list[str] | None, seed: int | None, replications: int | None) -> dict[str, object]:
    """Return what the command line has in place of what the file has."""
    named = {"run.seed": seed, "run.replications": replications}
    return dict(changes(sets)) | {path: value for path, value in named.items() if value is not None}


def _write_metrics(write: Callable[[Path], None], file: Path | None) -> None:
    if file is None:
        return
    try:
        write(file)
    except OSError as error:
        warn_not_kept(error, file)


def _exit_unless_complete(results: ResultsData) -> None:
    if not results["complete"]:
        raise typer.Exit(INTERRUPTED if results["ended"] == "cancelled" else CUT_SHORT)


class Document(StrEnum):
    """A document that headrace reads."""

    scenario = "scenario"
    experiment = "experiment"
    device = "device"


Checked = tuple[Document, dict[str, Any], str]


def _scenario(file: Path, put: dict[str, str]) -> Checked:
    plan = scenario.load(file).with_(put).plan()
    note([*plan.check(), *filter(None, [plan.beyond])])
    streams, components = len(plan.spec["workload"]), len(plan.graph()["components"])
    return Document.scenario, plan.spec, f"{counted(streams, 'stream')}, {counted(components, 'component')}"


def _experiment(file: Path, put: dict[str, str]) -> Checked:
    """Check an experiment and its scenario, at the first of its points."""
    found = design.read(file, put)
    found.scenario.with_(found.points[0].values).filled()
    said = f"{counted(len(found.points), 'point')} of {found.scenario.file}, {found.replications} replications each"
    return Document.experiment, json.loads(_core.experiment(read_text(file), str(file))), said


def _device(file: Path, put: dict[str, str]) -> Checked:
    if put:
        raise typer.BadParameter(
            "a device file has no fields to set: name it in a scenario with `like`", param_hint="--set"
        )
    found = catalogue.numbers(str(file) if is_path(str(file)) else f"./{file}")
    return Document.device, found, str(found["name"])


CHECKS = {Document.scenario: _scenario, Document.experiment: _experiment, Document.device: _device}


# Fields that only devices have: disks, solid-state drives, volumes, tape drives, and variations of them.
DEVICE = {"rotation", "cylinders", "media_rate_outer", "flash", "read_latency", "operations", "bytes", "wraps", "like"}


def _kind(file: Path) -> Document:
    """Return the kind of a document by its top-level fields; by default a scenario."""
    fields = set(re.findall(r"^(\w+):", read_text(file), re.MULTILINE))
    if fields & {"system", "parts", "workload"}:
        return Document.scenario
    if "experiment" in fields:
        return Document.experiment
    return Document.device if fields & DEVICE else Document.scenario


def check(file: AnyDocument, as_json: AsJson = False, sets: Sets = None) -> None:
    """Check FILE (a scenario, an experiment or a device) without running it.

    All errors are reported together, with location, cause and fix.
    """
    try:
        kind, found, said = CHECKS[_kind(file)](file, changes(sets) or {})
    except ScenarioError as error:
        refuse(error, as_json)
    if as_json:
        print(json.dumps({"ok": True, "kind": kind.value, kind.value: found}, indent=2))
    else:
        print(f"{file} is a valid {kind.value}: {said}")


def schema(
    document: Annotated[Document, typer.Argument(help="Kind of document.")] = Document.scenario,
    as_json: AsJson = True,
) -> None:
    """Print the JSON Schema of a document, for completion and validation in editors."""
    del as_json  # A schema is JSON either way.
    print(json.dumps(scenario.schema(document.value), indent=2))
