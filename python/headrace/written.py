"""Numbers written as a scenario has them, in the unit that suits them."""

from headrace import _core

BINARY = (("TiB", 2.0**40), ("GiB", 2.0**30), ("MiB", 2.0**20), ("KiB", 2.0**10), ("B", 1.0))
DECIMAL = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0))
FREQUENCY = (("/s", 1.0), ("/min", 1 / 60), ("/h", 1 / 3600))
# For each kind of quantity its units, the largest first, in what its parser returns: ns, bytes, bytes/s, 1/s, 1.
UNITS: dict[str, tuple[tuple[str, float], ...]] = {
    "time": (("h", 3600e9), ("min", 60e9), ("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)),
    "data rate": (("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3), ("B/s", 1.0)),
    "frequency": FREQUENCY,
    "frequency or zero": FREQUENCY,
    "share": (("%", 0.01),),
    "size": (*BINARY, *DECIMAL),
}
NOTHING = {
    "time": "0 ms",
    "data rate": "0 MB/s",
    "frequency": "0 /s",
    "frequency or zero": "0 /s",
    "share": "0 %",
    "size": "0 B",
}

LEGIBLE = 10_000


def written(kind: str, number: float) -> str:
    """Write a quantity in the unit in which it is shortest, of those in which it is from 1 to 10,000.

    >>> [written("time", 8.5e6), written("time", 90e9), written("time", 120e9), written("time", 0)]
    ['8.5 ms', '90 s', '2 min', '0 ms']
    >>> [written("size", 65536), written("size", 2e9), written("data rate", 2e6), written("share", 0.7)]
    ['64 KiB', '2 GB', '2 MB/s', '70 %']
    >>> [written("size", 2**40), written("time", 158_114), written("data rate", 1e8 / 3)]
    ['1 TiB', '158.114 us', '33.3333333333333 MB/s']
    """
    if number == 0:
        return NOTHING[kind]
    values = [(number / scale, unit) for unit, scale in UNITS[kind]]
    legible = [one for one in values if 1 <= abs(one[0]) < LEGIBLE] or values
    texts = [f"{value:.15g} {unit}" for value, unit in legible]
    return min((text for text in texts if "e" not in text), key=len, default=texts[-1])


def number(kind: str, text: str | float) -> float:
    """Return the number that a quantity is, as its parser gives it; raise `ValueError` where it is none."""
    return float(_core.quantity(kind, str(text)))
