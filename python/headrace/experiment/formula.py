"""Quantities, and formulas of them: what `derive` has, such as `system.tds.stripe_unit * system.tds.disks`."""

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from headrace import _core
from headrace.written import written

# How each kind of quantity is written, by powers of (bytes, seconds): scale and unit.
WRITTEN: dict[tuple[int, int], tuple[float, str]] = {
    (0, 1): (1e3, "ms"),
    (1, 0): (1.0, "B"),
    (1, -1): (1e-6, "MB/s"),
    (0, -1): (1.0, "/s"),
}
MOST_SHOWN = 80


@dataclass(frozen=True)
class Quantity:
    """A number with powers of bytes and of seconds."""

    number: float
    powers: tuple[int, int] = (0, 0)
    percent: bool = field(default=False, compare=False, repr=False)
    """True if it is written in percent."""

    def text(self) -> str | int | float:
        """Return it as a scenario has it: a plain number, or text with a unit.

        >>> quantity("2.5%").text()
        '2.5 %'
        """
        if self.percent:
            return f"{self.number * 100:.12g} %"
        if self.powers == (0, 0):
            return int(self.number) if self.number.is_integer() else self.number
        if self.powers not in WRITTEN:
            bytes_, seconds = self.powers
            raise ValueError(f"the result is in B^{bytes_} s^{seconds}, which no field of a scenario takes")
        scale, unit = WRITTEN[self.powers]
        return written("size", round(self.number)) if unit == "B" else f"{self.number * scale:.12g} {unit}"


def quantity(value: object) -> Quantity:
    """Return the quantity that a value of a scenario is: `64 KiB`, `10 /s`, 7.

    >>> quantity("64 KiB"), quantity("8 ms").number, quantity(7).text()
    (Quantity(number=65536.0, powers=(1, 0)), 0.008, 7)
    """
    try:
        number, *powers = _core.any_quantity(str(float(value)) if isinstance(value, int | float) else str(value))
    except ValueError as error:
        raise ValueError(f"`{value}` is neither a number nor a quantity: {error}") from None
    return Quantity(number, (powers[0], powers[1]), percent="%" in str(value))


def evaluate(formula: str, values: Mapping[str, object]) -> str | int | float:
    """Return the value of a formula as a scenario has it, for these values of places.

    The language is that of `crates/expression`: numbers, quantities, places, `+ - * / **`, comparisons and functions.

    >>> evaluate("tds.stripe_unit * (tds.disks - 1)", {"tds.stripe_unit": "64 KiB", "tds.disks": 5})
    '256 KiB'
    >>> evaluate("1 MiB / 8 ms", {})
    '131.072 MB/s'
    """
    return value(formula, values).text()


def value(formula: str, values: Mapping[str, object]) -> Quantity:
    """Return the value of a formula; raise `ValueError` with the column of an error."""
    shown = formula if len(formula) <= MOST_SHOWN else f"{formula[:MOST_SHOWN]}…"
    try:
        parsed = _core.expression(formula)
    except ValueError as error:
        raise ValueError(f"`{shown}` is not a formula: {error}") from None
    of = [_quantity_of(name, values) for name in parsed.names]
    try:
        number, *powers = parsed.evaluate([(one.number, *one.powers) for one in of])
    except ValueError as error:
        raise ValueError(f"`{shown}`: {error}") from None
    return Quantity(number, (powers[0], powers[1]))


def _quantity_of(place: str, values: Mapping[str, object]) -> Quantity:
    # A number of a device has its source beside its value.
    if (known := next((name for name in (place, f"{place}.value") if name in values), None)) is not None:
        return quantity(values[known])
    near = difflib.get_close_matches(place, values, 3) or [name for name in values if _is_quantity(values[name])]
    such = f", such as `{'`, `'.join(near[:3])}`" if near else ""
    raise ValueError(f"there is no `{place}`, or there are several; name a field in full{such}")


def _is_quantity(value: object) -> bool:
    try:
        quantity(value)
    except ValueError:
        return False
    return True


def between(first: object, last: object, shares: list[float], *, log: bool) -> list[str | int | float]:
    """Return the values that lie at these shares of the way from `first` to `last`, each once.

    Where both ends are whole, so is what lies between; what lies between two sizes is a multiple of their common
    divisor.

    >>> between("8 KiB", "128 KiB", [0.0, 0.5, 1.0], log=True), between(1, 4, [0.0, 0.5, 0.6, 1.0], log=False)
    (['8 KiB', '32 KiB', '128 KiB'], [1, 2, 3, 4])
    >>> between("10 %", "90 %", [0.0, 0.5, 1.0], log=False)
    ['10 %', '50 %', '90 %']
    """
    a, b = quantity(first), quantity(last)
    if a.powers != b.powers:
        raise ValueError(f"{first} and {last} are of different kinds")
    if log and min(a.number, b.number) <= 0:
        raise ValueError(f"from {first} to {last} there are no equal ratios: both must be more than zero")
    grain = 1 if isinstance(first, int) and isinstance(last, int) else 0
    if a.powers == (1, 0):
        grain = math.gcd(round(a.number), round(b.number))
    found = []
    for share in shares:
        number = math.exp((1 - share) * math.log(a.number) + share * math.log(b.number)) if log else (
            (1 - share) * a.number + share * b.number
        )  # fmt: skip
        # Ends are what they were told to be; rounding errors of exp and log are no values of their own.
        number = float(f"{number:.12g}")
        found.append(Quantity(float(round(number / grain) * grain) if grain else number, a.powers, a.percent).text())
    return list(dict.fromkeys(found))
