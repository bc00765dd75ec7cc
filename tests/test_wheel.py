"""The wheel installs and runs in a fresh environment, without Rust and without the checkout."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

from conftest import ROOT


def assert_holds_the_package(wheel: Path) -> None:
    """Check that a wheel has every file of the package that is under version control, and else what is built."""
    tracked = subprocess.run(
        ["git", "ls-files", "python/headrace"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    package = {file.removeprefix("python/") for file in tracked.stdout.splitlines()}
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if not name.endswith("/")}
    inside = {name for name in held if name.startswith("headrace/")}
    assert package - inside == set(), "the wheel lacks files of the package"
    assert inside - package == {"headrace/_core.abi3.so"}, "the wheel has files that are not of the package"
    beside = {name.partition("/")[2] for name in held - inside}
    assert {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"} <= beside
    assert "data/share/man/man1/headrace.1" in beside
    assert "headrace/view/pages/templates/charts.js" in inside


def test_the_wheel_runs_without_rust_and_without_the_checkout(tmp_path: Path) -> None:
    maturin = Path(sys.executable).with_name("maturin")
    build = [str(maturin), "build", "--quiet", "--out", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [wheel] = tmp_path.glob("*.whl")
    assert "abi3" in wheel.name
    assert_holds_the_package(wheel)
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    programs = environment / "bin"
    install: list[str | Path] = [
        Path(sys.executable).with_name("uv"),
        "--system-certs",
        "pip",
        "install",
        "--quiet",
        "--python",
        programs / "python",
        wheel,
    ]
    subprocess.run(install, check=True, capture_output=True)
    (tmp_path / "clerk.yaml").write_text(
        "system: {clerk: {type: station, service: {exponential: 8 ms}}}\n"
        "workload: {customers: {to: clerk, arrivals: {poisson: 100 /s}}}\n"
    )
    bare = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")} | {
        "PATH": "/usr/bin:/bin"
    }

    def printed(*arguments: str) -> str:
        command = [str(programs / "headrace"), *arguments]
        ran = subprocess.run(command, cwd=tmp_path, env=bare, capture_output=True, text=True, check=True)
        return ran.stdout

    assert json.loads(printed("run", "clerk.yaml", "--json"))["theory"][0]["model"] == "M/G/1"
    assert "raid0-split-merge" in printed("study", "list")
    assert ".TH HEADRACE 1" in (environment / "share" / "man" / "man1" / "headrace.1").read_text()
