"""The slides one by one: what is left of each, simulated. All their plots are lost."""

from typing import Any

from headrace.parallel import each
from headrace.studies.alice_daq.cases import FILE_SYSTEMS, Cases
from headrace.study import Study

Json = dict[str, Any]
Curve = list[tuple[float, float]]

STREAMS = [1, 2, 3, 4, 5, 6, 8, 12, 16]
CORES = [1, 2, 4, 8, 16]
# zlib of 2009 by the content: 30 to 80 MB/s a core.
ZLIB_MB_S = [30, 60, 80]
SIZES_KB = [0.64, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]
VOLUMES = {"3 x 5 + 1": 5, "2 x 7 + 2": 7}

LOST = "The slide's plot is lost."


def draw(study: Study, cases: Cases) -> None:
    """Draw all slides in their order."""
    files(study, cases)
    volumes(study, cases)
    affinity(study, cases)
    sub_events(study, cases)
    streams(study, cases)
    compression(study, cases)
    library(study, cases)


def files(study: Study, cases: Cases) -> None:
    """Draw "Block size and file size", and XFS beside StorNext."""
    study.tell("block size and file size")
    rule = study.document["files"]
    small = "small_" if study.small else ""
    sizes, blocks = rule[f"{small}gib"], rule[f"{small}blocks_kib"]
    for op in ("write", "read"):
        curves = {f"{kib} KiB": [(gib, cases.lmdd("XFS", op, kib, gib)) for gib in sizes] for kib in blocks}
        title = f"Block size and file size: {op} rate of one lmdd by block size, XFS"
        said = f"RAID 5 of five drives, 4 GB of memory, nothing flushed at the end. {LOST}"
        study.draw(title, "file, GiB", "MB/s", curves, said=said, front=op == "write")
    curves = {
        f"{name}, {op}": [(gib, cases.lmdd(name, op, 8, gib)) for gib in sizes]
        for name in FILE_SYSTEMS
        for op in ("write", "read")
    }
    said = (
        "Of StorNext its cache of 256 MB is known, not how it flushes and reads ahead; both are assumed as XFS's. "
        + LOST
    )
    study.draw("Storage setup: XFS beside StorNext, blocks of 8 KiB", "file, GiB", "MB/s", curves, said=said)


def volumes(study: Study, cases: Cases) -> None:
    """Draw "Single writing", and "Multiple concurrent writings and readings" of two concentrators on two volumes."""
    study.tell("volumes")
    asked = {"Single writing and reading": ("w", "r"), "Two concentrators on two volumes": ("ww", "rr", "wr")}
    for title, ops in asked.items():
        points = {
            f"{level.upper().replace('RAID', 'RAID ')}, {op}": [
                (float(disks), sum(cases.disks(level, disks, op, len(op))[0])) for disks in VOLUMES.values()
            ]
            for level in ("raid5", "raid6")
            for op in ops
        }
        said = f"w writes, r reads, 1 MiB requests at least, no cache. 5 disks: 3 x 5 + 1; 7: 2 x 7 + 2. {LOST}"
        study.draw(f"{title}, by disks of a volume", "disks", "all together, MB/s", {}, points=points, said=said)


def affinity(study: Study, cases: Cases) -> None:
    """Draw "Multiple concurrent operations": clients on one volume, and each on its own by affinity."""
    study.tell("affinity")
    curves = {
        f"{what}, {where}": [
            (float(many), sum(cases.disks("raid5", 5, (ops * many)[:many], many if apart else 1)[0]))
            for many in (1, 2, 3)
        ]
        for what, ops in (("writers", "w"), ("writer, reader ...", "wr"))
        for where, apart in (("one volume", False), ("by affinity", True))
    }
    said = f"RAID 5 of five drives without a cache. {LOST}"
    study.draw("Multiple concurrent operations: affinity", "clients", "all together, MB/s", curves, said=said)


def sub_events(study: Study, cases: Cases) -> None:
    """Draw rates and CPU over the size of sub-events, of the older core and of Nehalem."""
    study.tell("sub-events")
    found = {
        name: [(size * 1e3, *cases.recorder(1, sub_event=size, old=old)) for size in SIZES_KB]
        for name, old in (("older core", True), ("Nehalem core", False))
    }
    rates = {name: [(size, rate) for size, rate, _ in points] for name, points in found.items()}
    busy = {name: [(size, use) for size, _, use in points] for name, points in found.items()}
    said = (
        f"One stream. 0.85 ms a sub-event is calibrated to 'bigger than 20 kB', and Nehalem's half is the input. {LOST}"
    )
    title = "Performance for different sub-event sizes, and with Nehalem"
    study.draw(title, "sub-event, B", "recorded, MB/s", rates, said=said, log=10)
    said = f"Of all cores: one stream fills one. {LOST}"
    study.draw("CPU utilisation", "sub-event, B", "share of the builder's cores", busy, said=said, log=10)


def streams(study: Study, cases: Cases) -> None:
    """Draw "Recording performance with more streams": a quad-core with two threads a core."""
    study.tell("streams and cores")
    counts = [many for many in STREAMS if many <= 8]
    curves = {
        f"{cores} core{'s' if cores > 1 else ''}": list(
            zip(counts, each(lambda many, of=cores: cases.recording(many, cores=of), counts), strict=True)
        )
        for cores in (1, 2, 4)
    }
    said = f"Sub-events of 0.64 kB; the slide has four cores. {LOST}"
    study.draw("Recording performance with more streams", "streams", "recorded, MB/s", curves, said=said)


def compression(study: Study, cases: Cases) -> None:
    """Draw "Performance with compression" of one stream and of several, and a map of where it wins."""
    study.tell("compression")
    ways = (("as it is", False), ("compressed", True))
    curves = {
        name: [(size * 1e3, cases.recording(1, sub_event=size, compress=compress)) for size in [*SIZES_KB, 256.0]]
        for name, compress in ways
    }
    said = f"One stream, ratio 2 at 60 MB/s a core: estimates. {LOST}"
    study.draw("Performance with compression", "sub-event, B", "MB/s before compression", curves, said=said, log=10)
    lines = {
        name: [(n, cases.recording(n, sub_event=256.0, compress=compress)) for n in STREAMS] for name, compress in ways
    }
    said = f"Four cores, sub-events of 256 kB. {LOST}"
    title = "Performance with and without compression with multiple streams"
    study.draw(title, "streams", "MB/s before compression", lines, said=said)
    for level in ("raid5", "raid6"):
        plain = {cores: _on_volume(cases, level, cores) for cores in CORES}
        gains = {
            f"{rate} MB/s a core": [
                (cores, _on_volume(cases, level, cores, zlib=rate) / plain[cores]) for cores in CORES
            ]
            for rate in ZLIB_MB_S
        }
        title = f"Data compression with multiple streams: where it wins (above 1), one {level.upper()} volume"
        study.draw(title, "cores", "rate with compression over without", gains, said=LOST)


def _on_volume(cases: Cases, level: str, cores: int, **case: Any) -> float:
    return cases.recording(2 * cores, sub_event=256.0, one=True, level=level, cores=cores, **case)


def library(study: Study, cases: Cases) -> None:
    """Draw "Event building for different data formatting library versions": another cost of a sub-event."""
    study.tell("library versions")
    curves = {
        f"{cost} a sub-event": [(size * 1e3, cases.recording(1, sub_event=size, cost=cost)) for size in SIZES_KB]
        for cost in ("0.425 ms", "0.6 ms")
    }
    said = f"Versions differ by the cost of a sub-event; theirs are unknown, and the second is made up. {LOST}"
    title = "Event building for different data formatting library versions"
    study.draw(title, "sub-event, B", "recorded, MB/s", curves, said=said, log=10)
