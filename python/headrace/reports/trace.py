"""The report of a trace: when requests come, how large they are, where they go."""

import math
from itertools import pairwise
from typing import Any

from headrace import quantities
from headrace.charts import lines
from headrace.charts.data import SHARE, Axis
from headrace.quantities import format_time, number, size, span
from headrace.report import Bars, Chart, Report, Table, curve

Json = dict[str, Any]
# A curve of hit ratios needs as many sizes of the cache, and a table has at most as many.
FEW_SIZES, MOST_SIZES = 2, 6
# A larger cache is in the table only if it adds at least this share of the blocks read.
MORE = 0.01
# A cache with at least this share of the blocks read is in the first sentence: the smallest that has most of all hits.
LITTLE, MOST_OF_IT = 0.05, 0.9


def report(found: Json, title: str) -> Report:
    """Return the report of a trace; `title` is its name."""
    info = found["info"]
    over_time = (info["arrivals"] or {}).get("over_time") or []
    bars = [curve("requests/s over time", merged(over_time))] if over_time else []  # One request alone has no rate.
    table = Table((), rows(found), heading="In numbers", look="text")
    answer = f"{title}: {in_a_sentence(found)}"
    blocks: list[Bars | Chart | Table] = [*charts(info), *bars, table]
    return Report(title, answer, "summary of a trace of requests", blocks=blocks)


def charts(info: Json) -> list[Chart]:
    """Return requests over time, and cdfs of their sizes and of the regions that they go to."""
    share, shown = Axis("share of requests", "percent", ends=SHARE), []
    if over_time := (info["arrivals"] or {}).get("over_time"):
        clock = quantities.unit([over_time[-1][0] * 1e3])
        rate = {"simulated": [(clock.of(second * 1e3), rate) for second, rate in over_time]}
        draw = lines(rate, Axis(f"time, {clock.name}"), Axis("requests/s"))
        shown.append(Chart(draw, heading="Requests over time"))
    sizes = {"simulated": [(info["sizes"]["least"], 0.0), *info["sizes"]["cdf"]]}
    draw = lines(sizes, Axis("size", "bytes", log=2), share, steps=True)
    shown.append(Chart(draw, heading="How large requests are"))
    if info["places"]:
        regions = {"simulated": [(0.0, 0.0), *info["places"]["popularity"], (1.0, 1.0)]}
        draw = lines(regions, Axis("most popular regions", "percent"), share)
        shown.append(Chart(draw, heading="How popular regions are"))
        shown += _cached(info["places"]["lru"])
    return shown


def _cached(lru: Json | None) -> list[Chart]:
    """Return how often an LRU cache would have what is read, by its size; nothing if it would have nothing."""
    reads = _reads_had(lru)
    if len(reads) < FEW_SIZES or reads[-1][1] == 0:
        return []
    draw = lines({"simulated": reads}, Axis("size of the cache", "bytes", log=2), Axis("hits", "percent", ends=SHARE))
    return [Chart(draw, heading="4 KiB blocks read that an LRU cache would have")]


def _reads_had(lru: Json | None) -> list[tuple[int, float]]:
    """Return (size of an LRU cache, share of the 4 KiB blocks read that it has)."""
    return [(bytes_, reads) for bytes_, reads, _ in (lru or {"hit_ratios": []})["hit_ratios"] if reads is not None]


def _cache_in_words(lru: Json | None) -> list[str]:
    """Return which cache would have most of what any could."""
    reads = _reads_had(lru)
    if not reads or reads[-1][1] < LITTLE:
        return []
    bytes_, share = next(one for one in reads if one[1] >= MOST_OF_IT * reads[-1][1])
    return [f"an LRU cache of {size(bytes_)} would have {share:.0%} of the 4 KiB blocks read"]


def merged(points: list[list[float]], most: int = 16) -> list[tuple[str, float]]:
    """Return rates over time in at most this many intervals: (end, mean rate)."""
    together = -(-len(points) // most)
    rates, begin = [], 0.0
    for at in range(0, len(points), together):
        group = points[at : at + together]
        ends = [begin, *(end for end, _ in group)]
        requests = sum(rate * (b - a) for (_, rate), a, b in zip(group, ends, ends[1:], strict=False))
        rates.append((f"{number(ends[-1])} s", requests / max(ends[-1] - begin, 1e-9)))
        begin = ends[-1]
    return rates


def in_a_sentence(found: Json) -> str:
    """Return what a trace is like, in a sentence."""
    told = found["info"]
    mean = size(told["sizes"]["mean"])
    said = [f"{told['requests']:,} requests, {told['read_share']:.0%} of them reads, {mean} on average"]
    if arrivals := told["arrivals"]:
        said.append(
            f"{number(arrivals['rate_per_s'])} requests/s over {span(arrivals['span_s'])}{_burstiness(arrivals)}"
        )
    if places := told["places"]:
        said.append(f"{places['sequential_share']:.0%} sequential, footprint {size(places['footprint'])}")
        said += _cache_in_words(places["lru"])
    return "; ".join(said) + "."


# Arrivals are not Poisson where their dispersion is this many deviations from theirs, and at least this far.
DEVIATIONS, ODD = 3, 0.4


def _burstiness(arrivals: Json) -> str:
    burst = arrivals["dispersion_1s"]
    if burst is None:
        return ""
    # Of Poisson arrivals the variance over the mean of n counts is 1, with a deviation of √(2/n).
    chance = DEVIATIONS * math.sqrt(2 / max(arrivals["span_s"], 1))
    if burst > 1 + max(chance, ODD):
        return ", bursty"
    if burst < 1 - max(chance, ODD):
        return ", more regular than Poisson"
    return ", like Poisson arrivals" if chance < 2 * ODD else ""


def rows(found: Json) -> list[tuple[str, str]]:
    """Return what a trace is like as (name, value), for tables."""
    told = found["info"]
    form = found["format"] if isinstance(found["format"], str) else "csv"
    table = [
        ("format", form),
        ("requests", f"{told['requests']:,} ({told['read_share']:.1%} reads)"),
        ("read, written", ", ".join(size(amount) for amount in told["bytes"])),
        ("bad lines skipped", f"{told['skipped']:,}"),
    ]
    if len(told["devices"]) > 1:
        shown = [f"{device['name']} ({device['requests']:,})" for device in told["devices"][:8]]
        more = len(told["devices"]) - len(shown)
        table.append(("devices (requests)", ", ".join(shown) + (f" and {more} more" if more else "")))
    table += _arrival_rows(told["arrivals"]) if told["arrivals"] else [("arrivals", "the trace has no timestamps")]
    sizes = told["sizes"]
    table.append(("sizes", f"{size(sizes['least'])} to {size(sizes['most'])}, mean {size(sizes['mean'])}"))
    frequent = [f"{size(amount)} ({share:.1%})" for amount, share in sizes["frequent"]]
    table.append(("most frequent sizes", ", ".join(frequent)))
    table += _place_rows(told["places"]) if told["places"] else [("addresses", "the trace has none")]
    if responses := told["responses"]:
        quantiles = [f"p{share * 100:.4g} {format_time(ms)}" for share, ms in responses["quantiles_ms"]]
        table.append(("measured responses", f"mean {format_time(responses['mean_ms'])}, " + ", ".join(quantiles)))
    return table


def _arrival_rows(arrivals: Json) -> list[tuple[str, str]]:
    clock = "timestamps" if arrivals["by_timestamps"] else "the sum of responses and think times"
    return [
        ("span", f"{span(arrivals['span_s'])}, by {clock}"),
        ("rate", f"{number(arrivals['rate_per_s'])} /s on average, at most {arrivals['peak_per_s']:,} in one second"),
        ("times between requests", f"coefficient of variation {arrivals['interarrival_cv']:.3g} (Poisson: 1)"),
        ("requests in a second", _dispersion(arrivals["dispersion_1s"])),
        ("out of order", f"{arrivals['out_of_order']:,} requests are earlier than one before them"),
    ]


def _dispersion(found: float | None) -> str:
    return "too few seconds to tell" if found is None else f"variance over mean {found:.3g} (Poisson: 1)"


def _place_rows(places: Json) -> list[tuple[str, str]]:
    exact = "" if places["footprint_grain"] == 1 else f" (estimated, in pages of {size(places['footprint_grain'])})"
    most = [f"{share:.0%} of the regions get {requests:.1%}" for share, requests in places["popularity"]]
    return [
        ("sequential", f"{places['sequential_share']:.1%} start where one of the last 32 requests ended"),
        ("footprint", f"{size(places['footprint'])} touched{exact}, up to {size(places['end'])}"),
        (
            f"popularity, by region of {size(places['region'])}",
            ", ".join(most) or "too few regions to tell",
        ),
        *_cache_rows(places["lru"]),
    ]


def _cache_rows(lru: Json | None) -> list[tuple[str, str]]:
    """Return which share of the blocks read LRU caches would have, up to that from which none has more."""
    reads = _reads_had(lru)
    if lru is None or not reads:
        return []
    useful = [one for one, next_ in pairwise(reads) if next_[1] > one[1] >= MORE] + reads[-1:]
    enough = next(at for at, (_, share) in enumerate(useful) if share > useful[-1][1] - MORE)
    told = useful[max(enough + 1 - MOST_SIZES, 0) : enough + 1]
    exact = "" if lru["followed"] == 1 else f" (estimated from {lru['followed']:.2%} of the pages)"
    shares = [f"{size(bytes_)} {share:.0%}" for bytes_, share in told] if reads[-1][1] > 0 else ["none"]
    return [("4 KiB blocks read that an LRU cache would have", ", ".join(shares) + exact)]
