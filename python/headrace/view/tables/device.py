"""A device in a sentence, and what a calibration reached."""

from typing import Any

from headrace.times import format_time

Json = dict[str, Any]


def in_a_sentence(found: Json) -> str:
    """Return what a device is and how long it takes."""
    reads, writes = found["random_read_ms"], found["random_write_ms"]
    times = f"a random 4 KiB read takes {format_time(reads)}, a write {format_time(writes)}"
    return f"{found['title']}: {times}, without cache or queue."


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
