"""What formulas say of a scenario, and the simulation beside it."""

from collections.abc import Callable, Mapping
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

Json = dict[str, Any]
SolveWatch = Callable[[int, int], object]


@dataclass(frozen=True)
class Simulated:
    """A simulation of one load: requests answered a second, mean response in ms, half-width of its 95 % interval.

    The half-width is `None` where the run was too short for one.
    """

    throughput_per_s: float
    response_ms: float
    half_width_ms: float | None


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

    data: Json

    @property
    def answer(self) -> str:
        """The summary, in a few sentences."""
        return str(self.data["answer"])

    @property
    def fails(self) -> list[str]:
        """The assumptions of the formulas that fail; the solution is exact if there are none."""
        return list(self.data["fails"])

    @property
    def points(self) -> "polars.DataFrame":
        """One row per load: throughput (1/s), mean response (ms), bounds, approximations, utilisation by component."""
        import polars  # noqa: PLC0415

        return polars.DataFrame([self._row(point) for point in self.data["points"]], infer_schema_length=None)

    @property
    def stations(self) -> "polars.DataFrame":
        """One row per group of equal components, the bottleneck first."""
        import polars  # noqa: PLC0415

        return polars.DataFrame(self.data["stations"])

    def __repr__(self) -> str:
        return f"<Solution: {self.answer}>"

    def report(self, file: "str | Path | None" = None, *, title: str = "solution") -> Report:
        """Return the report of the solution; with `file`, write it as one HTML page: whole, or not at all."""
        return written(reports.report(self.data, title), file)

    def _row(self, point: Json) -> Json:
        plain = {name: point[name] for name in ("load", "own", "throughput_per_s", "response_ms")}
        names = [station["component"] for station in self.data["stations"]]
        busy = {f"utilisation {name}": share for name, share in zip(names, point["utilisation"], strict=True)}
        bounds = {
            f"{name}_{end}": point[name] and point[name][end]
            for name in ("asymptotic", "balanced")
            for end in ("from", "to")
        }
        approximate = {name: point[name] for name in ("bard_schweitzer_per_s", "linearizer_per_s")}
        simulated = {f"simulated_{name}": value for name, value in (point.get("simulated") or {}).items()}
        return plain | busy | bounds | approximate | simulated


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
    points = [point | {"simulated": None} for point in solution.data["points"]]
    found = Solution(solution.data | {"points": points})
    for number, point in enumerate(points):
        if watch:
            watch(number, len(points))
        try:
            one = _simulated(point, scenario)
        except KeyboardInterrupt:
            raise Interrupted(found) from None
        point["simulated"] = None if one is None else vars(one)
    return found


def _simulated(point: Json, scenario: Simulable) -> Simulated | None:
    if point["sets"] is None or point["throughput_per_s"] is None:
        return None
    found = scenario.with_(dict(point["sets"])).run(theory=False).data
    if found["ended"] == "cancelled":
        raise KeyboardInterrupt
    answered = [stream for stream in found["streams"] if stream["response"]["count"]]
    rate = sum(stream["requests_per_s"] for stream in answered)
    shares = [stream["requests_per_s"] / rate for stream in answered]
    mean = sum(share * stream["response"]["mean_ms"] for share, stream in zip(shares, answered, strict=True))
    halves = [half for stream in answered if (half := stream["response"]["half_width_ms"]) is not None]
    if len(halves) < len(answered):
        return Simulated(rate, mean, None)
    # Streams that share components are correlated: the half-widths add up at worst.
    half = sum(share * half for share, half in zip(shares, halves, strict=True))
    return Simulated(rate, mean, half)
