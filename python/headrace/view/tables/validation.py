"""How far a device is off a measured trace: in a sentence, as a table, and the requests with the largest errors."""

from typing import Any

from headrace.times import Unit, format_time, unit

Json = dict[str, Any]


def in_a_sentence(found: Json) -> str:
    """Return how far off a device is, in a sentence."""
    overall = found["overall"]
    said = (
        f"{found['device']} is {overall['mean_error_percent']:+.1f} % off the measured mean of "
        f"{format_time(overall['measured_mean_ms'])}, with a demerit of {overall['demerit_percent']:.1f} %"
    )
    apart = [f"{name} {found[name]['mean_error_percent']:+.1f} %" for name in ("reads", "writes") if found[name]]
    said += f" ({', '.join(apart)})"
    if found["clock"] == "measured":
        said += (
            f"; {found['off_by_a_turn_percent']:.1f} % of the requests are off by a turn, the rest agree within "
            f"{format_time(found['rest_rms_ms'])} RMS"
            if found["keeps_phase"]
            else "; the trace does not keep the platter's phase, so single requests tell nothing"
        )
    elif not found["thinks_keep_phase"]:
        said += "; think times do not keep the platter's phase, so it is drawn for each request"
    return said + "."


# What the columns of errors mean.
MEANING = (
    "demerit: root mean square distance between the distributions of response times, also as a share of the mean; RMS: "
    "root mean square error of single requests; corr.: their correlation; KS: largest distance between the two curves."
)


def rows(found: Json) -> tuple[list[str], list[list[str]]]:
    """Return the comparison as columns and rows, for tables; its times have one unit."""
    parts = {name: found[name] for name in ("overall", "reads", "writes") if found[name]}
    of = unit(part[name] for part in parts.values() for name in ("measured_mean_ms", "simulated_mean_ms"))
    times = {name: f"{name}, {of.name}" for name in ("measured", "simulated", "demerit", "RMS")}
    columns = ["", "n", times["measured"], times["simulated"], "mean error", times["demerit"], "of mean"]
    columns += [times["RMS"], "corr.", "KS"]
    return columns, [[name, *_cells(part, of)] for name, part in parts.items()]


def _cells(part: Json, of: Unit) -> list[str]:
    means = [of.cell(part[f"{which}_mean_ms"]) for which in ("measured", "simulated")]
    error = f"{round(part['mean_error_percent'], 2) + 0.0:+.2f}% ± {2 * part['standard_error_percent']:.2f}"
    demerit = [of.cell(part["demerit_ms"]), f"{part['demerit_percent']:.1f}%"]
    correlation = "—" if part["correlation"] is None else f"{part['correlation']:.3f}"
    single = [of.cell(part["per_request_rms_ms"]), correlation, f"{part['ks']:.3f}"]
    return [f"{part['n']:,}", *means, error, *demerit, *single]


TIMES = ("measured_ms", "simulated_ms", "seek_ms", "rotation_ms")


def worst_rows(found: Json) -> tuple[list[str], list[list[str]]]:
    """Return the worst requests as columns and rows; their times have one unit."""
    of = unit(row[name] for row in found["worst"] for name in TIMES)
    measured, simulated, seek, rotation = (f"{name.removesuffix('_ms')}, {of.name}" for name in TIMES)
    columns = ["request", "op", "sector", "KiB", measured, simulated, "the model went to", seek, rotation]
    return columns, [_worst(row, [of.cell(row[name]) for name in TIMES]) for row in found["worst"]]


def _worst(row: Json, times: list[str]) -> list[str]:
    place = [str(row["request"]), row["op"], str(row["address"] // 512), f"{row['bytes'] / 1024:g}"]
    return [*place, *times[:2], row["way"], *times[2:]]
