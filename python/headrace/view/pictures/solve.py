"""Pictures of a network of queues against load: throughput between its bounds, response, utilisation."""

from typing import Any

import altair

from headrace.view.pictures.chart import Drawing, curves

Json = dict[str, Any]


def drawn(found: Json) -> dict[str, Drawing]:
    """Return the pictures by their titles."""
    return {
        "Throughput against load": curves(_throughput(found), _load(found), altair.Y("y:Q", title="requests/s")),
        "Response against load": curves(_response(found), _load(found), altair.Y("y:Q", title="mean response, ms")),
        "Utilisation against load": curves(
            _utilisation(found), _load(found), altair.Y("y:Q", title="utilisation", axis=altair.Axis(format="%"))
        ),
    }


def _load(found: Json) -> altair.X:
    scale = altair.Scale(zero=False, nice=False)
    if found["open"]:
        return altair.X("x:Q", title="offered load, requests/s", scale=scale)
    return altair.X("x:Q", title="clients", scale=scale, axis=altair.Axis(format="d", tickMinStep=1))


def _throughput(found: Json) -> dict[str, list[tuple[float, float]]]:
    of = {"theory": _of(found, lambda point: point["throughput_per_s"])}
    of |= _simulated(found, "throughput_per_s")
    for title, end in (("at most", "to"), ("at least", "from")):
        bound = _of(found, lambda point, end=end: (point["asymptotic"] or {}).get(end))
        of |= {title: bound} if bound else {}
    return of


def _response(found: Json) -> dict[str, list[tuple[float, float]]]:
    return {"theory": _of(found, lambda point: point["response_ms"])} | _simulated(found, "response_ms")


def _simulated(found: Json, what: str) -> dict[str, list[tuple[float, float]]]:
    points = _of(found, lambda point: (point.get("simulated") or {}).get(what))
    return {"simulated": points} if points else {}


def _utilisation(found: Json) -> dict[str, list[tuple[float, float]]]:
    return {
        station["component"]: _of(found, lambda point, at=at: point["utilisation"][at])
        for at, station in enumerate(found["stations"])
    }


def _of(found: Json, value: Any) -> list[tuple[float, float]]:
    """Return the points of a curve; those without a value are left out."""
    pairs = [(point["load"], value(point)) for point in found["points"]]
    return [(load, known) for load, known in pairs if known is not None]
