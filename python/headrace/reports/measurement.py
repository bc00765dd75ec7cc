"""The report of a measurement: its points."""

from typing import Any

from headrace.quantities import aligned, number, size, unit
from headrace.report import Report, Table, noted

Json = dict[str, Any]


def report(points: list[Json], machine: Json, remarks: list[str]) -> Report:
    """Return the report of a measurement."""
    table = Table(*rows(points), heading="Points", words=("op", "pattern"))
    return Report("measurement", in_a_sentence(points, machine), notes=noted(remarks), blocks=[table])


def in_a_sentence(points: list[Json], machine: Json) -> str:
    """Return what was measured, and with what."""
    by = f", measured with {machine['fio']}" if isinstance(machine.get("fio"), str) else ""
    by += f" of {machine['iostat']}, measured with iostat" if isinstance(machine.get("iostat"), str) else ""
    many = "1 point" if len(points) == 1 else f"{len(points)} points"
    least, most = min(point["iops"] for point in points), max(point["iops"] for point in points)
    reach = number(least) if least == most else f"{number(least)} to {number(most)}"
    return f"{many}{by}: {reach} requests/s."


def rows(points: list[Json]) -> tuple[list[str], list[list[str]]]:
    """Return the points as columns and rows."""
    of = unit(point["p99_ms"] or point["mean_ms"] for point in points)
    columns = ["op", "pattern", "record", "depth", "jobs", "requests/s", "MB/s", f"mean, {of.name}", "p50", "p99"]
    return columns, [
        [
            point["op"],
            point["pattern"],
            size(point["block_bytes"]),
            *(("open", "") if point["arrivals"] else (str(point["iodepth"]), str(point["numjobs"]))),
            aligned(point["iops"]),
            aligned((point["bandwidth_bytes_per_s"] or point["iops"] * point["block_bytes"]) / 1e6),
            aligned(of.of(point["mean_ms"])),
            *("—" if point[name] is None else aligned(of.of(point[name])) for name in ("p50_ms", "p99_ms")),
        ]
        for point in points
    ]
