"""The figures of a study."""

import altair

from headrace.study import Figure, Report
from headrace.view.pictures.chart import IN_BINARY, SERIES, Drawing, curves, log_scale, shapes, styled
from headrace.view.tables.studies import off


def of(figure: Figure) -> Drawing:
    """Draw a figure's curves over each other."""
    values = [x for curve in figure["curves"].values() for x, _ in curve]
    scale = log_scale(values, figure["log"]) if figure["log"] else altair.Scale(zero=False, nice=False)
    axis = altair.Axis(labelOverlap="greedy", labelSeparation=6)
    if figure["log"] == 2:
        axis.labelExpr = IN_BINARY
    x = altair.X("x:Q", title=figure["x"], scale=scale, axis=axis)
    return curves(figure["curves"], x, altair.Y("y:Q", title=figure["y"], scale=altair.Scale(zero=True)))


# Farther off than this is drawn at the edge.
FARTHEST = 3.0
COLOURS = {"holds": "measured", "undecided": "theory", "fails": "fifth", "disputed": "more"}


def offs(report: Report) -> Drawing | None:
    """Draw how far each claim with a tolerance is off its reference, in tolerances; nothing where too few have one."""
    known = [
        (claim, far) for claim in report["claims"] if (far := off(claim)) is not None and claim["verdict"] in COLOURS
    ]
    if len(known) < FEWEST:
        return None
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
    points = altair.Chart(altair.InlineData(values=rows)).mark_point(filled=True, size=30, opacity=0.9)
    x = altair.X("x:Q", title="claims with a tolerance, in their order", scale=altair.Scale(domain=[0, len(rows) + 1]))
    y = altair.Y("y:Q", title="off the reference, in tolerances", scale=altair.Scale(domain=[-FARTHEST, FARTHEST]))
    within = altair.Chart(altair.InlineData(values=[{"low": -1, "high": 1}]))
    band = within.mark_rect(color=SERIES["measured"], opacity=0.12).encode(y="low:Q", y2="high:Q")
    drawn = points.encode(
        x=x,
        y=y,
        color=altair.Color("what:N", scale=scale, legend=altair.Legend(title=None)),
        shape=shapes(names, field="what"),
        description="said:N",
    )
    return styled(band + drawn)


# Of fewer claims a picture says no more than their table.
FEWEST = 5
