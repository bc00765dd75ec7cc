"""The report of a solution: a network of queues against load, and what limits it."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Literal

from headrace import quantities
from headrace.charts import lines
from headrace.charts.data import Axis
from headrace.quantities import Unit, counted
from headrace.report import Bars, Chart, Medium, Report, Table, Text, curve, noted

if TYPE_CHECKING:
    from headrace.result_types import Between, SolutionData, SolvedPoint

# Utilisation is drawn of at most this many components, those that saturate first.
MOST_CURVES = 6


def report(found: "SolutionData", title: str = "solution", *, drawn: bool = False) -> Report:
    """Return the report of a solution; with `drawn`, terminals show throughput and response as bars."""
    beside = "beside simulations" if any(point["simulated"] for point in found["points"]) else "without simulation"
    return Report(
        title,
        found["answer"],
        f"solution of {'an open' if found['open'] else 'a closed'} network of queues, {beside}",
        noted([method(found), *found["fails"]], Medium.PAGE | Medium.NOTEBOOK),
        blocks=[*charts(found), *_tables(found), *(_bars(found) if drawn else ()), *_assumptions(found)],
    )


def _tables(found: "SolutionData") -> list[Table]:
    tables = [
        Table(*against_load(found), heading="Load by load; →: the load of the scenario"),
        Table(*limits(found), title="what limits it, the bottleneck first", words=("", "kind")),
    ]
    beside = Medium.PAGE | Medium.NOTEBOOK
    if ends := bounds(found):
        tables.append(Table(*ends, title="throughput, its bounds and approximations", on=beside))
    return tables


def _assumptions(found: "SolutionData") -> list[Text]:
    fails = [Text(f"- {fails}", below=True, on=Medium.TERMINAL) for fails in found["fails"]]
    return [Text(method(found), on=Medium.TERMINAL), *fails]


def _bars(found: "SolutionData") -> list[Bars]:
    by = f"by {'1/s offered' if found['open'] else 'clients'}"
    throughput = _of(found, lambda point: point["throughput_per_s"])
    response = _of(found, lambda point: point["response_ms"])
    return [
        curve(f"{title}, {by}", [(quantities.number(load), value) for load, value in of])
        for title, of in (("throughput by formula, 1/s", throughput), ("mean response by formula, ms", response))
    ]


def charts(found: "SolutionData") -> list[Chart]:
    """Return throughput, response and utilisation against load."""
    offered, clients = Axis("offered load, requests/s", "few", tight=True), Axis("clients", "whole", tight=True)
    load = offered if found["open"] else clients
    response = Axis(f"mean response time, {unit_of_responses(found).name}")
    return [
        Chart(lines(_throughput(found), load, Axis("requests/s")), "throughput", heading="Throughput against load"),
        Chart(lines(_response(found), load, response), "response", heading="Response time against load"),
        Chart(
            lines(_utilisation(found), load, Axis("utilisation", "percent")),
            "utilisation",
            heading="Utilisation against load",
        ),
    ]


Curve = list[tuple[float, float]]


def _throughput(found: "SolutionData") -> dict[str, Curve]:
    of = {"theory": _of(found, lambda point: point["throughput_per_s"])} | _simulated(found, "throughput_per_s")
    bounds = {
        "at most": _of(found, lambda point: point["asymptotic"] and point["asymptotic"]["to"]),
        "at least": _of(found, lambda point: point["asymptotic"] and point["asymptotic"]["from"]),
    }
    return of | {title: bound for title, bound in bounds.items() if bound}


def _response(found: "SolutionData") -> dict[str, Curve]:
    of = unit_of_responses(found)
    both = {"theory": _of(found, lambda point: point["response_ms"])} | _simulated(found, "response_ms")
    return {name: [(load, of.of(time)) for load, time in curve] for name, curve in both.items()}


def _simulated(found: "SolutionData", what: Literal["throughput_per_s", "response_ms"]) -> dict[str, Curve]:
    points = _of(found, lambda point: point["simulated"] and point["simulated"][what])
    return {"simulated": points} if points else {}


def _utilisation(found: "SolutionData") -> dict[str, Curve]:
    return {
        station["component"]: _of(found, partial(_busy, at=at))
        for at, station in enumerate(found["stations"][:MOST_CURVES])
    }


def _busy(point: "SolvedPoint", at: int) -> float:
    return point["utilisation"][at]


def _of(found: "SolutionData", value: "Callable[[SolvedPoint], float | None]") -> Curve:
    """Return the points of a curve; those without a value are left out."""
    pairs = [(point["load"], value(point)) for point in found["points"]]
    return [(load, known) for load, known in pairs if known is not None]


# Stations whose utilisation stands beside each load: those that limit first.
SHOWN = 4
# Bounds of a network of balanced jobs hold where service times are exponential; the others hold always.
BALANCED = "balanced bounds (exponential service), 1/s"


def against_load(found: "SolutionData") -> tuple[list[str], list[list[str]]]:
    """Return throughput, response and utilisation against load as columns and rows, the scenario's own marked."""
    simulated = any(point["simulated"] for point in found["points"])
    names = [station["component"] for station in found["stations"][:SHOWN]]
    unit = unit_of_responses(found).name
    beside = ["simulated, 1/s", f"simulated, {unit}", "simulated vs formula"] if simulated else []
    load = "offered, 1/s" if found["open"] else "clients"
    columns = ["", load, "formula, 1/s", f"formula, {unit}", *beside, *names]
    return columns, [_row(point, found, simulated) for point in found["points"]]


def unit_of_responses(found: "SolutionData") -> Unit:
    """Return the unit of mean responses in tables and pictures."""
    return quantities.unit(point["response_ms"] for point in found["points"])


def _row(point: "SolvedPoint", found: "SolutionData", simulated: bool) -> list[str]:
    unit = unit_of_responses(found)
    load = rate(point["load"]) if found["open"] else f"{point['load']:,.0f}"
    answered = [rate(point["throughput_per_s"]), response(point["response_ms"], unit)]
    busy = [f"{share:.1%}" for share in point["utilisation"][:SHOWN]]
    beside = _beside(point, unit) if simulated else []
    return ["→" if point["own"] else "", load, *answered, *beside, *busy]


def _beside(point: "SolvedPoint", unit: Unit) -> list[str]:
    found = point["simulated"]
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


def limits(found: "SolutionData") -> tuple[list[str], list[list[str]]]:
    """Return what limits the system first, second and so on as columns and rows."""
    unit = quantities.unit(station["demand_ms"] for station in found["stations"])
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


def bounds(found: "SolutionData") -> tuple[list[str], list[list[str]]] | None:
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


def _ends(bounds: "Between | None") -> list[str]:
    return [rate(bounds["from"]), rate(bounds["to"])] if bounds else ["—", "—"]


def method(found: "SolutionData") -> str:
    """Say which formulas were used, and whether their assumptions hold."""
    if not found["fails"]:
        return f"{found['method']}; its assumptions hold"
    many = counted(len(found["fails"]), "assumption")
    return f"{found['method']}; {many} fail{'s' if len(found['fails']) == 1 else ''}:"
