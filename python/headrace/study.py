"""Studies: published systems, and a verdict on each of their claims.

A study is a folder of `studies/`: a README that argues, `claims.toml` with what was published and how near is near
enough (written before the model is run), its scenarios, and `study.py` with a function `obtain(study)` that runs them
and yields what it got for each claim. The verdict follows from the two by `judge`.
"""

import importlib
import itertools
import json
import math
import statistics
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any, Self, TypedDict

from headrace import scenario, studies
from headrace._core import ScenarioError
from headrace.errors import refusal
from headrace.files import write_whole
from headrace.results import Results

Json = dict[str, Any]

# Where the interval of what was obtained lies wholly inside the tolerance a claim holds; wholly outside, it fails;
# across its edge, the run is lengthened fourfold at most this many times before it is left undecided.
LENGTHENED_AT_MOST = 2


class Judged(TypedDict):
    """A claim with its verdict, as `--json` prints it."""

    id: str
    text: str
    kind: str
    """Kind of the reference value, as in `Claim`."""
    calibrated: bool
    """True if a parameter or rule of the model was chosen by this claim: no test of the model."""
    published: object
    obtained: object
    tolerance: str
    verdict: str
    at_bound: bool
    """True if the value is so close to a bound of the tolerance that a small change would turn the verdict."""
    source: str
    why: str
    """The argument, where no run can decide; else empty."""


class Figure(TypedDict):
    """Curves and points that a study found, to be drawn over each other."""

    title: str
    said: str
    """What is known of it and what is not; may be empty."""
    x: str
    """What lies along the axis, with its unit."""
    y: str
    curves: dict[str, list[tuple[float, float]]]
    """The points of each curve, by its name."""
    points: dict[str, list[tuple[float, float]]]
    """Points that no line connects, by name: `published` are those that the paper prints."""
    log: int
    """The base of the axis of `x`, if that has equal ratios; else 0. Base 2 is for bytes."""
    log_y: int
    """The same of the axis of `y`."""
    front: bool
    """True for the figure that stands for the study on the page of all studies."""


class PrintedTable(TypedDict):
    """A table of the paper, with what the study found."""

    title: str
    said: str
    """What is known of it and what is not; may be empty."""
    columns: list[str]
    rows: list[list[str]]


class Accuracy(TypedDict):
    """How near predictions of a measured system came, at points that nothing was fitted to."""

    system: str
    fitted: str
    """What was fitted, and on which measurements."""
    predicted: str
    """What was predicted."""
    points: int
    median_percent: float
    """The median size of the error, in percent of the measured value."""
    p90_percent: float
    """The size of error that nine of ten points do not exceed."""
    bar: str
    """What had to hold, as written before the model was run."""
    held: int
    """Number of claims that hold, of those that the bar consists of."""
    tried: int
    """Number of these claims."""


class Verdicts(TypedDict):
    """A study with its verdicts, as `--json` prints it."""

    study: str
    title: str
    claims: list[Judged]
    counts: dict[str, dict[str, int]]
    """Number of claims by group and verdict. The group is the kind, or `calibrated`."""
    small: bool
    """True if the run was shortened, so that its verdicts mean little."""
    figures: list[Figure]
    tables: list[PrintedTable]
    accuracy: list[Accuracy]
    """Errors on measured systems, for the page of them all."""


# Kinds of reference values, in the order of reports. Headlines count those that somebody else published or measured.
KINDS = {
    "published": "published claims",
    "measured": "measured claims",
    "calibrated": "calibrated claims",
    "theory": "results of theory",
    "arithmetic": "results of arithmetic",
    "input": "inputs",
    "expectation": "expectations",
}


@dataclass(frozen=True)
class Claim:
    """Something that was published: a number or a trend, where it stands, and how near is near enough."""

    id: str
    text: str
    published: Any
    source: str
    percent: float | None = None
    """The tolerance: percent of the published number."""
    within: float | None = None
    """A number holds when it differs by at most so much."""
    between: tuple[float, float] | None = None
    """A number holds when it lies in between."""
    at_least: float | None = None
    """A number holds when it is not below this."""
    at_most: float | None = None
    """A number holds when it is not above this."""
    kind: str = "published"
    """Kind of the reference value: `published`, `measured`, `theory` (a formula for the same system), `arithmetic`
    (follows from the published numbers without a model), `input` (put into the model), `expectation` (the study's
    own)."""
    calibrated: bool = False
    """True if a parameter or rule of the model was chosen by this claim."""
    verdict: str | None = None
    """Given where no run can decide: `disputed` or `not testable`."""

    @classmethod
    def read(cls, row: Mapping[str, Any], **more: Any) -> Self:
        """Return the claim that a table of `claims.toml` states; `more` adds to its keys or replaces them."""
        given = {name: row[name] for name in cls.__dataclass_fields__ if name in row} | more
        if "between" in given:
            given["between"] = tuple(given["between"])
        limits = {name: f"{sign} {given[name]:g}" for name, sign in LIMITS.items() if name in given}
        words = given.get("between", next(iter(limits.values()), None))
        given.setdefault("published", words if isinstance(words, str | None) else f"{words[0]:g} to {words[1]:g}")
        return cls(**given)

    @property
    def tolerant(self) -> bool:
        """True if a number may differ from the published one."""
        return any(one is not None for one in (self.percent, self.within, self.between, self.at_least, self.at_most))

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest number with which the claim holds."""
        if self.between is not None:
            return self.between
        if self.at_least is not None or self.at_most is not None:
            return _given(self.at_least, -math.inf), _given(self.at_most, math.inf)
        slack = self.within if self.within is not None else abs(self.published) * (self.percent or 0.0) / 100
        return self.published - slack, self.published + slack

    @property
    def tolerance(self) -> str:
        """The tolerance in words."""
        if self.between is not None:
            return f"{self.between[0]:g} to {self.between[1]:g}"
        for name, sign in LIMITS.items():
            if (limit := getattr(self, name)) is not None:
                return f"{sign} {limit:g}"
        if self.percent is not None:
            return f"± {self.percent:g} %"
        return f"± {self.within:g}" if self.within is not None else "exactly"


# Signs of one-sided tolerances.
LIMITS = {"at_least": "≥", "at_most": "≤"}


def _given(value: float | None, default: float) -> float:
    return default if value is None else value


@dataclass(frozen=True)
class Obtained:
    """What a run gave for a claim: a number with half its 95 % interval, or anything else exactly."""

    value: Any
    half_width: float = 0.0


def judge(claim: Claim, obtained: Obtained) -> str:
    """Give the verdict: `holds`, `fails`, or `undecided` where the interval lies across the edge of the tolerance.

    >>> claim = Claim("mean", "mean response", 10.0, "here", percent=1.0)
    >>> [judge(claim, Obtained(value, 0.03)) for value in (10.05, 10.09, 10.2)]
    ['holds', 'undecided', 'fails']
    """
    if not claim.tolerant:
        return "holds" if obtained.value == claim.published else "fails"
    low, high = claim.bounds
    least, most = obtained.value - obtained.half_width, obtained.value + obtained.half_width
    if low <= least and most <= high:
        return "holds"
    return "fails" if most < low or least > high else "undecided"


# A verdict is marked where the value is this close to a bound, as a share of the width of the tolerance, or of half the
# bound where there is only one.
CLOSE = 0.02


def is_at_bound(claim: Claim, obtained: Obtained) -> bool:
    """Return true if the value is so close to a bound of the tolerance that a small change would turn the verdict.

    >>> claim = Claim("gain", "gain", 13, "here", within=4)
    >>> [is_at_bound(claim, Obtained(value)) for value in (16.9, 16.5, 17.1)]
    [True, False, True]
    >>> [is_at_bound(Claim("r", "R²", 0.9, "here", at_least=0.9), Obtained(value)) for value in (0.905, 0.999)]
    [True, False]
    """
    if claim.verdict or not claim.tolerant:
        return False
    bounds = [bound for bound in claim.bounds if math.isfinite(bound)]
    width = bounds[1] - bounds[0] if len(bounds) == 2 else abs(bounds[0]) / 2
    return any(abs(obtained.value - bound) < CLOSE * width for bound in bounds)


def group(claim: Judged) -> str:
    """Return the group that a claim is counted in: its kind, or `calibrated`."""
    return "calibrated" if claim["calibrated"] else claim["kind"]


def counts(claims: Iterable[Judged]) -> dict[str, dict[str, int]]:
    """Return the number of claims by group and verdict."""
    each = Counter((group(claim), claim["verdict"]) for claim in claims)
    found = {name: {verdict: n for (of, verdict), n in each.items() if of == name} for name in KINDS}
    return {name: of for name, of in found.items() if of}


def in_a_sentence(report: Verdicts) -> str:
    """Return how many claims hold, group by group, and how many no run can decide.

    >>> claim = verdict(Claim("mean", "mean response", 10.0, "here", percent=1.0), Obtained(10.05))
    >>> said = {"study": "disk", "title": "", "counts": counts([claim]), "small": False}
    >>> report = Verdicts(**said, claims=[claim], figures=[], tables=[], accuracy=[])
    >>> in_a_sentence(report)
    'disk: 1 of 1 published claims hold.'
    """
    said = [
        f"{of.get('holds', 0)} of {tried} {KINDS[name]}{' hold' if not nth else ''}"
        for nth, (name, of) in enumerate(report["counts"].items())
        if (tried := sum(of.get(verdict, 0) for verdict in DECIDED))
    ]
    rest = Counter(claim["verdict"] for claim in report["claims"] if claim["verdict"] not in ("holds", "fails"))
    rest["hold at a bound"] = sum(claim["at_bound"] and claim["verdict"] == "holds" for claim in report["claims"])
    rests = [f"{many} {verdict}" for verdict, many in rest.items() if many]
    return f"{report['study']}: {'; '.join(', '.join(one) for one in (said, rests) if one)}."


SMALL = "`--small`: a shortened run, whose verdicts mean little; claims that it cannot judge are left out."

# Verdicts of claims that a run can decide.
DECIDED = ("holds", "fails", "undecided")


RECORD = "verdicts.json"


def record(report: Verdicts) -> None:
    """Keep the counts and errors of a run at full size beside the claims: what pages say must agree with them."""
    claims = report["claims"]
    missed = sorted({claim["id"] for claim in claims if claim["verdict"] in ("fails", "undecided")})
    at_bound = sorted({claim["id"] for claim in claims if claim["at_bound"]})
    kept: Json = {"said": in_a_sentence(report), "counts": report["counts"], "missed": missed, "at_bound": at_bound}
    if report["accuracy"]:
        kept["accuracy"] = report["accuracy"]
    text = json.dumps(kept, indent=2, ensure_ascii=False)
    write_whole(find(report["study"]).folder / RECORD, f"{text}\n")


def stands(report: Verdicts) -> bool:
    """Return true if no claim of the report fails or stays undecided."""
    return all(claim["verdict"] not in ("fails", "undecided") for claim in report["claims"])


def whole(results: Results) -> Results:
    """Return results that are complete; Ctrl-C goes on from those that it cut short."""
    if not results.complete:
        if results.data["ended"] == "cancelled":
            raise KeyboardInterrupt
        raise RuntimeError(f"a run was cut short: {'; '.join(results.data['notes'])}")
    return results


@dataclass
class Run:
    """One set of results, and how to get more of it."""

    study: "Study"
    file: str
    changes: dict[str, object]
    requests: int
    replications: int
    found: Json = field(default_factory=dict)

    def go(self) -> "Run":
        """Run it."""
        changes = self.changes | {"run.requests": self.requests, "run.replications": self.replications}
        # No claim is on headroom, which takes simulations of its own.
        of = scenario.load(self.study.folder / self.file).with_(changes)
        self.found = {**whole(of.run(headroom=False)).data}
        return self

    @property
    def response(self) -> Json:
        """The response times of the only stream."""
        return dict(self.found["streams"][0]["response"])

    def mean(self) -> Obtained:
        """Return the mean response, in ms."""
        return Obtained(self.response["mean_ms"], _or_unknown(self.response["half_width_ms"]))

    def quantile(self, share: float) -> Obtained:
        """Return the response that the share of requests does not exceed, in ms."""
        [found] = [quantile for quantile in self.response["quantiles_ms"] if quantile["share"] == share]
        read_off = found["ms"] * self.response["quantile_error"]
        return Obtained(found["ms"], _or_unknown(found["half_width_ms"]) + read_off)

    def component(self, path: str) -> Json:
        """Return what was found of a component."""
        [found] = [component for component in self.found["components"] if component["path"] == path]
        return dict(found)


def _or_unknown(half_width: float | None) -> float:
    """Return the half-width; without one nothing is known of where the number lies."""
    return math.inf if half_width is None else float(half_width)


class Study:
    """A published system."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name.replace("_", "-")
        self._told: Callable[[str], object] | None = None
        self._figures: list[Figure] = []
        self._tables: list[PrintedTable] = []
        self._accuracy: list[Accuracy] = []
        self.small = False

    @cached_property
    def _document(self) -> Json:
        return tomllib.loads((self.folder / "claims.toml").read_text(encoding="utf-8"))

    @property
    def title(self) -> str:
        """What the study is of."""
        return str(self._document["title"])

    @property
    def document(self) -> Json:
        """The claims as written."""
        return self._document

    def tell(self, case: str) -> None:
        """Say which case is being run."""
        if self._told:
            self._told(case)

    def draw(
        self,
        title: str,
        x: str,
        y: str,
        curves: Mapping[str, Iterable[tuple[float, float]]],
        *,
        points: Mapping[str, Iterable[tuple[float, float]]] | None = None,
        said: str = "",
        log: int = 0,
        log_y: int = 0,
        front: bool = False,
    ) -> None:
        """Keep a figure for the report: curves and points over each other, with titles and units of both axes."""
        drawn, apart = _numbers(curves), _numbers(points or {})
        figure = Figure(title=title, said=said, x=x, y=y, curves=drawn, points=apart, log=log, log_y=log_y, front=front)
        self._figures.append(figure)

    def tabulate(self, title: str, columns: Iterable[str], rows: Iterable[Iterable[str]], *, said: str = "") -> None:
        """Keep a table for the report."""
        table = PrintedTable(title=title, said=said, columns=list(columns), rows=[list(row) for row in rows])
        self._tables.append(table)

    def predicts(
        self, system: str, errors: Iterable[float], claims: Iterable[Judged], *, fitted: str, predicted: str, bar: str
    ) -> Iterator[Judged]:
        """Keep errors on a measured system, in percent, for the page of them all; yield the claims made of them."""
        judged, sizes = list(claims), sorted(map(abs, errors))
        row = Accuracy(
            system=system,
            fitted=fitted,
            predicted=predicted,
            points=len(sizes),
            median_percent=round(statistics.median(sizes), 2),
            p90_percent=round(sizes[math.ceil(0.9 * len(sizes)) - 1], 2),
            bar=bar,
            held=sum(claim["verdict"] == "holds" for claim in judged),
            tried=len(judged),
        )
        self._accuracy.append(row)
        yield from judged

    def simulate(
        self,
        file: str,
        changes: dict[str, object],
        *,
        requests: int,
        replications: int = 8,
        small: int = 100_000,
    ) -> Run:
        """Run one of the study's scenarios; with `--small`, with so few requests.

        `requests` are those of each replication.
        """
        return Run(self, file, changes, small if self.small else requests, replications).go()

    def refusal(self, file: str, changes: dict[str, object]) -> str:
        """Return why a scenario is refused; nothing where it is not."""
        try:
            scenario.check(self.folder / file, changes=changes)
        except ScenarioError as error:
            return str(json.loads(error.problems)[0]["message"])
        return ""

    def decide(self, claims: Iterable[tuple[Claim, Callable[[Run], Obtained]]], run: Run) -> Iterator[Judged]:
        """Judge claims that read their numbers off one run, which is lengthened while any is undecided."""
        wanted = list(claims)
        for lengthened in range(LENGTHENED_AT_MOST + 1):
            judged = [verdict(claim, obtain(run)) for claim, obtain in wanted]
            undecided = any(claim["verdict"] == "undecided" for claim in judged)
            if not undecided or self.small or lengthened == LENGTHENED_AT_MOST:
                break
            run = Run(self, run.file, run.changes, run.requests * 4, run.replications).go()
        yield from judged

    def run(
        self,
        *,
        small: bool = False,
        tell: Callable[[str], object] | None = None,
        show: Callable[[Verdicts], object] | None = None,
    ) -> Verdicts:
        """Run the study; with `small`, with fewer requests.

        `tell` hears which case is being run, `show` of the claims and figures so far, after each claim.
        """
        self.small, self._told, self._figures, self._tables, self._accuracy = small, tell, [], [], []
        report = Verdicts(
            study=self.name,
            title=self.title,
            claims=[],
            counts={},
            small=small,
            figures=self._figures,
            tables=self._tables,
            accuracy=self._accuracy,
        )
        module = importlib.import_module(f"headrace.studies.{self.folder.name}.study")
        for claim in itertools.chain(module.obtain(self), self._given()):
            if small and not self._fits(claim):
                continue
            report["claims"].append(claim)
            report["counts"] = counts(report["claims"])
            if show:
                show(report)
        return report

    def _fits(self, claim: Judged) -> bool:
        """Return true if a small run can judge a claim."""
        needs = tuple(self._document.get("needs_full_size", ()))
        return claim["verdict"] != "undecided" and not claim["id"].startswith(needs)

    def _given(self) -> Iterator[Judged]:
        """Yield the claims that no run can decide."""
        for given in self._document.get("given", []):
            claim = Claim.read(given)
            yield verdict(claim, Obtained(given.get("obtained")), why=given["why"])


def _numbers(curves: Mapping[str, Iterable[tuple[float, float]]]) -> dict[str, list[tuple[float, float]]]:
    return {name: [(float(a), float(b)) for a, b in curve] for name, curve in curves.items()}


def verdict(claim: Claim, obtained: Obtained, why: str = "") -> Judged:
    """Put a claim and what was obtained for it together."""
    return Judged(
        id=claim.id,
        text=claim.text,
        kind=claim.kind,
        calibrated=claim.calibrated,
        published=claim.published,
        obtained=obtained.value,
        tolerance="—" if claim.verdict else claim.tolerance,
        verdict=claim.verdict or judge(claim, obtained),
        at_bound=is_at_bound(claim, obtained),
        source=claim.source,
        why=why,
    )


def all_studies() -> list[Study]:
    """Return every study there is."""
    found = (Study(file.parent) for folder in studies.__path__ for file in Path(folder).glob("*/claims.toml"))
    return sorted(found, key=attrgetter("name"))


def find(name: str) -> Study:
    """Return the study of this name; raise `ScenarioError` where there is none."""
    for study in all_studies():
        if study.name == name:
            return study
    known = ", ".join(study.name for study in all_studies())
    raise refusal(name, f"there is no study `{name}`", f"there are {known}")
