"""Every command and file in the documentation, and every example, does what it says."""

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from conftest import ROOT, Run

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "CONTRIBUTING.md"]
FILE = re.compile(r"<!-- file: (\S+) -->\n+```yaml\n(.*?)```", re.DOTALL)
SNIPPET = re.compile(r"```console\n(.*?)```|```python\n(.*?)```(?:\n+```text\n(.*?)```)?", re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n?)*)", re.MULTILINE)


def generated(*what: object) -> str:
    """Return what `python -m generate` prints."""
    command = [sys.executable, "-m", "generate", *map(str, what)]
    return subprocess.run(command, cwd=ROOT / "docs", capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("what", "file"),
    [
        ("types", "python/headrace/document.py"),
        ("result-types", "python/headrace/result_types.py"),
        ("results", "docs/results.md"),
        ("accuracy", "docs/background/accuracy.md"),
        ("man", "packaging/wheel/data/share/man/man1/headrace.1"),
    ],
)
def test_a_file_made_from_the_code_is_fresh(what: str, file: str) -> None:
    assert generated(what) == (ROOT / file).read_text(), "run `make types man accuracy`"


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """Return the folder of the pages made from the code: of `make test`, which has just made them, or a new one."""
    made = os.environ.get("HEADRACE_PAGES")
    if not made:
        generated("pages", tmp_path)
    return Path(made or tmp_path)


def test_the_pages_made_from_the_code_are_whole(pages: Path) -> None:
    assert "| `stripe_unit` | size |" in (pages / "scenario" / "array.md").read_text()
    navigation = (ROOT / "docs" / "mkdocs.yml").read_text()
    for page in (pages / "scenario").iterdir():
        assert f"- scenario/{page.name}\n" in navigation
    assert "`--timeline FILE.json`" in (pages / "commands.md").read_text()
    assert (pages / "gallery" / "bursts.svg").stat().st_size > 1000
    assert "figure" in (pages / "gallery" / "front.html").read_text(), "the report that the front page shows"
    links = re.findall(r'href="(gallery/[^"]+)"', (pages / "gallery.md").read_text())
    assert len(links) >= 20
    assert all((pages / link).exists() for link in links)
    for notebook in (ROOT / "docs" / "notebooks").glob("*.ipynb"):
        assert all(not cell.get("outputs") for cell in json.loads(notebook.read_text())["cells"]), (
            "commit it without outputs"
        )
        assert '<div class="headrace">' in (pages / "notebooks" / f"{notebook.stem}.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_shows_what_really_happens(
    headrace: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: Path
) -> None:
    text = page.read_text()
    assert "```console\n```" not in text, "a block that lost its command"
    monkeypatch.chdir(tmp_path)
    lay_out(text, tmp_path)
    variables: dict[str, object] = {"__name__": "__main__"}
    for console, python, said in SNIPPET.findall(text):
        for command, shown in COMMAND.findall(console):
            program, *arguments = shlex.split(command)
            assert program == "headrace", f"{page.name}: only headrace commands are checked, not {command}"
            ran = headrace(*arguments, cwd=tmp_path, columns=90)
            assert_shown(shown, ran.stdout + ran.stderr, f"{page.name}: {command}")
        if python:
            assert_shown(said, printed_by(python, variables), f"{page.name}: {python}")


def lay_out(text: str, folder: Path) -> None:
    """Write the files of a page to a folder, beside the examples."""
    for name, content in FILE.findall(text):
        (folder / name).write_text(content)
    (folder / "examples").symlink_to(ROOT / "examples")


def assert_shown(shown: str, printed: str, where: str) -> None:
    """Check that what a page shows is what is printed; a line of `…` stands for any lines."""
    told = [line.rstrip() for line in printed.splitlines()]
    assert is_shown([line.rstrip() for line in shown.splitlines()], told), where + "\n" + "\n".join(told)


def is_shown(shown: list[str], told: list[str]) -> bool:
    """Whether the pieces between lines of `…` stand in what was told, in order, the outer ones at its ends."""
    dots = [at for at, line in enumerate(shown) if line == "…"]
    if not dots:
        return shown == told
    first, last = shown[: dots[0]], shown[dots[-1] + 1 :]
    if told[: len(first)] != first or len(told) < len(first) + len(last):
        return False
    end = len(told) - len(last)
    at = len(first)
    for begin, after in pairwise(dots):
        piece = shown[begin + 1 : after]
        starts = (start for start in range(at, end - len(piece) + 1) if told[start : start + len(piece)] == piece)
        start = next(starts, None)
        if start is None:
            return False
        at = start + len(piece)
    return told[end:] == last


def test_dots_stand_for_any_lines() -> None:
    told = ["a", "b", "c", "b", "d"]
    for shown in (told, ["a", "…"], ["…", "d"], ["a", "…", "c", "…", "d"], ["…", "b", "…", "b", "…"], ["…"]):
        assert is_shown(shown, told), shown
    for shown in (["a"], ["…", "c"], ["a", "…", "d", "…", "d"], ["…", "c", "…", "c", "…"], ["b", "…"]):
        assert not is_shown(shown, told), shown


def printed_by(code: str, variables: dict[str, object]) -> str:
    """Run a block of a page's Python, which sees what those before it made; return what it printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, variables)
    return printed.getvalue()


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


@pytest.mark.parametrize(
    "example", sorted((ROOT / "examples" / "experiments").glob("*.yaml")), ids=lambda example: example.name
)
def test_an_experiment_opens_with_its_question_and_runs(headrace: Run, example: Path) -> None:
    assert "?" in example.read_text().split("experiment:")[0]
    ran = headrace("sweep", example, "--json", "--set", "run.requests=2000", "--replications", 2)
    assert ran.returncode == 0, ran.stderr
    assert len(json.loads(ran.stdout)["points"]) == 16
