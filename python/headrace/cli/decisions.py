"""`headrace compare`, `capacity`, `optimise` and `sensitivity`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from headrace.cli.options import CUT_SHORT, AsJson, File, LivePage, ReportFile, Sets, UsageError, changes, texts
from headrace.cli.runner import How, StoreFolder, Vary, Workers, answered, axes_of, print_answer
from headrace.experiment import design, precision, stored
from headrace.files import keep_apart
from headrace.report import Report, files
from headrace.scenario import load


def compare_command(
    a: Annotated[Path, typer.Argument(help="Scenario A.", show_default=False)],
    b: Annotated[
        Path | None,
        typer.Argument(help="Scenario B. [default: A with the values of `--with`]", show_default=False),
    ] = None,
    replications: Annotated[int, typer.Option(min=2, metavar="R", help="Number of pairs of runs.")] = 10,
    other: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="PATH=VALUE", help="Replace a value of A in B. May be repeated."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Print every metric.")] = False,
    store: StoreFolder = None,
    workers: Workers = None,
    as_json: AsJson = False,
    sets: Sets = None,
    report: ReportFile = None,
    live: LivePage = False,
) -> None:
    """Run two scenarios with the same random numbers, and report what differs, with confidence intervals."""
    from headrace.experiment import compare

    if named := [one for one in other or () if "=" not in one and Path(one).is_file()]:
        raise UsageError(f"`--with` replaces a value: PATH=VALUE. For two files: headrace compare {a} {named[0]}")
    if b is None and not other:
        only_set = " `--set` changes both." if sets else ""
        raise UsageError(f"There is no second scenario: name its file, or what differs: `--with PATH=VALUE`.{only_set}")

    def ask(how: How) -> compare.Comparison:
        first = load(a).with_(changes(sets))
        second = (load(b).with_(changes(sets)) if b else first).with_(changes(other))
        keep_apart({"--report": report, "--store": store}, [*first.inputs(), *second.inputs(), *stored.files(store)])
        return compare.compare(first, second, replications=replications, **how)

    def tell(found: compare.Comparison) -> None:
        print_answer(as_json, compare.as_json(found), found.report(every=every))

    def shown(found: compare.Comparison) -> Report:
        return found.report().also(*files(texts(a, b)))

    answered(ask, tell, shown, as_json=as_json, kept=store, workers=workers, page=report, live=live)


def _share(text: str, option: str) -> float:
    try:
        return precision.share(text)
    except ValueError:
        raise typer.BadParameter(f"`{text}` is invalid: write a share such as 2%", param_hint=option) from None


def capacity_command(
    file: File,
    increase: Annotated[
        str, typer.Option(metavar="PATH", help="Field to increase: `workload.users.arrivals.poisson`.")
    ],
    until: Annotated[
        list[str] | None,
        typer.Option(
            "--until",
            "--meet",
            metavar="OBJECTIVE",
            help="Limit that ends the search, `p99(reads) > 20 ms`, or goal to reach, `p99(reads) < 20 ms`. "
            "May be repeated. [default: the objectives of FILE]",
            show_default=False,
        ),
    ] = None,
    least: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="VALUE", help="Smallest value to try. [default: search both ways from the value in FILE]"
        ),
    ] = None,
    most: Annotated[
        str | None, typer.Option("--to", metavar="VALUE", help="Largest value to try.", show_default=False)
    ] = None,
    within: Annotated[
        str, typer.Option(metavar="SHARE", help="Stop when the two ends of the answer are this close.")
    ] = "2%",
    replications: Annotated[int, typer.Option(min=2, metavar="R", help="Number of runs of each value at first.")] = 5,
    budget: Annotated[int, typer.Option(min=2, metavar="N", help="Maximum number of runs of each value.")] = 40,
    store: StoreFolder = None,
    workers: Workers = None,
    as_json: AsJson = False,
    sets: Sets = None,
    report: ReportFile = None,
    live: LivePage = False,
) -> None:
    """Find the largest load that meets objectives, or the smallest design: how much load, how few disks."""
    from headrace.experiment import capacity

    ends = [None if one is None else design.scalar(one) for one in (least, most)]
    search: dict[str, Any] = {"least": ends[0], "most": ends[1], "within": _share(within, "--within")}
    search |= {"replications": replications, "budget": budget}

    def ask(how: How) -> capacity.Capacity:
        loaded = load(file).with_(changes(sets))
        keep_apart({"--report": report, "--store": store}, [*loaded.inputs(), *stored.files(store)])
        return capacity.capacity(loaded, increase, until or (), **search, **how)

    def tell(found: capacity.Capacity) -> None:
        print_answer(as_json, capacity.as_json(found), found.report())

    def shown(found: capacity.Capacity) -> Report:
        return found.report(title=file.stem).also(*files(texts(file)))

    found = answered(ask, tell, shown, as_json=as_json, kept=store, workers=workers, page=report, live=live)
    if found.meets is None or found.fails is None:
        raise typer.Exit(CUT_SHORT)


def optimise_command(
    file: File,
    vary: Vary = None,
    minimise: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC", help="Goal: `p99(reads)`, `price(system)` or `300 * disks`. May be repeated."),
    ] = None,
    maximise: Annotated[
        list[str] | None, typer.Option(metavar="METRIC", help="Goal: `requests_per_s(users)`. May be repeated.")
    ] = None,
    subject_to: Annotated[
        list[str] | None, typer.Option(metavar="CONSTRAINT", help="Constraint: `p99(reads) < 20 ms`. May be repeated.")
    ] = None,
    trials: Annotated[int, typer.Option(min=1, metavar="N", help="Maximum number of designs to try.")] = 50,
    replications: Annotated[int, typer.Option(min=1, metavar="R", help="Number of runs of each design.")] = 3,
    budget: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Maximum number of runs of a design while its constraints are undecided."
        ),
    ] = 24,
    store: StoreFolder = None,
    workers: Workers = None,
    as_json: AsJson = False,
    sets: Sets = None,
    report: ReportFile = None,
    live: LivePage = False,
) -> None:
    """Find the best design within constraints; with several goals, the Pareto-optimal ones."""
    from headrace.experiment import optimise

    axes = _wanted(vary)

    def ask(how: How) -> optimise.Optimum:
        loaded = load(file).with_(changes(sets))
        keep_apart({"--report": report, "--store": store}, [*loaded.inputs(), *stored.files(store)])
        return optimise.optimise(
            loaded,
            axes,
            minimise=minimise or (),
            maximise=maximise or (),
            subject_to=subject_to or (),
            trials=trials,
            replications=replications,
            budget=budget,
            **how,
        )

    def tell(found: optimise.Optimum) -> None:
        print_answer(as_json, optimise.as_json(found), found.report())

    def shown(found: optimise.Optimum) -> Report:
        return found.report(title=file.stem).also(*files(texts(file)))

    found = answered(ask, tell, shown, as_json=as_json, kept=store, workers=workers, page=report, live=live)
    if not found.front:
        raise typer.Exit(CUT_SHORT)


def sensitivity_command(
    file: File,
    metric: Annotated[str, typer.Option(metavar="METRIC", help="Metric to explain: `mean(users)`.")],
    vary: Vary = None,
    method: Annotated[
        str, typer.Option(help="`morris` takes few runs; `sobol` gives shares of the variance and takes many.")
    ] = "morris",
    samples: Annotated[
        int, typer.Option(min=2, metavar="N", help="Number of trajectories (morris) or of base samples (sobol).")
    ] = 16,
    replications: Annotated[int, typer.Option(min=1, metavar="R", help="Number of runs at each point.")] = 1,
    store: StoreFolder = None,
    workers: Workers = None,
    as_json: AsJson = False,
    sets: Sets = None,
    report: ReportFile = None,
    live: LivePage = False,
) -> None:
    """Find out which of several fields affect a metric, and by how much."""
    from headrace.experiment import sensitivity

    axes = _wanted(vary)

    def ask(how: How) -> sensitivity.Sensitivity:
        loaded = load(file).with_(changes(sets))
        keep_apart({"--report": report, "--store": store}, [*loaded.inputs(), *stored.files(store)])
        return sensitivity.sensitivity(
            loaded,
            axes,
            metric,
            method=method,
            samples=samples,
            replications=replications,
            **how,
        )

    def tell(found: sensitivity.Sensitivity) -> None:
        print_answer(as_json, sensitivity.as_json(found), found.report())

    def shown(found: sensitivity.Sensitivity) -> Report:
        return found.report(title=file.stem).also(*files(texts(file)))

    answered(ask, tell, shown, as_json=as_json, kept=store, workers=workers, page=report, live=live)


def _wanted(vary: list[str] | None) -> dict[str, Any]:
    axes = axes_of(vary)
    if not axes:
        raise typer.BadParameter("say what varies, such as `--vary system.tds.disks=4..16/13`", param_hint="--vary")
    return axes
