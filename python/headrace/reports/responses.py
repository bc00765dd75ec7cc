"""Response times of a stream of a run: where the time went, beside theory and beside what was measured."""

from math import floor, log10
from typing import Any

from headrace.quantities import Unit, aligned, percent, unit

Json = dict[str, Any]

WHATS = ("waiting", "service", "blocked")

# Legs that take a smaller share of the time are shown together.
LEAST_SHARE = 0.005


Leg = tuple[str, str, float, float]


def legs(path: list[Json]) -> list[Leg]:
    """Return where the time of requests went, longest first: (component, what happened there, ms, share).

    Small shares come last and together, as `other`.
    """
    found = [(leg["component"], what, leg[f"{what}_ms"]) for leg in path for what in WHATS]
    total = sum(leg[2] for leg in found)
    longest = sorted((leg for leg in found if leg[2] > 0), key=lambda leg: leg[2], reverse=True)
    large = [leg for leg in longest if leg[2] >= LEAST_SHARE * total]
    small = longest[len(large) :]
    if len(small) > 1:  # Nobody looks for a bottleneck among them.
        longest = [*large, ("other", "", sum(leg[2] for leg in small))]
    return [(component, what, time, time / total) for component, what, time in longest]


def times_of(legs: list[Leg]) -> list[str]:
    """Return the times of legs in one unit, with as many digits behind the point as give the longest four digits."""
    of, longest = unit(leg[2] for leg in legs), max((leg[2] for leg in legs), default=1.0)
    digits = max(0, 3 - floor(log10(of.of(longest))))
    return [f"{of.of(leg[2]):,.{digits}f} {of.name}" for leg in legs]


def unit_of_responses(stream: Json) -> Unit:
    """Return the unit of a stream's table of response times."""
    return unit(quantile["ms"] for quantile in stream["response"]["quantiles_ms"])


def response_table(stream: Json, theory: Json) -> tuple[list[str], list[list[str]]]:
    """Return response times as columns and rows: simulated, beside what was measured, and beside theory."""
    measured, of = stream["measured"], unit_of_responses(stream)
    others = [("measured", _measured_column(measured["all"]))] if measured else []
    if theory["mean_ms"] is not None:
        others.append(("theory", _theory_column(theory)))
    rows = []
    for row, simulated in _simulated_column(stream["response"]).items():
        cells = [row, _with_interval(stream["response"], row, simulated, of)]
        for _, column in others:
            other = column.get(row)
            cells += ["", ""] if not other else [alike(of.of(other), cells[1]), f"{simulated / other - 1:+.2%}"]
        rows.append(cells)
    columns = ["simulated", *(column for name, _ in others for column in (name, "off by"))]
    return columns, rows + (_demerits(measured, len(columns), of) if measured else [])


def alike(value: float, beside: str) -> str:
    """Write a number with as many digits behind the point as the one that it is compared with.

    >>> alike(30.2, "30.16 ± 0.19"), alike(107.99, "107"), alike(30.2, "405 ± 60")
    ('30.20', '108', '30')
    """
    behind = beside.partition(" ")[0].partition(".")[2]
    return f"{value:,.{len(behind)}f}"


def operations(stream: Json) -> tuple[Unit, list[str], list[list[str]]]:
    """Return the response times of reads, of writes and of each other operation, as their unit, columns and rows.

    There are no rows where the stream has only one operation.
    """
    both = {name: stream[name] for name in ("reads", "writes") if stream[name]}
    every = {name: of for name, of in (both | stream["operations"]).items() if of["count"]}
    of = unit(quantile["ms"] for response in every.values() for quantile in response["quantiles_ms"])
    columns = {name: _percentiles(response, of) for name, response in every.items()}
    rows = dict.fromkeys(row for column in columns.values() for row in column)
    return of, ["", *columns], [[row, *(column.get(row, "") for column in columns.values())] for row in rows]


def _percentiles(response: Json, of: Unit) -> dict[str, str]:
    """Return the number of requests and their response times, as fio has them of each direction."""
    times = _simulated_column(response)
    told = {row: _with_interval(response, row, time, of) for row, time in times.items()}
    return {"requests": f"{response['count']:,}"} | told | {"maximum": aligned(of.of(response["max_ms"]))}


def _with_interval(response: Json, row: str, simulated: float, of: Unit) -> str:
    halves = {_within(quantile["share"]): quantile["half_width_ms"] for quantile in response["quantiles_ms"]}
    half_width = (halves | {"mean": response["half_width_ms"]}).get(row)
    return of.interval(simulated, half_width) if half_width else aligned(of.of(simulated))


def _simulated_column(response: Json) -> dict[str, float]:
    column = {"mean": response["mean_ms"], "std. deviation": response["sd_ms"]}
    return column | {_within(quantile["share"]): quantile["ms"] for quantile in response["quantiles_ms"]}


def _theory_column(theory: Json) -> dict[str, float]:
    column = {"mean": theory["mean_ms"], "std. deviation": theory["sd_ms"]}
    return column | {_within(share): time for share, time in theory["quantiles_ms"]}


def _measured_column(measured: Json) -> dict[str, float]:
    column = {"mean": measured["measured_mean_ms"]}
    return column | {_within(share): time for share, time in measured["measured_quantiles_ms"]}


def _within(share: float) -> str:
    return f"p{share * 100:.4g}"


def _demerits(measured: Json, columns: int, of: Unit) -> list[list[str]]:
    """Return the rows that say how far off the simulation is, for all requests, reads and writes."""
    rows = []
    for name in ("all", "reads", "writes"):
        if part := measured[name]:
            means = [of.cell(part["simulated_mean_ms"]), of.cell(part["measured_mean_ms"])]
            rows.append([f"{name}: mean", *means, percent(part["mean_error_percent"], "+.1f")])
            rows.append([f"{name}: demerit", of.cell(part["demerit_ms"]), "", percent(part["demerit_percent"], ".1f")])
    return [row + [""] * (columns + 1 - len(row)) for row in rows]


def theory_in_words(theory: Json) -> str:
    """Say which formula applies, and what fails of its assumptions where something does."""
    if theory["model"] == "none":
        return f"theory: no formula applies. Assumption that fails: {theory['fails']}"
    if theory["exact"]:
        return f"theory: {theory['model']}, whose assumptions hold"
    which = "Assumptions that fail" if "; " in theory["fails"] else "Assumption that fails"
    return f"theory: {theory['model']}, an approximation. {which}: {theory['fails']}"
