"""How far a scenario is off a measurement, before and after a fit, as one page each."""

from pathlib import Path
from typing import Any

from headrace.measurement.fitting import file_text
from headrace.reports import NONE, Texts
from headrace.view.pages import page
from headrace.view.pictures.chart import svg
from headrace.view.pictures.measurement import rates
from headrace.view.tables.comparison import fitted_in_a_sentence, in_a_sentence, parameter_rows, rows, size_rows
from headrace.view.words import counted

Json = dict[str, Any]


def write(found: Json, file: str | Path, *, scenarios: Texts = NONE) -> None:
    """Write the page to a file: whole, or not at all."""
    title = Path(found["scenario"]).stem
    done = f"validation of a scenario against a measurement of {counted(len(found['rows']), 'load')}"
    answer, notes = in_a_sentence(found), found["remarks"]
    _write(file, found, title=title, done=done, answer=answer, notes=notes, tables={}, scenarios=scenarios)


def write_fit(found: Json, file: str | Path, *, title: str) -> None:
    """Write what a fit reached, and each parameter: whole, or not at all."""
    tables, scenarios = {"Parameters": parameter_rows(found)}, {"The fitted scenario": file_text(found)}
    fitted, answer, notes = found["fitted"], fitted_in_a_sentence(found), found["warnings"]
    done = f"calibration of a scenario by a measurement of {counted(len(fitted['rows']), 'load')}"
    title = f"{title}, fitted"
    _write(file, fitted, title=title, done=done, answer=answer, notes=notes, tables=tables, scenarios=scenarios)


def _write(
    file: str | Path,
    found: Json,
    *,
    title: str,
    done: str,
    answer: str,
    notes: list[str],
    tables: Json,
    scenarios: Texts,
) -> None:
    loads = {"Mean absolute error of bandwidth by record size": size_rows(found), "Load by load": rows(found)}
    page.write(
        file,
        "tables.html",
        title=title,
        subtitle=done,
        answer=answer,
        notes=notes,
        pictures={title: svg(chart) for title, chart in rates(found["rows"]).items()},
        tables=tables | loads,
        scenarios=scenarios,
    )
