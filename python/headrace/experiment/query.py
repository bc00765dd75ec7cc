"""Questions to a store, in SQL."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from headrace.experiment.stored import frame, manifest
from headrace.mistakes import refusal


def query(folder: str | Path, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Ask a store by SQL (DuckDB's): the table `records` has all of them, `points` their means by point.

    Returns the names of the columns and the rows. Raises `ScenarioError` with DuckDB's words where it does not
    understand.
    """
    import duckdb  # noqa: PLC0415 - it takes longer to load than `headrace --help` may

    with _as_parquet(Path(folder)) as file, duckdb.connect() as database:
        try:
            database.execute(f"CREATE VIEW records AS SELECT * FROM read_parquet('{_quoted(file)}')")
            database.execute(f"CREATE VIEW points AS {_by_point(database, manifest(folder)['places'])}")
            found = database.execute(sql)
            if found is None or not found.description:
                raise refusal(sql, "there is no question", "such as `select * from points`")
            return [column[0] for column in found.description], found.fetchall()
        except duckdb.Error as error:
            help_ = 'the tables are `records` and `points`; names with dots stand in "…"'
            raise refusal(sql, str(error), help_) from None


@contextmanager
def _as_parquet(folder: Path) -> Iterator[Path]:
    """Give one Parquet file with all records: the store's own where no journal has more."""
    file = folder / "records.parquet"
    if file.exists() and not any((folder / "journal").glob("*.jsonl")):
        yield file
        return
    with tempfile.TemporaryDirectory(prefix="headrace-") as made:
        frame(folder).write_parquet(Path(made) / "records.parquet")
        yield Path(made) / "records.parquet"


def _quoted(file: Path) -> str:
    return str(file).replace("'", "''")


def _by_point(database: Any, places: list[str]) -> str:
    """Return the query that takes the mean of every metric by point."""
    columns = {name: kind for name, kind, *_ in database.execute("DESCRIBE records").fetchall()}
    by = ", ".join(f'"{name}"' for name in ("point", *places) if name in columns)
    means = [f'avg("{name}") AS "{name}"' for name, kind in columns.items() if kind == "DOUBLE" and name not in places]
    about = ["count(*) AS runs", "bool_and(ok) AS ok", "any_value(reason) AS reason"]
    return f"SELECT {by}, {', '.join(about + means)} FROM records GROUP BY {by}"
