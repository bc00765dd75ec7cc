"""What the tests share: the command line as a user starts it, and the measured data where it is present."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session", autouse=True)
def hears_ctrl_c() -> None:
    """Let this process and those that it starts hear Ctrl-C: who was started in the background is deaf to it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def headrace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Return a function that runs `headrace` in a process of its own, and returns what it printed."""
    output, errors = (tmp_path_factory.mktemp("printed") / name for name in ("output", "errors"))
    server = [sys.executable, str(ROOT / "tests" / "commands.py")]

    def run(*arguments: object, cwd: Path = ROOT, columns: int = 100) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "dumb"}
        command = [*map(str, arguments)]
        assert commands.stdin
        assert commands.stdout
        print(json.dumps([command, str(cwd), environment, str(output), str(errors)]), file=commands.stdin, flush=True)
        code = int(commands.stdout.readline())
        return subprocess.CompletedProcess(command, code, output.read_text(), errors.read_text())

    with subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as commands:
        yield run


# Seconds that only what is broken takes: a bound on waiting for what must come, however busy the machine.
PATIENCE = 600


def wait_until(seen: Callable[[], object], process: subprocess.Popen[Any] | None = None) -> None:
    """Wait until something is seen; fail if the process that should cause it has ended."""
    while not seen():
        assert process is None or process.poll() is None, f"{process.args!r} has ended"
        time.sleep(0.01)


def written(file: Path, text: str) -> Path:
    """Write a file, and return its path."""
    file.write_text(text)
    return file


def without_scripts(page: Path) -> str:
    """Return the text of a page as it is where no script runs."""
    return re.sub(r"<script.*?</script>", "", page.read_text(), flags=re.DOTALL)


@pytest.fixture(scope="session")
def measured_data() -> Path:
    """Return the folder of measured data; skip where it is absent."""
    folder = Path(os.environ.get("HEADRACE_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "disks").is_dir():
        pytest.skip("no measured data")
    return folder


def real_program(name: str) -> str:
    """Return the path of a program that tests start for real; skip where it is absent, but not in CI, which has it."""
    path = shutil.which(name)
    if path is None and os.environ.get("CI"):
        pytest.fail(f"{name} is not installed: `make parts` does that")
    if path is None:
        pytest.skip(f"no {name}")
    return path


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Start the browser that all tests of a process share."""
    program = real_program("chromium")
    api = pytest.importorskip("playwright.sync_api", reason="no Playwright")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


def opened(browser: Any, page: Path, width: int) -> tuple[Any, list[str]]:
    """Open a file in a window of this width; return its tab, and what the browser complains of."""
    tab, wrong = browser.new_page(viewport={"width": width, "height": 1200}), list[str]()
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("console", lambda message: wrong.append(message.text))
    tab.goto(page.as_uri())
    return tab, wrong
