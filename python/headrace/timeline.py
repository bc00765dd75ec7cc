"""The first requests of a run as a Chrome trace-event file, to be looked at in Perfetto or chrome://tracing.

Each component is a group of rows of its own: one row for each server in use, and beneath it who waits. Arrows lead
from where a request enters the system to what it does there.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.files import write_whole

if TYPE_CHECKING:
    from headrace.result_types import ResultsData

Json = dict[str, Any]


def events(results: "ResultsData", journeys: list[Json]) -> list[Json]:
    """Return the trace events of the journeys of a run (see `Scenario.run`)."""
    streams = [stream["name"] for stream in results["streams"]]
    components = [component["path"] for component in results["components"]]
    drawn: list[Json] = []
    for at, path in enumerate(["requests", *components]):
        drawn.append({"ph": "M", "name": "process_name", "pid": at, "args": {"name": path}})
        drawn.append({"ph": "M", "name": "process_sort_index", "pid": at, "args": {"sort_index": at}})
    lanes = _Lanes()
    for number, journey in enumerate(journeys):
        if journey["completed_ns"] is not None:
            drawn += _request(number, journey, streams[journey["stream"]])
    visits = [(visit, number) for number, journey in enumerate(journeys) for visit in journey["visits"]]
    for visit, number in sorted(visits, key=lambda pair: (pair[0]["began_ns"], pair[0]["component"])):
        drawn += _visit(number, visit, lanes)
    return drawn


def write(results: "ResultsData", journeys: list[Json], file: str | Path) -> None:
    """Write the journeys of a run to a file: whole, or not at all."""
    write_whole(file, json.dumps({"displayTimeUnit": "ms", "traceEvents": events(results, journeys)}))


def _us(ns: int) -> float:
    return ns / 1000


def _request(number: int, journey: Json, stream: str) -> list[Json]:
    name = f"{stream} #{number} {journey['op']}"
    about = {"address": journey["address"], "bytes": journey["bytes"]}
    common: Json = {"name": name, "cat": "request", "id": number, "pid": 0, "tid": 0}
    return [
        common | {"ph": "b", "ts": _us(journey["issued_ns"]), "args": about},
        common | {"ph": "e", "ts": _us(journey["completed_ns"])},
    ]


def _visit(number: int, visit: Json, lanes: "_Lanes") -> list[Json]:
    pid = visit["component"] + 1
    about = {"address": visit["address"], "bytes": visit["bytes"]}
    name = f"#{number}"
    drawn: list[Json] = []
    if visit["began_ns"] > visit["came_ns"]:
        wait = f"{number}.{pid}.{visit['came_ns']}.{visit['address']}"
        common: Json = {"name": f"{name} waits", "cat": "waiting", "id": wait, "pid": pid, "tid": 0}
        drawn.append(common | {"ph": "b", "ts": _us(visit["came_ns"]), "args": about})
        drawn.append(common | {"ph": "e", "ts": _us(visit["began_ns"])})
    lane = lanes.free(pid, visit["began_ns"], visit["left_ns"])
    span = {"ph": "X", "name": name, "cat": "service", "pid": pid, "tid": lane}
    drawn.append(span | {"ts": _us(visit["began_ns"]), "dur": _us(visit["left_ns"] - visit["began_ns"]), "args": about})
    return drawn + _arrow(number, {"pid": pid, "tid": lane, "ts": _us(visit["began_ns"])}, lanes)


def _arrow(number: int, place: Json, lanes: "_Lanes") -> list[Json]:
    """Draw an arrow to a place from that where the request entered the system."""
    entrance = lanes.entrances.setdefault(number, place)
    if entrance is place:
        return []
    way = {"name": "way", "cat": "way", "id": f"{number}.{place['pid']}.{place['ts']}"}
    return [way | {"ph": "s"} | entrance, way | {"ph": "f", "bp": "e"} | place]


class _Lanes:
    """Gives each span of a component a row on which nothing else stands at that time."""

    def __init__(self) -> None:
        self.ends: dict[int, list[int]] = {}
        self.entrances: dict[int, Json] = {}

    def free(self, pid: int, begin: int, end: int) -> int:
        ends = self.ends.setdefault(pid, [])
        lane = next((at for at, busy_until in enumerate(ends) if busy_until <= begin), len(ends))
        ends[lane : lane + 1] = [end]
        return lane + 1
