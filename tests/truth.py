"""`make truth`: holds headroom and `solve` to simulation, on random systems.

Headroom: at 0.9 of it (0.7 where it is marked as an estimate) requests are answered as they come, at 1.1 (1.3) a
backlog grows. `solve`: its mean response is within 5 % of a long simulation of other seeds where its assumptions hold;
where they do not, the error that it states is right within 5 %, or within both intervals.
"""

import argparse
import json
import re
from collections import Counter
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import headrace
import systems

Json = dict[str, Any]
Verdict = tuple[str, str]

REQUESTS = 40_000
BACKLOG = 0.045
"""Share of the requests that wait at the end of an overloaded run: half of what 1.1 times the saturating load leaves.

Where only a part of them waits for what is overloaded, that says so itself.
"""
UNFIT = ("timeout", "outstanding", "when_full")
RUN = {"requests": REQUESTS, "limits": {"wall_time": "20 s", "in_flight": 200_000}}


def loaded(number: int) -> Json | None:
    """Return the document of a number with open streams that lose nothing, or none where its streams are not open."""
    document = systems.Systems(number).document()
    streams = list(document["workload"].values())
    is_open = all(isinstance(stream, dict) and systems.is_open(stream["arrivals"]) for stream in streams)
    if not is_open or any(stream.get("pattern") == "sequential" and "file" in stream for stream in streams):
        return None
    for stream in streams:
        for field in UNFIT:
            stream.pop(field, None)
    for field in ("faults", "objectives"):
        document.pop(field, None)
    for component in document["system"].values():
        component.pop("failed", None)
    document["run"] = RUN | {"seed": number}
    return document


def times(value: Any, factor: float) -> Any:
    """Return arrivals that are this many times as fast: rates by the factor, times between requests by its inverse."""
    if isinstance(value, dict):
        return {key: times(inner, factor) for key, inner in value.items()}
    if isinstance(value, list):
        return [times(inner, factor) for inner in value]
    if isinstance(value, str) and (found := re.fullmatch(r"(\S+) (/s|ms)", value)):
        number, unit = float(found[1]), found[2]
        return f"{number * factor if unit == '/s' else number / factor!r} {unit}"
    return value


def at_load(document: Json, factor: float, seed: int) -> headrace.Scenario:
    """Return the scenario with all of its load multiplied."""
    workload = {
        name: stream | {"arrivals": times(stream["arrivals"], factor)} for name, stream in document["workload"].items()
    }
    changed = document | {"workload": workload, "run": document["run"] | {"seed": seed}}
    return headrace.Scenario(json.dumps(changed), str(FOLDER / "truth.yaml"))


def backlog(scenario: headrace.Scenario) -> float | None:
    """Return the share of requests that wait at the end: all where overload is foreseen, none if a run is cut."""
    try:
        data = scenario.run(threads=1, theory=False).data
    except headrace.ScenarioError as error:
        if headrace.errors.is_overload(error):
            return 1.0
        raise
    if data["ended"] == "too_many_in_flight" or (data["bottleneck"] and data["bottleneck"]["saturated"]):
        return 1.0
    issued = sum(stream["issued"] for stream in data["streams"])
    return sum(stream["in_flight"] for stream in data["streams"]) / issued if data["complete"] else None


def headroom(number: int) -> Verdict | None:
    """Return the kind of headroom and whether it is right, or none where a system has none to judge."""
    document = loaded(number)
    if document is None:
        return None
    try:
        found = at_load(document, 1.0, number).run(threads=1, theory=False).data
    except headrace.ScenarioError:
        return None
    bottleneck = found["bottleneck"]
    if not found["complete"] or not bottleneck or not bottleneck["saturates_at"]:
        return None
    at, marked = bottleneck["saturates_at"], bottleneck["estimate"] or bottleneck["uneven"] is not None
    if not 1.02 < at < 50:
        return None
    slack = 0.3 if marked else 0.1
    below, above = (backlog(at_load(document, at * factor, number + 1)) for factor in (1 - slack, 1 + slack))
    if below is None or above is None:
        return None
    verdict = "right" if below < BACKLOG < above else "too high" if below >= BACKLOG else "too low"
    return ("estimate" if marked else "unmarked"), f"{verdict}"


def plain(number: int) -> Json | None:
    """Return the document of a number without caches, with streams that formulas are known for, if there is one."""
    document = systems.Systems(number).document()
    if "fio" in document["workload"]:
        return None
    for stream in document["workload"].values():
        for field in (*UNFIT, "pattern", "footprint", "region", "file", "files"):
            stream.pop(field, None)
        if not {"poisson", "renewal", "batches", "closed"} & set(stream["arrivals"]):
            stream["arrivals"] = {"poisson": f"{systems.Systems(number).number(1, 300)} /s"}
    for component in (*document["system"].values(), *document.get("parts", {}).values()):
        for field in ("cache", "failed"):
            component.pop(field, None)
    return {key: document[key] for key in ("system", "parts", "workload") if key in document} | {"run": RUN}


def solved(number: int) -> Verdict | None:
    """Return whether the assumptions of `solve` hold and whether it is right, or none where it has no answer."""
    document = plain(number)
    if document is None:
        return None
    scenario = at_load(document, 1.0, number)
    try:
        solution: Any = scenario.solve().data
        other = at_load(document, 1.0, number + 1).with_({"run.replications": 4})
        found: Any = other.run(threads=1, theory=False).data
    except headrace.ScenarioError:
        return None
    own = next((point["response_ms"] for point in solution["points"] if point["own"]), None)
    intervals = [stream["response"]["half_width_ms"] or 0.0 for stream in found["streams"]]
    if own is None or not found["complete"]:
        return None
    rates = [stream["requests_per_s"] for stream in found["streams"]]
    weighed = zip(rates, found["streams"], strict=True)
    truth = sum(rate * stream["response"]["mean_ms"] for rate, stream in weighed) / sum(rates)
    half = sum(rate * half for rate, half in zip(rates, intervals, strict=True)) / sum(rates)
    error = own / truth - 1
    if not solution["fails"]:
        return "assumptions hold", "right" if abs(error) < max(0.05, half / truth) else f"off by {error:+.1%}"
    stated = solution["measured"]
    if stated is None:
        return "error not stated", "right"
    both = (stated["half_width_ms"] + half) / truth
    off = abs(stated["error"] - error)
    return "error stated", "right" if off < max(0.05, both) else f"stated {stated['error']:+.1%}, is {error:+.1%}"


MODES = {"headroom": headroom, "solve": solved}
FOLDER = Path("target/truth")


def main() -> None:
    """Judge systems until `count` of them have an answer, and print how many are right."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("mode", choices=MODES)
    options.add_argument("--seed", type=int, default=0, help="number of the first document")
    options.add_argument("--count", type=int, default=200, help="number of answers")
    asked = options.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    systems.write_files(FOLDER)
    counts: Counter[tuple[str, bool]] = Counter()
    with Pool(2) as pool:
        judged = pool.imap(MODES[asked.mode], range(asked.seed, asked.seed + 100 * asked.count))
        for number, verdict in enumerate(judged, asked.seed):
            if verdict is None:
                continue
            kind, said = verdict
            counts[kind, said == "right"] += 1
            if said != "right":
                print(f"{number}: {kind}: {said}", flush=True)
            if sum(counts.values()) == asked.count:
                break
        pool.terminate()
    for kind in sorted({kind for kind, _ in counts}):
        print(f"{kind}: {counts[kind, True]} of {counts[kind, True] + counts[kind, False]} right")


if __name__ == "__main__":
    main()
