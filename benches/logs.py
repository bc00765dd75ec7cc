"""The figures of the tools for logs, printed and put into a JSON file: `python benches/logs.py bench.json`.

A log of ten million lines is made, analysed and converted, each by a process of its own. With `--smallest` it has as
few lines as the description, which only shows that it works.
"""

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from headrace import logs
from headrace.logs import description

TIMES = 1 if "--smallest" in sys.argv else 364  # As often the 27,502 operations of the description are ten million.


def described() -> description.Description:
    """Return the description of the log: more days and files of `llnl-unitree`."""
    of = description.load("llnl-unitree")
    kinds = {name: dataclasses.replace(kind, files=TIMES * kind.files) for name, kind in of.kinds.items()}
    assert of.scaled
    scaled = dataclasses.replace(of.scaled, total=TIMES * of.scaled.total)
    return dataclasses.replace(of, days=min(of.days * TIMES, 3660), kinds=kinds, scaled=scaled)


# What is measured, in a folder that is empty at first.
WORKS: dict[str, Callable[[Path], object]] = {
    "synthesise": lambda folder: logs.write(described(), folder / "made", to="transfers"),
    "analyse": lambda folder: logs.analyse(logs.read([folder / "made"])),
    "convert": lambda folder: logs.convert(logs.read([folder / "made"]), folder / "operations.csv"),
}


def spent(name: str, folder: str) -> tuple[float, float]:
    """Return the seconds and the most megabytes that a process of its own takes for a work."""
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, __file__, folder, name, *sys.argv[2:]])
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{name} failed")
    return time.perf_counter() - began, usage.ru_maxrss * 1024 / 1e6


def main() -> None:
    """Measure, print, and add to the file."""
    file = Path(sys.argv[1])
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        for name in WORKS:
            taken, most = spent(name, folder)
            found |= {f"logs_{name}_s": taken, f"logs_{name}_mb": most}
            print(f"{f'logs_{name}':36} {taken:>14.3f}  {TIMES * 27502:,} lines, s; at most {most:.0f} MB")
    file.write_text(json.dumps(found, indent=2, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[2] in WORKS:
        WORKS[sys.argv[2]](Path(sys.argv[1]))
    else:
        main()
