"""Holds any scenario against any measurement: by how much simulated rates and latencies differ from measured ones."""

from collections import defaultdict
from pathlib import Path
from typing import Any

from headrace.measurement import loads, uncertainty
from headrace.measurement.loads import MEASURES, Load
from headrace.measurement.points import Measurement, Tell
from headrace.quantities import counted
from headrace.report import Report
from headrace.reports import comparison as reports
from headrace.scenario import Scenario
from headrace.shown import written

Json = dict[str, Any]

# A load that comes at its own rate is sustained if at most this share of it is missing.
BEHIND = 0.03
# If uncertain values stood for all that is not known, 95 % of the measurements would lie within their bands.
MOST_WITHIN = 0.9


def compare(
    scenario: Scenario,
    found: Measurement,
    *,
    stream: str | None = None,
    requests: int = loads.REQUESTS,
    tell: Tell | None = None,
) -> Json:
    """Simulate each load of a measurement; return how far off the scenario is, as docs/results.md describes it.

    `stream` is the stream of the scenario that stands for fio; default: its only one. Other streams are left out, since
    fio ran alone. `requests` are simulated under each load. Raises `ScenarioError` where a load cannot be simulated.
    """
    name = loads.stream_of(scenario, stream)
    of, remarks = loads.loads_of(found)
    document = scenario.filled()
    if len(document["workload"]) > 1:
        remarks.append(f"only {name} is simulated: the measurement has no other streams")
    told = tell or (lambda _: None)
    told(f"simulating {len(of)} loads")
    ran = loads.all_of(document, scenario.file, name, of, requests)
    rows = [row for load, one in zip(of, ran, strict=True) for row in rows_of(load, one)]
    remarks += loads.notes(document, scenario.file, name, of)
    remarks += unsettled(of, ran, requests) + behind(of, ran, requests)
    if document.get("uncertain"):
        told("simulating them with uncertain values")
    every = uncertainty.bands(scenario, name, of, requests)
    bands = [None] * len(rows) if every is None else [band for one in every for band in one.values()]
    rows = [row | {"band": band} for row, band in zip(rows, bands, strict=True)]
    return {
        "scenario": scenario.file,
        "remarks": [*remarks, *_beyond_bands(rows)],
        "overall": _overall(rows),
        "sizes": _sizes(rows),
        "rows": rows,
    }


def unsettled(of: list[Load], ran: list[dict[str, Json]], requests: int) -> list[str]:
    """Return a remark on loads under which the scenario had not settled at the end."""
    words = [load.words() for load, one in zip(of, ran, strict=True) if not all(op["settled"] for op in one.values())]
    if not words:
        return []
    some = "; ".join(words[:3]) + ("; …" if words[3:] else "")
    means = "; means are of the others" if len(words) < len(of) else ""
    return [
        f"under {counted(len(words), 'load')} ({some}), the scenario had not settled after {requests:,} requests: "
        "caches were filling, or garbage was not collected yet. Errors there say little"
        f"{means}. Drives may begin in the state in which they were measured (`written`, `overwritten`); a write-back "
        "cache settles after several times its size has been written: raise `--requests`"
    ]


def behind(of: list[Load], ran: list[dict[str, Json]], requests: int) -> list[str]:
    """Return a remark on loads that come at their own rate, which the scenario does not sustain."""
    # Three standard deviations of a count, of the number that is asked for and of that which is there.
    least = max(BEHIND, 3 / requests**0.5)
    missing = [
        1 - sum(op["iops"] for op in one.values()) / sum(op["iops"] for op in load.measured.values())
        for load, one in zip(of, ran, strict=True)
        if load.is_open
    ]
    lacking = [share for share in missing if share > least]
    if not lacking:
        return []
    rates = counted(len(lacking), "measured rate")
    return [
        f"the scenario does not sustain {rates}: it serves up to {max(lacking):.0%} less. "
        f"Latencies there only reflect the limit of {loads.MOST_IN_FLIGHT} requests in flight, and predict nothing"
    ]


def rows_of(load: Load, ran: dict[str, Json]) -> list[Json]:
    """Return what was measured and simulated of each operation, and the errors in per cent of the measured."""
    rows = []
    for op, measured in load.measured.items():
        errors = {name: _error(ran[op][name], measured[name]) for name in MEASURES}
        described = {"op": op} | load.described() | {"block_bytes": load.size(op)}
        rows.append(described | {"measured": measured, "simulated": ran[op], "error_percent": errors})
    return rows


def _error(ours: float, theirs: float | None) -> float | None:
    return (ours / theirs - 1) * 100 if theirs else None


def _beyond_bands(rows: list[Json]) -> list[str]:
    """Return a remark if fewer bandwidths than nine in ten, less one, lie within their bands."""
    known = reports.within_bands(rows)
    if sum(known) + 1 >= MOST_WITHIN * len(known):
        return []
    outside = (
        f"{len(known) - sum(known)} of {len(known)} measured bandwidths lie outside what uncertain values make of them"
    )
    return [f"{outside}: the scenario lacks something that they do not stand for"]


def _overall(rows: list[Json]) -> Json:
    """Return the summary of all operations and of each, of loads without a filling cache if there are any."""
    rows = reports.settled(rows)
    return {op: summary([row for row in rows if op in (row["op"], "all")]) for op in ("all", "read", "write")}


def summary(rows: list[Json]) -> Json | None:
    """Return the mean size of errors of the bandwidth and of the mean latency, and the largest of the bandwidth."""
    if not rows:
        return None
    errors = [row["error_percent"]["bandwidth_bytes_per_s"] for row in rows]
    means = [abs(row["error_percent"]["mean_ms"]) for row in rows]
    size = [abs(error) for error in errors]
    return {
        "n": len(rows),
        "mean_size_percent": sum(size) / len(size),
        "median_size_percent": sorted(size)[len(size) // 2],
        "worst_percent": max(errors, key=abs),
        "latency_mean_size_percent": sum(means) / len(means),
    }


def _sizes(rows: list[Json]) -> list[Json]:
    """Return the summary of each record size: of all, of reads, of writes; null where there are none."""
    by_size: dict[int, list[Json]] = defaultdict(list)
    for row in rows:
        by_size[row["block_bytes"]].append(row)
    return [{"block_bytes": size, **_overall(of)} for size, of in sorted(by_size.items())]


def report(found: Json, file: str | Path | None = None) -> Report:
    """Return the report of a comparison; with `file`, write it as one HTML page: whole, or not at all."""
    return written(reports.report(found), file)
