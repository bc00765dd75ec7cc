"""The catalogue of devices: their numbers, where each comes from, and the curves that follow."""

import difflib
import json
from pathlib import Path
from typing import Any

from headrace import _core, scenario

Json = dict[str, Any]


def names(beside: str | Path = ".") -> list[str]:
    """Return the names of all devices: your own in `devices/` of the folder `beside`, then headrace's.

    >>> "seagate-st3500630ns" in names()
    True
    """
    return list(json.loads(_core.device_names(str(beside))))


def device(name: str, beside: str | Path = ".") -> Json:
    """Return a device: its numbers with origins, zone rates (share of capacity, MB/s), seek curves (cylinders, ms).

    Raises `ScenarioError` where there is none of this name, or its file has mistakes.
    """
    found = _core.device(name, str(beside))
    if found is None:
        known = names(beside)
        near = difflib.get_close_matches(name, known, 1)
        help_ = (f"did you mean `{near[0]}`? " if near else "") + f"there are {', '.join(known)}"
        raise scenario.refusal(name, f"there is no device `{name}`", help_)
    return dict(json.loads(found))
