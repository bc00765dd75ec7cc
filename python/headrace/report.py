"""A run as one page: no network, no script, light and dark, wide and narrow, on screen and on paper."""

import html
import json
from pathlib import Path
from typing import Any

from headrace import figures, page, show
from headrace.files import write_whole
from headrace.results import Results

Json = dict[str, Any]

BOX_WIDTH, BOX_HEIGHT, GAP_X, GAP_Y = 118, 46, 34, 14


def render(results: Results, title: str = "headrace") -> str:
    """Return the page."""
    data = results.data
    streams = [_stream(results, at) for at, stream in enumerate(data["streams"]) if stream["response"]["count"]]
    return page.render(
        "run.html",
        title=title,
        answer=results.answer,
        notes=results.notes,
        results=results,
        streams=streams,
        drawing=system(data),
        utilisation=figures.svg(figures.utilisation_series(results)),
        response=figures.svg(figures.response_series(results)),
        components=[_component(part, data) for part in show.grouped(data["components"])],
        scenario=json.dumps(data["scenario"], indent=2, ensure_ascii=False),
    )


def write(results: Results, file: str | Path, title: str = "headrace") -> None:
    """Write the page to a file: whole, or not at all."""
    write_whole(file, render(results, title))


def _stream(results: Results, at: int) -> Json:
    stream, theory = results.data["streams"][at], results.data["theory"][at]
    columns, rows = show.response_table(stream, theory)
    return {
        "name": stream["name"],
        "cdf": figures.svg(figures.response_cdf(results, at)),
        "theory": show.theory_in_words(theory),
        "mean": show.milliseconds(stream["response"]["mean_ms"]),
        "legs": [
            {"component": component, "what": what, "time": show.milliseconds(time), "percent": share * 100}
            for component, what, time, share in show.legs(stream)
        ],
        "columns": columns,
        "rows": rows,
    }


def _component(part: Json, data: Json) -> list[str]:
    if part["utilisation"] is None:
        return [part["path"], "", "", "", "", ""]
    open_load = data["bottleneck"] is not None and data["bottleneck"]["saturates_at"] is not None
    used = part["utilisation"]
    return [
        part["path"],
        f"{used:.1%}",
        f"{1 / used:.2f} × this load" if open_load and used > 0 else "",
        f"{part['queue']:.3g}",
        f"{part['waiting_ms']:.4g}",
        f"{part['service_ms']:.4g}",
    ]


def system(data: Json) -> str:
    """Draw the system from streams to spindles, what is alike as one box, its utilisation as its filling."""
    columns: list[list[tuple[str, str, float | None, str]]] = [
        [(f"stream {stream['name']}", stream["name"], None, f"stream {stream['to']}") for stream in data["streams"]]
    ]
    parents = {f"stream {stream['name']}": stream["to"] for stream in data["streams"]}
    groups: dict[str, list[Json]] = {}
    for component in data["components"]:
        groups.setdefault(component["group"], []).append(component)
    for group, members in groups.items():
        depth = group.count("/") + 1
        while len(columns) <= depth:
            columns.append([])
        used = [member["utilisation"] for member in members if member["utilisation"] is not None]
        name = group.rsplit("/", 1)[-1] + (f" × {len(members)}" if len(members) > 1 else "")
        columns[depth].append((group, name, max(used) if used else None, group.rpartition("/")[0]))
    places = _places(columns)
    lines = [(box, parents[box]) for box in parents]
    lines += [(parent, group) for column in columns[1:] for group, _, _, parent in column if parent]
    drawn = [_line(places[a], places[b]) for a, b in lines if a in places and b in places]
    drawn += [_box(places[key], name, used) for column in columns for key, name, used, _ in column]
    width = len(columns) * (BOX_WIDTH + GAP_X) - GAP_X + 4
    height = max(len(column) for column in columns) * (BOX_HEIGHT + GAP_Y) + 4
    words = "the system, from streams to spindles"
    return f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img" aria-label="{words}">{"".join(drawn)}</svg>'


def _places(columns: list[list[tuple[str, str, float | None, str]]]) -> dict[str, tuple[float, float]]:
    most = max(len(column) for column in columns)
    places: dict[str, tuple[float, float]] = {}
    for at, column in enumerate(columns):
        above = (most - len(column)) * (BOX_HEIGHT + GAP_Y) / 2
        for row, (key, *_) in enumerate(column):
            places[key] = (2 + at * (BOX_WIDTH + GAP_X), 2 + above + row * (BOX_HEIGHT + GAP_Y))
    return places


def _line(a: tuple[float, float], b: tuple[float, float]) -> str:
    x1, y1, x2, y2 = a[0] + BOX_WIDTH, a[1] + BOX_HEIGHT / 2, b[0], b[1] + BOX_HEIGHT / 2
    return f'<path d="M{x1} {y1} C{x1 + 18} {y1} {x2 - 18} {y2} {x2} {y2}" fill="none" stroke="var(--dim)"/>'


def _box(place: tuple[float, float], name: str, used: float | None) -> str:
    x, y = place
    shape = f'<rect x="{x}" y="{y}" height="{BOX_HEIGHT}" rx="6" '
    outline = f'{shape} width="{BOX_WIDTH}" fill="var(--page)" stroke="var(--dim)"/>'
    filling = ""
    label = [_text(x, y + BOX_HEIGHT / 2 + (5 if used is None else -3), name, 13)]
    if used is not None:
        colour = "var(--warn)" if used > 0.8 else "var(--simulated)"
        filling = f'{shape} width="{max(BOX_WIDTH * used, 3):.1f}" fill="{colour}" opacity="0.35"/>'
        label.append(_text(x, y + BOX_HEIGHT / 2 + 14, f"{used:.0%} busy", 12))
    return outline + filling + "".join(label)


def _text(x: float, y: float, text: str, size: int) -> str:
    shown = text if len(text) <= 16 else text[:15] + "…"
    return (
        f'<text x="{x + BOX_WIDTH / 2}" y="{y}" font-size="{size}" text-anchor="middle" fill="var(--ink)">'
        f"{html.escape(shown)}<title>{html.escape(text)}</title></text>"
    )
