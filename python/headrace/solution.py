"""What formulas say of a scenario, and the simulation beside it."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from headrace.report import Report
from headrace.reports import solution as reports
from headrace.results import Results
from headrace.shown import InNotebook, written
from headrace.stopped import Interrupted

if TYPE_CHECKING:
    from pathlib import Path

    import polars

    from headrace.result_types import SimulatedPoint, SolutionData, SolvedPoint

# What a row of the frame has of a point as it is; the rest becomes several columns.
STATED = ("load", "own", "throughput_per_s", "response_ms", "bard_schweitzer_per_s", "linearizer_per_s")
SolveWatch = Callable[[int, int], object]


@dataclass(frozen=True)
class Solution(InNotebook):
    r"""The analytic solution of a scenario; `data` holds all of it, as docs/guides/solve.md describes.

    >>> import headrace
    >>> clerk = "{clerk: {type: station, service: {exponential: 8 ms}}}"
    >>> clients = "{clients: {to: clerk, arrivals: {closed: {depth: 4, think: {exponential: 20 ms}}}}}"
    >>> solution = headrace.Scenario(f"system: {clerk}\nworkload: {clients}").solve(load=(1, 4))
    >>> [round(rate, 2) for rate in solution.points["throughput_per_s"]]
    [35.71, 66.04, 89.73, 106.26]
    >>> solution.fails
    []
    """

    data: "SolutionData"

    @property
    def answer(self) -> str:
        """The summary, in a few sentences."""
        return self.data["answer"]

    @property
    def fails(self) -> list[str]:
        """The assumptions of the formulas that fail; the solution is exact if there are none."""
        return list(self.data["fails"])

    @property
    def points(self) -> "polars.DataFrame":
        """One row per load: throughput (1/s), mean response (ms), bounds, approximations, utilisation by component."""
        import polars

        return polars.DataFrame([self._row(point) for point in self.data["points"]], infer_schema_length=None)

    @property
    def stations(self) -> "polars.DataFrame":
        """One row per group of equal components, the bottleneck first."""
        import polars

        return polars.DataFrame(self.data["stations"])

    def __repr__(self) -> str:
        return f"<Solution: {self.answer}>"

    def report(self, file: "str | Path | None" = None, *, title: str = "solution") -> Report:
        """Return the report of the solution; with `file`, write it as one HTML page: whole, or not at all."""
        return written(reports.report(self.data, title), file)

    def _row(self, point: "SolvedPoint") -> dict[str, Any]:
        names = [station["component"] for station in self.data["stations"]]
        busy = {f"utilisation {name}": share for name, share in zip(names, point["utilisation"], strict=True)}
        bounds = {"asymptotic": point["asymptotic"], "balanced": point["balanced"]}
        ends = {f"{name}_{end}": bound and bound[end] for name, bound in bounds.items() for end in ("from", "to")}
        simulated = {f"simulated_{name}": value for name, value in (point["simulated"] or {}).items()}
        return {name: value for name, value in point.items() if name in STATED} | busy | ends | simulated


class Simulable(Protocol):
    """A scenario, as far as a simulation beside its solution asks for it."""

    def with_(self, changes: Mapping[str, object]) -> "Simulable":
        """Return the scenario with other values."""
        ...

    def run(self, *, theory: bool = True) -> Results:
        """Simulate it."""
        ...


def simulate(solution: Solution, scenario: Simulable, watch: SolveWatch | None = None) -> Solution:
    """Return a solution with the simulation beside every load: `data["points"][…]["simulated"]`.

    `watch` is called with the loads done and all before each. A load is left out (`None`) where more requests come
    than can be answered, and where arrivals cannot be scaled. Ctrl-C raises `Interrupted` with the loads done so far.
    """
    found = deepcopy(solution)
    points = found.data["points"]
    for number, point in enumerate(points):
        if watch:
            watch(number, len(points))
        try:
            point["simulated"] = _simulated(point, scenario)
        except KeyboardInterrupt:
            raise Interrupted(found) from None
    return found


def _simulated(point: "SolvedPoint", scenario: Simulable) -> "SimulatedPoint | None":
    if point["sets"] is None or point["throughput_per_s"] is None:
        return None
    found = scenario.with_(dict(point["sets"])).run(theory=False).data
    if found["ended"] == "cancelled":
        raise KeyboardInterrupt
    answered = [stream for stream in found["streams"] if stream["response"]["count"]]
    rate = sum(stream["requests_per_s"] for stream in answered)
    shares = [stream["requests_per_s"] / rate for stream in answered]
    mean = sum(share * stream["response"]["mean_ms"] for share, stream in zip(shares, answered, strict=True))
    halves = [stream["response"]["half_width_ms"] for stream in answered]
    # Streams that share components are correlated: the half-widths add up at worst.
    half = None if None in halves else sum(share * half for share, half in zip(shares, halves, strict=True) if half)
    return {"throughput_per_s": rate, "response_ms": mean, "half_width_ms": half}
