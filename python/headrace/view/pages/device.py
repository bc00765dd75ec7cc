"""A device as one page, with pictures of its zones and seeks."""

from pathlib import Path
from typing import Any

from headrace.view.pages import page
from headrace.view.pictures import device as pictures
from headrace.view.pictures.chart import svg
from headrace.view.tables.device import in_a_sentence

Json = dict[str, Any]


def write(found: Json, file: str | Path) -> None:
    """Write the page to a file: whole, or not at all."""
    drawn = {"Media rate by place": pictures.rates(found), "Seek time by distance": pictures.seeks(found)}
    page.write(
        file,
        "device.html",
        title=found["name"],
        answer=in_a_sentence(found),
        notes=[f"Validation: {found['validation']}"],
        pictures={title: svg(chart) for title, chart in drawn.items()},
        numbers=found["numbers"],
    )
