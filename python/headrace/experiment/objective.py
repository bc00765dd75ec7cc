"""What is asked of a run in words: `p99(reads) > 20 ms`, `within(reads, 20 ms) < 99 %`, `utilisation(tds) > 80 %`."""

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headrace._core import ScenarioError
from headrace.errors import refusal
from headrace.experiment import formula
from headrace.experiment.formula import Quantity, quantity
from headrace.quantities import format_time, interval, percentage
from headrace.result_types import ObjectiveResults
from headrace.scenario import Scenario

ASKED = re.compile(r"\s*(?P<what>\w+(\.\d+)?)\s*\(\s*(?P<of>[^()]+?)\s*\)\s*((?P<sign>[<>]=?)\s*(?P<bound>.+?))?\s*")
TIMES = {
    **{"mean": "mean_ms", "sd": "sd_ms"},
    **{f"p{share}": f"p{share}_ms" for share in ("50", "90", "95", "99", "99.9")},
    # Of training: the stall of a step, that of the first of an epoch, and checkpoints.
    **{of: f"{of}_ms" for of in ("stall", "start", "checkpoint", "longest_checkpoint", "restore")},
}
COSTS = ("price", "power", "rack_units")
LOSSES = ("dropped", "expired", "failed", "blocked", "lost_job_hours")
RATES = ("requests_per_s", "bytes_per_s", "samples_per_s")
# The share of requests that are answered within a time: `within(recall, 10 min)`.
WITHIN = "within"
# Operations that a metric can be restricted to: `p99(recall)` is that of the only stream with recalls.
OPERATIONS = ("reads", "writes", "get", "put", "stage", "delete", "session", "recall")
WHATS = (*TIMES, WITHIN, *RATES, "au", *LOSSES, "utilisation", "queue", *COSTS)
# Of these less is better: `<` is the goal, and `>` the limit.
LESS_IS_BETTER = {*TIMES, *LOSSES, *COSTS, "utilisation", "queue"}
MORE_IS_BETTER = {*RATES, WITHIN, "au"}
# What hosts may lose without a system failing to keep up: a limit of requests in flight drops one now and then at any
# load.
MOST_LOST = 0.001
# What hosts lose when a system does not keep up; none of it shows in response times.
HOW_LOST = {
    "dropped": "of the requests of {stream} were dropped",
    "expired": "of the requests of {stream} expired",
    "failed": "of the requests of {stream} failed",
    "blocked": "of the time {stream} was blocked",
}
# Shares, which are at most 100 %.
SHARES = ("au", WITHIN, "utilisation", *HOW_LOST)
MOST_PERCENT = 100
# What is not beyond a bound: by whether it is passed from below, and lies beyond itself.
OPPOSITES = {(True, False): "≤", (True, True): "<", (False, False): "≥", (False, True): ">"}
EXAMPLE = "write it as `p99(reads) > 20 ms` or `mean(users)`"
GOALS = "write a metric of a run, such as `p99(reads)`, or a formula of fields, such as `300 * disks`"
# What names a metric, and not of what.
BARE = re.compile(r"\s*(?P<what>\w+(\.\d+)?)\s*(?P<rest>[<>].*)?")


@dataclass(frozen=True)
class Objective:
    """A number of a run, and perhaps the bound it is not to pass."""

    text: str
    what: str
    of: str
    above: bool | None = None
    """True if the bound is passed from below; none where there is no bound."""
    bound: float | None = None
    """In the metric's own unit."""
    fields: str | None = None
    """The formula, where it is one of the scenario's fields."""
    time: str | None = None
    """The time of a share of requests that are to be answered within it."""
    or_equal: bool = False
    """True of `<=` and `>=`: the bound itself lies beyond."""

    def is_in(self, metrics: Iterable[str]) -> bool:
        """Return true if runs with these metrics have the number."""
        try:
            self.metric(metrics)
        except ScenarioError:
            return False
        return True

    def metric(self, metrics: Iterable[str]) -> str:
        """Return the name of the metric; raise `ScenarioError` where no run has it.

        `reads`, `writes` and operations on files are those of the only stream that has them; of a stream without
        writes, all are reads.
        """
        known = list(metrics)
        name = TIMES.get(self.what, self.what) if self.time is None else within(_ms(self.text, self.time))
        direct = [f"{self.of}.{name}"]
        streams = dict.fromkeys(metric.split(".")[0] for metric in known if metric.endswith(".requests_per_s"))
        if self.of in OPERATIONS:
            direct += [f"{stream}.{self.of}.{name}" for stream in streams]
        if self.of in ("reads", "writes") and len(streams) == 1:
            direct += [f"{stream}.{name}" for stream in streams]
        found = [metric for metric in direct if metric in known]
        if not found:
            fitting = ", ".join(asked_for(metric) for metric in known if metric.endswith(f".{name}"))
            own = ", ".join(asked_for(metric) for metric in known if metric.startswith(f"{self.of}."))
            if self.what in COSTS:
                own = f"none: give devices `{self.what}`, or write a formula of fields, such as `300 * disks + 2000`"
            raise refusal(
                self.text,
                f"`{self.text}`: no run has `{self.what}` of `{self.of}`",
                f"there are {fitting or own or 'none'}",
            )
        return found[0]

    def is_of(self, names: Sequence[str]) -> bool:
        """Return true if it may be of one of these streams and components, or of a part of one."""
        if self.of in ("system", *OPERATIONS):
            return True
        return any(self.of == name or self.of.startswith((f"{name}.", f"{name}/")) for name in names)

    @property
    def is_of_slowest(self) -> bool:
        """True if it is about the slowest requests: a late quantile, or a share in time."""
        return self.time is not None or self.what in ("p95", "p99", "p99.9")

    def passes(self, value: float) -> bool:
        """Return true if a value lies beyond the bound."""
        assert self.bound is not None
        return (self.or_equal and value == self.bound) or (value > self.bound if self.above else value < self.bound)

    def holds(self, middle: float, half: float | None) -> bool | None:
        """Return true if a whole interval lies beyond the bound; none if its ends disagree, or there is no bound."""
        ends = {self.passes(middle + sign * (half or 0.0)) for sign in (-1, 1)}
        return ends.pop() if len(ends) == 1 and half is not None else None

    def of_fields(self, scenario: Mapping[str, Any]) -> float:
        """Return what the formula gives with the fields of a scenario."""
        assert self.fields is not None
        try:
            return formula.value(self.fields, _fields(scenario)).number
        except ValueError as error:
            raise refusal(self.text, f"`{self.text}`: {error}", GOALS) from None

    @property
    def bare(self) -> str:
        """What is asked for without its bound: `p99(reads)`."""
        return _split(self.text)[0].strip()

    @property
    def is_time(self) -> bool:
        """True if its values are times, in ms."""
        return _is_time(self.what)

    def told(self, middle: float, half: float | None) -> str:
        """Write a value with its interval, and with its unit where it has one."""
        if self.time is not None:
            return percentage(middle, half)
        return format_time(middle, half) if self.is_time else interval(middle, half)

    @property
    def is_limit(self) -> bool:
        """True if the bound is a limit; false if it is a goal.

        Of what has no better side that is known, such as a hit ratio, it is a goal.
        """
        less_is_better = self.what in LESS_IS_BETTER
        return self.above is True if less_is_better else self.above is False and self.what in MORE_IS_BETTER

    @property
    def goal(self) -> str:
        """What is to hold, in words: of the limit `p99(reads) > 20 ms` that is `p99(reads) ≤ 20 ms`."""
        if not self.is_limit:
            return self.text
        before, _, after = _split(self.text)
        return f"{before}{OPPOSITES[bool(self.above), self.or_equal]}{after}"

    def is_met(self, middle: float, half: float) -> bool | None:
        """Return true if a whole interval meets the goal; none if its ends disagree."""
        beyond = self.holds(middle, half)
        return None if beyond is None else beyond != self.is_limit

    def margin(self, value: float) -> float:
        """Return how far a value keeps within the goal, as a share of the bound; negative where it misses it."""
        assert self.bound is not None
        wants_more = bool(self.above) != self.is_limit
        return (value - self.bound) * (1 if wants_more else -1) / (abs(self.bound) or 1.0)


def _is_time(what: str) -> bool:
    """Return true if values of a metric are times in ms: of a run, or a meter of a component such as `to_tape_ms`."""
    return what in TIMES or what.endswith("_ms")


def within(ms: float) -> str:
    """Return the name of the metric of requests answered within a time: of `users`, `users.within_80` is a share.

    >>> within(600_000.0), within(0.25)
    ('within_600000', 'within_0.25')
    """
    return f"{WITHIN}_{ms:g}" if ms < 1e6 else f"{WITHIN}_{ms:.0f}"


def in_time(found: ObjectiveResults) -> str:
    """Return the name of the metric that an objective of a scenario measures: `users.reads.within_80`."""
    return f"{found['of']}.{within(found['within_ms'])}"


def time_of(metric: str) -> float | None:
    """Return the time in ms of a share of requests that are answered within it; none of other metrics.

    >>> time_of("users.reads.within_0.25"), time_of("users.mean_ms")
    (0.25, None)
    """
    found = re.search(rf"\.{WITHIN}_([\d.]+)$", metric)
    return float(found[1]) if found else None


def measuring(scenario: Scenario, asked: Iterable[Objective]) -> Scenario:
    """Return the scenario with the objectives by which its runs measure each share in time that is asked for."""
    shares = [one for one in asked if one.time is not None]
    if not shares:
        return scenario
    named = dict(scenario.filled().get("objectives", {}))
    for one in shares:
        named[one.of] = " and ".join(filter(None, [named.get(one.of), f"99 % within {one.time}"]))
    return scenario.with_({"objectives": named})


def promised(scenario: Scenario, sign: str = "<") -> list[str]:
    r"""Return the objectives of a scenario as limits; with the sign `>=`, as constraints.

    >>> clerk = "{clerk: {type: station, service: {exponential: 8 ms}}}"
    >>> users = "{users: {to: clerk, arrivals: {poisson: 50 /s}}}"
    >>> aims = "{users: 50 % within 8 ms and 99 % within 1 s}"
    >>> promised(Scenario(f"system: {clerk}\nworkload: {users}\nobjectives: {aims}"))
    ['within(users, 8 ms) < 50 %', 'within(users, 1 s) < 99 %']
    """
    every = [
        (name, one) for name, text in scenario.filled().get("objectives", {}).items() for one in text.split(" and ")
    ]
    parts = [(name, *one.split(" within ")) for name, one in every]
    return [f"{WITHIN}({name}, {time.strip()}) {sign} {share.strip()}" for name, share, time in parts]


def asked_for(metric: str) -> str:
    """Return how a metric is asked for.

    >>> asked_for("users.reads.p99_ms"), asked_for("tds/spindle.queue"), asked_for("users.within_80")
    ('p99(users.reads)', 'queue(tds/spindle)', 'within(users, 80 ms)')
    """
    if (time := time_of(metric)) is not None:
        return f"{WITHIN}({metric[: metric.rindex(f'.{WITHIN}_')]}, {format_time(time)})"
    of, _, name = metric.rpartition(".")
    # The name of a quantile may have a dot of its own: `users.p99.9_ms`.
    if name == "9_ms" and of.endswith(".p99"):
        of, name = of.removesuffix(".p99"), "p99.9_ms"
    return f"{next((what for what, own in TIMES.items() if own == name), name)}({of})"


def _may_exist(what: str) -> bool:
    """Return true if runs may have it: some components have meters whose names only a run shows."""
    slip = re.fullmatch(r"p\d.*", what) or difflib.get_close_matches(what, WHATS, cutoff=0.7)
    return what in WHATS or not slip


def _fields(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a scenario by path, and by every end of a path that only one has.

    >>> _fields({"system": {"a": {"disks": 4, "level": "raid0"}, "b": {"disks": 8}}})["a.disks"]
    4
    """
    whole = dict(_leaves("", scenario))
    ends = [end for path in whole for end in _ends(path)]
    unique = {end for end, count in Counter(ends).items() if count == 1}
    return {end: value for path, value in whole.items() for end in _ends(path) if end in unique or end == path}


def _ends(path: str) -> list[str]:
    steps = path.split(".")
    return [".".join(steps[at:]) for at in range(len(steps))]


def _leaves(path: str, node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, list):
        node = {str(at): inner for at, inner in enumerate(node)}
    if not isinstance(node, Mapping):
        yield path, node
        return
    for name, inner in node.items():
        yield from _leaves(f"{path}.{name}" if path else name, inner)


def one_or_more(texts: str | Sequence[str]) -> Sequence[str]:
    """Return what is asked as a list: one text is a list of one.

    >>> one_or_more("p99(reads)"), one_or_more(["a", "b"])
    (['p99(reads)'], ['a', 'b'])
    """
    return [texts] if isinstance(texts, str) else texts


def objective(text: str, *, bounded: bool, fields: bool = False) -> Objective:
    """Read what is asked; raise `ScenarioError` where it is not understood, or lacks a bound that is wanted.

    With `fields` it may be a formula of the scenario's fields.

    >>> objective("p99(reads) > 20 ms", bounded=True).bound, objective("utilisation(tds) > 80 %", bounded=True).bound
    (20.0, 0.8)
    >>> objective("to_tape_ms(archive) < 2 h", bounded=True).bound
    7200000.0
    """
    found = ASKED.fullmatch(text)
    if found is None and (bare := BARE.fullmatch(text)) and bare["what"] in WHATS:
        of = "system" if bare["what"] in COSTS else "NAME"
        whole = f"{bare['what']}({of}) {bare['rest'] or ''}".strip()
        named = "" if of == "system" else " with the name of a stream or component"
        raise refusal(text, f"`{text}` does not say of what", f"write `{whole}`{named}")
    if found is None and fields:
        return _of_fields(text, bounded=bounded)
    if found is None or not _may_exist(found["what"]):
        what = f": there is no `{found['what']}`; there are {', '.join(WHATS)}" if found else " is not understood"
        raise refusal(text, f"`{text}`{what}", EXAMPLE)
    _check_bounded(text, bounded=bounded, has=found["bound"] is not None)
    bound = None
    if found["bound"] is not None:
        read = _bound(text, found["bound"])
        is_time = read.powers == (0, 1)
        if found["what"] in TIMES and not is_time:
            raise refusal(text, f"`{text}`: `{found['bound']}` is not a time", "write a time such as `20 ms`")
        if found["what"] in SHARES and read.number > 1:
            percent = f"{found['bound']} %" if read.number <= MOST_PERCENT else "99 %"
            raise refusal(text, f"`{text}`: `{found['what']}` is at most 100 %", f"write a share such as `{percent}`")
        if is_time and not _is_time(found["what"]):
            why = f"`{text}`: `{found['what']}` is not a time, so `{found['bound']}` cannot be its bound"
            raise refusal(text, why, f"times are {', '.join(TIMES)}")
        bound = read.number * 1e3 if is_time else read.number
    sign = found["sign"] or ""
    above = None if bound is None else sign[0] == ">"
    of, _, time = found["of"].rpartition(",") if found["what"] == WITHIN else (found["of"], "", None)
    if time is not None:
        if not of:
            raise refusal(text, f"`{text}` does not say within which time", f"write `{WITHIN}({found['of']}, 20 ms)`")
        _ms(text, time)
    within_time = time and time.strip()
    return Objective(text, found["what"], of.strip(), above, bound, time=within_time, or_equal=sign.endswith("="))


def implied(metrics: Iterable[str], asked: Iterable[Objective]) -> tuple[Objective, ...]:
    """Return a goal for each share that hosts lose in runs with these metrics, and that nothing asked is about."""
    known = list(metrics)
    said = {one.metric(known) for one in asked if one.fields is None}
    shares = [metric for metric in known if metric.rpartition(".")[2] in HOW_LOST and metric not in said]
    texts = [f"{what}({stream}) < {MOST_LOST}" for stream, _, what in (metric.rpartition(".") for metric in shares)]
    return tuple(objective(text, bounded=True) for text in texts)


def lost(missed: Objective, share: float) -> str:
    """Say what hosts lost: `61.64% of the requests of users failed`."""
    return f"{share:.2%} {HOW_LOST[missed.what].format(stream=missed.of)}"


def _ms(text: str, time: str) -> float:
    """Return a time of an objective in ms."""
    read = _bound(text, time)
    if read.powers != (0, 1):
        raise refusal(text, f"`{text}`: `{time.strip()}` is not a time", "write a time such as `20 ms`")
    return read.number * 1e3


def _of_fields(text: str, *, bounded: bool) -> Objective:
    left, sign, right = _split(text)
    _check_bounded(text, bounded=bounded, has=bool(sign))
    bound = _bound(text, right).number if sign else None
    above = sign[0] == ">" if sign else None
    return Objective(text, "", "", above, bound, left.strip(), or_equal=sign.endswith("="))


def _split(text: str) -> tuple[str, str, str]:
    """Return a formula, the sign of its bound and the bound; comparisons in parentheses belong to the formula.

    >>> _split("if(disks > 4, 2, 1) * 10 <= 15"), _split("disks")
    (('if(disks > 4, 2, 1) * 10 ', '<=', ' 15'), ('disks', '', ''))
    """
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and letter in "<>":
            after = text[at + 1 :].removeprefix("=")
            return text[:at], text[at : len(text) - len(after)], after
    return text, "", ""


def _check_bounded(text: str, *, bounded: bool, has: bool) -> None:
    if bounded != has:
        wanted = "it needs a bound" if bounded else "a bound has no place here"
        raise refusal(text, f"`{text}`: {wanted}", EXAMPLE if bounded else "leave it out")


def _bound(text: str, bound: str) -> Quantity:
    try:
        return quantity(bound.strip())
    except ValueError as error:
        raise refusal(text, f"`{text}`: {error}", EXAMPLE) from None
