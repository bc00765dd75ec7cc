"""Quantities as people read them: times, sizes, rates, shares and counts. All that is shown is written here.

The unit of a time goes by its size; the times of one column, axis or table have one unit.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import floor, isfinite, log10


@dataclass(frozen=True)
class Unit:
    """A unit of time."""

    name: str
    ms: float
    """Milliseconds in one of this unit."""
    alone: float
    """Shortest time, in ms, that is written in this unit."""
    longest: float
    """Shortest longest time, in ms, of a column that is written in this unit."""

    def of(self, ms: float) -> float:
        """Return milliseconds in this unit."""
        return ms / self.ms

    def has_legible(self, times: Iterable[float]) -> bool:
        """Return true if times in ms have neither many zeros nor many digits in this unit.

        >>> UNITS[3].has_legible([806.0, 1_620.0]), UNITS[3].has_legible([0.08])
        (True, False)
        """
        return all(time == 0 or 0.01 <= abs(self.of(time)) < MOST_OF_SMALLER for time in times)

    def cell(self, ms: float) -> str:
        """Write a time of a column, without the unit, in three digits.

        >>> unit([12.0]).cell(1.5), unit([0.02]).cell(0.0123456), unit([12e6]).cell(3.6e6), unit([12e6]).cell(1.0)
        ('1.50', '12.3', '60.0', '<0.001')
        """
        value = self.of(ms)
        return "<0.001" if 0 < value < 0.001 else aligned(value)

    def interval(self, ms: float, half_ms: float | None) -> str:
        """Write a time and its interval, without the unit: `77 ± 36`."""
        return interval(self.of(ms), half_ms and self.of(half_ms))


# A time alone is written in minutes from ten on; of a column, whose short times need digits, from thirty on.
UNITS = (
    Unit("d", 86_400e3, 2 * 86_400e3, 10 * 86_400e3),
    Unit("h", 3600e3, 2 * 3600e3, 10 * 3600e3),
    Unit("min", 60e3, 10 * 60e3, 30 * 60e3),
    Unit("s", 1e3, 1e3, 10e3),
    Unit("ms", 1.0, 1.0, 1.0),
    Unit("µs", 1e-3, 0.0, 0.0),
)


def unit(times: Iterable[float | None]) -> Unit:
    """Return the unit for the times of a column, an axis or a table, which are in ms.

    It goes by the longest time, and is smaller where the shortest would be less than a tenth of it.

    >>> [unit(times).name for times in ([0.08, 0.4], [0.1, 9_000], [500, 12_000, None], [3e6], [])]
    ['µs', 'ms', 's', 'min', 'ms']
    >>> [unit(times).name for times in ([1_293, 2.4e6], [1, 2.4e6])]
    ['s', 'min']
    """
    known = [abs(time) for time in times if time]
    if not known:
        return MS
    at = next(at for at, one in enumerate(UNITS) if max(known) >= one.longest)
    smaller = UNITS[min(at + 1, len(UNITS) - 1)]
    is_legible = min(known) >= 0.1 * smaller.ms and max(known) < MOST_OF_SMALLER * smaller.ms
    return smaller if min(known) < 0.1 * UNITS[at].ms and is_legible else UNITS[at]


# The longest time of a column has fewer than this of a unit that was chosen for the shortest.
MOST_OF_SMALLER = 10_000


def alone(time: float) -> Unit:
    """Return the unit for one time in ms."""
    return next(one for one in UNITS if abs(time) >= one.alone) if time else MS


MS = UNITS[4]


def rounded(time: float, half_ms: float | None) -> str:
    """Write a time in ms with its unit, in the digits that half of its interval supports, which is shown elsewhere.

    >>> rounded(76_918.0, 35_724.0), rounded(30.158, None)
    ('77 s', '30.2 ms')
    """
    return f"{alone(time).interval(time, half_ms).partition(' ± ')[0]} {alone(time).name}"


def format_time(time: float, half: float | None = None) -> str:
    """Write a time in ms with its unit: three digits, or those that half of its interval supports.

    >>> format_time(30.158), format_time(76_918.0, 35_724.0), format_time(2_430_257.0), format_time(0.0123)
    ('30.2 ms', '77 ± 36 s', '40.5 min', '12.3 µs')
    """
    of = alone(time)
    return f"{of.interval(time, half)} {of.name}"


WORDS = {"d": "days", "h": "hours", "min": "minutes"}


def span(seconds: float) -> str:
    """Write in a sentence how long something went on, in three digits.

    >>> span(14 * 86400), span(2436.0), span(64.73)
    ('14 days', '40.6 minutes', '64.7 s')
    """
    unit = alone(seconds * 1e3)
    return f"{unit.of(seconds * 1e3):.3g} {WORDS.get(unit.name, unit.name)}"


def half(half_ms: float, of: float) -> str:
    """Write half the width of an interval in two digits, in the unit of the time that it is of.

    >>> half(0.184, 25.47), half(12.3, 1580.0)
    ('± 0.18 ms', '± 0.012 s')
    """
    unit_of = alone(of)
    narrow = unit_of.of(half_ms)
    return f"± {narrow:.{max(0, 1 - floor(log10(narrow)))}f} {unit_of.name}"


def interval(middle: float, half: float | None) -> str:
    """Return a number with its interval, rounded to the digits that its interval supports; without one, to three.

    >>> interval(12.3456, 0.123), interval(76918.4, 35724.0), interval(1234.5, None), interval(5.0, 0.0)
    ('12.35 ± 0.12', '77,000 ± 36,000', '1,230', '5')
    >>> interval(-0.04, 1.6)
    '0.0 ± 1.6'
    """
    # An interval narrower than anyone reads is no better than none.
    if not half or (digits := 1 - floor(log10(half))) > 5:
        return number(middle)
    form = f",.{max(0, digits)}f"
    # What rounds to nothing has no sign.
    return f"{round(middle, digits) + 0.0:{form}} ± {round(half, digits):{form}}"


def percentage(share: float, half: float | None) -> str:
    """Write a share in percent with its interval.

    >>> percentage(0.9976, 0.00042), percentage(0.5, None)
    ('99.760 ± 0.042 %', '50 %')
    """
    return f"{interval(share * 100, half and half * 100)} %"


DECIMAL = (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3))
BINARY = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


def amount(bytes_: float) -> str:
    """Write bytes in three digits, in powers of ten as throughput and archives count them.

    >>> amount(39_421_847_690), amount(4.4e14), amount(512)
    ('39.4 GB', '440 TB', '512 B')
    """
    unit, scale = next((one for one in DECIMAL if bytes_ >= one[1]), ("B", 1.0))
    return f"{bytes_ / scale:.3g} {unit}"


def level(value: float) -> str:
    """Write a mean queue in three digits, and nothing finer than a thousandth.

    >>> level(0.8254), level(7.5e-8), level(0)
    ('0.825', '<0.001', '0')
    """
    return "<0.001" if 0 < value < 0.001 else number(value)


def rate(bytes_per_s: float) -> str:
    """Write a throughput in three digits.

    >>> rate(80.6e6), rate(1.25e9), rate(2_600)
    ('80.6 MB/s', '1.25 GB/s', '2.6 kB/s')
    """
    return f"{amount(bytes_per_s)}/s"


def number(value: float, digits: int = 3) -> str:
    """Write a number in three digits, without zeros at its end behind the point, and without an exponent.

    >>> number(126.42), number(118926.3), number(0.5), number(0.00002173), number(0), number(-1.0)
    ('126', '119,000', '0.5', '0.0000217', '0', '-1')
    >>> number(4.6512, 4)
    '4.651'
    """
    told = aligned(value, digits)
    return told.rstrip("0").rstrip(".") if "." in told else told


def aligned(value: float, digits: int = 3) -> str:
    """Write a number in three digits, zeros at its end too, so that a column lines up.

    >>> aligned(30.2), aligned(107.99), aligned(12345.6), aligned(0), aligned(0.9996)
    ('30.2', '108', '12,300', '0', '1.00')
    """
    if not value or not isfinite(value):
        return f"{value:g}"
    # By the number as it is rounded: .9996 is 1.00.
    power = int(f"{value:.{digits - 1}e}".partition("e")[2])
    behind = digits - 1 - power
    return f"{round(value, behind):,.{max(0, behind)}f}"


def off_by(percent: float) -> str:
    """Write by how much something differs, in per cent; as a multiple where it is more than ten times as much.

    >>> off_by(-2.25), off_by(250.0), off_by(4900.0)
    ('-2.2%', '+250.0%', '×50')
    """
    return f"{percent:+.1f}%" if percent < 900 else f"×{1 + percent / 100:.4g}"


def percent(value: float | None, form: str) -> str:
    """Write a percentage; nothing where what was measured is zero and there is none."""
    return "—" if value is None else f"{value:{form}}%"


def size(bytes_: float) -> str:
    """Write bytes in four digits, in powers of two as records and blocks are.

    >>> size(65536), size(1000), size(3 << 20)
    ('64 KiB', '1000 B', '3 MiB')
    """
    unit, scale = next((one for one in BINARY if bytes_ >= one[1]), ("B", 1))
    return f"{bytes_ / scale:.4g} {unit}"


def exact_size(bytes_: int) -> str:
    """Write bytes exactly, as people do where that takes few digits.

    >>> exact_size(16384), exact_size(500_000_000), exact_size(0), exact_size(480_103_981_056)
    ('16 KiB', '500 MB', '0 B', '480103981056 B')
    """
    units = (*BINARY, *((name, 10**power) for name, power in (("TB", 12), ("GB", 9), ("MB", 6), ("kB", 3))))
    whole = ((name, bytes_ / scale) for name, scale in units if bytes_ and bytes_ % scale == 0)
    return next((f"{number:.0f} {name}" for name, number in whole if number < 10_000), f"{bytes_} B")


def exact_time(ns: float) -> str:
    """Write a time to the nanosecond, in the largest unit of which it is a whole number.

    >>> exact_time(2e6), exact_time(1_111_111), exact_time(60e9)
    ('2 ms', '1111111 ns', '60 s')
    """
    whole = round(ns)
    units = (("s", 10**9), ("ms", 10**6), ("µs", 10**3))
    return next((f"{whole // scale} {name}" for name, scale in units if whole and whole % scale == 0), f"{whole} ns")


def counted(number: int, what: str) -> str:
    """Write how many there are of something.

    >>> counted(1, "stream"), counted(1200, "component")
    ('1 stream', '1,200 components')
    """
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def unbroken(text: str, space: str = "\N{NO-BREAK SPACE}") -> str:
    """Return a text whose lines do not break between a number and its unit, its interval or its sign.

    >>> unbroken("d = 4, 27 % busy: 77 ± 36 s, 4 disks").replace("\N{NO-BREAK SPACE}", "~")
    'd =~4, 27~% busy: 77~±~36~s, 4 disks'
    """
    apart = (
        r"(?<=\d) (?=(%|±|µs|ms|s|min|minutes?|hours?|days?|h|d|requests/s|/s|[kMGT]?i?B(/s)?)(?!\w))|(?<=[±=<>≤≥]) "
    )
    return re.sub(apart, space, text)
