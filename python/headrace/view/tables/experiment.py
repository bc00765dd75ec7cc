"""An experiment as a table: every point with its intervals, and what a reader must know before trusting them."""

from headrace.experiment.design import Point, short
from headrace.experiment.table import Table, interval

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
    said += [f"At {len(full)} points a component was never idle: response times grow with run length."] if full else []
    said += [f"At {len(untrusted)} points the interval of the single run cannot be trusted."] if untrusted else []
    short = [point for point in table.experiment.points if len(table.of(point)) > 1 and not table.is_trusted(point)]
    short = [point for point in short if point not in full and table.reason(point) is None]
    said += [f"At {len(short)} points runs are too short for their intervals to be trusted."] if short else []
    return said


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
    columns = [*(short(place, places) for place in places), "runs", *map(metric_title, metrics), ""]
    return (columns, rows) if failing else (columns[:-1], [row[:-1] for row in rows])


def _row(table: Table, point: Point, places: list[str], metrics: list[str]) -> list[str]:
    found = [table.mean(point, metric) for metric in metrics]
    return [
        *(str(point.values.get(place, "")) for place in places),
        str(sum(record["ok"] for record in table.of(point))),
        *(interval(*one) if one else "—" for one in found),
        "failed" if table.reason(point) else "",
    ]


def metric_title(metric: str) -> str:
    """Return a metric's name as a picture has it: `readers.p99_ms` → `readers: p99, ms`."""
    of, _, what = metric.rpartition(".")
    names = {"requests_per_s": "requests/s", "bytes_per_s": "bytes/s"}
    return f"{of}: {names.get(what, what.replace('_ms', ', ms'))}"
