"""`--live`: the report of an experiment while it runs, on this machine alone."""

import json
import re
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from attacks import answer, requests
from conftest import PATIENCE, ROOT, wait_until
from headrace.view.live import MOST, Live, serving

EXAMPLE = str(ROOT / "examples" / "stripe-unit.yaml")
LONG = ["--set", "run.requests=20000"]
DISKS = "system.volume.disks"
RATE = "workload.readers.arrivals.poisson"
COMMANDS = {
    "sweep": [EXAMPLE, "--vary", f"{DISKS}=4,6,8", "--replications", "8", *LONG],
    "compare": [EXAMPLE, "--with", f"{DISKS}=8", "--replications", "8", *LONG],
    "capacity": [EXAMPLE, "--increase", RATE, "--until", "mean(readers) < 40 ms", "--within", "20%", *LONG],
    "optimise": [EXAMPLE, "--vary", f"{DISKS}=4,6,8", "--minimise", "mean(readers)", "--minimise", "disks", *LONG],
    "sensitivity": [EXAMPLE, "--vary", f"{DISKS}=4..8/3", "--metric", "mean(readers)", "--samples", "4", *LONG],
}


HEADRACE = str(Path(sys.executable).with_name("headrace"))


@contextmanager
def running(*arguments: str, cwd: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start a command with `--live`; give the address that it prints, and its process."""
    process = subprocess.Popen(
        [*arguments, "--live"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    found = re.search(r"http://127\.0\.0\.1:\d+/\S+/", line)
    assert found, line + process.stderr.read()
    try:
        yield found[0], process
    finally:
        process.kill()
        process.communicate()


def followed(address: str) -> list[dict[str, Any]]:
    """Ask for what is shown until it is the last."""
    told: list[dict[str, Any]] = [{"version": 0, "done": False}]
    while not told[-1]["done"]:
        with urllib.request.urlopen(f"{address}next?after={told[-1]['version']}", timeout=PATIENCE) as answer:
            told.append(json.load(answer))
    return told[1:]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_grows_and_ends_as_the_report(command: str, tmp_path: Path) -> None:
    with running(HEADRACE, command, *COMMANDS[command], cwd=tmp_path) as (address, process):
        told = followed(address)
        assert process.wait() in (0, 3)
    assert told[-1]["doing"] == "done"
    assert any("runs" in one["doing"] for one in told)
    assert "<svg" in told[-1]["body"]
    assert 'class="answer"' in told[-1]["body"]
    assert len({one["body"] for one in told}) >= 2, "something, and then everything"


# A study of one claim, found where the packaged ones are.
STUDY = """
from headrace.study import Claim, Obtained, verdict

def obtain(study):
    study.draw("A line", "x", "y", {"obtained": [(0, 0), (1, 1)]})
    for number in (1.0, 2.0):
        yield verdict(Claim(f"c{number:g}", "a number", 1.0, "here", percent=1.0), Obtained(number))
"""
ELSEWHERE = """
import sys, headrace.studies, headrace.cli
headrace.studies.__path__ = [sys.argv.pop(1)]
headrace.cli.main()
"""


def test_a_study_shows_its_claims_as_they_come(tmp_path: Path) -> None:
    (tmp_path / "line").mkdir()
    (tmp_path / "line" / "claims.toml").write_text('title = "A line"')
    (tmp_path / "line" / "study.py").write_text(STUDY)
    command = [sys.executable, "-c", ELSEWHERE, str(tmp_path), "study", "run", "line"]
    with running(*command, cwd=tmp_path) as (address, process):
        told = followed(address)
        assert process.wait() == 1, "the second claim fails"
    assert told[0]["doing"] in ("1 claims so far", "2 claims so far", "done")
    assert "1 of 2 published claims hold" in told[-1]["body"]
    assert "<svg" in told[-1]["body"]


def test_strangers_are_refused(tmp_path: Path) -> None:
    with running(HEADRACE, "sweep", *COMMANDS["sweep"], cwd=tmp_path) as (address, _):
        root = re.match(r"http://[\d.:]+/", address)
        assert root
        for asked in (
            urllib.request.Request(root[0]),
            urllib.request.Request(f"{root[0]}next"),
            urllib.request.Request(address, headers={"Host": "evil.example"}),
            urllib.request.Request(address, headers={"Origin": "http://evil.example"}),
        ):
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(asked, timeout=PATIENCE)


@pytest.fixture
def page() -> Iterator[tuple[str, int]]:
    """Serve a page from this process; give the path of its address, and its port."""
    live = Live("headrace sweep")
    live.finish(lambda: None, "done")
    addresses: list[str] = []
    with serving(live, addresses.append):
        parts = urlsplit(addresses[0])
        assert parts.port
        yield parts.path, parts.port
        # As a browser that has the last page: nothing is left to wait for.
        answer(parts.port, f"GET {parts.path}next?after=0 HTTP/1.0\r\nHost: 127.0.0.1:{parts.port}\r\n\r\n".encode())


def test_no_request_has_a_traceback(page: tuple[str, int], capfd: pytest.CaptureFixture[str]) -> None:
    path, port = page
    for raw in requests(path, port, f"{path}next?after=0"):
        answer(port, raw)
    sound = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
    assert answer(port, sound.encode()).startswith(b"HTTP/1.0 200")
    assert capfd.readouterr().err == ""


def test_connections_that_say_nothing_take_a_bounded_number_of_threads(page: tuple[str, int]) -> None:
    path, port = page
    before = threading.active_count()
    silent = [socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) for _ in range(3 * MOST)]
    # Those beyond the bound are closed at once.
    assert all(one.recv(1) == b"" for one in silent[MOST:])
    assert threading.active_count() - before <= MOST
    for one in silent:
        one.close()
    sound = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    wait_until(lambda: answer(port, sound).startswith(b"HTTP/1.0 200"))


def test_a_browser_keeps_up_and_keeps_the_last_page(browser: Any, tmp_path: Path) -> None:
    page = browser.new_page()
    page.set_default_timeout(PATIENCE * 1000)
    # The program goes on without a reader: the browser is there first.
    with running(HEADRACE, "sweep", *COMMANDS["sweep"], cwd=tmp_path) as (address, process):
        page.goto(address)
        page.locator("#doing", has_text=re.compile("of 24 runs|done")).wait_for()
        process.wait()
        page.locator("#doing", has_text="done").wait_for()
        assert "lowest at" in page.locator(".answer").inner_text()
    page.close()
