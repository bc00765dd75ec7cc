"""Seek curves of parameter files: formulas through a few times, or a table in a file of its own."""

import math
from pathlib import Path

from headrace.devices.disksim.blocks import ParameterBlock
from headrace.errors import read_text, refusal, refuse_endless

Curve = list[tuple[int, float]]

# By so large a share a seek time may lie off the line between its neighbours before it counts as odd.
ODD = 0.25


def curve_file(mechanics: ParameterBlock) -> Path | None:
    """Return the file of the seek table, where there is one."""
    if mechanics.get("Seek type") != "extracted":
        return None
    if not isinstance(mechanics.get("Full seek curve"), str):
        raise mechanics.refusal("Full seek curve", "`Full seek curve` names no file")
    file = mechanics.file.parent / str(mechanics["Full seek curve"])
    if not file.is_file():
        raise mechanics.refusal("Full seek curve", f"file not found: {file}")
    return file


def curve(mechanics: ParameterBlock, cylinders: int) -> Curve:
    """Return seek times as (cylinders, ms): a table as it is, a formula dense where it bends."""
    if file := curve_file(mechanics):
        return _extracted(file)
    found = _formula(mechanics, cylinders)
    if min(time for _, time in found) < 0:
        raise mechanics.refusal("Seek type", "its seek times come out negative")
    return found


def odd(mechanics: ParameterBlock, found: Curve) -> list[str]:
    """Return what to say of entries of a table that lie far off their neighbours: they are taken as they are."""
    file = curve_file(mechanics)
    if not file:
        return []
    rows = zip(found, found[1:], found[2:], strict=False)
    return [
        f"{file.name}: the seek over {at} cylinders ({time:g} ms) is far off its neighbours ({before:g}, {after:g} ms)"
        for (_, before), (at, time), (_, after) in rows
        if not (1 - ODD) * min(before, after) <= time <= (1 + ODD) * max(before, after)
    ]


def _formula(mechanics: ParameterBlock, cylinders: int) -> Curve:
    kind = mechanics.get("Seek type")
    most = max(cylinders - 1, 1)
    distances = sorted(
        {*range(1, min(11, most + 1)), *(round(most * (i / 120) ** 2) for i in range(1, 121)), most} - {0}
    )
    one, average, full = (
        mechanics.number(f"{name} seek time", 0.0) for name in ("Single cylinder", "Average", "Full strobe")
    )
    if kind in {"hpl", "hplplus10"}:
        ten = mechanics.numbers("First ten seek times") if kind == "hplplus10" else []
        return [(d, ten[d - 1] if d <= len(ten) else _hpl(mechanics, d)) for d in distances]
    if kind == "constant":
        return [(1, average), (most, average)] if most > 1 else [(1, average)]
    if kind == "linear":
        return [(1, one), (max(most // 3, 2), average), *([(most, full)] if most > 2 else [])]
    if kind == "curve":  # Lee and Katz (1993), through the three times.
        a = (-10 * one + 15 * average - 5 * full) / (3 * math.sqrt(cylinders))
        b = (7 * one - 15 * average + 8 * full) / (3 * cylinders)
        return [(d, a * math.sqrt(d - 1) + b * (d - 1) + one) for d in distances]
    raise mechanics.refusal("Seek type", f"seek type `{kind}` is not known")


def _hpl(mechanics: ParameterBlock, distance: int) -> float:
    """Return the seek time of Hewlett-Packard's two-part curve: a root below a boundary, a line above."""
    values = mechanics.numbers("HPL seek equation values")
    if len(values) != 6:
        raise mechanics.refusal("HPL seek equation values", "the HPL seek curve has six values")
    boundary, a, b, c, d, one = values
    if distance == 1 and one >= 0:
        return one
    return a + b * math.sqrt(distance) if distance < boundary else c + d * distance


def _extracted(file: Path) -> Curve:
    """Return the points of a table: `cylinders, ms`, perhaps a deviation, below a line that counts them."""
    refuse_endless(file)
    points: Curve = []
    for number, line in enumerate(read_text(file, "a table of seeks is text: `cylinders, ms`").splitlines(), 1):
        fields = line.replace(",", " ").split()
        if not fields or (number == 1 and not fields[0].isdigit()):
            continue
        try:
            distance, time = int(fields[0]), float(fields[1])
        except (ValueError, IndexError):
            raise refusal(file, f"{file}:{number}: `{line}` is no pair of cylinders and ms", "") from None
        if not 0 <= time < 1e6:
            raise refusal(file, f"{file}:{number}: no seek takes {fields[1]} ms", "")
        if distance <= (points[-1][0] if points else 0):
            before = f"{points[-1][0]} cylinders" if points else "none"
            raise refusal(file, f"{file}:{number}: {distance} cylinders come after {before}", "sort it")
        points.append((distance, time))
    if not points:
        raise refusal(file, f"{file}:1: it has no seek times", "")
    return points
