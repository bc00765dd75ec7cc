"""How fast a job asks: as fast as it is answered, at a rate for each direction, or with pauses for thought."""

from dataclasses import dataclass
from typing import Any, TypeVar

from headrace.measurement.fio.values import Values
from headrace.quantities import exact_time

Json = dict[str, Any]
Given = TypeVar("Given")

READ, WRITE, DISCARD, MIXED = "read", "write", "discard", "mixed"


def by_direction(given: list[Given]) -> dict[str, Given]:
    """Return what fio takes for reads, writes and trims of a list with commas; a missing one is as the one before.

    >>> by_direction(["4k", "8k"])
    {'read': '4k', 'write': '8k', 'discard': '8k'}
    """
    first, *rest = given
    second = rest[0] if rest and rest[0] != "" else first
    third = rest[1] if len(rest) > 1 and rest[1] != "" else second
    return {READ: first, WRITE: second, DISCARD: third}


@dataclass(frozen=True)
class Thought:
    """Pauses of a job, as clients of a closed loop that think."""

    clients: int
    think_s: float
    most_per_s: float
    """Requests per second that the pauses alone would allow."""


class Pace:
    """The pace of one copy of a job: `direction` of its requests, and their `mean` size in bytes, of each direction."""

    def __init__(self, values: Values, direction: str, depth: int, mean: dict[str, float]) -> None:
        self._values, self._depth, self._mean = values, depth, mean
        self._poisson = values.options.get("rate_process") == "poisson"
        self.thought = self._thought()
        self.rates = self._rates()
        if self.rates and self.thought:
            self._choose(self.thought)
        self.directions = (READ, WRITE) if direction == MIXED and self.rates else (direction,)
        if len(self.directions) > 1:
            values.remark(
                f"`{values.job.name}` is a stream of reads and one of writes, each with its rate and up to {depth} "
                "in flight; fio counts both against iodepth"
            )

    def arrivals(self, direction: str, jobs: int, *, threads: bool) -> Json:
        """Return the arrivals of one direction of `jobs` copies; with `threads`, each copy is a thread of a server."""
        if rate := self.rates.get(direction):
            all_ = rate * jobs
            return {"poisson": f"{all_:.10g} /s"} if self._poisson else {"every": exact_time(1e9 / all_)}
        clients = self.thought.clients if self.thought else self._depth
        closed: Json = {"depth": clients * jobs} | ({"threads": jobs} if threads else {})
        return {"closed": closed | ({"think": exact_time(self.thought.think_s * 1e9)} if self.thought else {})}

    def _rates(self) -> dict[str, float]:
        """Return the requests per second of the directions of one job that do not go as fast as they can."""
        option = next((name for name in ("rate_iops", "rate") if name in self._values.options), None)
        if option is None:
            return {}
        text = self._values.options[option]
        given = [self._values.size(option, one.strip()) if one.strip() else 0 for one in text.split(",")]
        if None in given or not any(given):
            raise self._values.bad(option, f"`{option}={text[:60]}` is not a rate", "give one, such as 1000 or 10m")
        rates = by_direction([rate or 0 for rate in given])
        return {
            way: rates[way] / (1 if option == "rate_iops" else mean) for way, mean in self._mean.items() if rates[way]
        }

    def _thought(self) -> Thought | None:
        """Return the pauses: fio answers all that is in flight, then rests, each time `thinktime_blocks` are done.

        So a job that rests after each request has one in flight, whatever its depth. With `blocks` requests between
        rests, min(depth, blocks) clients that think `thinktime` × clients / blocks make as many in the same time.
        """
        seconds = self._values.seconds("thinktime", "us")
        if not seconds:
            return None
        blocks = self._values.count("thinktime_blocks", 1, 10**9)
        clients = min(self._depth, blocks)
        if blocks == 1 < self._depth:
            self._values.remark(
                f"`thinktime` leaves one request in flight in `{self._values.job.name}`, as in fio: it waits for all "
                f"answers before it rests; iodepth={self._depth} has no effect"
            )
        elif blocks > 1:
            think = f"each of {clients} clients thinks {seconds * clients / blocks:.4g} s after each request"
            told = "fio sends them in bursts, whose requests wait longer for each other"
            self._values.remark(f"`thinktime_blocks={blocks}`: {think}; {told}")
        return Thought(clients, seconds * clients / blocks, blocks / seconds)

    def _choose(self, thought: Thought) -> None:
        """Keep what is slower of a rate and pauses."""
        rate, text = sum(self.rates.values()), self._values.options["thinktime"]
        if rate < thought.most_per_s:
            self._values.ignore("thinktime", text, f"the rate, {rate:.6g} /s, is lower than it allows")
            self.thought = None
        else:
            option = "rate_iops" if "rate_iops" in self._values.options else "rate"
            why = f"`thinktime={text}` allows at most {thought.most_per_s:.6g} requests/s"
            self._values.ignore(option, self._values.options[option], why)
            self.rates = {}
