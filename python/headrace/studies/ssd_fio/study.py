"""Holds three solid-state drives against fio at the depths they were not fitted on: see README.md for what it finds."""

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import headrace
from headrace.measurement import Measurement, comparison, fitting
from headrace.measurement.points import PERCENTILES
from headrace.scenario import Scenario
from headrace.study import Claim, Judged, Obtained, Study, verdict

Json = dict[str, Any]

SOURCE = "fio 3.1, a minute of 4 KiB requests all over each drive (fio-plot)"
ABSENT = "there is no measured data: set HEADRACE_DATA to the folder that holds `fio-ssd/`"
FITTED = ("iops",)
# Requests under each load, while it fits and while it judges: some rounds of the 4,096 that are outstanding at most.
FITTING, JUDGING, SMALL = 5_000, 60_000, 20_000


def obtain(study: Study) -> Iterator[Judged]:
    """Judge each drive: fitted again, or with `--small` as `fitted.json` has it from the last whole run."""
    folder = Path(__file__).parent
    table = Path(os.environ.get("HEADRACE_DATA") or "absent") / study.document["table"]
    for drive in study.document["drive"]:
        if not table.is_file():
            claim = Claim(drive["name"], "as measured", None, SOURCE, kind="measured", verdict="not testable")
            yield verdict(claim, Obtained(None), why=ABSENT)
            continue
        study.tell(drive["name"])
        scenario = headrace.load(folder / drive["scenario"]).with_(drive["set"])
        values = _known(folder, drive["name"]) if study.small else fitted(study, scenario, drive, table)
        yield from judged(study, scenario.with_(values), drive, table)


def _known(folder: Path, name: str) -> Json:
    return dict(json.loads((folder / "fitted.json").read_text(encoding="utf-8"))[name])


def fitted(study: Study, scenario: Scenario, drive: Json, table: Path) -> Json:
    """Return the fitted fields of a scenario, by their paths."""
    found = measured(table, drive["device"], study.document["fit_on"])
    vary = study.document["vary"][drive["scenario"]]
    fit = fitting.fit(scenario, found, vary, requests=FITTING, measures=FITTED, cross_validate=False, tell=study.tell)
    values = {row["parameter"]: row["is"] for row in fit["parameters"]}
    apart = [*vary, *study.document["apart"][drive["scenario"]]]
    warnings = fitting.told_apart(scenario.with_(values), found, apart, requests=FITTING, measures=FITTED)
    for line in [*(f"{path} = {value}" for path, value in values.items()), *warnings]:
        study.tell(line)
    return values


def judged(study: Study, scenario: Scenario, drive: Json, table: Path) -> Iterator[Judged]:
    """Hold a scenario against the depths that nothing was fitted to."""
    document = study.document
    found = measured(table, drive["device"], document["judge_on"])
    requests = SMALL if study.small else JUDGING
    rows = comparison.compare(scenario, found, requests=requests)["rows"]
    errors = [abs(row["error_percent"]["iops"]) for row in rows]
    most, percent, least = (document[name] for name in ("median_percent", "within_percent", "share_within"))
    yield from study.predicts(
        drive["name"], errors, _claims(drive["name"], errors, most, percent, least),
        fitted=f"host, port and drive, by IOPS at depths {_listed(document['fit_on'])}",
        predicted=f"IOPS at depths {_listed(document['judge_on'])}, 1 to 64 jobs, reads and writes",
        bar=f"median ≤ {most:g} %; {100 * least:g} % of points within {percent:g} %",
    )  # fmt: skip


def _claims(name: str, errors: list[float], most: float, percent: float, least: float) -> Iterator[Judged]:
    claim = Claim(name, "median size of the error of IOPS, %", 0.0, SOURCE, at_most=most, kind="measured")
    yield verdict(claim, Obtained(round(median(errors), 2)))
    text = f"share of {len(errors)} points within {percent:g} %"
    claim = Claim(name, text, f"≥ {least:g}", SOURCE, at_least=least, kind="measured")
    yield verdict(claim, Obtained(round(sum(error <= percent for error in errors) / len(errors), 3)))


def _listed(depths: list[int]) -> str:
    return f"{', '.join(map(str, depths[:-1]))} and {depths[-1]}"


def measured(table: Path, device: str, depths: list[int]) -> Measurement:
    """Return the points of a drive at these depths. Their mean is that of fio's completion latency."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["device"] == device and int(row["iodepth"]) in depths]
    return Measurement([_point(row) for row in rows])


def _point(row: dict[str, str]) -> Json:
    shape = {"op": row["op"], "pattern": "random", "block_bytes": 4096, "read_share": float(row["op"] == "read")}
    counts = {name: int(row[name]) for name in ("iodepth", "numjobs")}
    found = {"iops": float(row["iops"]), "mean_ms": float(row["clat_mean_us"]) / 1000}
    empty = dict.fromkeys(("bandwidth_bytes_per_s", "file_bytes", *PERCENTILES))
    return empty | shape | counts | found
