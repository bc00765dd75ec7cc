"""How far a device is off a measured trace, before and after a fit, as one page each with the cdfs overlaid."""

from pathlib import Path
from typing import Any

from headrace.devices import fitted
from headrace.devices.calibration import file_text
from headrace.reports import NONE, Texts
from headrace.view.pages import page
from headrace.view.pictures.chart import svg
from headrace.view.pictures.device import responses
from headrace.view.tables.device import fitted_in_a_sentence
from headrace.view.tables.validation import MEANING, in_a_sentence, rows, worst_rows

Json = dict[str, Any]


def write(found: Json, file: str | Path, *, devices: Texts = NONE) -> None:
    """Write the page to a file: whole, or not at all."""
    worst = {"The requests with the largest errors, and what happened to them in the model": worst_rows(found)}
    done = f"validation of a device against {found['overall']['n']:,} measured requests"
    tables = {"Errors": rows(found)} | worst
    _write(file, found, title=found["device"], done=done, answer=in_a_sentence(found), tables=tables, devices=devices)


def write_calibration(found: Json, file: str | Path) -> None:
    """Write what fitting a device reached, on the half of the trace that was not fitted: whole, or not at all."""
    judged = found["judged"]["simulated"]
    parameters = (fitted.COLUMNS, [list(fitted.words(row)) for row in found["parameters"]])
    tables = {"Errors on the half that was not fitted": rows(judged), "Parameters": parameters}
    done = f"calibration of a device, judged by {judged['overall']['n']:,} measured requests that were not fitted"
    answer, devices = fitted_in_a_sentence(found), {"The fitted device": file_text(found)}
    _write(file, judged, title=f"{found['device']}, fitted", done=done, answer=answer, tables=tables, devices=devices)


def _write(file: str | Path, found: Json, *, title: str, done: str, answer: str, tables: Json, devices: Texts) -> None:
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
        title=title,
        subtitle=done,
        answer=answer,
        notes=[],
        meaning=MEANING,
        pictures={title: svg(chart) for title, chart in drawn.items()},
        tables=tables,
        scenarios=devices,
    )
