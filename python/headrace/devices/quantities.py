"""Quantities of device files as numbers, and back."""

from typing import Any

from headrace import _core


def quantity(kind: str, given: Any) -> float:
    """Return what a device file gives, with its source or without, as a number.

    `kind` is `time` (in ns), `time difference` (in ns, perhaps negative),
    `size` (bytes), `data rate` (bytes a second), `frequency` (a second) or `share`.

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


def difference_in_ms(time: Any) -> float:
    """Return a time of a device file that may be negative, in ms.

    >>> difference_in_ms("-0.2 ms")
    -0.2
    """
    return quantity("time difference", time) / 1e6


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
    """Return the data rate at which a sector takes this many ms, as a device file has it.

    >>> rate_of_sectors(0.1)
    '5120000.000 B/s'
    """
    return f"{512_000 / ms:.3f} B/s"
