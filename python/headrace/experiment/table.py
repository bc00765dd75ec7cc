"""Results of an experiment: a row for each point, each metric with its interval."""

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace._core import have_settled, is_filling, of_few
from headrace.charts.data import OVERLOADED, Place
from headrace.errors import refusal
from headrace.experiment import stored
from headrace.experiment.columns import is_time, metric_title, numbers, scale_of
from headrace.experiment.design import Experiment, Point, short
from headrace.experiment.formula import quantity
from headrace.experiment.objective import (
    MORE_IS_BETTER,
    MOST_LOST,
    OPERATIONS,
    TIMES,
    implied,
    lost,
    objective,
    time_of,
)
from headrace.experiment.precision import LEAST, SEQUENTIAL, known, named, of_streams
from headrace.experiment.task import SLOWEST_WAIT, SLOWEST_WORK, STATISTICS, Record
from headrace.quantities import Unit, counted, format_time, interval, percentage, unit
from headrace.report import Cell, Chart, Mark, Medium, Report, Text, noted
from headrace.report import Table as Columns
from headrace.scenario import Scenario
from headrace.shown import InNotebook, written

if TYPE_CHECKING:
    import polars
    from altair.typing import ChartType

Json = dict[str, Any]


# Maximum number of reasons shown.
MOST_REASONS = 10
# Loads that an answer names; the table has all.
MOST_LOADS = 6
# Below this utilisation, a component has time for work that its requests cause later: garbage collection makes a drive
# with 7 % over-provisioning 10 to 12 times as busy.
HARDLY_BUSY = 0.05
UNTESTED = " With one run each, it was not tested whether they differ."


# Ends of the metrics of reads and of writes that are shown.
APART = tuple(f".{operation}.{metric}" for metric in ("mean_ms", "p99_ms") for operation in ("reads", "writes"))


def more_is_better(metric: str) -> bool:
    """Return true if more of a metric is better, as far as that is known."""
    what = metric.rpartition(".")[2]
    return what in MORE_IS_BETTER or what.endswith("hit_ratio") or time_of(metric) is not None


def half_width(values: list[float], confidence: float = 0.95) -> float | None:
    """Return half the width of the interval of the mean of independent values, by Student's law; none for one.

    >>> round(half_width([1.0, 2.0, 3.0]), 3), half_width([1.0])
    (2.484, None)
    """
    import numpy as np
    from scipy.special import stdtrit

    if len(values) < 2:
        return None
    return float(stdtrit(len(values) - 1, (1 + confidence) / 2) * np.std(values, ddof=1) / len(values) ** 0.5)


class Table(InNotebook):
    """The points of an experiment and what was found at each."""

    def __init__(self, experiment: Experiment, records: Iterable[Record], counts: Mapping[str, int]) -> None:
        self.experiment = experiment
        self._counts = dict(counts)
        self._by_point: dict[str, list[Record]] = {point.key: [] for point in experiment.points}
        for record in sorted(records, key=lambda record: record["replication"]):
            # A store may have more points, and more of each, than were asked for now.
            if record["point"] in self._by_point and record["replication"] < counts.get(record["point"], 0):
                self._by_point[record["point"]].append(record)

    @classmethod
    def stored(cls, folder: str | Path) -> "Table":
        """Return all that a store has; raise `ScenarioError` where there is none."""
        kept, records = stored.everything(folder)
        places = list(kept["places"])
        points = {record["point"]: Point(record["values"]) for record in records}
        ordered = sorted(points.values(), key=lambda point: [_rank(point.values.get(place)) for place in places])
        counts: dict[str, int] = {}
        for record in records:
            counts[record["point"]] = max(counts.get(record["point"], 0), record["replication"] + 1)
        scenario = Scenario(kept["scenario"], kept["file"], kept["changes"])
        return cls(Experiment(scenario, tuple(ordered), places=tuple(places)), records, counts)

    def of(self, point: Point) -> list[Record]:
        """Return the records of a point, by replication."""
        return self._by_point[point.key]

    def reason(self, point: Point) -> str | None:
        """Return why a point failed, if it did."""
        return next((record["reason"] for record in self.of(point) if not record["ok"]), None)

    def mean(self, point: Point, metric: str) -> tuple[float, float | None] | None:
        """Return the mean of a metric over replications, and half the width of its interval."""
        values = [
            value for record in self.of(point) if record["ok"] and (value := record["metrics"].get(metric)) is not None
        ]
        if not values:
            return None
        alone = self.of(point)[0]["metrics"].get(metric.removesuffix("mean_ms") + "half_width_ms")
        by_batches = alone if len(values) == 1 and metric.endswith("mean_ms") else None
        half = by_batches if len(values) == 1 else half_width(values, self._confidence)
        return sum(values) / len(values), half

    @property
    def _confidence(self) -> float:
        return 0.95 if self.experiment.precision is None else SEQUENTIAL

    def is_precise(self, point: Point) -> bool | None:
        """Return whether each metric asked for is as precise as asked; none where nothing was asked."""
        precision = self.experiment.precision
        if precision is None:
            return None
        if len(self.of(point)) < min(LEAST, precision.budget):
            return False
        found = [self.mean(point, metric) for metric in self.metrics_of_interest]
        return all(one is not None and one[1] is not None and one[1] <= precision.within * abs(one[0]) for one in found)

    @cached_property
    def metrics(self) -> list[str]:
        """The names of all metrics."""
        names = (name for records in self._by_point.values() for record in records for name in record["metrics"])
        return [name for name in dict.fromkeys(names) if not name.endswith(STATISTICS)]

    def legs(self, of: str) -> list[str]:
        """Return what runs record of where the slowest requests of a stream or an operation spent their time."""
        names = (name for records in self._by_point.values() for record in records for name in record["metrics"])
        ends = (SLOWEST_WAIT, SLOWEST_WORK)
        own = [name for name in dict.fromkeys(names) if name.startswith(f"{of}.") and name.endswith(ends)]
        # Those of its operations are apart.
        return [name for name in own if name.removeprefix(f"{of}.").partition(".")[0] not in OPERATIONS]

    @property
    def metrics_of_interest(self) -> list[str]:
        """The metrics that are asked for, or that precision is asked of, or the mean response of every stream.

        Of training it is the utilisation of accelerators: responses of its reads matter to nobody.
        """
        precision = self.experiment.precision
        if self.experiment.metrics:
            asked = self.experiment.metrics if self.metrics else ()  # Where no run has ended, none is unknown.
            return [objective(text, bounded=False).metric(self.metrics) for text in asked]
        if precision:
            return named(precision, self.metrics, self.experiment.scenario.file)
        pairs = [(mean, mean.replace(".mean_ms", ".au")) for mean in of_streams(self.metrics)]
        return [au if au in self.metrics else mean for mean, au in pairs]

    @cached_property
    def frame(self) -> "polars.DataFrame":
        """One row a point: the values, replications, why it failed, and each metric with its interval (`metric ±`).

        Values that are written with a unit have a column of numbers too (`stripe_unit_bytes`); `headrace.units` says
        which unit each column has.
        """
        import polars

        return polars.DataFrame(
            [self._row(point) for point in self.experiment.points], infer_schema_length=None, strict=False
        )

    def _row(self, point: Point) -> Json:
        records = self.of(point)
        row: Json = (
            dict(point.values)
            | numbers(point.values)
            | {
                "replications": sum(record["ok"] for record in records),
                "failed": self.reason(point),
                "precise": self.is_precise(point),
                "trusted": self.is_trusted(point),
            }
        )
        for metric in self.metrics:
            found = self.mean(point, metric) or (None, None)
            row |= {metric: found[0], f"{metric} ±": found[1]}
        return row

    def unsettled(self, point: Point) -> str | None:
        """Return a component that was not in steady state at a point: longer runs may be slower there."""
        return self._filling(point) or self._with_work_to_come(point)

    def cold(self, point: Point) -> str | None:
        """Return a component whose cache began empty at a point and was filled by much of what came.

        What lies behind it is asked for less later.
        """
        known = self._means(point, ".cold")
        return next((metric.removesuffix(".cold") for metric, is_cold in known.items() if is_cold), None)

    def _with_work_to_come(self, point: Point) -> str | None:
        """Return a component whose requests cause work later, such as garbage collection, of which a run saw little.

        One that is hardly busy has time for it. Or the stream of accelerators whose steps are too few.
        """
        busy = self._means(point, ".utilisation")
        known = [metric.removesuffix(".unsettled") for metric, some in self._means(point, ".unsettled").items() if some]
        return next((group for group in known if busy.get(f"{group}.utilisation", 1.0) >= HARDLY_BUSY), None)

    def _filling(self, point: Point) -> str | None:
        """Return the component whose cache was still filling at a point.

        It fills if much of what was written is there at the end, or if requests come however busy the system is and
        writing that out would leave its busiest component no time to idle.
        """
        shares = self._means(point, ".undestaged")
        worst = max(shares, key=shares.__getitem__, default="")
        if not worst:
            return None
        busiest = max(self._means(point, ".utilisation").values(), default=0.0)
        hides = busiest >= 1 - shares[worst] and self._is_open(point)
        return worst.removesuffix(".undestaged") if hides or is_filling(shares[worst]) else None

    def _is_open(self, point: Point) -> bool:
        """Return true if requests of a stream come at a rate at a point, whether or not others are answered."""
        streams = self.experiment.scenario.with_(dict(point.values)).filled()["workload"].values()
        return any({"closed", "steps"}.isdisjoint(stream["arrivals"]) for stream in streams)

    def _means(self, point: Point, kind: str) -> dict[str, float]:
        """Return the means of all metrics of a kind at a point, by their names."""
        found = {metric: self.mean(point, metric) for metric in self.metrics if metric.endswith(kind)}
        return {metric: mean[0] for metric, mean in found.items() if mean}

    def is_overloaded(self, point: Point) -> bool:
        """Return true if the load of a point is more than is sustained: its response times grow with run length."""
        return any(record["saturated"] for record in self.of(point))

    def is_trusted(self, point: Point) -> bool:
        """Return true if the intervals of a point can be trusted."""
        records = [record for record in self.of(point) if record["ok"]]
        if not records or self.is_overloaded(point):
            return False
        return self._have_settled(records) if len(records) > 1 else records[0]["trusted"]

    def is_too_short(self, point: Point, stream: str) -> bool:
        """Return true if replications of a point are known to be too short for the mean of a stream."""
        records = [record for record in self.of(point) if record["ok"]]
        known = all(record["metrics"].get(f"{stream}.settling") is not None for record in records)
        return len(records) > 1 and known and not self._has_settled(records, stream)

    def _have_settled(self, records: list[Record]) -> bool:
        """Return true if the replications of a point are long enough for the intervals of the streams' means."""
        names = {
            name.removesuffix(".settling") for one in records for name in one["metrics"] if name.endswith(".settling")
        }
        streams = [name for name in names if "." not in name]
        return bool(streams) and all(self._has_settled(records, stream) for stream in streams)

    @staticmethod
    def _has_settled(records: list[Record], stream: str) -> bool:
        metrics = [record["metrics"] for record in records]
        both = [(one.get(f"{stream}.mean_ms"), one.get(f"{stream}.settling")) for one in metrics]
        known = [(mean, settling) for mean, settling in both if mean is not None and settling is not None]
        return len(known) == len(both) and have_settled(*map(list, zip(*known, strict=True)))

    @property
    def failed(self) -> list[tuple[Point, str]]:
        """The points that failed, each with its reason."""
        return [(point, reason) for point in self.experiment.points if (reason := self.reason(point)) is not None]

    @property
    def complete(self) -> bool:
        """True if every point has all its replications, and none failed."""
        return not self.failed and not self._missing() and not self._short()

    def _missing(self) -> int:
        """Return how many points have no run."""
        return sum(not self.of(point) for point in self.experiment.points)

    def _short(self) -> int:
        """Return how many points have some of their runs, but not all."""
        return sum(0 < len(self.of(point)) < self._counts[point.key] for point in self.experiment.points)

    def best(self, metric: str, *, most: bool = False) -> tuple[Point, float, float | None] | None:
        """Return the point at which a metric is lowest, or highest, with its interval; skip overloaded points."""
        found = [
            (point, *mean) for point in self.experiment.points if (mean := self._steady(point, metric)) is not None
        ]
        return (max if most else min)(found, key=lambda one: one[1]) if found else None

    def _steady(self, point: Point, metric: str) -> tuple[float, float | None] | None:
        """Return the mean of a metric and its interval, or none where the point failed or is overloaded."""
        return None if self.reason(point) or self.is_overloaded(point) else self.mean(point, metric)

    @property
    def answer(self) -> str:
        """Answer in a sentence or two."""
        about = self._by_load if self._loads and len(self._loads) < len(self.experiment.places) else self._span
        said = [about(metric) for metric in self.metrics_of_interest[:2]]
        failed, asked = self.failed, len(self.experiment.points)
        if failed:
            said.append(f"{len(failed)} of {asked} points failed.")
        if overloaded := sum(map(self.is_overloaded, self.experiment.points)):
            first = next(filter(self.is_overloaded, self.experiment.points))
            which = f"{overloaded} of {asked} points {'is' if overloaded == 1 else 'are'} overloaded"
            where = f": {first}{' and others' if overloaded > 1 else ''}" if first.values else ""
            said.append(f"{which}{where}.")
        said += filter(None, [self._lost()])
        if missing := self._missing():
            said.append(f"{missing} of {asked} points were not run.")
        if short := self._short():
            said.append(f"{short} of {asked} points have fewer runs than were asked for.")
        precision = self.experiment.precision
        vague = [point for point in self.experiment.points if self.of(point) and not self.reason(point)]
        vague = [point for point in vague if self.is_precise(point) is False]
        if vague and precision:
            counted = "1 point did" if len(vague) == 1 else f"{len(vague)} points did"
            said.append(f"{counted} not reach ±{precision.within:.2%} within {precision.budget} replications.")
        return " ".join(said) or "Nothing was found."

    def _lost(self) -> str:
        """Say at how many points requests were lost, which response times leave out, and where most were."""
        goals = [one for one in implied(self.metrics, ()) if one.what != "blocked"]
        points = [point for point in self.experiment.points if self.of(point) and not self.reason(point)]
        found = [(self.mean(point, one.metric(self.metrics)), one, point) for one in goals for point in points]
        shares = [(mean[0], one, point) for mean, one, point in found if mean and mean[0] > MOST_LOST]
        if not shares:
            return ""
        most, one, point = max(shares, key=lambda share: share[0])
        many = len({point.key for _, _, point in shares})
        said = f"At {many} of {len(self.experiment.points)} points times leave out requests that were lost"
        return f"{said}: {lost(one, most)} at {point}."

    @property
    def _loads(self) -> list[str]:
        """The places that set the load; the others are the design."""
        return [place for place in self.experiment.places if place.startswith("workload.")]

    def _by_load(self, metric: str) -> str:
        """Say which design is best at each load: the load is given, the design is to be chosen if there are several."""
        loads, by_load = self._loads, dict[str, list[Point]]()
        for point in self.experiment.points:
            load = Point({place: value for place, value in point.values.items() if place in loads})
            by_load.setdefault(str(load), []).append(point)
        name = in_words(metric)
        one = len({self._design(point) for point in self.experiment.points}) == 1
        say = self._value_at if one else self._best_at
        chosen = [say(load, points, metric) for load, points in by_load.items()]
        best = "" if one else "highest " if more_is_better(metric) else "lowest "
        more = f"; {len(chosen) - MOST_LOADS} more loads are in the table" if len(chosen) > MOST_LOADS else ""
        untested = UNTESTED if len(by_load) < len(self.experiment.points) and not self._have_two_runs() else ""
        return f"{name} is {best}{'; '.join(chosen[:MOST_LOADS])}{more}.{untested}"

    def _value_at(self, load: str, points: list[Point], metric: str) -> str:
        value = self._steady(points[0], metric)
        why = "is overloaded" if self.is_overloaded(points[0]) else "failed"
        return f"{_value(metric, *value)} at {load}" if value else f"unknown at {load}, which {why}"

    def _best_at(self, load: str, points: list[Point], metric: str) -> str:
        most = more_is_better(metric)
        found = sorted(
            (mean[0] * (-1 if most else 1), at)
            for at, point in enumerate(points)
            if (mean := self._steady(point, metric)) is not None
        )
        if not found:
            why = "are overloaded" if any(map(self.is_overloaded, points)) else "failed"
            return f"at {load} with no design: all {why}"
        best = points[found[0][1]]
        equal = [
            points[at] for _, at in found[1:] if self._differ(best, points[at], metric, among=len(points)) is False
        ]
        also = f", not shown to differ from {' or '.join(map(self._design, equal[:2]))}" if equal else ""
        value = self.mean(best, metric)
        assert value
        return f"at {load} with {self._design(best)} ({_value(metric, *value)}{also})"

    def _design(self, point: Point) -> str:
        loads = self._loads
        return str(Point({place: value for place, value in point.values.items() if place not in loads}))

    def _span(self, metric: str) -> str:
        least, most = self.best(metric), self.best(metric, most=True)
        if least is None or most is None:
            overloaded = self.experiment.points and all(map(self.is_overloaded, self.experiment.points))
            unknown = "is not known: no run counted it, or what it measures did not end"
            return f"{in_words(metric)} {'grows with run length' if overloaded else unknown}."
        known = [point for point in self.experiment.points if not self.reason(point) and self.mean(point, metric)]
        if least[1] == most[1] and len(known) > 1:
            where = "all points" if len(known) == len(self.experiment.points) else f"all {len(known)} where it is known"
            return f"{in_words(metric)} is {_value(metric, *least[1:])} at {where}."
        if least[0] == most[0]:
            where = f" at {least[0]}" if len(self.experiment.points) > 1 else ""
            others = "" if not where or self._are_overloaded(but=least[0]) else "; at the others it is not known"
            return f"{in_words(metric)} is {_value(metric, *least[1:])}{where}{others}."
        said = f"{in_words(metric)} is lowest at {least[0]} ({_value(metric, *least[1:])}), "
        said += f"highest at {most[0]} ({_value(metric, *most[1:])})."
        differ = self._differ(least[0], most[0], metric)
        if differ is False:
            points = len(self.experiment.points)
            all_pairs = f" at 95 % for all {points * (points - 1) // 2} pairs together" if points > 2 else ""
            said += f" With {len(self.of(least[0]))} replications, that difference is not significant{all_pairs}."
        return said + (UNTESTED if differ is None else "")

    def _are_overloaded(self, but: Point) -> bool:
        """Return true if all points but one are overloaded, or have failed: another sentence says so."""
        others = (point for point in self.experiment.points if point.key != but.key)
        return all(self.is_overloaded(point) or self.reason(point) for point in others)

    def _have_two_runs(self) -> bool:
        return any(len(self.of(point)) > 1 for point in self.experiment.points)

    def _differ(self, a: Point, b: Point, metric: str, among: int | None = None) -> bool | None:
        """Return true if the extremes of all points, or of `among` points, differ: paired, judged as one of all pairs.

        None where they have fewer than two runs in common, by which nothing can be judged.
        """
        import numpy as np
        from scipy.special import stdtrit

        columns = [[record["metrics"].get(metric) for record in self.of(point)] for point in (a, b)]
        apart = np.array([y - x for x, y in zip(*columns, strict=False) if x is not None and y is not None])
        if len(apart) < 2:
            return None
        points = among or len(self.experiment.points)
        level = 1 - 0.025 / max(points * (points - 1) / 2, 1)
        half = stdtrit(len(apart) - 1, level) * apart.std(ddof=1) / len(apart) ** 0.5
        return bool(abs(apart.mean()) > half)

    def __repr__(self) -> str:
        return f"<Table: {self.answer}>"

    def chart(self, metric: str) -> "ChartType":
        """Return a metric over the values that vary as an Altair chart: a line, a heat map, or small multiples.

        The metric is named as in `metrics`, or as an objective asks for it: `p99(users)`, `au(training)`.

        Raise `ScenarioError` where nothing varies, where every point failed, and for a metric that is not in `metrics`.
        """
        file = self.experiment.scenario.file
        if not self.experiment.places:
            raise refusal(file, "chart: nothing varies", "vary a field of the scenario, and draw the metric over it")
        if not self.metrics:
            raise refusal(file, "chart: there is no run to draw", "every point failed: `failed` says why")
        from headrace.charts.style import alone

        return alone(self._draw(known(metric, self.metrics, file, "chart")))

    def _draw(self, metric: str) -> "ChartType":
        from headrace.charts import experiment

        scale, places = scale_of(metric, self.unit_of(metric)), list(self.experiment.places)
        points = [
            Place(
                point.values,
                str(point),
                None if mean is None else (mean[0] * scale, mean[1] and mean[1] * scale),
                self.reason(point) or (OVERLOADED if self.is_overloaded(point) else None),
            )
            for point in self.experiment.points
            for mean in [self._steady(point, metric)]
        ]
        return experiment.draw(points, places, self.title_of(metric))

    def report(self, file: str | Path | None = None, *, runs: bool = False) -> Report:
        """Return the report of the experiment; with `file`, write it as one HTML page: whole, or not at all.

        With `runs`, the first run of each point is written to a page of its own, in a folder beside the file, named
        after it. Those pages are made by running each point once more.
        """
        return written(self.shown(self.write_runs(file) if runs and file is not None else None), file)

    def shown(self, folder: Path | None = None) -> Report:
        """Return the report of the experiment, with links to the pages of runs in `folder` beside its own."""
        scenario, metrics, notes = self.experiment.scenario, self.shown_metrics, self.notes
        # The objectives are those by which shares in time are measured: see `objective.measuring`.
        own = ((place, value) for place, value in scenario.changes.items() if place != "objectives")
        changes = ", ".join(f"{place} = {value}" for place, value in own)
        return Report(
            Path(scenario.file).stem,
            self.answer,
            self._what_was_run,
            noted(notes, Medium.PAGE | Medium.NOTEBOOK),
            blocks=[
                *(self._chart(metric, first=metric == metrics[0]) for metric in metrics if self.experiment.places),
                self._columns(metrics, folder),
                *(Text(note, "warning", below=True, on=Medium.TERMINAL) for note in notes),
                Text(scenario.text, "file", heading=f"Scenario{f', with {changes}' * bool(changes)}", on=Medium.PAGE),
            ],
        )

    @property
    def _what_was_run(self) -> str:
        most = max((len(self.of(point)) for point in self.experiment.points), default=0)
        over = f" of {' × '.join(self.experiment.places)}" if self.experiment.places else ""
        return f"sweep{over}: {counted(len(self.experiment.points), 'point')}, at most {counted(most, 'run')} each"

    def write_runs(self, file: str | Path) -> Path:
        """Write the first run of each point to a page of its own, beside `file`; return the folder of the pages."""
        folder = Path(file).with_name(f"{Path(file).stem}-runs")
        folder.mkdir(exist_ok=True)
        for point in self.experiment.points:
            if self.of(point) and self.reason(point) is None:
                results = self.experiment.scenario.with_({**point.values, "run.replications": 1}).run()
                results.report(folder / f"{point.key}.html", title=str(point))
        return folder

    @property
    def notes(self) -> list[str]:
        """Why points failed, and which intervals cannot be trusted."""
        points = self.experiment.points
        ran = [point for point in points if self.reason(point) is None]
        beyond = [point for point, _ in self.failed if any(record["overloaded"] for record in self.of(point))]
        later = {point.key for point in beyond[1:]}
        failed = [f"{point} failed: {reason}." for point, reason in self.failed if point.key not in later]
        said = failed[:MOST_REASONS]
        said += [f"{len(failed) - MOST_REASONS} more failed."] if len(failed) > MOST_REASONS else []
        said += [f"{counted(len(beyond) - 1, 'more point')} failed by overload."] if len(beyond) > 1 else []
        full = [point for point in points if self.is_overloaded(point)]
        vague = [point for point in ran if self.of(point) and point not in full and not self.is_trusted(point)]
        untrusted, short = (
            [point for point in vague if (len(self.of(point)) > 1) == several] for several in (False, True)
        )
        unsettled = [point for point in ran if self.unsettled(point)]
        cold = [point for point in ran if self.cold(point)]
        for some, says in (
            (full, "the load is more than is sustained: response times grow with run length"),
            (untrusted, "the interval of the single run cannot be trusted"),
            (short, "runs are too short for their intervals to be trusted"),
            (unsettled, "a component was not yet in steady state: longer runs may be slower there"),
            (cold, "a cache that began empty was still filling: longer runs find more in it"),
        ):
            said += [f"At {counted(len(some), 'point')} {says}."] if some else []
        few = min((runs for point in points if (runs := len(self.of(point))) > 1), default=0)
        return said + [f"{note[0].upper()}{note[1:]}." for note in [of_few(few)] if note]

    @property
    def shown_metrics(self) -> list[str]:
        """The metrics that are drawn and printed: those of interest, their p99, throughput, the highest utilisation.

        Reads and writes apart come last, where a stream mixes them: a narrow terminal leaves out what does not fit.
        """
        chosen = list(self.metrics_of_interest)
        if self.experiment.metrics:
            return chosen
        chosen += [metric for metric in self.metrics if time_of(metric) is not None]
        chosen += [late for metric in chosen if (late := metric.replace("mean_ms", "p99_ms")) in self.metrics]
        for rate in (".samples_per_s", ".requests_per_s"):
            chosen += [metric for metric in self.metrics if metric.endswith(rate)]
        used = {
            metric: max(
                (mean[0] for point in self.experiment.points if (mean := self.mean(point, metric))), default=0.0
            )
            for metric in self.metrics
            if metric.endswith(".utilisation")
        }
        chosen += [max(used, key=lambda metric: used[metric])] if used else []
        chosen += [metric for end in APART for metric in self.metrics if metric.endswith(end)]
        return list(dict.fromkeys(chosen))

    def _chart(self, metric: str, *, first: bool) -> Chart:
        on = Medium.PAGE | Medium.NOTEBOOK if first else Medium.PAGE
        return Chart(lambda: self._draw(metric), metric, heading=self.title_of(metric), on=on)

    def _columns(self, metrics: list[str], folder: Path | None) -> Columns:
        """Return the points with their metrics, those that failed, and links to the pages of their runs in `folder`."""
        places = list(self.experiment.places)
        rows: list[list[Cell]] = [[*self._cells(point, places, metrics)] for point in self.experiment.points]
        columns = [*(short(place, places) for place in places), "runs", *map(self.title_of, metrics), ""]
        if not any(row[-1] for row in rows):
            columns, rows = columns[:-1], [row[:-1] for row in rows]
        for row, point in zip(rows, self.experiment.points, strict=True):
            if folder and self.reason(point) is None:
                row[0] = Mark(str(row[0]), link=f"{folder.name}/{point.key}.html")
        return Columns(columns, rows, heading="Every point, with 95 % intervals", least=("runs",))

    def _cells(self, point: Point, places: list[str], metrics: list[str]) -> list[str]:
        return [
            *(str(point.values.get(place, "")) for place in places),
            str(sum(record["ok"] for record in self.of(point))),
            *(self._cell(point, metric) for metric in metrics),
            "failed" if self.reason(point) else OVERLOADED if self.is_overloaded(point) else "",
        ]

    def _cell(self, point: Point, metric: str) -> str:
        found = self.mean(point, metric)
        if found is None:
            return "—"
        scale = scale_of(metric, self.unit_of(metric))
        return interval(found[0] * scale, found[1] and found[1] * scale)

    def title_of(self, metric: str) -> str:
        """Return the name of a metric with its unit."""
        return metric_title(metric, self.unit_of(metric))

    def unit_of(self, metric: str) -> Unit:
        """Return the unit of a metric's values in tables and on axes; that of other metrics than times has no use."""
        if not is_time(metric):
            return unit([])
        points = self.experiment.points
        steady = [mean[0] for point in points if (mean := self._steady(point, metric))]
        return unit(steady or [mean[0] for point in points if (mean := self.mean(point, metric))])


def _value(metric: str, middle: float, half: float | None) -> str:
    """Write the value of a metric with its interval, a time with its unit.

    >>> _value("users.mean_ms", 76_918.0, 35_724.0), _value("users.requests_per_s", 12.5, None)
    ('77 ± 36 s', '12.5')
    """
    if time_of(metric) is not None or metric.endswith(".au"):
        return percentage(middle, half)
    if metric.endswith("_s") and not metric.endswith("_per_s"):
        return format_time(1e3 * middle, half and 1e3 * half)
    return format_time(middle, half) if metric.endswith("_ms") else interval(middle, half)


# Metrics of training, in words.
OF_STEPS = {
    "au": "utilisation of accelerators",
    "stall_ms": "mean stall of a step",
    "start_ms": "mean stall of first steps",
    "checkpoint_ms": "mean time of a checkpoint",
    "longest_checkpoint_ms": "time of the longest checkpoint",
    "restore_ms": "mean time to read a checkpoint back",
}


def in_words(metric: str) -> str:
    """Return what a metric is, to begin a sentence with.

    >>> in_words("users.mean_ms"), in_words("users.p99_ms"), in_words("tds/spindle.utilisation")
    ('The mean response of users', 'The p99 response of users', 'The utilisation of tds/spindle')
    """
    if (time := time_of(metric)) is not None:
        return f"The share of {metric[: metric.rindex('.within_')]} within {format_time(time)}"
    of, _, what = metric.rpartition(".")
    if what in OF_STEPS:
        return f"The {OF_STEPS[what]} of {of}"
    if what.endswith("_ms") and what.removesuffix("_ms") in TIMES:
        return f"The {what.removesuffix('_ms')} response of {of}"
    what = re.sub("_(ms|s)$", "", what) if not what.endswith("_per_s") else what
    return f"The {what.replace('_per_s', ' a second').replace('_', ' ')} of {of}"


def _rank(value: object) -> tuple[bool, float, str]:
    """Return what values are put in order by: quantities by size, words as in a dictionary."""
    try:
        return False, quantity(value).number, ""
    except ValueError:
        return True, 0.0, str(value)
