"""The requests of a log with extended tracing, as a trace."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.errors import refusal
from headrace.measurement.darshan.log import read
from headrace.measurement.fio.traced import Traced
from headrace.quantities import size

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, Any]

NS_PER_S = 1e9
BLOCK = 4096
LARGEST_BYTES = 1 << 62
UNTRACED = "the log has no requests: the job ran without extended tracing (DXT)"
COUNTED = "its counters make a scenario: `headrace import darshan LOG -o scenario.yaml`"


def trace(path: Path) -> Traced:
    """Return the POSIX requests of a log. Files lie one after the other, each from a whole block on."""
    import numpy as np

    log = read(path)
    known = (log.segments["length"] > 0) & (log.segments["offset"] >= 0)
    kept = {name: column[known] for name, column in log.segments.items()}
    if not known.any():
        raise refusal(path, f"{path}: {UNTRACED}", COUNTED)
    begins = _begins(kept, len(log.files))
    if begins[-1] > LARGEST_BYTES:
        raise refusal(path, f"{path} has files of 2^62 bytes or more", "the log is damaged")
    issued, ended = (np.rint(kept[name] * NS_PER_S).astype(np.int64) for name in ("start", "end"))
    order = np.argsort(issued, kind="stable")
    remarks = [*log.remarks, f"files lie one after the other: {len(log.files):,} in {size(float(begins[-1]))}"]
    if left_out := int((~known).sum()):
        remarks.append(f"{left_out} requests without bytes or place are left out")
    return Traced(
        issued=issued,
        took=np.maximum(ended - issued, 0),
        write=kept["write"],
        bytes=kept["length"],
        address=kept["offset"] + begins.astype(np.int64)[kept["number"]],
        closed=bool((issued[order][1:] >= ended[order][:-1]).all()),
        remarks=remarks,
    )


def _begins(requests: "dict[str, Numbers]", files: int) -> "Numbers":
    """Return where each file begins, and where the last one ends; as floats, which do not overflow."""
    import numpy as np

    ends = np.zeros(files)
    np.maximum.at(ends, requests["number"], requests["offset"].astype(float) + requests["length"])
    return np.concatenate([[0.0], np.cumsum(np.ceil(ends / BLOCK) * BLOCK)])
