"""Names for the files of a log that has none, by the rule of the 1998 report."""

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from headrace.logs.rows import KEYS

PUT, STAGED = pl.col("op") == "put", pl.col("staged").fill_null(False)


def names(rows: Iterable[pl.DataFrame], puts: NDArray[np.int64]) -> Iterator[pl.DataFrame]:
    """Yield rows, sorted by when they were asked for, with `file`; `puts` is what `latest_puts` found for them.

    A put is a new file, and so is what was staged. Any other get is of the latest put of the same size, or of a file
    that was there from the beginning, one for each size.
    """
    first = 0
    for batch in rows:
        latest = pl.Series(puts[first : first + batch.height])
        numbered = batch.with_row_index("row", first).with_columns(put=pl.when(latest >= 0).then(latest))
        there, name = "p" + pl.col("bytes").cast(pl.String), pl.coalesce(_number("f", "put"), pl.lit(""))
        other = pl.when(pl.col("put").is_null()).then(there).otherwise(name)
        new = pl.when(PUT).then(_number("f", "row")).when(STAGED).then(_number("t", "row"))
        yield numbered.with_columns(file=new.otherwise(other)).drop("row", "put")
        first += batch.height


def _number(letter: str, column: str) -> pl.Expr:
    return letter + pl.col(column).cast(pl.String).str.zfill(7)


def latest_puts(rows: Iterable[pl.DataFrame]) -> NDArray[np.int64]:
    """Return for each row, sorted by `asked`, the last put of the same size that was asked for by then; -1 for none."""
    narrow = [row.select("bytes", asked=KEYS["asked"], put=PUT) for row in rows]
    if not narrow:
        return np.zeros(0, dtype=np.int64)
    whole = pl.concat(narrow)
    put, size = whole["put"].to_numpy(), whole["bytes"].fill_null(-1).to_numpy()
    # At one instant, puts come first.
    order = np.lexsort((~put, whole["asked"].to_physical().to_numpy(), size))
    latest = np.maximum.accumulate(np.where(put[order], np.arange(len(order)), -1))
    known = (latest >= 0) & (size[order] >= 0) & (size[order[latest]] == size[order])
    found = np.empty(len(order), dtype=np.int64)
    found[order] = np.where(known, order[latest], -1)
    return found


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
