"""Results on a terminal: the answer, a picture, the tables."""

import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from headrace import calibration as calibrations
from headrace import devices, fitted
from headrace import trace as traces
from headrace import validation as validations

if TYPE_CHECKING:
    from headrace.experiment.rounds import Standing, Watch
    from headrace.experiment.table import Table as Found
    from headrace.experiment.task import Record
    from headrace.study import Report, Study

Json = dict[str, Any]

BAR = "█"
VERDICT_STYLE = {
    "holds": "green",
    "fails": "bold red",
    "undecided": "yellow",
    "disputed": "cyan",
    "not testable": "dim",
}

IN_PLURAL = {
    "holds": "hold",
    "fails": "fail",
    "undecided": "are undecided",
    "disputed": "are disputed",
    "not testable": "are not testable",
}


@contextmanager
def progress(*, quiet: bool) -> Iterator[Callable[[int, int, list[tuple[str, int]]], object] | None]:
    """Show how far a run is, how long it will take, and its longest queues, on a terminal; elsewhere nothing."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("requests,"),
        TimeRemainingColumn(),
        TextColumn("left {task.fields[queues]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None, queues="")

        def watch(so_far: int, wanted: int, queues: list[tuple[str, int]]) -> None:
            what = "simulating" if wanted else "reading the trace"
            waiting = ", ".join(f"{count:,} wait for {path}" for path, count in queues)
            bar.update(task, description=what, completed=so_far, total=wanted or None, queues=waiting)

        yield watch


@contextmanager
def study_progress(study: "Study", *, quiet: bool) -> Iterator[Callable[[str], object] | None]:
    """Say which case of a study is being run, on a terminal; elsewhere nothing."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    with Console(stderr=True).status(study.name) as status:
        yield lambda case: status.update(f"{study.name}: {case}")


@contextmanager
def saying(*, quiet: bool) -> Iterator[Callable[[str], object] | None]:
    """Say what is being done, on a terminal; elsewhere nothing."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    with Console(stderr=True).status("starting") as status:
        yield status.update


def milliseconds(value: float) -> str:
    """Write a time with four significant digits, in the unit that suits it."""
    for unit, scale in (("s", 1e3), ("ms", 1.0), ("µs", 1e-3)):
        if abs(value) >= scale or unit == "µs":
            return f"{value / scale:.4g} {unit}"
    raise AssertionError


def results(found: Json) -> None:
    """Print results: the answer first, then where the time went, then the tables."""
    console = Console(highlight=False, markup=False)
    console.print(Text(found["answer"], style="bold"))
    for note in found["notes"]:
        console.print(Text(f"note: {note}", style="yellow"))
    theories = {theory["stream"]: theory for theory in found["theory"]}
    for stream in found["streams"]:
        if stream["response"]["count"]:
            console.print()
            _path(console, stream)
            console.print(_responses(stream, theories[stream["name"]]))
            console.print(theory_in_words(theories[stream["name"]]), style="dim")
    console.print()
    console.print(_components(found))
    how = "by recursion" if found["engine"] == "recursion" else f"{found['events']:,} events"
    console.print(
        f"seed {found['scenario']['run']['seed']}, {found['replications']} replication(s), {how}, "
        f"{found['simulated_s']:,.0f} simulated seconds after {found['warm_up_s']:,.0f} of warm-up; "
        f"headrace {found['headrace']}",
        style="dim",
    )


def legs(stream: Json) -> list[tuple[str, str, float, float]]:
    """Return where the time of an average request went, longest first: (component, waiting or service, ms, share)."""
    found = [(leg["component"], what, leg[f"{what}_ms"]) for leg in stream["path"] for what in ("waiting", "service")]
    total = stream["response"]["mean_ms"]
    longest = sorted((leg for leg in found if leg[2] > 0), key=lambda leg: leg[2], reverse=True)
    return [(component, what, time, time / total) for component, what, time in longest]


def _path(console: Console, stream: Json) -> None:
    console.print(f"where the time of {stream['name']} went")
    table = Table.grid(padding=(0, 1))
    for component, what, time, share in legs(stream):
        bar = Text(BAR * max(1, round(share * 30)), style="blue" if what == "service" else "magenta")
        table.add_row(f"  {component}", what, bar, f"{milliseconds(time)} ({share:.0%})")
    console.print(table)


def _responses(stream: Json, theory: Json) -> Table:
    columns, rows = response_table(stream, theory)
    return _table(["", *columns], rows, title=f"response time of {stream['name']}, ms")


def _table(
    columns: Sequence[str],
    rows: Iterable[Iterable[str | Text]],
    *,
    title: str | None = None,
    words: Collection[str] = ("",),
) -> Table:
    """Return a table: numbers to the right, the columns that hold `words` to the left."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="left" if column in words else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def response_table(stream: Json, theory: Json) -> tuple[list[str], list[list[str]]]:
    """Return response times as columns and rows: simulated, beside what was measured, and beside theory."""
    measured = stream["measured"]
    others = [("measured", _measured_column(measured["all"]))] if measured else []
    if theory["mean_ms"] is not None:
        others.append(("theory", _theory_column(theory)))
    rows = []
    for row, simulated in _simulated_column(stream["response"]).items():
        cells = [row, _with_interval(stream["response"], row, simulated)]
        for _, column in others:
            other = column.get(row)
            cells += ["", ""] if not other else [_ms(other), f"{simulated / other - 1:+.2%}"]
        rows.append(cells)
    columns = ["simulated", *(column for name, _ in others for column in (name, "off by"))]
    return columns, rows + (_demerits(measured, len(columns)) if measured else [])


def _with_interval(response: Json, row: str, simulated: float) -> str:
    half_width = response["half_width_ms"] if row == "mean" else None
    return _ms(simulated) + (f" ± {half_width:.2g}" if half_width is not None else "")


def _simulated_column(response: Json) -> dict[str, float]:
    column = {"mean": response["mean_ms"], "std. deviation": response["sd_ms"]}
    return column | {_within(quantile["share"]): quantile["ms"] for quantile in response["quantiles_ms"]}


def _theory_column(theory: Json) -> dict[str, float]:
    column = {"mean": theory["mean_ms"], "std. deviation": theory["sd_ms"]}
    return column | {_within(share): time for share, time in theory["quantiles_ms"]}


def _measured_column(measured: Json) -> dict[str, float]:
    column = {"mean": measured["measured_mean_ms"]}
    return column | {_within(share): time for share, time in measured["measured_quantiles_ms"]}


def _ms(value: float) -> str:
    """Write milliseconds: to the microsecond, and smaller ones with four digits."""
    return f"{value:.3f}" if value >= 1 or value == 0 else f"{value:.4g}"


def _percent(value: float | None, form: str) -> str:
    """Write a percentage; nothing where what was measured is zero and there is none."""
    return "—" if value is None else f"{value:{form}}%"


def _within(share: float) -> str:
    return f"{share * 100:.4g} % within"


def _demerits(measured: Json, columns: int) -> list[list[str]]:
    """Return the rows that say how far off the simulation is, for all requests, reads and writes."""
    rows = []
    for name in ("all", "reads", "writes"):
        if part := measured[name]:
            means = [_ms(part["simulated_mean_ms"]), _ms(part["measured_mean_ms"])]
            rows.append([f"{name}: mean", *means, _percent(part["mean_error_percent"], "+.1f")])
            rows.append([f"{name}: demerit", _ms(part["demerit_ms"]), "", _percent(part["demerit_percent"], ".1f")])
    return [row + [""] * (columns + 1 - len(row)) for row in rows]


def theory_in_words(theory: Json) -> str:
    """Say which formula applies, and what fails of its assumptions where something does."""
    if theory["model"] == "none":
        return f"theory: none applies. What fails of its assumptions: {theory['fails']}"
    if theory["exact"]:
        return f"theory: {theory['model']}, whose assumptions hold"
    return f"theory: {theory['model']}, an approximation. What fails: {theory['fails']}"


def _components(found: Json) -> Table:
    rows = []
    for part in grouped(found["components"]):
        busy = "" if part["utilisation"] is None else f"{part['utilisation']:.1%}"
        queue = "" if part["queue"] is None else f"{part['queue']:.3g}"
        times = ("", "") if part["utilisation"] is None else (_ms(part["waiting_ms"]), _ms(part["service_ms"]))
        rows.append([part["path"], busy, queue, *times, f"{part['bytes_per_s'] / 1e6:.4g}"])
    columns = ("", "busy", "waiting", "mean wait, ms", "mean service, ms", "MB/s")
    return _table(columns, rows, title="components")


def grouped(components: list[Json]) -> Iterator[Json]:
    """Show at most eight disks of an array one by one; of more, the busiest and how many there are."""
    groups: dict[str, list[Json]] = {}
    for component in components:
        groups.setdefault(component["group"], []).append(component)
    for members in groups.values():
        if len(members) <= 8:
            yield from members
        else:
            busiest = max(members, key=lambda member: member["utilisation"] or 0)
            yield busiest | {"path": f"{busiest['path']} (busiest of {len(members)})"}


def device_list(found: list[Json]) -> None:
    """Print the devices, one a line."""
    rows = [(one["name"], one["title"], f"{one['random_read_ms']:.2f}") for one in found]
    table = _table(("device", "is", "random 4 KiB read, ms"), rows, words=("device", "is"))
    Console(highlight=False, markup=False).print(table)


def device(found: Json) -> None:
    """Print a device: what it is, its curves, and every number with its origin."""
    console = Console(highlight=False, markup=False)
    console.print(Text(devices.in_a_sentence(found), style="bold"))
    console.print(f"Validation: {found['validation']}")
    _curve(console, "media rate by place, MB/s", [(f"{u:.0%} in", y) for u, y in found["zone_rates"][::20]])
    seeks = found["seek_read"][10::10]
    _curve(console, "seek time of reads by distance, ms", [(f"{round(x)} cylinders", y) for x, y in seeks])
    console.print()
    columns = ("number", "value", "from")
    rows = [(number["field"], number["value"], number["origin"]) for number in found["numbers"]]
    console.print(_table(columns, rows, words=columns))


def calibration(found: Json) -> None:
    """Print what a calibration reached: in a sentence, on the half that judges, and every parameter."""
    console = Console(highlight=False, markup=False)
    console.print(Text(calibrations.in_words(found), style="bold"))
    console.print()
    console.print(_table(*validations.rows(found["judged"]["simulated"]), title="on the half that was not fitted"))
    console.print()
    columns = ("parameter", "was", "is", "standard error")
    console.print(_table(columns, map(fitted.words, found["parameters"]), words=("parameter",)))


def validation(found: Json) -> None:
    """Print how far a device is off a measured trace, and the requests furthest off."""
    console = Console(highlight=False, markup=False)
    console.print(Text(validations.in_a_sentence(found), style="bold"))
    for title, (columns, rows) in {
        "how far off": validations.rows(found),
        "the requests furthest off, and what the model thought happened": validations.worst_rows(found),
    }.items():
        console.print()
        console.print(_table(columns, rows, title=title, words=("", "op", "the model went to")))


def trace(found: Json, name: str) -> None:
    """Print what a trace is like: in a sentence, its rate over time, the table."""
    console = Console(highlight=False, markup=False)
    console.print(Text(f"{name}: {traces.in_a_sentence(found)}", style="bold"))
    if arrivals := found["info"]["arrivals"]:
        _curve(console, "requests a second, over time", _rates(arrivals["over_time"]))
    console.print()
    table = Table(box=None, pad_edge=False, show_header=False)
    for row in traces.rows(found):
        table.add_row(*row)
    console.print(table)


def _rates(points: list[list[float]], most: int = 16) -> list[tuple[str, float]]:
    """Draw rates over time together to at most so many intervals: (until when, mean rate)."""
    together = -(-len(points) // most)
    rates, begin = [], 0.0
    for at in range(0, len(points), together):
        group = points[at : at + together]
        ends = [begin, *(end for end, _ in group)]
        requests = sum(rate * (b - a) for (_, rate), a, b in zip(group, ends, ends[1:], strict=False))
        rates.append((f"{ends[-1]:,.4g} s", requests / max(ends[-1] - begin, 1e-9)))
        begin = ends[-1]
    return rates


def _curve(console: Console, title: str, points: list[tuple[str, float]]) -> None:
    console.print(f"\n{title}")
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right")
    most = max((value for _, value in points), default=1.0) or 1.0
    for place, value in points:
        table.add_row(f"  {place}", Text(BAR * max(1, round(value / most * 30)), style="blue"), f"{value:.4g}")
    console.print(table)


def study(report: "Report") -> None:
    """Print a study: how many claims hold, then each."""
    console = Console(highlight=False, markup=False)
    counts = dict.fromkeys(VERDICT_STYLE, 0)
    for claim in report["claims"]:
        counts[claim["verdict"]] += 1
    said = ", ".join(f"{count} {IN_PLURAL[verdict]}" for verdict, count in counts.items() if count)
    console.print(Text(f"{report['study']}: of {len(report['claims'])} claims {said}.", style="bold"))
    rows: list[tuple[str | Text, ...]] = []
    for claim in report["claims"]:
        verdict = Text(claim["verdict"], style=VERDICT_STYLE[claim["verdict"]])
        shown = [_shown(claim["published"]), _shown(claim["obtained"])]
        rows.append((claim["id"], claim["text"], *shown, claim["tolerance"], verdict))
    columns = ("claim", "", "published", "obtained", "tolerance", "verdict")
    console.print(_table(columns, rows, words=("claim", "", "tolerance", "verdict")))
    for claim in report["claims"]:
        if claim["why"]:
            console.print(f"\n{claim['id']} is {claim['verdict']}: {claim['why']}")


def _shown(value: object, *, digits: int = 5) -> str:
    if value is None:
        return "—"
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


@contextmanager
def tasks(*, quiet: bool) -> Iterator["Watch | None"]:
    """Show how many runs are done, run and failed, and how long the others take, on a terminal; elsewhere nothing."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("runs{task.fields[running]}{task.fields[failed]},"),
        TimeRemainingColumn(),
        TextColumn("left{task.fields[least]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, running="", failed="", least="")
        failed, least = 0, float("inf")

        def watch(record: "Record", standing: "Standing") -> None:
            nonlocal failed, least
            failed += not record["ok"]
            means = [value for name, value in record["metrics"].items() if name.endswith(".mean_ms") and value]
            least = min([*means[:1], least])
            bar.update(
                task,
                completed=standing.done,
                total=standing.wanted,
                running=f", {standing.running} running",
                failed=f", {failed} failed" if failed else "",
                least=f", least mean {least:.4g} ms" if least < float("inf") else "",
            )

        yield watch


def rows(columns: Sequence[str], cells: Iterable[Sequence[str]], *, answer: str | None = None) -> None:
    """Print a table, with the answer above it where there is one."""
    # In a file or a pipe lines may be long; columns folded to a few letters help nobody there.
    wide = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 250
    console = Console(highlight=False, markup=False, width=wide)
    if answer:
        console.print(Text(answer, style="bold"))
        console.print()
    console.print(_table(columns, cells))


def table(found: "Found") -> None:
    """Print what an experiment found: in a sentence, then every point."""
    from headrace.experiment import report  # noqa: PLC0415 - pictures take longer to load than tables

    rows(*report.as_rows(found, report.shown_metrics(found)), answer=found.answer)
    for note in report.notes(found):
        Console(highlight=False, markup=False).print(note, style="yellow")
