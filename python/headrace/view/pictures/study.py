"""The figures of a study."""

import altair

from headrace.study import Figure
from headrace.view.pictures.chart import IN_BINARY, Drawing, curves, log_scale


def of(figure: Figure) -> Drawing:
    """Draw a figure's curves over each other."""
    values = [x for curve in figure["curves"].values() for x, _ in curve]
    scale = log_scale(values, figure["log"]) if figure["log"] else altair.Scale(zero=False, nice=False)
    axis = altair.Axis(labelOverlap="greedy", labelSeparation=6)
    if figure["log"] == 2:
        axis.labelExpr = IN_BINARY
    x = altair.X("x:Q", title=figure["x"], scale=scale, axis=axis)
    return curves(figure["curves"], x, altair.Y("y:Q", title=figure["y"], scale=altair.Scale(zero=True)))
