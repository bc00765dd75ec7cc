"""The text of `blkparse` as a trace; the lines are read by the core, as `headrace trace` reads them."""

import re
from pathlib import Path

from headrace.measurement.fio.traced import Traced, converted
from headrace.quantities import counted

LINE = re.compile(r"\s*\d+,\d+\s+\d+\s+\d+\s+\d+\.\d+\s+\d+\s+\w+")


def is_one(first: str) -> bool:
    """Return true for a line that can begin text of `blkparse`."""
    return LINE.match(first) is not None


def read(path: Path) -> Traced:
    """Return the requests; closed where each was issued after the one before it had completed."""
    import numpy as np
    import polars

    frame, others = converted(path, None)
    issued = frame["time_ns"].to_numpy()
    missing = frame["response_ns"].null_count()
    took = frame["response_ns"].cast(polars.Int64).to_numpy() if not missing else None
    devices = frame["device"].cast(polars.String)
    remarks = [f"{missing} requests have no completion: response times are left out"] if missing else []
    remarks += [f"left out: {counted(others, 'request')} that neither read nor write"] if others else []
    alone = took is not None and bool((issued[1:] >= (issued + took)[:-1]).all())
    return Traced(
        issued=issued.astype(np.int64),
        took=took,
        write=(frame["op"] == "write").to_numpy(),
        bytes=frame["bytes"].to_numpy(),
        address=frame["address"].to_numpy(),
        closed=alone and devices.n_unique() == 1,
        device=devices.to_list() if devices.n_unique() > 1 else None,
        remarks=remarks,
    )
