"""How far a device is off a measured trace as one page, with the cdfs overlaid."""

from pathlib import Path
from typing import Any

from headrace.view.pages import page
from headrace.view.pictures.chart import svg
from headrace.view.pictures.device import responses
from headrace.view.tables.validation import in_a_sentence, rows, worst_rows

Json = dict[str, Any]


def write(found: Json, file: str | Path) -> None:
    """Write the page to a file: whole, or not at all."""
    drawn = {
        f"Response time of {'all requests' if name == 'overall' else name}": responses(
            found[name]["simulated_cdf"], found[name]["measured_cdf"]
        )
        for name in ("overall", "reads", "writes")
        if found[name]
    }
    page.write(
        file,
        "tables.html",
        title=found["device"],
        answer=in_a_sentence(found),
        notes=[],
        pictures={title: svg(chart) for title, chart in drawn.items()},
        tables={
            "How far off": rows(found),
            "The requests with the largest errors, and what happened to them in the model": worst_rows(found),
        },
    )
