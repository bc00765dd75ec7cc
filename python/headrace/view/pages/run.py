"""A run as one page: no network, no script, light and dark, wide and narrow, on screen and on paper."""

import json
from pathlib import Path
from typing import Any

from headrace.results import Results
from headrace.view import words
from headrace.view.pages import page
from headrace.view.pictures import run as pictures
from headrace.view.pictures import system
from headrace.view.pictures.chart import svg
from headrace.view.tables import run as tables

Json = dict[str, Any]


def write(results: Results, file: str | Path, title: str = "headrace") -> None:
    """Write the page to a file: whole, or not at all."""
    found = results.data
    page.write(
        file,
        "run.html",
        title=title,
        answer=results.answer,
        notes=results.notes,
        results=results,
        streams=[_stream(found, at) for at, stream in enumerate(found["streams"]) if stream["response"]["count"]],
        drawing=system.draw(found),
        utilisation=svg(pictures.utilisation_series(found)),
        response=svg(pictures.response_series(found)),
        phases=tables.phases(found) if found["phases"] else None,
        components=tables.saturation(found),
        measures=tables.meters(found),
        scenario=json.dumps(found["scenario"], indent=2, ensure_ascii=False),
    )


def _stream(found: Json, at: int) -> Json:
    stream, theory = found["streams"][at], found["theory"][at]
    columns, rows = tables.response_table(stream, theory)
    return {
        "name": stream["name"],
        "cdf": svg(pictures.response_cdf(found, at)),
        "theory": tables.theory_in_words(theory),
        "mean": words.milliseconds(stream["response"]["mean_ms"]),
        "legs": [
            {"component": component, "what": what, "time": words.milliseconds(time), "percent": share * 100}
            for component, what, time, share in tables.legs(stream)
        ],
        "columns": columns,
        "rows": rows,
    }
