"""`make bench`: measures each figure several times, each time in a new process, and prints its median and spread.

`target/bench.json` gets three numbers of each figure: `NAME`, the median; `NAME.min` and `NAME.max`, the spread.
With `--compare REVISION`, another revision is built in `target/compare`, and each group of figures is measured in both
in turn. All values go to `target/compare.json`.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "target"
# Groups of figures that a script of this name measures. `startup` needs the command; others belong to `headrace-bench`.
SCRIPTS = ("sweep", "logs")
STARTUP = "startup"
THIS = "this checkout"


@dataclass(frozen=True)
class Run:
    """What one process measured: numbers by name, and descriptions of them."""

    figures: dict[str, float]
    what: dict[str, str]


@dataclass(frozen=True)
class Checkout:
    """A checkout with a built `headrace-bench`."""

    name: str
    folder: Path
    program: Path

    def groups(self) -> list[str]:
        """Return the groups of `headrace-bench`; none of a revision that cannot list them."""
        with tempfile.TemporaryDirectory() as folder:
            return self.call([str(self.program), "--list"], Path(folder)).split()

    def run(self, group: str, once: bool) -> Run:
        """Measure a group in a process of its own. Nothing is measured of a group that this revision does not have."""
        if group in SCRIPTS and not self.script(group).exists():
            return Run({}, {})
        with tempfile.TemporaryDirectory() as folder:
            printed = self.call([*self.command(group), *(["--once"] if once else [])], Path(folder))
            found, what = numbers(Path(folder) / "target" / "bench.json"), descriptions(printed)
            # In the order in which they are printed.
            return Run({name: found[name] for name in (*what, *found) if name in found}, what)

    def script(self, group: str) -> Path:
        """Return the script that measures a group of figures."""
        return self.folder / "benches" / f"{group}.py"

    def command(self, group: str) -> list[str]:
        """Return the command that measures a group and writes `target/bench.json`."""
        if group in SCRIPTS:
            return [sys.executable, str(self.script(group)), "target/bench.json"]
        startup = ["--startup", str(Path(sys.executable).with_name("headrace"))] if group == STARTUP else []
        return [str(self.program), group, *startup]

    def call(self, command: list[str], folder: Path) -> str:
        """Return what a command prints that runs in this folder, with the Python package of this checkout."""
        (folder / "target").mkdir()
        environment = os.environ | {"PYTHONPATH": str(self.folder / "python")}
        ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        if ran.returncode:
            raise SystemExit(f"{self.name}: `{' '.join(command)}` failed:\n{ran.stderr}")
        return ran.stdout


def numbers(file: Path) -> dict[str, float]:
    """Return the numbers of a file of figures, without spreads. Other values, such as null, are left out."""
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return {
        name: float(number) for name, number in found.items() if isinstance(number, int | float) and "." not in name
    }


def descriptions(printed: str) -> dict[str, str]:
    """Return the descriptions of figures from the table that a benchmark prints."""
    return dict(re.findall(r"^(\w+) +[-\d.]+(?: million)?  (.+)$", printed, re.MULTILINE))


def build(folder: Path, package: str, target: Path) -> Path:
    """Build a package optimised, and return the folder of what was built."""
    command = ["cargo", "build", "--release", "--quiet", "-p", package]
    subprocess.run(command, cwd=folder, env=os.environ | {"CARGO_TARGET_DIR": str(target)}, check=True)
    return target / "release"


def this() -> Checkout:
    """Return this checkout, whose extension `make` has built."""
    built = build(ROOT, "headrace-bench", Path(os.environ.get("CARGO_TARGET_DIR", TARGET)).resolve())
    return Checkout(THIS, ROOT, built / "headrace-bench")


def other(revision: str, with_python: bool) -> Checkout:
    """Return a worktree of another revision, built in a target directory of its own. It is kept for the next time."""
    commit = git("rev-parse", "--verify", f"{revision}^{{commit}}")
    folder = TARGET / "compare" / commit[:12]
    if not folder.exists():
        git("worktree", "prune")
        git("worktree", "add", "--detach", str(folder), commit)
    built = build(folder, "headrace-bench", folder / "target")
    if with_python:
        build(folder, "headrace-py", folder / "target")
        shutil.copy(built / "lib_core.so", folder / "python" / "headrace" / "_core.abi3.so")
    return Checkout(revision, folder, built / "headrace-bench")


def git(*arguments: str) -> str:
    """Return what git prints."""
    ran = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"git {' '.join(arguments)}: {ran.stderr.strip()}")
    return ran.stdout.strip()


def rounds(group: str, checkouts: Sequence[Checkout], runs: int, once: bool) -> list[list[Run]]:
    """Measure a group in all checkouts in turn, several times. Return the runs of each checkout."""
    turns = [[checkout.run(group, once) for checkout in checkouts] for _ in range(runs)]
    return [list(of_one) for of_one in zip(*turns, strict=True)]


def values(runs: Sequence[Run]) -> dict[str, list[float]]:
    """Return the values of each figure that all runs have."""
    names = [name for name in runs[0].figures if all(name in run.figures for run in runs)]
    return {name: [run.figures[name] for run in runs] for name in names}


def shown(number: float) -> str:
    """Return a number as it is printed."""
    return f"{number / 1e6:.4g} million" if number >= 1e5 else f"{number:.3f}"


def spread(found: Sequence[float]) -> str:
    """Return the least and the greatest of some values as text."""
    return f"{shown(min(found))}..{shown(max(found))}"


def table(runs: Sequence[Run]) -> Iterator[str]:
    """Return a line of each figure: median, spread, description."""
    for name, found in values(runs).items():
        yield f"{name:36} {shown(median(found)):>14}  {spread(found):28}  {runs[0].what.get(name, '')}".rstrip()


def ratios(here: Sequence[float], there: Sequence[float]) -> list[float]:
    """Return the ratios of values that were measured in turn, without those to zero."""
    return [one / another for one, another in zip(here, there, strict=True) if another]


def verdict(found: Sequence[float]) -> str:
    """Return the median and the spread of ratios, and `differs` if all are on the same side of 1, else `noise`."""
    if not found:
        return "no ratio: 0"
    differs = min(found) > 1 or max(found) < 1
    return f"{median(found):6.3f}  {min(found):.3f}..{max(found):.3f}  {'differs' if differs else 'noise'}"


def comparison(here: dict[str, list[float]], there: dict[str, list[float]], revision: str) -> Iterator[str]:
    """Return a line of each figure: medians of this checkout and the other, and ratios of the first to the second."""
    for name in dict.fromkeys([*here, *there]):
        medians = [shown(median(of[name])) if name in of else "-" for of in (here, there)]
        if name in here and name in there:
            last = verdict(ratios(here[name], there[name]))
        else:
            last = f"only in {revision if name in there else THIS}"
        yield f"{name:36} {medians[0]:>14} {medians[1]:>14}  {last}"


def flat(found: dict[str, list[float]]) -> dict[str, float]:
    """Return the median, the least and the greatest of each figure, as `target/bench.json` has them."""
    return {
        key: number
        for name, some in found.items()
        for key, number in ((name, median(some)), (f"{name}.min", min(some)), (f"{name}.max", max(some)))
    }


def save(name: str, found: Mapping[str, object], *, add: bool) -> None:
    """Write figures to a file of `target`, or add them to those that it has."""
    file = TARGET / name
    before = json.loads(file.read_text(encoding="utf-8")) if add and file.exists() else {}
    file.write_text(json.dumps(before | dict(found), indent=2, sort_keys=True) + "\n", encoding="utf-8")


def arguments() -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description="Measure figures of speed and memory, several times each.")
    parser.add_argument("groups", nargs="*", help="groups of figures (default: all that take no minutes)")
    parser.add_argument("--runs", type=int, help="number of runs of each group (default: 3, or 5 to compare)")
    parser.add_argument("--compare", metavar="REVISION", help="another revision, to be measured in turn")
    return parser.parse_args()


def main() -> None:
    """Measure, print and write each group."""
    asked = arguments()
    checkouts = [this()]
    if asked.compare:
        with_python = not asked.groups or not {STARTUP, *SCRIPTS}.isdisjoint(asked.groups)
        checkouts.append(other(asked.compare, with_python))
        print(f"{'':36} {THIS:>14} {asked.compare[:14]:>14}   ratio  spread")
    default = [*dict.fromkeys(group for checkout in checkouts for group in checkout.groups()), STARTUP, *SCRIPTS]
    groups = asked.groups or default
    runs = asked.runs or (5 if asked.compare else 3)
    once = all(checkout.groups() for checkout in checkouts)
    for at, group in enumerate(groups):
        measured = rounds(group, checkouts, runs, once)
        here, *others = [values(of_one) for of_one in measured]
        if not any((here, *others)):
            raise SystemExit(f"{group}: unknown group; give some of: {', '.join(default)}, replicated, coverage")
        for there in others:
            print(*comparison(here, there, asked.compare), sep="\n", flush=True)
            both = {name: {"this": here.get(name), "other": there.get(name)} for name in {*here, *there}}
            save("compare.json", both, add=at > 0)
        if not others:
            print(*table(measured[0]), sep="\n", flush=True)
            save("bench.json", flat(here), add=at > 0 or bool(asked.groups))


if __name__ == "__main__":
    main()
