"""Facts about a machine and a directory on it: processor, memory, kernel, file system, block device."""

import os
import platform
import re
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def describe(folder: Path) -> Json:
    """Return what is known of this machine and of where `folder` lies; what cannot be read is left out.

    `memory_bytes` matters for buffered measurements; `rotational` is what the kernel says of the block device.
    """
    told = {
        "kernel": f"{platform.system()} {platform.release()}",
        "cpu": _first(r"model name\s*:\s*(.+)", "/proc/cpuinfo") or platform.machine(),
        "cores": os.cpu_count(),
        "memory_bytes": _memory(),
        **_mount(folder),
    }
    return {name: value for name, value in told.items() if value is not None}


def _first(pattern: str, file: str) -> str | None:
    try:
        found = re.search(pattern, Path(file).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
    return found[1].strip() if found else None


def _memory() -> int | None:
    kib = _first(r"MemTotal:\s*(\d+) kB", "/proc/meminfo")
    return int(kib) * 1024 if kib else None


def _mount(folder: Path) -> Json:
    """Return the file system that holds a folder: the mount whose device number is that of the folder."""
    try:
        number = folder.stat().st_dev
        lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    device = f"{os.major(number)}:{os.minor(number)}"
    for line in lines:
        before, _, after = line.partition(" - ")
        words, kind = before.split(), after.split()
        if len(words) > 2 and words[2] == device and len(kind) > 1:
            return {"filesystem": kind[0], "device": kind[1], "rotational": _rotational(device)}
    return {}


def _rotational(device: str) -> bool | None:
    """Return whether the kernel says that a block device turns; a partition says so by its parent."""
    for place in ("queue", "../queue"):
        said = _first(r"([01])", f"/sys/dev/block/{device}/{place}/rotational")
        if said:
            return said == "1"
    return None
