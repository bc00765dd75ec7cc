"""fio's latency logs as traces; the lines are read by the core, as `headrace trace` reads them."""

import re
from pathlib import Path
from typing import Any

from headrace.errors import refusal
from headrace.measurement.fio.traced import Traced, converted

LINE = re.compile(r"\d+, *\d+, *\d+")
NS_PER_MS = 1_000_000
OTHER_LOGS = {"slat": "submission latencies", "bw": "bandwidths", "iops": "requests per interval", "hist": "histograms"}


def is_one(first: str) -> bool:
    """Return true for a line that can begin a log of fio."""
    return LINE.match(first) is not None


def read(path: Path) -> Traced:
    """Return the requests of a log; closed where never two were in flight."""
    import numpy as np

    _refuse_other_logs(path)
    frame, trims = converted(path, "fio_latency")
    took = frame["response_ns"].to_numpy()
    stamps = frame["time_ns"].to_numpy() + took
    # Without times of issue, a log has completions cut to milliseconds: all of them are whole milliseconds apart.
    past = stamps % NS_PER_MS
    cut = NS_PER_MS if (past == np.median(past)).mean() > 1 / 2 else 0
    ended = _one_by_one(stamps, took)
    closed = bool((ended <= stamps + cut).all())
    return Traced(
        issued=ended - took if closed else np.maximum(stamps - took, 0),
        took=took,
        write=(frame["op"] == "write").to_numpy(),
        bytes=frame["bytes"].to_numpy(),
        address=frame["address"].to_numpy(),
        closed=closed,
        remarks=[f"{trims} trims are left out"] if trims else [],
    )


def _refuse_other_logs(path: Path) -> None:
    kind = next((kind for kind in OTHER_LOGS if re.search(rf"_{kind}\.(\d+\.)?log", path.name)), None)
    if kind:
        told = f"{path} is a log of {OTHER_LOGS[kind]}, which are not response times"
        raise refusal(path, told, f"import the log with `_lat` instead of `_{kind}` in its name")


def _one_by_one(ended: Any, took: Any) -> Any:
    """Return when requests end at the earliest if each is issued after the one before it has ended."""
    import numpy as np

    # max(end of the one before + own time, own stamp), all at once: take out what has been worked until then.
    worked = np.cumsum(took)
    return np.maximum.accumulate(ended - worked) + worked
