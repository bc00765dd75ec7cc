"""Runs the study of the whole path, from trigger to tape: see README.md for what it finds."""

import re
from collections.abc import Iterator
from typing import Any

from headrace import scenario
from headrace.study import Claim, Judged, Obtained, Study, verdict, whole

Json = dict[str, Any]

FILE = 4e9
WEEK = 604_800


def obtain(study: Study) -> Iterator[Judged]:
    """Run a week as it is, two weeks with twice the load, and those with two archives."""
    found = week(study) | overload(study)
    for given in study.document["claim"]:
        yield verdict(Claim.read(given, kind="expectation"), Obtained(found[given["id"]]))


def run(study: Study, load: float, weeks: float, changes: Json) -> Json:
    """Run a number of weeks at a multiple of the load; small, an eighth of the time with a pool of an eighth."""
    part = 8 if study.small else 1
    changes = changes | {"workload.trigger.arrivals.poisson": f"{load} /s"}
    changes["run.time"] = f"{int(weeks * WEEK / part)} s"
    changes["run.requests"] = int(2 * load * weeks * WEEK)
    for pool in ("pool", "pool2") if "system.pool2" in changes else ("pool",):
        changes[f"system.{pool}.volume"] = f"{1000 // part} GB"
    return dict(whole(scenario.load(study.folder / "path.yaml").with_(changes).run(theory=False)).data)


def meters(found: Json, kind: str) -> list[Json]:
    """Return the meters of all components of a kind."""
    return [component["meters"] for component in found["components"] if component["kind"] == kind]


def mean(found: Json, meter: str) -> float:
    """Return the mean of a meter over all recorders, in s."""
    each = [of[meter] for of in meters(found, "recorder")]
    return float(sum(each)) / len(each) / 1e3


def week(study: Study) -> Json:
    """Return what a week at the load shows, and draw the parts of the delay."""
    study.tell("a week")
    found = run(study, 1.0, 1.0, {})
    [readout], [archive] = meters(found, "readout"), meters(found, "archive")
    recorded = sum(of["recorded_bytes"] for of in meters(found, "recorder"))
    parts = delay(found, archive)
    study.draw(
        "Mean delay from trigger to tape, part by part",
        "part: 1 readout, 2 building, 3 recorder, 4 half a file, 5 put, 6 to tape",
        "s",
        {"mean delay": [(float(n + 1), part) for n, part in enumerate(parts.values())]},
    )
    return {
        "collect": _rounded(mean(found, "collect_ms")),
        "lost": int(readout["lost_events"]),
        "blocked": _rounded(readout["blocked_share"]),
        "on tape": _rounded(archive["stored_to_tape"] * FILE / recorded),
        "to tape": _rounded(parts["to tape"]),
    }


def delay(found: Json, archive: Json) -> dict[str, float]:
    """Return the mean delay of data from trigger to tape, by part, in s."""
    legs = {
        re.sub(r".*/recorder", "recorder", leg["component"]): leg["waiting_ms"] + leg["service_ms"] + leg["blocked_ms"]
        for leg in found["streams"][0]["path"]
    }
    events = {name: legs.get(name, 0.0) / 1e3 for name in ("readout", "builders", "recorder")}
    half = mean(found, "collect_ms") / 2
    return events | {"half a file": half, "put": mean(found, "write_ms"), "to tape": archive["to_tape_ms"] / 1e3}


def overload(study: Study) -> Json:
    """Return what two weeks with twice the load show, with one archive and with two."""
    study.tell("twice the load")
    found = run(study, 2.0, 2.0, {})
    [readout], [archive] = meters(found, "readout"), meters(found, "archive")
    full = re.search(r"first full after ([0-9.]+) days", " ".join(found["notes"]))
    days = float(full.group(1)) * (8 if study.small else 1) if full else 0.0
    study.tell("two archives")
    both, apart = (run(study, 2.0, 2.0, two_archives(study, libraries)) for libraries in (1, 2))
    return {
        "tape rate": _rounded(archive["stored_to_tape"] * FILE / found["simulated_s"] / 1e6),
        "full": _rounded(days),
        "trigger": readout["blocked_share"] > 0,
        "two processes": meters(both, "readout")[0]["blocked_share"] > 0,
        "two libraries": meters(apart, "readout")[0]["blocked_share"] > 0,
    }


def two_archives(study: Study, libraries: int) -> Json:
    """Return the changes that give every second builder an archive of its own, smaller pools, and maybe a library."""
    document = scenario.load(study.folder / "path.yaml").filled()
    system = document["system"]
    recorder = system["builders"]["recorder"]
    names = [f"recorder{n}" for n in range(10)]
    half = system["pool"] | {"volumes": 5}
    changes: Json = {"system.pool": half, "system.pool2": half}
    library = "library2" if libraries == 2 else "library"
    changes["system.library2"] = system["library"]
    changes["system.archive2"] = system["archive"] | {"pool": "pool2", "library": library}
    changes |= {
        f"system.{name}": recorder | {"to": ["archive2" if n % 2 else "archive"]} for n, name in enumerate(names)
    }
    return changes | {"system.builders.recorder": names}


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
