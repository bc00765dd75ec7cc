"""Pictures of a network of queues against load: throughput between its bounds, response, utilisation."""

from typing import Any

import altair

from headrace.view.pictures.chart import Drawing, curves, whole
from headrace.view.tables.solve import unit_of_responses

Json = dict[str, Any]

# Utilisation is drawn of at most this many components, those that saturate first.
MOST_CURVES = 6


def drawn(found: Json) -> dict[str, Drawing]:
    """Return the pictures by their titles."""
    return {
        "Throughput against load": curves(_throughput(found), _load(found), altair.Y("y:Q", title="requests/s")),
        "Response time against load": curves(
            _response(found),
            _load(found),
            altair.Y("y:Q", title=f"mean response time, {unit_of_responses(found).name}"),
        ),
        "Utilisation against load": curves(
            _utilisation(found), _load(found), altair.Y("y:Q", title="utilisation", axis=altair.Axis(format="%"))
        ),
    }


def _load(found: Json) -> altair.X:
    scale = altair.Scale(zero=False, nice=False)
    if found["open"]:
        return altair.X("x:Q", title="offered load, requests/s", scale=scale, axis=altair.Axis(tickCount=6))
    loads = (point["load"] for point in found["points"])
    return altair.X("x:Q", title="clients", scale=scale, axis=whole(loads))


def _throughput(found: Json) -> dict[str, list[tuple[float, float]]]:
    of = {"theory": _of(found, lambda point: point["throughput_per_s"])}
    of |= _simulated(found, "throughput_per_s")
    for title, end in (("at most", "to"), ("at least", "from")):
        bound = _of(found, lambda point, end=end: (point["asymptotic"] or {}).get(end))
        of |= {title: bound} if bound else {}
    return of


def _response(found: Json) -> dict[str, list[tuple[float, float]]]:
    of = unit_of_responses(found)
    both = {"theory": _of(found, lambda point: point["response_ms"])} | _simulated(found, "response_ms")
    return {name: [(load, of.of(time)) for load, time in curve] for name, curve in both.items()}


def _simulated(found: Json, what: str) -> dict[str, list[tuple[float, float]]]:
    points = _of(found, lambda point: (point.get("simulated") or {}).get(what))
    return {"simulated": points} if points else {}


def _utilisation(found: Json) -> dict[str, list[tuple[float, float]]]:
    return {
        station["component"]: _of(found, lambda point, at=at: point["utilisation"][at])
        for at, station in enumerate(found["stations"][:MOST_CURVES])
    }


def _of(found: Json, value: Any) -> list[tuple[float, float]]:
    """Return the points of a curve; those without a value are left out."""
    pairs = [(point["load"], value(point)) for point in found["points"]]
    return [(load, known) for load, known in pairs if known is not None]
