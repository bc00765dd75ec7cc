"""A log as its numbers."""

import importlib.util
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.errors import refusal

if TYPE_CHECKING:
    import numpy as np

MISSING = "Darshan's library is not installed"
INSTALL = "install it: `pip install 'headrace[darshan]'`"
BROKEN = "Darshan's library fails: try `python -m darshan info LOG`"
DAMAGED = "the log is damaged or cut off: copy it again, or read it with `darshan-parser` to see what it holds"
# Modules whose requests are those of POSIX once more, or that hold none.
ABOVE = {"MPI-IO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR", "LUSTRE", "HEATMAP", "DXT_POSIX", "DXT_MPIIO", "POSIX"}


@dataclass
class Log:
    """The numbers of a log."""

    path: Path
    processes: int
    """How many processes the job had."""
    seconds: float
    """How long it ran."""
    counters: "dict[str, np.ndarray[Any, Any]]"
    """Counters of POSIX by their names, a number for each file; `rank` is −1 where all processes share the file."""
    segments: "dict[str, np.ndarray[Any, Any]]"
    """Requests by column: `number` of the file, `write`, `offset` and `length` (bytes), `start` and `end` (s)."""
    files: list[str]
    """Names of the files of the requests."""
    remarks: list[str]
    """What the log lacks."""


def read(path: Path) -> Log:
    """Return the numbers of a log. Raises `ScenarioError` if it cannot be read, or its library is not installed."""
    import numpy as np

    if importlib.util.find_spec("darshan") is None:
        raise refusal(path, MISSING, INSTALL)
    if not path.is_file():
        raise refusal(path, f"{path} is not a file", "give a log of Darshan (.darshan)")
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        numbers = Path(folder) / "numbers.npz"
        program = str(Path(__file__).with_name("records.py"))
        # Without the folder of the program (`-P`), whose modules are none of the library's.
        command = [sys.executable, "-P", program, str(path.resolve()), str(numbers)]
        ran = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        said = ran.stderr.splitlines()
        if wrong := [line.removeprefix("Error: ") for line in said if line.startswith("Error: ")]:
            raise refusal(path, f"{path} cannot be read: {wrong[-1]}", DAMAGED)
        if ran.returncode:
            why = said[-1] if said else f"its library ended with {ran.returncode}"
            raise refusal(path, f"{path} cannot be read: {why}", BROKEN)
        found = dict(np.load(numbers))
    if not all(np.isfinite(found[name]).all() for name in ("seconds", "counters", "start", "end")):
        raise refusal(path, f"{path} has times that are no numbers", DAMAGED)
    counters = dict(zip(found["columns"].tolist(), found["counters"].T, strict=True))
    return Log(
        path=path,
        processes=int(found["processes"]),
        seconds=float(found["seconds"]),
        counters=counters | {"rank": found["ranks"]},
        segments={name: found[name] for name in ("number", "write", "offset", "length", "start", "end")},
        files=found["files"].tolist(),
        remarks=[
            *(f"`{name}` is partial: Darshan ran out of memory for it" for name in found["partial"]),
            *(f"`{name}` is left out: only POSIX requests are taken" for name in found["modules"] if name not in ABOVE),
        ],
    )
