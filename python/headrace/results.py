"""What a run says, as an object: frames, a notebook's picture of it, and a file to keep it in."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.errors import read_text, refusal
from headrace.files import write_whole
from headrace.report import Report
from headrace.reports import run
from headrace.shown import InNotebook, written

if TYPE_CHECKING:
    import polars
    from altair.typing import ChartType

    from headrace.result_types import Bottleneck, ComponentResults, ResultsData, StreamResults

Row = dict[str, object]

RESULTS = "name a file that `Results.save` or `headrace run --json` wrote"


def is_saturated(found: "ResultsData") -> bool:
    """Return true if the load is more than is sustained, so that response times grow with the length of the run.

    In a closed system a component that never rests is no mistake: its load is what it answers.
    """
    bottleneck = found["bottleneck"]
    return bool(bottleneck and bottleneck["saturates_at"] is not None and bottleneck["saturated"])


def is_served_whole(found: "ResultsData") -> bool:
    """Return true if what reaches the bottleneck is replayed, and all of it was answered: no run of it is longer."""
    bottleneck = found["bottleneck"]
    workload: dict[str, Any] = dict(found["scenario"]["workload"])
    streams = {one["name"]: one for one in found["streams"]}
    recorded = [
        not {"log", "replay"}.isdisjoint(workload.get(name, {}).get("arrivals", ())) and streams[name]["in_flight"] == 0
        for name in (bottleneck["streams"] if bottleneck else [])
    ]
    return bool(recorded) and all(recorded)


class Results(InNotebook):
    r"""The results of a run. `data` holds all of them, as docs/results.md describes; frames are polars data frames.

    >>> import headrace
    >>> clerk = "{clerk: {type: station, service: {exponential: 8 ms}}}"
    >>> customers = "{customers: {to: clerk, arrivals: {poisson: 100 /s}}}"
    >>> results = headrace.run(text=f"system: {clerk}\nworkload: {customers}\nrun: {{requests: 20000}}")
    >>> results.complete
    True
    >>> results.components.select("path", "kind").rows()
    [('clerk', 'station')]
    >>> results.streams["mean_ms"].len()
    1
    """

    def __init__(self, data: "ResultsData") -> None:
        self.data = data

    @property
    def answer(self) -> str:
        """The summary, in one or two sentences."""
        return self.data["answer"]

    @property
    def notes(self) -> list[str]:
        """Warnings to read before trusting the results."""
        return self.data["notes"]

    @property
    def complete(self) -> bool:
        """True if the run finished; false if a limit or Ctrl-C ended it."""
        return self.data["complete"]

    @property
    def bottleneck(self) -> "Bottleneck | None":
        """The busiest component: `component`, `utilisation`, `saturates_at`, … (see `docs/results.md`).

        None where no component has a queue.
        """
        return self.data["bottleneck"]

    @cached_property
    def streams(self) -> "polars.DataFrame":
        """One row per stream: requests issued, completed and lost, rates (1/s, B/s), response times (ms).

        `blocked` is the share of time in which the source was blocked. Training has columns of its own (`steps.au`).
        """
        return _frame(_stream_row(stream) for stream in self.data["streams"])

    @cached_property
    def components(self) -> "polars.DataFrame":
        """One row per component: utilisation, mean queue, waiting and service times (ms), bytes per second.

        Metrics of a component's type and utilisation by cause have a column each (`meters.read_hit_ratio`), null for
        other components.
        """
        return _frame(_component_row(component) for component in self.data["components"])

    @cached_property
    def theory(self) -> "polars.DataFrame":
        """One row per stream: the analytic solution, or the assumption that fails."""
        return _frame(
            {name: value for name, value in row.items() if name not in ("cdf", "quantiles_ms")}
            | _quantiles(row["quantiles_ms"])
            for row in self.data["theory"]
        )

    @cached_property
    def cdf(self) -> "polars.DataFrame":
        """The CDF of each stream's response time: `stream`, `ms`, `share`, and `theory` if a formula applies."""
        rows = []
        for stream, theory in zip(self.data["streams"], self.data["theory"], strict=True):
            predicted: Sequence[float | None] = [share for _, share in theory["cdf"]] or [None] * len(stream["cdf"])
            for (time, share), expected in zip(stream["cdf"], predicted, strict=True):
                rows.append({"stream": stream["name"], "ms": time, "share": share, "theory": expected})
        return _frame(rows)

    @cached_property
    def series(self) -> "polars.DataFrame":
        """Time series: `time_s`, requests completed and mean response (ms) by stream, utilisation by component."""
        streams = [stream["name"] for stream in self.data["streams"]]
        components = [component["path"] for component in self.data["components"]]
        rows = []
        for point in self.data["series"]:
            row: Row = {"time_s": point["time_s"]}
            for name, completed, mean in zip(streams, point["completed"], point["mean_ms"], strict=True):
                row |= {f"{name} completed": completed, f"{name} mean_ms": mean}
            row |= dict(zip((f"{path} utilisation" for path in components), point["utilisation"], strict=True))
            rows.append(row)
        return _frame(rows)

    @cached_property
    def phases(self) -> "polars.DataFrame":
        """One row per phase and stream: from and to (s), preceding event, throughput, response times (ms), failures.

        Empty if no component fails or is rebuilt.
        """
        rows = []
        for phase in self.data["phases"]:
            span: Row = {"from_s": phase["from_s"], "to_s": phase["to_s"], "after": "; ".join(phase["after"])}
            rows += [span | stream for stream in phase["streams"]]
        return _frame(rows)

    def __repr__(self) -> str:
        return f"<Results: {self.answer}>"

    def save(self, path: str | Path) -> None:
        """Write the results to a JSON file: whole, or not at all."""
        write_whole(path, json.dumps(self.data))

    def report(self, path: str | Path | None = None, *, title: str | None = None) -> Report:
        """Return the report of the results; with `path`, write it as one HTML page, which needs no network.

        `title` says what was run; default: the names of its streams. The file is written whole, or not at all.
        """
        return written(run.report({**self.data}, title), path)

    def charts(self) -> "dict[str, ChartType]":
        """Return the charts of the report by their names, to be changed, combined or saved with Altair.

        `response_series` and `utilisation_series` show the run over simulated time, `response_cdf_NAME` how response
        times of a stream are distributed, if the results say. Archives add `fill_series_NAME` for each disk pool and
        `drives_series_NAME` for each tape library.
        """
        return self.report().charts()

    @classmethod
    def load(cls, path: str | Path) -> "Results":
        """Read results that `save` or `headrace run --json` wrote; raise `ScenarioError` where a file has none."""
        with suppress(ValueError):
            data: ResultsData = json.loads(read_text(path, RESULTS))
            if isinstance(data, dict) and {"answer", "streams", "components"} <= data.keys():
                return cls(data)
        raise refusal(path, f"{path} does not contain the results of a run", RESULTS)


def _frame(rows: Iterable[Mapping[str, object]]) -> "polars.DataFrame":
    import polars

    return polars.DataFrame(list(rows), infer_schema_length=None)


def _quantiles(pairs: Iterable[Sequence[float]]) -> Row:
    return {f"p{share * 100:g}_ms": time for share, time in pairs}


def _component_row(component: "ComponentResults") -> Row:
    row: Row = {name: value for name, value in component.items() if not isinstance(value, dict)}
    # Frames without a child in a struct cannot be written as Parquet.
    row |= {f"utilisation_by_cause.{cause}": share for cause, share in component["utilisation_by_cause"].items()}
    row |= {f"meters.{name}": value for name, value in component["meters"].items()}
    return row


def _stream_row(stream: "StreamResults") -> Row:
    response = stream["response"]
    interval: Mapping[str, object] = response["interval"] or {"method": None, "trusted": None}
    counts = ("issued", "completed", "in_flight", "dropped", "expired", "failed", "blocked")
    return (
        _some(stream, "name", "to", *counts, "requests_per_s", "bytes_per_s")
        | _some(response, "mean_ms", "half_width_ms", "sd_ms", "max_ms")
        | dict(interval)
        | _quantiles([quantile["share"], quantile["ms"]] for quantile in response["quantiles_ms"])
        | {f"steps.{name}": value for name, value in (stream["steps"] or {}).items()}
    )


def _some(row: Mapping[str, object], *names: str) -> Row:
    return {name: row[name] for name in names}
