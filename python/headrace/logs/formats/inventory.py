"""An inventory of a cartridge as Fermilab's CTAEvaluation has it from Enstore: a line for each file on it.

`CDMS154706040300003,0000_000000000_0000001,3310025131,1298289360,/pnfs/f`: bit file, location (its last part is the
number of the file on the tape), bytes, checksum, path. The file's name is that of the cartridge: `VR3025M8.csv`. An
inventory has no operations; its time is the date in the file's name, if there is one.
"""

from datetime import datetime

import polars as pl

from headrace.logs.formats.form import Format, is_size, whole

HEADER = "bfid,location_cookie,size,crc,pnfs_path"

INVENTORY = Format(
    name="inventory",
    about=f"`{HEADER}`, a file of a cartridge each",
    example="CDMS154706040300003,0000_000000000_0000001,3310025131,1298289360,/pnfs/fs/f",
    pattern=r"^(?:(?<header>bfid,location_cookie,size,crc,pnfs_path)|(?<bfid>\w+),\d+_\d+_(?<number>\d+),(?<size>\d+),"
    r"(?<crc>\w*),(?<file>.+))$",
    columns={
        "time": pl.coalesce(pl.col("day").cast(pl.Datetime("us")), pl.lit(datetime(1970, 1, 1), pl.Datetime("us"))),
        "op": pl.when(pl.col("header").is_null()).then(pl.lit("stored")),
        "job": pl.col("bfid"),
        "position": whole("number"),
        "bytes": whole("size"),
        "outcome": pl.lit("other"),
    },
    of_cartridge=True,
    wrong={
        "no size": (is_size()[0] & pl.col("header").is_null(), is_size()[1]),
        "no position": (
            pl.col("position").is_null() & pl.col("header").is_null(),
            "a location is three numbers, the last one that of the file on the tape: 0000_000000000_0000001",
        ),
    },
)
