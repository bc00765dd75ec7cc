"""Staging times: two branches, or a mixture of exponential times, with tests of fit."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace.logs.analysis.mixture import STEPS, Mixture, fitted, truncated_mean
from headrace.quantities import number

Json = dict[str, Any]
Floats = NDArray[np.float64]

FEWEST, MOST = 30, 20_000  # Fewer times are not fitted; a sample of MOST is drawn from more.
RESAMPLES = 99
BREAKS = 300  # Maximum number of breaks tried.
QUANTILES = (0.01, 0.05, 0.1, 0.5, 0.9, 0.95, 0.99)
PAPERS = "2 branches, 1 exponential above"


@dataclass(frozen=True)
class Law:
    """Times below a break, from a cut-off exponential time, and times above it, from a mixture.

    Without a break (`share` 0) all times are of the mixture.
    """

    name: str
    floor: float
    share: float  # Of times below the break.
    mean: float  # Of the exponential time below, before it is cut off.
    above: Mixture

    @property
    def parameters(self) -> int:
        """Return how many numbers were fitted, the break among them."""
        return 2 * len(self.above.shares) - 1 + (3 if self.share else 0)

    def density(self, x: Floats) -> Floats:
        """Return the density at these times."""
        width = self.above.floor - self.floor
        below = np.zeros(len(x))
        if self.share:
            inside = (x >= self.floor) & (x < self.above.floor)
            cut = -np.expm1(-width / self.mean)
            below[inside] = np.exp(-(x[inside] - self.floor) / self.mean) / self.mean / cut
        return np.asarray(self.share * below + (1 - self.share) * self.above.density(x))

    def cdf(self, x: Floats) -> Floats:
        """Return the share of times up to these."""
        below = np.zeros(len(x))
        if self.share:
            width = self.above.floor - self.floor
            inside = np.clip(x - self.floor, 0, width)
            below = np.expm1(-inside / self.mean) / np.expm1(-width / self.mean)
        return np.asarray(self.share * below + (1 - self.share) * self.above.cdf(x))

    def draw(self, dice: np.random.Generator, count: int) -> Floats:
        """Draw times."""
        drawn = self.above.draw(dice, count)
        low = dice.random(count) < self.share
        cut = -np.expm1(-(self.above.floor - self.floor) / self.mean) if self.share else 0.0
        below = self.floor - self.mean * np.log1p(-dice.random(count) * cut)
        return np.asarray(np.where(low, below, drawn))


def staging(times: Floats, break_s: float | None = None) -> Json | None:
    """Return the laws fitted to the tape's times, the best of them, and whether it fits, in words.

    `break_s` is the break between two branches; by default the most likely one. None with fewer than 30 times.
    """
    dice = np.random.Generator(np.random.PCG64(1))
    x = np.sort(times if len(times) <= MOST else dice.choice(times, MOST, replace=False))
    if len(x) < FEWEST or x[0] == x[-1]:
        return None
    whole = bool((x == np.floor(x)).all())
    middle = x + 0.5 if whole else x  # A whole second stands for all times from it to the next.
    cut = _break(middle, float(x[0])) if break_s is None else break_s
    laws = _laws(middle, float(x[0]), cut)
    told = [_told(law, x, whole) for law in laws]
    best = min(told, key=lambda one: float(one["bic"]))
    _bootstrap(best, laws[told.index(best)], x, whole, dice)
    papers = next((one for one in told if one["law"] == PAPERS), None)
    if papers is not None and papers is not best:
        _bootstrap(papers, laws[told.index(papers)], x, whole, dice)
    measured = [[share, float(np.quantile(x, share))] for share in QUANTILES]
    found: Json = {"count": len(times), "fitted_to": len(x), "mean_s": float(x.mean()), "sd_s": float(x.std(ddof=1))}
    found |= {"break_s": cut, "quantiles_s": measured, "laws": told, "best": best["law"]}
    return found | {"verdict": _verdict(best, papers, measured), "cdf": _curves(x, laws, told, best, papers)}


@dataclass(frozen=True)
class Times:
    """Sorted times: each once, and how often it was found. Whole seconds are few."""

    x: Floats
    many: Floats

    @staticmethod
    def of(x: Floats) -> "Times":
        """Return these times, in any order."""
        values, counts = np.unique(x, return_counts=True)
        return Times(values, counts.astype(np.float64))

    def where(self, chosen: NDArray[np.bool_]) -> "Times":
        """Return some of the times."""
        return Times(self.x[chosen], self.many[chosen])

    @property
    def count(self) -> float:
        """The number of times."""
        return float(self.many.sum())


def _break(x: Floats, floor: float) -> float | None:
    """Return the most likely break between two branches; None where no time lies far enough from both ends."""
    low, high = np.quantile(x, [0.05, 0.95])
    tried = np.unique(np.floor(x[(x > low) & (x < high) & (x > floor + 1)]))
    tried = tried[:: -(-len(tried) // BREAKS)] if len(tried) else tried
    if not len(tried):
        return None
    times = Times.of(x)
    # Two exponential times above it: with one, the break would go where the tail begins.
    return float(max(tried, key=lambda cut: _likelihood(_branches(times, floor, float(cut), 2, steps=60), times)))


def _laws(x: Floats, floor: float, cut: float | None) -> list[Law]:
    """Return all laws that are tried."""
    times = Times.of(x)
    plain = [_plain(times, floor, count) for count in (1, 2, 3)]
    if cut is None or not ((x < cut).any() and (x >= cut).any()) or cut <= floor:
        return plain
    return [_branches(times, floor, cut, count) for count in (1, 2, 3)] + plain


def _plain(times: Times, floor: float, count: int, start: Law | None = None) -> Law:
    name = _counted(count)
    found = fitted(times.x, floor, count, start.above if start else None, times=times.many)
    return Law(name, floor, 0.0, 1.0, found)


def _branches(times: Times, floor: float, cut: float, count: int, start: Law | None = None, steps: int = STEPS) -> Law:
    below, above = times.where(times.x < cut), times.where(times.x >= cut)
    name = f"2 branches, {_counted(count)} above"
    share, mean = below.count / times.count, truncated_mean(below.x - floor, cut - floor, below.many)
    mixture = fitted(above.x, cut, count, start.above if start else None, steps, above.many)
    return Law(name, floor, share, mean, mixture)


def _counted(count: int) -> str:
    return f"{count} exponential" + ("s" if count > 1 else "")


def _again(law: Law, x: Floats) -> Law:
    """Fit the same law to other times."""
    count, times = len(law.above.shares), Times.of(x)
    if not law.share:
        return _plain(times, law.floor, count, law)
    both = (x < law.above.floor).any() and (x >= law.above.floor).any()
    return _branches(times, law.floor, law.above.floor, count, law) if both else law


def _likelihood(law: Law, times: Times) -> float:
    return float(times.many @ np.log(np.maximum(law.density(times.x), 1e-300)))


def _distance(law: Law, x: Floats, whole: bool) -> float:
    """Return the largest difference between the cdf of the times (sorted) and that of the law."""
    if whole:
        values, counts = np.unique(x, return_counts=True)
        return float(np.abs(np.cumsum(counts) / len(x) - law.cdf(values + 1)).max())
    share, of_law = np.arange(len(x) + 1) / len(x), law.cdf(x)
    return float(max(np.abs(share[1:] - of_law).max(), np.abs(share[:-1] - of_law).max()))


def _told(law: Law, x: Floats, whole: bool) -> Json:
    middle = x + 0.5 if whole else x
    parts: list[Json] = []
    if law.share:
        parts.append({"share": law.share, "from_s": law.floor, "to_s": law.above.floor, "mean_s": law.mean})
    for share, mean in zip(law.above.shares, law.above.means, strict=True):
        part = {"share": float(share) * (1 - law.share), "from_s": law.above.floor, "to_s": None}
        parts.append(part | {"mean_s": float(mean)})
    likelihood = _likelihood(law, Times.of(middle))
    grid = np.sort(law.draw(np.random.Generator(np.random.PCG64(2)), 200_000))
    return {
        "law": law.name,
        "parts": parts,
        "log_likelihood": likelihood,
        "bic": law.parameters * float(np.log(len(x))) - 2 * likelihood,
        "distance": _distance(law, x, whole),
        "by_chance": None,
        "p": None,
        "quantiles_s": [[share, float(np.quantile(grid, share))] for share in QUANTILES],
    }


def _bootstrap(told: Json, law: Law, x: Floats, whole: bool, dice: np.random.Generator) -> None:
    """Find by how much times drawn from the law itself differ from a law fitted to them."""
    found = []
    for _ in range(RESAMPLES):
        drawn = np.sort(law.draw(dice, len(x)))
        drawn = np.floor(drawn) if whole else drawn
        found.append(_distance(_again(law, drawn + 0.5 if whole else drawn), drawn, whole))
    told["by_chance"] = float(np.quantile(found, 0.95))
    told["p"] = (1 + sum(one >= told["distance"] for one in found)) / (RESAMPLES + 1)


def _verdict(best: Json, papers: Json | None, measured: list[list[float]]) -> str:
    said = [_judged(best, measured)]
    if papers is not None and papers is not best:
        said.append(_judged(papers, measured))
    return " ".join(said)


def _judged(told: Json, measured: list[list[float]]) -> str:
    """Say whether a law fits, and where it is worst."""
    name, off, chance = str(told["law"]), float(told["distance"]), float(told["by_chance"])
    name += " (the paper's form)" if name == PAPERS else ""
    if off <= chance:
        return f"{name}: fits; its cdf is off by {off:.1%} at most, and chance alone gives up to {chance:.1%}."
    pairs = [(share, a, b) for (share, a), (_, b) in zip(measured, told["quantiles_s"], strict=True)]
    share, real, of_law = max(pairs, key=lambda pair: abs(np.log(max(pair[2], 1e-3) / max(pair[1], 1e-3))))
    return (
        f"{name}: does not fit; its cdf is off by {off:.1%}, and chance alone gives up to {chance:.1%}. "
        f"Worst: p{share * 100:g} is {number(of_law)} s instead of {number(real)} s."
    )


def _curves(x: Floats, laws: list[Law], told: list[Json], best: Json, papers: Json | None) -> Json:
    """Return the cdfs of the times and of the laws that are judged, as points."""
    at = np.unique(np.quantile(x, np.linspace(0, 1, 200)))
    share = np.searchsorted(x, at, side="right") / len(x)
    curves = {"measured": [[float(a), float(b)] for a, b in zip(at, share, strict=True)]}
    for law, one in zip(laws, told, strict=True):
        if one is best or one is papers:
            curves[law.name] = [[float(a), float(b)] for a, b in zip(at, law.cdf(at + 0.5), strict=True)]
    return curves
