"""An experiment as a table: every point with its intervals, and what a reader must know before trusting them."""

from headrace._core import of_few
from headrace.experiment.design import Point, short
from headrace.experiment.table import Table
from headrace.times import MS, Unit, interval, unit
from headrace.view.words import counted

# Maximum number of reasons shown.
MOST_REASONS = 10


def notes(table: Table) -> list[str]:
    """Return why points failed, and which intervals cannot be trusted."""
    alone = [point for point in table.experiment.points if len(table.of(point)) == 1]
    untrusted = [
        point
        for point in alone
        if table.reason(point) is None and not (table.of(point)[0]["trusted"] or table.of(point)[0]["saturated"])
    ]
    failed = [f"{point} failed: {reason}." for point, reason in table.failed]
    said = failed[:MOST_REASONS]
    said += [f"{len(failed) - MOST_REASONS} more failed."] if len(failed) > MOST_REASONS else []
    full = [point for point in table.experiment.points if any(record["saturated"] for record in table.of(point))]
    short = [point for point in table.experiment.points if len(table.of(point)) > 1 and not table.is_trusted(point)]
    short = [point for point in short if point not in full and table.reason(point) is None]
    filling = [point for point in table.experiment.points if table.reason(point) is None and table.filling(point)]
    for points, says in (
        (full, "a component was never idle: response times grow with run length"),
        (untrusted, "the interval of the single run cannot be trusted"),
        (short, "runs are too short for their intervals to be trusted"),
        (filling, "a cache was still filling: longer runs may be slower there"),
    ):
        said += [f"At {counted(len(points), 'point')} {says}."] if points else []
    few = min((runs for point in table.experiment.points if (runs := len(table.of(point))) > 1), default=0)
    return said + [f"{note[0].upper()}{note[1:]}." for note in [of_few(few)] if note]


def shown_metrics(table: Table) -> list[str]:
    """Return the metrics that are drawn and printed: those of interest, their slowest hundredth, what is busiest."""
    chosen = list(table.metrics_of_interest)
    chosen += [late for metric in chosen if (late := metric.replace("mean_ms", "p99_ms")) in table.metrics]
    chosen += [metric for metric in table.metrics if metric.endswith(".requests_per_s")]
    used = {
        metric: max((mean[0] for point in table.experiment.points if (mean := table.mean(point, metric))), default=0.0)
        for metric in table.metrics
        if metric.endswith(".utilisation")
    }
    chosen += [max(used, key=lambda metric: used[metric])] if used else []
    return list(dict.fromkeys(chosen))


def as_rows(table: Table, metrics: list[str]) -> tuple[list[str], list[list[str]]]:
    """Return the table as text: the places, how many replications, the metrics with their intervals, what failed."""
    places = list(table.experiment.places)
    rows = [_row(table, point, places, metrics) for point in table.experiment.points]
    failing = any(row[-1] for row in rows)
    titles = [metric_title(metric, unit_of(table, metric)) for metric in metrics]
    columns = [*(short(place, places) for place in places), "runs", *titles, ""]
    return (columns, rows) if failing else (columns[:-1], [row[:-1] for row in rows])


def _row(table: Table, point: Point, places: list[str], metrics: list[str]) -> list[str]:
    cells = [_cell(table, point, metric) for metric in metrics]
    return [
        *(str(point.values.get(place, "")) for place in places),
        str(sum(record["ok"] for record in table.of(point))),
        *cells,
        "failed" if table.reason(point) else "",
    ]


def _cell(table: Table, point: Point, metric: str) -> str:
    found = table.mean(point, metric)
    if found is None:
        return "—"
    scale = scale_of(metric, unit_of(table, metric))
    return interval(found[0] * scale, found[1] and found[1] * scale)


def is_time(metric: str) -> bool:
    """Whether the values of a metric are times, in ms."""
    return metric.endswith("_ms")


def unit_of(table: Table, metric: str) -> Unit:
    """Return the unit of a metric's values in tables and on axes; that of other metrics than times has no use."""
    every = (table.mean(point, metric) for point in table.experiment.points) if is_time(metric) else ()
    return unit(mean[0] for mean in every if mean)


# How metrics other than times are called on pages, and what their values are multiplied by.
MEASURES = {
    "requests_per_s": ("requests/s", 1.0),
    "bytes_per_s": ("MB/s", 1e-6),
    "utilisation": ("utilisation, %", 100.0),
}


def metric_title(metric: str, unit: Unit = MS) -> str:
    """Return a metric's name as a picture has it: `readers.p99_ms` → `readers: p99, ms`."""
    of, _, what = metric.rpartition(".")
    name, _ = MEASURES.get(what, (what.replace("_ms", f", {unit.name}"), 1.0))
    return f"{of}: {name}"


def scale_of(metric: str, unit: Unit) -> float:
    """Return what the values of a metric are multiplied by where `metric_title` names them."""
    return 1 / unit.ms if is_time(metric) else MEASURES.get(metric.rpartition(".")[2], ("", 1.0))[1]


def metric_name(metric: str) -> str:
    """Return a metric's name without its unit: `readers: p99`."""
    title = metric_title(metric)
    return title.rpartition(", ")[0] or title
