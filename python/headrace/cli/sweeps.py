"""`headrace sweep`, and `results` and `report` of what it kept."""

import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from headrace._core import ScenarioError
from headrace.cli.options import (
    CUT_SHORT,
    AsJson,
    LivePage,
    ReportFile,
    ScenarioOrExperiment,
    Sets,
    changes,
    refuse,
    write_page,
)
from headrace.cli.runner import (
    Budget,
    How,
    PrecisionOption,
    Replications,
    StoreFolder,
    Vary,
    Workers,
    answered,
    axes_of,
    precision_of,
)
from headrace.errors import read_text
from headrace.experiment import design, engines, rounds, stored
from headrace.experiment.precision import listed
from headrace.experiment.query import QueryRows, asked, plain
from headrace.experiment.table import Table
from headrace.files import keep_apart
from headrace.report import Table as Columns
from headrace.scenario import load

Json = dict[str, Any]


class EngineName(StrEnum):
    """Engine that does the runs."""

    local = "local"
    dask = "dask"


EngineOption = Annotated[
    EngineName, typer.Option(help="`local` runs in threads, `dask` on a cluster (see `--scheduler` and `--jobs`).")
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Address of the dask scheduler: `tcp://head:8786`, or `tls://head:8786` with "
        "certificates in dask's configuration.",
    ),
]
Jobs = Annotated[
    str | None,
    typer.Option(metavar="SYSTEM", help="Submit dask workers as jobs to `slurm`, `htcondor`, `pbs` or `sge`."),
]


@contextmanager
def _engine(name: EngineName, workers: int | None, scheduler: str | None, jobs: str | None) -> Iterator[engines.Engine]:
    if name is EngineName.local and (scheduler or jobs):
        raise typer.BadParameter("a scheduler and jobs are for `--engine dask`", param_hint="--engine")
    if name is EngineName.local:
        yield engines.Local(workers)
        return
    cluster = engines.Dask(scheduler, jobs=jobs, workers=workers)
    try:
        yield cluster
    finally:
        cluster.close()


def _shard(text: str | None) -> tuple[int, int]:
    if text is None:
        return 0, 1
    index, _, many = text.partition("/")
    digits = index.isdecimal() and many.isdecimal() and len(index) < 10 and len(many) < 10
    if not (digits and int(index) < int(many)):
        raise typer.BadParameter(f"`{text}` is not I/N with I from 0 to N - 1", param_hint="--array-index")
    return int(index), int(many)


def _is_experiment(file: Path) -> bool:
    """Return true if a file is the document of an experiment, not of a scenario."""
    try:
        lines = read_text(file).splitlines()
    except ScenarioError:
        return False  # Who reads it says what is wrong.
    return any(line.startswith("experiment:") for line in lines)


def sweep_command(
    file: ScenarioOrExperiment,
    vary: Vary = None,
    replications: Replications = None,
    precision: PrecisionOption = None,
    budget: Budget = None,
    store: StoreFolder = None,
    engine: EngineOption = EngineName.local,
    workers: Workers = None,
    scheduler: Scheduler = None,
    jobs: Jobs = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            metavar="LIST",
            help="Metrics to show: `p99(recall), within(recall, 10 min), utilisation(tds)`. [default: response times, "
            "throughput, the highest utilisation]",
        ),
    ] = None,
    array_index: Annotated[
        str | None, typer.Option(metavar="I/N", help="Run only points I, I+N, I+2N, …, counted from 0: for job arrays.")
    ] = None,
    as_json: AsJson = False,
    sets: Sets = None,
    report: ReportFile = None,
    live: LivePage = False,
) -> None:
    """Run FILE (a scenario or an experiment) at every combination of values, and print a table."""
    wanted, axes, shard = precision_of(precision, budget), axes_of(vary), _shard(array_index)

    def ask(how: How) -> Table:
        experiment = _experiment(file, axes, sets).with_replications(replications, wanted)
        experiment = experiment.asking(listed(metrics)) if metrics else experiment
        keep_apart({"--report": report, "--store": store}, [file, *experiment.inputs(), *stored.files(store)])
        with _engine(engine, workers, scheduler, jobs) as chosen:
            return rounds.run(experiment, store=store, engine=chosen, watch=how["watch"], shard=shard)

    found = answered(
        ask,
        lambda found: _print_table(found, as_json),
        Table.shown,
        as_json=as_json,
        kept=store,
        page=report,
        live=live,
    )
    if not found.complete:
        raise typer.Exit(CUT_SHORT)


def _experiment(file: Path, axes: dict[str, Any], sets: list[str] | None) -> design.Experiment:
    """Return the experiment that a file is, or that varies places of the scenario that it is."""
    if _is_experiment(file):
        if axes:
            raise typer.BadParameter("what varies stands in the experiment's own file", param_hint="--vary")
        return design.read(file, changes(sets))
    if not axes:
        raise typer.BadParameter("say what varies, such as `--vary system.tds.disks=4,8`", param_hint="--vary")
    return design.varied(load(file).with_(changes(sets)), axes)


def _print_table(found: Table, as_json: bool) -> None:
    from headrace.view.terminal import report as terminal

    if as_json:
        print(json.dumps(as_json_table(found), indent=2))
    else:
        terminal.show(found.report())


def as_json_table(found: Table) -> Json:
    """Return a table as `--json` prints it."""
    return {"answer": found.answer, "complete": found.complete, "points": plain(found.frame.to_dicts())}


def results_command(
    folder: Annotated[Path, typer.Argument(help="Folder given to `--store`.", show_default=False)],
    sql: Annotated[
        str | None,
        typer.Option(
            metavar="QUERY",
            help="Query. Table `records` has every run, `points` the means of each point.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the runs in a store, or query them with SQL."""
    try:
        if sql is None:
            found = Table.stored(folder)
            _print_table(found, as_json)
            if not found.complete:
                raise typer.Exit(CUT_SHORT)
            return
        with asked(folder, sql) as (columns, rows):
            (_print_as_json if as_json else _print_in_parts)(columns, rows)
    except ScenarioError as error:
        refuse(error, as_json)


def _print_as_json(columns: list[str], rows: QueryRows) -> None:
    """Print rows as they come, one a line."""
    before = "["
    for row in rows:
        told = dict(zip(columns, map(plain, row), strict=True))
        print(f"{before}\n  {json.dumps(told, allow_nan=False)}", end="")
        before = ","
    print("[]" if before == "[" else "\n]")


def _print_in_parts(columns: list[str], rows: QueryRows) -> None:
    """Print rows as they come, a table for each thousand."""
    from headrace.view.terminal import report as terminal

    part = list(itertools.islice(rows, 1000))
    terminal.show_table(Columns(columns, [*map(_cells, part)]))
    while part := list(itertools.islice(rows, 1000)):
        terminal.show_table(Columns(columns, [*map(_cells, part)]))


def _cells(row: tuple[Any, ...]) -> list[str]:
    return [f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in row]


def report_command(
    folder: Annotated[Path, typer.Argument(help="Folder given to `--store`.", show_default=False)],
    to: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.html", help="File to write the report to.")],
    runs: Annotated[
        bool,
        typer.Option("--runs", help="Also write a report for the first run of each point, which is repeated for this."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a report of the runs in a store."""
    try:
        keep_apart({"--output": to}, stored.files(folder))
        found = Table.stored(folder)
        write_page(found.shown(found.write_runs(to) if runs else None), to)
    except ScenarioError as error:
        refuse(error, as_json)
    print(
        json.dumps({"ok": True, "file": str(to)}) if as_json else f"{to} shows {len(found.experiment.points)} points."
    )
