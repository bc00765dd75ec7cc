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
    small = [leg for leg in longest if leg[2] < LEAST_SHARE * total]
    if len(small) > 1:  # Nobody looks for a bottleneck among them.
        longest = [*(leg for leg in longest if leg not in small), ("other", "", sum(leg[2] for leg in small))]
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
            cells += ["", ""] if not other else [aligned(of.of(other)), f"{simulated / other - 1:+.2%}"]
        rows.append(cells)
    columns = ["simulated", *(column for name, _ in others for column in (name, "off by"))]
    return columns, rows + (_demerits(measured, len(columns), of) if measured else [])


def operations(stream: Json) -> tuple[Unit, list[str], list[list[str]]]:
    """Return the response times of each operation as their unit, columns and rows; no rows where there is only one."""
    both = {name: stream[name] for name in ("reads", "writes") if stream[name]}
    every = both | stream["operations"]
    of = unit(time for response in every.values() for time in _late(response))
    rows = [
        [
            name,
            f"{response['count']:,}",
            _with_interval(response, "mean", response["mean_ms"], of),
            *(aligned(of.of(time)) for time in _late(response)),
        ]
        for name, response in every.items()
    ]
    return of, ["", "requests", "mean", *(_within(share) for share in SHOWN)], rows


# Quantiles of each operation that are shown.
SHOWN = (0.5, 0.9, 0.99)


def _late(response: Json) -> list[float]:
    return [quantile["ms"] for quantile in response["quantiles_ms"] if quantile["share"] in SHOWN]


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
    return f"theory: {theory['model']}, an approximation. Assumption that fails: {theory['fails']}"
