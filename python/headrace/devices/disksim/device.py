"""A device of what a parameter file tells: its mechanics, layout, cache and interface.

Each parameter means what it does in DiskSim 4.0, found by changing it there and compared with DiskSim's own answers,
request by request; not what would bring a drive nearer to its measured trace, which is `calibration`'s to find.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

from headrace import _core
from headrace._core import ScenarioError
from headrace.devices import device_file
from headrace.devices.disksim import electronics, seeks
from headrace.devices.disksim.blocks import ParameterBlock, Reader
from headrace.devices.disksim.electronics import SECTOR, ms
from headrace.errors import refusal

# The rates of a DiskSim file contain the bus and the host on which its drive was measured.
BUS = "its rates are those of the rig on which the drive was measured, not the most that the drive can do"

Json = dict[str, Any]


def inputs(file: str | Path) -> list[Path]:
    """Return the files that `read` reads: the parameter file, those that it sources, its seek curve."""
    return _imported(Path(file)).files


def read(file: str | Path) -> str:
    """Return a device file, as YAML, of the disk in a parameter file; refuse with file and line what cannot be."""
    return _imported(Path(file)).text


class Imported(NamedTuple):
    """A device file, and the files that it was made of."""

    text: str
    files: list[Path]


class Parts(NamedTuple):
    """The blocks that describe a disk."""

    disk: ParameterBlock
    model: ParameterBlock
    mechanics: ParameterBlock
    layout: ParameterBlock
    buses: list[ParameterBlock]
    controllers: list[ParameterBlock]


def _imported(path: Path) -> Imported:
    reader = Reader(path)
    parts = _parts(reader.blocks(), path)
    curve = seeks.curve_file(parts.mechanics)
    device = _Device(parts, path)
    text = device_file.text(device.numbers(), device.remarks)
    try:
        _core.read_device(text, str(path))
    except ScenarioError as error:
        raise _unreadable(parts, error) from None
    return Imported(text, [*reader.files, *([curve] if curve else [])])


def _parts(blocks: list[ParameterBlock], path: Path) -> Parts:
    def of(kind: str) -> list[ParameterBlock]:
        return [block for block in blocks if block.name.startswith(f"disksim_{kind} ")]

    disks = of("disk")
    if len(disks) != 1:
        names = ", ".join(block.name.split()[1] for block in disks) or "none"
        raise refusal(path, f"{path}:1: it describes {len(disks)} disks ({names})", "give a file with one")
    model = disks[0].block("Model")
    mechanics = model.block("Mechanical Model", "dm_mech_g1")
    return Parts(disks[0], model, mechanics, model.block("Layout Model", "dm_layout_g1"), of("bus"), of("ctlr"))


# Which parameter decides each part of a device file, for what headrace refuses of it.
DECIDES = (
    ("cylinders", "model", "Number of cylinders"),
    ("capacity", "model", "Block count"),
    ("rotation", "mechanics", "Rotation speed (in rpms)"),
    ("head_switch", "mechanics", "Head switch time"),
    ("write_settle", "mechanics", "Add. write settling delay"),
    ("surfaces", "model", "Number of data surfaces"),
    ("zone", "layout", "Zones"),
    ("layout", "layout", "Zones"),
    ("media_rate", "layout", "Zones"),
    ("seek", "mechanics", "Seek type"),
    ("segment", "disk", "Number of buffer segments"),
    ("read_ahead", "disk", "Maximum read-ahead (blks)"),
    ("write_room", "disk", "Maximum number of write segments"),
    ("writes_held", "disk", "Maximum number of write segments"),
    ("read_rate", "disk", "Bulk sector transfer time"),
    ("write_rate", "disk", "Bulk sector transfer time"),
    ("overhead", "disk", "Read miss over. after read"),
)


def _unreadable(parts: Parts, error: ScenarioError) -> Exception:
    """Return what is wrong with a device that headrace would refuse, at the parameter that it comes from."""
    [problem, *_] = json.loads(error.problems)
    said = f"{problem['path']} {problem['message']}"
    role, key = next(((role, key) for word, role, key in DECIDES if word in said), ("disk", ""))
    block: ParameterBlock = getattr(parts, role)
    return block.refusal(key, f"headrace cannot simulate this disk: {problem['message']}")


class _Device:
    """A device in the making."""

    def __init__(self, parts: Parts, path: Path) -> None:
        self.parts, self.remarks = parts, list[str]()
        self.source = f"DiskSim 4 parameter file {path.name}"
        self.surfaces = parts.model.whole("Number of data surfaces")
        self.zones = [_zone(zone, self.surfaces) for zone in parts.layout.blocks("Zones")]
        self.rpm = parts.mechanics.number("Rotation speed (in rpms)")

    def numbers(self) -> Json:
        """Return the numbers of the device, each with its source."""
        disk = self.parts.disk
        cylinders, layout = self._cylinders(), self._layout()
        told = {
            "name": disk.name.split()[1].replace("_validate", ""),
            "validation": "not validated",
            "capacity": f"{self._sectors(layout) * SECTOR} B",
            "cylinders": cylinders,
            "rotation": f"{self.rpm:.10g} rpm",
            "media_rate_outer": self._rate(max(zone["sectors"] for zone in self.zones)),
            "media_rate_inner": self._rate(min(zone["sectors"] for zone in self.zones)),
            "overhead": ms(disk.number("Read miss over. after read", 0.0)),
        }
        sourced: Json = {
            key: value if key in {"name", "validation"} else {"value": value, "source": self.source}
            for key, value in told.items()
        }
        sourced |= self._mechanics(cylinders, layout)
        if disk.flag("Enable caching in buffer", default=True) or electronics.fast_writes(disk):
            sourced["cache"] = {"source": self.source} | electronics.cache(disk)
        buses, controllers = self.parts.buses, self.parts.controllers
        sourced["interface"] = {"source": f"{self.source}; {BUS}"} | electronics.interface(disk, buses, controllers)
        self._say_where_headrace_differs()
        return sourced

    def _rate(self, sectors: int) -> str:
        return f"{sectors * SECTOR * self.rpm / 60:.0f} B/s"

    def _cylinders(self) -> int:
        """Return how many cylinders there are: where the zones have more than the file counts, the zones rule."""
        model = self.parts.model
        counted = model.whole("Number of cylinders")
        needed: int = max(zone["last_cylinder"] for zone in self.zones) + 1
        if needed > counted:
            self._remark(model, "Number of cylinders", f"the zones have {needed} cylinders; {counted} is not used")
        return max(counted, needed)

    def _layout(self) -> Json:
        return {"surfaces": self.surfaces, **_sparing(self.parts.layout), "zones": self.zones}

    def _sectors(self, layout: Json) -> int:
        """Return how many sectors hold data: no more than the zones have room for."""
        model = self.parts.model
        counted = model.whole("Block count")
        try:
            held = _core.layout_sectors(json.dumps(layout))
        except ScenarioError as error:
            raise _unreadable(self.parts, error) from None
        if counted > held:
            self._remark(model, "Block count", f"the zones have {held} sectors; {counted} is not used")
        return min(counted, held)

    def _mechanics(self, cylinders: int, layout: Json) -> Json:
        mechanics = self.parts.mechanics
        settle = mechanics.number("Add. write settling delay", 0.0)
        curve = seeks.curve(mechanics, cylinders)
        self.remarks += seeks.odd(mechanics, curve)

        def ends(more: float) -> Json:
            first, longest = (max(time + more, 0.0) for time in (curve[0][1], max(time for _, time in curve)))
            return {
                name: {"value": ms(time), "source": self.source}
                for name, time in (("track_to_track", first), ("full_stroke", longest))
            }

        return {
            "seek_read": ends(0.0),
            "seek_write": ends(settle),
            "mechanics": {
                "source": self.source,
                "head_switch": ms(mechanics.number("Head switch time", 0.0)),
                "write_settle": ms(settle),
                "seek": [[distance, ms(time)] for distance, time in curve],
                "layout": layout,
            },
        }

    def _remark(self, block: ParameterBlock, key: str, text: str) -> None:
        self.remarks.append(f"{block.where(key)}: {text}")

    def _say_where_headrace_differs(self) -> None:
        """Remark on parameters that change none of DiskSim's answers, and on those of which headrace makes more."""
        disk = self.parts.disk
        for key, has in (("read", "zero_latency"), ("write", "zero_latency_writes")):
            if disk.flag(f"Immediate buffer {key}"):
                say = f"without effect, as in DiskSim; to have it: `mechanics.{has}: true`"
                self._remark(disk, f"Immediate buffer {key}", say)
        key = "Read any free blocks"
        if disk.flag(key):
            self._remark(disk, key, "without effect in DiskSim; to be without it: `cache.keeps_passing: false`")
        key = "Low (write) water mark"
        waits = disk.number(key, 0.0) > 0 and not electronics.fast_writes(disk)
        if waits and not disk.flag("Extra write disconnect"):
            self._remark(
                disk, key, "DiskSim's writes do not wait for it; to be like it: `interface.write_watermark: 0`"
            )


def _zone(zone: ParameterBlock, surfaces: int) -> Json:
    first, last = zone.whole("First cylinder number"), zone.whole("Last cylinder number")
    sectors = zone.whole("Blocks per track")
    told: Json = {
        "first_cylinder": first,
        "last_cylinder": last,
        "sectors": sectors,
        "offset": zone.number("Offset of first block", 0.0),
        "track_skew": zone.number("Skew for track switch", 0.0),
        "cylinder_skew": zone.number("Skew for cylinder switch", 0.0),
        "reserved": zone.whole("Empty space at zone front", 0),
        "spares": zone.whole("Number of spares", 0),
    }
    has = (last - first + 1) * surfaces * sectors
    slips, defects = sorted(set(zone.wholes("slips"))), zone.wholes("defects")
    if slips and slips[-1] >= has:
        raise zone.refusal("slips", f"sector {slips[-1]} is slipped, which the zone does not have")
    if len(defects) % 2:
        raise zone.refusal("defects", "defects are pairs: the sector, and where its data is")
    if defects and max(defects) >= has:
        raise zone.refusal(
            "defects", f"sector {max(defects)} is a defect, or takes one's place: the zone has none such"
        )
    remaps = [list(pair) for pair in zip(defects[::2], defects[1::2], strict=True)]
    return told | ({"slips": slips} if slips else {}) | ({"remaps": remaps} if remaps else {})


def _sparing(layout: ParameterBlock) -> dict[str, Any]:
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
    told = {"order": orders[order], "spares": spares, "slips_use_spares": uses}
    # Where sectors are spare by track or cylinder, slips move the beginnings of later tracks on.
    skewing = {3: "tracks"} | dict.fromkeys((2, 4, 5, 6), "cylinders")
    return told | ({"slips_skew": skewing[scheme]} if scheme in skewing else {})
