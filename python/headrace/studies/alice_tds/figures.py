"""What the paper shows beside figures 7 to 12: one disk, containers, four servers, several servers, the whole store."""

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from headrace import scenario
from headrace.parallel import each
from headrace.studies.alice_tds import system
from headrace.study import Claim, Judged, Obtained, Study, verdict, whole

Json = dict[str, Any]
Curve = list[tuple[float, float]]

HERE = Path(__file__).parent
GB = 1e9
LOST = "The paper prints no rate."


def judged(study: Study, name: str, obtained: object) -> Judged:
    """Judge a claim of `[[shown]]`."""
    [given] = [given for given in study.document["shown"] if given["id"] == name]
    return verdict(Claim.read(given), Obtained(obtained), given.get("why", ""))


def run(file: str, changes: Json) -> Json:
    """Run a scenario of the study's folder."""
    return {**whole(scenario.load(HERE / file).with_(changes).run(theory=False)).data}


def rates(file: str, changes: Json) -> dict[str, float]:
    """Return what each stream gets in steady state, in MB/s."""
    return {stream["name"]: stream["bytes_per_s"] / 1e6 for stream in run(file, changes)["streams"]}


DISKS = {"Infortrend": "maxtor-7y250p0-2mb", "DotHill": "seagate-st336752fc"}


def single_disk(study: Study) -> Iterator[Judged]:
    """Table I: a single disk of each array, over 15 files of 2 GB."""
    study.tell("Table I")
    cases = {f"{array}, {op}": (device, op) for array, device in DISKS.items() for op in ("write", "read")}
    curves = {name: by_file(*case) for name, case in cases.items()}
    said = "The table prints only how far the authors' model is from measurements: 0.98 % (write), 0.8 % (read)."
    title = "Table I: a single disk, 15 files of 2 GB from outer to inner tracks"
    study.draw(title, "file", "bandwidth, MB/s", curves, said=said)
    reads = curves["DotHill, read"]
    yield judged(study, "Table I, tracks", round(reads[-1][1] / reads[0][1], 4))


def by_file(device: str, op: str) -> Curve:
    """Return the rate of each file of a stream, in MB/s."""
    import polars as pl

    changes = {"system.disk.device.like": device, "workload.write-0.op": op}
    with tempfile.TemporaryDirectory() as folder:
        whole(scenario.load(HERE / "disk.yaml").with_(changes).run(requests=Path(folder) / "requests", theory=False))
        records = pl.read_parquet(Path(folder) / "requests" / "*.parquet")
    files = records.group_by(pl.col("address") // (2 * system.GIB)).agg(
        spent=pl.col("completed_ns").max() - pl.col("issued_ns").min(), bytes=pl.col("bytes").sum()
    )
    return [(float(file) + 1, size / spent * 1e3) for file, spent, size in files.sort("address").iter_rows()]


def containers(study: Study) -> Iterator[Judged]:
    """Section 4.1: an array in two or three virtual containers, one of which is active."""
    study.tell("virtual containers")
    capacity = 4 * 250 * GB
    of = {many: [f"{place * capacity / many:.0f} B" for place in range(many)] for many in (1, 2, 3)}
    curves: dict[str, Curve] = {}
    for many, places in of.items():
        size = f"{(capacity - system.GIB) / many:.0f} B"
        regions = [{"from": place, "size": size} for place in places]
        found = each(partial(_in_container, "read"), regions)
        curves[f"{many} container{'s' if many > 1 else ''}"] = [(at, rate) for at, rate in enumerate(found, 1)]
    title = "Section 4.1: virtual containers of an Infortrend array, one active, reads"
    said = "The first lies on the outer tracks. " + LOST
    study.draw(title, "container", "bandwidth, MB/s", {}, points=curves, said=said)
    whole_array, three = curves["1 container"][0][1], curves["3 containers"]
    yield judged(study, "4.1 containers", round(three[-1][1] / whole_array, 4))
    yield judged(study, "4.1 outer container", round(three[0][1] / whole_array, 4))
    yield judged(study, "4.1 inner container", round(three[-1][1] / whole_array, 4))


def _in_container(op: str, region: Json) -> float:
    """Return what a stream gets within a container, in MB/s."""
    [rate] = rates("infortrend.yaml", {"workload.write-0.op": op, "workload.write-0.region": region}).values()
    return rate


def four_servers(study: Study) -> Iterator[Judged]:
    """Fig. 6: four servers with an array each, on one switch."""
    study.tell("Fig. 6")
    ops = ("write", "read")
    names = [f"write-{n}" for n in range(4)]
    curves: dict[str, Curve] = {}
    for op in ops:
        changes: Json = {f"workload.{name}.op": op for name in names}
        together = rates("four_servers.yaml", changes)
        alone = [rates("four_servers.yaml", {"workload": {name: _stream(op, n)}})[name] for n, name in enumerate(names)]
        curves[f"{op}, together"] = [(n + 1, together[name]) for n, name in enumerate(names)]
        curves[f"{op}, alone"] = list(enumerate(alone, 1))
    title = "Fig. 6: four servers, each with an array of its own"
    said = "Servers 1 and 2 have an Infortrend, 3 and 4 a DotHill. " + LOST
    study.draw(title, "server", "bandwidth, MB/s", {}, points=curves, said=said)
    worst = max(
        abs(both / one - 1) * 100
        for op in ops
        for (_, both), (_, one) in zip(curves[f"{op}, together"], curves[f"{op}, alone"], strict=True)
    )
    yield judged(study, "Fig. 6", round(worst, 4))


def servers(study: Study) -> Iterator[Judged]:
    """Section 5.1: several streams of one server, and several servers, to one array."""
    study.tell("several streams of one server, several servers")
    curves: dict[str, Curve] = {}
    for op in ("write", "read"):
        for name, many in (("one server", 1), ("a server each", 4)):
            points = [system.Point("infortrend", op, streams=n, servers=min(n, many)) for n in range(1, 5)]
            found = [sum(one.values()) for one in each(system.rates, points)]
            curves[f"{op}, {name}"] = list(enumerate(found, 1))
    title = "Section 5.1: several streams to one Infortrend array, all together"
    said = "Each gets its share: a server of four a quarter. " + LOST
    study.draw(title, "streams", "bandwidth, MB/s", curves, said=said)
    worst = max(
        abs(several / one - 1) * 100
        for op in ("write", "read")
        for (_, one), (_, several) in zip(curves[f"{op}, one server"], curves[f"{op}, a server each"], strict=True)
    )
    yield judged(study, "X000-6", round(worst, 4))


def store(study: Study) -> Iterator[Judged]:
    """Introduction: how many arrays take 1.25 GB/s in, and give as much to the tape side at once."""
    counts = study.document["store"]["arrays"][:: 2 if study.small else 1]
    found: dict[str, list[tuple[float, float]]] = {
        f"{way}, {how}": [] for how in ("half of the arrays each", "every array both") for way in ("in", "out")
    }
    for many in counts:
        study.tell(f"the whole store, {many} arrays")
        for how, streams in (("half of the arrays each", _apart(many)), ("every array both", _both(many))):
            got = rates("store.yaml", {"workload": streams, "run.requests": 250 * len(streams)})
            for way, op in (("in", "write"), ("out", "read")):
                total = sum(rate for name, rate in got.items() if name.startswith(op)) / 1e3
                found[f"{way}, {how}"].append((many, total))
    title = "The whole transient data storage: what arrays take in and give out at once"
    needed = {"published": [(many, study.document["store"]["gb_s"]) for many in counts]}
    said = "Published is what is needed, 1.25 GB/s; how many arrays there are is not."
    study.draw(title, "arrays", "bandwidth, GB/s", found, points=needed, said=said)
    both_ways = zip(found["in, half of the arrays each"], found["out, half of the arrays each"], strict=True)
    enough = [many for (many, into), (_, out) in both_ways if min(into, out) >= study.document["store"]["gb_s"]]
    yield judged(study, "store, arrays", float(enough[0]) if enough else float("inf"))
    many, out = found["out, every array both"][-1]
    yield judged(study, "store, both", round(out / study.document["store"]["gb_s"], 4))


def _stream(op: str, n: int) -> Json:
    return {
        "from": f"server-{n}", "to": f"tds-{n}", "op": op, "size": "32 MiB", "file": "2 GiB", "files": 15,
        "arrivals": {"closed": {"depth": 1}},
    }  # fmt: skip


def _apart(many: int) -> Json:
    """Return the streams of a store of which half of the arrays take in and half give out."""
    ops = ["write" if n < many // 2 else "read" for n in range(many)]
    return {f"{op}-{n}": _stream(op, n) for n, op in enumerate(ops)}


def _both(many: int) -> Json:
    """Return the streams of a store in which each array takes in and gives out."""
    return {f"{op}-{n}": _stream(op, n) for n in range(many) for op in ("write", "read")}
