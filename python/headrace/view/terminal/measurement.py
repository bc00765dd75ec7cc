"""A measurement on a terminal."""

from typing import Any

from headrace.measurement import Measurement
from headrace.view.tables import comparison as comparisons
from headrace.view.tables import measurement as tables
from headrace.view.terminal import parts


def show(found: Measurement) -> None:
    """Print what was measured: in a sentence, remarks, every point."""
    console = parts.console()
    console.print(parts.bold(tables.in_a_sentence(found.points, found.machine)))
    for remark in found.remarks:
        console.print(parts.sentence(f"note: {remark}"))
    console.print()
    console.print(parts.table(*tables.rows(found.points), words=("op", "pattern")))


def show_comparison(found: dict[str, Any]) -> None:
    """Print how far a scenario is off a measurement: in a sentence, by record size, load by load."""
    console = parts.console()
    console.print(parts.bold(comparisons.in_a_sentence(found)))
    for remark in found["remarks"]:
        console.print(parts.sentence(f"note: {remark}"))
    for title, table in {
        "size of the error of bandwidth": comparisons.size_rows(found),
        "load by load": comparisons.rows(found),
    }.items():
        console.print()
        console.print(parts.table(*table, title=title, words=("load", "record")))


def show_fit(found: dict[str, Any]) -> None:
    """Print what a fit reached: in a sentence, warnings, every parameter, load by load."""
    console = parts.console()
    console.print(parts.bold(comparisons.fitted_in_a_sentence(found)))
    for warning in found["warnings"]:
        console.print(parts.sentence(f"warning: {warning}"))
    console.print()
    console.print(parts.table(*comparisons.parameter_rows(found), words=("parameter",)))
    console.print()
    console.print(parts.table(*comparisons.rows(found["fitted"]), title="load by load", words=("load",)))
