"""The diagram of a system: from streams to spindles, how busy each part is, how much goes where."""

import html
from dataclasses import dataclass
from typing import Any

from headrace.view import words

Json = dict[str, Any]
Place = tuple[float, float]

BOX_WIDTH, BOX_HEIGHT, GAP_X, GAP_Y = 168, 54, 96, 18
MARGIN = 3
# From this utilisation on a part is drawn in the next warmer colour.
WARMER = (0.25, 0.6, 0.85)
THINNEST, THICKEST = 1.5, 7.0
LONGEST_NAME = 20
# A drawing shrinks to this share of its size at most.
LEAST_SCALE = 0.7
# Boxes beside each other that fit on the screen of a telephone.
FIT_DOWN = 3


@dataclass(frozen=True)
class Box:
    """A stream, or components that are alike."""

    name: str
    depth: int
    whole: str
    """Its name in full."""
    leads_to: frozenset[str]
    """The boxes it sends work to, by their keys."""
    bytes_per_s: float
    """What goes through all of them."""
    used: float | None = None
    """The utilisation of the busiest of them."""
    background: float = 0.0
    """The part of it that no host waited for."""


def draw(found: Json, *, down: bool = False, choose: bool = False) -> str:
    """Draw the system from streams to spindles, from left to right or, for a narrow page, downwards.

    What is alike is one box, filled as far as the busiest of them is, hatched for work in the background. Lines are as
    wide as what goes along them, where that is known. With `choose` a box can be chosen, by mouse and by keyboard: its
    `data-part` names the group of components.
    """
    boxes = _boxes(found)
    places = _places(boxes, down=down)
    flows = _flows(boxes)
    most = max((flow for flow in flows.values() if flow), default=0.0)
    lines = [_line(places[a], places[b], flow, most, down=down) for (a, b), flow in flows.items()]
    # Numbers lie above all lines, so that none crosses one.
    drawn = [line for line, _ in lines] + [number for _, number in lines]
    drawn += [
        _button(key, box, _box(places[key], box)) if choose else _box(places[key], box) for key, box in boxes.items()
    ]
    width = max(x for x, _ in places.values()) + BOX_WIDTH + MARGIN
    height = max(y for _, y in places.values()) + BOX_HEIGHT + MARGIN
    words = "the system, from streams to spindles"
    # Letters stay legible on a narrow page: from this width on it is scrolled instead.
    least = f'style="min-width: {LEAST_SCALE * width:.0f}px"'
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" {least}'
    role = "group" if choose else "img"
    return f'<svg {size} role="{role}" aria-label="{words}">{HATCHED}{"".join(drawn)}</svg>'


HATCHED = (
    '<defs><pattern id="hatched" width="6" height="6" patternTransform="rotate(45)" patternUnits="userSpaceOnUse">'
    '<rect width="6" height="6" fill="var(--panel)"/>'
    '<path d="M0 0V6" stroke="var(--dim)" stroke-width="3" stroke-opacity="0.7"/>'
    "</pattern></defs>"
)


def _boxes(found: Json) -> dict[str, Box]:
    components = found["components"]
    uses = _uses(components)
    depths = _depths(uses)
    boxes = {
        f"stream {stream['name']}": Box(
            stream["name"], 0, stream["name"], frozenset([stream["enters"]]), stream["bytes_per_s"]
        )
        for stream in found["streams"]
    }
    for group, leads_to in uses.items():
        members = [component for component in components if component["group"] == group]
        busiest = max(members, key=lambda member: member["utilisation"] or 0.0)
        name = _short(group, members) + (f" × {len(members)}" if len(members) > 1 else "")
        behind = sum(share for cause, share in busiest["utilisation_by_cause"].items() if cause != "host")
        through = sum(member["bytes_per_s"] for member in members)
        boxes[group] = Box(name, depths[group], group, frozenset(leads_to), through, busiest["utilisation"], behind)
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


def _depths(uses: dict[str, set[str]]) -> dict[str, int]:
    """Return the column of each group: one more than that of the last that leads to it."""
    depths = dict.fromkeys(uses, 1)
    for _ in uses:
        for group, leads_to in uses.items():
            depths |= {other: max(depths[other], depths[group] + 1) for other in leads_to}
    return depths


def _flows(boxes: dict[str, Box]) -> dict[tuple[str, str], float | None]:
    """Return each line with the bytes a second along it: known of a stream, and of the only way to a component."""
    ways: dict[str, int] = {}
    for box in boxes.values():
        for other in box.leads_to:
            ways[other] = ways.get(other, 0) + 1
    return {
        (key, other): box.bytes_per_s if box.depth == 0 else boxes[other].bytes_per_s if ways[other] == 1 else None
        for key, box in boxes.items()
        for other in sorted(box.leads_to)
    }


def _places(boxes: dict[str, Box], *, down: bool) -> dict[str, Place]:
    """Return the upper left corner of each box: each depth a column, or downwards a row."""
    ranks = [
        [key for key, box in boxes.items() if box.depth == depth]
        for depth in range(max(box.depth for box in boxes.values()) + 1)
    ]
    most = max(map(len, ranks))
    # A page that is scrolled sideways begins at its left edge: so do streams then.
    scrolled = down and most > FIT_DOWN
    along, across = (BOX_HEIGHT + GAP_X / 2, BOX_WIDTH + GAP_Y) if down else (BOX_WIDTH + GAP_X, BOX_HEIGHT + GAP_Y)
    places: dict[str, Place] = {}
    for at, rank in enumerate(ranks):
        before = 0.0 if scrolled else (most - len(rank)) * across / 2
        for nth, key in enumerate(rank):
            far, beside = MARGIN + at * along, MARGIN + before + nth * across
            places[key] = (beside, far) if down else (far, beside)
    return places


def _line(a: Place, b: Place, flow: float | None, most: float, *, down: bool) -> tuple[str, str]:
    """Draw the way from one box to another, as wide as what goes along it, and the number beside it."""
    width = THINNEST + (THICKEST - THINNEST) * (flow / most if flow and most else 0.0)
    if down:
        x1, y1, x2, y2 = a[0] + BOX_WIDTH / 2, a[1] + BOX_HEIGHT, b[0] + BOX_WIDTH / 2, b[1]
        path = f"M{x1:g} {y1:g}C{x1:g} {y1 + 18:g} {x2:g} {y2 - 18:g} {x2:g} {y2:g}"
    else:
        x1, y1, x2, y2 = a[0] + BOX_WIDTH, a[1] + BOX_HEIGHT / 2, b[0], b[1] + BOX_HEIGHT / 2
        path = f"M{x1:g} {y1:g}C{x1 + 36:g} {y1:g} {x2 - 36:g} {y2:g} {x2:g} {y2:g}"
    line = f'<path d="{path}" fill="none" stroke="var(--flow)" stroke-width="{width:.1f}"/>'
    if not flow:
        return line, ""
    # Lines that begin at one box part towards their ends, so their numbers stand there, on the outside.
    beside = width / 2 + 12 if y2 > y1 else -width / 2 - 4
    x, y = (x2 + width / 2 + 4, y2 - 5) if down else (x2 - 6, y2 + beside)
    anchor = "start" if down else "end"
    place = f'x="{x:g}" y="{y:.1f}" font-size="11" text-anchor="{anchor}"'
    return line, f'<text {place} class="halo" fill="var(--dim)">{words.rate(flow)}</text>'


def _button(key: str, box: Box, drawn: str) -> str:
    """Make a box one that can be chosen; streams are no components."""
    if box.depth == 0:
        return drawn
    said = html.escape(box.name + ("" if box.used is None else f", {box.used:.0%} busy"))
    return f'<g data-part="{html.escape(key)}" role="button" tabindex="0" aria-label="{said}">{drawn}</g>'


def _box(place: Place, box: Box) -> str:
    x, y = place
    middle = x + BOX_WIDTH / 2
    drawn = [_rectangle(x, y, BOX_WIDTH, "var(--page)", box.whole)]
    if box.used is None:
        name_at = y + BOX_HEIGHT / 2 + 5
    else:
        name_at = y + BOX_HEIGHT / 2 - 3
        warmth = sum(box.used >= limit for limit in WARMER)
        drawn.append(_rectangle(x, y, BOX_WIDTH * min(box.used, 1), f"var(--used{warmth})", box.whole))
        if box.background >= 0.005:
            from_hosts, behind = BOX_WIDTH * (box.used - box.background), BOX_WIDTH * box.background
            drawn.append(_rectangle(x + from_hosts, y, behind, "url(#hatched)", "in the background"))
        busy, size = f"{box.used:.0%} busy", 11.5
        if box.background >= 0.005:
            busy, size = f"{busy}, {box.background:.0%} background", 9.5
        drawn.append(_text(middle, y + BOX_HEIGHT / 2 + 15, busy, size))
    outline = (
        f'<rect x="{x:g}" y="{y:g}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="6" fill="none" stroke="var(--dim)"/>'
    )
    shown = box.name if len(box.name) <= LONGEST_NAME else box.name[: LONGEST_NAME - 1] + "…"
    return "".join([*drawn, outline, _text(middle, name_at, shown, 13)])


def _rectangle(x: float, y: float, width: float, fill: str, title: str) -> str:
    shape = f'<rect x="{x:.1f}" y="{y:g}" width="{width:.1f}" height="{BOX_HEIGHT}" rx="6" fill="{fill}">'
    return f"{shape}<title>{html.escape(title)}</title></rect>"


def _text(x: float, y: float, text: str, size: float) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="middle" fill="var(--ink)" '
        f'class="halo" pointer-events="none">{html.escape(text)}</text>'
    )
