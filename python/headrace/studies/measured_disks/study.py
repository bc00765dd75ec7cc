"""Holds eight measured disks against their simulation: see README.md for what it finds."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from headrace.devices import calibration, catalogue, disksim, validation
from headrace.study import Claim, Judged, Obtained, Study, verdict

Json = dict[str, Any]

PARTS = ("overall", "reads", "writes")
SOURCE = "DiskSim 4.0's validation traces"
ABSENT = "there is no measured data: set HEADRACE_DATA to the folder that holds `disks/`"


def obtain(study: Study) -> Iterator[Judged]:
    """Judge every disk, as its parameter file has it and, at full size, fitted."""
    data = os.environ.get("HEADRACE_DATA")
    for disk in study.document["disk"]:
        trace = Path(data or "") / "disks" / disk["folder"] / f"{disk['folder']}.trace"
        if data is None or not trace.is_file():
            claim = Claim(
                disk["device"], "the disk is as measured", None, SOURCE, kind="measured", verdict="not testable"
            )
            yield verdict(claim, Obtained(None), why=ABSENT)
            continue
        study.tell(disk["device"])
        with device_of(disk, trace) as device:
            yield from unfitted(study, disk, device, trace)
            if not study.small:
                yield from fitted(study, disk, device, trace)


@contextmanager
def device_of(disk: Json, trace: Path) -> Iterator[str]:
    """Give the device of a disk: by its name in the catalogue, or the file of one imported from its parameters."""
    if disk["device"] in catalogue.names():
        yield disk["device"]
        return
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        file = Path(folder) / f"{disk['device']}.yaml"
        file.write_text(disksim.read(trace.with_suffix(".parv")), encoding="utf-8")
        yield str(file)


def unfitted(study: Study, disk: Json, device: str, trace: Path) -> Iterator[Judged]:
    """Judge a disk with nothing fitted: nearer than DiskSim, and its means."""
    found = validation.validate(device, trace)
    allowed = study.document["targets"]["unfitted_mean_percent"]
    claims = []
    for part, mark in zip(PARTS, disk["disksim_ms"], strict=True):
        claims.append(_demerit(disk, part, found[part], mark, "nothing fitted, its demerit is below DiskSim's"))
        claims.append(_mean(disk, part, found[part], allowed, "nothing fitted, its mean is as measured"))
    bar = f"means within {allowed:g} % and two standard errors; demerits below DiskSim's"
    yield from _predicts(study, disk, found, claims, "nothing: parameters of DiskSim's file", bar)


def fitted(study: Study, disk: Json, device: str, trace: Path) -> Iterator[Judged]:
    """Judge a disk fitted to the first half of its trace, on the second."""
    targets = study.document["targets"]
    found = calibration.calibrate(device, trace)
    judged, claims = found["judged"]["simulated"], []
    for part, mark in zip(PARTS, disk["disksim_ms"], strict=True):
        most = min(mark / 2, targets["fitted_demerit_percent"] / 100 * judged[part]["measured_mean_ms"])
        claims.append(
            _demerit(disk, part, judged[part], most, "fitted, its demerit is at most half of DiskSim's and 2 %")
        )
        allowed = targets["fitted_mean_percent"]
        claims.append(_mean(disk, part, judged[part], allowed, "fitted, its mean is as measured"))
    bar = (
        f"means within {targets['fitted_mean_percent']:g} % and two standard errors; demerits at most half of "
        f"DiskSim's and {targets['fitted_demerit_percent']:g} % of the mean"
    )
    if disk.get("keeps_phase"):
        single = found["judged"].get("measured", {"off_by_a_turn_percent": 100.0, "rest_rms_ms": float("inf")})
        off, rest = targets["off_by_a_turn_percent"], targets["rest_rms_ms"]
        claims.append(_at_most(disk, "requests off by a turn, %", single["off_by_a_turn_percent"], off))
        claims.append(_at_most(disk, "RMS of the other requests, ms", single["rest_rms_ms"], rest))
        bar += f"; at most {off:g} % of requests off by a turn, the others within {rest:g} ms RMS"
    yield from _predicts(study, disk, judged, claims, "the device, on the first half of its trace", bar)


def _predicts(study: Study, disk: Json, found: Json, claims: list[Judged], fitted: str, bar: str) -> Iterator[Judged]:
    errors = [found[part]["mean_error_percent"] for part in PARTS]
    predicted = f"means of {found['overall']['n']:,} requests, of their reads and of their writes"
    return study.predicts(disk["device"], errors, claims, fitted=fitted, predicted=predicted, bar=bar)


def _demerit(disk: Json, part: str, found: Json, most: float, text: str) -> Judged:
    # Missed only beyond what the model's own phases give: the least of them must lie above.
    least = min(found["demerit_ms"], found["demerit_range_ms"][0])
    claim = Claim(f"{disk['device']} {part}", f"{text}, ms", most, SOURCE, at_most=round(most, 4), kind="measured")
    return verdict(claim, Obtained(round(least, 4)))


def _mean(disk: Json, part: str, found: Json, allowed: float, text: str) -> Judged:
    slack = allowed + 2 * found["standard_error_percent"]
    claim = Claim(
        f"{disk['device']} {part}",
        f"{text}, %",
        0.0,
        SOURCE,
        between=(-round(slack, 3), round(slack, 3)),
        kind="measured",
    )
    return verdict(claim, Obtained(round(found["mean_error_percent"], 3)))


def _at_most(disk: Json, text: str, value: float, most: float) -> Judged:
    claim = Claim(f"{disk['device']} by request", f"fitted, {text}", most, SOURCE, at_most=most, kind="measured")
    return verdict(claim, Obtained(round(value, 3)))
