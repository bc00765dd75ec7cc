"""What charts are drawn from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Points = Sequence[Sequence[float]]


Form = Literal["", "percent", "bytes", "short", "whole", "counts", "few", "apart"]


@dataclass(frozen=True)
class Axis:
    """An axis: its title with the unit, and how its numbers are laid out."""

    title: str
    form: Form = ""
    """Labels: shares, sizes in powers of 2 or 10, `10k`, the whole numbers that occur, whole steps, few, or apart."""
    log: int = 0
    """The base of an axis of equal ratios; 0: of equal steps."""
    ends: tuple[float, float] | None = None
    tight: bool = False
    """True if the axis ends where its values do."""


SHARE = (0.0, 1.0)


@dataclass(frozen=True)
class Named:
    """A value with its interval, beside its name."""

    name: str
    middle: float
    half: float
    said: str
    """Its description, which is its tooltip."""


@dataclass(frozen=True)
class Spot:
    """A point by two numbers, and what it is; `half` is half the width of the interval of `y`."""

    x: float
    y: float
    what: str
    said: str
    half: float = 0.0


OVERLOADED = "overloaded"


@dataclass(frozen=True)
class Place:
    """A point of an experiment: its values by place, and a metric there, or why there is none."""

    values: Mapping[str, object]
    said: str
    mean: tuple[float, float | None] | None
    failed: str | None
