"""`workload: {fio: job.fio}`: what reads the job file when a scenario that names one is prepared."""

import json
from pathlib import Path
from typing import TypedDict

AskedJobs = TypedDict(
    "AskedJobs",
    {
        "file": str,
        "to": str | None,
        "from": str | None,
        "section": str | None,
        "components": dict[str, str],
        "targets": list[str],
    },
)
"""A job file, the kinds of all components by name, and those that hold data and that no other uses."""


def streams(asked: str) -> str:
    """Return the streams of a job file, the length of the run, and which options have no effect; both ways as JSON."""
    from headrace.measurement.fio import jobs

    given: AskedJobs = json.loads(asked)
    found = jobs.workload(
        Path(given["file"]), lambda device: _component(given, device), server=given["from"], section=given["section"]
    )
    # A file system simulates what fio leaves to the operating system.
    has_cache = given["components"].get(_component(given, "") or "") == "file_system"
    remarks = [remark for remark in found.remarks if not (has_cache and "page cache" in remark)]
    return json.dumps({"streams": found.streams, "run": found.run, "remarks": remarks})


def _component(asked: AskedJobs, device: str) -> str | None:
    """Return the component that stands for a block device: the one that is named, of its name, or the only one."""
    if asked["to"] or device in asked["components"]:
        return asked["to"] or device
    return asked["targets"][0] if len(asked["targets"]) == 1 else None
