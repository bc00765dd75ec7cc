"""ECMWF's tape library on its own log: see README.md for what it finds."""

import copy
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace import Scenario
from headrace.study import Claim, Judged, Obtained, Study, verdict, whole

if TYPE_CHECKING:
    import polars as pl

Json = dict[str, Any]

HERE = Path(__file__).parent
FOLDER = "tape-ecmwf"
LOG = "io_events_sample_250k.csv.bz2"
LEVELS = "crtmapping.json"
ABSENT = f"there is no log: set HEADRACE_DATA to the folder that holds `{FOLDER}/{LOG}`"
OWN = "expectation of this study"
SECONDS_PER_DAY = 86400.0

# No hold time that a log of 17 days reaches: a cartridge leaves only where its drive is needed.
ALWAYS = "10000 h"


@dataclass(frozen=True)
class Found:
    """What a replay gave."""

    mounts: int
    latency_s: float
    """From a request until its cartridge is ready, summed over requests."""
    requests: int
    simulated_s: float

    @property
    def wait_s(self) -> float:
        """Mean latency of a request."""
        return self.latency_s / self.requests


class Library:
    """The library and its log, replayed as often as wanted."""

    def __init__(self, sessions: "pl.DataFrame", folder: Path, scenario: str) -> None:
        import yaml

        self.sessions, self.folder = sessions, folder
        self.document: Json = yaml.safe_load((HERE / scenario).read_text(encoding="utf-8"))

    def replay(
        self, *, drives: int | None = None, libraries: int = 1, timing: str = "gaps", **settings: object
    ) -> Found:
        """Replay the log.

        `drives` in all are spread evenly over the levels; the levels are divided among `libraries`; `settings` are
        fields of the library.
        """
        document = self.scenario(drives, libraries, timing, settings)
        found = whole(Scenario(json.dumps(document), str(self.folder / "library.yaml"), {}).run(theory=False)).data
        answered = sum(stream["completed"] for stream in found["streams"])
        spent_s = sum(stream["completed"] * stream["response"]["mean_ms"] for stream in found["streams"]) / 1e3
        used_s = float(self.sessions["drive_s"].sum())
        mounts = sum(int(part["meters"]["mounts"] or 0) for part in found["components"])
        return Found(mounts, spent_s - used_s, answered, found["simulated_s"])

    def scenario(self, drives: int | None, libraries: int, timing: str, settings: Json) -> Json:
        """Return the scenario, with one library and one stream for each part of the levels; write the logs."""
        document = copy.deepcopy(self.document)
        library, stream = document["system"].pop("library"), document["workload"].pop("sessions")
        levels = library.pop("groups")
        if drives is not None:
            levels = [level | {"drives": drives // len(levels)} for level in levels]
        if libraries == len(levels):
            library.pop("pass_through")
        each = len(levels) // libraries
        for part in range(libraries):
            own = levels[part * each : (part + 1) * each]
            document["system"][f"library{part}"] = library | settings | {"groups": own}
            log = {"file": self.log(part * each, each), "timing": timing}
            document["workload"][f"sessions{part}"] = stream | {"to": f"library{part}", "arrivals": {"log": log}}
        return document

    def log(self, first: int, levels: int) -> str:
        """Write the sessions of the cartridges of some levels; return the name of the file."""
        import polars as pl

        file = self.folder / f"sessions-{first}-{levels}.csv"
        if not file.exists():
            here = pl.col("silo") - first
            self.sessions.with_columns(silo=here).filter(pl.col("silo").is_between(0, levels - 1)).write_csv(file)
        return file.name

    def striped(self, cartridges: int) -> float:
        """Return the mean latency of files in equal parts on several cartridges, all of which must be read, s.

        The parts of a file lie on the same level; each takes its share of the session's seconds.
        """
        import polars as pl

        part = pl.DataFrame({"part": range(cartridges)})
        numbered = self.sessions.with_columns(number=pl.col("file").rank("dense").cast(pl.Int64))
        parts = numbered.join(part, how="cross", maintain_order="left_right")
        name = pl.col("number") * cartridges + pl.col("part")
        split = parts.with_columns(file=name, drive_s=pl.col("drive_s") / cartridges).drop("number", "part")
        split.write_csv(self.folder / "striped.csv")
        document = self.scenario(None, 1, "timestamps", {})
        document["workload"]["sessions0"]["arrivals"]["log"]["file"] = "striped.csv"
        requests = self.folder / f"requests-{cartridges}"
        whole(
            Scenario(json.dumps(document), str(self.folder / "library.yaml"), {}).run(requests=requests, theory=False)
        )
        spent = pl.read_parquet(requests / "*.parquet")
        files = spent.group_by(pl.col("address") // cartridges, "issued_ns").agg(pl.col("completed_ns").max())
        took_s = files.select((pl.col("completed_ns") - pl.col("issued_ns")).mean() / 1e9).item()
        return float(took_s) - float(split.select(pl.col("drive_s").mean()).item())


def obtain(study: Study) -> Iterator[Judged]:
    """Replay the log; with `--small`, only what is judged against the publication."""
    data = os.environ.get("HEADRACE_DATA")
    if data is None or not (Path(data) / FOLDER / LOG).is_file():
        claim = Claim("log", "the library is as published", None, study.document["source"], verdict="not testable")
        yield verdict(claim, Obtained(None), why=ABSENT)
        return
    with tempfile.TemporaryDirectory() as folder:
        sessions = read(Path(data) / FOLDER)
        library = Library(sessions, Path(folder), "library.yaml")
        yield from published(study, library)
        yield from placement(study, Library(sessions, Path(folder), "cells.yaml"))
        if not study.small:
            yield from beyond(study, library)


def read(folder: Path) -> "pl.DataFrame":
    """Read the sessions with the levels of their cartridges, in the columns that a replay needs.

    A cartridge that the snapshot does not know lies on a level by its number.
    """
    import polars as pl

    from headrace import logs

    plain = folder / LOG
    levels = json.loads((folder / LEVELS).read_text(encoding="utf-8"))
    known = pl.DataFrame(
        {"file": [name.replace("/", "") for name in levels], "silo": list(levels.values())},
        schema={"file": pl.String, "silo": pl.Int64},
    )
    table = logs.read([plain]).table.select("time", "file", drive_s="seconds")
    since = (pl.col("time") - pl.col("time").min()).dt.total_milliseconds() / 1e3
    placed = table.join(known.unique("file"), on="file", how="left", maintain_order="left")
    somewhere = pl.col("file").rank("dense").cast(pl.Int64) % 12
    made = placed.with_columns(time_s=since, op=pl.lit("session"), silo=pl.coalesce("silo", somewhere))
    return made.sort("time_s", maintain_order=True).select("time_s", "op", "file", "drive_s", "silo")


def published(study: Study, library: Library) -> Iterator[Judged]:
    """Judge loads and latency by hold time against the publication, and the log's own load."""
    rule, source = study.document["published"], study.document["source"]
    by_hold = {}
    for hold in study.document["holds"]["order"]:
        study.tell(f"cartridges held for {hold} s")
        by_hold[hold] = library.replay(hold=f"{hold} s")
    now, held = by_hold[0], by_hold[1800]
    used_s, last_s = float(library.sessions["drive_s"].sum()), float(library.sessions["time_s"].to_numpy().max())
    text = "mean number of drives with a session until the last one begins"
    claim = Claim("busy", text, rule["busy_drives"], "the log", percent=rule["busy_percent"], kind="measured")
    served = now.requests / len(library.sessions)
    later_h = (now.simulated_s - last_s) / 3600
    why = f"{used_s / now.simulated_s:.1f} to the end of the replay, which comes {later_h:.0f} h later"
    yield verdict(claim, Obtained(round(served * used_s / last_s, 2)), why=why)
    claim = Claim(
        "loads",
        "loads with immediate dismount over those with 1800 s",
        rule["loads_factor"],
        source,
        percent=rule["loads_percent"],
    )
    yield verdict(claim, Obtained(round(now.mounts / held.mounts, 3)), why=_counts(by_hold))
    claim = Claim("latency", "total latency, likewise", rule["latency_factor"], source, percent=rule["latency_percent"])
    yield verdict(claim, Obtained(round(now.latency_s / held.latency_s, 3)), why=_latencies(by_hold))
    order = study.document["holds"]["order"]
    ranked = sorted(order, key=lambda hold: by_hold[hold].latency_s, reverse=True) == order
    yield verdict(
        Claim("rank", "the longer a cartridge is held, the lower the total latency", True, source), Obtained(ranked)
    )
    study.tell("fewer drives")
    fewer = library.replay(drives=rule["fewer_drives"], hold="1800 s")
    text = f"{rule['fewer_drives']} drives with 1800 s do not wait longer than 170 with immediate dismount"
    yield verdict(
        Claim("fewer", text, True, source),
        Obtained(fewer.wait_s <= now.wait_s),
        why=_waits({170: now, rule["fewer_drives"]: fewer}),
    )


def placement(study: Study, library: Library) -> Iterator[Judged]:
    """Judge what a free drive and cells by heat save, by hold time."""
    rule = study.document["placement"]
    cells = library.document["system"]["library"]["cells"] | {"placement": rule["cells"]}
    for reduction in rule["reductions"]:
        hold = reduction["hold"]
        study.tell(f"eviction and placement, cartridges held for {hold}")
        plain = library.replay(hold=hold)
        better = library.replay(hold=hold, cells=cells, free_drives=rule["free_drives"])
        held = "until their drive is needed" if hold == ALWAYS else f"for {hold}"
        text = f"percent of total latency that a free drive and cells by heat save, cartridges held {held}"
        claim = Claim.read(
            reduction | rule, id=f"placement, {hold}", text=text, published=reduction["percent"], percent=None
        )
        found = 100 * (1 - better.latency_s / plain.latency_s)
        why = f"a request waits {plain.wait_s:.1f} s without and {better.wait_s:.1f} s with them"
        yield verdict(claim, Obtained(round(found, 1)), why=why)


def _counts(found: dict[int, Found]) -> str:
    return "; ".join(f"{hold} s: {one.mounts:,} loads" for hold, one in found.items())


def _latencies(found: dict[int, Found]) -> str:
    each = (
        f"{hold} s: {one.latency_s / SECONDS_PER_DAY:.1f} days, {one.latency_s / one.mounts:.1f} s a load"
        for hold, one in found.items()
    )
    return "; ".join(each)


def _waits(found: dict[int, Found]) -> str:
    return "; ".join(f"{number}: {one.wait_s:.1f} s" for number, one in found.items())


def beyond(study: Study, library: Library) -> Iterator[Judged]:
    """Judge what nobody published, by its sign."""
    for question in (_drives, _eviction, _accumulating, _batching, _libraries, _stripes):
        study.tell(question.__name__.strip("_"))
        yield question(study, library)


def _drives(study: Study, library: Library) -> Judged:
    rule = study.document["beyond"]
    hold = f"{rule['hold_s']} s"
    found = {drives: library.replay(drives=drives, hold=hold) for drives in rule["drives"]}
    curve = [(drives, one.wait_s) for drives, one in found.items()]
    study.draw("Mean latency against the number of drives", "drives", "s", {f"hold {hold}": curve})
    waits = [one.wait_s for one in found.values()]
    return _expected("drives", "latency falls with each step of drives", waits == sorted(waits)[::-1], _waits(found))


def _eviction(_: Study, library: Library) -> Judged:
    lru, held = library.replay(hold=ALWAYS), library.replay(hold="1800 s")
    why = f"{lru.mounts:,} loads, {lru.wait_s:.1f} s, against {held.mounts:,} and {held.wait_s:.1f} s"
    return _expected("lru", "fewer loads without a hold time than with 1800 s", lru.mounts < held.mounts, why)


def _accumulating(study: Study, library: Library) -> Judged:
    wait = f"{study.document['beyond']['accumulate_s']} s"
    now = library.replay(timing="timestamps", hold="0 s")
    later = library.replay(timing="timestamps", hold="0 s", accumulate=wait)
    why = f"loads {now.mounts:,} and {later.mounts:,}, latency {now.wait_s:.0f} s and {later.wait_s:.0f} s"
    holds = later.mounts < now.mounts and later.wait_s > now.wait_s
    return _expected("accumulate", "fewer loads and longer waits where requests accumulate", holds, why)


def _batching(_: Study, library: Library) -> Judged:
    batched = library.replay(timing="timestamps", hold="0 s", drives=84)
    arrival = library.replay(timing="timestamps", hold="0 s", drives=84, recall="arrival")
    why = (
        f"84 drives, immediate dismount: {arrival.mounts:,} loads by arrival, {batched.mounts:,} by cartridge; "
        f"{arrival.wait_s:.0f} s and {batched.wait_s:.0f} s"
    )
    return _expected("batching", "batching by cartridge saves loads", batched.mounts < arrival.mounts, why)


def _libraries(study: Study, library: Library) -> Judged:
    rule = study.document["beyond"]
    found = {number: library.replay(libraries=number, hold=f"{rule['hold_s']} s") for number in rule["libraries"]}
    waits = [one.wait_s for one in found.values()]
    text = "the more libraries the levels are divided among, the longer the latency"
    return _expected("libraries", text, waits == sorted(waits), _waits(found))


def _stripes(study: Study, library: Library) -> Judged:
    found = {cartridges: library.striped(cartridges) for cartridges in study.document["beyond"]["stripes"]}
    why = "; ".join(f"{number} cartridges: {wait:.1f} s" for number, wait in found.items())
    waits = list(found.values())
    return _expected("stripes", "the latency of all parts grows with their number", waits == sorted(waits), why)


def _expected(name: str, text: str, holds: bool, why: str) -> Judged:
    return verdict(Claim(name, text, True, OWN, kind="expectation"), Obtained(holds), why=why)
