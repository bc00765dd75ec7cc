"""A network of queues as tables: what it does against load, and what limits it."""

from typing import Any

from headrace import times
from headrace.times import Unit
from headrace.view.words import counted

Json = dict[str, Any]


# Stations whose utilisation stands beside each load: those that limit first.
SHOWN = 4
# Bounds of a network of balanced jobs hold where service times are exponential; the others hold always.
BALANCED = "balanced bounds (exponential service), 1/s"


def against_load(found: Json) -> tuple[list[str], list[list[str]]]:
    """Return throughput, response and utilisation against load as columns and rows, the scenario's own marked."""
    simulated = any(point.get("simulated") for point in found["points"])
    names = [station["component"] for station in found["stations"][:SHOWN]]
    unit = unit_of_responses(found).name
    beside = ["simulated, 1/s", f"simulated, {unit}", "simulated vs formula"] if simulated else []
    load = "offered, 1/s" if found["open"] else "clients"
    columns = ["", load, "formula, 1/s", f"formula, {unit}", *beside, *names]
    return columns, [_row(point, found, simulated) for point in found["points"]]


def unit_of_responses(found: Json) -> Unit:
    """Return the unit of mean responses in tables and pictures."""
    return times.unit(point["response_ms"] for point in found["points"])


def _row(point: Json, found: Json, simulated: bool) -> list[str]:
    unit = unit_of_responses(found)
    load = rate(point["load"]) if found["open"] else f"{point['load']:,.0f}"
    answered = [rate(point["throughput_per_s"]), response(point["response_ms"], unit)]
    busy = [f"{share:.1%}" for share in point["utilisation"][:SHOWN]]
    beside = _beside(point, unit) if simulated else []
    return ["→" if point["own"] else "", load, *answered, *beside, *busy]


def _beside(point: Json, unit: Unit) -> list[str]:
    found = point.get("simulated")
    if not found:
        return ["", "", ""]
    off = "—" if point["response_ms"] is None else f"{found['response_ms'] / point['response_ms'] - 1:+.2%}"
    return [rate(found["throughput_per_s"]), unit.interval(found["response_ms"], found["half_width_ms"]), off]


def rate(per_s: float | None) -> str:
    """Write a rate: with two decimals, or three digits where it is below one.

    >>> rate(118.256), rate(0.019048), rate(4500.4)
    ('118.26', '0.0190', '4,500')
    """
    if per_s is None:
        return "overloaded"
    if 0 < per_s < 1:
        return f"{per_s:#.3g}"
    return f"{per_s:,.0f}" if per_s >= 1000 else f"{per_s:.2f}"


def response(time: float | None, unit: Unit) -> str:
    """Write a mean response without its unit; a dash where there is none."""
    return "—" if time is None else unit.cell(time)


def limits(found: Json) -> tuple[list[str], list[list[str]]]:
    """Return what limits the system first, second and so on as columns and rows."""
    unit = times.unit(station["demand_ms"] for station in found["stations"])
    rows = [
        [
            station["component"],
            station["kind"],
            f"{station['count']:,}",
            f"{station['servers']:,}",
            unit.cell(station["demand_ms"]),
            rate(station["saturates_at_per_s"]),
        ]
        for station in found["stations"]
    ]
    return ["", "kind", "number", "servers", f"work of a request, {unit.name}", "saturates at, 1/s"], rows


def bounds(found: Json) -> tuple[list[str], list[list[str]]] | None:
    """Return throughput between its bounds and by approximations as columns and rows, for clients."""
    if found["open"]:
        return None
    approximations = ["Bard-Schweitzer, 1/s", "linearizer, 1/s"]
    columns = ["clients", "at least, 1/s", "formula, 1/s", "at most, 1/s", BALANCED, *approximations]
    rows = []
    for point in found["points"]:
        ends = _ends(point["asymptotic"])
        others = [rate(point["bard_schweitzer_per_s"]), rate(point["linearizer_per_s"])]
        balanced = " to ".join(dict.fromkeys(_ends(point["balanced"])))
        formula = rate(point["throughput_per_s"])
        rows.append([f"{point['load']:,.0f}", ends[0], formula, ends[1], balanced, *others])
    return columns, rows


def _ends(bounds: Json | None) -> list[str]:
    return [rate(bounds["from"]), rate(bounds["to"])] if bounds else ["—", "—"]


def method(found: Json) -> str:
    """Say which formulas were used, and whether their assumptions hold."""
    if not found["fails"]:
        return f"{found['method']}; its assumptions hold"
    many = counted(len(found["fails"]), "assumption")
    return f"{found['method']}; {many} fail{'s' if len(found['fails']) == 1 else ''}:"
