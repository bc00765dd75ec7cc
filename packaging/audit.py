"""Audits the dependencies, and prints a line for each part: what was checked, found, or could not be checked.

Exits with 1 if something was found, with 2 if a part could not be checked, as where advisories cannot be reached.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "packaging" / "dev.lock"
UNREACHED = "failed to fetch advisory database"


class Found(Exception):
    """Reports what is wrong with dependencies."""


class NotChecked(Exception):
    """Says why dependencies could not be checked."""


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a tool in the root folder; return what it printed, whatever its exit code."""
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def crates(*checks: str) -> str:
    """Check the crates of `Cargo.lock` with cargo-deny."""
    if shutil.which("cargo-deny") is None:
        raise NotChecked("cargo-deny is not installed: cargo install --locked cargo-deny")
    return of_crates(run("cargo-deny", "--locked", "check", *checks))


def of_crates(ran: subprocess.CompletedProcess[str]) -> str:
    """Return what cargo-deny says in its last line, which sums up; raise `NotChecked` if it has no advisories."""
    if unreached := [line for line in ran.stderr.splitlines() if UNREACHED in line]:
        raise NotChecked(f"advisories cannot be reached: {unreached[0][unreached[0].index(UNREACHED) :]}")
    if ran.returncode:
        raise Found(ran.stderr)
    return (ran.stdout + ran.stderr).strip().splitlines()[-1]


def packages() -> str:
    """Check the Python packages of the lock file with pip-audit."""
    tool = Path(sys.executable).with_name("pip-audit")
    if not tool.exists():
        raise NotChecked("pip-audit is not installed: make .venv/tools")
    return of_packages(
        run(str(tool), "--require-hashes", "--disable-pip", "--progress-spinner=off", "--format=json", "-r", str(LOCK))
    )


def of_packages(ran: subprocess.CompletedProcess[str]) -> str:
    """Return how many packages pip-audit found in order; raise `NotChecked` if it had no advisories of some.

    It exits with 0 where the index knows no package at all, so that its exit code is not enough.
    """
    try:
        told = json.loads(ran.stdout)["dependencies"]
    except ValueError:
        raise NotChecked(f"advisories cannot be reached: {ran.stderr.strip().splitlines()[-1]}") from None
    if vulnerable := [one for one in told if one.get("vulns")]:
        raise Found("\n".join(f"{one['name']} {one['version']}: {_ids(one['vulns'])}" for one in vulnerable))
    if skipped := [one for one in told if "skip_reason" in one]:
        raise NotChecked(f"no advisories for {len(skipped)} of {len(told)} packages: {skipped[0]['skip_reason']}")
    return f"{len(told)} packages without known vulnerabilities"


def _ids(vulnerabilities: list[dict[str, str]]) -> str:
    return ", ".join(one["id"] for one in vulnerabilities)


PARTS: dict[str, Callable[[], str]] = {
    "Rust licences, sources, bans": lambda: crates("licenses", "sources", "bans"),
    "Rust advisories": lambda: crates("advisories"),
    "Python advisories": packages,
}


def audited(name: str, check: Callable[[], str]) -> int:
    """Print the line of a part, and return its exit code."""
    try:
        print(f"{name}: checked: {check()}")
    except Found as found:
        print(f"{name}: FOUND:\n{found}")
        return 1
    except NotChecked as reason:
        print(f"{name}: NOT CHECKED: {reason}")
        return 2
    return 0


if __name__ == "__main__":
    codes = [audited(name, check) for name, check in PARTS.items()]
    sys.exit(1 if 1 in codes else max(codes))
