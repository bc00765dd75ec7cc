"""`make peers`: two workloads of `make bench` in headrace and in other simulators, run in turn, in one table each.

The other simulators are installed into `target/peers`, in the versions of `requirements.txt`. One that cannot be
installed is named. The rows of the tables are also written to `target/peers.json`.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, median

from scipy.stats import t as student

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent.parent / "target"
REFERENCE = "headrace kernel"
# Confidence of each margin. If all simulators are right, all eight rows agree in at least 99 of 100 comparisons.
CONFIDENCE = 0.999


@dataclass(frozen=True)
class Workload:
    """A workload, with the mean response by theory where there is a closed form."""

    name: str
    title: str
    unit: str
    theory: float | None


WORKLOADS = (
    Workload("mm1", "M/M/1, λ = 0.8 /s, μ = 1 /s: customers per CPU second", "s", 1 / (1 - 0.8)),
    Workload("fork_join", "fork-join over four disks, λ = 0.07 /ms: jobs per CPU second", "ms", None),
)


@dataclass(frozen=True)
class Simulator:
    """A command that runs a workload, and the customers of each workload that it has: as many as take some seconds."""

    name: str
    command: tuple[str, ...]
    customers: dict[str, int]

    def run(self, workload: Workload, seed: int, smallest: bool) -> "Run":
        """Run a workload once in a process of its own."""
        customers = 200 if smallest else self.customers[workload.name]
        command = [*self.command, workload.name, str(customers), str(seed)]
        ran = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
        if ran.returncode:
            raise SystemExit(f"{self.name}: `{' '.join(command)}` failed:\n{ran.stderr}")
        return Run(customers, **json.loads(ran.stdout))


@dataclass(frozen=True)
class Run:
    """What one run found: the mean response of its customers, and CPU seconds."""

    customers: int
    mean: float
    cpu_s: float

    @property
    def rate(self) -> float:
        """Customers per CPU second."""
        return self.customers / self.cpu_s


@dataclass(frozen=True)
class Row:
    """A line of a table. `ratios` are rates of the headrace kernel over this simulator's, run by run."""

    simulator: str
    rates: list[float]
    ratios: list[float]
    mean: float
    off: float | None
    margin: float

    @property
    def agrees(self) -> bool | None:
        """True if the mean agrees with the reference within the margin; `None` of the reference itself."""
        return None if self.off is None else abs(self.off) <= self.margin


def peers(python: Path) -> Iterator[Simulator]:
    """Return the other simulators that this interpreter can import, and name those that it cannot."""
    known = {
        "Cimba": {"mm1": 2_000_000, "fork_join": 500_000},
        "SimPy": {"mm1": 400_000, "fork_join": 50_000},
        "Ciw": {"mm1": 200_000},
    }
    for name, customers in known.items():
        module = name.lower()
        asked = f"import {module}; from importlib.metadata import version; print(version('{module}'))"
        ran = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=False)
        if ran.returncode:
            print(f"{name} is not compared: {ran.stderr.strip().splitlines()[-1]}")
        else:
            command = (str(python), "measure.py", f"by_{module}")
            yield Simulator(f"{name} {ran.stdout.strip()}", command, customers)


def simulators(bench: str, python: Path) -> list[Simulator]:
    """Return the kernel, scenarios, and the other simulators."""
    kernel = Simulator(REFERENCE, (bench, "--workload"), {"mm1": 5_000_000, "fork_join": 1_000_000})
    scenario = (sys.executable, "measure.py", "by_headrace")
    return [
        kernel,
        Simulator("headrace scenario", scenario, {"mm1": 2_000_000, "fork_join": 500_000}),
        *peers(python),
    ]


def install() -> Path:
    """Install each simulator that can be installed, and return the interpreter that has them."""
    folder = TARGET / "peers"
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    uv = [
        str(Path(sys.executable).with_name("uv")),
        "--system-certs",
        "pip",
        "install",
        "--quiet",
        "--python",
        str(python),
    ]
    for requirement in (HERE / "requirements.txt").read_text(encoding="utf-8").split():
        ran = subprocess.run([*uv, requirement], capture_output=True, text=True, check=False)
        if ran.returncode:
            print(f"{requirement} cannot be installed:\n{ran.stderr.strip()}")
    return python


def measured(workload: Workload, among: Sequence[Simulator], runs: int, smallest: bool) -> dict[str, list[Run]]:
    """Run a workload in all simulators that have it, in turn. Every run has a seed of its own."""
    having = [simulator for simulator in among if workload.name in simulator.customers]
    found: dict[str, list[Run]] = {simulator.name: [] for simulator in having}
    for turn in range(runs):
        for place, simulator in enumerate(having):
            found[simulator.name].append(simulator.run(workload, 1 + turn * len(having) + place, smallest))
    return found


def mean(runs: Sequence[Run]) -> float:
    """Return the mean response over all runs of a simulator, which are equally long."""
    return fmean(run.mean for run in runs)


def pooled(found: dict[str, list[Run]]) -> tuple[float, float]:
    """Return the variance of a mean times its customers, and Student's quantile for an interval of a mean.

    This variance is a property of the workload. It is pooled over the simulators, since few runs of one say little.
    """
    freedom = sum(len(runs) - 1 for runs in found.values())
    squares = sum(run.customers * (run.mean - mean(runs)) ** 2 for runs in found.values() for run in runs)
    return squares / freedom, float(student.ppf((1 + CONFIDENCE) / 2, freedom))


def rows(workload: Workload, found: dict[str, list[Run]]) -> list[Row]:
    """Return a row of each simulator. Means are compared with theory, or with that of the headrace kernel."""
    variance, quantile = pooled(found)
    inverse = {name: 1 / sum(run.customers for run in runs) for name, runs in found.items()}
    kernel = found[REFERENCE]
    reference = workload.theory or mean(kernel)

    def row(name: str, runs: list[Run]) -> Row:
        same = name == REFERENCE and workload.theory is None
        share = inverse[name] + (0 if same or workload.theory else inverse[REFERENCE])
        return Row(
            simulator=name,
            rates=[run.rate for run in runs],
            ratios=[one.rate / run.rate for one, run in zip(kernel, runs, strict=True)],
            mean=mean(runs),
            off=None if same else mean(runs) / reference - 1,
            margin=quantile * (variance * share) ** 0.5 / reference,
        )

    return [row(name, runs) for name, runs in found.items()]


def shown(workload: Workload, table: Sequence[Row]) -> Iterator[str]:
    """Return the lines of a table."""
    mean_by = f"mean, {workload.unit}"
    yield f"{workload.title}" + (f"; mean response {workload.theory:.4g} {workload.unit}" if workload.theory else "")
    yield f"{'':18} {'median':>10} {'spread':>22} {'ratio':>8} {'spread':>16} {mean_by:>9} {'off by':>9} {'margin':>8}"
    for row in table:
        rates = f"{median(row.rates):>10,.0f} {f'{min(row.rates):,.0f}..{max(row.rates):,.0f}':>22}"
        ratios = f"{median(row.ratios):>8.3g} {f'{min(row.ratios):.3g}..{max(row.ratios):.3g}':>16}"
        off = "reference" if row.off is None else f"{row.off:+.2%}"
        verdict = {None: "", True: "agrees", False: "DISAGREES"}[row.agrees]
        yield f"{row.simulator:18} {rates} {ratios} {row.mean:>9.4g} {off:>9} {row.margin:>8.2%} {verdict}".rstrip()


def main() -> None:
    """Measure, print and write the tables. Fails if a simulator disagrees."""
    parser = argparse.ArgumentParser(description="Compare the speed and the means of headrace and other simulators.")
    parser.add_argument("bench", help="the program headrace-bench")
    parser.add_argument("--runs", type=int, default=5, help="number of runs of each simulator, at least 2")
    parser.add_argument("--python", type=Path, help="interpreter that has the other simulators (default: install them)")
    parser.add_argument("--smallest", action="store_true", help="run 200 customers only")
    asked = parser.parse_args()
    among = simulators(os.path.abspath(asked.bench), asked.python or install())
    found = {workload: rows(workload, measured(workload, among, asked.runs, asked.smallest)) for workload in WORKLOADS}
    for workload, table in found.items():
        print(*shown(workload, table), "", sep="\n")
    print(f"ratio: rate of the headrace kernel over this one. margin: of the mean, {CONFIDENCE:.1%} confidence.")
    if not asked.smallest:
        written = {workload.name: [asdict(row) for row in table] for workload, table in found.items()}
        (TARGET / "peers.json").write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    disagreeing = [row.simulator for table in found.values() for row in table if row.agrees is False]
    if disagreeing:
        raise SystemExit(f"disagreeing: {', '.join(disagreeing)}")


if __name__ == "__main__":
    main()
