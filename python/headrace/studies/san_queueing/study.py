"""Runs the study of a storage area network as a network of queues: see README.md for what it finds."""

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

from headrace import Scenario
from headrace.result_types import SolutionData, SolvedPoint
from headrace.studies.san_queueing import figures
from headrace.study import Claim, Judged, Obtained, Run, Study, verdict

Json = dict[str, Any]
Changes = dict[str, object]

MIB = 1 << 20
FC = "FC"

# What the slides call the parts of the network: the loop and the link both count as Fibre Channel.
CALLED = {"tds/drive": "drive", "dacc": "controller", "loop": FC, "fabric/tds in": FC, "fabric/host out": FC}


def obtain(study: Study) -> Iterator[Judged]:
    """Run every case and judge its claims."""
    yield from big_sequential(study)
    figures.big_sequential(study)
    big, small = study.document["random"]
    yield from random_reads(study, big)
    figures.random(study, "Big random I/O (1 MB)", figures.BIG, "MB/s", big)
    yield from hda_share(study)
    yield from sequential_reads(study)
    figures.small_sequential(study)
    yield from random_reads(study, small)
    figures.random(study, "Small random I/O (4 KB)", figures.SMALL, "IOPS", small)
    yield from crossover(study)
    figures.over_size(study)
    yield from figures.lesson_1(study)
    yield from figures.lesson_2(study)
    yield from figures.lesson_3(study, sustained(study, study.document["waits"]["size_kib"]))
    yield from policies(study)
    yield from mixed(study)
    yield from fabrics(study)


def claim(study: Study, which: Json, text: str, published: float | str, **more: Any) -> Claim:
    """Return a claim of a number, within the percentage that is written with the claims."""
    more = {"percent": study.document["rules"]["percent"]} | more
    source = f"{study.document['paper']}: {which['source']}"
    return Claim(which["id"] + more.pop("part", ""), text, published, source, **more)


def outstanding(study: Study, disks: int) -> Changes:
    """Return the changes for a number of disks under random load."""
    depth = study.document["rules"]["outstanding"] * disks
    return {"system.tds.disks": disks, "workload.users.arrivals.closed.depth": depth}


def throughput(run: Run, unit: str) -> Obtained:
    """Return what is answered a second; of a closed load its interval is that of the response."""
    rate, response = run.found["streams"][0]["requests_per_s"], run.mean()
    scale = run.found["streams"][0]["bytes_per_s"] / rate / MIB if unit == "MB/s" else 1.0
    return Obtained(rate * scale, rate * scale * response.half_width / response.value)


def solved(study: Study, file: str, changes: Changes) -> SolutionData:
    """Return what formulas say of a scenario."""
    scenario = Scenario(
        (study.folder / file).read_text(encoding="utf-8"), file=str(study.folder / file), changes=changes
    )
    return scenario.solve().data


def own(found: SolutionData) -> SolvedPoint:
    """Return the answer at the load that the scenario has."""
    return next(point for point in found["points"] if point["own"])


def busiest(run: Run) -> tuple[str, float]:
    """Return the busiest part of the network, as the slides call it, and its utilisation."""
    parts = [part for part in run.found["components"] if part["group"] in CALLED and part["utilisation"] is not None]
    most: Json = max(parts, key=lambda part: float(part["utilisation"]))
    return CALLED[most["group"]], most["utilisation"]


def bottleneck(study: Study, name: str, run: Run) -> Judged:
    """Judge which part is the bottleneck."""
    [which] = [given for given in study.document["bottleneck"] if given["id"] == name]
    found, busy = busiest(run)
    if busy < study.document["rules"]["busy"]:
        found = f"none: {found} is {busy:.0%} busy"
    source = f"{study.document['paper']}: {which['source']}"
    return verdict(Claim(name, which["text"], which["published"], source), Obtained(found))


def random_reads(study: Study, which: Json) -> Iterator[Judged]:
    """T002-1 or T002-2, simulated and solved."""
    found: dict[str, list[tuple[float, float]]] = {"simulated": [], "solved": []}
    for disks, published, role in zip(which["disks"], which["published"], which["role"], strict=True):
        study.tell(f"random {which['size']}, {disks} disks")
        changes = outstanding(study, disks) | {"workload.users.size": which["size"]}
        run = study.simulate("random.yaml", changes, requests=40_000, replications=4, small=4_000)
        text = f"{which['unit']} of random {which['size']} reads, {disks} disks"
        known = {"calibrated": role == "calibrated"}
        wanted = claim(study, which, text, published, part=f"-{disks}", **known)
        yield from study.decide([(wanted, partial(throughput, unit=which["unit"]))], run)
        found["simulated"].append((disks, throughput(run, which["unit"]).value))
        rate = own(solved(study, "random.yaml", changes))["throughput_per_s"]
        assert rate is not None, "clients wait for answers, so they cannot overload"
        found["solved"].append((disks, rate))
        wanted = claim(study, which, f"{text}, solved", published, part=f"-{disks}-solved", **known)
        yield verdict(wanted, Obtained(rate))
        if disks == which["disks"][0]:
            yield bottleneck(study, f"{which['id']}-drive", run)
    big = which["unit"] == "MB/s"
    title = "Big random I/O (1 MB)" if big else "Small random I/O (4 KB)"
    figures.limits(study, title, which["unit"], found, which, front=big)


def sequential(study: Study, size: str, users: int, requests: int, **more: object) -> Run:
    """Run users that read one after another, each with one request outstanding."""
    changes: Changes = {"workload.users.size": size, "workload.users.arrivals.closed.depth": users}
    return study.simulate(
        "sequential.yaml", changes | more, requests=requests, replications=2, small=min(requests, 20_000)
    )


def sequential_reads(study: Study) -> Iterator[Judged]:
    """T002-3, simulated, and solved where the cache answers everything."""
    which = study.document["sequential"]
    for users, published, role in zip(which["users"], which["published"], which["role"], strict=True):
        study.tell(f"sequential 4 KiB, {users} users")
        run = sequential(study, "4 KiB", users, 100_000)
        text = f"IOPS of sequential 4 KiB reads, {users} user{'s' if users > 1 else ''}"
        known = {"calibrated": role == "calibrated"}
        wanted = claim(study, which, text, published, part=f"-{users}", **known)
        yield from study.decide([(wanted, lambda run: throughput(run, "IOPS"))], run)
        found = solved(study, "hits.yaml", {"workload.users.arrivals.closed.depth": users})
        wanted = claim(study, which, f"{text}, solved", published, part=f"-{users}-solved", **known)
        yield verdict(wanted, Obtained(own(found)["throughput_per_s"]))
    yield bottleneck(study, "T002-3-controller", run)


def big_sequential(study: Study) -> Iterator[Judged]:
    """T002-4: sequential 1 MB reads."""
    study.tell("sequential 1 MiB")
    run = sequential(study, "1 MiB", 4, 4_000)
    yield bottleneck(study, "T002-4", run)


def crossover(study: Study) -> Iterator[Judged]:
    """T002-5: which of controller and FC is the busier, by size; and where they are equally busy.

    The slides measured this with a virtual disk that has no mechanics, so it is judged where the cache has everything.
    """
    which = study.document["crossover"]
    source = f"{study.document['paper']}: {which['source']}"
    for kind, sizes in (("controller", which["controller_kib"]), (FC, which["fc_kib"])):
        for kib in sizes:
            study.tell(f"sequential {kib} KiB from memory")
            changes: Changes = {"workload.users.size": f"{kib} KiB", "workload.users.arrivals.closed.depth": 4}
            run = study.simulate("hits.yaml", changes, requests=20_000, replications=2, small=20_000)
            text = f"the busier of controller and FC, sequential {kib} KiB reads"
            yield verdict(Claim(f"T002-5-{kib}", text, kind, source), Obtained(busiest(run)[0]))
    low, high = 4 * 1024, 128 * 1024
    while high - low > 64:
        size = (low + high) // 2 // 64 * 64
        busier = CALLED[solved(study, "hits.yaml", {"workload.users.size": f"{size} B"})["stations"][0]["component"]]
        low, high = (size, high) if busier == "controller" else (low, size)
    text = "size of sequential reads that keeps controller and FC equally busy, KiB, solved"
    between = tuple(which["between_kib"])
    wanted = Claim("T002-5-size", text, "16 to 32", source, between=(between[0], between[1]))
    yield verdict(wanted, Obtained(high / 1024))


def hda_share(study: Study) -> Iterator[Judged]:
    """T002-1-hda: the disks' share of the response of random 1 MB reads under an open load."""
    which, curve = study.document["hda"], []
    for load in which["loads_mb_s"]:
        study.tell(f"random 1 MiB at {load} MB/s")
        changes: Changes = {"workload.users.arrivals": {"poisson": f"{load} /s"}, "workload.users.size": "1 MiB"}
        run = study.simulate("random.yaml", changes, requests=20_000, replications=4, small=5_000)
        drives = [part for part in run.found["components"] if part["group"] == "tds/drive"]
        visits = sum(part["visits"] for part in drives)
        at_disk = sum((part["waiting_ms"] + part["service_ms"]) * part["visits"] for part in drives) / visits
        share = at_disk / run.mean().value
        curve.append((load, share))
        text = f"share of the disks in the response of random 1 MiB reads at {load} MB/s, open load"
        wanted = claim(study, which, text, "40 to 60 %", part=f"-{load}", percent=None, between=tuple(which["between"]))
        yield verdict(wanted, Obtained(share, share * run.mean().half_width / run.mean().value))
    title = "Big random I/O (1 MB), 5 drives: the drives' share of the response"
    study.draw(title, "MB/s", "share", {"share": curve}, said="The slide says 40 to 60 %, without the load.")


@cache
def sustained(study: Study, kib: int) -> float:
    """Return the reads/s of a size in KiB that the loop sustains, by its tenancies."""
    changes: Changes = {"workload.users.size": f"{kib} KiB", "workload.users.arrivals": {"poisson": "1 /s"}}
    found = solved(study, "loop.yaml", changes)
    [loop] = [station for station in found["stations"] if station["component"] == "loop"]
    return float(loop["saturates_at_per_s"])


def on_loop(study: Study, policy: str, kib: int, load: float, op: object = "read") -> Run:
    """Run open reads over the loop at a share of what it sustains."""
    changes: Changes = {
        "system.loop.policy": policy,
        "workload.users.size": f"{kib} KiB",
        "workload.users.op": op,
        "workload.users.arrivals": {"poisson": f"{load * sustained(study, kib)} /s"},
    }
    return study.simulate("loop.yaml", changes, requests=60_000, replications=4, small=15_000)


def policies(study: Study) -> Iterator[Judged]:
    """T-D1: commands first against fairness; and the three that favour commands for reads alone."""
    which, curves = study.document["loop"], {}
    for kib in which["sizes_kib"]:
        gains = []
        for load in which["between"]:
            study.tell(f"loop, {kib} KiB at {load}")
            fair, first = (on_loop(study, policy, kib, load).mean() for policy in ("fairness", "commands_first"))
            gains.append((load, fair.value / first.value))
        curves[f"{kib} KiB"] = gains
        crosses = gains[0][1] < which["gain"] <= gains[1][1]
        text = f"commands first over fairness crosses {which['gain']} × between the loads, {kib} KiB reads"
        told = " to ".join(f"{gain:.2f} × at {load}" for load, gain in gains)
        obtained = "crosses" if crosses else told
        source = f"{study.document['paper']}; {which['source']}"
        yield verdict(Claim(f"{which['id']}-{kib}", text, "crosses", source), Obtained(obtained))
    title = "SANSim (2003): response under fairness over that under commands first"
    study.draw(title, "load, as share of what the loop sustains", "ratio of mean responses", curves)
    study.tell("loop, three policies")
    means = {
        policy: on_loop(study, policy, 128, 0.8).mean().value
        for policy in ("read_command_first", "fl_port_first", "commands_first")
    }
    text = "policies that favour the controller differ for reads alone"
    wanted = Claim("Q002-3-reads", text, False, f"{study.document['paper']}: Lesson #3", kind="expectation")
    yield verdict(wanted, Obtained(len(set(means.values())) > 1))


def mixed(study: Study) -> Iterator[Judged]:
    """Q002-3: two thirds reads under the four policies."""
    which, means = study.document["mixed"], {}
    for policy in ("fairness", "fl_port_first", "read_command_first", "commands_first"):
        study.tell(f"loop, two thirds reads, {policy}")
        run = on_loop(study, policy, which["size_kib"], which["load"], {"reads": "66.667 %"})
        stream = run.found["streams"][0]
        means[policy] = (stream["reads"]["mean_ms"], stream["writes"]["mean_ms"])
    for op, text in enumerate(("reads are answered sooner", "writes are answered later")):
        first = {policy: mean[op] for policy, mean in means.items()}
        favoured = [first["commands_first"], first["read_command_first"]]
        sooner = max(favoured) < first["fairness"] if op == 0 else min(favoured) > first["fairness"]
        source = f"{study.document['paper']}: {which['source']}"
        wanted = Claim(f"{which['id']}-{op}", f"with commands first {text}", True, source, kind="expectation")
        told = ", ".join(f"{policy} {mean:.1f} ms" for policy, mean in first.items())
        yield verdict(wanted, Obtained(sooner), why=told)


def fabrics(study: Study) -> Iterator[Judged]:
    """FC, iSCSI and InfiniBand between server and array."""
    for which in study.document["fabric"]:
        study.tell(which["name"])
        changes: Changes = {"system.fabric.preset": which["preset"]}
        if "frame" in which:
            changes["system.fabric.frame"] = which["frame"]
        source = "computed by hand from frames and rates"
        percent = study.document["rules"]["percent"]
        name = f"fabric-{which['preset']}{'-jumbo' if 'frame' in which else ''}"
        found = solved(study, "hits.yaml", changes | {"workload.users.size": "1 MiB"})
        [port] = [station for station in found["stations"] if station["component"] == "fabric/host out"]
        text = f"MB/s (10⁶ B) that the link alone allows, 1 MiB reads over {which['name']}"
        wanted = Claim(f"{name}-link", text, which["link_mb_s"], source, percent=percent, kind="arithmetic")
        yield verdict(wanted, Obtained(port["saturates_at_per_s"] * MIB / 1e6))
