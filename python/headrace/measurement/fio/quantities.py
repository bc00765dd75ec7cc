"""Sizes and times as fio writes them."""

import re

SIZE = re.compile(r"(\d{1,18})([kmgtp]?)(?:i?b)?", re.IGNORECASE)
POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
TIME = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*(us|usec|ms|msec|s|m|h|d)?", re.IGNORECASE)
SECONDS = {"us": 1e-6, "usec": 1e-6, "ms": 1e-3, "msec": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def size(text: str, kib: int = 1024) -> int | None:
    """Return a size in bytes; `k` is `kib` bytes, 1024 unless `kb_base=1000`. None where it is no size.

    >>> size("4k"), size("1G"), size("2MiB"), size("512"), size("50%")
    (4096, 1073741824, 2097152, 512, None)
    """
    match = SIZE.fullmatch(text.strip())
    return int(match[1]) * kib ** POWERS[match[2].lower()] if match else None


def seconds(text: str, unit: str = "s") -> float | None:
    """Return a time in seconds; `unit` is that of a bare number. None where it is no time.

    >>> seconds("60"), seconds("2m"), seconds("500", "us"), seconds("soon")
    (60.0, 120.0, 0.0005, None)
    """
    match = TIME.fullmatch(text.strip())
    return float(match[1]) * SECONDS[(match[2] or unit).lower()] if match else None
