"""How precise an answer is to be, and when replications are enough for it."""

import difflib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from headrace.arguments import above, whole
from headrace.errors import refusal
from headrace.experiment.objective import TIMES, asked_for, in_time, measuring, objective
from headrace.plan import Plan, RunOptions
from headrace.results import Results
from headrace.scenario import Scenario

# Who stops at the first narrow interval stops too soon now and then, for a spread that is too small by chance looks
# precise: 95 % intervals that end a search cover 92 to 94 %. So intervals are drawn as if for 97 %, from five
# replications at the least. Measured with 3000 searches for each of 20 cases (normal numbers with a coefficient of
# variation of .03 to .3, looked at after every 1 to 10 more): they then cover 94.7 to 96.9 %.
SEQUENTIAL = 0.97
LEAST = 5

WRITTEN = re.compile(r"\s*(?P<share>[^%\s]+\s*%?)(\s+of\s+(?P<metrics>\S.*?))?\s*")


@dataclass(frozen=True)
class Precision:
    """Add replications until half of each metric's interval is at most this share of its mean, with 95 % confidence."""

    within: float
    metrics: tuple[str, ...] = ()
    """Which: `users.p99_ms` or `p99(users)`; none for the mean response of every stream."""
    budget: int = 50

    def __post_init__(self) -> None:
        """Raise `ValueError` where nothing could be as precise."""
        above(within=self.within)
        whole(budget=self.budget)


def share(text: str) -> float:
    """Return a share, written as one or in percent.

    >>> share("2%"), share("0.02")
    (0.02, 0.02)
    """
    number = float(text.removesuffix("%").strip()) / (100 if text.strip().endswith("%") else 1)
    if not 0 < number < 1:
        raise ValueError(text)
    return number


def read(text: str, budget: int | None = None) -> Precision:
    """Return the precision that the command line asks for.

    >>> read("0.5% of p99(users), mean(users)")
    Precision(within=0.005, metrics=('p99(users)', 'mean(users)'), budget=50)
    """
    found = WRITTEN.fullmatch(text)
    if found is None:
        raise ValueError(text)
    metrics = listed(found["metrics"] or "")
    return Precision(share(found["share"]), metrics, budget or Precision.budget)


def listed(metrics: str) -> tuple[str, ...]:
    """Return metrics that are separated by commas; those within parentheses separate nothing.

    >>> listed("p99(users), within(users, 80 ms), users.mean_ms")
    ('p99(users)', 'within(users, 80 ms)', 'users.mean_ms')
    """
    return tuple(one.strip() for one in re.split(r",(?![^(]*\))", metrics) if one.strip())


def named(precision: Precision, metrics: Sequence[str], file: str) -> list[str]:
    """Return the metrics that precision is asked of; raise `ScenarioError` for one that no run has."""
    if not precision.metrics:
        return of_streams(metrics)
    return [known(one, metrics, file, "precision") for one in precision.metrics]


def measured(scenario: Scenario, precision: Precision) -> Scenario:
    """Return the scenario whose runs measure each share in time that precision is asked of."""
    return measuring(scenario, [objective(one, bounded=False) for one in precision.metrics if "(" in one])


def of_streams(metrics: Sequence[str]) -> list[str]:
    """Return the mean response of every stream."""
    return [name for name in metrics if name.endswith(".mean_ms") and name.count(".") == 1]


def known(metric: str, metrics: Sequence[str], file: str, who: str) -> str:
    """Return a metric that runs have, by its name or as an objective asks for it (`p99(users)`).

    Raise `ScenarioError` for one that none has, in the name of `who` asks for it.
    """
    if "(" in metric:
        return objective(metric, bounded=False).metric(metrics)
    if metric not in metrics:
        near = difflib.get_close_matches(metric, metrics, 1)
        help_ = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(map(asked_for, metrics))}"
        raise refusal(file, f"{who}: no run has `{metric}`", help_)
    return metric


def run_until_precise(
    scenario: Scenario | Plan,
    precision: Precision,
    *,
    requests: str | Path | None = None,
    timeline: str | Path | None = None,
    first: int = 100,
    **how: Unpack[RunOptions],
) -> Results:
    """Run a scenario with as many replications as it takes; a note says how precise the answer is.

    Replications are added until half of each interval is at most the share asked for, or their number is the budget.
    Precision is asked of response times, whose intervals a run has: means and quantiles. `how` as for `Scenario.run`.
    """
    plan = measured(scenario, precision).plan() if isinstance(scenario, Scenario) else scenario
    many = min(LEAST, precision.budget)
    how["widen"] = _widen(many)
    found = plan.run(replications=many, requests=requests, timeline=timeline, first=first, **how)
    while True:
        apart, metric = _furthest(found, precision, plan.file)
        if not found.complete or apart <= 1 or many >= precision.budget:
            break
        # As many as this spread asks for, and no fewer than a look at one more round would add.
        wanted = math.ceil(many * apart**2) if math.isfinite(apart) else 2 * many
        more = min(max(many + LEAST, wanted), precision.budget) - many
        many += more
        how["widen"] = _widen(many)
        found = plan.extend(more, **how)
    if found.complete:
        found.data["notes"].append(_note(precision, apart, metric, many))
    return found


def _note(precision: Precision, apart: float, metric: str, many: int) -> str:
    if not math.isfinite(apart):
        return f"precision: {metric} has no interval after {many} replications: they are too few, or too short"
    reached = f"± {apart * precision.within:.2%} (95 % confidence) after {many} replications"
    if apart <= 1:
        return f"precision: {metric} is known to {reached}"
    asked = f"± {precision.within:.2%} asked for"
    return f"precision: {metric} is known only to {reached}, not to the {asked}; raise the budget"


def _furthest(found: Results, precision: Precision, file: str) -> tuple[float, str]:
    """Return how many times the share asked for the widest interval is, and of which metric."""
    intervals = _intervals(found)
    ratios = []
    for metric in named(precision, list(intervals), file):
        middle, half = intervals[metric]
        ratio = half / middle / precision.within if half is not None and middle else math.inf
        ratios.append((ratio, metric))
    return max(ratios)


def _widen(count: int) -> float:
    """Return the factor that widens the intervals of replications whose number was chosen by looking at them."""
    from scipy.special import stdtrit

    return float(stdtrit(count - 1, (1 + SEQUENTIAL) / 2) / stdtrit(count - 1, 0.975)) if count > 1 else 1.0


def _intervals(found: Results) -> dict[str, tuple[float, float | None]]:
    """Return the response times of a run that have intervals, by metric."""
    told: dict[str, tuple[float, float | None]] = {}
    for stream in found.data["streams"]:
        name = stream["name"]
        operations = {"reads": stream["reads"], "writes": stream["writes"], **stream["operations"]}
        for of, response in ((name, stream["response"]), *((f"{name}.{op}", one) for op, one in operations.items())):
            if response is None:
                continue
            told[f"{of}.{TIMES['mean']}"] = response["mean_ms"], response["half_width_ms"]
            for one in response["quantiles_ms"]:
                told[f"{of}.p{one['share'] * 100:g}_ms"] = one["ms"], one["half_width_ms"]
    told |= {in_time(aim): (aim["share"], aim["half_width"]) for aim in found.data["objectives"]}
    return told
