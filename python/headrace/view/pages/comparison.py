"""How far a scenario is off a measurement as one page."""

from pathlib import Path
from typing import Any

from headrace.view.pages import page
from headrace.view.pictures.chart import svg
from headrace.view.pictures.measurement import rates
from headrace.view.tables.comparison import in_a_sentence, rows, size_rows

Json = dict[str, Any]


def write(found: Json, file: str | Path) -> None:
    """Write the page to a file: whole, or not at all."""
    page.write(
        file,
        "tables.html",
        title=Path(found["scenario"]).stem,
        answer=in_a_sentence(found),
        notes=found["remarks"],
        pictures={title: svg(chart) for title, chart in rates(found["rows"]).items()},
        tables={"Size of the error of bandwidth by record size": size_rows(found), "Load by load": rows(found)},
    )
