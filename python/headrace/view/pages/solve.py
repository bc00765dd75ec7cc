"""A network of queues as one page: the answer, pictures against load, the tables."""

from pathlib import Path
from typing import Any

from headrace.reports import NONE, Texts
from headrace.view.pages import page
from headrace.view.pictures import solve as pictures
from headrace.view.pictures.chart import svg
from headrace.view.tables import solve as tables

Json = dict[str, Any]


def write(found: Json, file: str | Path, *, title: str, scenarios: Texts = NONE) -> None:
    """Write the page to a file: whole, or not at all."""
    shown = {
        "Load by load; →: the load of the scenario": tables.against_load(found),
        "What limits it, the bottleneck first": tables.limits(found),
    }
    bounds = tables.bounds(found)
    page.write(
        file,
        "tables.html",
        title=title,
        subtitle=_what_was_done(found),
        answer=found["answer"],
        notes=[tables.method(found), *found["fails"]],
        pictures={name: svg(chart) for name, chart in pictures.drawn(found).items()},
        tables=shown | ({"Throughput, its bounds and approximations": bounds} if bounds else {}),
        scenarios=scenarios,
    )


def _what_was_done(found: Json) -> str:
    beside = "beside simulations" if any(point.get("simulated") for point in found["points"]) else "without simulation"
    return f"solution of {'an open' if found['open'] else 'a closed'} network of queues, {beside}"
