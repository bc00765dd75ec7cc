"""Requests of your own, written as a trace."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from headrace.files import whole

if TYPE_CHECKING:
    import polars

Requests = Union[Iterable[Mapping[str, object]], Mapping[str, Any], "polars.DataFrame"]

COLUMNS = ("time_ns", "op", "address", "bytes", "response_ns", "think_ns", "device")


def write(path: str | Path, requests: Requests) -> None:
    """Write requests of your own as a trace in headrace's format: whole, or not at all.

    `requests` are columns (a mapping of numpy arrays or lists, or a polars frame), or any iterable of one mapping a
    request, which may be longer than memory. `op` (`read` or `write`), `address` and `bytes` are needed; `time_ns`,
    `response_ns`, `think_ns` and `device` may be left out.

    >>> import pathlib, tempfile
    >>> from headrace.trace import info
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
    import polars

    if isinstance(requests, polars.DataFrame):
        yield _complete(requests)
    elif isinstance(requests, Mapping):
        yield _complete(polars.DataFrame(dict(requests)))
    elif not isinstance(requests, Iterable):
        told = "columns (a mapping or a polars frame) or an iterable of mappings"
        raise TypeError(f"requests are {told}, not {type(requests).__name__}")
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
    import polars

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
    names = frame["device"].cast(str) if "device" in frame.columns else frame.clear()["op"].cast(str)
    if names.str.contains('[,"\\s]').any():
        raise ValueError("names of devices have no commas, quotes or blanks")
    if (names.str.contains("^[=+@-]") & names.cast(float, strict=False).is_null()).any():
        raise ValueError("names of devices do not begin with =, +, - or @: a spreadsheet would run them")
