"""A run as one page: no network, no script, light and dark, wide and narrow, on screen and on paper."""

import json
from pathlib import Path
from typing import Any

from headrace import times
from headrace.results import Results
from headrace.view import words
from headrace.view.pages import page
from headrace.view.pages.layout import fits
from headrace.view.pictures import run as pictures
from headrace.view.pictures import system
from headrace.view.pictures.chart import svg
from headrace.view.tables import run as tables

Json = dict[str, Any]


# Beside more streams than this, tiles would be a table.
MOST_TILES = 3


def write(results: Results, file: str | Path, *, title: str | None = None) -> None:
    """Write the page to a file: whole, or not at all. `title` is what was run; default: the names of its streams."""
    found = results.data
    page.write(
        file,
        "run.html",
        title=title or ", ".join(stream["name"] for stream in found["streams"]),
        subtitle=_what_was_run(found),
        answer=results.answer,
        notes=results.notes,
        tiles=tiles(found),
        streams=streams(found),
        drawing=system.draw(found),
        drawing_down=system.draw(found, down=True),
        utilisation=svg(pictures.utilisation_series(found)),
        response=svg(pictures.response_series(found)),
        levels=[
            (title, svg(drawing)) for title, drawing in (*pictures.fill_series(found), *pictures.drives_series(found))
        ],
        phases=tables.phases(found) if found["phases"] else None,
        components=tables.saturation(found),
        metrics=_by_width(tables.metrics_by_kind(found)),
        scenario=json.dumps(found["scenario"], indent=2, ensure_ascii=False),
    )


Metrics = list[tuple[str, list[str], list[list[str]]]]


def _by_width(tables: list[tuple[list[str], list[list[str]]]]) -> tuple[Metrics, Metrics]:
    """Return the tables that fit half a page, and the others. Of one component alone, each metric is a row."""
    half: Metrics = []
    whole: Metrics = []
    for (kind, *names), rows in tables:
        if len(rows) == 1:
            pairs = [list(pair) for pair in zip(names, rows[0][1:], strict=True)]
            half.append((kind, ["", rows[0][0]], pairs))
        else:
            (half if fits(["", *names], rows) else whole).append((kind, ["", *names], rows))
    return half, whole


def _what_was_run(found: Json) -> str:
    warm_up = f"{times.span(found['warm_up_s'])} of" if found["warm_up_s"] else "no"
    runs, answered = found["replications"], sum(stream["completed"] for stream in found["streams"])
    return (
        f"{words.counted(runs, 'replication')}, {words.counted(answered, 'request')}, "
        f"{times.span(found['simulated_s'])} simulated after {warm_up} warm-up, "
        f"seed {found['scenario']['run']['seed']}, headrace {found['headrace']}"
    )


def tiles(found: Json) -> list[Json]:
    """Return the numbers that one looks for first, each with its name and what stands beside it."""
    answered = [stream for stream in found["streams"] if stream["response"]["count"]]
    shown = [_throughput(answered)]
    if len(answered) <= MOST_TILES:
        shown += [tile for stream in answered for tile in _response(stream, found, alone=len(answered) == 1)]
    return shown + _lost(found["streams"]) + _bottleneck(found)


LOST = ("dropped", "expired", "failed")


def _lost(streams: list[Json]) -> list[Json]:
    """Return the share of the requests that got no answer, and why, where there are such."""
    counts = {why: sum(stream[why] for stream in streams) for why in LOST}
    issued = sum(stream["issued"] for stream in streams)
    if not any(counts.values()):
        return []
    beside = ", ".join(f"{count:,} {why}" for why, count in counts.items() if count)
    return [{"name": "lost requests", "value": f"{sum(counts.values()) / issued:.1%}", "beside": beside}]


def _throughput(streams: list[Json]) -> Json:
    bytes_per_s = sum(stream["bytes_per_s"] for stream in streams)
    requests = sum(stream["requests_per_s"] for stream in streams)
    beside = f"{words.number(requests)} requests/s"
    if bytes_per_s == 0:  # Sessions of cartridges have a time and no size.
        return {"name": "throughput", "value": beside, "beside": ""}
    return {"name": "throughput", "value": words.rate(bytes_per_s), "beside": beside}


def _response(stream: Json, found: Json, *, alone: bool) -> list[Json]:
    response, of = stream["response"], "" if alone else f"{stream['name']}: "
    # A run that was done without theory has none.
    theory = next((theory["mean_ms"] for theory in found["theory"] if theory["stream"] == stream["name"]), None)
    half = response["half_width_ms"]
    beside = [times.half(half, response["mean_ms"])] if half else []
    beside += [f"theory: {times.format_time(theory)}"] if theory is not None else []
    late = next(quantile for quantile in response["quantiles_ms"] if quantile["share"] == 0.99)
    return [
        {"name": f"{of}mean", "value": times.rounded(response["mean_ms"], half), "beside": ", ".join(beside)},
        {
            "name": f"{of}p99",
            "value": times.rounded(late["ms"], late["half_width_ms"] or _unsure(response) * late["ms"]),
            "beside": times.half(late["half_width_ms"], late["ms"]) if late["half_width_ms"] else "",
        },
    ]


def _unsure(response: Json) -> float:
    """Return by what share of itself a time without an interval may be off: of a mean that is not trusted, by its."""
    untrusted = response["interval"] and not response["interval"]["trusted"]
    return float(response["half_width_ms"] / response["mean_ms"]) if untrusted else 0.0


def _bottleneck(found: Json) -> list[Json]:
    bottleneck = found["bottleneck"]
    if bottleneck is None:
        return []
    busiest = next(part for part in found["components"] if part["path"] == bottleneck["component"])
    behind = tables.background(busiest)
    tiles = [{"name": "bottleneck", "value": f"{bottleneck['utilisation']:.0%} busy", "beside": bottleneck["group"]}]
    if at := bottleneck["saturates_at"]:
        estimate = "an estimate" if bottleneck["estimate"] else f"{bottleneck['group']} saturates first"
        tiles.append({"name": "headroom", "value": f"{at:.3g}×", "beside": estimate})
    if behind >= 0.005:
        tiles.append(
            {
                "name": "background work",
                "value": f"{behind:.0%}",
                "beside": f"of {bottleneck['group']}, included in busy",
            }
        )
    return tiles


def streams(found: Json) -> list[Json]:
    """Return what is shown of each stream that was answered: its response times, and where the time went."""
    return [_stream(found, at) for at, stream in enumerate(found["streams"]) if stream["response"]["count"]]


def _stream(found: Json, at: int) -> Json:
    stream, theory = found["streams"][at], found["theory"][at]
    columns, rows = tables.response_table(stream, theory)
    return {
        "name": stream["name"],
        "cdf": svg(pictures.response_cdf(found, at)),
        "theory": tables.theory_in_words(theory),
        "mean": times.rounded(stream["response"]["mean_ms"], stream["response"]["half_width_ms"]),
        "legs": _legs(stream),
        "columns": columns,
        "rows": rows,
        "unit": tables.unit_of_responses(stream).name,
        "operations": tables.operations(stream),
    }


def _legs(stream: Json) -> list[Json]:
    """Return where the time went, longest first; what is alike differs in the strength of its colour."""
    seen: dict[str, int] = {}
    legs: list[Json] = []
    every = tables.legs(stream)
    for (component, what, _, share), time in zip(every, tables.times_of(every), strict=True):
        nth = seen[what] = seen.get(what, 0) + 1
        legs.append(
            {
                "component": ", ".join(filter(None, (component, what))),
                "what": what or "other",
                "time": time,
                "percent": share * 100,
                "share": f"{share:.1%}",
                "strength": f"{max(0.25, 1.25 - 0.25 * nth):.2f}",
            }
        )
    return legs
