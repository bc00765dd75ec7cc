"""Every request of a run, as Parquet files: what it asked, when it was made and answered, and where its time went."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.files import as_parquet, tidy, whole

if TYPE_CHECKING:
    import polars

PLAIN = ("stream", "op", "address", "bytes", "issued_ns", "completed_ns", "user", "last")
LEGS = ("waiting_ns", "service_ns", "blocked_ns")

# What requests ask, by number.
OPERATIONS = (
    "read", "write", "get", "put", "stage", "delete", "session", "recall", "discard", "flush", "cancel",
)  # fmt: skip


class RequestLog:
    """Takes the parts of a run's log and writes each to a file of its own in `folder`, whole or not at all.

    The files are named `replication-00000-part-00000.parquet`, 250,000 rows each. Columns: `replication`, `stream`,
    `op`, `address` (of a file operation: the file), `bytes`, `issued_ns`, `completed_ns`, `last` (the component that
    served it last), for each group of components `GROUP waiting_ns`, `GROUP service_ns` and `GROUP blocked_ns` along
    the path that decided when the request was answered (a row's legs add up to its response time), and `user` (of a
    replayed log; null where it names none). A group is a component of `system`, or all copies of a part:
    `volume/spindle`. Of tape libraries and archives, there are also `queued_ns`, the time for which limits and ports of
    fronts held it back, and `tape_waiting_ns` and `tape_service_ns` of all libraries: with these, `headrace logs
    analyse` reads the files as a log.
    """

    def __init__(
        self,
        folder: str | Path,
        streams: list[str],
        components: list[str],
        groups: list[str],
        kinds: dict[str, str],
        users: dict[int, str],
    ) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        tidy(self.folder)
        if any(file.name[0] != "." for file in self.folder.glob("*.parquet")):
            raise FileExistsError(17, "there are Parquet files already; name another folder", str(folder))
        self.streams, self.components, self.groups, self.users = streams, components, groups, users
        of = {kind: [group for group in groups if kinds.get(group) == kind] for kind in ("front", "tape_library")}
        self.sums = (
            {
                "queued_ns": [f"{front} {leg}" for front in of["front"] for leg in ("waiting_ns", "blocked_ns")],
                "tape_waiting_ns": [
                    f"{tapes} {leg}" for tapes in of["tape_library"] for leg in ("waiting_ns", "blocked_ns")
                ],
                "tape_service_ns": [f"{tapes} service_ns" for tapes in of["tape_library"]],
            }
            if of["tape_library"]
            else {}
        )
        self.lost: OSError | None = None

    def __call__(self, replication: int, part: int, plain: list[bytes], legs: list[list[bytes]]) -> None:
        """Write one part; after one that cannot be written (a full disk) no more, so that the run keeps its answer."""
        if self.lost:
            return
        try:
            self._write(replication, part, plain, legs)
        except OSError as error:
            self.lost = error

    def _write(self, replication: int, part: int, plain: list[bytes], legs: list[list[bytes]]) -> None:
        import polars

        named = [
            polars.lit(replication, polars.UInt64).alias("replication"),
            polars.col("stream").replace_strict(dict(enumerate(self.streams)), return_dtype=polars.String),
            polars.col("op").replace_strict(dict(enumerate(OPERATIONS)), return_dtype=polars.String),
            polars.exclude("stream", "op", "user", "last"),
            self._user(),
            *(
                polars.sum_horizontal(polars.lit(0, polars.UInt64), *legs).alias(name)
                for name, legs in self.sums.items()
            ),
        ]
        last = polars.Series("last", self.components, dtype=polars.String)
        frame = polars.DataFrame(self._columns(plain, legs))
        served_last = last.gather(frame["last"]).cast(polars.Categorical)
        with whole(self.folder / f"replication-{replication:05}-part-{part:05}.parquet") as file:
            file.write_bytes(as_parquet(frame.select(*named).insert_column(7, served_last)))

    def _user(self) -> "polars.Expr":
        """Return the names of users, null where a number has none."""
        import polars

        if not self.users:
            return polars.lit(None, polars.Categorical).alias("user")
        numbers = polars.Series(list(self.users), dtype=polars.UInt64)
        names = polars.Series(list(self.users.values()))
        return polars.col("user").replace_strict(numbers, names, default=None).cast(polars.Categorical)

    def _columns(self, plain: list[bytes], legs: list[list[bytes]]) -> dict[str, Any]:
        import numpy as np

        def column(raw: bytes) -> Any:
            return np.frombuffer(raw, dtype="<u8")

        columns = dict(zip(PLAIN, map(column, plain), strict=True))
        for group, times in zip(self.groups, legs, strict=True):
            columns |= {f"{group} {leg}": column(raw) for leg, raw in zip(LEGS, times, strict=True)}
        return columns
