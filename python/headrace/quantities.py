"""Numbers as people read them."""

import re


def amount(bytes_: float) -> str:
    """Write bytes in three digits, in decimal units as throughput.

    >>> amount(39_421_847_690), amount(512)
    ('39.4 GB', '512 B')
    """
    return rate(bytes_).removesuffix("/s")


def level(value: float) -> str:
    """Write a mean queue in four digits, and nothing finer than a thousandth.

    >>> level(0.8254), level(7.5e-8), level(0)
    ('0.8254', '<0.001', '0')
    """
    return "<0.001" if 0 < value < 0.001 else number(value)


def rate(bytes_per_s: float) -> str:
    """Write a throughput in three digits.

    >>> rate(80.6e6), rate(1.25e9), rate(2_600)
    ('80.6 MB/s', '1.25 GB/s', '2.6 kB/s')
    """
    for unit, scale in (("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)):
        if bytes_per_s >= scale:
            return f"{bytes_per_s / scale:.3g} {unit}"
    return f"{bytes_per_s:.3g} B/s"


def number(value: float) -> str:
    """Write a number in four digits, and a large one in full.

    >>> number(126.42), number(118926.3)
    ('126.4', '118,926')
    """
    return f"{value:,.0f}" if value >= 9999.5 else f"{value:.4g}"


def aligned(value: float) -> str:
    """Write a number in four digits, zeros at its end too, so that a column lines up; a large one in full.

    >>> aligned(30.2), aligned(107.99), aligned(12345.6), aligned(0)
    ('30.20', '108.0', '12,346', '0')
    """
    return f"{value:,.0f}" if value == 0 or value >= 999.5 else f"{value:#.4g}"


def percent(value: float | None, form: str) -> str:
    """Write a percentage; nothing where what was measured is zero and there is none."""
    return "—" if value is None else f"{value:{form}}%"


def size(amount: float) -> str:
    """Write bytes, in the unit that suits them."""
    for unit, scale in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if amount >= scale:
            return f"{amount / scale:.4g} {unit}"
    return f"{amount:.4g} B"


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
