"""Hold a device against a measured trace: replay it on the drive alone, and say how far off each request is."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.devices import catalogue, quantities
from headrace.report import Report
from headrace.reports import validation as reports
from headrace.shown import written

if TYPE_CHECKING:
    import numpy as np

Json = dict[str, Any]

PHASES = 20
WAYS = ("cache", "read-ahead", "platter")
WORST = 12

# A trace keeps the platter's phase where so large a share of the requests to the platter ends within a tenth of a turn;
# by chance a fifth would.
KEPT = 0.5

# So few requests tell nothing.
ENOUGH = 20


def validate(
    device: str, trace: str | Path, *, clock: str = "simulated", beside: str | Path = ".", phases: int = PHASES
) -> Json:
    """Replay a measured trace on a device; return how far off it is, as docs/results.md describes it.

    With the `simulated` clock each request follows its predecessor's simulated completion by the trace's think time;
    the platter's initial place is not known, so that many `phases` are pooled. Where think times do not keep the
    platter's phase even from one request to the next, it is drawn for every request of each. With the `measured` clock
    each is issued at the instant at which it really was, and the phase that agrees best is sought: where the trace
    keeps the platter's phase, single requests can be compared with each other.

    Raises `ScenarioError` where the device or the trace cannot be used.
    """
    numbers = catalogue.numbers(device, beside)
    return of(numbers, trace, clock=clock, phases=phases) | {"device": device}


def of(numbers: Json, trace: str | Path, *, clock: str = "simulated", phases: int = PHASES) -> Json:
    """Do what `validate` does with the numbers of a device."""
    if clock == "measured":
        return _by_request(numbers, trace)
    drawn = clock_for(numbers, trace)
    replayed = Replayed(numbers, trace, drawn, pooled(phases))
    return (
        {"clock": clock, "phases": phases, "turn_ms": replayed.turn_ms, "thinks_keep_phase": drawn == "simulated"}
        | replayed.parts()
        | {"worst": replayed.worst(0)}
    )


def pooled(many: int = PHASES) -> list[float]:
    """Return this many initial phases, evenly spaced over a turn."""
    return [(at + 0.5) / many for at in range(many)]


def _by_request(numbers: Json, trace: str | Path) -> Json:
    """Find the phase that agrees best, how many requests are off by a turn, and the rest."""
    import numpy as np

    def best(phases: list[float]) -> float:
        replayed = Replayed(numbers, trace, "measured", phases)
        return phases[int(np.argmin(np.median(np.abs(replayed.errors), axis=1)))]

    phase = best([at / 64 for at in range(64)])
    for width in (1 / 64, 1 / 512, 1 / 4096):
        phase = best([phase + width * (at - 8) / 8 for at in range(17)])
    replayed = Replayed(numbers, trace, "measured", [phase % 1.0])
    return {"clock": "measured", "phases": 1, "turn_ms": replayed.turn_ms, "phase": phase % 1.0} | (
        replayed.turns() | replayed.parts() | {"worst": replayed.worst(0)}
    )


def thinks_keep_phase(numbers: Json, trace: str | Path) -> bool:
    """Return whether think times tell where the platter is at a request, from where it was after the one before.

    Then errors of requests to a cylinder where the arm already is are whole turns, or next to nothing, even where the
    trace as a whole does not keep the phase. Where there are few such requests, all that go to the platter are asked.
    """
    import numpy as np

    replayed = Replayed(numbers, trace, "simulated", [0.5])
    platter = replayed.went("platter")[0]
    follows = platter & np.concatenate([[False], platter[:-1]])
    stays = follows & (replayed.moved[0] == 0)
    asked = stays if stays.sum() >= ENOUGH else follows
    if asked.sum() < ENOUGH:
        return True
    angles = np.exp(2j * np.pi * replayed.errors[0][asked] / replayed.turn_ms)
    return bool(abs(angles.mean()) > KEPT)


def clock_for(numbers: Json, trace: str | Path) -> str:
    """Return by which clock a trace is replayed from several phases: `drawn` where it keeps none, else `simulated`."""
    return "simulated" if thinks_keep_phase(numbers, trace) else "drawn"


class Replayed:
    """A trace replayed on a drive from several phases: `measured` by request, `simulated` by phase and request.

    Clocks are `simulated`, `measured`, and `drawn`: as simulated, but where the platter is at each request is drawn.
    """

    def __init__(self, numbers: Json, trace: str | Path, clock: str, phases: list[float]) -> None:
        import numpy as np

        raw = _core.replay_on_drive(json.dumps(numbers), str(trace), clock, phases)
        columns = [np.frombuffer(column, dtype="<u8") for column in raw]
        self.turn_ms = 1000 / quantities.quantity("frequency", numbers["rotation"])
        self.write = columns[0] == 1
        self.address, self.bytes = columns[1], columns[2]
        self.measured = columns[3] / 1e6
        self.apart = columns[4]
        by_phase = [column.reshape(len(phases), -1) for column in columns[5:]]
        self.simulated, self.way = by_phase[0] / 1e6, by_phase[1]
        self.moved, self.waited = by_phase[2] / 1e6, by_phase[3] / 1e6
        self.issued = by_phase[4][0] / 1e6
        self.errors = self.simulated - self.measured
        self.after_write = np.concatenate([[False], self.write[:-1]])

    def went(self, way: str) -> "np.ndarray[Any, Any]":
        """Return which requests the drive answered in this way (of `WAYS`), by phase and request."""
        import numpy as np

        return np.asarray(self.way == WAYS.index(way))

    def parts(self) -> Json:
        """Return how far off all requests, reads and writes are; none where there are none of a kind."""
        import numpy as np

        every = np.ones(len(self.measured), dtype=bool)
        chosen = {"overall": every, "reads": ~self.write, "writes": self.write}
        return {name: self._part(which) if which.any() else None for name, which in chosen.items()}

    def _part(self, which: "np.ndarray[Any, Any]") -> Json:
        import numpy as np

        measured, simulated = np.sort(self.measured[which]), self.simulated[:, which]
        mean = measured.mean()
        pooled = np.sort(simulated, axis=None)
        # As many representatives of the pooled distribution as there are measured requests, at the same ranks.
        ranks = (np.arange(len(measured)) + 0.5) / len(measured)
        alike = pooled[(ranks * len(pooled)).astype(int)]
        demerits = np.sqrt(((np.sort(simulated, axis=1) - measured) ** 2).mean(axis=1))
        means = simulated.mean(axis=1)
        demerit = float(np.sqrt(((alike - measured) ** 2).mean()))
        error_range, demerit_range = (np.quantile(values, (0.025, 0.975)) for values in (means / mean - 1, demerits))
        return {
            "n": len(measured),
            "measured_mean_ms": float(mean),
            "simulated_mean_ms": float(pooled.mean()),
            "mean_error_percent": float(pooled.mean() / mean - 1) * 100,
            # The trace is one draw of each request's luck; the model's is averaged over the phases.
            "standard_error_percent": _standard_error(simulated.mean(axis=0) - self.measured[which])
            / float(mean)
            * 100,
            "demerit_ms": demerit,
            "demerit_percent": demerit / float(mean) * 100,
            "per_request_rms_ms": float(np.sqrt((self.errors[:, which] ** 2).mean())),
            "correlation": _correlation(self.measured[which], simulated),
            "ks": _ks(measured, pooled),
            "mean_error_range_percent": [float(value) * 100 for value in error_range],
            "demerit_range_ms": [float(value) for value in demerit_range],
            "measured_cdf": _cdf(measured),
            "simulated_cdf": _cdf(pooled),
        }

    def turns(self) -> Json:
        """Return which share of the requests is off by a turn, the RMS of the rest, whether the trace keeps the phase.

        It does where most requests that go to the platter agree within a tenth of a turn; by chance a fifth would.
        """
        import numpy as np

        errors, slow = self.errors[0], self.went("platter")[0]
        off = np.abs(errors) > self.turn_ms / 2
        near = np.abs(errors[slow]) < self.turn_ms / 10
        return {
            "keeps_phase": bool(near.mean() > KEPT) if slow.any() else False,
            "off_by_a_turn_percent": float(off.mean() * 100),
            "slow_off_by_a_turn_percent": float(off[slow].mean() * 100) if slow.any() else 0.0,
            "rest_rms_ms": float(np.sqrt((errors[~off] ** 2).mean())),
        }

    def worst(self, phase: int) -> list[Json]:
        """Return the requests with the largest errors, and what happened to each in the model."""
        import numpy as np

        order = np.argsort(-np.abs(self.errors[phase]))[:WORST]
        return [
            {
                "request": int(at),
                "op": "write" if self.write[at] else "read",
                "address": int(self.address[at]),
                "bytes": int(self.bytes[at]),
                "measured_ms": float(self.measured[at]),
                "simulated_ms": float(self.simulated[phase][at]),
                "way": WAYS[int(self.way[phase][at])],
                "seek_ms": float(self.moved[phase][at]),
                "rotation_ms": float(self.waited[phase][at]),
            }
            for at in order
        ]


def _standard_error(differences: "np.ndarray[Any, Any]") -> float:
    return float(differences.std() / len(differences) ** 0.5)


def _correlation(measured: "np.ndarray[Any, Any]", simulated: "np.ndarray[Any, Any]") -> float | None:
    import numpy as np

    if measured.std() == 0 or simulated.std() == 0:
        return None
    return float(np.corrcoef(np.tile(measured, len(simulated)), simulated.ravel())[0, 1])


def _ks(a: "np.ndarray[Any, Any]", b: "np.ndarray[Any, Any]") -> float:
    """Return Kolmogorov and Smirnov's distance of two sorted samples."""
    import numpy as np

    both = np.concatenate([a, b])
    below = [np.searchsorted(sample, both, side="right") / len(sample) for sample in (a, b)]
    return float(np.abs(below[0] - below[1]).max())


def _cdf(ordered: "np.ndarray[Any, Any]", points: int = 200) -> list[list[float]]:
    shares = [(at + 0.5) / points for at in range(points)]
    return [[float(ordered[int(share * len(ordered))]), share] for share in shares]


def report(found: Json, file: str | Path | None = None) -> Report:
    """Return the report of a validation; with `file`, write it as one HTML page: whole, or not at all."""
    return written(reports.report(found), file)
