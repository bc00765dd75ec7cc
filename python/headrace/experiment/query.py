"""Questions to a store, in SQL: they read what it holds, change nothing, and reach no other file."""

import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

from headrace.errors import refusal
from headrace.experiment.stored import check_sum, frame, manifest

QueryRows = Iterator[tuple[Any, ...]]

HELP = 'the tables are `records` and `points`; names with dots stand in "…"'
# Nothing outside, and nobody can take that back.
CLOSED = (
    "SET enable_external_access = false",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET python_enable_replacements = false",
    "SET lock_configuration = true",
    "BEGIN TRANSACTION READ ONLY",
)


@contextmanager
def asked(folder: str | Path, sql: str) -> Iterator[tuple[list[str], QueryRows]]:
    """Ask a store by SQL (DuckDB's): the table `records` has all of them, `points` their means by point.

    Gives the names of the columns, each once, and the rows as they are found, which may be more than fit into memory.
    Raises `ScenarioError` with DuckDB's words where it does not understand.
    """
    import duckdb

    with duckdb.connect() as database:
        try:
            _fill(database, Path(folder))
            for setting in CLOSED:
                database.execute(setting)
            found = _answer(database, _question(database, sql))
            yield _distinct([column[0] for column in found.description]), _rows(found)
        except duckdb.Error as error:
            raise refusal(sql, str(error), HELP) from None


def query(folder: str | Path, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Ask a store as `asked` does, and return the names of the columns and all rows."""
    with asked(folder, sql) as (columns, rows):
        return columns, list(rows)


def plain(value: Any) -> Any:
    """Return a value as JSON has it: NaN is null, times and the like are text.

    >>> plain([1.5, float("nan"), {1: Decimal("0.5")}])
    [1.5, None, {'1': 0.5}]
    """
    if isinstance(value, float | Decimal):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _fill(database: Any, folder: Path) -> None:
    """Load all records, before the way to files is closed."""
    with _as_parquet(folder) as file:
        database.execute(f"CREATE TABLE records AS SELECT * FROM read_parquet('{_quoted(file)}')")
    database.execute(f"CREATE VIEW points AS {_by_point(database, manifest(folder)['places'])}")


def _question(database: Any, sql: str) -> str:
    """Return the one question that is asked; refuse several, and what does more than ask."""
    statements = database.extract_statements(sql)
    if not statements:
        raise refusal(sql, "empty query", "write one such as `select * from points`")
    if len(statements) > 1:
        raise refusal(sql, f"there are {len(statements)} statements", "ask one question at a time")
    [statement] = statements
    if statement.type.name not in ("SELECT", "EXPLAIN"):
        message = f"`{statement.type.name}` is refused: a store is read-only"
        raise refusal(sql, message, "ask with `select`, such as `select * from points`")
    return str(statement.query).rstrip("; \n\t")


def _answer(database: Any, question: str) -> Any:
    """Ask; times with a zone become text, since Python has no zones of its own."""
    found = database.execute(question)
    kinds = [str(column[1]) for column in found.description]
    if not any("TIME ZONE" in kind for kind in kinds):
        return found
    names = [f'"{name}"' for name in _distinct([column[0].replace('"', '""') for column in found.description])]
    shown = [
        f"CAST({name} AS VARCHAR) AS {name}" if "TIME ZONE" in kind else name
        for name, kind in zip(names, kinds, strict=True)
    ]
    return database.execute(f"SELECT {', '.join(shown)} FROM ({question}\n) AS asked({', '.join(names)})")


def _rows(found: Any) -> QueryRows:
    while some := found.fetchmany(1000):
        yield from some


def _distinct(names: list[str]) -> list[str]:
    """Return names of which none comes twice: the second `x` is `x (2)`.

    >>> _distinct(["x", "y", "x", "x"])
    ['x', 'y', 'x (2)', 'x (3)']
    """
    told: list[str] = []
    for name in names:
        many, one = 1, name
        while one in told:
            many, one = many + 1, f"{name} ({many + 1})"
        told.append(one)
    return told


@contextmanager
def _as_parquet(folder: Path) -> Iterator[Path]:
    """Give one Parquet file with all records: the store's own where no journal has more."""
    file = folder / "records.parquet"
    if file.exists() and not any((folder / "journal").glob("*.jsonl")):
        check_sum(folder)
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
