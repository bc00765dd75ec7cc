"""`make history`: puts the figures of `target/bench.json` into `benches/history.jsonl`, which has one line a release.

A line of the version that is in `Cargo.toml` replaces an earlier line of the same version.
"""

import datetime
import json
import os
import platform
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def processor() -> str:
    """Return the model of the processor and the number of cores."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{models[0] if models else platform.machine()}, {os.cpu_count()} cores"


def release() -> dict[str, object]:
    """Return what a line says besides the figures: version, commit, date, machine."""
    version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
    commit = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    today = datetime.datetime.now(tz=datetime.UTC).date()
    return {"version": version, "commit": commit.stdout.strip(), "date": str(today), "machine": processor()}


def figures(bench: dict[str, float]) -> dict[str, list[float]]:
    """Return the median, the least and the greatest of each figure, with six digits."""
    names = [name for name in sorted(bench) if f"{name}.min" in bench]
    return {name: [float(f"{bench[key]:.6g}") for key in (name, f"{name}.min", f"{name}.max")] for name in names}


def added(history: str, line: dict[str, object]) -> str:
    """Return the history with this line at its end, without an earlier line of the same version."""
    others = [text for text in history.splitlines() if json.loads(text)["version"] != line["version"]]
    return "".join(f"{text}\n" for text in [*others, json.dumps(line, ensure_ascii=False)])


def main(bench: Path, history: Path) -> None:
    """Add a line to the history."""
    if not bench.exists():
        raise SystemExit(f"{bench}: no such file; `make bench` writes it")
    line = release() | {"figures": figures(json.loads(bench.read_text(encoding="utf-8")))}
    before = history.read_text(encoding="utf-8") if history.exists() else ""
    history.write_text(added(before, line), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
