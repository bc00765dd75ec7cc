"""Sizes and times as fio reads them."""

import re
from collections.abc import Mapping

SIZE = re.compile(r"(\d{1,18})([kmgtp]?)(i?b|i)?", re.IGNORECASE)
POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
KIB, KB = 1024, 1000
TIME = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*(us|usec|ms|msec|s|m|h|d)?", re.IGNORECASE)
SECONDS = {"us": 1e-6, "usec": 1e-6, "ms": 1e-3, "msec": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def size(text: str, kib: int = KIB) -> int | None:
    """Return a size in bytes; `k` is `kib` bytes, 1024 unless `kb_base=1000`. None where it is no size.

    To fio `kib` is the other of the two: 1000 bytes, unless `kb_base=1000`.

    >>> size("4k"), size("1G"), size("2Mi"), size("4KiB"), size("4KiB", 1000), size("512"), size("50%")
    (4096, 1073741824, 2097152, 4000, 4096, 512, None)
    """
    match = SIZE.fullmatch(text.strip())
    if not match:
        return None
    base = KIB + KB - kib if (match[3] or "").lower() == "ib" else kib
    return int(match[1]) * int(base ** POWERS[match[2].lower()])


def kib(options: Mapping[str, str]) -> int:
    """Return how many bytes `k` is by the options of a job.

    >>> kib({}), kib({"kb_base": "1000"})
    (1024, 1000)
    """
    return KB if options.get("kb_base") == "1000" else KIB


def is_decimal_to_fio(text: str) -> bool:
    """Return whether a size looks binary but is not to fio, unless `kb_base=1000`.

    >>> is_decimal_to_fio("4KiB"), is_decimal_to_fio("4k")
    (True, False)
    """
    return bool(re.fullmatch(r"\d+[kmgtp]ib", text.strip(), re.IGNORECASE))


def seconds(text: str, unit: str = "s") -> float | None:
    """Return a time in seconds; `unit` is that of a bare number. None where it is no time.

    >>> seconds("60"), seconds("2m"), seconds("500", "us"), seconds("soon")
    (60.0, 120.0, 0.0005, None)
    """
    match = TIME.fullmatch(text.strip())
    return float(match[1]) * SECONDS[(match[2] or unit).lower()] if match else None
