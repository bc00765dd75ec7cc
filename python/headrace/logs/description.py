"""Description of a synthetic log: a YAML document, checked field by field."""

import csv
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import numpy as np
import yaml
from numpy.typing import NDArray

from headrace import _core
from headrace.errors import read_text, refusal

FOLDER = Path(__file__).parent / "descriptions"
MOST_FILES = 10**8


Floats = NDArray[np.float64]

# Numbers with a unit, by the name of their kind.
Size = Annotated[float, "size"]  # Bytes.
Time = Annotated[float, "time"]  # Seconds.
Rate = Annotated[float, "data rate"]  # Bytes per second.
Share = Annotated[float, "share"]  # From 0 to 1.
Text = Annotated[str, "text"]  # A file, or the name of a column.


@dataclass(frozen=True)
class Histogram:
    """A measured histogram of sizes: a CSV file with the least size of each bin, in bytes, and its number of files."""

    file: Text
    from_: Text = "from"  # The column of the least sizes.
    count: Text = "count"

    def bins(self) -> tuple[Floats, Floats]:
        """Return the ends of the bins (the last one doubles), and the share of files below each.

        Raises `ValueError` where the file is no histogram.
        """
        try:
            rows = list(csv.DictReader(Path(self.file).read_text(encoding="utf-8").splitlines()))
            found = sorted((float(row[self.from_]), float(row[self.count])) for row in rows)
        except KeyError as missing:
            has = ", ".join(rows[0]) if rows else "nothing"
            raise ValueError(f"{self.file} has no column {missing}; it has {has}") from None
        except (OSError, TypeError, ValueError, csv.Error) as error:
            raise ValueError(f"{self.file} is no histogram: {getattr(error, 'strerror', None) or error}") from None
        least, count = (
            (np.array(column) for column in zip(*found, strict=True)) if found else (np.zeros(0), np.zeros(0))
        )
        if (
            not count.sum() > 0
            or (count < 0).any()
            or (np.diff(least) <= 0).any()
            or not 0 <= least[0] <= least[-1] < 2**62
        ):
            raise ValueError(f"{self.file}: bins must begin at different sizes from 0 B, and hold 0 or more files")
        return np.append(least, max(2 * least[-1], 1)), np.append(0, np.cumsum(count)) / count.sum()


@dataclass(frozen=True)
class Sizes:
    """A class of file sizes: lognormal, or measured."""

    median: Size = 0
    ln_sd: float = 0
    least: Size = 0
    histogram: Histogram | None = None


@dataclass(frozen=True)
class Kind:
    """Operations of one kind, which come in sessions of one user each."""

    op: str
    files: int
    session: float  # Mean number of files in a session.
    sizes: dict[str, Share]  # The share of each class.
    session_most: int = 1000
    staged: bool = False  # True if each file has to be read from tape first.
    largest: Size = 2.0**62
    reread: Share = 0  # The share of gets of a file that the user put before, where there is one.
    companions: dict[str, float] = field(default_factory=dict)  # Files of another kind that come with each file.


@dataclass(frozen=True)
class Scaled:
    """A class of sizes, scaled so that all files of an operation have the given total."""

    sizes: str
    op: str
    total: Size


@dataclass(frozen=True)
class BetweenHosts:
    """How hosts differ: the standard deviation over the mean of what each has, which is lognormal."""

    rate: float = 0  # Of `client_rate`.
    latency: float = 0


@dataclass(frozen=True)
class Stalls:
    """Transfers that stand still once, because their host swaps the process out: for an exponential time."""

    share: Share
    mean: Time


@dataclass(frozen=True)
class Failures:
    """Attempts that fail after a part of their transfer, uniform from none to all of it, and are made again."""

    share: Share
    retry_after: Time = 0
    attempts: int = 3  # At most; a request whose attempts all fail moves nothing.


@dataclass(frozen=True)
class Transfers:
    """Durations of transfers: a latency, then a share of a chain of disks."""

    put_latency: Time
    get_latency: Time
    rate: Rate
    shared: Rate  # Of one chain.
    jitter: Time = 0  # Mean of an exponential time added to each latency.
    chains: int = 1  # Each shares its `shared` among what goes over it.
    in_turn: int = 1  # Number of successive files on one chain before the next chain.
    user_limit: int = 1_000_000  # Maximum number of concurrent transfers of a user.
    client_rate: Rate = float("inf")  # The most that a client sends or receives, the mean over hosts.
    between_hosts: BetweenHosts = field(default_factory=BetweenHosts)
    stalls: Stalls | None = None
    failures: Failures | None = None
    whole_seconds: Share = 0  # Of sessions by FTP, whose times the log of transfers has in whole seconds, or 0.499.


@dataclass(frozen=True)
class Branch:
    """One branch of the time that the tape takes."""

    share: Share
    from_: Time
    mean: Time
    most: Time = float("inf")


@dataclass(frozen=True)
class Description:
    """Description of a synthetic log."""

    name: str
    start: date
    days: float
    users: int
    sizes: dict[str, Sizes]
    kinds: dict[str, Kind]
    gap: Time = 1  # Mean time between the files of a session.
    popularity: float = 1.0  # The exponent of Zipf's law over users.
    hosts: list[str] = field(default_factory=lambda: ["j"])
    quiet: Share = 1  # The rate in the quietest hour of a day, as a share of that in the busiest.
    burst: float = 1.0  # Standard deviation of ln(files in a session).
    between: Share = 0  # The share of the variance of ln(size) that lies between sessions.
    largest: Size = 2.0**62
    empty: Share = 0  # The share of puts of files of 0 bytes. Simulations get them as 1 byte.
    scaled: Scaled | None = None
    transfers: Transfers | None = None
    staging: list[Branch] = field(default_factory=list)


def load(given: str | Path) -> Description:
    """Read a description: a file, or the name of one that comes with headrace (`llnl-unitree`).

    Raises `ScenarioError` with the place of the mistake, what was found, and the fix.
    """
    own = FOLDER / f"{given}.yaml"
    file = own if own.is_file() and not Path(given).exists() else Path(given)
    try:
        document = yaml.safe_load(read_text(file))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise refusal(file, f"{file} is not YAML: {' '.join(str(error).split())}", "see llnl-unitree.yaml") from None
    try:
        found: Description = _beside(_read(Description, document, ""), file.parent)
        _check(found)
    except ValueError as error:
        raise refusal(file, f"{file}: {error}", "`headrace logs synthesise --help` names a complete example") from None
    return found


def _beside(found: Description, folder: Path) -> Description:
    """Return a description whose files are relative to its own."""
    sizes = {
        name: replace(one, histogram=one.histogram and replace(one.histogram, file=str(folder / one.histogram.file)))
        for name, one in found.sizes.items()
    }
    return replace(found, sizes=sizes)


def _read(kind: Any, value: Any, place: str) -> Any:
    """Return a value as its type has it; `place` is where it stands."""
    if get_origin(kind) is dict:
        inner = get_args(kind)[1]
        return {str(name): _read(inner, one, f"{place}.{name}") for name, one in _mapping(value, place).items()}
    if get_origin(kind) is list:
        if not isinstance(value, list):
            raise ValueError(f"`{place}` is {_shown(value)}, not a list")
        return [_read(get_args(kind)[0], one, f"{place}[{at}]") for at, one in enumerate(value)]
    if get_origin(kind) is Annotated:
        return _quantity(kind.__metadata__[0], value, place)
    if get_args(kind):  # Optional.
        return _read(get_args(kind)[0], value, place)
    return _record(kind, value, place) if hasattr(kind, "__dataclass_fields__") else _value(kind, value, place)


def _record(kind: Any, value: Any, place: str) -> Any:
    given = dict(_mapping(value, place))
    known = {one.name.rstrip("_"): one for one in fields(kind)}
    if unknown := [name for name in given if name not in known]:
        where = f" in `{place}`" if place else ""
        raise ValueError(f"unknown field `{unknown[0]}`{where}; fields are {', '.join(known)}")
    needed = [name for name, one in known.items() if one.default is MISSING and one.default_factory is MISSING]
    if missing := [name for name in needed if name not in given]:
        are = "are" if missing[1:] else "is"
        named = ", ".join(f"`{name}`" for name in missing)
        raise ValueError(f"{named} {are} missing{f' in `{place}`' if place else ''}")
    types = kind.__annotations__
    values = {known[name].name: (one, f"{place}.{name}".lstrip(".")) for name, one in given.items()}
    return kind(**{name: _read(types[name], one, where) for name, (one, where) in values.items()})


def _mapping(value: Any, place: str) -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"`{place or 'the document'}` is {_shown(value)}, not a mapping of fields")
    return value


def _shown(value: Any) -> str:
    return "empty" if value is None else f"`{str(value)[:60]}`"


def _value(kind: Any, value: Any, place: str) -> Any:
    if kind is date:
        return _date(value, place)
    if kind is str:
        if not isinstance(value, str) or not value.isascii() or not value.replace("-", "").replace("_", "").isalnum():
            raise ValueError(f"`{place}` is {_shown(value)}; give a word of letters, digits, `-` and `_`")
        return value
    if kind is bool:
        if not isinstance(value, bool):
            raise ValueError(f"`{place}` is {_shown(value)}, neither true nor false")
        return value
    return _number(kind, value, place)


def _number(kind: Any, value: Any, place: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e300:
        raise ValueError(f"`{place}` is {_shown(value)}, not a number of 0 or more")
    if kind is int and (value != int(value) or not 1 <= value <= MOST_FILES):
        raise ValueError(f"`{place}` is {value}; give a whole number from 1 to {MOST_FILES:,}")
    return kind(value)


def _date(value: Any, place: str) -> date:
    if type(value) is not date or not 1900 <= value.year <= 2200:
        raise ValueError(f"`{place}` is {_shown(value)}, not a date such as 1998-05-01")
    return value


def _quantity(kind: str, value: Any, place: str) -> Any:
    if kind == "text":
        if not isinstance(value, str) or not value or "\0" in value:
            raise ValueError(f"`{place}` is {_shown(value)}, not a text")
        return value
    if kind == "share":
        share = float(_number(float, value, place))
        if share > 1:
            raise ValueError(f"`{place}` is {value}; give a share from 0 to 1")
        return share
    try:
        return _core.quantity(kind, str(value)) / (1e9 if kind == "time" else 1)
    except ValueError as error:
        raise ValueError(f"`{place}`: {error}") from None


def _check(found: Description) -> None:
    """Refuse what each field allows, and all of them together do not."""
    if not 0 < found.days <= 3660:
        raise ValueError(f"`days` is {found.days:g}; give a number above 0 and at most 3660")
    if not found.hosts:
        raise ValueError("`hosts` is empty; name at least one, a letter each")
    if wrong := [host for host in found.hosts if len(host) != 1 or not host.isalpha() or host == "s"]:
        raise ValueError(f"`hosts` has `{wrong[0]}`; give letters other than `s`, which is storage")
    if found.gap <= 0 or found.burst > 5 or found.popularity > 10:
        raise ValueError("`gap` must be above 0, `burst` at most 5 and `popularity` at most 10")
    for name, sizes in found.sizes.items():
        if sizes.histogram:
            _check_histogram(name, sizes)
        elif sizes.median < 1 or sizes.ln_sd > 10:
            raise ValueError(f"`sizes.{name}`: the median must be 1 B or more, and `ln_sd` at most 10")
    for name, kind in found.kinds.items():
        _check_kind(found, name, kind)
    if found.scaled and (found.scaled.sizes not in found.sizes or found.scaled.op not in ("get", "put")):
        raise ValueError(f"`scaled` names no class of `sizes` ({', '.join(found.sizes)}), or neither get nor put")
    _check_times(found)


def _check_histogram(name: str, sizes: Sizes) -> None:
    assert sizes.histogram
    if sizes.median or sizes.ln_sd:
        raise ValueError(f"`sizes.{name}` has a `histogram`, so it takes no `median` and no `ln_sd`")
    try:
        sizes.histogram.bins()
    except ValueError as error:
        raise ValueError(f"`sizes.{name}.histogram`: {error}") from None


def _check_kind(found: Description, name: str, kind: Kind) -> None:
    place = f"`kinds.{name}`"
    if kind.op not in ("get", "put"):
        raise ValueError(f"{place}: `op` is `{kind.op}`; operations are get and put")
    if kind.op == "put" and (kind.staged or kind.reread):
        raise ValueError(f"{place}: `staged` and `reread` are for gets")
    if kind.session < 1:
        raise ValueError(f"{place}: a `session` has at least 1 file on average")
    if unknown := [one for one in kind.sizes if one not in found.sizes]:
        raise ValueError(f"{place}: unknown class of sizes `{unknown[0]}`; there are {', '.join(found.sizes)}")
    if not abs(sum(kind.sizes.values()) - 1) < 1e-9:
        raise ValueError(f"{place}: the shares in `sizes` add up to {sum(kind.sizes.values()):g}, not 1")
    if unknown := [one for one in kind.companions if one not in found.kinds or found.kinds[one].op != kind.op]:
        raise ValueError(f"{place}: `companions` names `{unknown[0]}`, which is unknown for {kind.op}")
    for one in kind.sizes:
        if found.sizes[one].least >= min(kind.largest, found.largest):
            raise ValueError(f"{place}: the smallest file of `{one}` is not below the largest allowed")


def _check_times(found: Description) -> None:
    times = found.transfers
    if times and (times.rate <= 0 or times.shared <= 0):
        raise ValueError("`transfers`: `rate` and `shared` must be above 0")
    if times:
        _check_clients(times)
    if found.staging and not abs(sum(one.share for one in found.staging) - 1) < 1e-6:
        raise ValueError(f"`staging`: shares add up to {sum(one.share for one in found.staging):g}, not 1")
    if any(one.mean <= 0 or one.most <= one.from_ for one in found.staging):
        raise ValueError("`staging`: `mean` must be above 0, and `most` above `from`")
    if times and not found.staging and any(kind.staged for kind in found.kinds.values()):
        raise ValueError("`staging` is missing: some gets are staged, and transfers have times")


def _check_clients(times: Transfers) -> None:
    if max(times.between_hosts.rate, times.between_hosts.latency) > 100:
        raise ValueError("`transfers.between_hosts`: a coefficient of variation is at most 100")
    if times.between_hosts.rate and times.client_rate == float("inf"):
        raise ValueError("`transfers.between_hosts.rate`: there is no `client_rate` that could differ")
    if times.failures and times.failures.attempts > 100:
        raise ValueError("`transfers.failures.attempts` is at most 100")
