"""What is not a random system: documents and traces that are damaged as text, and sweeps that are killed.

Each attack has a number, and is the same for the same number (kills come when they come). It returns what was wrong.
"""

import gzip
import json
import os
import random
import signal
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import headrace
import systems
from conftest import PATIENCE
from headrace import trace
from headrace.experiment import Table
from headrace.experiment.stored import everything

# Text that readers of YAML, of numbers and of columns get wrong, if any.
PIECES = [
    *(b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n\n", b"\t", b"  ", b",,,,", b"9" * 400, b"-1", b"1e999", b"nan"),
    *(b"&a [*a, *a]", b"*a", b"? ", b": ", b"- ", b"{", b"}", b"[" * 100, b"!!binary ", b"#", b"---\n", b"'", b'"'),
    *(b"|\n", b"<<: {like: a}", b"\xc3\x28", b"\xe2\x80\xae", b"18446744073709551616", b"0", b"inf", b"true", b"4 KiB"),
    b"~",
]  # fmt: skip
TRACES = {
    "a.csv": "time_ns,op,address,bytes,response_ns,think_ns,device\n"
    "700000,write,512,1024,90,4,\n9000000,read,0,512,,,a\n",
    "a.validate": "R Miss  564347     2     14095.370     13876.270\nW Hit 2 8 100.0 5.5\n",
    "a.ascii": "0.501 0 2000 8 1\n12.250000 0 303567 8 0\n",
    "a.msr": "128166372003061629,usr,0,Read,7014609920,24576,41286\n128166372013061629,usr,1,Write,0,512,41\n",
    "a.spc": "0,20941264,8192,W,0.551706\n1,20939840,8192,R,0.554041\n",
    "a_clat.1.log": "101, 5000000, 0, 4096, 8192, 0\n120, 81234, 1, 4096, 0, 0\n",
    "a.blkparse": (
        "  8,0    3        2     0.000001829   697  D   R 223490 + 8 [kjournald]\n"
        "  8,0    1        3     0.004001829     0  C   R 223490 + 8 [0]\n"
    ),
}  # fmt: skip
# Traces of records; the text of a record is its Latin-1 characters.
RECORDS = {
    "a.vscsi1": [struct.pack("<3I2H2Q", 9, 4096, 1, command, 263, 99, 5000) for command in (0x28, 0x2A)],
    "a.vscsi2": [struct.pack("<2H3I3Q", command, 519, 9, 4096, 1, 99, 5000, 90) for command in (0x28, 0x2A)],
    "a.oracleGeneral": [struct.pack("<IQIq", second, 1 << 60, 4096, -1) for second in (7, 7, 9)],
}
TRACES |= {name: b"".join(records).decode("latin-1") for name, records in RECORDS.items()}
EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.yaml"))


def damaged(text: bytes, luck: random.Random) -> bytes:
    """Return a text of which a few pieces are changed, doubled, moved, or gone."""
    for _ in range(luck.choice([1, 1, 2, 6])):
        begin = luck.randrange(len(text) + 1)
        end = begin + luck.choice([0, 1, 1, 8, 200])
        other = luck.randrange(len(text) + 1)
        piece = luck.choice([b"", bytes([luck.randrange(256)]), 2 * text[begin:end], text[other : other + 80], *PIECES])
        text = text[:begin] + piece + text[end:]
    return text


@contextmanager
def refusing(wrong: list[str], what: str) -> Iterator[None]:
    """Let the attack go on where something was refused in words; note any other error."""
    try:
        yield
    except headrace.ScenarioError:
        pass
    except Exception as error:
        wrong.append(f"{what}: {type(error).__name__}: {error}")


def document(number: int, folder: Path) -> list[str]:
    """Check a document that is damaged as text: an example, or a random system."""
    luck, wrong = random.Random(number), list[str]()
    is_example = luck.random() < 0.5
    sound = luck.choice(EXAMPLES).read_bytes() if is_example else json.dumps(systems.system(number)).encode()
    file = folder / f"document{os.getpid()}.yaml"
    file.write_bytes(damaged(sound, luck))
    with refusing(wrong, "check"):
        headrace.load(file).check()
    return wrong


def damaged_trace(number: int, folder: Path) -> list[str]:
    """Look over, convert and replay a trace that is damaged, in each format in turn."""
    luck, wrong = random.Random(number), list[str]()
    name = list(TRACES)[number % len(TRACES)]
    text = TRACES[name].encode("latin-1") * luck.choice([1, 1, 20])
    is_compressed = luck.random() < 0.1
    raw = damaged(gzip.compress(text), luck) if is_compressed else damaged(text, luck)
    file = folder / f"trace{os.getpid()}{name}{'.gz' if is_compressed else ''}"
    file.write_bytes(raw)
    skips = luck.random() < 0.5
    with refusing(wrong, "info"):
        trace.report(trace.info(file, skip_bad=skips))
    with refusing(wrong, "convert"):
        to = luck.choice(["headrace", "ascii", "spc", "msr", "validate"])
        trace.convert(file, folder / f"converted{os.getpid()}", to_format=to, skip_bad=skips)
    replay: dict[str, Any] = {"trace": str(file), "fit": luck.choice(["wrap", "scale"])}
    store = {"type": "station", "service": "1 ms", "capacity": "1 GiB"}
    scenario = {
        "system": {"store": store},
        "workload": {"host": {"to": "store", "arrivals": {"replay": replay}}},
        "run": {"limits": {"wall_time": "1 s"}},
    }
    with refusing(wrong, "replay"):
        headrace.Scenario(json.dumps(scenario), str(folder / "trace.yaml")).run(threads=1)
    file.unlink()
    return wrong


CLERK = """\
system: {clerk: {type: station, service: {exponential: 8 ms}}}
workload: {users: {to: clerk, arrivals: {poisson: 50 /s}}}
run: {requests: 300}
"""
RATES = [f"{rate} /s" for rate in range(10, 110, 10)]
# The first kill comes within this time of the start, each later one within a time that is longer by the factor.
SOON_S, LATER = 0.2, 1.3


class Fork:
    """Does something in a fork of this process, which itself starts no threads: they would not be in the next fork."""

    def __init__(self, does: Callable[[], object]) -> None:
        self.number = os.fork()
        if not self.number:
            try:
                told = does()
                os._exit(told if isinstance(told, int) else 0)
            except BaseException:
                os._exit(255)

    def wait(self) -> int:
        """Return what it did as an exit code: a number below 255, or 0; less than 0 where a signal ended it."""
        return os.waitstatus_to_exitcode(os.waitpid(self.number, 0)[1])


def _sweep(store: Path) -> None:
    scenario = headrace.Scenario(CLERK, str(store.with_suffix(".yaml")))
    headrace.sweep(scenario, {"workload.users.arrivals.poisson": RATES}, replications=3, store=store)


def _shown(store: Path) -> str:
    """Return all that a store says, without how long it took."""
    records = [{**record, "seconds": 0, "host": ""} for record in everything(store)[1]]
    return json.dumps(
        sorted(records, key=lambda record: (record["point"], record["replication"])), default=str, sort_keys=True
    )


def _kept(store: Path) -> int:
    """Return the number of records of a store; 0 before the first."""
    try:
        return len(everything(store)[1])
    except headrace.ScenarioError:
        return 0


def kills(number: int, folder: Path) -> list[str]:
    """Kill a sweep until it is done: what a store has kept stays, and the end is that of one that was left alone."""
    luck, wrong = random.Random(number), list[str]()
    alone, store = folder / f"alone{number}", folder / f"killed{number}"
    if Fork(lambda: _sweep(alone)).wait():
        return ["a sweep that was left alone failed"]
    kept, soon_s, ended = 0, SOON_S, -signal.SIGKILL
    while ended == -signal.SIGKILL:
        sweep = Fork(lambda: _sweep(store))
        # This waits for nothing: the attack varies when the kill comes, and whenever that is the same must hold.
        time.sleep(luck.uniform(0, soon_s))
        soon_s *= LATER
        os.kill(sweep.number, signal.SIGKILL)
        ended = sweep.wait()
        now = Fork(lambda: _kept(store)).wait()
        if now == 255 or now < kept:
            wrong.append(f"a kill lost records: {kept} were kept, {now} are there")
        kept = now
    if ended or Fork(lambda: Table.stored(store).complete and _shown(store) == _shown(alone)).wait() != 1:
        wrong.append(f"after kills a store differs from one that was left alone, or a sweep failed ({ended})")
    return wrong


def answer(port: int, raw: bytes) -> bytes:
    """Send bytes, and return all that comes back."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as to:
        with suppress(OSError):  # It may be refused before it is whole: then there is no connection to shut down.
            to.sendall(raw)
            to.shutdown(socket.SHUT_WR)
        found = b""
        with suppress(ConnectionError):
            while more := to.recv(1 << 16):
                found += more
        return found


def requests(path: str, port: int, sound: str) -> Iterator[bytes]:
    """Yield requests to a web server that no browser sends, and pieces and mutations of a sound one."""
    luck, host = random.Random(7), f"Host: 127.0.0.1:{port}\r\n"
    for asked in (
        f"{path}next?after={'9' * 5000}", f"{path}next?after=\u00b2", f"{path}next?after=-1", f"{path}next?after=%00",
        f"{path}next?" + "&".join(["after=0"] * 3000), f"{path}../../etc/passwd", f"{path}%ff%fe", "http://[", "//[",
        f"http://[{path}", f"{path}next#[", "/" + "a" * 70_000, "/", "*",
    ):  # fmt: skip
        yield f"GET {asked} HTTP/1.1\r\n{host}Connection: close\r\n\r\n".encode()
    for method in ("HEAD", "POST", "PUT", "OPTIONS", "\u00e9", "", "GET " * 3):
        yield f"{method} {path} HTTP/1.1\r\n{host}\r\n".encode()
    for head in (
        "X: " + "a" * 70_000,
        "\r\n".join(f"X{n}: 1" for n in range(200)),
        ": ",
        "Host",
        "X: \u00e9\u20ac",
        "Content-Length: -1",
    ):
        yield f"GET {sound} HTTP/1.1\r\n{host}{head}\r\n\r\n".encode()
    whole = f"GET {sound} HTTP/1.1\r\n{host}Connection: close\r\n\r\n".encode()
    for _ in range(300):
        raw = bytearray(whole[: luck.randrange(1, len(whole) + 1)])
        for _ in range(luck.randrange(4)):
            raw[luck.randrange(len(raw))] = luck.randrange(256)
        yield bytes(raw)
