"""A trace as one page, with pictures of when requests come, how large they are, where they go."""

from pathlib import Path
from typing import Any

from headrace.view.pages import page
from headrace.view.pictures import trace as pictures
from headrace.view.pictures.chart import Drawing, svg
from headrace.view.tables.trace import in_a_sentence, rows

Json = dict[str, Any]


def write(found: Json, file: str | Path, *, title: str) -> None:
    """Write the page to a file: whole, or not at all."""
    page.write(
        file,
        "trace.html",
        title=title,
        subtitle="summary of a trace of requests",
        answer=f"{title}: {in_a_sentence(found)}",
        notes=[],
        pictures={name: svg(chart) for name, chart in _drawn(found["info"]).items()},
        rows=rows(found),
    )


def _drawn(told: Json) -> dict[str, Drawing]:
    drawn = {"Requests over time": pictures.rate(told)} if told["arrivals"] and told["arrivals"]["over_time"] else {}
    drawn["How large requests are"] = pictures.sizes(told)
    if told["places"]:
        drawn["How popular regions are"] = pictures.popularity(told)
    return drawn
