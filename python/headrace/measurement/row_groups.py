"""Row groups of parquet files, as DLIO reads them: once for the samples that follow each other in one."""

from dataclasses import dataclass
from typing import Any

# Rows of a group where a file does not say: pyarrow's default.
ROWS = 1 << 20
BYTES = {"int8": 1, "uint8": 1, "bool": 1, "float16": 2, "float32": 4, "int32": 4, "float64": 8, "int64": 8}


@dataclass(frozen=True)
class RowGroups:
    """How rows lie in a file, and which of their columns are read."""

    rows: int
    """Rows of a group."""
    share: float
    """Share of the bytes of a row that are read."""
    columns: int
    """Columns that are read; 0 if all are, one behind another."""

    def reads(self, batch: int) -> int:
        """Return the number of row groups that have as many rows as a batch, at least one."""
        return max(round(batch / self.rows), 1)

    def chunk(self, record: float) -> float:
        """Return the bytes of a row group that are read in one piece: of all columns, or of one, on average."""
        return self.rows * record * self.share / max(self.columns, 1)


def of(rows: int, columns: list[dict[str, Any]]) -> RowGroups:
    """Return the row groups of a file with these `columns`, as the configuration has them.

    >>> of(100, [{"dtype": "float32", "size": 3, "read": True}, {"dtype": "int8", "size": 4, "read": False}])
    RowGroups(rows=100, share=0.75, columns=1)
    """
    sizes = [
        (BYTES.get(str(one.get("dtype")), 4) * int(one.get("size") or 1), one.get("read", True)) for one in columns
    ]
    wanted, every = sum(size for size, read in sizes if read), sum(size for size, _ in sizes)
    if not wanted or wanted == every:
        return RowGroups(rows, 1.0, 0)
    return RowGroups(rows, wanted / every, sum(bool(read) for _, read in sizes))
