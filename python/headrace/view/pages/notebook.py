"""What was found as part of a notebook: the answer, its picture, its tables."""

from functools import singledispatch
from typing import Any

from headrace.experiment.capacity import Capacity
from headrace.experiment.compare import Comparison
from headrace.experiment.optimise import Optimum
from headrace.experiment.sensitivity import Sensitivity
from headrace.experiment.table import Table
from headrace.results import Results
from headrace.view.pages import page
from headrace.view.pictures import decisions, experiment
from headrace.view.pictures.chart import Drawing, svg
from headrace.view.pictures.run import response_cdf
from headrace.view.tables import decisions as tables
from headrace.view.tables import run as tables_of_run
from headrace.view.tables.experiment import as_rows, notes, shown_metrics

Rows = tuple[list[str], list[list[str]]]
Shown = tuple[list[Drawing], list[Rows]]


def in_notebook(found: Any) -> str:
    """Return what was found as HTML that fits into a notebook, light or dark."""
    drawn, told = shown(found)
    said = notes(found) if isinstance(found, Table) else getattr(found, "notes", [])
    pictures = [svg(chart) for chart in drawn]
    return page.fragment("notebook.html", answer=found.answer, notes=said, pictures=pictures, tables=told)


@singledispatch
def shown(found: Any) -> Shown:
    """Return the pictures and tables of what was found."""
    raise TypeError(f"nothing shows a {type(found).__name__}")


@shown.register
def _(found: Results) -> Shown:
    answered = [at for at, stream in enumerate(found.data["streams"]) if stream["response"]["count"]]
    told = [_responses(found, at) for at in answered]
    return [response_cdf(found.data, at) for at in answered[:1]], [*told, tables_of_run.components(found.data)]


def _responses(found: Results, at: int) -> Rows:
    stream = found.data["streams"][at]
    columns, rows = tables_of_run.response_table(stream, found.data["theory"][at])
    return [f"{stream['name']}, {tables_of_run.unit_of_responses(stream).name}", *columns], rows


@shown.register
def _(found: Table) -> Shown:
    metrics = shown_metrics(found)
    drawn = [experiment.of(found, metric) for metric in metrics[:1] if found.experiment.places]
    return drawn, [as_rows(found, metrics)]


@shown.register
def _(found: Comparison) -> Shown:
    return [decisions.differences(found)], [tables.differences(found)]


@shown.register
def _(found: Capacity) -> Shown:
    return [decisions.tried(found, goal) for goal in found.goals], [tables.loads(found)]


@shown.register
def _(found: Optimum) -> Shown:
    return [decisions.front(found)] if len(found.goals) > 1 else [], [tables.front(found)]


@shown.register
def _(found: Sensitivity) -> Shown:
    return [decisions.effects(found)], [tables.effects(found)]
