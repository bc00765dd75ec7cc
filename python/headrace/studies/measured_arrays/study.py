"""Holds a RAID 5 of Linux md against fio, at the loads that it was not fitted on: see README.md for what it finds."""

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import headrace
from headrace import _core
from headrace.measurement import Measurement, comparison, fitting
from headrace.measurement.points import PERCENTILES
from headrace.scenario import Scenario
from headrace.study import Claim, Judged, Obtained, Study, verdict

Json = dict[str, Any]

SOURCE = "fio 3.1, a minute of 4 KiB requests to a file of 100 GB on mdadm RAID 5 (fio-plot)"
ABSENT = "there is no measured data: set HEADRACE_DATA to the folder that holds `fio-md/`"
SYSTEM = "Eight SATA disks as RAID 5 of Linux md"
FITTED_ON = "spindle, read retries, places of file and bitmap, by IOPS and percentiles at depths 1 and 8 of one job"
FITTED = ("iops", "p50_ms", "p90_ms", "p99_ms")
OPS = ("read", "write")
ROTATION, BIT = "parts.disk.device.rotation", "system.md.bitmap.chunk"
SPREAD = "workload.fio.region.size"
# Requests under each load while it fits, and while it judges few and many outstanding (three rounds of 4,096). With
# fewer than 10,000, writes are judged while the caches of the drives fill.
FITTING, JUDGING_FEW, JUDGING_MANY, SMALL = 10_000, 30_000, 15_000, 12_000
# A small run judges every third load.
FEWER = 3


def obtain(study: Study) -> Iterator[Judged]:
    """Judge the array: fitted again, or with `--small` as `fitted.json` has it from the last whole run."""
    table = Path(os.environ.get("HEADRACE_DATA") or "absent") / study.document["table"]
    if not table.is_file():
        claim = Claim("RAID 5", "as measured", None, SOURCE, kind="measured", verdict="not testable")
        yield verdict(claim, Obtained(None), why=ABSENT)
        return
    folder = Path(__file__).parent
    scenario = headrace.load(folder / study.document["scenario"])
    known = json.loads((folder / "fitted.json").read_text(encoding="utf-8"))
    values = known if study.small else fitted(study, scenario, _rows(table))
    yield from judged(study, scenario.with_(values), _rows(table))


def fitted(study: Study, scenario: Scenario, rows: list[Json]) -> Json:
    """Return the fitted fields of a scenario, by their paths: those of the reads, and then those of the writes."""
    document = study.document
    reads, writes = (Measurement([row for row in rows if _is_fitted(document, row) and row["op"] == op]) for op in OPS)
    tried = [_fit(study, scenario, {ROTATION: speed}, reads, document["reads"]) for speed in document["spindles"]]
    _, values = min(tried, key=lambda one: one[0])
    values[BIT] = f"{round(document['bit_bytes'] * _core.quantity('size', values[SPREAD]) / document['file_bytes'])} B"
    _, values = _fit(study, scenario, values, writes, document["writes"])
    _tell_apart(study, scenario.with_(values), Measurement([*reads.points, *writes.points]))
    return values


def _fit(study: Study, scenario: Scenario, known: Json, found: Measurement, vary: list[str]) -> tuple[float, Json]:
    """Fit some fields; return the mean size of the error in %, and these fields beside those that are known."""
    fit = fitting.fit(scenario.with_(known), found, vary, requests=FITTING, measures=FITTED, cross_validate=False)
    errors = [abs(row["error_percent"][name]) for row in fit["fitted"]["rows"] for name in FITTED]
    for row in fit["parameters"]:
        study.tell(f"{row['parameter']} = {row['is']} ± {row['standard_error']:.2g} {row['unit']}".rstrip())
    study.tell(f"with {known}: mean error {sum(errors) / len(errors):.1f} %")
    return sum(errors) / len(errors), known | {row["parameter"]: row["is"] for row in fit["parameters"]}


def _tell_apart(study: Study, scenario: Scenario, found: Measurement) -> None:
    fields = [*study.document["reads"], *study.document["writes"], *study.document["apart"]]
    for warning in fitting.told_apart(scenario, found, fields, requests=FITTING, measures=FITTED):
        study.tell(warning)


def judged(study: Study, scenario: Scenario, rows: list[Json]) -> Iterator[Judged]:
    """Hold a scenario against the loads that nothing was fitted to."""
    document = study.document
    for op in OPS:
        held_out = [row for row in rows if row["op"] == op and not _is_fitted(document, row)]
        held_out = held_out[:: FEWER if study.small else 1]
        few = [row for row in held_out if _outstanding(row) <= document["few"]]
        many = [row for row in held_out if row not in few]
        yield from _few(study, op, _compared(study, scenario, few, JUDGING_FEW))
        yield from _many(study, op, _compared(study, scenario, many, JUDGING_MANY))


def _compared(study: Study, scenario: Scenario, points: list[Json], requests: int) -> list[Json]:
    study.tell(f"{len(points)} loads of {points[0]['op']}s")
    found = comparison.compare(scenario, Measurement(points), requests=SMALL if study.small else requests)["rows"]
    for row in found:
        study.tell(_line(row))
    return list(found)


def _few(study: Study, op: str, rows: list[Json]) -> Iterator[Judged]:
    document, where = study.document, f"{op}s, up to {study.document['few']} outstanding"
    errors, tails = _errors(rows, "iops"), _errors(rows, "p99_ms")
    most, percent, share = (document[name] for name in ("median_percent", "within_percent", "share_within"))
    claim = Claim(where, "median size of the error of IOPS, %", 0.0, SOURCE, at_most=most, kind="measured")
    claims = [
        verdict(claim, Obtained(round(median(errors), 2))),
        _share(where, "IOPS", errors, percent, share),
    ]
    bar = f"median ≤ {most:g} %; {100 * share:g} % of points within {percent:g} %"
    yield from _predicts(study, f"IOPS of {where}", errors, claims, bar)
    percent, share = document["p99_percent"], document["p99_share"]
    claims = [_share(where, "p99", tails, percent, share)]
    yield from _predicts(study, f"p99 of {where}", tails, claims, f"{100 * share:g} % of points within {percent:g} %")


def _many(study: Study, op: str, rows: list[Json]) -> Iterator[Judged]:
    where, percent = f"{op}s, more than {study.document['few']} outstanding", study.document["many_percent"]
    errors = _errors(rows, "iops")
    claims = [_share(where, "IOPS", errors, percent, 1.0)]
    yield from _predicts(study, f"IOPS of {where}", errors, claims, f"every point within {percent:g} %")


def _predicts(study: Study, what: str, errors: list[float], claims: list[Judged], bar: str) -> Iterator[Judged]:
    return study.predicts(SYSTEM, errors, claims, fitted=FITTED_ON, predicted=what, bar=bar)


def _share(where: str, what: str, errors: list[float], percent: float, least: float) -> Judged:
    text = f"share of {len(errors)} points whose {what} is within {percent:g} %"
    claim = Claim(where, text, f"≥ {least:g}", SOURCE, at_least=least, kind="measured")
    return verdict(claim, Obtained(round(sum(error <= percent for error in errors) / len(errors), 3)))


def _errors(rows: list[Json], name: str) -> list[float]:
    return [abs(row["error_percent"][name]) for row in rows]


def _line(row: Json) -> str:
    shown = (f"{name} {row['error_percent'][name]:+.0f} %" for name in FITTED)
    return f"{row['op']}s, depth {row['iodepth']}, {row['numjobs']} jobs: {', '.join(shown)}"


def _outstanding(row: Json) -> int:
    return int(row["iodepth"] * row["numjobs"])


def _is_fitted(document: Json, row: Json) -> bool:
    return row["numjobs"] == 1 and row["iodepth"] in document["fit_on"]


def _rows(table: Path) -> list[Json]:
    """Return all measured points: their mean is of fio's whole latency, percentiles are of its completion latency."""
    with table.open(encoding="utf-8", newline="") as file:
        return [_point(row) for row in csv.DictReader(file)]


def _point(row: dict[str, str]) -> Json:
    shape = {"op": row["op"], "pattern": "random", "block_bytes": 4096, "read_share": float(row["op"] == "read")}
    counts = {name: int(row[name]) for name in ("iodepth", "numjobs")}
    found = {"iops": float(row["iops"]), "mean_ms": float(row["lat_mean_us"]) / 1000}
    found |= {f"p{share}_ms": float(row[f"p{share}_us"]) / 1000 for share in (50, 90, 99)}
    empty = dict.fromkeys(("bandwidth_bytes_per_s", "file_bytes", *PERCENTILES))
    return empty | shape | counts | found
