"""The pictures of a trace: when requests come, how large they are, where they go."""

from typing import Any

import altair

from headrace.times import unit
from headrace.view.pictures.chart import IN_BINARY, Drawing, log_scale, one_line

Json = dict[str, Any]


def rate(info: Json) -> Drawing:
    """Draw the arrival rate over time."""
    points = info["arrivals"]["over_time"]
    clock = unit(second * 1e3 for second, _ in points[-1:])
    x, y = altair.X("x:Q", title=f"time, {clock.name}"), altair.Y("y:Q", title="requests/s")
    return one_line([(clock.of(second * 1e3), rate) for second, rate in points], x, y)


def sizes(info: Json) -> Drawing:
    """Draw the cdf of the requests' sizes."""
    axis = altair.Axis(labelExpr=IN_BINARY)
    points = [(info["sizes"]["least"], 0.0), *info["sizes"]["cdf"]]
    x = altair.X("x:Q", title="size", scale=log_scale((size for size, _ in points), base=2), axis=axis)
    y = altair.Y("y:Q", title="share of requests", axis=altair.Axis(format="%"), scale=altair.Scale(domain=[0, 1]))
    return one_line(points, x, y, steps=True)


def popularity(info: Json) -> Drawing:
    """Draw which share of the requests goes to the most popular regions."""
    x = altair.X("x:Q", title="most popular regions", axis=altair.Axis(format="%"))
    y = altair.Y("y:Q", title="share of requests", axis=altair.Axis(format="%"), scale=altair.Scale(domain=[0, 1]))
    return one_line([(0.0, 0.0), *info["places"]["popularity"], (1.0, 1.0)], x, y)
