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
    for part, mark in zip(PARTS, disk["disksim_ms"], strict=True):
        yield _demerit(disk, part, found[part], mark, "nothing fitted, its demerit is below DiskSim's")
        yield _mean(disk, part, found[part], allowed, "nothing fitted, its mean is as measured")


def fitted(study: Study, disk: Json, device: str, trace: Path) -> Iterator[Judged]:
    """Judge a disk fitted to the first half of its trace, on the second."""
    targets = study.document["targets"]
    found = calibration.calibrate(device, trace)
    judged = found["judged"]["simulated"]
    for part, mark in zip(PARTS, disk["disksim_ms"], strict=True):
        most = min(mark / 2, targets["fitted_demerit_percent"] / 100 * judged[part]["measured_mean_ms"])
        yield _demerit(disk, part, judged[part], most, "fitted, its demerit is at most half of DiskSim's and 2 %")
        yield _mean(disk, part, judged[part], targets["fitted_mean_percent"], "fitted, its mean is as measured")
    if disk.get("keeps_phase"):
        single = found["judged"].get("measured", {"off_by_a_turn_percent": 100.0, "rest_rms_ms": float("inf")})
        off, rest = single["off_by_a_turn_percent"], single["rest_rms_ms"]
        yield _at_most(disk, "requests off by a turn, %", off, targets["off_by_a_turn_percent"])
        yield _at_most(disk, "RMS of the other requests, ms", rest, targets["rest_rms_ms"])


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
