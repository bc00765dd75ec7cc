"""The report of a device, with its zones and seeks, and of the catalogue."""

from typing import Any

from headrace.charts import lines
from headrace.charts.data import Axis
from headrace.quantities import format_time
from headrace.report import Block, Chart, Medium, Report, Table, Text, curve

Json = dict[str, Any]


def report(found: Json) -> Report:
    """Return the report of a device."""
    validation = f"Validation: {found['validation']}"
    columns = ("parameter", "value", "source")
    rows = [(number["field"], number["value"], number["origin"]) for number in found["numbers"]]
    numbers = Table(columns, rows, heading="Parameters and their sources", words=columns, look="text")
    said = Text(validation, below=True, on=Medium.TERMINAL)
    return Report(found["name"], in_a_sentence(found), validation, blocks=[said, *_curves(found), numbers])


def _curves(found: Json) -> list[Block]:
    if not found["zone_rates"]:
        return []
    place = Axis("place, share of the capacity from the outside", "percent")
    rates = lines({"simulated": found["zone_rates"]}, place, Axis("media rate, MB/s"))
    by_op = {"reads": found["seek_read"], "writes": found["seek_write"]}
    seeks = lines(by_op, Axis("distance, cylinders", "short"), Axis("seek time, ms"))
    some = [(f"{place:.0%} in", rate) for place, rate in found["zone_rates"][::20]]
    distances = [(f"{round(distance)} cylinders", time) for distance, time in found["seek_read"][10::10]]
    return [
        Chart(rates, heading="Media rate by place"),
        Chart(seeks, heading="Seek time by distance"),
        curve("media rate by place, MB/s", some),
        curve("seek time of reads by distance, ms", distances),
    ]


def catalogue(found: list[Json]) -> Table:
    """Return devices, one a row."""
    times = ["" if one["random_read_ms"] is None else f"{one['random_read_ms']:.2f}" for one in found]
    rows = [(one["name"], one["title"], time) for one, time in zip(found, times, strict=True)]
    return Table(("device", "is", "random 4 KiB read, ms"), rows, words=("device", "is"))


def in_a_sentence(found: Json) -> str:
    """Return what a device is and how long it takes, or what it limits."""
    reads, writes = found["random_read_ms"], found["random_write_ms"]
    if reads is None:
        limits = [f"{one['field'].replace('.', ' ')} {one['value']}" for one in found["numbers"]]
        return f"{found['title']}: {', '.join(limits)}."
    times = f"a random 4 KiB read takes {format_time(reads)}, a write {format_time(writes)}"
    return f"{found['title']}: {times}, without cache or queue."
