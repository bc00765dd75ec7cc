"""A run as tables: response times beside theory, where the time went, how busy each component is."""

from collections.abc import Iterator
from typing import Any

from headrace.experiment.table import interval
from headrace.view.words import aligned, amount, level, ms, number, percent

Json = dict[str, Any]

WHATS = ("waiting", "service", "blocked")

# Below this utilisation headroom is shown as more than a hundredfold.
LEAST_USED = 0.01


def legs(stream: Json) -> list[tuple[str, str, float, float]]:
    """Return where the time of an average request went, longest first: (component, what happened there, ms, share)."""
    found = [(leg["component"], what, leg[f"{what}_ms"]) for leg in stream["path"] for what in WHATS]
    total = stream["response"]["mean_ms"]
    longest = sorted((leg for leg in found if leg[2] > 0), key=lambda leg: leg[2], reverse=True)
    return [(component, what, time, time / total) for component, what, time in longest]


def response_table(stream: Json, theory: Json) -> tuple[list[str], list[list[str]]]:
    """Return response times as columns and rows: simulated, beside what was measured, and beside theory."""
    measured = stream["measured"]
    others = [("measured", _measured_column(measured["all"]))] if measured else []
    if theory["mean_ms"] is not None:
        others.append(("theory", _theory_column(theory)))
    rows = []
    for row, simulated in _simulated_column(stream["response"]).items():
        cells = [row, _with_interval(stream["response"], row, simulated)]
        for _, column in others:
            other = column.get(row)
            cells += ["", ""] if not other else [aligned(other), f"{simulated / other - 1:+.2%}"]
        rows.append(cells)
    columns = ["simulated", *(column for name, _ in others for column in (name, "off by"))]
    return columns, rows + (_demerits(measured, len(columns)) if measured else [])


def operations(stream: Json) -> tuple[list[str], list[list[str]]]:
    """Return the response times of each operation on files as columns and rows; no rows where there is only one."""
    rows = [
        [
            name,
            f"{response['count']:,}",
            _with_interval(response, "mean", response["mean_ms"]),
            *map(aligned, _late(response)),
        ]
        for name, response in stream["operations"].items()
    ]
    return ["", "requests", "mean", *(_within(share) for share in SHOWN)], rows


# Quantiles of each operation that are shown.
SHOWN = (0.5, 0.9, 0.99)


def _late(response: Json) -> list[float]:
    return [quantile["ms"] for quantile in response["quantiles_ms"] if quantile["share"] in SHOWN]


def _with_interval(response: Json, row: str, simulated: float) -> str:
    halves = {_within(quantile["share"]): quantile["half_width_ms"] for quantile in response["quantiles_ms"]}
    half_width = (halves | {"mean": response["half_width_ms"]}).get(row)
    return interval(simulated, half_width) if half_width else aligned(simulated)


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


def _demerits(measured: Json, columns: int) -> list[list[str]]:
    """Return the rows that say how far off the simulation is, for all requests, reads and writes."""
    rows = []
    for name in ("all", "reads", "writes"):
        if part := measured[name]:
            means = [ms(part["simulated_mean_ms"]), ms(part["measured_mean_ms"])]
            rows.append([f"{name}: mean", *means, percent(part["mean_error_percent"], "+.1f")])
            rows.append([f"{name}: demerit", ms(part["demerit_ms"]), "", percent(part["demerit_percent"], ".1f")])
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
    rows = []
    for part in shown:
        busy = "" if part["utilisation"] is None else f"{part['utilisation']:.1%}"
        queue = "" if part["queue"] is None else level(part["queue"])
        times = ("", "") if part["utilisation"] is None else (ms(part["waiting_ms"]), ms(part["service_ms"]))
        behind = [f"{background(part):.1%}" if part["utilisation"] is not None else ""] if beside else []
        rows.append([part["path"], busy, *behind, queue, *times, number(part["bytes_per_s"] / 1e6)])
        for portion in portions(part):
            cells = [f"{portion['utilisation']:.1%}", *([""] if beside else []), _queue(portion)]
            rows.append([_portion(part, portion), *cells, "", "", ""])
    behind = ["background"] if beside else []
    return ["", "busy", *behind, "waiting", "mean wait, ms", "server held, ms", "MB/s"], rows


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
    columns = ["from, s", "what happened", "stream", "requests/s", "MB/s", "mean, ms", "p99, ms", "failed"]
    rows = []
    for phase in found["phases"]:
        begin = [f"{phase['from_s']:,.0f}", "\n".join(phase["after"])]
        for at, stream in enumerate(phase["streams"]):
            rows.append([*(begin if at == 0 else ["", ""]), *_phase_of(stream)])
    several, failed = len(found["streams"]) > 1, any(row[-1] for row in rows)
    says = {"stream": several, "failed": failed}
    shown = [says.get(column, True) for column in columns]
    chosen = [[cell for cell, show in zip(row, shown, strict=True) if show] for row in [columns, *rows]]
    return chosen[0], chosen[1:]


def _phase_of(stream: Json) -> list[str]:
    times = [ms(time) if (time := stream[name]) is not None else "" for name in ("mean_ms", "p99_ms")]
    rates = [number(stream["requests_per_s"]), number(stream["bytes_per_s"] / 1e6)]
    return [stream["name"], *rates, *times, f"{stream['failed']:,}" if stream["failed"] else ""]


def background(part: Json) -> float:
    """Return the share of time that a component was busy with what no host waited for."""
    return float(sum(share for cause, share in part["utilisation_by_cause"].items() if cause != "host"))


def meters(found: Json) -> list[list[str]]:
    """Return the metrics that components have of their own, as rows: component, metric, value."""
    return [
        [part["path"], name.replace("_", " "), _plain(name, value)]
        for part in grouped(found["components"])
        for name, value in part["meters"].items()
    ]


def metrics_by_kind(found: Json) -> list[tuple[list[str], list[list[str]]]]:
    """Return the same as one table for each kind of component, as columns and rows: a component a row."""
    kinds: dict[str, list[Json]] = {}
    for part in grouped(found["components"]):
        if part["meters"]:
            kinds.setdefault(part["kind"], []).append(part)
    return [
        (
            [kind.replace("_", " "), *(_metric(name) for name in parts[0]["meters"])],
            [[part["path"], *(_plain(name, value) for name, value in part["meters"].items())] for part in parts],
        )
        for kind, parts in kinds.items()
    ]


def _metric(name: str) -> str:
    """Return the name of a metric with its unit: `rebuild_s` → `rebuild, s`."""
    what, _, unit = name.rpartition("_")
    return (f"{what}, {unit}" if unit in ("s", "ms") and what else name).replace("_", " ")


def _plain(name: str, value: float | None) -> str:
    """Write bytes in their unit, a count whole, a ratio or a level with four digits, nothing where there was none."""
    if value is None:
        return ""
    if "bytes" in name.split("_") and "per" not in name.split("_"):
        return amount(value)
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


def saturation(found: Json) -> list[Json]:
    """Return how far each component is from saturation, the busiest first: its path, levels in percent, and cells."""
    rows = []
    for part in grouped(found["components"]):
        if part["utilisation"] is not None:
            rows.append((part["utilisation"], _headroom(part, found)))
        rows += [(one["utilisation"], _headroom_of(part, one, found)) for one in portions(part)]
    return [row for _, row in sorted(rows, key=lambda row: -row[0])]


def _is_open(found: Json) -> bool:
    return found["bottleneck"] is not None and found["bottleneck"]["saturates_at"] is not None


def _headroom_of(part: Json, portion: Json, found: Json) -> Json:
    used = portion["utilisation"]
    multiple = _multiple(used) if _is_open(found) and used > 0 else ""
    return {
        "path": _portion(part, portion),
        "hosts": f"{min(used, 1) * 100:.1f}",
        "background": "0.0",
        "cells": [f"{used:.1%}", "", multiple, _queue(portion), "", ""],
    }


def _multiple(used: float) -> str:
    """Write how many times the load a component could take; far from saturation, nobody needs the number."""
    return f"{1 / used:.2f}×" if used >= LEAST_USED else f">{1 / LEAST_USED:.0f}×"


def _headroom(part: Json, found: Json) -> Json:
    used, behind = part["utilisation"], background(part)
    return {
        "path": part["path"],
        "hosts": f"{min(used - behind, 1) * 100:.1f}",
        "background": f"{min(behind, 1) * 100:.1f}",
        "cells": [
            f"{used:.1%}",
            f"{behind:.1%}" if behind else "",
            _multiple(used) if _is_open(found) and used > 0 else "",
            level(part["queue"]),
            *(aligned(part[what]) for what in ("waiting_ms", "service_ms")),
        ],
    }
