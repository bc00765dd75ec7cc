"""The prediction of a run as OpenMetrics, which Prometheus and node_exporter's textfile collector read."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from headrace.files import whole
from headrace.results import is_saturated

if TYPE_CHECKING:
    from headrace.result_types import ResultsData

Json = dict[str, Any]
Sample = tuple[dict[str, str], float | None]
"""Labels, and a value: none where there is nothing to measure."""


def write(found: Json, file: Path) -> None:
    """Write the results of a run to a file, which is replaced whole: a collector never reads half of it."""
    with whole(file) as part:
        part.write_text(exposition(found), encoding="utf-8")


def write_overload(file: Path) -> None:
    """Write that there is no prediction, in place of the one of a load that could be answered."""
    with whole(file) as part:
        part.write_text(exposition({}, [("overloaded", OVERLOADED, lambda _: [({}, 1)])]), encoding="utf-8")


def exposition(found: Json, gauges: "list[Gauge] | None" = None) -> str:
    """Return the results of a run as text: gauges in seconds, bytes, requests and shares of one."""
    lines: list[str] = []
    for name, about, of in gauges or GAUGES:
        lines += [f"# HELP headrace_{name} {about}", f"# TYPE headrace_{name} gauge"]
        lines += [f"headrace_{name}{_shown(labels)} {value!r}" for labels, value in of(found) if value is not None]
    return "\n".join([*lines, "# EOF", ""])


def _shown(labels: dict[str, str]) -> str:
    """Return labels in braces. Names in a scenario have no character that would have to be escaped."""
    pairs = ",".join(f'{name}="{value}"' for name, value in labels.items())
    return f"{{{pairs}}}" if pairs else ""


def _of_streams(field: str) -> Callable[[Json], Iterable[Sample]]:
    return lambda found: (({"stream": stream["name"]}, stream[field]) for stream in found["streams"])


def _of_components(field: str) -> Callable[[Json], Iterable[Sample]]:
    return lambda found: (({"component": component["path"]}, component[field]) for component in found["components"])


def _responses(found: Json) -> Iterator[tuple[dict[str, str], Json]]:
    """Yield the response times of each stream: of all its requests, and of each of its operations."""
    for stream in found["streams"]:
        of_all = {"all": stream["response"], "read": stream["reads"], "write": stream["writes"]}
        for operation, response in (of_all | stream["operations"]).items():
            if response and response["count"]:
                yield {"stream": stream["name"], "operation": operation}, response


def _means(found: Json) -> Iterator[Sample]:
    return ((labels, response["mean_ms"] / 1000) for labels, response in _responses(found))


def _quantiles(found: Json) -> Iterator[Sample]:
    for labels, response in _responses(found):
        yield from ((labels | {"quantile": str(at["share"])}, at["ms"] / 1000) for at in response["quantiles_ms"])


def _headroom(found: Json) -> Iterable[Sample]:
    return [({}, found["bottleneck"]["saturates_at"])] if found["bottleneck"] else []


OVERLOADED = "1 if more is asked for than can be answered, 0 otherwise."
Gauge = tuple[str, str, Callable[[Json], Iterable[Sample]]]
GAUGES: list[Gauge] = [
    ("requests_per_second", "Requests that a stream completes.", _of_streams("requests_per_s")),
    ("bytes_per_second", "Bytes that a stream reads and writes.", _of_streams("bytes_per_s")),
    ("response_mean_seconds", "Mean response time.", _means),
    ("response_quantile_seconds", "Response time that this share of requests does not exceed.", _quantiles),
    ("utilisation_ratio", "Share of time that the servers of a component are busy.", _of_components("utilisation")),
    ("waiting_requests", "Requests that wait for a component, on average.", _of_components("queue")),
    ("headroom_ratio", "Load that saturates the bottleneck, over the load of the run.", _headroom),
    ("overloaded", OVERLOADED, lambda found: [({}, int(is_saturated(cast("ResultsData", found))))]),
]
"""Gauges: name, meaning, and what gives their samples."""
