"""The pictures of a device: its zones and seeks, and its response times beside measured ones."""

from typing import Any

import altair

from headrace.view.pictures.chart import Drawing, Points, cdfs, curves, one_line

Json = dict[str, Any]


def rates(device: Json) -> Drawing:
    """Draw a device's media rate by place."""
    x = altair.X("x:Q", title="place, share of the capacity from the outside", axis=altair.Axis(format="%"))
    y = altair.Y("y:Q", title="media rate, MB/s", scale=altair.Scale(zero=True))
    return one_line(device["zone_rates"], x, y)


def seeks(device: Json) -> Drawing:
    """Draw a device's seek times by distance, of reads and of writes."""
    by_op = {"reads": device["seek_read"], "writes": device["seek_write"]}
    x = altair.X("x:Q", title="distance, cylinders", axis=altair.Axis(format="~s"))
    return curves(by_op, x, altair.Y("y:Q", title="seek time, ms"))


def responses(simulated: Points, measured: Points) -> Drawing:
    """Draw the cdfs of simulated and measured response times over each other."""
    return cdfs({"simulated": simulated, "measured": measured})
