"""Every command and file in the documentation, and every example, does what it says."""

import json
import re
import shlex
from pathlib import Path

import pytest

from conftest import ROOT, Run

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "CONTRIBUTING.md"]
FILE = re.compile(r"<!-- file: (\S+) -->\n+```yaml\n(.*?)```", re.DOTALL)
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_shows_what_really_happens(headrace: Run, tmp_path: Path, page: Path) -> None:
    text = page.read_text()
    for name, content in FILE.findall(text):
        (tmp_path / name).write_text(content)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for console in CONSOLE.findall(text):
        command, _, shown = console.partition("\n")
        program, *arguments = shlex.split(command.removeprefix("$ "))
        assert program == "headrace", f"{page.name}: only headrace commands are checked, not {command}"
        ran = headrace(*arguments, cwd=tmp_path, columns=90)
        printed = [line.rstrip() for line in (ran.stdout + ran.stderr).splitlines()]
        assert [line.rstrip() for line in shown.splitlines()] == printed, f"{page.name}: {command}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.yaml")), ids=lambda example: example.name)
def test_an_example_opens_with_its_question_and_runs(headrace: Run, example: Path) -> None:
    assert example.read_text().startswith("# ")
    assert "?" in example.read_text().split("system:")[0]
    if "replay" in example.name:
        return  # Needs a measured trace: tests/test_measured.py runs it.
    ran = headrace("run", example, "--json", "--set", "run.requests=2000")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["complete"]
