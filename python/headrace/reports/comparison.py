"""The reports of a comparison of a scenario with a measurement, and of a fit: by record size, load by load."""

from collections.abc import Callable
from dataclasses import replace
from math import floor, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.charts import lines
from headrace.charts.data import Axis, Points
from headrace.quantities import Unit, aligned, counted, number, off_by, size, unit
from headrace.report import Chart, Medium, Report, Table, Text, noted
from headrace.written import number as quantity

if TYPE_CHECKING:
    from altair.typing import ChartType

Json = dict[str, Any]

NS_PER_MS = 1e6


def report(found: Json) -> Report:
    """Return the report of a comparison."""
    done = f"validation of a scenario against a measurement of {counted(len(found['rows']), 'load')}"
    blocks = [*charts(found["rows"]), sizes(found), loads(found, words=("load", "record"))]
    return Report(Path(found["scenario"]).stem, in_a_sentence(found), done, noted(found["remarks"]), blocks=blocks)


def fit(found: Json, title: str, text: str) -> Report:
    """Return the report of a fit; `text` is the fitted scenario."""
    fitted = found["fitted"]
    parameters = Table(*parameter_rows(found), heading="Parameters", words=("parameter",))
    by_size = replace(sizes(fitted), on=Medium.PAGE)
    scenario = Text(text, "file", heading="The fitted scenario", on=Medium.PAGE)
    done = f"calibration of a scenario by a measurement of {counted(len(fitted['rows']), 'load')}"
    blocks = [*charts(fitted["rows"]), parameters, by_size, loads(fitted, words=("load",)), scenario]
    return Report(f"{title}, fitted", fitted_in_a_sentence(found), done, noted(found["warnings"]), blocks=blocks)


def sizes(found: Json) -> Table:
    """Return the errors of bandwidth by record size."""
    heading = "Mean absolute error of bandwidth by record size"
    return Table(*size_rows(found), title="size of the error of bandwidth", heading=heading, words=("load", "record"))


def loads(found: Json, words: tuple[str, ...]) -> Table:
    """Return every load."""
    return Table(*rows(found), title="load by load", words=words)


RATE = "bandwidth_bytes_per_s"


def charts(rows: list[Json]) -> list[Chart]:
    """Return measured and simulated bandwidth of each load, of reads and of writes."""
    by_op = {op: [row for row in rows if row["op"] == op] for op in ("read", "write")}
    return [Chart(_rates(of), heading=f"Bandwidth of {op}s, load by load") for op, of in by_op.items() if of]


def _rates(rows: list[Json]) -> "Callable[[], ChartType]":
    # Loads are no scale: no line connects them.
    points: dict[str, Points] = {
        which: [(at, row[which][RATE] / 1e6) for at, row in enumerate(rows, 1)] for which in ("measured", "simulated")
    }
    return lines({}, Axis("load, in the order of the table", "whole"), Axis("bandwidth, MB/s", log=10), points=points)


def in_a_sentence(found: Json) -> str:
    """Return how far off the bandwidth is; of loads that come at their own rate, how far off the latency is."""
    overall = found["overall"]
    if all(row["open"] for row in found["rows"]):
        error = overall["all"]["latency_mean_size_percent"]
        return (
            f"Simulated mean latency differs from the measured by {error:.1f} % on average. The loads come at their "
            "own rate, in the simulation too, so bandwidth is no test."
        )
    parts = [f"{op}s {overall[op]['mean_size_percent']:.1f} %" for op in ("read", "write") if overall[op]]
    apart = f" ({', '.join(parts)})" if len(parts) > 1 else ""
    every, many = overall["all"], len(found["rows"])
    over = f", over {every['n']} of {many} measured operations" if every["n"] < many else ""
    none = "" if any(row["simulated"]["settled"] for row in found["rows"]) else UNSETTLED
    return (
        f"{none}Simulated bandwidth differs from the measured by {every['mean_size_percent']:.1f} % on average{apart}"
        f"{over}, at most {every['worst_percent']:+.1f} %; mean latency by {every['latency_mean_size_percent']:.1f} %."
        f"{_in_bands(found)}"
    )


UNSETTLED = "Nothing can be judged: the scenario had settled under none of the loads. "


def settled(rows: list[Json]) -> list[Json]:
    """Return the operations under loads with which the scenario settled; all, if there are none."""
    return [row for row in rows if row["simulated"]["settled"]] or rows


def within_bands(rows: list[Json]) -> list[bool]:
    """Return which measured bandwidths lie within what uncertain values make of them, where there are any."""
    bands = [(row["band"][RATE], row["measured"][RATE]) for row in settled(rows) if row["band"]]
    return [band[0] <= measured <= band[1] for band, measured in bands if band]


def _in_bands(found: Json) -> str:
    """Return how many measurements uncertain values explain."""
    known = within_bands(found["rows"])
    return f" Uncertain values explain {sum(known)} of {len(known)} measured bandwidths." if known else ""


def size_rows(found: Json) -> tuple[list[str], list[list[str]]]:
    """Return |measured − simulated| by record size, in the manner of Table I of the ALICE SAN paper."""
    rows = [(size(row["block_bytes"]), row) for row in found["sizes"]]
    if len(rows) > 1:
        rows.append(("all", found["overall"]))
    return ["record", "read", "write"], [[name, _percent(row["read"]), _percent(row["write"])] for name, row in rows]


def _percent(of: Json | None) -> str:
    return "—" if of is None else f"{of['mean_size_percent']:.2f} %"


def rows(found: Json) -> tuple[list[str], list[list[str]]]:
    """Return every load as columns and rows."""
    load, rate = ["load", "record", "depth ×jobs"], ["MB/s", "simulated", "off by"]
    of = unit(row[which]["mean_ms"] for row in found["rows"] for which in ("measured", "simulated"))
    columns = [*load, *rate, f"mean, {of.name}", "simulated", "off by", "p99 off by"]
    cells = [_row(row, of) for row in found["rows"]]
    if not has_bands(found):
        return columns, cells
    bands = [[_band(row, RATE, 1e-6), _band(row, "mean_ms", of.of(1.0))] for row in found["rows"]]
    shown = [[*cell[:5], rate, *cell[5:8], mean, *cell[8:]] for cell, (rate, mean) in zip(cells, bands, strict=True)]
    return [*columns[:5], "95 %", *columns[5:8], "95 %", *columns[8:]], shown


def has_bands(found: Json) -> bool:
    """Return true if predictions have intervals, from uncertain values of the scenario."""
    return any(row["band"] for row in found["rows"])


def _band(row: Json, name: str, scale: float) -> str:
    band = row["band"] and row["band"][name]
    return f"{number(band[0] * scale)}..{number(band[1] * scale)}" if band else "—"


def _row(row: Json, of: Unit) -> list[str]:
    measured, simulated, errors = row["measured"], row["simulated"], row["error_percent"]
    rate = "bandwidth_bytes_per_s"
    return [
        f"{row['pattern']} {row['op']}{', mixed' if row['mixed'] else ''}",
        size(row["block_bytes"]),
        "open" if row["open"] else f"{row['iodepth']}×{row['numjobs']}",
        aligned(measured[rate] / 1e6),
        aligned(simulated[rate] / 1e6),
        off_by(errors[rate]),
        aligned(of.of(measured["mean_ms"])),
        aligned(of.of(simulated["mean_ms"])),
        off_by(errors["mean_ms"]),
        "—" if errors["p99_ms"] is None else off_by(errors["p99_ms"]),
    ]


def fitted_in_a_sentence(found: Json) -> str:
    """Return what a fit reached, on what it was fitted to and on what it was not."""
    # Of all loads, settled or not: all were fitted, and all are left out in turn.
    errors = [abs(row["error_percent"][RATE]) for row in found["fitted"]["rows"]]
    said = f"Fitted: simulated bandwidth differs from the measured by {sum(errors) / len(errors):.1f} % on average"
    judged = found["cross_validated"]
    if judged is None:
        return said + "."
    error = f"{judged['mean_size_percent']:.1f} % (worst {judged['worst_percent']:+.1f} %)"
    return f"{said}; on loads that were left out of the fit, by {error}."


def parameter_rows(found: Json) -> tuple[list[str], list[list[str]]]:
    """Return the parameters as columns and rows."""
    columns = ["parameter", "was", "is", "standard error"]
    return columns, [[row["parameter"], *_fitted(row)] for row in found["parameters"]]


def _fitted(row: Json) -> tuple[str, str, str]:
    """Return what a parameter was, what it is, and its standard error; times all in ms."""
    was, error = row["was"], row["standard_error"]
    if row["unit"] != "ns":
        shown = 100 * error if row["unit"] == "%" else error
        rounded = f"± {number(float(f'{shown:.2g}'))} {row['unit']}".rstrip()
        return "—" if was is None else str(was), str(row["is"]), rounded
    digits = min(max(1 - floor(log10(error / NS_PER_MS)), 0), 6) if error > 0 else 6
    then, now = (
        "—" if one is None else f"{quantity('time', one) / NS_PER_MS:.{digits}f} ms" for one in (was, row["is"])
    )
    return then, now, f"± {error / NS_PER_MS:.{digits}f} ms"
