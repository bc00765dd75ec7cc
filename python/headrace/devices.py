"""The catalogue of devices: their numbers, where each comes from, and the curves that follow."""

import difflib
import json
from pathlib import Path
from typing import Any

from headrace import _core
from headrace.files import write_whole
from headrace.mistakes import refusal

Json = dict[str, Any]


def quantity(kind: str, given: Any) -> float:
    """Return what a device file gives, with its source or without, as a number.

    `kind` is `time` (in ns), `size` (bytes), `data rate` (bytes a second), `frequency` (a second) or `share`.

    >>> quantity("frequency", {"value": "7200 rpm", "source": "its data sheet"}), quantity("time", "8.5 ms")
    (120.0, 8500000.0)
    """
    return float(_core.quantity(kind, str(given["value"] if isinstance(given, dict) else given)))


def in_ms(time: Any) -> float:
    """Return a time of a device file in ms.

    >>> in_ms("250 us")
    0.25
    """
    return quantity("time", time) / 1e6


def time_of(ms: float) -> str:
    """Return ms as a device file has a time, to the nanosecond.

    >>> time_of(0.25)
    '250000 ns'
    """
    return f"{max(round(ms * 1e6), 0)} ns"


def sector_ms(rate: Any) -> float:
    """Return what a sector takes at a data rate of a device file, in ms.

    >>> sector_ms("5.12 MB/s")
    0.1
    """
    return 512_000 / quantity("data rate", rate)


def rate_of_sectors(ms: float) -> str:
    """Return the data rate at which a sector takes so many ms, as a device file has it.

    >>> rate_of_sectors(0.1)
    '5120000.000 B/s'
    """
    return f"{512_000 / ms:.3f} B/s"


def names(beside: str | Path = ".") -> list[str]:
    """Return the names of all devices: your own in `devices/` of the folder `beside`, then headrace's.

    >>> "seagate-st3500630ns" in names()
    True
    """
    return list(json.loads(_core.device_names(str(beside))))


def numbers(name: str, beside: str | Path = ".") -> Json:
    """Return the numbers of a device as they stand in its file; raise `ScenarioError` as `device` does."""
    found = _core.device_numbers(name, str(beside))
    return dict(json.loads(found)) if found is not None else device(name, beside)


def device(name: str, beside: str | Path = ".") -> Json:
    """Return a device: its numbers with origins, zone rates (share of capacity, MB/s), seek curves (cylinders, ms).

    Raises `ScenarioError` where there is none of this name, or its file has mistakes.
    """
    found = _core.device(name, str(beside))
    if found is None:
        known = names(beside)
        near = difflib.get_close_matches(name, known, 1)
        help_ = (f"did you mean `{near[0]}`? " if near else "") + f"there are {', '.join(known)}"
        raise refusal(name, f"there is no device `{name}`", help_)
    return dict(json.loads(found))


def in_a_sentence(found: Json) -> str:
    """Return what a device is and how long it takes."""
    reads, writes = found["random_read_ms"], found["random_write_ms"]
    return (
        f"{found['title']}: a random 4 KiB read takes {reads:.2f} ms, a write {writes:.2f} ms, without cache or queue."
    )


def report(found: Json, file: str | Path) -> None:
    """Write a device as one HTML page with pictures of its zones and seeks: whole, or not at all."""
    from headrace import figures, page  # noqa: PLC0415 - pictures take longer to load than tables

    pictures = {
        "Media rate by place": figures.device_rates(found),
        "Seek time by distance": figures.device_seeks(found),
    }
    drawn = {title: figures.svg(chart) for title, chart in pictures.items()}
    text = page.render(
        "device.html",
        title=found["name"],
        answer=in_a_sentence(found),
        notes=[f"Validation: {found['validation']}"],
        pictures=drawn,
        numbers=found["numbers"],
    )
    write_whole(file, text)
