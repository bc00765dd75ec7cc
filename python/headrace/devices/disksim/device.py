"""A device of what a parameter file tells: its mechanics, layout, cache and interface."""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headrace.devices import device_file
from headrace.devices.disksim.blocks import Block, Reader
from headrace.mistakes import read_text, refusal

SECTOR = 512

# The rates of a DiskSim file contain the bus and the host on which its drive was measured.
BUS = "its rates are those of the rig on which the drive was measured, not the most that the drive can do"

NAMED = re.compile(r"(?:^|=)\s*source\s+([^,\s]+)|Full seek curve\s*=\s*([^,\s]+)", re.MULTILINE)


def inputs(file: str | Path) -> Iterator[Path]:
    """Give the files that `read` reads: the parameter file, those that it sources, their seek curves."""
    path = Path(file)
    yield path
    for sourced, curve in NAMED.findall(read_text(path)):
        if sourced:
            yield from inputs(path.parent / sourced)
        else:
            yield path.parent / curve


def read(file: str | Path) -> str:
    """Return a device file, as YAML, of the disk in a parameter file; refuse with file and line what cannot be."""
    path = Path(file)
    blocks = Reader(path).blocks()
    disks = [block for block in blocks if block.name.startswith("disksim_disk ")]
    if len(disks) != 1:
        names = ", ".join(block.name.split()[1] for block in disks) or "none"
        raise refusal(path, f"{path} describes {len(disks)} disks ({names})", "give a file with one")
    buses = [block for block in blocks if block.name.startswith("disksim_bus ")]
    [disk] = disks
    model = disk.get("Model")
    if not isinstance(model, Block):
        raise disk.refusal("Model", "the disk has no model")
    return device_file.text(_device(disk, model, buses, path))


def _device(disk: Block, model: Block, buses: list[Block], path: Path) -> dict[str, Any]:
    source = f"DiskSim 4 parameter file {path.name}"
    mechanics, layout = (
        _block_of(model, "Mechanical Model", "dm_mech_g1"),
        _block_of(model, "Layout Model", "dm_layout_g1"),
    )
    surfaces, cylinders = model.whole("Number of data surfaces"), model.whole("Number of cylinders")
    zones = [_zone(zone, surfaces, cylinders) for zone in layout["Zones"]]
    seek = _seek(mechanics, cylinders)
    rpm = mechanics.number("Rotation speed (in rpms)")
    settle = mechanics.number("Add. write settling delay", 0.0)

    def rate(zone: dict[str, Any]) -> str:
        return f"{zone['sectors'] * SECTOR * rpm / 60:.0f} B/s"

    def ends(more: float) -> dict[str, Any]:
        return {"track_to_track": _ms(seek[0][1] + more), "full_stroke": _ms(max(time for _, time in seek) + more)}

    told = {
        "name": disk.name.split()[1].replace("_validate", ""),
        "validation": "not validated",
        "capacity": f"{model.whole('Block count') * SECTOR} B",
        "cylinders": cylinders,
        "rotation": f"{rpm:g} rpm",
        "media_rate_outer": rate(max(zones, key=lambda zone: zone["sectors"])),
        "media_rate_inner": rate(min(zones, key=lambda zone: zone["sectors"])),
        "overhead": _ms(disk.number("Read miss over. after read", 0.0)),
    }
    sourced: dict[str, Any] = {
        key: value if key in {"name", "validation"} else {"value": value, "source": source}
        for key, value in told.items()
    }
    for key, more in (("seek_read", 0.0), ("seek_write", settle)):
        sourced[key] = {name: {"value": time, "source": source} for name, time in ends(more).items()}
    sourced["mechanics"] = {
        "source": source,
        "head_switch": _ms(mechanics.number("Head switch time", 0.0)),
        "write_settle": _ms(settle),
        "seek": [[distance, _ms(time)] for distance, time in seek],
        "layout": {"surfaces": surfaces, **_sparing(layout), "zones": zones},
    }
    if disk.whole("Enable caching in buffer", 1):
        sourced["cache"] = {"source": source} | _cache(disk)
    sourced["interface"] = {"source": f"{source}; {BUS}"} | _interface(disk, buses)
    return sourced


def _block_of(model: Block, key: str, kind: str) -> Block:
    block = model.get(key)
    if not isinstance(block, Block):
        raise model.refusal(key, f"there is no `{key}`")
    if block.name != kind:
        raise model.refusal(key, f"`{key}` is of the form `{block.name}`, and only `{kind}` is understood")
    return block


def _zone(zone: Block, surfaces: int, cylinders: int) -> dict[str, Any]:
    first, last = zone.whole("First cylinder number"), zone.whole("Last cylinder number")
    if last >= cylinders:
        raise zone.refusal("Last cylinder number", f"the zone ends at cylinder {last}, and the disk has {cylinders}")
    sectors = zone.whole("Blocks per track")
    told: dict[str, Any] = {
        "first_cylinder": first,
        "last_cylinder": last,
        "sectors": sectors,
        "offset": zone.number("Offset of first block", 0.0),
        "track_skew": zone.number("Skew for track switch", 0.0),
        "cylinder_skew": zone.number("Skew for cylinder switch", 0.0),
        "reserved": zone.whole("Empty space at zone front", 0),
        "spares": zone.whole("Number of spares", 0),
    }
    slips = sorted({int(slip) for slip in zone.get("slips", [])})
    if slips and slips[-1] >= (last - first + 1) * surfaces * sectors:
        raise zone.refusal("slips", f"sector {slips[-1]} is slipped, which the zone does not have")
    defects = [int(defect) for defect in zone.get("defects", [])]
    if len(defects) % 2:
        raise zone.refusal("defects", "defects are pairs: the sector, and where its data is")
    told |= {"slips": slips} if slips else {}
    return told | (
        {"remaps": [list(pair) for pair in zip(defects[::2], defects[1::2], strict=True)]} if defects else {}
    )


def _sparing(layout: Block) -> dict[str, Any]:
    orders = {0: "conventional", 1: "serpentine", 2: "zone_serpentine"}
    order, scheme = layout.whole("LBN-to-PBN mapping scheme"), layout.whole("Sparing scheme used", 0)
    if order not in orders:
        raise layout.refusal("LBN-to-PBN mapping scheme", f"mapping {order} is not known; known are 0 to 2")
    ranges = max(layout.whole("Rangesize for sparing", 1), 1)
    # (where spares lie, whether slipped sectors take their place)
    schemes: dict[int, tuple[Any, bool]] = {
        0: ("none", False),
        1: ("zone_tracks", True),
        2: ("cylinder_end", True),
        3: ("track_end", True),
        4: ("cylinder_end", False),
        5: ("cylinder_front", True),
        6: ("cylinder_front", False),
        7: ("none", False),
        8: ({"cylinders": ranges}, True),
        9: ("zone_end", True),
        10: ("zone_end", False),
        11: ({"cylinders": ranges}, False),
    }
    if scheme not in schemes:
        raise layout.refusal("Sparing scheme used", f"sparing scheme {scheme} is not known; known are 0 to 11")
    spares, uses = schemes[scheme]
    return {"order": orders[order], "spares": spares, "slips_use_spares": uses}


def _seek(mechanics: Block, cylinders: int) -> list[tuple[int, float]]:
    """Return seek times as (cylinders, ms), dense where the curve bends."""
    kind = mechanics.get("Seek type")
    most = max(cylinders - 1, 1)
    distances = sorted(
        {*range(1, min(11, most + 1)), *(round(most * (i / 120) ** 2) for i in range(1, 121)), most} - {0}
    )
    one, average, full = (
        mechanics.number(f"{name} seek time", 0.0) for name in ("Single cylinder", "Average", "Full strobe")
    )
    if kind == "extracted":
        return _extracted(mechanics)
    if kind in {"hpl", "hplplus10"}:
        ten = mechanics.get("First ten seek times", []) if kind == "hplplus10" else []
        return [(d, ten[d - 1] if d <= len(ten) else _hpl(mechanics, d)) for d in distances]
    if kind == "constant":
        return [(1, average), (most, average)] if most > 1 else [(1, average)]
    if kind == "linear":
        return [(1, one), (max(most // 3, 2), average), (most, full)]
    if kind == "curve":  # Lee and Katz (1993), through the three times.
        a = (-10 * one + 15 * average - 5 * full) / (3 * math.sqrt(cylinders))
        b = (7 * one - 15 * average + 8 * full) / (3 * cylinders)
        return [(d, a * math.sqrt(d - 1) + b * (d - 1) + one) for d in distances]
    raise mechanics.refusal("Seek type", f"seek type `{kind}` is not known")


def _hpl(mechanics: Block, distance: int) -> float:
    """Return the seek time of Hewlett-Packard's two-part curve: a root below a boundary, a line above."""
    values = mechanics.get("HPL seek equation values", [])
    if len(values) != 6:
        raise mechanics.refusal("HPL seek equation values", "the HPL seek curve has six values")
    boundary, a, b, c, d, one = values
    if distance == 1 and one >= 0:
        return float(one)
    return float(a + b * math.sqrt(distance) if distance < boundary else c + d * distance)


def _extracted(mechanics: Block) -> list[tuple[int, float]]:
    file = mechanics.file.parent / str(mechanics.get("Full seek curve", ""))
    points: list[tuple[int, float]] = []
    for number, line in enumerate(read_text(file).splitlines(), 1):
        fields = line.replace(",", " ").split()
        if number == 1 or not fields:
            continue
        try:
            distance, time = int(fields[0]), float(fields[1])
        except (ValueError, IndexError):
            raise refusal(file, f"{file}:{number}: `{line}` is no pair of cylinders and ms", "") from None
        if points and distance <= points[-1][0]:
            raise refusal(file, f"{file}:{number}: {distance} cylinders come after {points[-1][0]}", "sort it")
        points.append((distance, time))
    return points


def _cache(disk: Block) -> dict[str, Any]:
    continuous = disk.whole("Buffer continuous read", 0)
    passing = disk.whole("Read any free blocks", 0) == 1
    always = continuous in {2, 3} or (continuous == 4 and passing)
    how = "never" if continuous == 0 else "track" if continuous == 1 else "always" if always else "sequential"
    return {
        "segments": disk.whole("Number of buffer segments"),
        "segment_size": f"{disk.whole('Segment size (in blks)') * SECTOR} B",
        "read_ahead": how,
        "read_ahead_most": f"{disk.whole('Maximum read-ahead (blks)') * SECTOR} B",
        "keeps_passing": passing,
        "writes": "back" if disk.whole("Fast write level", 0) else "through",
    }


def _interface(disk: Block, buses: list[Block]) -> dict[str, Any]:
    bulk = disk.number("Bulk sector transfer time", 0.0)
    told: dict[str, Any] = {}
    for op in ("read", "write"):
        each = bulk + max((bus.number(f"{op.title()} block transfer time", 0.0) for bus in buses), default=0.0)
        if each > 0:
            told[f"{op}_rate"] = f"{SECTOR / each * 1000:.1f} B/s"
    if disk.whole("Set watermark by reqsize", 0):
        # Without a mark, a disk that does not send at once sends what it has whole.
        at_once = 0.0 if disk.whole("Immediate buffer read", 0) else 1.0
        told["read_watermark"] = disk.number("High (read) water mark", 0.0) or at_once
        # A disk that lets go of the bus before a write's data asks for it in time; only another one waits for the mark:
        # so do the two disks whose traces show it (HP C2247A and C3323A).
        if not disk.whole("Extra write disconnect", 0):
            told["write_watermark"] = disk.number("Low (write) water mark", 0.0)
    scale, each = disk.number("Time scale for overheads", 1.0), disk.number("Per-request overhead time", 0.0)
    for op in ("read", "write"):
        for hit in ("hit", "miss"):
            told[f"{op}_{hit}"] = {
                f"after_{before}": _ms(scale * disk.number(f"{op.title()} {hit} over. after {before}", 0.0) + each)
                for before in ("read", "write")
            }
    if disk.whole("Extra write disconnect", 0):
        parts = ("command overhead", "disconnect overhead", "inter-disconnect delay")
        told["write_data_delay"] = _ms(scale * sum(disk.number(f"Extradisc {part}", 0.0) for part in parts))
    told["reselect"] = _ms(scale * disk.number("First reselect overhead", 0.0))
    told["read_completion"] = _ms(scale * disk.number("Read completion overhead", 0.0))
    told["write_completion"] = _ms(scale * disk.number("Write completion overhead", 0.0))
    return told


def _ms(time: float) -> str:
    return f"{round(time, 6):g} ms" if time < 1000 else f"{time} ms"
