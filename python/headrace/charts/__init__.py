"""Altair charts as functions of data. Altair takes long to load: charts are drawn when a report shows them."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from headrace.charts.data import Axis, Points

if TYPE_CHECKING:
    from altair.typing import ChartType


def cdfs(curves: Mapping[str, Points], marks: Mapping[float, float] | None = None) -> "Callable[[], ChartType]":
    """Return what draws cdfs of response times in ms over each other; `marks` are quantiles to name: share, ms."""

    def draw() -> "ChartType":
        from headrace.charts import style

        return style.cdfs(curves, marks)

    return draw


def lines(
    curves: Mapping[str, Points], x: Axis, y: Axis, *, points: Mapping[str, Points] | None = None, steps: bool = False
) -> "Callable[[], ChartType]":
    """Return what draws curves over each other, with different colours and dashes; with `steps`, as stairs.

    No line connects `points`.
    """

    def draw() -> "ChartType":
        from headrace.charts import style

        return style.lines(curves, x, y, points=points or {}, steps=steps)

    return draw
