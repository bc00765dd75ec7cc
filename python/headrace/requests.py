"""Every request of a run, as Parquet files: what it asked, when it was made and answered, and where its time went."""

from pathlib import Path
from typing import Any

from headrace.files import whole

PLAIN = ("stream", "write", "address", "bytes", "born_ns", "answered_ns")


class RequestLog:
    """Takes the parts of a run's log and writes each to a file of its own in `folder`, whole or not at all.

    The files are named `replication-00000-part-00000.parquet`, a million rows each. Columns: `replication`, `stream`,
    `op`, `address`, `bytes`, `born_ns`, `answered_ns`, and for each component `NAME waiting_ns` and `NAME service_ns`
    along the path that decided when the request was answered.
    """

    def __init__(self, folder: str | Path, scenario: dict[str, Any]) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        if any(self.folder.glob("*.parquet")):
            raise FileExistsError(17, "there are Parquet files already; name another folder", str(folder))
        self.streams = list(scenario["workload"])
        self.components = component_paths(scenario)

    def __call__(self, replication: int, part: int, plain: list[bytes], legs: list[tuple[bytes, bytes]]) -> None:
        """Write one part."""
        import numpy as np  # noqa: PLC0415
        import polars  # noqa: PLC0415

        def column(raw: bytes) -> Any:
            return np.frombuffer(raw, dtype="<u8")

        columns = dict(zip(PLAIN, map(column, plain), strict=True))
        for path, (waiting, service) in zip(self.components, legs, strict=True):
            columns |= {f"{path} waiting_ns": column(waiting), f"{path} service_ns": column(service)}
        frame = polars.DataFrame(columns).select(
            polars.lit(replication, polars.UInt64).alias("replication"),
            polars.col("stream").replace_strict(dict(enumerate(self.streams)), return_dtype=polars.String),
            polars.when(polars.col("write") == 1).then(polars.lit("write")).otherwise(polars.lit("read")).alias("op"),
            polars.exclude("stream", "write"),
        )
        with whole(self.folder / f"replication-{replication:05}-part-{part:05}.parquet") as file:
            frame.write_parquet(file)


def component_paths(scenario: dict[str, Any]) -> list[str]:
    """Return the paths of all components in the order in which a run counts them: each target, then what it contains.

    >>> station = {"type": "station"}
    >>> array = {"type": "array", "of": "leaf", "disks": 2}
    >>> component_paths({"system": {"leaf": station, "tds": array}, "workload": {"users": {"to": "tds"}}})
    ['tds', 'tds/leaf[0]', 'tds/leaf[1]']
    """
    system = scenario["system"]

    def paths(name: str, path: str) -> list[str]:
        spec = system[name]
        inner = range(spec["disks"]) if spec["type"] == "array" else range(0)
        return [path, *(below for disk in inner for below in paths(spec["of"], f"{path}/{spec['of']}[{disk}]"))]

    targets = dict.fromkeys(stream["to"] for stream in scenario["workload"].values())
    return [path for target in targets for path in paths(target, target)]
