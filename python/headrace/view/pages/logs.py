"""What a log says of its archive as one page: sentences, pictures, tables."""

from pathlib import Path
from typing import Any

from headrace.view.pages import page
from headrace.view.pictures import logs as pictures
from headrace.view.pictures.chart import svg
from headrace.view.tables import logs as tables

Json = dict[str, Any]


def write(found: Json, file: str | Path, *, title: str) -> None:
    """Write the page to a file: whole, or not at all."""
    verdict = [found["staging"]["verdict"]] if found["staging"] else []
    page.write(
        file,
        "tables.html",
        title=title,
        subtitle="analysis of the logs of an archive",
        answer=tables.in_a_sentence(found),
        notes=[*verdict, *tables.notes(found)],
        pictures={name: svg(chart) for name, chart in pictures.drawn(found).items()},
        tables={name[0].upper() + name[1:]: rows for name, rows in tables.shown(found).items()},
    )
