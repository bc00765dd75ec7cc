"""The chart of a study: how far its claims are off."""

from collections.abc import Sequence

import altair
from altair.typing import ChartType

from headrace.charts.style import SERIES, Rows, shapes, styled
from headrace.study import Judged

# Farther off than this is drawn at the edge.
FARTHEST = 3.0
COLOURS = {"holds": "measured", "undecided": "theory", "fails": "fifth", "disputed": "more"}


def offs(known: Sequence[tuple[Judged, float]]) -> ChartType:
    """Draw how far claims are off their references, in tolerances."""
    rows = [
        {
            "x": nth,
            "y": max(-FARTHEST, min(far, FARTHEST)),
            "what": claim["verdict"],
            "said": f"{claim['id']}: {claim['obtained']:.5g}, reference {claim['published']:.5g} {claim['tolerance']}",
        }
        for nth, (claim, far) in enumerate(known, 1)
    ]
    names = [name for name in COLOURS if any(row["what"] == name for row in rows)]
    scale = altair.Scale(domain=names, range=[SERIES[COLOURS[name]] for name in names])
    points = altair.Chart(Rows(rows)).mark_point(filled=True, size=30, opacity=0.9)
    x = altair.X("x:Q", title="claims with a tolerance, in their order", scale=altair.Scale(domain=[0, len(rows) + 1]))
    y = altair.Y("y:Q", title="off the reference, in tolerances", scale=altair.Scale(domain=[-FARTHEST, FARTHEST]))
    within = altair.Chart(Rows([{"low": -1, "high": 1}]))
    band = within.mark_rect(color=SERIES["measured"], opacity=0.12).encode(y="low:Q", y2="high:Q")
    drawn = points.encode(
        x=x,
        y=y,
        color=altair.Color("what:N", scale=scale, legend=altair.Legend(title=None)),
        shape=shapes(names, field="what"),
        description="said:N",
    )
    return styled(band + drawn)
