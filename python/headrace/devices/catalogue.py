"""The catalogue of devices: their numbers, where each comes from, and the curves that follow."""

import difflib
import json
from pathlib import Path
from typing import Any

from headrace import _core
from headrace.errors import is_path, read_text, refusal, refuse_endless
from headrace.report import Report
from headrace.reports import device as reports
from headrace.shown import written

Json = dict[str, Any]

# From this likeness on, a name is a slip of another; of more candidates than this, the likest is meant.
SLIP, MOST_NEAR = 0.9, 4


def names(beside: str | Path = ".") -> list[str]:
    """Return the names of all devices: your own in `devices/` of the folder `beside`, then headrace's.

    >>> "seagate-st3500630ns" in names()
    True
    """
    return list(json.loads(_core.device_names(str(beside))))


def numbers(name: str, beside: str | Path = ".") -> Json:
    """Return the numbers of a device as they stand in its file; raise `ScenarioError` as `device` does.

    `name` may be the path of a device file too: what ends in `.yaml`, or has a `/`.
    """
    if is_path(name):
        refuse_endless(Path(name))
        read_text(name, "a device is a YAML document")
    else:
        refuse_endless(Path(beside) / "devices" / f"{name}.yaml")
    found = _core.device_numbers(name, str(beside))
    return dict(json.loads(found)) if found is not None else device(name, beside)


def kind(name: str, beside: str | Path = ".") -> str:
    """Return the type of component that a device is for: `ssd`, `disk`, `limiter`, `tape_library`.

    Raises `ScenarioError` as `device` does.

    >>> kind("samsung-pm883-480gb"), kind("seagate-st3500630ns"), kind("aws-gp3"), kind("lto-9")
    ('ssd', 'disk', 'limiter', 'tape_library')
    """
    numbers(name, beside)
    return str(_core.device_kind(name, str(beside)))


def device(name: str, beside: str | Path = ".") -> Json:
    """Return a device: its numbers with origins, zone rates (share of capacity, MB/s), seek curves (cylinders, ms).

    `name` may be words of its name, maker, model and size, such as `exos-x18`, where only one device has them, or the
    path of a device file. Raises `ScenarioError` where there is none, or its file has mistakes.
    """
    if is_path(name):
        refuse_endless(Path(name))
        read_text(name, "a device is a YAML document")
        beside = Path()
    refuse_endless(Path(beside) / "devices" / f"{name}.yaml")
    found = _core.device(name, str(beside))
    if found is None:
        candidates = json.loads(_core.device_candidates(name, str(beside)))
        slips = difflib.get_close_matches(name, candidates, 1, cutoff=SLIP)
        near = slips or (difflib.get_close_matches(name, candidates, 1) if len(candidates) > MOST_NEAR else candidates)
        help_ = f"did you mean {' or '.join(f'`{one}`' for one in near)}? " if near else ""
        help_ += f"there are {', '.join(names(beside))}"
        raise refusal(name, f"there is no device `{name}`", help_)
    return dict(json.loads(found))


def report(found: Json, file: str | Path | None = None) -> Report:
    """Return the report of what `device` found; with `file`, write it as one HTML page: whole, or not at all."""
    return written(reports.report(found), file)
