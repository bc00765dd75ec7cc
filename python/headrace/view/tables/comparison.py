"""How far a scenario is off a measurement: in a sentence, by record size, load by load."""

from math import floor, log10
from typing import Any

from headrace.explore.quantities import number as quantity
from headrace.times import Unit, unit
from headrace.view.tables.measurement import size
from headrace.view.words import number

Json = dict[str, Any]

NS_PER_MS = 1e6


def in_a_sentence(found: Json) -> str:
    """Return how far off the bandwidth is."""
    overall = found["overall"]
    parts = [f"{op}s {overall[op]['mean_size_percent']:.1f} %" for op in ("read", "write") if overall[op]]
    apart = f" ({', '.join(parts)})" if len(parts) > 1 else ""
    every = overall["all"]
    return (
        f"Simulated bandwidth differs from the measured by {every['mean_size_percent']:.1f} % on average{apart}, "
        f"at most {every['worst_percent']:+.1f} %; mean latency by {every['latency_mean_size_percent']:.1f} %."
    )


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
    load, rate = ["load", "record", "depth×jobs"], ["MB/s", "simulated", "off by"]
    of = unit(row[which]["mean_ms"] for row in found["rows"] for which in ("measured", "simulated"))
    columns = [*load, *rate, f"mean, {of.name}", "simulated", "off by", "p99"]
    return columns, [_row(row, of) for row in found["rows"]]


def _row(row: Json, of: Unit) -> list[str]:
    measured, simulated, errors = row["measured"], row["simulated"], row["error_percent"]
    rate = "bandwidth_bytes_per_s"
    return [
        f"{row['pattern']} {row['op']}{', mixed' if row['mixed'] else ''}",
        size(row["block_bytes"]),
        f"{row['iodepth']}×{row['numjobs']}",
        number(measured[rate] / 1e6),
        number(simulated[rate] / 1e6),
        f"{errors[rate]:+.1f}%",
        number(of.of(measured["mean_ms"])),
        number(of.of(simulated["mean_ms"])),
        f"{errors['mean_ms']:+.1f}%",
        "—" if errors["p99_ms"] is None else f"{errors['p99_ms']:+.1f}%",
    ]


def fitted_in_a_sentence(found: Json) -> str:
    """Return what a fit reached, on what it was fitted to and on what it was not."""
    fitted = found["fitted"]["overall"]["all"]
    said = f"Fitted: simulated bandwidth differs from the measured by {fitted['mean_size_percent']:.1f} % on average"
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
        rounded = f"± {number(float(f'{error:.2g}'))} {row['unit']}".rstrip()
        return "—" if was is None else str(was), str(row["is"]), rounded
    digits = min(max(1 - floor(log10(error / NS_PER_MS)), 0), 6) if error > 0 else 6
    then, now = (
        "—" if one is None else f"{quantity('time', one) / NS_PER_MS:.{digits}f} ms" for one in (was, row["is"])
    )
    return then, now, f"± {error / NS_PER_MS:.{digits}f} ms"
