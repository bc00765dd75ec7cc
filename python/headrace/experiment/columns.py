"""How metrics and objectives are written: in columns of tables, and on axes of charts."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from headrace.experiment.formula import Quantity, quantity
from headrace.experiment.objective import SHARES, Objective, time_of
from headrace.quantities import MS, UNITS, Unit, format_time, interval, unit


def is_time(metric: str) -> bool:
    """Return true if the values of a metric are times, in ms."""
    return metric.endswith("_ms")


# How metrics other than times are called on pages, and what their values are multiplied by.
MEASURES = {
    "requests_per_s": ("requests/s", 1.0),
    "bytes_per_s": ("MB/s", 1e-6),
    "samples_per_s": ("samples/s", 1.0),
    "utilisation": ("utilisation, %", 100.0),
    "au": ("accelerator utilisation, %", 100.0),
    "lost_job_hours": ("lost, job-hours", 1.0),
}


def metric_title(metric: str, unit: Unit = MS) -> str:
    """Return a metric's name as a picture has it: `readers.p99_ms` → `readers: p99, ms`."""
    if (time := time_of(metric)) is not None:
        return f"{metric[: metric.rindex('.within_')]}: within {format_time(time)}, %"
    of, _, what = metric.rpartition(".")
    # Further measures of components have their unit in their name.
    in_seconds = what.endswith("_s") and not what.endswith("_per_s")
    known = f"{what.removesuffix('_s')}, s" if in_seconds else what.replace("_ms", f", {unit.name}")
    return f"{of}: {MEASURES[what][0] if what in MEASURES else known.replace('_', ' ')}"


def scale_of(metric: str, unit: Unit) -> float:
    """Return what the values of a metric are multiplied by where `metric_title` names them."""
    if time_of(metric) is not None:
        return 100.0
    return 1 / unit.ms if is_time(metric) else MEASURES.get(metric.rpartition(".")[2], ("", 1.0))[1]


def metric_name(metric: str) -> str:
    """Return a metric's name without its unit: `readers: p99`."""
    title = metric_title(metric)
    return title.rpartition(", ")[0] or title


@dataclass(frozen=True)
class Column:
    """How the values of an objective are written in a column and on an axis."""

    asked: Objective
    unit: Unit

    @property
    def title(self) -> str:
        """Its heading: `p99(reads), ms`."""
        if self.asked.what in SHARES:
            return f"{self.asked.bare}, %"
        return f"{self.asked.bare}, {self.unit.name}" if self.asked.is_time else self.asked.bare

    def cell(self, middle: float, half: float | None) -> str:
        """Write a value with its interval."""
        if self.asked.what in SHARES:
            return interval(middle * 100, half and half * 100)
        return self.unit.interval(middle, half) if self.asked.is_time else interval(middle, half)

    def of(self, value: float) -> float:
        """Return a value as the axis counts."""
        if self.asked.what in SHARES:
            return value * 100
        return self.unit.of(value) if self.asked.is_time else value


def column(asked: Objective, found: Iterable[Mapping[str, tuple[float, float | None]]]) -> Column:
    """Return how an objective's values are written: those found, by the text that asks for them, and its bound.

    Times are in the unit of the bound, if they are legible in it.
    """
    values = [one[asked.text][0] for one in found if asked.text in one]
    name = asked.text.rpartition(" ")[2].replace("us", "µs")
    written = next((one for one in UNITS if one.name == name), None)
    return Column(asked, written if written and written.has_legible(values) else unit([*values, asked.bound]))


def with_unit(path: str, value: object, number: float) -> str:
    """Return a field with the unit of its values, where the numbers on an axis are in it: `rate, /s`."""
    written = re.fullmatch(r"([\d.,e+-]+)\s*(\D.*)", str(value))
    same = written and float(written[1].replace(",", "")) == number
    return f"{path}, {written[2]}" if written and same else path


def ending(text: str, most: int = 32) -> str:
    """Return the end of a text that stands beside a chart.

    >>> ending("disks = 4"), ending("workload.readers.arrivals.poisson.rate")
    ('disks = 4', '…d.readers.arrivals.poisson.rate')
    """
    return text if len(text) <= most else f"…{text[1 - most :]}"


def beginning(metric: str, most: int = 32) -> str:
    """Return the name of a metric that stands beside a chart: what it is whole, and of whom as much as fits."""
    of, _, what = metric_name(metric).rpartition(": ")
    room = most - len(what)
    return f"{of if len(of) <= room else of[: room - 1] + '…'}: {what}"


# How the name of a column of numbers ends, by the powers of (bytes, seconds) of the quantities that it is of.
OF_QUANTITIES = {(1, 0): "bytes", (0, 1): "s", (0, -1): "per_s", (1, -1): "bytes_per_s"}


def numbers(values: Mapping[str, object]) -> dict[str, float]:
    """Return values that are written with a unit as numbers, by the name of their column.

    >>> numbers({"system.tds.stripe_unit": "64 KiB", "run.seed": 7, "system.tds.level": "raid0", "op.reads": "70 %"})
    {'system.tds.stripe_unit_bytes': 65536.0, 'op.reads_share': 0.7}
    """
    found = {place: _quantity(value) for place, value in values.items() if isinstance(value, str)}
    return {f"{place}_{_end(of)}": float(f"{of.number:.12g}") for place, of in found.items() if of and _end(of)}


def _quantity(value: str) -> Quantity | None:
    try:
        return quantity(value)
    except ValueError:
        return None


def _end(of: Quantity) -> str | None:
    return "share" if of.percent else OF_QUANTITIES.get(of.powers)
