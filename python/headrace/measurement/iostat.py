"""Reports of `iostat -x` (sysstat 11 and later, text or `-o JSON`) as a measurement.

Each report of a device is a load: reads and writes came at the rates that were seen, whatever the device did with them.
"""

import json
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from headrace.errors import read_text, refusal
from headrace.measurement.points import Measurement

Json = dict[str, Any]
Report = dict[str, dict[str, float]]
"""The numbers of each device, by the names of their columns."""

# Of reads and of writes: their columns, without the first letter, which says which.
SIDES = {"read": "r", "write": "w"}
# What bytes per second are written in, and how many bytes one of it is.
RATES = {"kB/s": 1024, "MB/s": 1 << 20, "sec/s": 512}
# Fewer requests a second than this are nothing to compare with.
FEWEST_PER_S = 1.0
SECTOR = 512
# Requests that no stream has here.
BESIDE = {"d/s": "discards", "f/s": "flushes"}
QUEUES = ("aqu-sz", "avgqu-sz")
# The mean time of reads and writes together, in sysstat 10 and before.
TOGETHER = "await"
LONE = "there is one report: unless iostat ran with -y, it is the mean since the machine started, not that of a load"
EXTENDED = "run `iostat -x 10` while the load runs, and keep what it prints"


def read(file: Path, disk: str | None = None) -> Measurement:
    """Return the points of a device: one of reads and one of writes for each report in which there were some.

    `disk` is the device, default: the only one at work. The first report is since the machine started, and left out if
    there are others. iostat does not say where requests went: points are `random`.
    """
    reports = _reports(file)
    remarks = [LONE if len(reports) == 1 else "the first report, which is since the machine started, is left out"]
    reports = reports[1:] or reports
    name = _device(file, reports, disk)
    points = [point for at, report in enumerate(reports, 1) for point in _points(file, name, at, report.get(name, {}))]
    if not points:
        told = f"{file}: {name} had less than one read or write a second"
        raise refusal(file, told, "measure while it works")
    remarks.append("iostat does not say where requests went: they are taken as random")
    if any(TOGETHER in report.get(name, {}) for report in reports):
        remarks.append("`await` is that of reads and writes together: both have it here")
    for column, what in BESIDE.items():
        if any(report.get(name, {}).get(column, 0) > 0 for report in reports):
            remarks.append(f"{what} are left out, and slowed reads and writes down if they were many")
    return Measurement(points, {"iostat": name}, remarks)


def _device(file: Path, reports: list[Report], disk: str | None) -> str:
    """Return the device that is named, or the only one that read or wrote."""
    known = list(dict.fromkeys(name for report in reports for name in report))
    if disk is not None:
        if disk not in known:
            raise refusal(file, f"{file} has no device `{disk}`", f"its devices are {', '.join(known)}")
        return disk
    busy = [name for name in known if any(_is_busy(report.get(name, {})) for report in reports)]
    if len(busy) != 1:
        told = f"{file}: {len(busy)} devices read or wrote" if busy else f"{file}: no device read or wrote"
        raise refusal(file, told, f"name one with --disk: {', '.join(busy or known)}")
    return busy[0]


def _is_busy(numbers: dict[str, float]) -> bool:
    return any(numbers.get(f"{side}/s", 0) >= FEWEST_PER_S for side in SIDES.values())


def _points(file: Path, device: str, at: int, numbers: dict[str, float]) -> Iterable[Json]:
    rates = {op: numbers.get(f"{side}/s", 0.0) for op, side in SIDES.items()}
    for op, side in SIDES.items():
        if rates[op] < FEWEST_PER_S:
            continue
        size = _size(numbers, side, rates[op])
        yield {
            "job": f"{device}, report {at}",
            "source": file.name,
            "op": op,
            "pattern": "random",
            "read_share": rates["read"] / sum(rates.values()),
            "block_bytes": size,
            "iodepth": max(round(next((numbers[name] for name in QUEUES if name in numbers), 1.0)), 1),
            "numjobs": 1,
            "iops": rates[op],
            "bandwidth_bytes_per_s": _bytes_per_s(numbers, side) or rates[op] * size,
            # A time that rounds to nothing is at most half of its last digit.
            "mean_ms": numbers[f"{side}_await"] or 0.005,
            "arrivals": "open",
        }


def _size(numbers: dict[str, float], side: str, per_s: float) -> int:
    """Return the mean size of a request: iostat's own if there, since few bytes a second round to nothing."""
    kib = numbers.get(f"{side}areq-sz") or _bytes_per_s(numbers, side) / per_s / 1024
    return max(round(kib * 1024 / SECTOR), 1) * SECTOR


def _bytes_per_s(numbers: dict[str, float], side: str) -> float:
    return next(numbers[side + unit] * scale for unit, scale in RATES.items() if side + unit in numbers)


def _reports(file: Path) -> list[Report]:
    """Return the reports of a file in their order; raise `ScenarioError` where it has none."""
    text = read_text(file, "a report of iostat is text or JSON")
    reports = _of_json(file, text) if text.lstrip().startswith("{") else _of_text(file, text)
    if not reports and re.search(r"^\s.*\sDevice\s*$", text, re.MULTILINE):
        raise refusal(file, f"{file} was written by `iostat -h`, with rounded numbers", "run it without -h")
    if not reports:
        raise refusal(file, f"{file} is no report of iostat", EXTENDED)
    return [{name: _numbers(file, name, one) for name, one in report.items()} for report in reports]


def _of_text(file: Path, text: str) -> list[dict[str, Json]]:
    """Return the tables below each heading `Device`."""
    reports: list[dict[str, Json]] = []
    names: list[str] = []
    for line in text.splitlines():
        cells = line.split()
        if cells and cells[0].rstrip(":") == "Device":
            names = cells[1:]
            reports.append({})
        elif not cells or not names:
            names = []
        elif len(cells) != len(names) + 1:
            told = f"{file}: the line of {cells[0]} has {len(cells) - 1} of {len(names)} numbers"
            raise refusal(file, told, "it is cut off: leave the last report out, or let iostat end by itself")
        else:
            reports[-1][cells[0]] = dict(zip(names, cells[1:], strict=True))
    return reports


def _of_json(file: Path, text: str) -> list[dict[str, Json]]:
    try:
        hosts = json.loads(text)["sysstat"]["hosts"]
        disks = [one["disk"] for host in hosts for one in host["statistics"]]
        return [{str(disk["disk_device"]): disk for disk in of} for of in disks]
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        told = f"{file} is no report of iostat, or is cut off: {type(error).__name__}: {error}"
        raise refusal(file, told, "let `iostat -x -o JSON 10 6` end by itself, and keep what it prints") from None


def _numbers(file: Path, device: str, cells: Json) -> dict[str, float]:
    """Return the numbers of a device; refuse a report without times and bytes, or with other decimal points."""
    if "tps" in cells:
        told = f"{file} has reads and writes as one (`iostat -s`, or without -x)"
        raise refusal(file, told, EXTENDED)
    if "r_await" in cells:
        cells = {name: cell for name, cell in cells.items() if name != TOGETHER}
    elif TOGETHER in cells:
        cells = cells | {f"{side}_await": cells[TOGETHER] for side in SIDES.values()}
    for side in SIDES.values():
        needed = [f"{side}/s", f"{side}_await"]
        missing = [name for name in needed if name not in cells]
        if missing or not any(side + unit in cells for unit in RATES):
            lacks = missing[0] if missing else f"{side}kB/s"
            raise refusal(file, f"{file}: the report has no column `{lacks}`", EXTENDED)
    return {name: _number(file, device, name, cell) for name, cell in cells.items() if name != "disk_device"}


def _number(file: Path, device: str, name: str, cell: object) -> float:
    text = str(cell)
    if re.fullmatch(r"\d+,\d+", text):
        raise refusal(file, f"{file}: `{name}` of {device} is {text}", "run it with LC_ALL=C, for decimal points")
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < 1e15:
        told = f"{file}: `{name}` of {device} is {text[:40]}, not a number"
        raise refusal(file, told, "run it without -h; or the file is damaged: copy it again")
    return number
