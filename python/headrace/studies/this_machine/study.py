"""Measures this machine's storage, calibrates a model, and judges it on loads that were held out: see README.md."""

import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from headrace import Scenario, scenario
from headrace._core import ScenarioError
from headrace.measurement import Measurement, comparison, fitting
from headrace.measurement.benchmark import Plan, measure
from headrace.study import Claim, Judged, Obtained, Study, verdict

Json = dict[str, Any]

VARY = ["parts.flash.service=5 us..20 ms", "system.path.rate=20 MB/s..20 GB/s"]


def obtain(study: Study) -> Iterator[Judged]:
    """Measure, fit, predict; or say why not."""
    try:
        found, machine = errors(study), "nothing is published; the error is what it is"
    except ScenarioError as error:
        found, machine = {}, f"nothing was measured: {error}"
    for given in study.document["claim"]:
        claim = Claim(given["id"], given["text"], None, "this machine", kind="measured", verdict="not testable")
        yield verdict(claim, Obtained(found.get(given["id"])), machine)


def errors(study: Study) -> Json:
    """Return the errors in percent, by claim."""
    plan: Json = study.document["plan"]
    seen = Plan(
        records=tuple(plan["fitted_records"]),
        files=(plan["file"] // (4 if study.small else 1),),
        streams=tuple(plan["fitted_streams"]),
        ops=("write", "read"),
        repeat=plan["repeat"],
        random=True,
    )
    unseen = replace(seen, records=tuple(plan["held_out_records"]), streams=tuple(plan["held_out_streams"]))
    with tempfile.TemporaryDirectory(dir=os.environ.get("HEADRACE_MEASURE")) as folder:
        calibration = measure(Path(folder), seen, tell=study.tell)
        judged_on = measure(Path(folder), unseen, tell=study.tell)
    study.tell("fitting")
    found = fitting.fit(scenario.load(study.folder / "storage.yaml"), calibration, VARY, requests=2000)
    judged = comparison.compare(Scenario.of(found["scenario"]), judged_on, requests=2000)["overall"]["all"]
    return {
        "fitted": _rounded(found["fitted"]["overall"]["all"]["mean_size_percent"]),
        "held out, mean": _rounded(judged["mean_size_percent"]),
        "held out, worst": _rounded(judged["worst_percent"]),
        "repeated": _rounded(repeated(calibration)),
    }


def repeated(found: Measurement) -> float:
    """Return by how many percent two measurements of one load differ, on average."""
    rates = defaultdict[tuple[Any, ...], list[float]](list)
    for point in found.points:
        rates[point["op"], point["block_bytes"], point["numjobs"]].append(point["iops"])
    off = [(max(of) - min(of)) / (sum(of) / len(of)) * 100 for of in rates.values() if len(of) > 1]
    return sum(off) / max(len(off), 1)


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")
