"""`python records.py LOG FILE`: reads a log with Darshan's own library, and writes its numbers to FILE (.npz).

The library prints what is wrong with a log and returns what it has, so it has a process of its own, whose errors are
heard. Nothing of headrace is imported: whatever the library does, it does here.
"""

import sys
from typing import Any

import numpy as np
from darshan.backend import cffi_backend as darshan

Json = dict[str, Any]
SEGMENTS = {"number": np.int64, "write": np.bool_, "offset": np.int64, "length": np.int64}
TIMES = {"start": np.float64, "end": np.float64}


def main(log_file: str, to: str) -> None:
    """Write job, counters and segments of a log as arrays."""
    log = darshan.log_open(log_file)
    if log["handle"] == darshan.ffi.NULL:
        sys.exit("Error: it is no log of Darshan")
    job, modules = darshan.log_get_job(log), darshan.log_get_modules(log)
    names = darshan.log_get_name_records(log)
    numbers: Json = {
        "processes": job["nprocs"],
        "seconds": job["run_time"],
        "modules": np.array(list(modules), dtype=np.str_),
        "partial": np.array([name for name, module in modules.items() if module["partial_flag"]], dtype=np.str_),
    }
    numbers |= posix(log) | segments(log, names)
    with open(to, "wb") as out:
        np.savez(out, **numbers)


def posix(log: Json) -> Json:
    """Return the counters of each file: a row a record."""
    rows, ranks = [], []
    while (record := darshan.log_get_record(log, "POSIX", dtype="numpy")) is not None:
        rows.append(np.concatenate([record["counters"].astype(np.float64), record["fcounters"]]))
        ranks.append(record["rank"])
    columns = [*darshan.counter_names("POSIX"), *darshan.fcounter_names("POSIX")]
    counters = np.array(rows, dtype=np.float64).reshape(len(rows), len(columns))
    return {"ranks": np.array(ranks, dtype=np.int64), "columns": np.array(columns, dtype=np.str_), "counters": counters}


def segments(log: Json, names: Json) -> Json:
    """Return each request, a column a field, and the names of the files that they go to."""
    fields: Json = {name: [] for name in (*SEGMENTS, *TIMES)}
    files: Json = {}
    while (record := darshan.log_get_record(log, "DXT_POSIX")) is not None:
        number = files.setdefault(record["id"], len(files))
        for part in ("write_segments", "read_segments"):
            found = record[part]
            fields["number"].append(np.full(len(found), number))
            fields["write"].append(np.full(len(found), part == "write_segments"))
            for name, key in (("offset",) * 2, ("length",) * 2, ("start", "start_time"), ("end", "end_time")):
                fields[name].append(np.array([segment[key] for segment in found], dtype=np.float64))
    told = {
        name: np.concatenate([*parts, np.empty(0)]).astype((SEGMENTS | TIMES)[name]) for name, parts in fields.items()
    }
    return told | {"files": np.array([names.get(file, str(file)) for file in files], dtype=np.str_)}


if __name__ == "__main__":
    main(*sys.argv[1:3])
