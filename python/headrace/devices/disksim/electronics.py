"""Cache, interface and electronics of a disk, from a DiskSim parameter file."""

from typing import Any

from headrace.devices.disksim.blocks import ParameterBlock

Json = dict[str, Any]

SECTOR = 512

# So much of a write DiskSim wants to have before it goes to the platter of a disk with extra write disconnects.
EXTRA_DISCONNECT_SECTORS = 10


def ms(time: float) -> str:
    """Return a time in ms as a device file has it, to the nanosecond."""
    return f"{round(time, 6):.15g} ms"


def cache(disk: ParameterBlock) -> Json:
    """Return the cache: its segments, when it reads ahead, when a write is done."""
    size = disk.whole("Segment size (in blks)")
    write_segments = max(disk.whole("Maximum number of write segments", 1), 1)
    # A write segment of its own is out of reach for reads.
    apart = disk.flag("Use separate write segment") or not disk.flag("Allow read hits on write data")
    told: Json = {
        "segments": disk.whole("Number of buffer segments"),
        "segment_size": f"{size * SECTOR} B",
        "read_ahead": _read_ahead(disk),
        "read_ahead_most": f"{(disk.whole('Maximum read-ahead (blks)', 0) or size) * SECTOR} B",
        "read_ahead_on_hit": disk.flag("Read-ahead on idle hit"),
        "keeps_passing": disk.flag("Read any free blocks"),
        "keeps_written": not apart,
        "writes": "back" if fast_writes(disk) else "through",
    }
    room = {"write_room": f"{write_segments * size * SECTOR} B", "writes_held": write_segments}
    return told | (room if fast_writes(disk) else {})


def fast_writes(disk: ParameterBlock) -> bool:
    """Return whether a write is done once it is in the cache."""
    return disk.flag("Fast write level")


def _read_ahead(disk: ParameterBlock) -> str:
    if not disk.flag("Enable caching in buffer", default=True):
        return "never"
    return {0: "never", 1: "track", 4: "next_track"}.get(disk.whole("Buffer continuous read", 0), "always")


def interface(disk: ParameterBlock, buses: list[ParameterBlock], controllers: list[ParameterBlock]) -> Json:
    """Return the interface: rates, marks, and what commands take beside the platter."""
    scale = disk.number("Time scale for overheads", 1.0)
    each = scale * disk.number("Per-request overhead time", 0.0)

    def scaled(*keys: str) -> float:
        return scale * sum(disk.number(key, 0.0) for key in keys)

    # Done in the cache, every write takes what the file says of hits; else what it says of misses.
    write = "Write hit" if fast_writes(disk) else "Write miss"
    kinds = {"read_hit": "Read hit", "read_miss": "Read miss", "write_hit": write, "write_miss": write}
    told = _rates(disk, buses, controllers) | _marks(disk)
    for kind, like in kinds.items():
        told[kind] = {f"after_{op}": ms(each + scaled(f"{like} over. after {op}")) for op in ("read", "write")}
    told["data_preparation"] = ms(scaled("Data preparation overhead"))
    if _disconnects_extra(disk):
        command = each + scaled("Extradisc command overhead")
        apart = scaled("Extradisc disconnect overhead") + disk.number("Extradisc inter-disconnect delay", 0.0)
        told["reconnected_write"] = {
            "seek_after": ms(command + scaled("Extradisc seek delta")),
            "data_after": ms(command + apart + scaled("First reselect overhead")),
            "reselect": ms(scaled("Other reselect overhead")),
        }
    # A disk that never disconnects does so after the data of a write all the same.
    reselect, never = scaled("First reselect overhead"), disk.flag("Never disconnect")
    told["reselect"] = ms(0.0 if never else reselect)
    told["read_completion"] = ms(scaled("Read completion overhead"))
    told["write_completion"] = ms(scaled("Write completion overhead") + (reselect if never else 0.0))
    return told


def _rates(disk: ParameterBlock, buses: list[ParameterBlock], controllers: list[ParameterBlock]) -> Json:
    """Return how fast sectors go: at the pace of the slowest of disk, controller and buses."""
    told = {}
    for op in ("read", "write"):
        paces = [one.number("Bulk sector transfer time", 0.0) for one in (disk, *controllers)]
        paces += [bus.number(f"{op.title()} block transfer time", 0.0) for bus in buses]
        if max(paces) > 0:
            told[f"{op}_rate"] = f"{SECTOR / max(paces) * 1000:.1f} B/s"
    return told


def _marks(disk: ParameterBlock) -> Json:
    """Return how much must be in the cache before data goes on; zero is as soon as there is a sector."""
    high, low = disk.number("High (read) water mark", 0.0), disk.number("Low (write) water mark", 0.0)
    if not disk.flag("Set watermark by reqsize"):
        # A share of a segment: more than most requests are, so that they wait for all of it.
        high, low = float(high > 0), 0.0
    told: Json = {"read_watermark": 0.0 if disk.flag("Never disconnect") else min(high, 1.0)}
    if _disconnects_extra(disk):
        return told | {"write_start": f"{EXTRA_DISCONNECT_SECTORS * SECTOR} B"}
    return told | {"write_watermark": min(low, 1.0)}


def _disconnects_extra(disk: ParameterBlock) -> bool:
    return disk.flag("Extra write disconnect") and not disk.flag("Never disconnect")
