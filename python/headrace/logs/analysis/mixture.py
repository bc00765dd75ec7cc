"""Mixtures of exponential times, fitted by expectation and maximisation (EM)."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Floats = NDArray[np.float64]

LEAST_MEAN_S = 0.25  # A component narrower than the log's whole seconds is none.
STEPS, GAIN = 500, 1e-9


@dataclass(frozen=True)
class Mixture:
    """Some exponential times, each with its share and its mean, all beginning at `floor`."""

    floor: float
    shares: Floats
    means: Floats

    def density(self, x: Floats) -> Floats:
        """Return the density at these times."""
        beyond = np.maximum(x - self.floor, 0)[:, None]
        found = (self.shares / self.means * np.exp(-beyond / self.means)).sum(axis=1)
        return np.where(x < self.floor, 0.0, found)

    def cdf(self, x: Floats) -> Floats:
        """Return the share of times up to these."""
        beyond = np.maximum(x - self.floor, 0)[:, None]
        return np.asarray(-(self.shares * np.expm1(-beyond / self.means)).sum(axis=1))

    def draw(self, dice: np.random.Generator, count: int) -> Floats:
        """Draw times."""
        which = np.minimum(np.searchsorted(np.cumsum(self.shares), dice.random(count)), len(self.shares) - 1)
        return np.asarray(self.floor - self.means[which] * np.log1p(-dice.random(count)))


def fitted(
    x: Floats, floor: float, count: int, start: Mixture | None = None, steps: int = STEPS, times: Floats | None = None
) -> Mixture:
    """Return the maximum-likelihood mixture of exponential times with as many components as `start`.

    `times` says how often each of `x`, which is sorted, was found; by default once.
    """
    many = np.ones(len(x)) if times is None else times
    beyond = np.maximum(x - floor, LEAST_MEAN_S / 2)
    found = start or _first(beyond, many, floor, count)
    before = -np.inf
    for _ in range(steps):
        parts = np.exp(beyond / -found.means[:, None])
        parts *= (found.shares / found.means)[:, None]
        whole = np.maximum(parts.sum(axis=0), 1e-300)
        parts *= many / whole
        of = np.maximum(parts.sum(axis=1), 1e-9)
        means = np.maximum(parts @ beyond / of, LEAST_MEAN_S)
        found = Mixture(floor, of / of.sum(), means)
        likelihood = float(many @ np.log(whole))
        if likelihood - before < GAIN * many.sum():
            break
        before = likelihood
    order = np.argsort(found.means)
    return Mixture(floor, found.shares[order], found.means[order])


def _first(beyond: Floats, many: Floats, floor: float, count: int) -> Mixture:
    """Return where the search begins: as many parts of the sorted times."""
    order = np.argsort(beyond, kind="stable")
    parts = np.array_split(np.repeat(beyond[order], many[order].astype(np.int64)), count)
    means = np.maximum([float(part.mean()) if len(part) else 1.0 for part in parts], LEAST_MEAN_S)
    return Mixture(floor, np.full(count, 1 / count), means)


def truncated_mean(x: Floats, width: float, times: Floats | None = None) -> float:
    """Return the mean of the exponential time cut off at `width` that most likely gave these: at most 1,000 widths.

    `times` says how often each of them was found; by default once.
    """
    target = float(np.average(x, weights=times)) if len(x) else 0.0
    most = 1000 * width

    def excess(mean: float) -> float:
        return mean - width / math.expm1(min(width / mean, 700)) - target

    low = max(LEAST_MEAN_S, width / 700)
    if excess(low) >= 0:
        return low
    return most if excess(most) <= 0 else float(brentq(excess, low, most))
