"""How far a device is off a measured trace: in a sentence, as a table, and the requests with the largest errors."""

from typing import Any

Json = dict[str, Any]


def in_a_sentence(found: Json) -> str:
    """Return how far off a device is, in a sentence."""
    overall = found["overall"]
    said = (
        f"{found['device']} is {overall['mean_error_percent']:+.1f} % off the measured mean of "
        f"{overall['measured_mean_ms']:.2f} ms, with a demerit of {overall['demerit_percent']:.1f} %"
    )
    apart = [f"{name} {found[name]['mean_error_percent']:+.1f} %" for name in ("reads", "writes") if found[name]]
    said += f" ({', '.join(apart)})"
    if found["clock"] == "measured":
        said += (
            f"; {found['off_by_a_turn_percent']:.1f} % of the requests are off by a turn, the rest agree within "
            f"{found['rest_rms_ms']:.2f} ms RMS"
            if found["keeps_phase"]
            else "; the trace does not keep the platter's phase, so single requests tell nothing"
        )
    elif not found["thinks_keep_phase"]:
        said += "; think times do not keep the platter's phase, so it is drawn for each request"
    return said + "."


def rows(found: Json) -> tuple[list[str], list[list[str]]]:
    """Return the comparison as columns and rows, for tables."""
    columns = ["", "n", "measured, ms", "simulated, ms", "mean error", "demerit", "of mean", "RMS, ms", "corr.", "KS"]
    table = []
    for name in ("overall", "reads", "writes"):
        if part := found[name]:
            error = f"{part['mean_error_percent']:+.2f}% ± {2 * part['standard_error_percent']:.2f}"
            correlation = "—" if part["correlation"] is None else f"{part['correlation']:.3f}"
            means = [f"{part[f'{which}_mean_ms']:.3f}" for which in ("measured", "simulated")]
            demerit = [f"{part['demerit_ms']:.3f} ms", f"{part['demerit_percent']:.1f}%"]
            single = [f"{part['per_request_rms_ms']:.2f}", correlation, f"{part['ks']:.3f}"]
            table.append([name, f"{part['n']:,}", *means, error, *demerit, *single])
    return columns, table


def worst_rows(found: Json) -> tuple[list[str], list[list[str]]]:
    """Return the worst requests as columns and rows."""
    columns = [
        "request",
        "op",
        "sector",
        "KiB",
        "measured, ms",
        "simulated, ms",
        "the model went to",
        "seek",
        "rotation",
    ]
    return columns, [
        [
            str(row["request"]),
            row["op"],
            str(row["address"] // 512),
            f"{row['bytes'] / 1024:g}",
            f"{row['measured_ms']:.2f}",
            f"{row['simulated_ms']:.2f}",
            row["way"],
            f"{row['seek_ms']:.2f}",
            f"{row['rotation_ms']:.2f}",
        ]
        for row in found["worst"]
    ]
