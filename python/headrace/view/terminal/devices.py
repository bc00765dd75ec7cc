"""Devices: one, all of them, how far one is off a trace, and what fitting it reached."""

from typing import Any

from headrace.devices import fitted
from headrace.view.tables import device as tables
from headrace.view.tables import validation as validations
from headrace.view.terminal import parts

Json = dict[str, Any]


def show_all(found: list[Json]) -> None:
    """Print the devices, one a line."""
    rows = [(one["name"], one["title"], f"{one['random_read_ms']:.2f}") for one in found]
    columns = ("device", "is", "random 4 KiB read, ms")
    parts.console().print(parts.table(columns, rows, words=("device", "is")))


def show(found: Json) -> None:
    """Print a device: what it is, its curves, and every number with its origin."""
    console = parts.console()
    console.print(parts.bold(tables.in_a_sentence(found)))
    console.print(parts.sentence(f"Validation: {found['validation']}"))
    if found["zone_rates"]:
        parts.curve(console, "media rate by place, MB/s", [(f"{u:.0%} in", y) for u, y in found["zone_rates"][::20]])
        seeks = found["seek_read"][10::10]
        parts.curve(console, "seek time of reads by distance, ms", [(f"{round(x)} cylinders", y) for x, y in seeks])
    console.print()
    columns = ("number", "value", "from")
    rows = [(number["field"], number["value"], number["origin"]) for number in found["numbers"]]
    console.print(parts.table(columns, rows, words=columns))


def show_calibration(found: Json) -> None:
    """Print what a calibration reached: in a sentence, on the half that judges, and every parameter."""
    console = parts.console()
    console.print(parts.bold(tables.fitted_in_a_sentence(found)))
    console.print()
    judged = validations.rows(found["judged"]["simulated"])
    console.print(parts.table(*judged, title="on the half that was not fitted"))
    console.print()
    console.print(parts.table(fitted.COLUMNS, map(fitted.words, found["parameters"]), words=("parameter",)))


def show_validation(found: Json) -> None:
    """Print how far a device is off a measured trace, and the requests with the largest errors."""
    console = parts.console()
    console.print(parts.bold(validations.in_a_sentence(found)))
    for title, (columns, rows) in {
        "how far off": validations.rows(found),
        "the requests with the largest errors, and what happened to them in the model": validations.worst_rows(found),
    }.items():
        console.print()
        console.print(parts.table(columns, rows, title=title, words=("", "op", "the model went to")))
