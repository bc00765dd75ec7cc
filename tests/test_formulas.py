"""Formulas of fields: their arithmetic is Python's, their units are an engineer's, and errors state their column."""

import math
import random

import pytest

from headrace.experiment.formula import evaluate, value
from headrace.experiment.objective import objective

NAMES = {"a": 3, "b.c": 0.25, "groups.0.drives": -2, "e": 1.5}
OPERATORS = ("+", "-", "*", "/", "**")
COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")


def arithmetic(draw: random.Random, depth: int) -> tuple[str, str]:
    """Return a random formula and the same for Python, fully nested or by precedence."""
    if depth == 0 or draw.random() < 0.1:
        name = draw.choice([*NAMES, "2", "0.5", "7e-1"])
        return name, f"({float(NAMES.get(name, name))!r})"
    parts = [arithmetic(draw, depth - 1) for _ in range(2)]
    match draw.randrange(4):
        case 0:
            return f"-{parts[0][0]}", f"-{parts[0][1]}"
        case 1:
            sign = draw.choice(COMPARISONS)
            left, right = (f"(({parts[0][side]}) {sign} ({parts[1][side]}))" for side in (0, 1))
            return left, f"float({right})"
        case 2:
            sign = draw.choice(OPERATORS)
            left, right = (f"({parts[0][side]} {sign} {parts[1][side]})" for side in (0, 1))
            return left, right
        case _:
            name = draw.choice(["min", "max"])
            left, right = (f"{name}({parts[0][side]}, {parts[1][side]})" for side in (0, 1))
            return left, right


def test_arithmetic_is_that_of_python() -> None:
    draw, compared = random.Random(7), 0
    for _ in range(2000):
        formula, python = arithmetic(draw, 4)
        try:
            expected = eval(python, {"__builtins__": {}}, {"min": min, "max": max, "float": float})
        except (ZeroDivisionError, OverflowError, TypeError):
            continue
        if isinstance(expected, complex) or not math.isfinite(expected):
            continue
        assert value(formula, NAMES).number == pytest.approx(expected, rel=1e-12), formula
        compared += 1
    assert compared > 500


def test_quantities_keep_their_units() -> None:
    fields = {"drives": 4, "volume": "500 GB", "unit": "64 KiB"}
    assert value("8000 * drives + 20 * volume / 1 TB", fields).number == pytest.approx(32_010)
    assert evaluate("unit * (drives - 1)", fields) == "192 KiB"
    assert evaluate("if(drives > 3, volume, 2 * volume) / 8 ms", fields) == "62500000 MB/s"
    assert evaluate("max(0, 2 ms - 1 s)", fields) == "0 ms"


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        ("volume + 2 ms", r"column 8: a size and a time cannot be added or subtracted; divide by a unit"),
        ("drives * ", r"is not a formula: column 10: the expression ends here"),
        ("2 * ceil(volume)", r"column 5: the argument of this function must be a plain number, not a size"),
        ("3 volume", r"is not a formula: column 1: unknown unit of a quantity `volume`.* write `\*` before `volume`"),
        ("drives / (drives - 4)", r"the result is inf: a division by zero"),
        ("volume * volume", r"the result is in B\^2 s\^0, which no field of a scenario takes"),
        ("drifes", r"there is no `drifes`.* such as `drives`"),
        ("level * 2", r"`raid0` is neither a number nor a quantity"),
    ],
)
def test_errors_state_their_column(formula: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        evaluate(formula, {"drives": 4, "volume": "500 GB", "level": "raid0"})


def test_a_comparison_in_a_formula_is_not_its_bound() -> None:
    goal = objective("if(disks > 4, 2, 1) * 10 < 15", bounded=True, fields=True)
    assert (goal.bare, goal.above, goal.bound) == ("if(disks > 4, 2, 1) * 10", False, 15.0)
    assert goal.of_fields({"disks": 8}) == 20.0
