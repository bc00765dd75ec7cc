"""The programs around the benchmarks: spreads, comparison of revisions, history, and peers. No time is asserted."""

import importlib.util
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from conftest import ROOT, written

BENCHES = ROOT / "benches"
PEERS = BENCHES / "peers"


def module(file: str) -> ModuleType:
    """Return a program of the benchmarks as a module."""
    name = Path(file).stem
    spec = importlib.util.spec_from_file_location(name, BENCHES / file)
    assert spec
    assert spec.loader
    found = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


bench, history, compare = module("bench.py"), module("history.py"), module("peers/compare.py")

# A benchmark that counts its runs, which both checkouts share, and has the figures that it is given.
PROGRAM = """#!{python}
import json, pathlib, sys
if sys.argv[1] == "--list":
    print({listed!r})
    sys.exit()
log = pathlib.Path({log!r})
turns = log.read_text().splitlines() if log.exists() else []
log.write_text("".join(f"{{turn}}\\n" for turn in [*turns, "{name} " + " ".join(sys.argv[1:])]))
figures = {{"rate": {rate} + len(turns), "gone": None, "rate.min": 0, "{name}_alone": 2.0, "zero": 0}}
pathlib.Path("target/bench.json").write_text(json.dumps(figures))
print("rate     1.00 million  customers a second")
"""


def checkout(folder: Path, name: str, rate: float, listed: str = "kernel") -> Any:
    """Return a checkout whose benchmark is a script."""
    log = str(folder / "log")
    text = PROGRAM.format(python=sys.executable, name=name, rate=rate, log=log, listed=listed)
    program = written(folder / name, text)
    program.chmod(0o755)
    return bench.Checkout(name, folder, program)


def test_revisions_are_measured_in_turn_and_their_figures_matched(tmp_path: Path) -> None:
    new, old = checkout(tmp_path, "new", 200_000), checkout(tmp_path, "old", 100_000, listed="")
    assert (new.groups(), old.groups()) == (["kernel"], [])
    here, there = map(bench.values, bench.rounds("kernel", [new, old], runs=3, once=False))
    assert (tmp_path / "log").read_text().splitlines() == ["new kernel", "old kernel"] * 3
    assert here == {"rate": [200_000, 200_002, 200_004], "new_alone": [2] * 3, "zero": [0] * 3}
    assert [line.split() for line in bench.comparison(here, there, "v0")] == [
        ["rate", "0.2", "million", "0.1", "million", "2.000", "2.000..2.000", "differs"],
        ["new_alone", "2.000", "-", "only", "in", "this", "checkout"],
        ["zero", "0.000", "0.000", "no", "ratio:", "0"],
        ["old_alone", "-", "2.000", "only", "in", "v0"],
    ]


def test_a_ratio_on_both_sides_of_one_is_noise() -> None:
    assert bench.verdict([0.99, 1.02, 1.01]).split() == ["1.010", "0.990..1.020", "noise"]
    assert bench.verdict([0.98, 0.97, 0.99]).split() == ["0.980", "0.970..0.990", "differs"]


def test_figures_have_their_spread_in_the_table_and_the_file(tmp_path: Path) -> None:
    [runs] = bench.rounds("kernel", [checkout(tmp_path, "new", 200_000)], runs=3, once=True)
    assert (tmp_path / "log").read_text().splitlines() == ["new kernel --once"] * 3
    first, *_ = bench.table(runs)
    assert first.split() == ["rate", "0.2", "million", "0.2", "million..0.2", "million", "customers", "a", "second"]
    flat = bench.flat({"rate": [2.0, 1.0, 4.0]})
    assert flat == {"rate": 2, "rate.min": 1, "rate.max": 4}
    assert history.figures(flat | {"once": 5.0}) == {"rate": [2, 1, 4]}


def test_the_history_has_one_line_a_release() -> None:
    text = history.added(history.added("", {"version": "1", "n": 1}), {"version": "2", "n": 2})
    assert [json.loads(line)["n"] for line in text.splitlines()] == [1, 2]
    assert [json.loads(line)["n"] for line in history.added(text, {"version": "2", "n": 3}).splitlines()] == [1, 3]
    lines = [json.loads(line) for line in (BENCHES / "history.jsonl").read_text().splitlines()]
    assert lines
    assert len({line["version"] for line in lines}) == len(lines)
    for line in lines:
        assert line.keys() == {"version", "commit", "date", "machine", "figures"}
        assert all(least <= median <= most for median, least, most in line["figures"].values())


@pytest.mark.parametrize("peer", ["headrace", "simpy", "ciw", "cimba"])
def test_each_peer_runs_the_workloads(peer: str) -> None:
    pytest.importorskip(peer)
    for workload in ["mm1"] if peer == "ciw" else ["mm1", "fork_join"]:
        command = [sys.executable, str(PEERS / "measure.py"), f"by_{peer}", workload, "200"]
        printed = [subprocess.run([*command, seed], capture_output=True, check=True).stdout for seed in ("1", "1", "2")]
        found = [json.loads(text) for text in printed]
        means = [run["mean"] for run in found]
        assert means[0] == means[1] != means[2]
        assert all(run["mean"] > (1 if workload == "mm1" else 8) for run in found)


def test_a_table_names_the_peers_that_are_missing(tmp_path: Path) -> None:
    kernel = written(tmp_path / "bench", f'#!{sys.executable}\nprint(\'{{"mean": 5.0, "cpu_s": 0.001}}\')\n')
    kernel.chmod(0o755)
    without = written(
        tmp_path / "python",
        f'#!/bin/sh\ncase "$2" in *cimba*) echo gone >&2; exit 1; esac\nexec {sys.executable} "$@"\n',
    )
    without.chmod(0o755)
    options = ["--runs", "2", "--python", str(without), "--smallest"]
    command = [sys.executable, str(PEERS / "compare.py"), str(kernel), *options]
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    assert lines[0] == "Cimba is not compared: gone"
    tables = [at for at, line in enumerate(lines) if line.split()[:2] == ["median", "spread"]]
    assert [lines[at].split() for at in tables] == [
        ["median", "spread", "ratio", "spread", "mean,", unit, "off", "by", "margin"] for unit in ("s", "ms")
    ]
    named = [[line.split()[0] for line in lines[at + 1 : lines.index("", at)]] for at in tables]
    assert named == [["headrace", "headrace", "SimPy", "Ciw"], ["headrace", "headrace", "SimPy"]]


def test_a_mean_agrees_within_its_margin() -> None:
    found = {
        name: [compare.Run(10_000, mean * (1 + noise), cpu_s) for noise in (-0.01, 0.0, 0.01)]
        for name, mean, cpu_s in ((compare.REFERENCE, 20.0, 0.1), ("right", 20.1, 1.0), ("wrong", 21.0, 2.0))
    }
    theory, none = replace(compare.WORKLOADS[0], theory=20.0), compare.WORKLOADS[1]
    assert [row.agrees for row in compare.rows(theory, found)] == [True, True, False]
    kernel, right, wrong = compare.rows(none, found)
    assert (kernel.off, kernel.agrees, right.agrees, wrong.agrees) == (None, None, True, False)
    assert right.ratios == pytest.approx([10] * 3)
    assert right.margin == pytest.approx(kernel.margin * 2**0.5)
