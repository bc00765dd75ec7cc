"""Storage inside other Python programs: submit requests, let virtual time pass, collect completions."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast, get_args

from headrace import _core, fio_workload
from headrace.arguments import whole
from headrace.plan import sets
from headrace.result_types import ComponentResults, StreamResults
from headrace.scenario import Scenario, load

if TYPE_CHECKING:
    import numpy as np
    import polars
    from numpy.typing import ArrayLike

Op = Literal["read", "write", "discard", "flush"]
FileOp = Literal["get", "put", "stage", "delete", "cancel"]
OPS: dict[str, int] = {"read": 0, "write": 1, "discard": 2, "flush": 3}
FILE_OPS: tuple[FileOp, ...] = get_args(FileOp)
# Later than any completion.
END_NS = (1 << 64) - 1
MOST_TIMES = 1_000_000


@dataclass(frozen=True)
class Span:
    """A part of a completion's time: `waiting` for a component, `service` there, or `blocked` by others behind it."""

    component: str
    kind: str
    ns: int


@dataclass(frozen=True)
class Completion:
    """A request that was answered at a time; `failed` if nothing could answer it. Its spans follow each other."""

    ticket: int
    at_ns: int
    failed: bool
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class LostWrite:
    """A write that was answered, and of which data is lost.

    Its `parts` that are lost are pairs of address and bytes. There, the target has what was written at the last flush
    or before, or by any write since then.
    """

    ticket: int
    target: str
    address: int
    size: int
    parts: tuple[tuple[int, int], ...]

    @property
    def is_torn(self) -> bool:
        """True if some of the write is lost, and some is there."""
        return sum(size for _, size in self.parts) < self.size


@dataclass(frozen=True)
class PowerLoss:
    """What a loss of power left.

    `lost` are writes that were answered and of which data is lost, by target in the order of their answers.
    `unanswered` are the tickets of requests in flight, which are never answered: each sector of a write among them has
    its old data or the new.
    """

    lost: tuple[LostWrite, ...]
    unanswered: tuple[int, ...]


class StorageResults(TypedDict):
    """What the streams and components of a storage did from the beginning to now, as `Results.data` has it of a run."""

    simulated_s: float
    """Simulated time."""
    streams: list[StreamResults]
    """One entry per stream of the workload."""
    components: list[ComponentResults]
    """One entry per component."""


class Storage:
    """The `system` of a scenario, to which this program submits requests. Times are virtual and in ns.

    `scenario` is one, or its file. Its streams, if any, run as background load. The same scenario, seed and calls give
    the same completions. Raises `ScenarioError` where the scenario cannot work; every later mistake (a time in the
    past, an unknown name, an address beyond the end) is a `ValueError` and changes nothing. With `remember_writes`,
    power can fail: see `lose_power`.

    >>> from headrace import Scenario, Storage
    >>> disk = Storage(Scenario("system: {disk: {type: disk, device: seagate-st18000nm000j}}"))
    >>> ticket = disk.submit("disk", "read", address=0, size=4096)
    >>> done = disk.next_completion()
    >>> done.ticket == ticket, done.failed, sum(span.ns for span in done.spans) == done.at_ns
    (True, False, True)
    """

    def __init__(self, scenario: "Scenario | str | Path", *, seed: int = 1, remember_writes: bool = False) -> None:
        """Build the system."""
        of = scenario if isinstance(scenario, Scenario) else load(scenario)
        whole(0, seed=seed)
        self._core = _core.Storage(of.text, str(of.file), sets(of.changes), fio_workload.streams, seed)
        self._targets = {name: number for number, (name, _) in enumerate(self._core.targets())}
        self._host: object = None
        if remember_writes:
            self._core.remember_writes()

    @property
    def now_ns(self) -> int:
        """The present."""
        return self._core.now_ns

    @property
    def capacities(self) -> dict[str, int]:
        """Components that requests can be submitted to: their capacities in bytes, 0 where any address is valid.

        The capacity of an archive is that of its disk pool.
        """
        return dict(self._core.targets())

    def submit(
        self, target: str, op: Op, *, address: int, size: int, at_ns: int | None = None, durable: bool = False
    ) -> int:
        """Submit a request, now or at a later time; return its ticket.

        With `durable` a write completes when it, and all that its drive took in before it, are on the medium. A flush
        has no bytes (`size=0`), and completes when all that completed before it is there.
        """
        at = self.now_ns if at_ns is None else at_ns
        with _in_range():
            return self._core.submit(at, self.target(target), _code(op), address, size, durable)

    def submit_all(
        self,
        target: str,
        ops: "ArrayLike",
        *,
        address: "ArrayLike",
        size: "ArrayLike",
        at_ns: "ArrayLike",
        durable: bool = False,
    ) -> "np.ndarray[Any, Any]":
        """Submit many requests at their times; return their tickets.

        Operations are names, or numbers: 0 (read), 1 (write), 2 (discard), 3 (flush). Arrays have one number a request;
        a single number counts for all.
        """
        import numpy as np

        named = np.asarray(ops)
        codes = named if named.dtype.kind in "iu" else np.array([_code(op) for op in np.ravel(named)])
        given = {"at_ns": at_ns, "ops": codes, "address": address, "size": size}
        columns = _of_one_length({name: _whole(name, of) for name, of in given.items()})
        at, op, where, many = (np.ascontiguousarray(column).tobytes() for column in columns)
        first = self._core.submit_all(self.target(target), at, op, where, many, durable)
        return np.arange(columns[0].size, dtype=np.int64) + (first or 0)

    def submit_file(
        self,
        archive: str,
        op: FileOp,
        file: str | int,
        *,
        size: int | None = None,
        user: str | int = 0,
        host: str | int = 0,
        at_ns: int | None = None,
    ) -> int:
        """Submit an operation on a file to an archive, now or at a later time; return its ticket.

        Files, users and hosts are names or numbers, as in logs. A put has a size; a get may have one, to be sent that
        part of its file; other operations are on the whole file. An operation on a file that does not exist at that
        time fails. `cancel` withdraws the recall of a file that no drive serves yet, or its pin.
        """
        at = self.now_ns if at_ns is None else at_ns
        if op not in FILE_OPS:
            raise ValueError(f"there is no operation `{op}` on files; there are {', '.join(FILE_OPS)}")
        if op == "put" and size is None:
            raise ValueError(f"`put` needs the `size` of `{file}`")
        many = END_NS if size is None else size
        with _in_range():
            return self._core.submit_file(at, self.target(archive), op, (str(file), many), (str(user), str(host)))

    def add_file(
        self,
        archive: str,
        file: str | int,
        size: int,
        *,
        on_tape: bool = False,
        place: tuple[str | int, int | None] | None = None,
    ) -> None:
        """Add a file that an archive has from the beginning, in its disk pool or on tape.

        `place` is its cartridge, and the byte at which it begins there, or none if only the cartridge is known. Without
        a place, the archive chooses. To be called before the first request, and before time passes.
        """
        at = None if place is None else (str(place[0]), place[1])
        with _in_range():
            self._core.add_file(self.target(archive), (str(file), size), on_tape or at is not None, at)

    def results(self) -> StorageResults:
        """Return what streams and components did from the beginning to now, as the results of a run have it.

        Requests of this program belong to no stream: their times are those of their completions.
        """
        return cast("StorageResults", json.loads(self._core.results()))

    def next_completion(self, until_ns: int = END_NS) -> Completion | None:
        """Let time pass to the next completion and return it, or to `until_ns` and return none.

        Without `until_ns`, it returns none at once if no request of this program is in flight, beside streams of the
        scenario, which go on for ever.
        """
        with _in_range():
            found = self._core.next_completion(until_ns)
        if found is None:
            return None
        ticket, at, failed, spans = found
        return Completion(ticket, at, failed, tuple(Span(*span) for span in spans))

    def completions(self, until_ns: int = END_NS) -> "polars.DataFrame":
        """Let time pass to `until_ns`; return all completions: `ticket`, `at_ns`, `failed`."""
        import numpy as np
        import polars

        with _in_range():
            found = self._core.completions(until_ns)
        columns = (np.frombuffer(column, dtype="<i8") for column in found)
        ticket, at, failed = columns
        return polars.DataFrame({"ticket": ticket, "at_ns": at, "failed": failed == 1})

    def advance(self, to_ns: int) -> None:
        """Let time pass. Completions are kept."""
        with _in_range():
            self._core.advance(to_ns)

    def fail(self, component: str) -> None:
        """Have a component fail, now: `volume/drive[2]`, or the name of a link."""
        self._core.change(component, "fails")

    def return_(self, component: str) -> None:
        """Have a component that failed work again, with its data."""
        self._core.change(component, "returns")

    def replace(self, component: str) -> None:
        """Replace a component that failed by an empty one; an array then rebuilds its data."""
        self._core.change(component, "replaced")

    def slow(self, component: str, times: float) -> None:
        """Have a component take this many times as long as usual for what it begins from now on; 1: as usual."""
        if not (isinstance(times, Real) and 1 <= times < MOST_TIMES):
            raise ValueError(f"times is {times!r}: give a number from 1 (as usual) to {MOST_TIMES:,}")
        self._core.slow(component, round(100 * times))

    def lose_power(self) -> PowerLoss:
        """Have power fail everywhere, now, and be back at once; return what is lost.

        To have it away for a minute, submit nothing for a minute. Volatile memories are empty afterwards: caches of
        disks, of arrays without a battery, and of file systems. What a component cannot tell, and was not flushed,
        counts as lost. Needs `remember_writes`, and a scenario without streams.
        """
        lost, unanswered = self._core.lose_power()
        names = list(self._targets)
        rows = (
            LostWrite(ticket, names[target], address, size, tuple(parts))
            for ticket, target, address, size, parts in lost
        )
        return PowerLoss(tuple(rows), tuple(unanswered))

    @property
    def components(self) -> "polars.DataFrame":
        """What came to each component and what it did, from the beginning to now; one row each."""
        import polars

        names = ("component", "requests", "bytes", "utilisation", "waiting")
        schema = dict(
            zip(names, (polars.String, polars.Int64, polars.Int64, polars.Float64, polars.Int64), strict=True)
        )
        return polars.DataFrame(self._core.components(), schema=schema, orient="row")

    def meters(self, component: str) -> dict[str, float | None]:
        """Return measures of a component's own from the beginning to now, as `meters` of a run's results has them."""
        if (found := self._core.meters(component)) is None:
            raise ValueError(
                f"there is no component `{component}`; there are {', '.join(self.components['component'])}"
            )
        return dict(found)

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Refuse copies: two of them would share what they simulate."""
        raise TypeError(
            "a `Storage` cannot be copied or pickled; build another of the same scenario and seed, and repeat the calls"
        )

    def attach(self, host: object) -> None:
        """Have one host alone let time pass; raise `ValueError` if another does already."""
        if self._host is not None:
            raise ValueError(f"this storage belongs to a `{type(self._host).__name__}` already: use that one")
        self._host = host

    def target(self, name: str) -> int:
        """Return the number of a target of requests; raise `ValueError` for an unknown name."""
        if name not in self._targets:
            known = ", ".join(self._targets)
            raise ValueError(f"there is no target of requests `{name}`; there are {known}")
        return self._targets[name]


@contextmanager
def _in_range() -> Iterator[None]:
    """Refuse numbers that are none of 64 bits as other mistakes are refused."""
    try:
        yield
    except OverflowError:
        raise ValueError("times, addresses and sizes are whole numbers from 0 to 2⁶⁴ - 1") from None


def _of_one_length(columns: "dict[str, np.ndarray[Any, Any]]") -> "list[np.ndarray[Any, Any]]":
    """Repeat single numbers for all requests; raise `ValueError` where arrays differ in length."""
    import numpy as np

    lengths = {name: column.size for name, column in columns.items() if column.size != 1}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{many} of `{name}`" for name, many in lengths.items())
        raise ValueError(f"there are {told}: give each request one, or all of them a single one")
    return list(np.broadcast_arrays(*columns.values()))


def _whole(name: str, of: "ArrayLike") -> "np.ndarray[Any, Any]":
    """Return whole numbers as they are handed over; those of floating point too, if they are whole."""
    import numpy as np

    if np.ma.is_masked(of):
        raise ValueError(f"some numbers of `{name}` are masked: leave out their requests (`compressed`)")
    numbers = np.ravel(np.asarray(of))
    are_whole = numbers.dtype.kind in "iu" or (numbers.dtype.kind == "f" and bool(np.all(numbers == np.trunc(numbers))))
    if numbers.size and not (are_whole and numbers.min() >= 0 and numbers.max() < 2**64):
        raise ValueError(f"`{name}` has numbers that are not whole, or not from 0 to 2⁶⁴ - 1")
    return numbers.astype("<u8")


def _code(op: str) -> int:
    if op not in OPS:
        raise ValueError(f"there is no operation `{op}`; there are {', '.join(OPS)}")
    return OPS[op]
