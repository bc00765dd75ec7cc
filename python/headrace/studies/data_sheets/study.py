"""Holds the catalogue's modern drives against their data sheets, load by load: see README.md for what it finds."""

import json
from collections.abc import Iterator
from typing import Any

from headrace import Scenario, devices
from headrace.devices import quantities
from headrace.study import Claim, Judged, Obtained, Study, verdict, whole

Json = dict[str, Any]

# Requests of a run, all streams together, and with `--small`: sequential loads repeat themselves after far fewer.
SEQUENTIAL, RANDOM, SMALL = 10_000, 10_000, 4_000
# Minimum number of rounds of all outstanding requests.
ROUNDS = 100

# The share of a drive that a sequential stream goes to.
SHARE = 0.01


def obtain(study: Study) -> Iterator[Judged]:
    """Judge every drive under every load; those without a published figure are shown."""
    document = study.document
    loads = [load for load in document["load"] if load["id"] not in document["for_figures"]]
    for drive in document["drives"]:
        for load in loads:
            yield from _judged(study, drive, load)
    others = dict.fromkeys(
        figure["drive"] for figure in document["figure"] if figure["drive"] not in document["drives"]
    )
    for drive in others:
        for load in document["load"]:
            if any(_is_of(figure, drive, load) for figure in document["figure"]):
                yield from _judged(study, drive, load)
    for drive in document["queueing"]["drives"]:
        yield _queued(study, drive)


def _queued(study: Study, drive: str) -> Judged:
    """Judge what a full queue gains over one command at a time."""
    queueing = study.document["queueing"]
    loads = [load for load in study.document["load"] if load["id"] in queueing["loads"]]
    alone, queued = (sum(_simulated(study, drive, load, [None])) for load in loads)
    claim = Claim.read(queueing, id=f"{drive}: queueing", text="reads/s at depth 32 over those at depth 1")
    return verdict(claim, Obtained(round(queued / alone, 3)))


def _judged(study: Study, drive: str, load: Json) -> Iterator[Judged]:
    study.tell(f"{drive}, {load['id']}")
    unit = "MB/s" if "size" in load else "requests/s"
    rates = _simulated(study, drive, load, _regions(load))
    figures = [figure for figure in study.document["figure"] if _is_of(figure, drive, load)]
    for figure in figures:
        percent = study.document[figure["tolerance"]]
        kind = figure.get("kind", "measured" if figure["tolerance"] == "measured_percent" else "published")
        claim = Claim.read(
            figure, id=f"{drive}: {load['id']}", text=unit, published=figure["value"], percent=percent, kind=kind
        )
        yield verdict(claim, Obtained(round(sum(rates), 2)))
    if not figures:
        claim = Claim(f"{drive}: {load['id']}", unit, None, "not published", verdict="not testable")
        yield verdict(claim, Obtained(round(sum(rates), 2)))
    if load["id"] in study.document["sharing"]["loads"]:
        yield _shared(study, drive, load, sum(rates))


def _is_of(figure: Json, drive: str, load: Json) -> bool:
    return bool(figure["drive"] == drive and load["id"] in figure["loads"])


def _shared(study: Study, drive: str, load: Json, together: float) -> Judged:
    """Judge what streams get together, as a share of the mean of what each gets alone."""
    sharing = study.document["sharing"]
    alone = [rate for place in _regions(load) for rate in _simulated(study, drive, load, [place])]
    name = f"{drive}: {load['id']}"
    claim = Claim.read(sharing, id=name, text="share of one stream's rate", kind="expectation")
    return verdict(claim, Obtained(round(together / (sum(alone) / len(alone)), 3)))


def _regions(load: Json) -> list[float | None]:
    """Where the streams of a load begin, as a share of the drive; `None` for all of it."""
    if "size" not in load:
        return [None]
    if "region" in load:
        return [0.0 if load["region"] == "outer" else 1.0 - SHARE]
    return [number / load["streams"] for number in range(load["streams"])]


def _simulated(study: Study, drive: str, load: Json, places: list[float | None]) -> list[float]:
    """Return what each stream gets, in MB/s where it is sequential, else in requests/s."""
    numbers = devices.numbers(drive)
    capacity = int(quantities.quantity("size", numbers["capacity"]))
    streams = {f"s{number}": _stream(load, place, capacity) for number, place in enumerate(places)}
    kind = {"type": "ssd"} if "flash" in numbers else {"type": "disk", "positioning": "mechanical"}
    disk = kind | {"device": numbers}
    requests = SMALL if study.small else SEQUENTIAL if "size" in load else RANDOM
    # A round of all that are outstanding says little: the queues fill meanwhile.
    requests = max(requests, ROUNDS * load.get("depth", 1))
    run = {"requests": requests, "seed": 1}
    scenario = Scenario(json.dumps({"system": {"disk": disk}, "workload": streams, "run": run}))
    found = whole(scenario.run(theory=False)).streams
    by = "bytes_per_s" if "size" in load else "requests_per_s"
    scale = 1e6 if "size" in load else 1.0
    return [value / scale for value in found[by]]


def _stream(load: Json, place: float | None, capacity: int) -> Json:
    stream: Json = {"to": "disk", "op": load["op"], "size": load.get("size", "4 KiB")}
    stream["arrivals"] = {"closed": {"depth": load.get("depth", 1)}}
    if place is not None:
        # As partitions are today, on whole mebibytes.
        begin, size = (int(capacity * share) >> 20 for share in (place, SHARE))
        region = {"from": f"{begin} MiB", "size": f"{size} MiB"}
        stream |= {"pattern": "sequential", "region": region}
    return stream
