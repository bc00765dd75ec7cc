"""Traces of requests: what they are like, in another format, or made from requests of your own."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from headrace import _core
from headrace.files import whole, write_whole
from headrace.mistakes import refusal

if TYPE_CHECKING:
    import polars

Json = dict[str, Any]
Watch = Callable[[int, int, list[tuple[str, int]]], object]

Requests = Union[Iterable[Mapping[str, object]], Mapping[str, Any], "polars.DataFrame"]

COLUMNS = ("time_ns", "op", "address", "bytes", "response_ns", "think_ns", "device")


def _format(given: str | Mapping[str, object] | None) -> str | None:
    return given if given is None or isinstance(given, str) else json.dumps(given)


def info(
    path: str | Path,
    *,
    format: str | Mapping[str, object] | None = None,
    skip_bad: bool = False,
    watch: Watch | None = None,
) -> Json:
    """Return what a trace is like: arrivals, sizes, places, responses, as docs/results.md describes it.

    `format` is what a scenario may say of it (`"msr"`, `{"csv": {…}}`); by default its first lines tell. Raises
    `ScenarioError` where it cannot be read.
    """
    return dict(json.loads(_core.trace_info(str(path), _format(format), skip_bad, watch)))


def convert(
    path: str | Path,
    to: str | Path,
    *,
    to_format: str = "headrace",
    format: str | Mapping[str, object] | None = None,
    skip_bad: bool = False,
    watch: Watch | None = None,
) -> Json:
    """Write a trace in another format, compressed as the name `to` ends (`.gz`, `.zst`, `.bz2`): whole, or not at all.

    Formats that can be written: `headrace`, `ascii`, `spc`, `msr`, `validate`. Returns how many requests were
    written, and how many bad lines were passed over.
    """
    if Path(to).exists() and Path(to).samefile(path):
        raise refusal(to, f"{to} is the trace itself", "write it to another file")
    with whole(to) as part:
        written = _core.trace_convert(str(path), _format(format), skip_bad, str(part), to_format, watch)
    return dict(json.loads(written))


def write(path: str | Path, requests: Requests) -> None:
    """Write requests of your own as a trace in headrace's format: whole, or not at all.

    `requests` are columns (a mapping of numpy arrays or lists, or a polars frame), or any iterable of one mapping a
    request, which may be longer than memory. `op` (`read` or `write`), `address` and `bytes` are needed; `time_ns`,
    `response_ns`, `think_ns` and `device` may be left out.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "mine.csv"
    >>> write(file, ({"time_ns": i * 10**6, "op": "read", "address": i * 4096, "bytes": 4096} for i in range(3)))
    >>> info(file)["info"]["requests"]
    3
    >>> write(file, {"op": ["write", "read"], "address": [0, 512], "bytes": [512, 512]})
    >>> info(file)["info"]["read_share"]
    0.5
    """
    with whole(path) as part, part.open("wb") as out:
        out.write((",".join(COLUMNS) + "\n").encode())
        for frame in _frames(requests):
            frame.write_csv(out, include_header=False)


def _frames(requests: Any) -> "Iterator[polars.DataFrame]":
    """Give the requests as frames with all columns, a bounded number of rows each."""
    import polars  # noqa: PLC0415 - it takes longer to load than `headrace --help` may

    if isinstance(requests, polars.DataFrame):
        yield _complete(requests)
    elif isinstance(requests, Mapping):
        yield _complete(polars.DataFrame(dict(requests)))
    else:
        rows: list[Mapping[str, object]] = []
        for row in requests:
            rows.append(row)
            if len(rows) == 100_000:
                yield _complete(polars.DataFrame(rows, infer_schema_length=None))
                rows = []
        if rows:
            yield _complete(polars.DataFrame(rows, infer_schema_length=None))


def _complete(frame: "polars.DataFrame") -> "polars.DataFrame":
    import polars  # noqa: PLC0415

    unknown = [name for name in frame.columns if name not in COLUMNS]
    missing = [name for name in ("op", "address", "bytes") if name not in frame.columns]
    if unknown or missing:
        raise ValueError(
            f"requests have {', '.join(frame.columns)}; op, address and bytes are needed, and besides there may be "
            "time_ns, response_ns, think_ns and device"
        )
    _check(frame)
    empty = [polars.lit(None, polars.String).alias(name) for name in COLUMNS if name not in frame.columns]
    return frame.with_columns(empty).select(COLUMNS)


def _check(frame: "polars.DataFrame") -> None:
    """Refuse what would be read back otherwise than it was meant."""
    for name in ("time_ns", "address", "bytes", "response_ns", "think_ns"):
        if name in frame.columns and not (frame[name].dtype.is_integer() or frame[name].is_null().all()):
            raise ValueError(f"`{name}` holds {frame[name].dtype}, not whole numbers")
    ops = frame["op"].cast(str).str.to_lowercase().unique().to_list()
    if wrong := [op for op in ops if op not in {"read", "write", "r", "w"}]:
        raise ValueError(f"`op` is `{wrong[0]}`, neither read nor write")
    if "device" in frame.columns and frame["device"].cast(str).str.contains('[,"\\s]').any():
        raise ValueError("names of devices have no commas, quotes or blanks")


def in_a_sentence(found: Json) -> str:
    """Return what a trace is like, in a sentence."""
    told = found["info"]
    mean = _bytes(told["sizes"]["mean"])
    said = [f"{told['requests']:,} requests, {told['read_share']:.0%} of them reads, {mean} on average"]
    if arrivals := told["arrivals"]:
        said.append(f"{arrivals['rate_per_s']:.4g} a second over {_seconds(arrivals['span_s'])}{_burstiness(arrivals)}")
    if places := told["places"]:
        said.append(f"{places['sequential_share']:.0%} sequential, over {_bytes(places['footprint'])}")
    return "; ".join(said) + "."


def _burstiness(arrivals: Json) -> str:
    burst = arrivals["dispersion_1s"]
    if burst is None:
        return ""
    return ", more regular than at random" if burst < 0.7 else ", as if at random" if burst < 1.5 else ", in bursts"


def rows(found: Json) -> list[tuple[str, str]]:
    """Return what a trace is like as (name, value), for tables."""
    told = found["info"]
    form = found["format"] if isinstance(found["format"], str) else "csv"
    table = [
        ("format", form),
        ("requests", f"{told['requests']:,} ({told['read_share']:.1%} reads)"),
        ("read, written", ", ".join(_bytes(amount) for amount in told["bytes"])),
        ("bad lines passed over", f"{told['skipped']:,}"),
    ]
    if len(told["devices"]) > 1:
        shown = [f"{device['name']} ({device['requests']:,})" for device in told["devices"][:8]]
        more = len(told["devices"]) - len(shown)
        table.append(("devices (requests)", ", ".join(shown) + (f" and {more} more" if more else "")))
    table += _arrival_rows(told["arrivals"]) if told["arrivals"] else [("arrivals", "the trace tells no times")]
    sizes = told["sizes"]
    table.append(("sizes", f"{_bytes(sizes['least'])} to {_bytes(sizes['most'])}, mean {_bytes(sizes['mean'])}"))
    frequent = [f"{_bytes(size)} ({share:.1%})" for size, share in sizes["frequent"]]
    table.append(("most frequent sizes", ", ".join(frequent)))
    table += _place_rows(told["places"]) if told["places"] else [("addresses", "the trace tells none")]
    if responses := told["responses"]:
        quantiles = [f"{share * 100:.4g} % within {ms:.4g} ms" for share, ms in responses["quantiles_ms"]]
        table.append(("measured responses", f"mean {responses['mean_ms']:.4g} ms, " + ", ".join(quantiles)))
    return table


def _arrival_rows(arrivals: Json) -> list[tuple[str, str]]:
    clock = "timestamps" if arrivals["by_timestamps"] else "the sum of responses and think times"
    return [
        ("span", f"{_seconds(arrivals['span_s'])}, by {clock}"),
        ("rate", f"{arrivals['rate_per_s']:.4g} /s on average, at most {arrivals['peak_per_s']:,} in one second"),
        ("times between requests", f"coefficient of variation {arrivals['interarrival_cv']:.3g} (Poisson: 1)"),
        ("requests in a second", _dispersion(arrivals["dispersion_1s"])),
        ("out of order", f"{arrivals['out_of_order']:,} requests came before one that stands earlier"),
    ]


def _dispersion(found: float | None) -> str:
    return "too few seconds to tell" if found is None else f"variance over mean {found:.3g} (Poisson: 1)"


def _place_rows(places: Json) -> list[tuple[str, str]]:
    exact = "" if places["footprint_grain"] == 1 else f" (estimated, in pages of {_bytes(places['footprint_grain'])})"
    most = [f"{share:.0%} of the regions get {requests:.1%}" for share, requests in places["popularity"]]
    return [
        ("sequential", f"{places['sequential_share']:.1%} begin where one of the last 32 requests ended"),
        ("footprint", f"{_bytes(places['footprint'])} touched{exact}, up to {_bytes(places['end'])}"),
        (
            f"popularity, by {_bytes(places['region'])} in which they begin",
            ", ".join(most) or "too few regions to tell",
        ),
    ]


def _bytes(amount: float) -> str:
    for unit, scale in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if amount >= scale:
            return f"{amount / scale:.4g} {unit}"
    return f"{amount:.4g} B"


def _seconds(span: float) -> str:
    for unit, scale in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if span >= 2 * scale:
            return f"{span / scale:.3g} {unit}"
    return f"{span:.4g} s"


def report(found: Json, file: str | Path, title: str = "trace") -> None:
    """Write what a trace is like as one HTML page: whole, or not at all."""
    from headrace import figures, page  # noqa: PLC0415 - pictures take longer to load than tables

    told = found["info"]
    pictures = {"Requests over time": figures.trace_rate(told)} if told["arrivals"] else {}
    pictures["How large requests are"] = figures.trace_sizes(told)
    if told["places"]:
        pictures["How popular regions are"] = figures.trace_popularity(told)
    drawn = {name: figures.svg(chart) for name, chart in pictures.items()}
    answer = f"{title}: {in_a_sentence(found)}"
    write_whole(file, page.render("trace.html", title=title, answer=answer, notes=[], pictures=drawn, rows=rows(found)))
