"""Updates what pages of the documentation show: `python tests/renew.py README.md docs/guides/caches.md`.

Runs the commands and the Python of each page as `test_documents` does, and replaces what they print where it has
changed. Of a block with lines of `…`, as many lines are kept at its beginning and end as it had; one whose middle has
changed is printed instead.
"""

import contextlib
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from test_documents import COMMAND, SNIPPET, is_shown, lay_out, printed_by


def main(pages: list[str]) -> None:
    """Renew each of the pages."""
    for page in pages:
        path = Path(page).resolve()
        before = path.read_text()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            after = renewed(before, Path(folder))
        if after != before:
            path.write_text(after)
            print(page, "renewed")


def renewed(text: str, folder: Path) -> str:
    """Return the text of a page with what its commands print today; they run in `folder`."""
    lay_out(text, folder)
    variables: dict[str, object] = {"__name__": "__main__"}
    for console, python, said in SNIPPET.findall(text):
        for command, shown in COMMAND.findall(console):
            now = renewed_block(shown, said_by(command, folder), command)
            text = text.replace(f"$ {command}\n{shown}", f"$ {command}\n{now}", 1)
        if python:
            now = renewed_block(said, printed_by(python, variables), python)
            text = text.replace(f"{python}```\n\n```text\n{said}", f"{python}```\n\n```text\n{now}", 1)
    return text


def said_by(command: str, folder: Path) -> str:
    """Return what a command prints on a terminal of 90 columns."""
    environment = os.environ | {"COLUMNS": "90", "NO_COLOR": "1", "TERM": "dumb"}
    words = [sys.executable, "-m", "headrace", *shlex.split(command)[1:]]
    ran = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return ran.stdout + ran.stderr


def renewed_block(shown: str, printed: str, what: str) -> str:
    """Return what is to be shown of what was printed."""
    old, told = shown.rstrip("\n").splitlines(), [line.rstrip() for line in printed.splitlines()]
    if is_shown([line.rstrip() for line in shown.splitlines()], told):
        return shown
    now = with_ends(pieces(old), told)
    if not is_shown(now, told):
        print(f"to be written by hand: {what}\n{printed}")
        return shown
    return "".join(f"{line}\n" for line in now) + shown[len(shown.rstrip("\n")) + 1 :]


def with_ends(old: list[list[str]], told: list[str]) -> list[str]:
    """Return the pieces that a page shows, the first and the last from what is printed today, with `…` between them."""
    if len(old) == 1:
        return told
    middle = [line for piece in old[1:-1] for line in [*piece, "…"]]
    return [*told[: len(old[0])], "…", *middle, *told[len(told) - len(old[-1]) :]]


def pieces(lines: list[str]) -> list[list[str]]:
    """Return the lines between those of `…`."""
    ends = [at for at, line in enumerate(lines) if line == "…"]
    return [lines[begin:end] for begin, end in zip([0, *(end + 1 for end in ends)], [*ends, len(lines)], strict=True)]


if __name__ == "__main__":
    main(sys.argv[1:])
