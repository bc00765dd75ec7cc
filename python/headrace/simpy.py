"""Storage in a model written for SimPy: `yield disk.read(address, size)`."""

from dataclasses import dataclass
from typing import Any

from simpy import Environment, Event
from simpy.events import NORMAL, EventPriority

from headrace.arguments import above
from headrace.embedded import END_NS, Completion, FileOp, Op, PowerLoss, Storage

# Less urgent than all that SimPy schedules at an instant, so that requests of that instant are on their way.
LAST = EventPriority(NORMAL + 1)
# Of a file, user or host.
Name = str | int


class Disks:
    """The components of a storage system as resources of a SimPy environment, by name.

    Each request is an event whose value is a `Completion`. A unit of the environment's time is `unit_s` seconds. The
    environment lets the storage's time pass, so nothing else may; storage and environment begin together. Faults happen
    by `disks.present().fail("volume/drive[1]")`.

    >>> import simpy
    >>> from headrace import Scenario, Storage
    >>> from headrace.simpy import Disks
    >>> env = simpy.Environment()
    >>> disk = Disks(env, Storage(Scenario("system: {d: {type: station, service: 5 ms}}")))["d"]
    >>> def client():
    ...     done = yield disk.read(0, 4096)
    ...     yield disk.write(4096, 4096)
    ...     print(f"{env.now:.3f}", done.at_ns)
    >>> _ = env.process(client())
    >>> env.run()
    0.010 5000000
    """

    def __init__(self, env: Environment, storage: Storage, *, unit_s: float = 1.0) -> None:
        """Attach a storage to an environment; raise `ValueError` if the storage is ahead of it, or it is before 0."""
        above(unit_s=unit_s)
        self.env, self.storage, self.ns = env, storage, unit_s * 1e9
        if env.now < 0 or self._ns(env.now) < storage.now_ns:
            began = f"{env.now:g}, and the storage is at {storage.now_ns} ns"
            raise ValueError(f"the environment is at {began}: begin both at 0")
        storage.attach(self)
        self._waiting: dict[int, Event] = {}
        # Events that are scheduled and have not happened.
        self._answered: dict[int, Event] = {}
        self._is_due = False

    def __getitem__(self, target: str) -> "Disk":
        """Return a component that requests for blocks can be submitted to; raise `ValueError` for an unknown name."""
        self.storage.target(target)
        return Disk(self, target)

    def archive(self, target: str) -> "Archive":
        """Return an archive; raise `ValueError` for an unknown name."""
        self.storage.target(target)
        return Archive(self, target)

    def present(self) -> Storage:
        """Return the storage with its time passed to the environment's: to have a component fail now, for example."""
        self.storage.advance(self._now_ns())
        return self.storage

    def lose_power(self) -> PowerLoss:
        """Have power fail now, as `Storage.lose_power` does; the events of requests without an answer never happen.

        What is answered at this very instant, and whose event has not happened, is without an answer too.
        """
        loss = self.present().lose_power()
        for ticket in loss.unanswered:
            self._waiting.pop(ticket)
        # SimPy takes the callbacks of an event away when it happens.
        unheard = [ticket for ticket, event in self._answered.items() if event.callbacks is not None]
        for ticket in unheard:
            self._answered.pop(ticket).callbacks.clear()
        while done := self.storage.next_completion(self.storage.now_ns):
            self._waiting.pop(done.ticket)
            unheard.append(done.ticket)
        lost = tuple(write for write in loss.lost if write.ticket not in unheard)
        return PowerLoss(lost, (*loss.unanswered, *unheard))

    def submit(self, target: str, op: Op, address: int, size: int, *, durable: bool = False) -> Event:
        """Return the event of a request's completion."""
        return self._event(
            self.storage.submit(target, op, address=address, size=size, at_ns=self._now_ns(), durable=durable)
        )

    def submit_file(self, archive: str, op: FileOp, file: Name, size: int | None, user: Name, host: Name) -> Event:
        """Return the event of the completion of an operation on a file."""
        return self._event(
            self.storage.submit_file(archive, op, file, size=size, user=user, host=host, at_ns=self._now_ns())
        )

    def _event(self, ticket: int) -> Event:
        self._waiting[ticket] = event = self.env.event()
        self._pass_at(self.env.now)
        return event

    def _now_ns(self) -> int:
        return max(self._ns(self.env.now), self.storage.now_ns)

    def _ns(self, time: float) -> int:
        return END_NS if time == float("inf") else min(round(time * self.ns), END_NS)

    def _pass_at(self, time: float) -> None:
        """Have the storage's time pass once all else of an instant has happened."""
        if not self._is_due:
            self._is_due = True
            self._happen(self.env.event(), None, time, self._pass, LAST)

    def _happen(self, event: Event, value: object, time: float, then: Any, priority: EventPriority = NORMAL) -> None:
        """Have an event happen at a time, and something after it."""
        # As SimPy's own timeouts do: `succeed` would have it happen now.
        event._ok, event._value = True, value
        event.callbacks.append(then)
        self.env.schedule(event, priority=priority, delay=max(time - self.env.now, 0))

    def _pass(self, _: object) -> None:
        """Let the storage's time pass to its next completion, but not beyond what happens next in the environment."""
        self._is_due = False
        if not self._waiting:
            # Streams of the scenario go on for ever: their time passes with the next request.
            return
        after = self.env.peek()
        done = self.storage.next_completion(max(self._ns(after), self.storage.now_ns))
        if done is not None:
            if done.ticket not in self._waiting:
                raise ValueError(f"request {done.ticket} was not submitted through `Disks`, which alone lets time pass")
            self._answered[done.ticket] = event = self._waiting.pop(done.ticket)
            self._happen(event, done, done.at_ns / self.ns, lambda _: self._heard(done.ticket))
        elif after < float("inf"):
            self._pass_at(after)

    def _heard(self, ticket: int) -> None:
        """Go on after the event of a request has happened."""
        self._answered.pop(ticket, None)
        self._pass_at(self.env.now)


@dataclass(frozen=True)
class Disk:
    """A component of a storage system."""

    of: Disks
    target: str

    def read(self, address: int, size: int) -> Event:
        """Return the event of a read's completion."""
        return self.of.submit(self.target, "read", address, size)

    def write(self, address: int, size: int, *, durable: bool = False) -> Event:
        """Return the event of a write's completion; with `durable`, of its being on the medium."""
        return self.of.submit(self.target, "write", address, size, durable=durable)

    def flush(self) -> Event:
        """Return the event of a flush's completion: all that was answered before it is on the medium."""
        return self.of.submit(self.target, "flush", 0, 0)


@dataclass(frozen=True)
class Archive:
    """An archive: its files, users and hosts are names or numbers. See `Storage.submit_file`."""

    of: Disks
    target: str

    def get(self, file: Name, size: int | None = None, *, user: Name = 0, host: Name = 0) -> Event:
        """Return the event of a get's completion: the file, or `size` bytes of it, has been sent."""
        return self.of.submit_file(self.target, "get", file, size, user, host)

    def put(self, file: Name, size: int, *, user: Name = 0, host: Name = 0) -> Event:
        """Return the event of a put's completion: the file is in the disk pool."""
        return self.of.submit_file(self.target, "put", file, size, user, host)

    def stage(self, file: Name, *, user: Name = 0) -> Event:
        """Return the event of a file's being in the disk pool."""
        return self.of.submit_file(self.target, "stage", file, None, user, 0)

    def cancel(self, file: Name) -> Event:
        """Withdraw the recall of a file; return the event of that."""
        return self.of.submit_file(self.target, "cancel", file, None, 0, 0)

    def delete(self, file: Name) -> Event:
        """Return the event of a file's deletion."""
        return self.of.submit_file(self.target, "delete", file, None, 0, 0)


__all__ = ["Archive", "Completion", "Disk", "Disks"]
