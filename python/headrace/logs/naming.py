"""Names for the files of a log that has none, by the rule of the 1998 report."""

from collections import Counter
from collections.abc import Iterable, Iterator

import polars as pl

from headrace.logs.rows import KEYS

PUT = pl.col("op") == "put"
STAGED = (pl.col("op") == "stage") | pl.col("staged").fill_null(False)


def names(rows: Iterable[pl.DataFrame], puts: pl.Series) -> Iterator[pl.DataFrame]:
    """Yield rows, sorted by when they were asked for, with `file`; `puts` is what `latest_puts` found for them.

    A put is a new file, and so is what was staged. Any other get is of the latest put of the same size, or of a file
    that was there from the beginning, one for each size.
    """
    first = 0
    for batch in rows:
        numbered = batch.with_row_index("row", first).with_columns(put=puts.slice(first, batch.height))
        there, name = "p" + pl.col("bytes").cast(pl.String), pl.coalesce(_number("f", "put"), pl.lit(""))
        other = pl.when(pl.col("put").is_null()).then(there).otherwise(name)
        new = pl.when(PUT).then(_number("f", "row")).when(STAGED).then(_number("t", "row"))
        yield numbered.with_columns(file=new.otherwise(other)).drop("row", "put")
        first += batch.height


def _number(letter: str, column: str) -> pl.Expr:
    return letter + pl.col(column).cast(pl.String).str.zfill(7)


def latest_puts(rows: Iterable[pl.DataFrame]) -> pl.Series:
    """Return for each row, sorted by `asked`, the last put of the same size that was asked for by then, or null."""
    narrow, first = [pl.DataFrame(schema={"row": pl.UInt32, "bytes": pl.Int64, "put": pl.Boolean})], 0
    for batch in rows:
        # At one instant, puts come first.
        in_turn = batch.with_row_index("row", first).with_columns(put=PUT).sort(KEYS["asked"], ~PUT)
        narrow.append(in_turn.select("row", "bytes", "put"))
        first += batch.height
    by_size = pl.concat(narrow).sort("bytes", maintain_order=True)
    put, size = (pl.when("put").then(name).forward_fill() for name in ("row", pl.col("bytes").fill_null(-1)))
    latest = by_size.select("row", latest=pl.when(size == pl.col("bytes")).then(put))
    return latest.sort("row")["latest"]


def counted(named: pl.DataFrame) -> Counter[str]:
    """Count what naming the files did."""
    gets = named.filter(pl.col("op") == "get")
    first = gets["file"].str.slice(0, 1)
    return Counter({
        "puts: a new file each": named.filter(PUT).height,
        "staged gets: a new file each, on tape": int((first == "t").sum()),
        "other gets: the latest put of the same size": int((first == "f").sum()),
        "other gets: a file that was there before": int((first == "p").sum()),
    })  # fmt: skip
