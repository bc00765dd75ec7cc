"""A run as tables: response times beside theory, where the time went, how busy each component is."""

from collections.abc import Iterator
from math import floor, log10
from typing import Any

from headrace.times import Unit, format_time, unit
from headrace.view.words import aligned, amount, level, number, percent

Json = dict[str, Any]

WHATS = ("waiting", "service", "blocked")

# Legs that take a smaller share of the time are shown together.
LEAST_SHARE = 0.005
# Below this utilisation headroom is shown as more than a hundredfold.
LEAST_USED = 0.01


def legs(stream: Json) -> list[tuple[str, str, float, float]]:
    """Return where the time of an average request went, longest first: (component, what happened there, ms, share).

    Small shares come last and together, as `other`.
    """
    found = [(leg["component"], what, leg[f"{what}_ms"]) for leg in stream["path"] for what in WHATS]
    total = stream["response"]["mean_ms"]
    longest = sorted((leg for leg in found if leg[2] > 0), key=lambda leg: leg[2], reverse=True)
    small = [leg for leg in longest if leg[2] < LEAST_SHARE * total]
    if len(small) > 1:  # Nobody looks for a bottleneck among them.
        longest = [*(leg for leg in longest if leg not in small), ("other", "", sum(leg[2] for leg in small))]
    return [(component, what, time, time / total) for component, what, time in longest]


def times_of(legs: list[tuple[str, str, float, float]]) -> list[str]:
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
    of = unit(time for response in stream["operations"].values() for time in _late(response))
    rows = [
        [
            name,
            f"{response['count']:,}",
            _with_interval(response, "mean", response["mean_ms"], of),
            *(aligned(of.of(time)) for time in _late(response)),
        ]
        for name, response in stream["operations"].items()
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


def components(found: Json) -> tuple[list[str], list[list[str]]]:
    """Return the components as columns and rows; work in the background has a column where there is some."""
    shown = list(grouped(found["components"]))
    beside = any(part["utilisation_by_cause"] for part in shown)
    wait, held = units_of_components(shown)
    rows = []
    for part in shown:
        busy = "" if part["utilisation"] is None else f"{part['utilisation']:.1%}"
        queue = "" if part["queue"] is None else level(part["queue"])
        times = (
            ("", "") if part["utilisation"] is None else (wait.cell(part["waiting_ms"]), held.cell(part["service_ms"]))
        )
        behind = [f"{background(part):.1%}" if part["utilisation"] is not None else ""] if beside else []
        rows.append([part["path"], busy, *behind, queue, *times, number(part["bytes_per_s"] / 1e6)])
        for portion in portions(part):
            cells = [f"{portion['utilisation']:.1%}", *([""] if beside else []), _queue(portion)]
            rows.append([_portion(part, portion), *cells, "", "", ""])
    behind = ["background"] if beside else []
    return ["", "busy", *behind, "waiting", f"mean wait, {wait.name}", f"server held, {held.name}", "MB/s"], rows


def units_of_components(parts: list[Json]) -> tuple[Unit, Unit]:
    """Return the units of the columns of components' mean waits and of the times that servers were held."""
    served = [part for part in parts if part["utilisation"] is not None]
    return unit(part["waiting_ms"] for part in served), unit(part["service_ms"] for part in served)


# The busiest servers of a component that are shown where others cannot stand in for them.
MOST_PORTIONS = 8


def portions(part: Json) -> list[Json]:
    """Return the servers of a component that stand in for no others, unless they are all of it; of many the busiest."""
    whole = (part["servers"], f"{part['utilisation'] or 0:.1%}")
    some = [one for one in part["portions"] if (one["servers"], f"{one['utilisation']:.1%}") != whole]
    least = sorted((portion["utilisation"] for portion in some), reverse=True)[:MOST_PORTIONS]
    return [portion for portion in some if portion["utilisation"] >= least[-1]][:MOST_PORTIONS]


def _portion(part: Json, portion: Json) -> str:
    failed = portion["unavailable"]
    note = f" ({level(failed)} of {portion['servers']} failed)" if failed else ""
    return f"{part['path']}: {portion['what']}{note}"


def _queue(portion: Json) -> str:
    return "" if portion["queue"] is None else level(portion["queue"])


def phases(found: Json) -> tuple[list[str], list[list[str]]]:
    """Return what each stream got before and after each fault; columns that say nothing are left out."""
    every = [stream for phase in found["phases"] for stream in phase["streams"]]
    units = [unit(stream[name] for stream in every) for name in PHASE_TIMES]
    headings = [f"{name.removesuffix('_ms')}, {of.name}" for name, of in zip(PHASE_TIMES, units, strict=True)]
    columns = ["from, s", "what happened", "stream", "requests/s", "MB/s", *headings, "failed"]
    rows = []
    for phase in found["phases"]:
        begin = [f"{phase['from_s']:,.0f}", "\n".join(phase["after"])]
        for at, stream in enumerate(phase["streams"]):
            rows.append([*(begin if at == 0 else ["", ""]), *_phase_of(stream, units)])
    several, failed = len(found["streams"]) > 1, any(row[-1] for row in rows)
    says = {"stream": several, "failed": failed}
    shown = [says.get(column, True) for column in columns]
    chosen = [[cell for cell, show in zip(row, shown, strict=True) if show] for row in [columns, *rows]]
    return chosen[0], chosen[1:]


PHASE_TIMES = ("mean_ms", "p99_ms")


def _phase_of(stream: Json, units: list[Unit]) -> list[str]:
    times = [
        of.cell(time) if (time := stream[name]) is not None else "" for name, of in zip(PHASE_TIMES, units, strict=True)
    ]
    rates = [number(stream["requests_per_s"]), number(stream["bytes_per_s"] / 1e6)]
    return [stream["name"], *rates, *times, f"{stream['failed']:,}" if stream["failed"] else ""]


def background(part: Json) -> float:
    """Return the share of time that a component was busy with what no host waited for."""
    return float(sum(share for cause, share in part["utilisation_by_cause"].items() if cause != "host"))


def meters(found: Json) -> list[list[str]]:
    """Return the metrics that components have of their own, as rows: component, metric, value."""
    return [
        [part["path"], _metric(name), _plain(name, value)]
        for part in grouped(found["components"])
        for name, value in part["meters"].items()
        if value is not None
    ]


def metrics_by_kind(found: Json) -> list[tuple[list[str], list[list[str]]]]:
    """Return the same as one table for each kind of component, as columns and rows: a component a row."""
    kinds: dict[str, list[Json]] = {}
    for part in grouped(found["components"]):
        if part["meters"]:
            kinds.setdefault(part["kind"], []).append(part)
    return [_of_a_kind(kind.replace("_", " "), parts) for kind, parts in kinds.items()]


def _of_a_kind(kind: str, parts: list[Json]) -> tuple[list[str], list[list[str]]]:
    """Return the metrics of alike components; what some of them have no number of, such as a rebuild, is left empty."""
    names = list(dict.fromkeys(name for part in parts for name in part["meters"]))
    rows = [[part["path"], *(_plain(name, part["meters"].get(name)) for name in names)] for part in parts]
    return [kind, *map(_metric, names)], rows


# The ends of the names of shares.
SHARES = (
    "_share",
    "_ratio",
    "fill",
    "rebuild_progress",
    "full_stripe_writes",
    "full_stripe_destages",
    "ward_busy",
    "assembling",
)
# The ends of the names of times, and how many ms they count.
TIMES = {"s": 1e3, "ms": 1.0}


def _metric(name: str) -> str:
    """Return the name of a metric, of a time without its unit, which stands with the value: `rebuild_s` → `rebuild`."""
    what, _, end = name.rpartition("_")
    return (what if end in TIMES and what else name).replace("_", " ")


def _plain(name: str, value: float | None) -> str:
    """Write bytes, times and shares in their unit, a count whole, others in four digits; nothing where there is none.

    >>> _plain("purged_bytes", 7e9), _plain("to_tape_ms", 9e3), _plain("lost_share", 0.118), _plain("mounts", 795.0)
    ('7 GB', '9 s', '11.8%', '795')
    """
    if value is None:
        return ""
    if name.endswith(SHARES):
        return "<0.1%" if 0 < value < 0.001 else f"{value:.1%}"
    if "bytes" in name.split("_") and "per" not in name.split("_"):
        return amount(value)
    if scale := TIMES.get(name.rpartition("_")[2]):
        return format_time(value * scale)
    if 0 < value < 0.001:
        return "<0.001"
    return f"{value:,.0f}" if value == int(value) else number(value)


def grouped(components: list[Json]) -> Iterator[Json]:
    """Show at most eight disks of an array one by one; of more, the busiest and how many there are."""
    groups: dict[str, list[Json]] = {}
    for component in components:
        groups.setdefault(component["group"], []).append(component)
    for members in groups.values():
        if len(members) <= 8:
            yield from members
        else:
            busiest = max(members, key=lambda member: member["utilisation"] or 0)
            yield busiest | {"path": f"{busiest['path']} (busiest of {len(members)})"}


def saturation(found: Json) -> Json:
    """Return how far each component is from saturation, the busiest first: its path, levels in percent, and cells.

    Beside these `parts` the names of the units of `wait` and `held`.
    """
    measured = [part for part in grouped(found["components"]) if part["utilisation"] is not None]
    units = units_of_components(measured)
    rows = [(part["utilisation"], _headroom(part, found, units)) for part in measured]
    rows += [(one["utilisation"], _headroom_of(part, one, found)) for part in measured for one in portions(part)]
    told = [row for _, row in sorted(rows, key=lambda row: -row[0])]
    return {"parts": told, "wait": units[0].name, "held": units[1].name}


def _is_open(found: Json) -> bool:
    return found["bottleneck"] is not None and found["bottleneck"]["saturates_at"] is not None


def _headroom_of(part: Json, portion: Json, found: Json) -> Json:
    used = portion["utilisation"]
    multiple = _multiple(used) if _is_open(found) and used > 0 else ""
    return {
        "path": _portion(part, portion),
        "hosts": f"{min(used, 1) * 100:.1f}",
        "background": "0.0",
        "busy": f"{used:.1%}",
        "behind": "",
        "cells": [multiple, _queue(portion), "", ""],
    }


def _multiple(used: float) -> str:
    """Write how many times the load a component could take; far from saturation, nobody needs the number."""
    return f"{1 / used:.2f}×" if used >= LEAST_USED else f">{1 / LEAST_USED:.0f}×"


def _headroom(part: Json, found: Json, units: tuple[Unit, Unit]) -> Json:
    used, behind = part["utilisation"], background(part)
    return {
        "path": part["path"],
        "hosts": f"{min(used - behind, 1) * 100:.1f}",
        "background": f"{min(behind, 1) * 100:.1f}",
        "busy": f"{used:.1%}",
        "behind": f"{behind:.1%}" if behind else "",
        "cells": [
            _multiple(used) if _is_open(found) and used > 0 else "",
            level(part["queue"]),
            units[0].cell(part["waiting_ms"]),
            units[1].cell(part["service_ms"]),
        ],
    }
