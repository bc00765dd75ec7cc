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
from headrace.measurement.dlio import PREFETCH, READ, TRANSFER, Pipeline
from headrace.scenario import Scenario
from headrace.study import Claim, Judged, Obtained, Study, verdict

Json = dict[str, Any]

SOURCE = "MLPerf Storage v1.0, closed division: means of five runs"
ABSENT = "there is no measured data: set HEADRACE_DATA to the folder that holds `mlperf-storage/`"
STEPS = "workload.training.arrivals.steps"
# Steps that are simulated of a drive: of unet3d nearly an epoch of the faster drive, in which its queues of batches run
# empty. And those of systems with many more accelerators: of unet3d a whole epoch.
LENGTH = {"unet3d": 600, "cosmoflow": 2000, "resnet50": 200}
OF_NETWORK = {"unet3d": 500, "cosmoflow": 2000, "resnet50": 100}
SHORTER = 10
# The integral over normal deviates goes this far on either side, in this number of steps.
MOST_DEVIATIONS, DEVIATIONS = 9.0, 2000
# The largest variation that is looked for, and how often its range is halved.
MOST_CV, HALVINGS = 20.0, 40
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
        return READ if self.is_pytorch else int(self.number("transfer_bytes") or TRANSFER)

    @property
    def pipeline(self) -> Pipeline:
        """How an accelerator is fed. DLIO's default holds where the table does not say how far ahead."""
        return Pipeline(
            read_threads=int(self.number("threads")),
            batch=int(self.number("batch")),
            asked=int(self.row["prefetch"] or PREFETCH),
            mapped=self.computation_threads,
            samples_per_file=int(self.number("samples_per_file")),
            is_pytorch=self.is_pytorch,
        )

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

    @property
    def stall(self) -> float:
        """Seconds of a step for which an accelerator did not compute, by its AU."""
        return self.number("compute_s") * (100 / self.number("au_percent") - 1)

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
    submissions = list(_submissions(study, table))
    host = fitted(study, submissions)
    for (system, model), of in [*host.own.items(), *((("others", model), of) for model, of in host.others.items())]:
        study.tell(f"hand_over of {model}, {system}: {of.mean * 1e3:.2f} ms, coefficient of variation {of.cv:.2f}")
    calibrating = {(one.name, one.accelerators) for one in submissions if _calibrates(study, one, submissions)}
    found: dict[str, list[Judged]] = defaultdict(list)
    for one in submissions:
        if one.is_quick or not study.small:
            study.tell(one.name)
            calibrated = (one.name, one.accelerators) in calibrating
            found[one.drive["device"]] += judged(study, one, host.hand_over(one), calibrated=calibrated)
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
            f"times of the host: by AU of {document['fit_on']} on both drives, and of one and of several accelerators "
            "on one system"
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


@dataclass(frozen=True)
class HandOver:
    """The time in which a loader hands a batch over, in seconds: lognormal, or constant without a variation."""

    mean: float
    cv: float = 0.0

    @property
    def law(self) -> str | Json:
        """The time as a scenario has it."""
        mean = f"{self.mean * 1e6:.0f} us"
        return {"lognormal": {"mean": mean, "cv": round(self.cv, 3)}} if self.cv > 0 else mean

    def longest(self, of: int) -> float:
        """Return the mean of the longest of some, for which all wait at a barrier.

        The density of the largest of n deviates z is n φ(z) Φ(z)ⁿ⁻¹; a lognormal time is exp(μ + σ z).
        """
        variance = math.log1p(self.cv**2)
        begin, law = math.log(self.mean) - variance / 2, NormalDist()
        width = 2 * MOST_DEVIATIONS / DEVIATIONS
        deviates = ((at + 0.5) * width - MOST_DEVIATIONS for at in range(DEVIATIONS))
        return width * sum(
            math.exp(begin + math.sqrt(variance) * z) * of * law.pdf(z) * law.cdf(z) ** (of - 1) for z in deviates
        )


@dataclass(frozen=True)
class Host:
    """Loaders of the hosts: of those that tried one accelerator, by system and model, and of the others, by model."""

    own: dict[tuple[str, str], HandOver]
    others: dict[str, HandOver]

    def hand_over(self, one: Submission) -> HandOver:
        """Return how long the loader of a submission takes."""
        return self.own.get((one.drive["device"], one.model), self.others[one.model])


def fitted(study: Study, submissions: list[Submission]) -> Host:
    """Return the time in which each model's loader hands a batch over.

    Its mean is what stalls a single accelerator, and its variation is what stalls the next larger number on the same
    system. A system of which no single accelerator is known takes both from those that have one; except that the mean
    of the model that is fitted is by the drives.
    """
    own = {}
    for one in (one for one in submissions if one.is_alone):
        own[one.drive["device"], one.model] = _varying(one, _several(one, submissions))
    others = {model: hand_over for (_, model), hand_over in own.items()}
    drives = [one for one in submissions if one.is_drive and one.model == study.document["fit_on"]]
    cv = others[study.document["fit_on"]].cv
    return Host(own, others | {study.document["fit_on"]: HandOver(fit(study, drives, cv), cv)})


def _several(alone: Submission, submissions: list[Submission]) -> Submission:
    """Return the submission of the same system and model with the smallest number of accelerators above one."""
    alike = [one for one in submissions if (one.drive, one.model) == (alone.drive, alone.model)]
    return min((one for one in alike if one.accelerators > 1), key=lambda one: one.accelerators)


def _varying(alone: Submission, several: Submission) -> HandOver:
    """Return the loader that stalls one accelerator and several as measured, on storage that stalls neither."""
    mean, longest = alone.stall, several.stall
    low, high = 0.0, MOST_CV
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if HandOver(mean, middle).longest(several.accelerators) < longest else (low, middle)
    return HandOver(mean, low)


def fit(study: Study, submissions: list[Submission], cv: float) -> float:
    """Return the mean time to hand a batch over with which AU comes nearest to that measured, in least squares.

    A run without it says how long steps stall otherwise; the longest of all adds to that, since nothing hides it.
    """
    at_once = HandOver(0.0)
    stalls = [_run(study, one, one.accelerators, at_once)["stall_ms"] / 1e3 for one in submissions]
    longest = [HandOver(1.0, cv).longest(one.accelerators) for one in submissions]

    def error(mean: float) -> float:
        return sum((_au(one, stall + mean * times) - one.number("au_percent") / 100) ** 2
                   for one, stall, times in zip(submissions, stalls, longest, strict=True))  # fmt: skip

    return min((at * 1e-4 for at in range(1001)), key=error)


def _au(one: Submission, stall: float) -> float:
    compute = one.number("compute_s")
    return compute / (compute + stall)


def _calibrates(study: Study, one: Submission, submissions: list[Submission]) -> bool:
    """Return true if a time of a host was fitted to this submission."""
    if one.is_drive:
        return bool(one.model == study.document["fit_on"])
    return any(one in (alone, _several(alone, submissions)) for alone in submissions if alone.is_alone)


def judged(study: Study, one: Submission, hand_over: HandOver, *, calibrated: bool) -> Iterator[Judged]:
    """Judge AU at the submitted number and the largest number that passes, and bandwidth alone by the same."""
    document = study.document
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


def _run(study: Study, one: Submission, accelerators: int, hand_over: HandOver) -> Json:
    """Return what a run says of the accelerators, whole but for the first step of the epoch, as DLIO counts."""
    of_drive = LENGTH[one.model] // (SHORTER if study.small else 1)
    length = of_drive if one.is_drive else OF_NETWORK[one.model]
    scenario = _scenario(one, accelerators, hand_over, length)
    steps: Json = {**(scenario.run(theory=False).data["streams"][0]["steps"] or {})}
    study.tell(f"  {accelerators}: AU {steps['au']:.2%}")
    return steps


def _scenario(one: Submission, accelerators: int, hand_over: HandOver, length: int) -> Scenario:
    batch, bytes_ = int(one.number("batch")), one.number("record_bytes")
    pipeline = one.pipeline
    steps = {
        "accelerators": accelerators,
        "batch": batch,
        "threads": pipeline.threads,
        "fetch": "batch" if one.is_pytorch else "sample",
        "prefetch": pipeline.prefetch,
        "read": f"{one.piece} B",
        "compute": f"{one.number('compute_s') * 1e6:.0f} us",
        "hand_over": hand_over.law,
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
