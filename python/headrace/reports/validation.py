"""The reports of a validation of a device by a measured trace, and of a calibration."""

from typing import Any

from headrace.charts import cdfs
from headrace.charts.data import Points
from headrace.devices import fitted
from headrace.quantities import Unit, format_time, unit
from headrace.report import Block, Chart, Medium, Report, Table, Text

Json = dict[str, Any]


def report(found: Json) -> Report:
    """Return the report of a validation."""
    worst = "the requests with the largest errors, and what happened to them in the model"
    words = ("", "op", "the model went to")
    tables = [*errors(found, "how far off"), Table(*worst_rows(found), title=worst, words=words)]
    done = f"validation of a device against {found['overall']['n']:,} measured requests"
    return Report(found["device"], in_a_sentence(found), done, blocks=[*charts(found), *tables])


def calibration(found: Json, text: str) -> Report:
    """Return the report of a calibration, on the half of the trace that was not fitted; `text` is the fitted device."""
    judged = found["judged"]["simulated"]
    parameters = Table(
        fitted.COLUMNS, [fitted.words(row) for row in found["parameters"]], heading="Parameters", words=("parameter",)
    )
    device = Text(text, "file", heading="The fitted device", on=Medium.PAGE)
    done = f"calibration of a device, judged by {judged['overall']['n']:,} measured requests that were not fitted"
    blocks = [*charts(judged), *errors(judged, "on the half that was not fitted"), parameters, device]
    return Report(f"{found['device']}, fitted", fitted_in_a_sentence(found), done, blocks=blocks)


def errors(found: Json, title: str) -> list[Block]:
    """Return the errors of all requests, of reads and of writes."""
    heading = "Errors" + title.removeprefix("how far off").replace("on the", " on the")
    return [Table(*rows(found), title=title, heading=heading), Text(MEANING, "dim", below=True, on=Medium.PAGE)]


def charts(found: Json) -> list[Chart]:
    """Return the cdfs of response times, simulated and measured, over each other."""
    names = {"overall": "all requests", "reads": "reads", "writes": "writes"}
    return [_cdfs(found[part], name) for part, name in names.items() if found[part]]


def _cdfs(part: Json, name: str) -> Chart:
    curves: dict[str, Points] = {which: part[f"{which}_cdf"] for which in ("simulated", "measured")}
    return Chart(cdfs(curves), heading=f"Response time of {name}")


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


def fitted_in_a_sentence(found: Json) -> str:
    """Return what a calibration reached, in a sentence."""
    overall = found["judged"]["simulated"]["overall"]
    said = (
        f"{found['device']}, fitted to one half of the trace, is {overall['mean_error_percent']:+.2f} % off the mean "
        f"of the other, with a demerit of {overall['demerit_percent']:.2f} %"
    )
    if found["keeps_phase"]:
        single = found["judged"]["measured"]
        said += (
            f"; request by request {single['off_by_a_turn_percent']:.1f} % are off by a turn, the rest agree within "
            f"{format_time(single['rest_rms_ms'])} RMS"
        )
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
