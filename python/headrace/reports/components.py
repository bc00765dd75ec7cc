"""The components of a run: utilisation, queues, headroom, and metrics of their own."""

from collections.abc import Iterator
from typing import Any

from headrace.quantities import Unit, amount, format_time, level, number, unit
from headrace.report import Cell, Level, Medium, Table

Json = dict[str, Any]

# Below this utilisation headroom is shown as more than a hundredfold.
LEAST_USED = 0.01
# Ratios as near to 1 as this are of numbers that pages write alike.
NEARLY = 0.02
# More alike components than this are one row.
MOST_ALIKE = 4


def components(found: Json) -> tuple[list[str], list[list[str]]]:
    """Return the components as columns and rows; background work and stalls have a column where there are some."""
    shown = list(grouped(found["components"]))
    shares = {"background": background, "stalled": stalled}
    beside = {name: share for name, share in shares.items() if any(map(share, shown))}
    wait, held = units_of_components(shown)
    rows = []
    for part in shown:
        busy = "" if part["utilisation"] is None else f"{part['utilisation']:.1%}"
        queue = "" if part["queue"] is None else level(part["queue"])
        times = (
            ("", "") if part["utilisation"] is None else (wait.cell(part["waiting_ms"]), held.cell(part["service_ms"]))
        )
        behind = ["" if part["utilisation"] is None else f"{share(part):.1%}" for share in beside.values()]
        rows.append([part["path"], busy, *behind, queue, *times, number(part["bytes_per_s"] / 1e6)])
        for portion in portions(part):
            cells = [f"{portion['utilisation']:.1%}", *[""] * len(beside), _queue(portion)]
            rows.append([_portion(part, portion), *cells, "", "", ""])
    return ["", "busy", *beside, "waiting", f"mean wait, {wait.name}", f"server held, {held.name}", "MB/s"], rows


def units_of_components(parts: list[Json]) -> tuple[Unit, Unit]:
    """Return the units of the columns of components' mean waits and of the times that servers were held."""
    served = [part for part in parts if part["utilisation"] is not None]
    return unit(part["waiting_ms"] for part in served), unit(part["service_ms"] for part in served)


# The busiest servers of a component that are shown where others cannot stand in for them.
MOST_PORTIONS = 8


def portions(part: Json) -> list[Json]:
    """Return the servers of a component that stand in for no others, unless they are all of it; of many the busiest."""
    whole = (part["servers"], f"{part['utilisation'] or 0:.1%}")
    some = [one for one in part["portions"] if (one["servers"], f"{one['utilisation']:.1%}") != whole]
    least = sorted((portion["utilisation"] for portion in some), reverse=True)[:MOST_PORTIONS]
    return [portion for portion in some if portion["utilisation"] >= least[-1]][:MOST_PORTIONS]


def _portion(part: Json, portion: Json) -> str:
    failed = portion["unavailable"]
    note = f" ({level(failed)} of {portion['servers']} failed)" if failed else ""
    return f"{part['path']}: {portion['what']}{note}"


def _queue(portion: Json) -> str:
    return "" if portion["queue"] is None else level(portion["queue"])


def background(part: Json) -> float:
    """Return the share of time that a component was busy with what no host waited for."""
    return float(sum(share for cause, share in part["utilisation_by_cause"].items() if cause != "host"))


def stalled(part: Json) -> float:
    """Return the share of time that a component was held by requests that waited for another component."""
    return float(part["stalled"] or 0)


def meters(found: Json) -> list[list[str]]:
    """Return the metrics that components have of their own, as rows: component, metric, value."""
    return [
        [part["path"], _metric(name), _plain(name, value)]
        for part in grouped(found["components"])
        for name, value in part["meters"].items()
        if value is not None
    ]


def metrics_by_kind(found: Json) -> list[tuple[list[str], list[list[str]]]]:
    """Return the same as one table for each kind of component, as columns and rows: a component a row."""
    kinds: dict[str, list[Json]] = {}
    for part in grouped(found["components"]):
        if part["meters"]:
            kinds.setdefault(part["kind"], []).append(part)
    return [_of_a_kind(kind.replace("_", " "), parts) for kind, parts in kinds.items()]


def _of_a_kind(kind: str, parts: list[Json]) -> tuple[list[str], list[list[str]]]:
    """Return the metrics of alike components; what some of them have no number of, such as a rebuild, is left empty."""
    names = list(dict.fromkeys(name for part in parts for name in part["meters"]))
    rows = [[part["path"], *(_plain(name, part["meters"].get(name)) for name in names)] for part in parts]
    return [kind, *map(_metric, names)], rows


# The ends of the names of shares.
SHARES = (
    "_share",
    "_ratio",
    "fill",
    "_progress",
    "full_stripe_writes",
    "full_stripe_destages",
    "ward_busy",
    "assembling",
)
# The ends of the names of times, and how many ms they count.
TIMES = {"s": 1e3, "ms": 1.0}


def _metric(name: str) -> str:
    """Return the name of a metric, of a time without its unit, which stands with the value: `rebuild_s` → `rebuild`."""
    what, _, end = name.rpartition("_")
    return (what if end in TIMES and what else name).replace("_", " ")


def _plain(name: str, value: float | None) -> str:
    """Write bytes, times and shares in their unit, a count whole, others in four digits; nothing where there is none.

    >>> _plain("purged_bytes", 7e9), _plain("to_tape_ms", 9e3), _plain("lost_share", 0.118), _plain("mounts", 795.0)
    ('7 GB', '9 s', '11.8%', '795')
    """
    if value is None:
        return ""
    if name.endswith(SHARES):
        return "<0.1%" if 0 < value < 0.001 else f"{value:.1%}"
    if "bytes" in name.split("_") and "per" not in name.split("_"):
        return amount(value)
    if scale := TIMES.get(name.rpartition("_")[2]):
        return format_time(value * scale)
    if 0 < value < 0.001:
        return "<0.001"
    return f"{value:,.0f}" if value == int(value) else number(value)


def grouped(components: list[Json]) -> Iterator[Json]:
    """Show few alike components one by one; of more than `MOST_ALIKE`, the busiest and how many there are.

    Dispatchers, which nobody wrote and which take no time, are left out.
    """
    groups: dict[str, list[Json]] = {}
    for component in components:
        if component["kind"] != "dispatcher":
            groups.setdefault(component["group"], []).append(component)
    for members in groups.values():
        if len(members) <= MOST_ALIKE:
            yield from members
        else:
            busiest = max(members, key=lambda member: (member["utilisation"] or 0, member["bytes_per_s"]))
            yield busiest | {"path": f"{busiest['path']} (busiest of {len(members)})"}


def headroom(found: Json) -> Table:
    """Return how far each component is from saturation, the busiest first."""
    shown = list(grouped(found["components"]))
    measured = [part for part in shown if part["utilisation"] is not None]
    units = units_of_components(measured)
    rows = [(part["utilisation"], _headroom(part, found, units)) for part in measured]
    rows += [(one["utilisation"], _headroom_of(part, one, found)) for part in shown for one in portions(part)]
    told = [row for _, row in sorted(rows, key=lambda row: -row[0])]
    least = ["mean queue", f"mean wait, {units[0].name}", f"server held, {units[1].name}"]
    columns = ["", " ", "busy", "background", "headroom", *least]
    heading, aside = "Headroom", "the multiple of this load at which a component saturates"
    if not _is_proportional(found):
        columns, told = _without(4, columns), [_without(4, row) for row in told]
        heading, aside = "Utilisation", "the share of the time for which components are busy"
    if not any(background(part) for part in measured):
        columns, told = _without(3, columns), [_without(3, row) for row in told]
    return Table(columns, told, heading=heading, aside=aside, least=least, on=Medium.PAGE)


def _without(at: int, row: list[Any]) -> list[Any]:
    return row[:at] + row[at + 1 :]


def _is_proportional(found: Json) -> bool:
    """Return true if utilisation grows in proportion to the load, so that its inverse is the answer's headroom."""
    of = found["bottleneck"]
    if of is None or of["saturates_at"] is None or of["saturated"]:
        return False
    return bool(abs(of["saturates_at"] * of["utilisation"] - 1) <= NEARLY)


def _headroom_of(part: Json, portion: Json, found: Json) -> list[Cell]:
    used = portion["utilisation"]
    multiple = _multiple(used) if _is_proportional(found) and used > 0 else ""
    return [_portion(part, portion), Level(min(used, 1)), f"{used:.1%}", "", multiple, _queue(portion), "", ""]


def _multiple(used: float) -> str:
    """Write how many times the load a component could take; far from saturation, nobody needs the number."""
    return f"{1 / used:.2f}×" if used >= LEAST_USED else f">{1 / LEAST_USED:.0f}×"


def _headroom(part: Json, found: Json, units: tuple[Unit, Unit]) -> list[Cell]:
    used, behind = part["utilisation"], background(part)
    return [
        part["path"],
        Level(min(used - behind, 1), min(behind, 1)),
        f"{used:.1%}",
        f"{behind:.1%}" if behind else "",
        _multiple(used) if _is_proportional(found) and used > 0 else "",
        level(part["queue"]),
        units[0].cell(part["waiting_ms"]),
        units[1].cell(part["service_ms"]),
    ]
