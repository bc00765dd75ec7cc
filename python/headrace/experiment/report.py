"""An experiment as one page: the answer, its pictures, the table, and links to a page for each run."""

from pathlib import Path
from typing import Any

from headrace import figures, page
from headrace import report as run_report
from headrace.experiment import optimise, pictures
from headrace.experiment.design import Point, short
from headrace.experiment.table import Table, interval
from headrace.files import write_whole

Json = dict[str, Any]

# So many reasons are told at once.
MOST_REASONS = 10


def write(table: Table, file: str | Path, *, runs: bool = False) -> None:
    """Write the page to a file, whole or not at all; with `runs`, the first run of each point to a page of its own.

    Those pages lie in a folder beside the file, named after it. They are made by running each point once more.
    """
    file = Path(file)
    folder = file.with_name(f"{file.stem}-runs")
    if runs:
        folder.mkdir(exist_ok=True)
        for point in table.experiment.points:
            if table.of(point) and table.reason(point) is None:
                results = table.experiment.scenario.with_({**point.values, "run.replications": 1}).run()
                run_report.write(results, folder / f"{point.key}.html", title=str(point))
    write_whole(file, render(table, folder.name if runs else None))


def render(table: Table, runs: str | None = None) -> str:
    """Return the page; `runs` is the folder, beside it, of the runs' own pages."""
    metrics = shown_metrics(table)
    shown = metrics if table.experiment.places else []  # Of one point alone there is nothing to draw.
    drawn = {pictures.metric_title(metric): figures.svg(pictures.of(table, metric)) for metric in shown}
    columns, rows = as_rows(table, metrics)
    links = [
        f"{runs}/{point.key}.html" if runs and table.reason(point) is None else None
        for point in table.experiment.points
    ]
    return page.render(
        "experiment.html",
        title=Path(table.experiment.scenario.file).stem,
        answer=table.answer,
        notes=notes(table),
        pictures=drawn,
        wide=len(table.experiment.places) > 2,
        columns=columns,
        rows=list(zip(rows, links, strict=True)),
        scenario=table.experiment.scenario.text,
        changes=table.experiment.scenario.changes,
    )


def notes(table: Table) -> list[str]:
    """Return why points failed, and which intervals are not to be trusted."""
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
    said += [f"At {len(full)} points a component was never idle: times tell how long the run was."] if full else []
    said += [f"At {len(untrusted)} points the interval of the one run is not to be trusted."] if untrusted else []
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
    columns = [*(short(place, places) for place in places), "runs", *map(pictures.metric_title, metrics), ""]
    return (columns, rows) if failing else (columns[:-1], [row[:-1] for row in rows])


def _row(table: Table, point: Point, places: list[str], metrics: list[str]) -> list[str]:
    found = [table.mean(point, metric) for metric in metrics]
    return [
        *(str(point.values.get(place, "")) for place in places),
        str(sum(record["ok"] for record in table.of(point))),
        *(interval(*one) if one else "—" for one in found),
        "failed" if table.reason(point) else "",
    ]


def write_optimum(found: optimise.Optimum, file: str | Path, *, title: str) -> None:
    """Write the designs that none beats as a page: the picture of the first two goals, and the table."""
    columns, rows = optimise.rows(found)
    drawn = {"All designs, by the first two goals": figures.svg(pictures.front(found))} if len(found.goals) > 1 else {}
    tables = {"The designs that none beats in every respect": (columns, rows)}
    text = page.render("validation.html", title=title, answer=found.answer, notes=[], pictures=drawn, tables=tables)
    write_whole(file, text)
