"""Formulas of quantities: what `derive` has, such as `system.tds.stripe_unit * system.tds.disks`."""

import ast
import difflib
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headrace import _core

# A kind of quantity: powers of (bytes, seconds), the scale of its parser's unit, and how it is written: scale and unit.
KINDS: dict[str, tuple[tuple[int, int], float, tuple[float, str]]] = {
    "time": ((0, 1), 1e9, (1e3, "ms")),
    "size": ((1, 0), 1.0, (1.0, "B")),
    "data rate": ((1, -1), 1.0, (1e-6, "MB/s")),
    "frequency": ((0, -1), 1.0, (1.0, "/s")),
    "share": ((0, 0), 1.0, (1.0, "")),
}
BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True)
class Quantity:
    """A number with powers of bytes and of seconds."""

    number: float
    powers: tuple[int, int] = (0, 0)
    percent: bool = field(default=False, compare=False, repr=False)
    """Whether it is written in percent."""

    def text(self) -> str | int | float:
        """Return it as a scenario has it: a plain number, or text with a unit.

        >>> quantity("2.5%").text()
        '2.5 %'
        """
        if self.percent:
            return f"{self.number * 100:.12g} %"
        if self.powers == (0, 0):
            return int(self.number) if self.number.is_integer() else self.number
        for powers, _, (scale, unit) in KINDS.values():
            if powers == self.powers:
                return _size(round(self.number)) if unit == "B" else f"{self.number * scale:.12g} {unit}"
        raise ValueError(
            f"bytes to the {self.powers[0]} and seconds to the {self.powers[1]} are no quantity of a scenario"
        )


def _size(number: int) -> str:
    """Return a size in the largest unit that it is a whole number of."""
    at = 0
    while number and number % 1024 == 0 and at + 1 < len(BINARY):
        number, at = number // 1024, at + 1
    return f"{number} {BINARY[at]}"


def quantity(value: object) -> Quantity:
    """Return what a value of a scenario is: `64 KiB`, `10 /s`, 7.

    >>> quantity("64 KiB"), quantity("8 ms").number, quantity(7).text()
    (Quantity(number=65536.0, powers=(1, 0)), 0.008, 7)
    """
    try:
        return Quantity(float(value))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        pass
    for kind, (powers, scale, _) in KINDS.items():
        try:
            return Quantity(_core.quantity(kind, str(value)) / scale, powers, percent="%" in str(value))
        except ValueError:
            continue
    raise ValueError(f"`{value}` is neither a number nor a quantity")


def evaluate(formula: str, values: Mapping[str, object]) -> str | int | float:
    """Return what a formula gives for these values of places.

    It has `+ - * /`, parentheses, numbers, places, and quantities in quotes.

    >>> evaluate("tds.stripe_unit * (tds.disks - 1)", {"tds.stripe_unit": "64 KiB", "tds.disks": 5})
    '256 KiB'
    >>> evaluate("'1 MiB' / '8 ms'", {})
    '131.072 MB/s'
    """
    return value(formula, values).text()


def value(formula: str, values: Mapping[str, object]) -> Quantity:
    """Return the quantity that a formula gives: see `evaluate`."""
    try:
        return _value(ast.parse(_subscripted(formula), mode="eval").body, values)
    except (RecursionError, MemoryError):
        raise ValueError(f"`{formula[:40]}…` is nested too deep for a formula; write it shorter") from None
    except (SyntaxError, ZeroDivisionError) as error:
        hint = "it has + - * /, numbers, places, and quantities in quotes ('64 KiB')"
        raise ValueError(f"`{formula}` is not a formula ({getattr(error, 'msg', error)}); {hint}") from None


def _subscripted(formula: str) -> str:
    """Return a formula whose places have their numbers in brackets, as Python reads them.

    >>> _subscripted("2 * library.groups.0.drives + 1.5")
    '2 * library.groups[0].drives + 1.5'
    """
    return re.sub(r"[A-Za-z_]\w*(\.\w+)+", lambda place: re.sub(r"\.(\d+)(?!\w)", r"[\1]", place[0]), formula)


def _value(node: ast.expr, values: Mapping[str, Any]) -> Quantity:
    match node:
        case ast.Constant(value=int() | float() | str()):
            return quantity(node.value)
        case ast.Name() | ast.Attribute() | ast.Subscript():
            place = re.sub(r"\[(\d+)\]", r".\1", ast.unparse(node))
            if place not in values:
                near = difflib.get_close_matches(place, values, 3) or [
                    name for name in values if _is_number(values[name])
                ]
                such = f", such as `{'`, `'.join(near[:3])}`" if near else ""
                raise ValueError(f"there is no `{place}`, or there are several; name a field in full{such}")
            return quantity(values[place])
        case ast.UnaryOp(op=ast.USub()):
            inner = _value(node.operand, values)
            return Quantity(-inner.number, inner.powers)
        case ast.BinOp() if type(node.op) in OPERATORS:
            return _together(node.op, _value(node.left, values), _value(node.right, values))
    raise ValueError(f"`{ast.unparse(node)}` is not understood: a formula has + - * /, numbers, places and quantities")


def _is_number(value: object) -> bool:
    try:
        quantity(value)
    except ValueError:
        return False
    return True


def _together(how: ast.operator, a: Quantity, b: Quantity) -> Quantity:
    number = OPERATORS[type(how)](a.number, b.number)
    if isinstance(how, ast.Add | ast.Sub):
        if a.powers != b.powers:
            raise ValueError(f"{a.text()} and {b.text()} cannot be added")
        return Quantity(number, a.powers)
    sign = 1 if isinstance(how, ast.Mult) else -1
    return Quantity(number, (a.powers[0] + sign * b.powers[0], a.powers[1] + sign * b.powers[1]))


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
