"""An experiment as one page: the answer, its pictures, the table, and links to a page for each run."""

from pathlib import Path

from headrace.experiment.table import Table
from headrace.view.pages import page, run
from headrace.view.pictures import experiment as pictures
from headrace.view.pictures.chart import svg
from headrace.view.tables.experiment import as_rows, metric_title, notes, shown_metrics, unit_of
from headrace.view.words import counted


def write(table: Table, file: str | Path, *, runs: bool = False) -> None:
    """Write the page to a file, whole or not at all; with `runs`, the first run of each point to a page of its own.

    Those pages lie in a folder beside the file, named after it. They are made by running each point once more.
    """
    file = Path(file)
    folder = file.with_name(f"{file.stem}-runs")
    if runs:
        _write_runs(table, folder)
    metrics = shown_metrics(table)
    columns, rows = as_rows(table, metrics)
    page.write(
        file,
        "experiment.html",
        title=Path(table.experiment.scenario.file).stem,
        subtitle=_what_was_run(table),
        answer=table.answer,
        notes=notes(table),
        pictures=_drawn(table, metrics),
        columns=columns,
        rows=rows,
        links=_links(table, folder.name if runs else None),
        scenario=table.experiment.scenario.text,
        changes=table.experiment.scenario.changes,
    )


def _what_was_run(table: Table) -> str:
    points, runs = table.experiment.points, [len(table.of(point)) for point in table.experiment.points]
    most = max(runs, default=0)
    over = f" of {' × '.join(table.experiment.places)}" if table.experiment.places else ""
    return f"sweep{over}: {counted(len(points), 'point')}, at most {counted(most, 'run')} each"


def _write_runs(table: Table, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for point in table.experiment.points:
        if table.of(point) and table.reason(point) is None:
            results = table.experiment.scenario.with_({**point.values, "run.replications": 1}).run()
            run.write(results, folder / f"{point.key}.html", title=str(point))


def _drawn(table: Table, metrics: list[str]) -> dict[str, str]:
    shown = metrics if table.experiment.places else []  # Of one point alone there is nothing to draw.
    return {metric_title(metric, unit_of(table, metric)): svg(pictures.of(table, metric)) for metric in shown}


def _links(table: Table, runs: str | None) -> list[str | None]:
    """Return where the page of each point's first run is; `runs` is the folder of those pages, beside this one."""
    return [
        f"{runs}/{point.key}.html" if runs and table.reason(point) is None else None
        for point in table.experiment.points
    ]
