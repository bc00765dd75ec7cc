"""The figures of the slides, in their order: the scenarios that give them, and what is expected of them."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from headrace.parallel import each
from headrace.study import Claim, Judged, Obtained, Run, Study, verdict

Json = dict[str, Any]
Changes = dict[str, object]
Curve = list[tuple[float, float]]

MIB = 1 << 20

# Parts of the network, by their groups in results.
PARTS = {"drives": "tds/drive", "controller": "dacc", "loop": "loop", "link": "fabric/host out"}

LOST = "The curves of the slide are lost."


def asked(study: Study, file: str, changes: Iterable[Changes], *, requests: int = 20_000) -> list[Run]:
    """Run a scenario with each set of changes."""
    small = requests // 10

    def go(change: Changes) -> Run:
        return study.simulate(file, change, requests=requests, replications=2, small=small)

    return list(each(go, changes))


def loaded(study: Study, file: str, changes: Changes, rates: Iterable[float], *, requests: int = 20_000) -> list[Run]:
    """Run a scenario under open loads, in requests/s."""
    loads: Iterable[Changes] = [changes | {"workload.users.arrivals": {"poisson": f"{rate} /s"}} for rate in rates]
    return asked(study, file, loads, requests=requests)


def rate(run: Run, unit: str) -> float:
    """Return what is answered a second: `MB/s` of 2^20 bytes as in the slides, or `IOPS`."""
    stream = run.found["streams"][0]
    return float(stream["bytes_per_s"] / MIB if unit == "MB/s" else stream["requests_per_s"])


def responses(runs: Iterable[Run], unit: str) -> Curve:
    """Return mean response in ms over throughput."""
    return [(rate(run, unit), run.mean().value) for run in runs]


def busiest(run: Run, part: str) -> float:
    """Return the utilisation of the busiest component of a part of the network."""
    return max(float(one["utilisation"]) for one in run.found["components"] if one["group"] == PARTS[part])


def draw_response(study: Study, title: str, unit: str, of: Mapping[str, list[Run]], said: str = LOST) -> None:
    """Draw mean response over throughput."""
    curves = {name: responses(runs, unit) for name, runs in of.items()}
    study.draw(f"{title}: response over throughput", unit, "mean response, ms", curves, said=said)


def draw_utilisation(study: Study, title: str, unit: str, runs: list[Run], published: float | None = None) -> None:
    """Draw the utilisation of each part over throughput; of some curves the slides print where they end."""
    curves = {part: [(rate(run, unit), busiest(run, part)) for run in runs] for part in PARTS}
    said = LOST if published is None else f"{LOST} The slide prints {published:g} {unit}."
    study.draw(f"{title}: utilisation over throughput", unit, "utilisation", curves, said=said)


def big_sequential(study: Study) -> None:
    """Draw slide 7: sequential reads of 1 MB from 5 and 15 drives."""
    study.tell("curves of sequential 1 MiB")
    loads = study.document["figures"]["sequential_mb_s"]
    drives = {
        f"{disks} drives": loaded(study, "sequential.yaml", BIG | {"system.tds.disks": disks}, loads, requests=3_000)
        for disks in (5, 15)
    }
    draw_response(study, "Big sequential I/O (1 MB)", "MB/s", drives)
    draw_utilisation(study, "Big sequential I/O (1 MB), 5 drives", "MB/s", drives["5 drives"])


BIG: Changes = {"workload.users.size": "1 MiB"}
SMALL: Changes = {"workload.users.size": "4 KiB"}


def random(study: Study, title: str, size: Changes, unit: str, which: Json) -> None:
    """Draw slides 8 and 10: random reads, under open loads up to shares of what the slides print."""
    study.tell(f"curves of {title}")
    shares = study.document["figures"]["shares"]
    published = dict(zip(which["disks"], which["published"], strict=True))
    drives = {
        f"{disks} drives": loaded(
            study, "random.yaml", size | {"system.tds.disks": disks}, [share * full for share in shares]
        )
        for disks, full in published.items()
    }
    draw_response(study, title, unit, drives)
    draw_utilisation(study, f"{title}, 5 drives", unit, drives["5 drives"], published[5])


def limits(study: Study, title: str, unit: str, found: Mapping[str, Curve], which: Json, *, front: bool) -> None:
    """Draw what the network can at most over the number of drives, beside what the slides print."""
    points = {"published": list(zip(which["disks"], which["published"], strict=True))}
    said = "Points: all numbers that the slide prints."
    study.draw(
        f"{title}: limit over drives", "drives", f"throughput, {unit}", found, points=points, said=said, front=front
    )


def small_sequential(study: Study) -> None:
    """Draw slide 9: sequential reads of 4 KB, by one and two users who think between reads, and as an open load."""
    study.tell("curves of sequential 4 KiB")
    figures, users = study.document["figures"], study.document["sequential"]
    closed = {
        name: asked(
            study,
            "sequential.yaml",
            [
                SMALL | {"workload.users.arrivals.closed": {"depth": depth, "think": think}}
                for think in figures["think"]
            ],
        )
        for name, depth in (("one user", 1), ("two users", 2))
    }
    opened = loaded(study, "sequential.yaml", SMALL, figures["sequential_iops"])
    said = f"{LOST} One user who waits for each answer queues nowhere: a curve that rises implies an open load."
    draw_response(study, "Small sequential I/O (4 KB)", "IOPS", closed | {"open load": opened}, said)
    for (name, runs), published in zip(closed.items(), users["published"], strict=True):
        draw_utilisation(study, f"Small sequential I/O (4 KB), {name}", "IOPS", runs, published)


def over_size(study: Study) -> None:
    """Draw the slide that compares with measurements: throughput of sequential reads over the size of a request."""
    study.tell("throughput over size")
    sizes = study.document["figures"]["sizes_kib"]
    four: Changes = {"workload.users.arrivals.closed.depth": 4}
    curves = {}
    for name, file in (("virtual disk", "hits.yaml"), ("5 drives", "sequential.yaml")):
        runs = asked(study, file, [four | {"workload.users.size": f"{kib} KiB"} for kib in sizes], requests=3_000)
        curves[name] = [(kib * 1024.0, rate(run, "MB/s")) for kib, run in zip(sizes, runs, strict=True)]
    said = "Sequential reads of four users. The slide measured a virtual disk: memory behind the link. " + LOST
    title = "Empirical model comparison: throughput over I/O size"
    study.draw(title, "size of a request, B", "throughput, MB/s", curves, said=said, log=2)


# What of a single disk is switched off to see the rest of it.
SINGLE: dict[str, Changes] = {
    "disk unit": {},
    "DCC (cache)": {"workload.users.region": {"from": "0 B", "size": "256 KiB"}},
    "HDA (mechanism)": {"system.disk.device.interface.read_rate": "100 GB/s", "system.disk.device.overhead": "0 s"},
}


def lesson_1(study: Study) -> Iterator[Judged]:
    """Draw and judge a single disk: what its parts carry over the size of a request, and its response at 200 IOPS."""
    study.tell("lesson 1")
    which = study.document["single"]
    sizes = which["sizes_kib"]
    curves: dict[str, Curve] = {}
    for name, changes in SINGLE.items():
        runs = asked(study, "disk.yaml", [changes | {"workload.users.size": f"{kib} KiB"} for kib in sizes])
        curves[name] = [(kib * 1024.0, rate(run, "MB/s")) for kib, run in zip(sizes, runs, strict=True)]
    title = "Lesson 1: bandwidth of a single disk and its parts over I/O size"
    said = "Sequential reads, one outstanding. " + LOST
    study.draw(title, "size of a request, B", "bandwidth, MB/s", curves, said=said, log=2)
    within = [kib for kib in sizes if kib <= which["largest_at_200_kib"]]
    at_200: Changes = {"workload.users.arrivals": {"poisson": "200 /s"}}
    runs = asked(study, "disk.yaml", [at_200 | {"workload.users.size": f"{kib} KiB"} for kib in within])
    curve = [(kib * 1024.0, run.mean().value) for kib, run in zip(within, runs, strict=True)]
    title = "Lesson 1: response of a single disk over I/O size at 200 IOPS"
    said = "Sequential reads: at random a disk of the slides answers 84 a second. " + LOST
    study.draw(title, "size of a request, B", "mean response, ms", {"disk unit": curve}, said=said, log=2)
    cache, mechanism = curves["DCC (cache)"], curves["HDA (mechanism)"]
    slower = [low for (size, low), (_, high) in zip(cache, mechanism, strict=True) if low < high and size]
    claim = Claim.read(which, source=f"{study.document['paper']}: {which['source']}", kind="expectation")
    yield verdict(claim, Obtained(float(sizes[len(slower)]) if slower else 0.0))


def lesson_2(study: Study) -> Iterator[Judged]:
    """Draw and judge fork and join: ratios of a split request to one on a single disk, over disks and utilisation."""
    study.tell("lesson 2")
    which = study.document["forked"]
    disks, service_s = which["disks"], which["service_ms"] / 1e3
    idle = _forked(study, disks, 0.01 / service_s)
    loads = {busy: _forked(study, disks, busy / service_s) for busy in which["utilisations"]}
    access = [(many, time / idle[0]) for many, time in zip(disks, idle, strict=True)]
    half = [time - alone for time, alone in zip(loads[0.5], idle, strict=True)]
    waits = [(many, wait / half[0]) for many, wait in zip(disks, half, strict=True)]
    curves = {"access time, idle": access, "wait, disks half busy": waits}
    title = "Lesson 2: access and wait of a fork-join over disks"
    said = "As ratios to one disk: the last part's access where nothing waits, and what waits add. " + LOST
    study.draw(title, "disks", "ratio to one disk", curves, said=said)
    ratios = {
        f"{busy:.0%} busy": [(many, time / of[0]) for many, time in zip(disks, of, strict=True)]
        for busy, of in loads.items()
    }
    title = "Lesson 2: response ratio over disks and utilisation"
    study.draw(title, "disks", "response, ratio to one disk", ratios, said=LOST)
    grows = all(before < after for curve in ratios.values() for (_, before), (_, after) in pairwise(curve))
    claim = Claim.read(which, source=f"{study.document['paper']}: {which['source']}", kind="expectation")
    yield verdict(claim, Obtained(grows))


def _forked(study: Study, disks: list[int], load: float) -> list[float]:
    """Return the mean responses in ms of requests with one part on each of a number of disks."""
    sizes = [f"{4 * many} KiB" for many in disks]
    changes: list[Changes] = [
        {"system.disks.disks": many, "workload.users.size": size, "workload.users.align": size}
        for many, size in zip(disks, sizes, strict=True)
    ]
    runs = asked(study, "fork_join.yaml", [change | _poisson(load) for change in changes], requests=10_000)
    return [run.mean().value for run in runs]


def _poisson(load: float) -> Changes:
    return {"workload.users.arrivals": {"poisson": f"{load} /s"}}


def lesson_3(study: Study, sustains: float) -> Iterator[Judged]:
    """Draw and judge waits of data and of commands for the loop over its utilisation, under the four policies."""
    which = study.document["waits"]
    waits: dict[str, dict[str, Curve]] = {"data": {}, "command": {}}
    for policy in ("fairness", "read_command_first", "fl_port_first", "commands_first"):
        study.tell(f"lesson 3, {policy}")
        changes: Changes = {
            "system.loop.policy": policy,
            "workload.users.size": f"{which['size_kib']} KiB",
            "workload.users.op": {"reads": "66.667 %"},
        }
        runs = loaded(study, "loop.yaml", changes, [share * sustains for share in which["loads"]])
        loops = [run.component("loop") for run in runs]
        for kind, curves in waits.items():
            curves[policy] = [(loop["utilisation"], loop["meters"][f"{kind}_wait_ms"]) for loop in loops]
    for kind, curves in waits.items():
        title = f"Lesson 3: FC-AL algorithms, mean wait of {kind if kind == 'data' else 'commands'}"
        said = f"Two thirds reads of {which['size_kib']} KiB. " + LOST
        study.draw(title, "utilisation of the loop", "mean wait for the loop, ms", curves, said=said)
    last = {policy: curve[-1][1] for policy, curve in waits["command"].items()}
    claim = Claim.read(which, source=f"{study.document['paper']}: {which['source']}", kind="expectation")
    why = ", ".join(f"{policy} {wait:.1f} ms" for policy, wait in last.items())
    yield verdict(claim, Obtained(round(last["commands_first"] / last["fairness"], 4)), why=why)
