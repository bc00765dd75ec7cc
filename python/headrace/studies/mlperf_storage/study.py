"""Holds training in one host against MLPerf Storage v1.0: see README.md for what it finds."""

import csv
import math
import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any

import headrace
from headrace.measurement.dlio import READ, TRANSFER
from headrace.scenario import Scenario
from headrace.study import Claim, Judged, Obtained, Study, verdict

Json = dict[str, Any]

SOURCE = "MLPerf Storage v1.0, closed division: means of five runs"
ABSENT = "there is no measured data: set HEADRACE_DATA to the folder that holds `mlperf-storage/`"
STEPS = "workload.training.arrivals.steps"
# Steps that are simulated of a drive: of unet3d nearly an epoch of the faster drive, in which its queues of batches run
# empty. And those of systems with many more accelerators.
LENGTH = {"unet3d": 600, "cosmoflow": 2000, "resnet50": 60}
OF_NETWORK = {"unet3d": 120, "cosmoflow": 1000, "resnet50": 12}
SHORTER = 10
# The largest number is looked for up to this multiple of the submitted one.
MOST = 4
SIZES = 16
LARGEST = "largest number that passes"


@dataclass(frozen=True)
class Submission:
    """A row of the table, with what the study says of its drive."""

    row: dict[str, str]
    drive: Json
    computation_threads: int

    def number(self, column: str) -> float:
        """Return a number of the row; 0 where it has none."""
        return float(self.row[column] or 0)

    @property
    def is_drive(self) -> bool:
        """True for one drive, false for several nodes behind a network."""
        return "net" not in self.drive

    @property
    def is_pytorch(self) -> bool:
        """True if PyTorch's loader reads, false for TensorFlow's."""
        return self.row["format"] == "npz"

    @property
    def piece(self) -> int:
        """Bytes of a read: what the kernel reads ahead of PyTorch at most; TensorFlow's buffer."""
        return READ if self.is_pytorch else TRANSFER

    @property
    def is_alone(self) -> bool:
        """True if it has one accelerator on a system that could feed many, so that what stalls it is its loader."""
        return not self.is_drive and self.accelerators == 1

    @property
    def is_quick(self) -> bool:
        """True if a small run judges it: it has one drive, or one accelerator."""
        return self.is_drive or self.is_alone

    @property
    def model(self) -> str:
        """The model that was trained."""
        return self.row["model"]

    @property
    def accelerators(self) -> int:
        """How many accelerators were emulated."""
        return int(self.row["accelerators"])

    @property
    def name(self) -> str:
        """Model, accelerator and drive."""
        return f"{self.model}, {self.row['accelerator'].upper()}, {self.drive['device']}"

    @property
    def least(self) -> float:
        """The AU with which a number of accelerators passes."""
        return self.number("au_required")

    def demand(self, accelerators: int) -> float:
        """Return the MB/s that this number of accelerators would read without a stall."""
        batch = self.number("batch") * self.number("record_bytes")
        return accelerators * batch / self.number("compute_s") / 1e6

    def by_bandwidth(self, accelerators: int) -> float:
        """Return the AU that the drive's bandwidth alone allows."""
        return min(1.0, float(self.drive["read_mb_per_s"]) / self.demand(accelerators))


def obtain(study: Study) -> Iterator[Judged]:
    """Fit the host on one model, and judge the others at their numbers of accelerators and at those around."""
    table = Path(os.environ.get("HEADRACE_DATA") or "absent") / study.document["table"]
    if not table.is_file():
        claim = Claim("all submissions", "as measured", None, SOURCE, kind="measured", verdict="not testable")
        yield verdict(claim, Obtained(None), why=ABSENT)
        return
    submissions = [one for one in _submissions(study, table) if not study.small or one.is_quick]
    hand_overs = fitted(study, submissions)
    study.tell(f"hand_over = {', '.join(f'{model} {time * 1e3:.2f} ms' for model, time in hand_overs.items())}")
    found: dict[str, list[Judged]] = defaultdict(list)
    for one in submissions:
        study.tell(one.name)
        found[one.drive["device"]] += judged(study, one, hand_overs[one.model])
    for device, claims in found.items():
        yield from _predicted(study, device, claims)


def _predicted(study: Study, device: str, claims: list[Judged]) -> Iterator[Judged]:
    document = study.document
    yield from (claim for claim in claims if claim["calibrated"])
    largest = f"exactly up to {document['exactly_up_to']}, else within {document['largest_percent']:g} %"
    asked = {"AU at the submitted number": f"every AU within {document['au_points']:g} points", LARGEST: largest}
    for what, bar in asked.items():
        held_out = [one for one in claims if not one["calibrated"] and (one["text"] == LARGEST) == (what == LARGEST)]
        errors = [100 * (one["obtained"] / one["published"] - 1) for one in held_out]  # type: ignore[operator]
        if not held_out:
            continue
        of_host = (
            f"times of the host: by AU of {document['fit_on']} on both drives, and of single accelerators on one system"
        )
        where = f"{device} in one host, training"
        yield from study.predicts(where, errors, held_out, fitted=of_host, predicted=what, bar=bar)


def _submissions(study: Study, table: Path) -> Iterator[Submission]:
    with table.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if drive := _system(study.document, row["system"]):
                yield Submission(row, drive, study.document["computation_threads"].get(row["model"], 1))


def _system(document: Json, name: str) -> Json | None:
    """Return what the study says of a system: of a drive by its name, of several nodes by the beginning of theirs."""
    by_network = (system for begin, system in document["network"].items() if name.startswith(begin))
    return document["drive"].get(name) or next(by_network, None)


def fitted(study: Study, submissions: list[Submission]) -> dict[str, float]:
    """Return the time in which each model's loader hands a batch over."""
    times = {one.model: one.number("compute_s") * (100 / one.number("au_percent") - 1)
             for one in submissions if one.is_alone}  # fmt: skip
    drives = [one for one in submissions if one.is_drive and one.model == study.document["fit_on"]]
    return times | {study.document["fit_on"]: fit(study, drives)}


def fit(study: Study, submissions: list[Submission]) -> float:
    """Return the time to hand a batch over with which AU comes nearest to that measured, in least squares.

    A run without it says how long steps stall otherwise; the time adds to that, since nothing hides it.
    """
    stalls = [_run(study, one, one.accelerators, 0.0)["stall_ms"] / 1e3 for one in submissions]

    def error(hand_over: float) -> float:
        return sum((_au(one, stall + hand_over) - one.number("au_percent") / 100) ** 2
                   for one, stall in zip(submissions, stalls, strict=True))  # fmt: skip

    return min((at * 1e-4 for at in range(1001)), key=error)


def _au(one: Submission, stall: float) -> float:
    compute = one.number("compute_s")
    return compute / (compute + stall)


def judged(study: Study, one: Submission, hand_over: float) -> Iterator[Judged]:
    """Judge AU at the submitted number and the largest number that passes, and bandwidth alone by the same."""
    document = study.document
    calibrated = one.model == document["fit_on"] if one.is_drive else one.is_alone and not one.is_pytorch
    measured, submitted = one.number("au_percent"), one.accelerators
    found = {submitted: _run(study, one, submitted, hand_over)["au"]}
    claim = Claim(one.name, f"AU of {submitted}, %", measured, SOURCE,
                  within=document["au_points"], kind="measured", calibrated=calibrated)  # fmt: skip
    alone = one.by_bandwidth(submitted) * 100
    yield verdict(claim, Obtained(round(found[submitted] * 100, 2)), why=f"by bandwidth alone {alone:.1f} %")
    if not one.is_drive:
        return

    def passes(accelerators: int) -> bool:
        if accelerators not in found:
            found[accelerators] = _run(study, one, accelerators, hand_over)["au"]
        return bool(found[accelerators] >= one.least)

    largest = _largest(passes, submitted)
    tolerance: Json = (
        {"percent": document["largest_percent"]} if submitted > document["exactly_up_to"] else {"within": 0.0}
    )
    claim = Claim(one.name, LARGEST, submitted, SOURCE, kind="measured", **tolerance)
    alone = _largest(lambda number: one.by_bandwidth(number) >= one.least, submitted)
    yield verdict(claim, Obtained(largest), why=f"by bandwidth alone {alone}")


def _largest(passes: Any, begin: int) -> int:
    """Return the largest number that passes, by steps and halving from one near it; 0 where none does."""
    step = max(begin // 8, 1)
    low = begin
    while low > 0 and not passes(low):
        low = max(low - step, 0)
    high = low + step
    while high < MOST * begin and passes(high):
        low, high = high, high + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if passes(middle) else (low, middle)
    return low


def _run(study: Study, one: Submission, accelerators: int, hand_over: float) -> Json:
    """Return what a run says of the accelerators, whole but for the first step of the epoch, as DLIO counts."""
    of_drive = LENGTH[one.model] // (SHORTER if study.small else 1)
    length = of_drive if one.is_drive else OF_NETWORK[one.model]
    scenario = _scenario(one, accelerators, hand_over, length)
    steps: Json = {**(scenario.run(theory=False).data["streams"][0]["steps"] or {})}
    study.tell(f"  {accelerators}: AU {steps['au']:.2%}")
    return steps


def _scenario(one: Submission, accelerators: int, hand_over: float, length: int) -> Scenario:
    threads, batch, bytes_ = int(one.number("threads")), int(one.number("batch")), one.number("record_bytes")
    asked = int(one.number("prefetch"))
    # PyTorch's workers have at least two batches each; a parallel map of TensorFlow holds those that it works on.
    prefetch = threads * max(math.ceil(asked / threads), 2) if one.is_pytorch else asked + one.computation_threads
    steps = {
        "accelerators": accelerators,
        "batch": batch,
        "threads": threads,
        "fetch": "batch" if one.is_pytorch else "sample",
        "prefetch": prefetch,
        "read": f"{one.piece} B",
        "compute": f"{one.number('compute_s') * 1e6:.0f} us",
        "hand_over": f"{hand_over * 1e6:.0f} us",
        "samples": int(one.number("files") * one.number("samples_per_file")),
        "samples_per_file": int(one.number("samples_per_file")),
        "epochs": 1,
    }
    # Pieces of a file with several samples are read in order, whichever samples lie in them.
    pieces = bytes_ / one.piece if one.number("samples_per_file") > 1 else math.ceil(bytes_ / one.piece)
    reads = math.ceil(length * accelerators * batch * pieces)
    system = {f"system.net.{field}": value for field, value in one.drive.get("net", {}).items()}
    values = (system or {"system.drive.device": one.drive["device"]}) | {
        "workload.training.size": _size(bytes_, one.number("record_sd")),
        "workload.training.arrivals.steps": steps,
        "run.requests": reads,
    }
    return headrace.load(Path(__file__).parent / ("network.yaml" if system else "training.yaml")).with_(values)


def _size(mean: float, deviation: float) -> str | Json:
    """Return sizes as DLIO draws them, by both dimensions of a sample: their deviation is 1/√2 of that asked for."""
    if not deviation:
        return f"{mean:.0f} B"
    law = NormalDist(mean, deviation / math.sqrt(2))
    sizes = [law.inv_cdf((at + 0.5) / SIZES) for at in range(SIZES)]
    return {"mix": [{"size": f"{size:.0f} B", "weight": 1} for size in sizes]}
