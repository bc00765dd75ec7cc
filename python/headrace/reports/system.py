"""The diagram of a system: from streams to spindles, how busy each part is, how much goes where."""

import html
from collections import Counter
from dataclasses import dataclass
from typing import Any

from headrace.quantities import rate

Json = dict[str, Any]
Position = tuple[float, float]

BOX_WIDTH, BOX_HEIGHT, GAP_X, GAP_Y = 168, 56, 96, 18
MARGIN = 3
# From this utilisation on a part is drawn in the next warmer colour.
WARMER = (0.25, 0.6, 0.85)
THINNEST, THICKEST = 1.5, 7.0
LONGEST_NAME = 21
# A drawing shrinks to this share of its size at most.
LEAST_SCALE = 0.7
# Boxes beside each other that fit on the screen of a telephone, and the gap between rows of one depth.
FIT_DOWN, GAP_ROW = 2, 30


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
    ways = Counter(b for _, b in flows)
    lines = []
    for (a, b), flow in flows.items():
        others = [place for key, place in places.items() if key not in (a, b)] if len(places) <= MOST_PASSED else []
        lines.append(_line(places[a], places[b], others, (flow, most), early=ways[b] > 1, down=down))
    # Numbers lie above all lines, so that none crosses one.
    drawn = [line for line, _ in lines] + [number for _, number in lines]
    # A page has one of the two drawings hidden, and what it defines is hidden with it: each has a pattern of its own.
    pattern = "hatched-down" if down else "hatched"
    of_boxes = {key: _box(places[key], box, pattern) for key, box in boxes.items()}
    drawn += [_button(key, boxes[key], box) if choose else box for key, box in of_boxes.items()]
    width = max(x for x, _ in places.values()) + BOX_WIDTH + MARGIN
    height = max(y for _, y in places.values()) + BOX_HEIGHT + MARGIN
    words = "the system, from streams to spindles"
    # Letters stay legible on a narrow page: from this width on it is scrolled instead.
    least = f'style="min-width: {LEAST_SCALE * width:.0f}px"'
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" {least}'
    role = "group" if choose else "img"
    return f'<svg {size} role="{role}" aria-label="{words}">{HATCHED % pattern}{"".join(drawn)}</svg>'


HATCHED = (
    '<defs><pattern id="%s" width="6" height="6" patternTransform="rotate(45)" patternUnits="userSpaceOnUse">'
    '<rect width="6" height="6" fill="var(--panel)"/>'
    '<path d="M0 0V6" stroke="var(--dim)" stroke-width="3" stroke-opacity="0.7"/>'
    "</pattern></defs>"
)


def _boxes(found: Json) -> dict[str, Box]:
    # Nobody wrote a dispatcher, and it takes no time: streams lead to what it leads to.
    every = _uses(found["components"])
    dispatchers = {part["group"]: every[part["group"]] for part in found["components"] if part["kind"] == "dispatcher"}
    components = [part for part in found["components"] if part["group"] not in dispatchers]
    uses = {group: leads_to for group, leads_to in every.items() if group not in dispatchers}
    depths = _depths(uses)
    boxes = {
        f"stream {stream['name']}": Box(
            stream["name"],
            0,
            stream["name"],
            frozenset(dispatchers.get(stream["enters"], [stream["enters"]])),
            stream["bytes_per_s"],
        )
        for stream in found["streams"]
    }
    members_of: dict[str, list[Json]] = {group: [] for group in uses}
    for component in components:
        members_of[component["group"]].append(component)
    for group, leads_to in uses.items():
        members = members_of[group]
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
        else members[0]["written"].split(".", 1)[-1].removesuffix(".of").replace(".", "/")
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
        before = depths.copy()
        for group, leads_to in uses.items():
            depths |= {other: max(depths[other], depths[group] + 1) for other in leads_to}
        if depths == before:
            break
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


def _places(boxes: dict[str, Box], *, down: bool) -> dict[str, Position]:
    """Return the upper left corner of each box: each depth a column, or downwards as many rows as it takes."""
    ranks = [
        [key for key, box in boxes.items() if box.depth == depth]
        for depth in range(max(box.depth for box in boxes.values()) + 1)
    ]
    if down:
        return _rows(ranks)
    most = max(map(len, ranks))
    places: dict[str, Position] = {}
    for at, rank in enumerate(ranks):
        before = (most - len(rank)) * (BOX_HEIGHT + GAP_Y) / 2
        for nth, key in enumerate(rank):
            places[key] = (MARGIN + at * (BOX_WIDTH + GAP_X), MARGIN + before + nth * (BOX_HEIGHT + GAP_Y))
    return places


def _rows(ranks: list[list[str]]) -> dict[str, Position]:
    """Return the corners of boxes downwards, where a rank that is too wide for a telephone goes on in further rows."""
    across = BOX_WIDTH + GAP_Y
    most = min(max(map(len, ranks)), FIT_DOWN)
    places: dict[str, Position] = {}
    y = float(MARGIN)
    for rank in ranks:
        rows = [rank[at : at + FIT_DOWN] for at in range(0, len(rank), FIT_DOWN)]
        for row in rows:
            before = (most - len(row)) * across / 2
            places |= {key: (MARGIN + before + nth * across, y) for nth, key in enumerate(row)}
            y += BOX_HEIGHT + GAP_ROW
        y += GAP_X / 2 - GAP_ROW
    return places


def _line(
    a: Position, b: Position, others: list[Position], flows: tuple[float | None, float], *, early: bool, down: bool
) -> tuple[str, str]:
    """Draw the way from one box to another, as wide as what goes along it beside the most, and the number beside it.

    It passes other boxes at their side. Lines that begin at one box part towards their ends, so their numbers stand
    there, on the outside; those that end at one, where they begin (`early`).
    """
    flow, most = flows
    width = THINNEST + (THICKEST - THINNEST) * (flow / most if flow and most else 0.0)
    if down:
        x1, y1, x2, y2 = a[0] + BOX_WIDTH / 2, a[1] + BOX_HEIGHT, b[0] + BOX_WIDTH / 2, b[1]
        path = f"M{x1:g} {y1:g}{_past(others, (x1, y1), (x2, y2), down=down)} {x2:g} {y2 - 18:g} {x2:g} {y2:g}"
    else:
        x1, y1, x2, y2 = a[0] + BOX_WIDTH, a[1] + BOX_HEIGHT / 2, b[0], b[1] + BOX_HEIGHT / 2
        path = f"M{x1:g} {y1:g}{_past(others, (x1, y1), (x2, y2), down=down)} {x2 - 36:g} {y2:g} {x2:g} {y2:g}"
    line = f'<path d="{path}" fill="none" stroke="var(--flow)" stroke-width="{width:.1f}"/>'
    if not flow:
        return line, ""
    beside = width / 2 + 12 if y2 > y1 and not early else -width / 2 - 4
    if down:
        x, y = (x1 + width / 2 + 4, y1 + 12) if early else (x2 + width / 2 + 4, y2 - 5)
    else:
        x, y = (x1 + 6, y1 + beside) if early else (x2 - 6, y2 + beside)
    anchor = "start" if down or early else "end"
    place = f'x="{x:g}" y="{y:.1f}" font-size="11" text-anchor="{anchor}"'
    return line, f'<text {place} class="halo over" fill="var(--dim)">{rate(flow)}</text>'


# Points of a line at which it is looked for a box in its way, and boxes for which that is done.
LOOKS, MOST_PASSED = 16, 100


def _past(others: list[Position], begins: Position, ends: Position, *, down: bool) -> str:
    """Return the way from where a line begins to where it turns to its end: straight, or beside what is in the way."""
    (x1, y1), (x2, y2) = begins, ends
    line = [(x1 + (x2 - x1) * at / LOOKS, y1 + (y2 - y1) * at / LOOKS) for at in range(1, LOOKS)]
    inside = [(x, y) for x, y in others if any(x < px < x + BOX_WIDTH and y < py < y + BOX_HEIGHT for px, py in line)]
    if not inside:
        return f"C{x1:g} {y1 + 18:g}" if down else f"C{x1 + 36:g} {y1:g}"
    (left, right), (top, bottom) = ((min(of), max(of)) for of in zip(*inside, strict=True))
    if down:
        # In the gap between two columns, or beside the only one.
        side = left + BOX_WIDTH + GAP_Y / 2 if left <= MARGIN else left - GAP_Y / 2
        return (
            f"C{x1:g} {y1 + 18:g} {side:g} {top - 12:g} {side:g} {top:g}L{side:g} {bottom + BOX_HEIGHT:g}"
            f"C{side:g} {bottom + BOX_HEIGHT + 12:g}"
        )
    side = top + BOX_HEIGHT + GAP_Y / 2 if top <= MARGIN else top - GAP_Y / 2
    return (
        f"C{x1 + 36:g} {y1:g} {left - 36:g} {side:g} {left:g} {side:g}L{right + BOX_WIDTH:g} {side:g}"
        f"C{right + BOX_WIDTH + 36:g} {side:g}"
    )


def _button(key: str, box: Box, drawn: str) -> str:
    """Make a box one that can be chosen; streams are no components."""
    if box.depth == 0:
        return drawn
    said = html.escape(box.name + ("" if box.used is None else f", {box.used:.0%} busy"))
    return f'<g data-part="{html.escape(key)}" role="button" tabindex="0" aria-label="{said}">{drawn}</g>'


def _box(place: Position, box: Box, pattern: str) -> str:
    x, y = place
    middle = x + BOX_WIDTH / 2
    drawn = [_rectangle(x, y, BOX_WIDTH, "var(--page)", box.whole)]
    if box.used is None:
        name_at = y + BOX_HEIGHT / 2 + 5
    else:
        lines = 3 if box.background >= 0.005 else 2
        name_at = y + BOX_HEIGHT / 2 + 13 - 9 * lines + 2
        warmth = sum(box.used >= limit for limit in WARMER)
        drawn.append(_rectangle(x, y, BOX_WIDTH * min(box.used, 1), f"var(--used{warmth})", box.whole))
        if box.background >= 0.005:
            from_hosts, behind = BOX_WIDTH * (box.used - box.background), BOX_WIDTH * box.background
            drawn.append(_rectangle(x + from_hosts, y, behind, f"url(#{pattern})", "in the background"))
        drawn.append(_text(middle, name_at + 17, f"{box.used:.0%} busy", 11.5))
        if box.background >= 0.005:
            drawn.append(_text(middle, name_at + 32, f"{box.background:.0%} background", 11))
    outline = (
        f'<rect x="{x:g}" y="{y:g}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="6" fill="none" stroke="var(--dim)"/>'
    )
    name, times, many = box.name.partition(" × ")
    room = LONGEST_NAME - len(times + many)
    shown = (name if len(name) <= room else name[: room - 1] + "…") + times + many
    return "".join([*drawn, outline, _text(middle, name_at, shown, 13)])


def _rectangle(x: float, y: float, width: float, fill: str, title: str) -> str:
    shape = f'<rect x="{x:.1f}" y="{y:g}" width="{width:.1f}" height="{BOX_HEIGHT}" rx="6" fill="{fill}">'
    return f"{shape}<title>{html.escape(title)}</title></rect>"


def _text(x: float, y: float, text: str, size: float) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="middle" fill="var(--ink)" '
        f'class="halo" pointer-events="none">{html.escape(text)}</text>'
    )
