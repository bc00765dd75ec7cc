"""Supply chain: what is installed has hashes, and an audit says what it could not check."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from conftest import ROOT

LOCK = ROOT / "packaging" / "dev.lock"
AUDIT = ROOT / "packaging" / "audit.py"


def locked() -> dict[str, list[str]]:
    """Return the versions that the lock file has of each package."""
    found: dict[str, list[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==([^\s;]+)", LOCK.read_text(), re.MULTILINE):
        found.setdefault(canonicalize_name(name), []).append(version)
    return found


def test_every_locked_package_has_hashes_and_no_address_of_an_index() -> None:
    text = LOCK.read_text()
    assert "://" not in text
    assert "index-url" not in text
    requirements = re.sub(r"#.*", "", text.replace("\\\n", "")).strip()
    for line in filter(str.strip, requirements.splitlines()):
        assert re.match(r"\S+==\S+.* --hash=sha256:[0-9a-f]{64}", line), line


def test_the_lock_file_has_what_pyproject_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    versions = locked()
    for asked in map(Requirement, [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]):
        found = versions.get(canonicalize_name(asked.name), [])
        assert found, f"{asked.name} is not locked: make lock"
        assert all(asked.specifier.contains(version) for version in found), f"{asked} has {found}: make lock"


def test_make_installs_nothing_without_a_hash() -> None:
    told = subprocess.run(
        ["make", "--dry-run", "--always-make", ".venv/tools"], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    installs = told.replace("\\\n", "").count("pip install")
    assert installs == told.count("--require-hashes") > 0


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", AUDIT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_audit_without_tools_or_network_says_so() -> None:
    nowhere = {"https_proxy": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9", "PATH": "/usr/bin:/bin"}
    ran = subprocess.run(
        [sys.executable, str(AUDIT)], capture_output=True, text=True, check=False, env=os.environ | nowhere
    )
    assert ran.returncode == 2, ran.stderr
    rust, rust_advisories, python = ran.stdout.splitlines()
    for line in (rust, rust_advisories):
        assert "NOT CHECKED: cargo-deny is not installed: cargo install --locked cargo-deny" in line
    assert python.startswith("Python advisories: NOT CHECKED: advisories cannot be reached: ")
    assert "Traceback" not in ran.stdout + ran.stderr


def ended(code: int, out: str = "", err: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.CompletedProcess([], code, out, err)


def of_packages(*dependencies: object) -> subprocess.CompletedProcess[str]:
    return ended(0, json.dumps({"dependencies": dependencies, "fixes": []}))


def test_an_audit_tells_what_was_found_from_what_was_not_checked(audit: ModuleType) -> None:
    """The outputs are those of pip-audit 2.10 and cargo-deny 0.20."""
    sound = {"name": "a", "version": "1", "vulns": []}
    unknown = {"name": "b", "skip_reason": "Dependency not found on PyPI"}
    bad = {"name": "c", "version": "2", "vulns": [{"id": "PYSEC-1", "fix_versions": []}]}
    assert audit.of_packages(of_packages(sound)) == "1 packages without known vulnerabilities"
    with pytest.raises(audit.NotChecked, match="no advisories for 1 of 2 packages: Dependency not found"):
        audit.of_packages(of_packages(sound, unknown))
    with pytest.raises(audit.Found, match="c 2: PYSEC-1"):
        audit.of_packages(of_packages(sound, unknown, bad))
    assert audit.of_crates(ended(0, "licenses ok, sources ok\n")) == "licenses ok, sources ok"
    with pytest.raises(audit.NotChecked, match="advisories cannot be reached: failed to fetch advisory database"):
        audit.of_crates(ended(1, err="2026 [ERROR] failed to fetch advisory database https://…\nfatal: …\n"))
    with pytest.raises(audit.Found, match="RUSTSEC"):
        audit.of_crates(ended(1, err="error[vulnerability]: RUSTSEC-2026-0001\n"))
