"""The picture of a system: from streams to spindles, how busy each part is."""

import html
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

BOX_WIDTH, BOX_HEIGHT, GAP_X, GAP_Y = 118, 46, 34, 14


@dataclass(frozen=True)
class Box:
    """A stream, or components that are alike."""

    name: str
    depth: int
    whole: str
    """Its name in full."""
    leads_to: frozenset[str]
    """The boxes it sends work to, by their keys."""
    used: float | None = None
    """The utilisation of the busiest of them."""
    background: float = 0.0
    """The part of it that no host waited for."""


def draw(found: Json) -> str:
    """Draw the system from streams to spindles, what is alike as one box, its utilisation as its filling."""
    boxes = _boxes(found)
    places = _places(boxes)
    lines = [(key, other) for key, box in boxes.items() for other in sorted(box.leads_to)]
    drawn = [_line(places[a], places[b]) for a, b in lines]
    drawn += [_box(places[key], box) for key, box in boxes.items()]
    columns = _columns(boxes)
    width = len(columns) * (BOX_WIDTH + GAP_X) - GAP_X + 4
    height = max(len(column) for column in columns) * (BOX_HEIGHT + GAP_Y) + 4
    words = "the system, from streams to spindles"
    return f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img" aria-label="{words}">{"".join(drawn)}</svg>'


def _boxes(found: Json) -> dict[str, Box]:
    components = found["components"]
    uses = _uses(components)
    depths = _depths(uses, {stream["enters"] for stream in found["streams"]})
    boxes = {
        f"stream {stream['name']}": Box(stream["name"], 0, stream["name"], frozenset([stream["enters"]]))
        for stream in found["streams"]
    }
    for group, leads_to in uses.items():
        members = [component for component in components if component["group"] == group]
        busiest = max(members, key=lambda member: member["utilisation"] or 0.0)
        name = _short(group, members) + (f" × {len(members)}" if len(members) > 1 else "")
        behind = sum(share for cause, share in busiest["utilisation_by_cause"].items() if cause != "host")
        boxes[group] = Box(name, depths[group], group, frozenset(leads_to), busiest["utilisation"], behind)
    return boxes


def _short(group: str, members: list[Json]) -> str:
    """Return the name of a group; of a part, without what it is a part of, unless that says what it is."""
    return (
        group
        if members[0]["within"] is None or members[0]["kind"] == "port"
        else members[0]["written"].split(".", 1)[-1].removesuffix(".of")
    )


def _uses(components: list[Json]) -> dict[str, set[str]]:
    """Return for each group the groups that it sends work to."""
    uses: dict[str, set[str]] = {component["group"]: set() for component in components}
    for component in components:
        uses[component["group"]] |= {components[used]["group"] for used in component["uses"]}
    return uses


def _depths(uses: dict[str, set[str]], targets: set[str]) -> dict[str, int]:
    """Return the column of each group: one more than that of the last that leads to it."""
    depths = dict.fromkeys(uses, 1)
    for _ in uses:
        for group, leads_to in uses.items():
            depths |= {other: max(depths[other], depths[group] + 1) for other in leads_to}
    return depths | {target: max(depths[target], 1) for target in targets}


def _columns(boxes: dict[str, Box]) -> list[list[str]]:
    return [
        [key for key, box in boxes.items() if box.depth == depth]
        for depth in range(max(box.depth for box in boxes.values()) + 1)
    ]


def _places(boxes: dict[str, Box]) -> dict[str, tuple[float, float]]:
    columns = _columns(boxes)
    most = max(len(column) for column in columns)
    places: dict[str, tuple[float, float]] = {}
    for at, column in enumerate(columns):
        above = (most - len(column)) * (BOX_HEIGHT + GAP_Y) / 2
        for row, key in enumerate(column):
            places[key] = (2 + at * (BOX_WIDTH + GAP_X), 2 + above + row * (BOX_HEIGHT + GAP_Y))
    return places


def _line(a: tuple[float, float], b: tuple[float, float]) -> str:
    x1, y1, x2, y2 = a[0] + BOX_WIDTH, a[1] + BOX_HEIGHT / 2, b[0], b[1] + BOX_HEIGHT / 2
    return f'<path d="M{x1} {y1} C{x1 + 18} {y1} {x2 - 18} {y2} {x2} {y2}" fill="none" stroke="var(--dim)"/>'


def _box(place: tuple[float, float], box: Box) -> str:
    x, y = place
    shape = f'<rect x="{x}" y="{y}" height="{BOX_HEIGHT}" rx="6" '
    drawn = [f'{shape} width="{BOX_WIDTH}" fill="var(--page)" stroke="var(--dim)"/>']
    label = [_text(x, y + BOX_HEIGHT / 2 + (5 if box.used is None else -3), box.name, 13, box.whole)]
    if box.used is not None:
        colour = "var(--warn)" if box.used > 0.8 else "var(--simulated)"
        drawn.append(f'{shape} width="{max(BOX_WIDTH * box.used, 3):.1f}" fill="{colour}" opacity="0.35"/>')
        if box.background:
            host = BOX_WIDTH * (box.used - box.background)
            width = BOX_WIDTH * box.background
            behind = f'<rect x="{x + host:.1f}" y="{y}" height="{BOX_HEIGHT}" rx="6" width="{width:.1f}"'
            drawn.append(f'{behind} fill="var(--theory)" opacity="0.5"><title>in the background</title></rect>')
        busy = f"{box.used:.0%} busy" + (f" ({box.background:.0%} bg)" if box.background >= 0.005 else "")
        whole = f"{box.used:.1%} busy, {box.background:.1%} in the background"
        label.append(_text(x, y + BOX_HEIGHT / 2 + 14, busy, 11, whole))
    return "".join(drawn + label)


def _text(x: float, y: float, text: str, size: int, whole: str) -> str:
    shown = text if len(text) <= 18 else text[:17] + "…"
    return (
        f'<text x="{x + BOX_WIDTH / 2}" y="{y}" font-size="{size}" text-anchor="middle" fill="var(--ink)">'
        f"{html.escape(shown)}<title>{html.escape(whole)}</title></text>"
    )
