"""Holds one SATA drive against fio, at 1 to 32 outstanding commands: see README.md for what it finds."""

import copy
import functools
import json
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from headrace import Scenario, devices
from headrace.study import Claim, Judged, Obtained, Study, verdict, whole

Json = dict[str, Any]

SOURCE = "fio 3.1, a minute of 4 KiB requests all over a Samsung HD103UJ (fio-plot)"
ABSENT = "there is no measured data: set HEADRACE_DATA to the folder that holds `fio-hdd/`"
MEASURES = ("requests/s", "p50, ms", "p90, ms", "p99, ms")
OPS = ("read", "write")

# Of simulated time: four of fio's minutes while it judges, half of that while it fits.
JUDGING_S, FITTING_S = 240, 120

# So often a fit tries before it stops.
TRIES = 250


def obtain(study: Study) -> Iterator[Judged]:
    """Judge the drive at the depths it was not fitted on: fitted again, or with `--small` as the catalogue has it."""
    data = os.environ.get("HEADRACE_DATA")
    if data is None or not (Path(data) / study.document["folder"]).is_dir():
        claim = Claim(
            study.document["device"], "the drive is as measured", None, SOURCE, kind="measured", verdict="not testable"
        )
        yield verdict(claim, Obtained(None), why=ABSENT)
        return
    folder = Path(data) / study.document["folder"]
    numbers = devices.numbers(study.document["device"])
    if not study.small:
        study.tell("fitting")
        numbers = fitted(study.document, numbers, folder)
    for depth in study.document["judge_on"]:
        yield from _predicted(study, depth, [one for op in OPS for one in _judged(study, op, depth, numbers, folder)])


def _predicted(study: Study, depth: int, claims: list[Judged]) -> Iterator[Judged]:
    document = study.document
    partly = ", and the batches of eleven from depths 16 and 32" if depth >= document["batches_from"] else ""
    errors = [100 * (claim["obtained"] / claim["published"] - 1) for claim in claims]  # type: ignore[operator]
    return study.predicts(
        "Samsung F1 behind AHCI", errors, claims,
        fitted=f"seven parameters of the drive, at depths {' and '.join(map(str, document['fit_on']))}{partly}",
        predicted=f"requests/s, p50, p90 and p99 of reads and of writes at depth {depth}",
        bar=f"every figure within {document['within_percent']:g} %",
    )  # fmt: skip


def _judged(study: Study, op: str, depth: int, numbers: Json, folder: Path) -> Iterator[Judged]:
    study.tell(f"{op}s, {depth} outstanding")
    found, wanted = simulated(numbers, op, depth, JUDGING_S), measured(folder, op, depth)
    for text, value, published in zip(MEASURES, found, wanted, strict=True):
        percent = study.document["within_percent"]
        claim = Claim(f"{op}s, depth {depth}", text, round(published, 3), SOURCE, percent=percent, kind="measured")
        yield verdict(claim, Obtained(round(value, 3)))


@functools.cache
def measured(folder: Path, op: str, depth: int) -> tuple[float, ...]:
    """Return what fio measured: requests/s, and the three quantiles in ms."""
    report = json.loads((folder / f"rand{op}-{depth}-1.json").read_text(encoding="utf-8"))["jobs"][0][op]
    quantiles = report["clat_ns"]["percentile"]
    return (report["iops"], *(quantiles[f"{share}.000000"] / 1e6 for share in (50, 90, 99)))


def simulated(numbers: Json, op: str, depth: int, seconds: int) -> tuple[float, ...]:
    """Return the same of a simulated drive."""
    spindle = {"type": "disk", "device": numbers, "positioning": "mechanical"}
    host = {"to": "spindle", "op": op, "arrivals": {"closed": {"depth": depth}}, "size": "4 KiB"}
    run = {"time": f"{seconds} s", "seed": 3}
    document = {"system": {"spindle": spindle}, "workload": {"host": host}, "run": run}
    stream = whole(Scenario(json.dumps(document)).run(theory=False)).streams
    return tuple(stream[column].item() for column in ("requests_per_s", "p50_ms", "p90_ms", "p99_ms"))


def fitted(document: Json, numbers: Json, folder: Path) -> Json:
    """Return the numbers with those parameters that bring the drive nearest to fio at the depths it is fitted on."""
    import numpy as np
    from scipy import optimize

    parameters = document["parameter"]
    start = np.array([parameter["start"] for parameter in parameters], float)
    step = np.array([parameter["step"] for parameter in parameters], float)

    def misfit(steps: Any) -> float:
        values = start + step * steps
        if values.min() <= 0:
            return math.inf
        changed = _with(numbers, parameters, values)
        pairs = [
            zip(simulated(changed, op, depth, FITTING_S), measured(folder, op, depth), strict=True)
            for op in OPS
            for depth in document["fit_on"]
        ]
        return sum(math.log(ours / theirs) ** 2 for pair in pairs for ours, theirs in pair)

    corners = np.vstack([np.zeros(len(start)), np.eye(len(start))])
    options = {"maxfev": TRIES, "initial_simplex": corners, "xatol": 0.05, "fatol": 1e-5}
    found = optimize.minimize(misfit, corners[0], method="Nelder-Mead", options=options)
    return _with(numbers, parameters, start + step * found.x)


def _with(numbers: Json, parameters: Sequence[Json], values: Sequence[float]) -> Json:
    changed = copy.deepcopy(numbers)
    for parameter, value in zip(parameters, values, strict=True):
        *steps, last = parameter["path"]
        place = functools.reduce(lambda node, key: node[key], steps, changed)
        place[last] = f"{value:.4f} {parameter['unit']}" if parameter["unit"] else round(value)
    return changed
