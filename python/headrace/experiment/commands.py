"""The commands that ask more than one run: `headrace sweep|compare|capacity|optimise|sensitivity|results|report`."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from headrace._core import ScenarioError
from headrace.experiment import design, engines, rounds
from headrace.experiment import store as stores
from headrace.experiment.table import Table
from headrace.options import CUT_SHORT, INTERRUPTED, AsJson, File, ReportFile, Sets, changes, refuse, write
from headrace.scenario import load

Json = dict[str, Any]

experiments = typer.Typer()

Found = TypeVar("Found")

Vary = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        metavar="PATH=VALUES",
        help="Values for a place: `system.tds.disks=4,8,16`; from one to another `run.seed=1..9/9`, at equal ratios "
        "`system.tds.stripe_unit=8 KiB..1 MiB/8 log`. May be repeated.",
    ),
]
Replications = Annotated[
    int | None, typer.Option(min=1, metavar="R", help="So many independent runs of each point.", show_default=False)
]
StoreFolder = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="FOLDER",
        help="Keep every run there: what was killed goes on from there, and repeats nothing.",
    ),
]
Workers = Annotated[int | None, typer.Option(min=1, metavar="N", help="At most so many at once. [default: all]")]


class EngineName(StrEnum):
    """Who does the runs."""

    local = "local"
    dask = "dask"


EngineOption = Annotated[
    EngineName, typer.Option(help="`local`: threads here; `dask`: a cluster, see `--scheduler` and `--jobs`.")
]
Scheduler = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="The dask scheduler, such as `tcp://head:8786`.")
]
Jobs = Annotated[
    str | None,
    typer.Option(metavar="SYSTEM", help="Start dask workers as jobs of `slurm`, `htcondor`, `pbs` or `sge`."),
]


def _vary(given: list[str] | None) -> dict[str, Any]:
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


def _percent(text: str) -> float:
    number = float(text.removesuffix("%").strip()) / (100 if text.strip().endswith("%") else 1)
    if not 0 < number < 1:
        raise ValueError(text)
    return number


def _precision(text: str | None, budget: int | None) -> design.Precision | None:
    if text is None and budget is not None:
        raise typer.BadParameter("a budget is for `--precision`", param_hint="--budget")
    if text is None:
        return None
    try:
        return design.Precision(_percent(text), budget=budget or design.Precision.budget)
    except ValueError:
        raise typer.BadParameter(f"`{text}` is no share such as 2%", param_hint="--precision") from None


def _shard(text: str | None) -> tuple[int, int]:
    if text is None:
        return 0, 1
    index, _, many = text.partition("/")
    if not (index.isdigit() and many.isdigit() and int(index) < int(many)):
        raise typer.BadParameter(f"`{text}` is not I/N with I from 0 to N - 1", param_hint="--array-index")
    return int(index), int(many)


def _is_experiment(file: Path) -> bool:
    """Whether a file is the document of an experiment, not of a scenario."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return False  # Who reads it says what is wrong.
    return any(line.startswith("experiment:") for line in lines)


def _answered(
    ask: Callable[[rounds.Watch | None], Found],
    tell: Callable[[Found], None],
    *,
    as_json: bool,
    kept: Path | None,
    page: Path | None = None,
) -> Found:
    """Ask, showing progress, and tell what was found; say what is wrong where something is.

    On Ctrl-C tell what was found until then, and what is kept.
    """
    from headrace import show  # noqa: PLC0415 - rich takes longer to load than --help may

    if page is not None and (page.is_dir() or not page.parent.is_dir()):
        why = "is a folder" if page.is_dir() else f"cannot be written: there is no folder {page.parent}"
        raise typer.BadParameter(f"{page} {why}", param_hint="--report")
    try:
        with show.tasks(quiet=as_json) as watch:
            found = ask(watch)
    except ScenarioError as error:
        refuse(error, as_json)
    except KeyboardInterrupt as stopped:
        if isinstance(stopped, rounds.Interrupted) and stopped.found is not None:
            tell(stopped.found)
        going_on = f"what is done is kept in {kept}: the same command goes on from there"
        print(f"interrupted; {going_on if kept else 'nothing was kept: see --store'}", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    tell(found)
    return found


@experiments.command("sweep")
def sweep_command(
    file: File,
    vary: Vary = None,
    replications: Replications = None,
    precision: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="Go on until half of each interval is at most this share: `2%`."),
    ] = None,
    budget: Annotated[
        int | None, typer.Option(min=2, metavar="N", help="At most so many replications a point. [default: 50]")
    ] = None,
    store: StoreFolder = None,
    engine: EngineOption = EngineName.local,
    workers: Workers = None,
    scheduler: Scheduler = None,
    jobs: Jobs = None,
    array_index: Annotated[
        str | None, typer.Option(metavar="I/N", help="Only every N-th point, from the I-th: for batch arrays.")
    ] = None,
    as_json: AsJson = False,
    sets: Sets = None,
    report: ReportFile = None,
) -> None:
    """Run FILE (a scenario, or an experiment) at every combination of values, and print what differs."""
    wanted, axes, shard = _precision(precision, budget), _vary(vary), _shard(array_index)

    def ask(watch: rounds.Watch | None) -> Table:
        experiment = _experiment(file, axes, sets).with_replications(replications, wanted)
        with _engine(engine, workers, scheduler, jobs) as chosen:
            return rounds.run(experiment, store=store, engine=chosen, watch=watch, shard=shard)

    found = _answered(ask, lambda found: _print_table(found, as_json, report), as_json=as_json, kept=store, page=report)
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


def _print_table(found: Table, as_json: bool, report: Path | None = None) -> None:
    from headrace import show  # noqa: PLC0415

    if as_json:
        print(json.dumps(as_json_table(found), indent=2))
    else:
        show.table(found)
    if report:
        write(found.report, report)


def _print_rows(as_json: bool, told: Json, columns: list[str], cells: list[list[str]]) -> None:
    """Print an answer above its table, or as JSON."""
    from headrace import show  # noqa: PLC0415

    if as_json:
        print(json.dumps(told, indent=2))
    else:
        show.rows(columns, cells, answer=told["answer"])


def as_json_table(found: Table) -> Json:
    """Return a table as `--json` prints it."""
    return {"answer": found.answer, "complete": found.complete, "points": found.frame.to_dicts()}


@experiments.command("results")
def results_command(
    folder: Annotated[Path, typer.Argument(help="The folder that `--store` named.", show_default=False)],
    sql: Annotated[
        str | None,
        typer.Option(
            metavar="QUERY",
            help="Ask by SQL: `records` has every run, `points` the means of each point.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List what a store holds, or ask it by SQL."""
    from headrace import show  # noqa: PLC0415

    try:
        if sql is None:
            found = Table.stored(folder)
            _print_table(found, as_json)
            if not found.complete:
                raise typer.Exit(CUT_SHORT)
            return
        columns, rows = stores.query(folder, sql)
    except ScenarioError as error:
        refuse(error, as_json)
    if as_json:
        print(json.dumps([dict(zip(columns, row, strict=True)) for row in rows], indent=2, default=str))
    else:
        show.rows(columns, [[f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows])


@experiments.command("report")
def report_command(
    folder: Annotated[Path, typer.Argument(help="The folder that `--store` named.", show_default=False)],
    to: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.html", help="The page to write.")],
    runs: Annotated[
        bool, typer.Option("--runs", help="A page for each point's first run too, which is run once more for it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Draw what a store holds as one page, for a browser."""
    try:
        found = Table.stored(folder)
        write(lambda page: found.report(page, runs=runs), to)
    except ScenarioError as error:
        refuse(error, as_json)
    print(
        json.dumps({"ok": True, "file": str(to)}) if as_json else f"{to} shows {len(found.experiment.points)} points."
    )


@experiments.command("compare")
def compare_command(
    a: Annotated[Path, typer.Argument(help="A scenario.", show_default=False)],
    b: Annotated[
        Path | None,
        typer.Argument(help="Another; without it, the first with the values of `--with`.", show_default=False),
    ] = None,
    replications: Annotated[int, typer.Option(min=2, metavar="R", help="So many pairs of runs.")] = 10,
    other: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="PATH=VALUE", help="A value that the second has in the place of the first's."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Print every metric.")] = False,
    store: StoreFolder = None,
    workers: Workers = None,
    as_json: AsJson = False,
    sets: Sets = None,
) -> None:
    """Run two scenarios under the same luck, and say what differs and how surely."""
    from headrace.experiment import compare  # noqa: PLC0415

    if b is None and not other:
        raise typer.BadParameter("name another scenario, or what it has different", param_hint="--with")

    def ask(watch: rounds.Watch | None) -> compare.Comparison:
        first = load(a).with_(changes(sets))
        second = (load(b).with_(changes(sets)) if b else first).with_(changes(other))
        return compare.compare(
            first, second, replications=replications, engine=engines.Local(workers), store=store, watch=watch
        )

    def tell(found: compare.Comparison) -> None:
        _print_rows(as_json, compare.as_json(found), *compare.rows(found, every=every))

    _answered(ask, tell, as_json=as_json, kept=store)


@experiments.command("capacity")
def capacity_command(
    file: File,
    increase: Annotated[str, typer.Option(metavar="PATH", help="What grows: `workload.users.arrivals.poisson`.")],
    until: Annotated[
        list[str],
        typer.Option(metavar="OBJECTIVE", help="What must not come to pass: `p99(reads) > 20 ms`. May be repeated."),
    ],
    least: Annotated[
        str | None, typer.Option("--from", metavar="VALUE", help="Where to begin. [default: what FILE has]")
    ] = None,
    most: Annotated[
        str | None, typer.Option("--to", metavar="VALUE", help="At most so much.", show_default=False)
    ] = None,
    within: Annotated[str, typer.Option(metavar="SHARE", help="How narrow the bracket is to be.")] = "2%",
    replications: Annotated[int, typer.Option(min=2, metavar="R", help="Runs of each load to begin with.")] = 5,
    budget: Annotated[int, typer.Option(min=2, metavar="N", help="At most so many of each load.")] = 40,
    store: StoreFolder = None,
    workers: Workers = None,
    as_json: AsJson = False,
    sets: Sets = None,
) -> None:
    """Seek the largest load that FILE carries within objectives, and what is busiest there."""
    from headrace.experiment import capacity  # noqa: PLC0415

    ends = [None if one is None else design.scalar(one) for one in (least, most)]
    try:
        share = _percent(within)
    except ValueError:
        raise typer.BadParameter(f"`{within}` is no share such as 2%", param_hint="--within") from None

    def ask(watch: rounds.Watch | None) -> capacity.Capacity:
        return capacity.capacity(
            load(file).with_(changes(sets)),
            increase,
            until,
            least=ends[0],
            most=ends[1],
            within=share,
            replications=replications,
            budget=budget,
            engine=engines.Local(workers),
            store=store,
            watch=watch,
        )

    def tell(found: capacity.Capacity) -> None:
        _print_rows(as_json, capacity.as_json(found), *capacity.rows(found))

    found = _answered(ask, tell, as_json=as_json, kept=store)
    if found.carried is None or found.exceeded is None:
        raise typer.Exit(CUT_SHORT)


@experiments.command("optimise")
def optimise_command(
    file: File,
    vary: Vary = None,
    minimise: Annotated[
        list[str] | None, typer.Option(metavar="METRIC", help="Such as `p99(reads)` or `price(system)`.")
    ] = None,
    maximise: Annotated[
        list[str] | None, typer.Option(metavar="METRIC", help="Such as `requests_per_s(users)`.")
    ] = None,
    subject_to: Annotated[
        list[str] | None, typer.Option(metavar="CONSTRAINT", help="Such as `p99(reads) < 20 ms`.")
    ] = None,
    trials: Annotated[int, typer.Option(min=1, metavar="N", help="How many designs are tried.")] = 50,
    replications: Annotated[int, typer.Option(min=1, metavar="R", help="Runs of each.")] = 3,
    store: StoreFolder = None,
    workers: Workers = None,
    as_json: AsJson = False,
    sets: Sets = None,
    report: ReportFile = None,
) -> None:
    """Seek the best design within constraints; with several goals, those that none beats in every respect."""
    from headrace.experiment import optimise  # noqa: PLC0415

    axes = _wanted(vary)

    def ask(watch: rounds.Watch | None) -> optimise.Optimum:
        return optimise.optimise(
            load(file).with_(changes(sets)),
            axes,
            minimise=minimise or (),
            maximise=maximise or (),
            subject_to=subject_to or (),
            trials=trials,
            replications=replications,
            engine=engines.Local(workers),
            store=store,
            watch=watch,
        )

    def tell(found: optimise.Optimum) -> None:
        _print_rows(as_json, optimise.as_json(found), *optimise.rows(found))
        if report:
            from headrace.experiment import report as reports  # noqa: PLC0415

            write(lambda page: reports.write_optimum(found, page, title=file.stem), report)

    found = _answered(ask, tell, as_json=as_json, kept=store, page=report)
    if not found.front:
        raise typer.Exit(CUT_SHORT)


@experiments.command("sensitivity")
def sensitivity_command(
    file: File,
    metric: Annotated[str, typer.Option(metavar="METRIC", help="What is to be explained: `mean(users)`.")],
    vary: Vary = None,
    method: Annotated[
        str, typer.Option(help="`morris`: few runs; `sobol`: shares of the variance, many runs.")
    ] = "morris",
    samples: Annotated[int, typer.Option(min=2, metavar="N", help="Ways through the ranges, or samples of them.")] = 16,
    store: StoreFolder = None,
    workers: Workers = None,
    as_json: AsJson = False,
    sets: Sets = None,
) -> None:
    """Say which of several ranges matters for a metric, and how much."""
    from headrace.experiment import sensitivity  # noqa: PLC0415

    axes = _wanted(vary)

    def ask(watch: rounds.Watch | None) -> sensitivity.Sensitivity:
        return sensitivity.sensitivity(
            load(file).with_(changes(sets)),
            axes,
            metric,
            method=method,
            samples=samples,
            engine=engines.Local(workers),
            store=store,
            watch=watch,
        )

    def tell(found: sensitivity.Sensitivity) -> None:
        _print_rows(as_json, sensitivity.as_json(found), *sensitivity.rows(found))

    _answered(ask, tell, as_json=as_json, kept=store)


def _wanted(vary: list[str] | None) -> dict[str, Any]:
    axes = _vary(vary)
    if not axes:
        raise typer.BadParameter("say what varies, such as `--vary system.tds.disks=4..16/13`", param_hint="--vary")
    return axes
