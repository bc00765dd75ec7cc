"""Holds RAID levels, their failures and their rebuilds against the analytic rules: see README.md for what it finds."""

import json
from collections.abc import Iterator
from statistics import fmean
from typing import Any

from headrace import Scenario
from headrace.study import Claim, Judged, Obtained, Study, verdict, whole

Json = dict[str, Any]

SPINDLE: Json = {"type": "disk", "device": "seagate-st3500630ns", "positioning": "independent"}
# Small and quickly rebuilt; what it does at an address depends on where its arm is.
REBUILT: Json = {"type": "disk", "device": "seagate-st32171w", "positioning": "mechanical"}
REBUILT_BYTES = 2_104_320_000
SMALL = "4 KiB"

# Requests of a run, and with `--small`.
REQUESTS, FEW = 400_000, 40_000


def obtain(study: Study) -> Iterator[Judged]:
    """Judge every rule."""
    for part in (_costs, _saturations, _closed, _mirrors, _survivals, _rebuilds, _declustered, _paths):
        study.tell(part.__name__.strip("_"))
        yield from part(study)


def _array(level: str, disks: int, **more: Any) -> Json:
    return {"type": "array", "level": level, "of": "spindle", "disks": disks, "stripe_unit": "64 KiB"} | more


def _found(system: Json, load: Json, run: Json, part: Json | None = None, faults: list[Json] | None = None) -> Json:
    """Run a system under a load to `volume`, and return the results."""
    scenario = {
        "parts": {"spindle": part or SPINDLE},
        "system": system,
        "workload": {"users": {"to": "volume", "size": SMALL} | load},
        "faults": faults or [],
        "run": {"seed": 1} | run,
    }
    return {**whole(Scenario(json.dumps(scenario)).run(threads=2, theory=False)).data}


def _requests(study: Study) -> Json:
    return {"requests": FEW if study.small else REQUESTS}


def _volume(found: Json) -> Json:
    return next(part for part in found["components"] if part["path"] == "volume")


def _disks(found: Json) -> list[Json]:
    return [part for part in found["components"] if part["kind"] == "disk"]


def _open(rate: float, reads: float) -> Json:
    return {"arrivals": {"poisson": f"{rate} /s"}, "op": {"reads": f"{reads * 100} %"}}


def _costs(study: Study) -> Iterator[Judged]:
    rule = study.document["cost"]
    for case in rule["cases"]:
        failed = list(range(case.get("failed", 0)))
        array = _array(case["level"], case["disks"], failed=failed)
        # What a failed disk costs differs from request to request by several accesses, so its mean takes more of them.
        run = {"requests": _requests(study)["requests"] * (10 if failed else 1)}
        found = _found({"volume": array}, _open(20, case["reads"]), run)
        what = "read" if case["reads"] == 1.0 else "small write"
        name = f"cost: {what} of {case['level']}, {case['disks']} disks" + (", one failed" if failed else "")
        text = "accesses to disks of a request"
        claim = Claim(name, text, case["accesses"], rule["source"], within=rule["within"], kind="theory")
        yield verdict(claim, Obtained(_volume(found)["meters"]["accesses_per_request"]))


def _service(study: Study, op: str) -> float:
    """Return the mean service of one disk alone, in seconds."""
    load = {"arrivals": {"poisson": "20 /s"}, "op": op}
    found = _found({"volume": SPINDLE}, load, _requests(study))
    return float(_volume(found)["service_ms"]) / 1e3


def _saturations(study: Study) -> Iterator[Judged]:
    rule = study.document["saturation"]
    read, write = _service(study, "read"), _service(study, "write")
    for level, (reads, writes) in rule["levels"].items():
        for share in rule["shares"]:
            found = _found({"volume": _array(level, rule["disks"])}, _open(80, share), _requests(study))
            used = fmean(disk["utilisation"] for disk in _disks(found))
            each = share * read + (1 - share) * (reads * read + writes * write)
            name = f"saturation: {level}, {share:.0%} reads"
            text = "requests/s at which the disks are saturated"
            expected = rule["disks"] / each
            claim = Claim(name, text, round(expected, 2), rule["source"], percent=rule["percent"], kind="theory")
            yield verdict(claim, Obtained(round(found["streams"][0]["requests_per_s"] / used, 2)))


def _closed(study: Study) -> Iterator[Judged]:
    rule = study.document["closed"]
    load = {"arrivals": {"closed": {"depth": rule["clients"]}}, "op": "write"}

    def throughput(level: str) -> float:
        found = _found({"volume": _array(level, 8)}, load, _requests(study))
        return float(found["streams"][0]["requests_per_s"])

    most = throughput("raid10")
    for case in rule["cases"]:
        name = f"closed: raid10 over {case['level']}, small writes"
        claim = Claim(
            name, "times the throughput", case["times"], rule["source"], percent=rule["percent"], kind="theory"
        )
        yield verdict(claim, Obtained(round(most / throughput(case["level"]), 4)))


def _mirrors(study: Study) -> Iterator[Judged]:
    rule = study.document["mirrors"]

    def disks(level: str, failed: list[int]) -> Json:
        return _found({"volume": _array(level, 8, failed=failed)}, _open(200, 1.0), _requests(study))

    intact = {level: disks(level, []) for level in rule["second"]}
    means = [found["streams"][0]["response"]["mean_ms"] for found in intact.values()]
    text = "mean response of RAID 01 over that of RAID 10, reads, all disks intact"
    claim = Claim("mirrors: alike", text, 1.0, rule["source"], percent=rule["alike_percent"], kind="theory")
    yield verdict(claim, Obtained(round(means[1] / means[0], 4)))
    for level, busier in (("raid10", [1]), ("raid01", [4, 5, 6, 7])):
        found = _disks(disks(level, [0]))
        before = fmean(disk["utilisation"] for disk in _disks(intact[level]))
        text = f"utilisation of the disks that read for the failed one ({level}), over that before"
        claim = Claim(
            f"mirrors: {level} degraded", text, 2.0, rule["source"], percent=rule["busier_percent"], kind="theory"
        )
        yield verdict(claim, Obtained(round(fmean(found[at]["utilisation"] for at in busier) / before, 4)))
    for level, many in rule["second"].items():
        survived = sum(_failed(level, [0, other]) == 0 for other in range(1, 8))
        text = f"disks of {level} that may fail after the first, of seven"
        yield verdict(Claim(f"mirrors: {level} twice", text, many, rule["source"], kind="theory"), Obtained(survived))


def _failed(level: str, disks: list[int]) -> int:
    """Return how many requests fail when these disks do, one after the other."""
    faults = [{"component": f"volume/spindle[{disk}]", "fails": f"{at + 1} s"} for at, disk in enumerate(disks)]
    load = _open(100, 0.5)
    found = _found({"volume": _array(level, 8)}, load, {"time": "20 s", "requests": 1_000_000}, faults=faults)
    return int(found["streams"][0]["failed"])


def _survivals(study: Study) -> Iterator[Judged]:
    rule = study.document["survival"]
    for level, most in rule["levels"].items():
        sets = [[first + step for step in range(most)] for first in range(8 - most)]
        lost = sum(_failed(level, disks) for disks in sets)
        name = f"survival: {level}, {most} failed"
        yield verdict(Claim(name, "requests that fail", 0, rule["source"], kind="theory"), Obtained(lost))
        some = all(_failed(level, [*disks, (disks[-1] + 1) % 8]) > 0 for disks in sets)
        name, text = f"survival: {level}, {most + 1} failed", "whether requests fail"
        yield verdict(Claim(name, text, True, rule["source"], kind="theory"), Obtained(some))


def _rebuilt(array: Json, rate: str | None, load: str) -> Json:
    """Return a run in which disk 1 fails after two minutes, until long after it has been rebuilt."""
    array = array | {"rebuild": {"rate": rate} if rate else {}}
    faults = [{"component": "volume/spindle[1]", "fails": "120 s"}]
    users = {"arrivals": {"poisson": load}, "op": {"reads": "66.667 %"}}
    run = {"time": "6000 s", "requests": 100_000_000}
    return _found({"volume": array}, users, run, part=REBUILT, faults=faults)


def _phases(found: Json) -> tuple[Json, Json, Json]:
    """Return the streams of the phases before, during and after a rebuild."""
    before, during, after = (phase["streams"][0] for phase in found["phases"])
    return before, during, after


def _rebuilds(study: Study) -> Iterator[Judged]:
    rule = study.document["rebuild"]
    slower = []
    for rate in rule["rates"]:
        found = _rebuilt(_array("raid5", 8, spares=1), rate, rule["load"])
        before, during, after = _phases(found)
        expected = REBUILT_BYTES / (float(rate.split()[0]) * 1e6)
        claim = Claim(
            f"rebuild: time at {rate}", "seconds", round(expected, 1), rule["source"], percent=rule["time_percent"],
            kind="theory",
        )  # fmt: skip
        yield verdict(claim, Obtained(round(_volume(found)["meters"]["rebuild_s"], 1)))
        slower.append(during["mean_ms"] / before["mean_ms"])
        text = "mean response after it over that before"
        claim = Claim(f"rebuild: after {rate}", text, 1.0, rule["source"], percent=rule["back_percent"], kind="theory")
        yield verdict(claim, Obtained(round(after["mean_ms"] / before["mean_ms"], 4)))
    by = ", ".join(f"{times:.2f}" for times in slower)
    text = f"whether the mean response grows with the rate: {by} times that before"
    grows = slower[0] > 1.0 and slower == sorted(slower)
    yield verdict(Claim("rebuild: slow-down", text, True, rule["source"], kind="expectation"), Obtained(grows))


def _declustered(study: Study) -> Iterator[Judged]:
    rule = study.document["declustered"]
    disks, width = rule["disks"], rule["width"]
    spread = _array("raid5", disks, declustered={"width": width, "spares": 1})
    gathered = _array("raid5", width, spares=1)
    idle = _rebuilt(spread, None, "0.01 /s")
    yield from _shares(rule, idle)
    per_disk = 3.0
    loads = {"clustered": (gathered, f"{per_disk * width} /s"), "declustered": (spread, f"{per_disk * disks} /s")}
    slower, times = {}, {}
    for name, (array, load) in loads.items():
        before, during, _ = _phases(_rebuilt(array, rule["rate"], load))
        slower[name] = during["mean_ms"] / before["mean_ms"]
        times[name] = _volume(_rebuilt(array, None, load))["meters"]["rebuild_s"]
    text = "whether the slow-down at one rate is smaller: " + ", ".join(
        f"{name} {by:.3f}" for name, by in slower.items()
    )
    smaller = slower["declustered"] < slower["clustered"]
    yield verdict(Claim("declustered: slow-down", text, True, rule["source"], kind="expectation"), Obtained(smaller))
    text = "time of a rebuild without a limit over that of the clustered array: " + ", ".join(
        f"{name} {seconds:.0f} s" for name, seconds in times.items()
    )
    most = rule["sooner"]
    claim = Claim(
        "declustered: time", text, f"{most} or less", "an expectation of our own", between=(0.0, most),
        kind="expectation",
    )  # fmt: skip
    yield verdict(claim, Obtained(round(times["declustered"] / times["clustered"], 4)))


def _shares(rule: Json, found: Json) -> Iterator[Judged]:
    """Judge how much the others handle of what the failed disk held: all of its rows but those that are free."""
    disks, width = rule["disks"], rule["width"]
    held = REBUILT_BYTES * (disks - 1) / disks
    handled = [disk["bytes_per_s"] * found["simulated_s"] for disk in _disks(found)]
    shares = [done / held for at, done in enumerate(handled) if at != 1]
    expected = round(width / (disks - 1), 4)
    text = "mean share of what a failed disk held that another handles for its rebuild"
    percent, each = rule["share_percent"], rule["each_percent"]
    claim = Claim("declustered: share", text, expected, rule["source"], percent=percent, kind="theory")
    yield verdict(claim, Obtained(round(fmean(shares), 4)))
    furthest = max(shares, key=lambda share: abs(share - expected))
    text = "the same, of the disk that is furthest from it"
    claim = Claim("declustered: evenness", text, expected, rule["source"], percent=each, kind="theory")
    yield verdict(claim, Obtained(round(furthest, 4)))


def _paths(study: Study) -> Iterator[Judged]:
    rule = study.document["paths"]
    link = {"type": "link", "rate": rule["link"]}
    system = {"a": link, "b": link, "volume": _array("raid10", 16, via=["a", "b"])}
    faults = [
        {"component": "a", "fails": "100 s", "returns": "300 s"},
        {"component": "b", "fails": "200 s", "returns": "300 s"},
    ]
    load = {"arrivals": {"closed": {"depth": 128}}, "op": "read", "size": "64 KiB", "align": "64 KiB"}
    found = _found(system, load, {"time": "400 s", "requests": 100_000_000}, faults=faults)
    both, one, none, again = (phase["streams"][0] for phase in found["phases"])
    for name, phase, share in (("one", one, 0.5), ("again", again, 1.0)):
        text = "throughput over that before"
        claim = Claim(f"paths: {name}", text, share, rule["source"], percent=rule["percent"], kind="theory")
        yield verdict(claim, Obtained(round(phase["requests_per_s"] / both["requests_per_s"], 4)))
    lost = [both["failed"], one["failed"], again["failed"]]
    claim = Claim(
        "paths: nothing lost", "requests that fail while a path works", [0, 0, 0], rule["source"], kind="theory"
    )
    yield verdict(claim, Obtained(lost))
    claim = Claim("paths: none", "requests answered while no path works", 0, rule["source"], kind="theory")
    yield verdict(claim, Obtained(none["completed"]))
