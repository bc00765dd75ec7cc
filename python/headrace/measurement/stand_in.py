"""The drive that an imported load goes to until the user describes the real storage."""

from typing import Any

from headrace import _core
from headrace.devices import catalogue
from headrace.errors import refusal
from headrace.quantities import exact_size

Json = dict[str, Any]
DEVICE = "micron-7450-pro-1920gb"
# A solid-state drive maps no more flash than 16 TiB, some of which is over-provisioning.
MOST_OF_A_DRIVE = 12 << 40


def storage(device: str | None, needed: int) -> tuple[Json, list[str]]:
    """Return a component of a model, by default `DEVICE`, that holds as many bytes as are needed, and remarks on it."""
    name = device or DEVICE
    remarks = []
    if device is None:
        remarks.append(f"a {DEVICE} stands for the real storage; name another with --device, or edit `system`")
    kind, whole = kind_of_drive(name), -(-needed // (1 << 30)) * (1 << 30)
    own = _capacity(name)
    if whole <= own:
        return {"type": kind, "device": name}, remarks
    if kind == "ssd" and whole > MOST_OF_A_DRIVE:
        disks = -(-whole // own)
        remarks.append(f"the data does not fit on a {name}: RAID 0 of {disks} holds it here")
        of = {"type": kind, "device": name}
        return {"type": "array", "level": "raid0", "of": of, "disks": disks, "stripe_unit": "1 MiB"}, remarks
    remarks.append(f"the data does not fit on a {name}, so its capacity is {exact_size(whole)} here")
    return {"type": kind, "device": {"like": name, "capacity": exact_size(whole)}}, remarks


def kind_of_drive(device: str) -> str:
    """Return `disk` or `ssd`, as the device is; raise `ScenarioError` if it is no drive, or none that is known."""
    kind = catalogue.kind(device)
    if kind not in ("disk", "ssd"):
        raise refusal(device, f"`{device}` is a {kind}, not a drive", "name a disk or a solid-state drive")
    return kind


def _capacity(device: str) -> int:
    written = catalogue.numbers(device)["capacity"]
    return int(_core.quantity("size", written["value"] if isinstance(written, dict) else written))
