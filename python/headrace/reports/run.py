"""The report of a run: response times beside theory, where the time went, how busy each component is."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from types import ModuleType
from typing import Any

from headrace import quantities
from headrace.quantities import Unit, counted, format_time, number, rate, span, unit
from headrace.report import Bar, Bars, Block, Chart, Diagram, Medium, Report, Table, Text, Tile, noted
from headrace.reports import components as parts
from headrace.reports import responses, system

Json = dict[str, Any]

# Beside more streams than this, tiles would be a table.
MOST_TILES = 3
# Times of more operations than this do not fit below that of all.
MOST_APART = 3
# Beside more streams than this, each is a row of one table.
MOST_SECTIONS = 20


def report(found: Json, title: str | None = None) -> Report:
    """Return the report of a run; `title` is what was run, by default the names of its streams."""
    return Report(
        title or _named(found["streams"]),
        found["answer"],
        _what_was_run(found),
        noted(found["notes"]),
        tiles(found),
        [diagram(found), *streams(found), parts.headroom(found), *series(found), *_tables(found), *_end(found)],
    )


def diagram(found: Json, *, choose: bool = False) -> Diagram:
    """Return the system; with `choose` a component can be chosen."""
    aside = "fill: utilisation, orange from 60 % and red from 85 %; hatched: background work; lines: throughput"
    return Diagram(lambda down: system.draw(found, down=down, choose=choose), heading="System", aside=aside)


def streams(found: Json) -> list[Block]:
    """Return the response times of each stream that completed requests, and where the time went."""
    answered = [at for at, stream in enumerate(found["streams"]) if stream["response"]["count"]]
    if len(answered) > MOST_SECTIONS:
        return [_every([found["streams"][at] for at in answered])]
    return [block for at in answered for block in _stream(found, at, first=at == answered[0])]


def _named(streams: list[Json]) -> str:
    """Return the names of a few streams, or the number of many."""
    many = len(streams) > MOST_SECTIONS
    return counted(len(streams), "stream") if many else ", ".join(stream["name"] for stream in streams)


def _every(streams: list[Json]) -> Table:
    """Return the response times of many streams, those with the longest p99 first."""

    def times(stream: Json) -> tuple[float, float]:
        return stream["response"]["mean_ms"], _p99(stream["response"])["ms"]

    of = unit(time for stream in streams for time in times(stream))
    slowest = sorted(streams, key=lambda stream: times(stream)[1], reverse=True)
    rows = [[stream["name"], number(stream["requests_per_s"]), *map(of.cell, times(stream))] for stream in slowest]
    return Table(["stream", "requests/s", f"mean, {of.name}", f"p99, {of.name}"], rows, title="response times")


def _p99(response: Json) -> Json:
    return next(quantile for quantile in response["quantiles_ms"] if quantile["share"] == 0.99)


def _stream(found: Json, at: int, *, first: bool) -> Iterator[Block]:
    stream, theory = found["streams"][at], found["theory"][at]
    name, response, words = stream["name"], stream["response"], responses.theory_in_words(theory)
    mean = quantities.rounded(response["mean_ms"], response["half_width_ms"])
    path = Medium.PAGE | Medium.TERMINAL
    every = responses.legs(stream["path"])
    yield Bars(_path(every), parts=True, title=f"where the time of {name} went", aside=f"mean {mean}", on=path)
    title = f"response time of {name}"
    columns, rows = responses.response_table(stream, theory)
    yield Table(["", *columns], rows, title=f"{title}, {responses.unit_of_responses(stream).name}", below=True)
    of, columns, rows = responses.operations(stream)
    beside = Medium.PAGE | Medium.TERMINAL
    if rows:
        yield Table(columns, rows, title=f"{title} by operation, {of.name}", below=True, on=beside)
    yield _cdf(found, at, on=Medium.PAGE | Medium.NOTEBOOK if first else Medium.PAGE)
    if response["slowest"]:
        slowest = responses.legs(response["slowest"])
        time = f"mean {format_time(sum(leg[2] for leg in slowest))}"
        heading = f"where the time of the slowest 1 % of {name} went"
        yield Bars(_path(slowest, every), parts=True, title=heading, aside=time, below=True, on=Medium.PAGE)
    if all(words != responses.theory_in_words(other) for other in found["theory"][:at]):
        yield Text(words, "dim", below=True, on=beside)


def _cdf(found: Json, at: int, on: Medium) -> Chart:
    name = found["streams"][at]["name"]
    return Chart(
        lambda: _charts().response_cdf(found, at),
        f"response_cdf_{name}" if found["streams"][at]["cdf"] else "",
        heading=f"Response time of {name}",
        aside="cumulative distribution",
        on=on,
    )


def _charts() -> ModuleType:
    from headrace.charts import run

    return run


def _path(every: list[responses.Leg], like: Sequence[responses.Leg] = ()) -> list[Bar]:
    """Return legs as bars; those that are among the legs `like` have the same colours there."""
    order: dict[str, list[str]] = {}
    for component, what, *_ in chain(like, every):
        if component not in order.setdefault(what, []):
            order[what].append(component)
    return [
        Bar((component, what), share, time, what or "other", order[what].index(component) + 1)
        for (component, what, _, share), time in zip(every, responses.times_of(every), strict=True)
    ]


def series(found: Json) -> list[Chart]:
    """Return what happened over simulated time."""
    charts = [
        Chart(lambda: _charts().utilisation_series(found), "utilisation_series", heading="Utilisation over time"),
        Chart(lambda: _charts().response_series(found), "response_series", heading="Mean response time over time"),
        Chart(lambda: _charts().p99_series(found), "p99_series", heading="p99 of the response time over time"),
    ]
    if found["objectives"]:
        heading = "Requests in time, over time"
        charts.append(Chart(lambda: _charts().in_time_series(found), "in_time_series", heading=heading))
    charts += [_level(found, path, alike) for path, alike in _fullest(found).items()]
    libraries = [(at, part) for at, part in enumerate(found["components"]) if part["kind"] == "tape_library"]
    charts += [_drives(found, at, part["path"]) for at, part in libraries]
    return [replace(chart, on=Medium.PAGE) for chart in charts]


def _fullest(found: Json) -> dict[str, int]:
    """Return what has a level, of alike components the fullest, each with the number of those that it stands for."""
    # A component has a level from its first request on.
    most: dict[str, float] = {}
    for path, level in chain.from_iterable(point["fill"].items() for point in found["series"]):
        most[path] = max(level, most.get(path, level))
    groups: dict[str, list[str]] = {}
    for part in found["components"]:
        if part["path"] in most:
            groups.setdefault(part["group"], []).append(part["path"])
    return {max(alike, key=most.__getitem__): len(alike) for alike in groups.values()}


def _level(found: Json, pool: str, alike: int) -> Chart:
    """Return the level of a disk pool, above its purges if there were any, or that of the tokens of a limit."""
    which = f"{pool} (fullest of {alike})" if alike > 1 else pool
    name, title = f"fill_series_{_dotted(pool)}", f"Level of {which} over time"
    if not any(map(purges, found["series"])):
        return Chart(lambda: _charts().level(found, pool), name, heading=title)
    clock = unit([found["series"][-1]["time_s"] * 1e3])
    width = bin_width(clock.of(found["series"][-1]["time_s"] * 1e3), len(found["series"]) // 2)
    bins = f"purges of each {width:g} {clock.name}"
    return Chart(lambda: _charts().level_and_purges(found, pool, width, bins), name, heading=f"{title}, and {bins}")


def _drives(found: Json, at: int, library: str) -> Chart:
    title = f"Drives of {library} in use, mean of each segment"
    return Chart(lambda: _charts().drives(found, at), f"drives_series_{_dotted(library)}", heading=title)


def _dotted(path: str) -> str:
    """Return the path of a component as part of a name: `/` would be a folder."""
    return path.replace("/", ".")


def purges(point: Json) -> int:
    """Return the number of purges in a segment of the series."""
    return sum(count for key, count in point["marked"].items() if key.endswith(".purges"))


# Steps of bins: round numbers of seconds, minutes, hours and days.
STEPS = (1, 2, 3, 6, 12, 24, 48, 96, 168, 336)


def bin_width(span: float, most: int) -> float:
    """Return a round width of bins, of which a span has `most` at most.

    >>> bin_width(95.8, 9), bin_width(95.8, 100), bin_width(14, 3), bin_width(5000, 2)
    (12.0, 1.0, 6.0, 2500.0)
    """
    return float(next((step for step in STEPS if span / step <= max(most, 2)), span / 2))


def _tables(found: Json) -> Iterator[Table]:
    if found["phases"]:
        yield Table(*phases(found), title="before and after each fault")
    yield Table(*parts.components(found), title="components", on=Medium.TERMINAL | Medium.NOTEBOOK)
    if metrics := parts.meters(found):
        columns = ["", "metric", "value"]
        yield Table(columns, metrics, title="metrics of components", below=True, on=Medium.TERMINAL)
    for (kind, *names), rows in parts.metrics_by_kind(found):
        yield _metrics(kind, names, rows)


def _metrics(kind: str, names: list[str], rows: list[list[str]]) -> Table:
    """Return the metrics of a kind of component. Of one component alone, each metric is a row."""
    heading = f"Further metrics: {kind}"
    if len(rows) == 1:
        pairs = list(zip(names, rows[0][1:], strict=True))
        return Table(["", rows[0][0]], pairs, heading=heading, beside=True, on=Medium.PAGE)
    return Table(["", *names], rows, heading=heading, beside=True, on=Medium.PAGE)


def _end(found: Json) -> list[Block]:
    scenario = json.dumps(found["scenario"], indent=2, ensure_ascii=False)
    return [
        Text(_origin(found), "dim", below=True, on=Medium.TERMINAL),
        Text(scenario, "file", heading="Scenario with its defaults", on=Medium.PAGE),
    ]


def _origin(found: Json) -> str:
    how = "by recursion" if found["engine"] == "recursion" else f"{found['events']:,} events"
    return (
        f"seed {found['scenario']['run']['seed']}, {_replications(found)}, {how}, "
        f"{_simulated(found)}; headrace {found['headrace']}"
    )


def _replications(found: Json) -> str:
    """Return the number of replications, and that a single run was split into them (`run.split`)."""
    asked = found["scenario"]["run"]
    is_split = asked["split"] and found["replications"] > asked["replications"]
    return f"{'split into ' if is_split else ''}{counted(found['replications'], 'replication')}"


def _simulated(found: Json) -> str:
    warm_up = f"{span(found['warm_up_s'])} of" if found["warm_up_s"] else "no"
    return f"{span(found['simulated_s'])} simulated after {warm_up} warm-up"


def _what_was_run(found: Json) -> str:
    completed = sum(stream["completed"] for stream in found["streams"])
    return (
        f"{_replications(found)}, {counted(completed, 'request')}, {_simulated(found)}, "
        f"seed {found['scenario']['run']['seed']}, headrace {found['headrace']}"
    )


def tiles(found: Json) -> list[Tile]:
    """Return the numbers that a reader looks for first."""
    answered = [stream for stream in found["streams"] if stream["response"]["count"]]
    shown = [*map(_objective, found["objectives"]), _throughput(answered)]
    if len(answered) <= MOST_TILES:
        shown += [tile for stream in answered for tile in _response(stream, found, alone=len(answered) == 1)]
    shown += [tile for stream in answered if stream["steps"] for tile in _training(stream)]
    return shown + _lost(found["streams"]) + _bottleneck(found)


VERDICTS = {True: "met", False: "MISSED", None: "undecided"}


def _objective(objective: Json) -> Tile:
    """Return what was found of an objective."""
    percent = objective["share"] * 100
    shown = "<100" if 99.995 <= percent < 100 else f"{percent:.4g}"
    beside = f"{VERDICTS[objective['met']]}: {objective['objective']}"
    return Tile(f"{objective['name']} in time", f"{shown}%", beside)


LOST = ("dropped", "expired", "failed")


def _lost(streams: list[Json]) -> list[Tile]:
    """Return the share of the requests that were lost, and why, if there are such."""
    counts = {why: sum(stream[why] for stream in streams) for why in LOST}
    issued = sum(stream["issued"] for stream in streams)
    if not any(counts.values()):
        return []
    beside = ", ".join(f"{count:,} {why}" for why, count in counts.items() if count)
    return [Tile("lost requests", f"{sum(counts.values()) / issued:.1%}", beside)]


def _throughput(streams: list[Json]) -> Tile:
    bytes_per_s = sum(stream["bytes_per_s"] for stream in streams)
    beside = f"{number(sum(stream['requests_per_s'] for stream in streams))} requests/s"
    # Sessions of cartridges have a time and no size.
    return Tile("throughput", rate(bytes_per_s), beside) if bytes_per_s else Tile("throughput", beside)


def _response(stream: Json, found: Json, *, alone: bool) -> list[Tile]:
    response, of = stream["response"], "" if alone else f"{stream['name']}: "
    # A run that was done without theory has none.
    theory = next((theory["mean_ms"] for theory in found["theory"] if theory["stream"] == stream["name"]), None)
    half = response["half_width_ms"]
    beside = [quantities.half(half, response["mean_ms"])] if half else []
    beside += [f"theory: {format_time(theory)}"] if theory is not None else []
    beside += _apart(stream, lambda one: float(one["mean_ms"]))
    late = _p99(stream["response"])
    p99 = quantities.rounded(late["ms"], late["half_width_ms"] or _unsure(response) * late["ms"])
    sure = [quantities.half(late["half_width_ms"], late["ms"])] if late["half_width_ms"] else []
    return [
        Tile(f"{of}mean", quantities.rounded(response["mean_ms"], half), ", ".join(beside)),
        Tile(f"{of}p99", p99, ", ".join(sure + _apart(stream, lambda one: float(_p99(one)["ms"])))),
    ]


def _apart(stream: Json, of: Callable[[Json], float]) -> list[str]:
    """Return a time of each operation, where a stream mixes a few: together, it is no request's."""
    named = {"reads": stream["reads"], "writes": stream["writes"]} | stream["operations"]
    answered = {name: response for name, response in named.items() if response and response["count"]}
    if not 1 < len(answered) <= MOST_APART:
        return []
    return [f"{name} {format_time(of(response))}" for name, response in answered.items()]


def _training(stream: Json) -> list[Tile]:
    steps = stream["steps"]
    tiles = [] if steps["au"] is None else [Tile("accelerators", f"{steps['au']:.1%} utilised", stream["name"])]
    if steps["samples_per_s"]:
        tiles.append(Tile("training", f"{number(steps['samples_per_s'])} samples/s", f"{steps['steps']:,} steps"))
    if steps["checkpoint_ms"] is not None:
        tiles.append(Tile("checkpoint", format_time(steps["checkpoint_ms"]), f"{steps['checkpoints']:,} written"))
    if steps["restore_ms"] is not None:
        tiles.append(Tile("restore", format_time(steps["restore_ms"]), f"{steps['restores']:,} read back"))
    return tiles


def _unsure(response: Json) -> float:
    """Return by what share of itself a time without an interval may be off: of a mean that is not trusted, by its."""
    untrusted = response["interval"] and not response["interval"]["trusted"]
    # A mean of zero has no uncertainty: no request took any time.
    return float(response["half_width_ms"] / response["mean_ms"]) if untrusted and response["mean_ms"] else 0.0


def _bottleneck(found: Json) -> list[Tile]:
    bottleneck = found["bottleneck"]
    if bottleneck is None:
        return []
    group, what = bottleneck["group"], bottleneck["what"]
    busiest = next(part for part in found["components"] if part["path"] == bottleneck["component"])
    behind = parts.background(busiest)
    tiles = [Tile("bottleneck", f"{bottleneck['utilisation']:.0%} busy", f"{group}{f' ({what})' if what else ''}")]
    if at := bottleneck["saturates_at"]:
        least, note = (
            ">" * bottleneck["at_least"],
            _how_headroom_is_known(bottleneck),
        )
        tiles.append(Tile("headroom", f"{least}{at:.3g}×", note))
    if behind >= 0.005:
        tiles.append(Tile("background work", f"{behind:.0%}", f"of {group}, included in busy"))
    return tiles


def _how_headroom_is_known(bottleneck: Json) -> str:
    if bottleneck["trials"]:
        return "found by short simulations"
    return "an estimate" if bottleneck["estimate"] else f"{bottleneck['group']} saturates first"


def phases(found: Json) -> tuple[list[str], list[list[str]]]:
    """Return what each stream got before and after each fault; columns that say nothing are left out."""
    every = [stream for phase in found["phases"] for stream in phase["streams"]]
    units = [unit(stream[name] for stream in every) for name in PHASE_TIMES]
    headings = [f"{name.removesuffix('_ms')}, {of.name}" for name, of in zip(PHASE_TIMES, units, strict=True)]
    columns = ["from, s", "what happened", "stream", "requests/s", "MB/s", *headings, "failed"]
    rows, decimals = [], _decimals(found["phases"])
    for phase in found["phases"]:
        begin = [f"{phase['from_s']:,.{decimals}f}", "\n".join(phase["after"])]
        for at, stream in enumerate(phase["streams"]):
            rows.append([*(begin if at == 0 else ["", ""]), *_phase_of(stream, units)])
    several, failed = len(found["streams"]) > 1, any(row[-1] for row in rows)
    says = {"stream": several, "failed": failed}
    shown = [says.get(column, True) for column in columns]
    chosen = [[cell for cell, show in zip(row, shown, strict=True) if show] for row in [columns, *rows]]
    return chosen[0], chosen[1:]


PHASE_TIMES = ("mean_ms", "p99_ms")


def _decimals(phases: list[Json]) -> int:
    """Return the number of decimals with which the starts of phases are right to a twentieth of the shortest phase."""
    lengths = (phase["to_s"] - phase["from_s"] for phase in phases)
    allowed = 0.05 * min((length for length in lengths if length > 0), default=1.0)
    starts = [phase["from_s"] for phase in phases]
    right = (decimals for decimals in range(9) if all(abs(round(at, decimals) - at) <= allowed for at in starts))
    return next(right, 9)


def _phase_of(stream: Json, units: list[Unit]) -> list[str]:
    times = [
        of.cell(time) if (time := stream[name]) is not None else "" for name, of in zip(PHASE_TIMES, units, strict=True)
    ]
    rates = [number(stream["requests_per_s"]), number(stream["bytes_per_s"] / 1e6)]
    return [stream["name"], *rates, *times, f"{stream['failed']:,}" if stream["failed"] else ""]
