"""Checks of numbers that functions are given."""

import math
from numbers import Integral, Real
from typing import Any


def whole(least: int = 1, **given: Any) -> None:
    """Raise `ValueError` unless all that are given are whole numbers from `least` on, of 64 bits; None is left alone.

    >>> whole(replications=3, threads=None)
    >>> whole(replications=-2)
    Traceback (most recent call last):
    ValueError: replications is -2: give a whole number from 1 on
    """
    for name, value in given.items():
        is_whole = isinstance(value, Integral) and not isinstance(value, bool)
        if value is not None and not (is_whole and value >= least):
            raise ValueError(f"{name} is {value!r}: give a whole number from {least} on")
        if value is not None and value >= 2**64:
            raise ValueError(f"{name} is {value!r}: give a whole number below 2⁶⁴")


def above(least: float = 0.0, **given: Any) -> None:
    """Raise `ValueError` unless all that are given are numbers above `least`; None is left alone.

    >>> above(within=0.02)
    >>> above(within=float("nan"))
    Traceback (most recent call last):
    ValueError: within is nan: give a number above 0
    """
    for name, value in given.items():
        if value is not None and not (isinstance(value, Real) and least < float(value) < math.inf):
            raise ValueError(f"{name} is {value!r}: give a number above {least:g}")
