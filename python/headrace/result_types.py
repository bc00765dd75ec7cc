"""Results as Python sees them. Made from the schema by `make types`; a test keeps it the same."""

from __future__ import annotations

from typing import Literal, TypeAlias, TypedDict

from headrace.document import Engine, ScenarioSpec

__all__ = ["Between", "Bottleneck", "BusiestResults", "BusiestStretch", "ClosedLoad", "Comparison", "ComponentResults", "DurabilityData", "End", "Estimate", "FormulaError", "HeadroomTrials", "IntervalResults", "LegResults", "LossCause", "LossTheory", "Measured", "Method", "ObjectiveResults", "PhaseResults", "PhaseStreamResults", "PointResults", "PortionResults", "QuantileResults", "Rebuild", "ResponseResults", "ResultsData", "SimulatedPoint", "SolutionData", "SolvedPoint", "StationLimit", "StepResults", "StreamPoint", "StreamResults", "StreamTheory", "StretchStream", "VolumeDurability"]

class ResultsData(TypedDict):
    """Results of a run."""

    headrace: str
    """Version of headrace."""
    answer: str
    """Summary in a few sentences. It begins with `INCOMPLETE` where the run did not end, and with `FILLING` where most of what was written is still in a cache."""
    notes: list[str]
    """Warnings: limits reached, no steady state, intervals that cannot be trusted."""
    complete: bool
    """True if the run finished; false if a limit or Ctrl-C ended it."""
    ended: End
    """Reason for the end of the run: `done`, `time_up`, `idle`, `time_stands_still`, `too_far`, `too_many_in_flight`, `too_many_parts`, `too_many_events`, `too_long`, `trace_lost` or `cancelled`."""
    engine: Engine
    """Algorithm used, `events` or `recursion`. Both give the same results for streams; those of components differ by the requests in flight at the ends of the run, which a recursion does not count."""
    replications: int
    """Number of independent runs; of a split run, the number that it was split into."""
    simulated_s: float
    """Simulated time of all replications, without warm-up."""
    warm_up_s: float
    """Simulated time discarded as warm-up, of all replications."""
    events: int
    """Number of events processed; 0 for a recursion."""
    objectives: list[ObjectiveResults]
    """One entry per objective of the scenario."""
    streams: list[StreamResults]
    """One entry per stream of the workload."""
    components: list[ComponentResults]
    """One entry per component, each before the components it contains; other fields refer to a component by its index in this list."""
    bottleneck: Bottleneck | None
    """Component with the highest utilisation."""
    busiest_stretch: BusiestStretch | None
    """The busiest segment of the first replication; null if it differs from the mean by less than a quarter, or by no more than chance."""
    theory: list[StreamTheory]
    """Analytic solution for each stream."""
    phases: list[PhaseResults]
    """Results before, between and after faults and rebuilds; empty without faults. For several replications: means over all of them, up to the first phase that differs."""
    series: list[PointResults]
    """Time series: one point for each of at most 64 segments of the first replication, including warm-up."""
    scenario: ScenarioSpec
    """The scenario with its defaults; together with the version it reproduces the run."""

class SolutionData(TypedDict):
    """Solution of a scenario by formulas."""

    answer: str
    """The answer in a few sentences."""
    open: bool
    """True if requests come whatever became of those before them, and the load is a rate; else it is a number of clients."""
    method: str
    """The formulas used."""
    fails: list[str]
    """The assumptions of the formulas that fail, one a sentence: without any, the answer is exact."""
    measured: FormulaError | None
    """Where assumptions fail, a short simulation of the scenario's own load, and the error of the formulas by it. `None` where it is not known."""
    load: float
    """The load that the scenario has: requests per second, or clients."""
    sustains_per_s: float
    """The maximum number of requests per second that the system can answer, at the scenario's mix of streams."""
    knee_clients: float | None
    """The number of clients beyond which requests mostly wait: where the two asymptotic bounds of throughput meet. None for an open network."""
    stations: list[StationLimit]
    """Stations in the order in which they limit the system: the bottleneck, and where it would move next."""
    points: list[SolvedPoint]
    """The answer at several loads, the smallest first."""

class DurabilityData(TypedDict):
    """The chance of data loss."""

    answer: str
    """The answer in a few sentences."""
    notes: list[str]
    """What was left out or assumed, one a sentence."""
    years: float
    """The time that was asked for, in years."""
    mean_years: Estimate
    """Mean time to data loss of the whole system, in years."""
    chance_in_a_year: Estimate
    """Chance of data loss within a year."""
    chance: Estimate
    """Chance of data loss within the time that was asked for."""
    lost_bytes_per_year: float
    """Expected bytes lost in a year."""
    volumes: list[VolumeDurability]
    """Each array, pool, or drive by itself."""

End: TypeAlias = "Literal['done'] | Literal['time_up'] | Literal['idle'] | Literal['time_stands_still'] | Literal['too_far'] | Literal['too_many_in_flight'] | Literal['too_many_parts'] | Literal['too_many_events'] | Literal['too_long'] | Literal['trace_lost'] | Literal['cancelled']"
"""Why a run ended."""

class ObjectiveResults(TypedDict):
    """One objective, and what was found."""

    name: str
    """Stream or operation, as the scenario names it."""
    objective: str
    """The objective in words: `99 % within 10 min`."""
    of: str
    """Full name of the stream or operation: `users`, or `users.reads`."""
    asked: float
    """Share of requests that must be in time."""
    within_ms: float
    """The time."""
    share: float
    """Share of requests that was in time. Requests of the stream that were dropped, expired or failed were not, nor those that waited at the end of a run that ended because nothing went on, or because too many did."""
    half_width: float | None
    """Half-width of the 95 % confidence interval of `share`: from replications, or from the segments of a single run; null if a single run is too short, or has no steady state: one with faults, of a replayed recording, or at a rate that varies is taken as it is."""
    met: bool | None
    """True if the objective is met all over the interval, false if it is missed all over it; null if the run does not decide it, no request was answered, or it seems to be met by a run that ended early."""

# Results of one stream.
StreamResults = TypedDict(
    "StreamResults",
    {
        # Name.
        "name": "str",
        # Server that issues the requests; null if they arrive directly at `to`.
        "from": "str | None",
        # Target component.
        "to": "str",
        # Group of the first component on the path: `to`, or the route to it.
        "enters": "str",
        # Requests issued, including warm-up.
        "issued": "int",
        # Requests completed, including warm-up.
        "completed": "int",
        # Requests in flight at the end.
        "in_flight": "int",
        # Requests dropped at the limit on requests in flight (`outstanding`, `when_full: drop`), including warm-up.
        "dropped": "int",
        # Requests not completed within their `timeout`, including warm-up; response times exclude them.
        "expired": "int",
        # Requests that failed because a component had failed or data was lost, including warm-up; response times exclude them.
        "failed": "int",
        # Share of time in which the source was blocked (`outstanding`, `when_full: wait`); null without a limit.
        "blocked": "float | None",
        # Throughput.
        "requests_per_s": "float",
        # Throughput in bytes.
        "bytes_per_s": "float",
        # Breakdown of the mean response time by component, along the critical path of each request; the times add up to the mean.
        "path": "list[LegResults]",
        # Response times of all requests.
        "response": "ResponseResults",
        # As `response`, for reads; null unless the stream has reads and writes.
        "reads": "ResponseResults | None",
        # As `response`, for writes; null unless the stream has reads and writes, or flushes.
        "writes": "ResponseResults | None",
        # As `response`, by operation, for a replayed log with several operations: `get`, `put`, `stage`, `delete`, `session`, and `recall`: the gets and stages whose file was read from tape; `flush` for a stream with `flush_every`; otherwise empty.
        "operations": "dict[str, ResponseResults]",
        # CDF of response times at 500 equally spaced shares, at fewer where there were fewer responses.
        "cdf": "list[list[float | float]]",
        # For training in steps: utilisation and stalls of its accelerators; null for other streams.
        "steps": "StepResults | None",
        # For a replayed trace with response times: measured values, and errors of the simulation.
        "measured": "Measured | None",
    },
)

class LegResults(TypedDict):
    """One component on the path of requests."""

    component: str
    """Group of components: all copies of one part."""
    waiting_ms: float
    """Mean waiting time."""
    service_ms: float
    """Mean service time."""
    blocked_ms: float
    """Mean time after service in which the next component had no space."""

class ResponseResults(TypedDict):
    """Response times."""

    count: int
    """Number of requests."""
    mean_ms: float
    """Mean."""
    half_width_ms: float | None
    """Half-width of the 95 % confidence interval of the mean; null if the run is too short."""
    interval: IntervalResults | None
    """Method of the interval."""
    settling: float | None
    """Correlation time of response times, as a share of the run after warm-up; 0 if no warm-up was needed, null if the run is too short to estimate it."""
    sd_ms: float
    """Standard deviation."""
    max_ms: float
    """Maximum, including warm-up."""
    slowest: list[LegResults]
    """As `path`, for the slowest requests, about 1 % of all: those that took p99 or longer; of many a sample. Empty in a short run."""
    quantiles_ms: list[QuantileResults]
    """Quantiles p50, p90, p95, p99 and p99.9."""
    quantile_error: float
    """Maximum relative error of a quantile from the resolution of the histogram."""

class IntervalResults(TypedDict):
    """Method of an interval."""

    method: Method
    """`batch_means` for one run, `replications` for several."""
    trusted: bool
    """False if batches are too few or still correlated, replications too short to outweigh the bias of their start, or requests in flight at their ends more than 2 % of those that completed: the interval then covers the mean in fewer than 95 % of cases."""

Method: TypeAlias = "Literal['batch_means'] | Literal['replications']"
"""Method by which an interval was computed."""

class QuantileResults(TypedDict):
    """A quantile."""

    share: float
    """The quantile: 0.99 for p99."""
    ms: float
    """Its value."""
    half_width_ms: float | None
    """Half-width of its 95 % confidence interval, from replications; null for a single run, or if the sample does not reach the upper end."""

class StepResults(TypedDict):
    """Training in steps. Times of a step leave out the first of each epoch and after each checkpoint, before which nothing is prefetched, as DLIO's accounting does."""

    steps: int
    """Steps of all accelerators."""
    au: float | None
    """Accelerator utilisation (AU): computing time ÷ (computing time + stalls); null if there was no such step."""
    prefetched_share: float
    """Share of these steps whose batches may have been fetched before the first of their epoch had ended, while nothing was computed."""
    au_at_most: bool
    """True if that is 0.05 or more, or 0.5 where epochs ended: where storage limits accelerators, a longer run, or one with longer epochs, has a lower `au`."""
    samples_per_s: float
    """Samples processed by all accelerators per second, over all whole steps and checkpoints."""
    stall_ms: float | None
    """Mean time per step that an accelerator waited for its batch, and for the others: at the barrier, and before a checkpoint."""
    start_ms: float | None
    """Mean stall of the steps for which nothing is prefetched."""
    start_share: float
    """Share of computing and stalls of all steps that are the stalls of these."""
    checkpoint_unfinished: bool
    """True if the run ended during a checkpoint, and fewer than twenty had ended: its time is in none of these numbers, and would change them by more than 5 %."""
    checkpoints: int
    """Checkpoints written."""
    checkpoint_ms: float | None
    """Mean time of a checkpoint, from the beginning of all writes to the end of the last, or of its flush; null without checkpoints."""
    longest_checkpoint_ms: float | None
    """Time of the longest checkpoint, warm-up included; null without checkpoints."""
    checkpoint_share: float
    """Share of the time of steps and checkpoints that writing checkpoints took."""
    checkpoint_bytes: float
    """Bytes that all accelerators write of a checkpoint; 0 without checkpoints."""
    restores: int
    """Checkpoints read back."""
    restore_ms: float | None
    """Mean time to read a checkpoint back, from the beginning of all reads to the end of the last; null if none was."""

class Measured(TypedDict):
    """Measured response times, and the errors of the simulation."""

    all: Comparison
    """For all requests."""
    reads: Comparison | None
    """As `all`, for reads."""
    writes: Comparison | None
    """As `all`, for writes."""

class Comparison(TypedDict):
    """Measured and simulated response times of the same requests."""

    n: int
    """Requests compared."""
    measured_mean_ms: float
    """Measured mean."""
    simulated_mean_ms: float
    """Simulated mean."""
    mean_error_percent: float
    """Error of the simulated mean; positive if larger than measured."""
    demerit_ms: float
    """Root mean square distance of the two CDFs: both sorted, √mean (simulated − measured)²."""
    demerit_percent: float
    """Demerit as a percentage of the measured mean."""
    per_request_rms_ms: float
    """√mean (simulated − measured)², paired by request."""
    correlation: float | None
    """Pearson correlation of measured and simulated response times, paired by request; null if either is constant."""
    ks: float
    """Kolmogorov–Smirnov distance of the two CDFs."""
    measured_quantiles_ms: list[list[float | float]]
    """Measured quantiles."""
    measured_cdf: list[list[float | float]]
    """Measured CDF."""

class ComponentResults(TypedDict):
    """Results of one component."""

    path: str
    """Name, prefixed by those of the components that contain it: `tds/spindle[0]`."""
    group: str
    """Path without the numbers of copies: all copies of a part form one group."""
    kind: str
    """Type."""
    written: str
    """Its place in the scenario: `system.tds`, `parts.spindle`, `system.tds.of`."""
    within: int | None
    """Index of the component that contains it; null for those in `system`."""
    uses: list[int]
    """Indices of the components it sends requests to."""
    servers: int
    """Number of servers: the drives of a library, the links of a pool; 0 if it has no queue of its own."""
    utilisation: float | None
    """Share of time in which its servers were busy, for all causes; null if it has no queue of its own. For an array whose writes waited for parity locks: the share of time in which a write waited for the most contended stripe."""
    stalled: float | None
    """Share of time in which its servers were held by requests that waited for another component: a drive for its channel. Not part of `utilisation`; null if none waited."""
    busiest: BusiestResults | None
    """For a front and a tape library: its busiest group of servers that others cannot replace, if that group is busier than all servers together."""
    portions: list[PortionResults]
    """All such groups of servers. For a limit per user or host: that of the user or host closest to it. Empty for other components."""
    unavailable: float | None
    """Mean number of servers that had failed and were not in use, such as drives of a library; `utilisation` is that of the others. Null if none failed."""
    utilisation_by_cause: dict[str, float]
    """Utilisation by cause (`host`, `destage`, `rebuild`, `scrub`, `migration`, `garbage_collection`, `compaction`) if it did background work; otherwise empty."""
    queue: float | None
    """Mean number of waiting requests; of a bucket of a limiter the share of the time in which the first in line waited for it."""
    bytes_per_s: float
    """Throughput in bytes."""
    visits: int
    """Number of requests served."""
    bytes_per_visit: float | None
    """Mean size of a request."""
    waiting_ms: float
    """Mean waiting time."""
    service_ms: float
    """Mean time for which a request held the server. A drive that starts the next command while data of the previous one goes to the host is held for less than the service time in `path`."""
    undestaged: float | None
    """Share of the data written to its cache, after the warm-up, that the cache has not yet passed on; null if nothing was written to a cache. Above 0.1, the components behind it are less busy than in steady state, and `bottleneck.saturates_at` is null."""
    unsettled: bool
    """True if a longer run would find it busier, because work that requests cause is still to come, such as garbage collection."""
    cold: bool
    """True if its cache began empty, and holds more than a tenth of the bytes that came: a longer run would find more in it."""
    state: str | None
    """State at the end of the first replication: `failed`, `degraded`, `unavailable` (more disks are out of use than the level tolerates), `rebuilding`, `copying`, `lost data`; null if it works normally."""
    meters: dict[str, float | None]
    """Further metrics of this type of component: a count, a ratio or a mean level; null if there was nothing to count. Of a drive with a cache: `read_hit_ratio`, `cached_writes`, `destages`; of a channel (`fc_loop`, `scsi_bus`, `sas`): `tenancies`, `command_wait_ms` and `data_wait_ms` (mean waits of a command and of data for it), and of a loop `access_windows`; of an array with redundancy: `accesses_per_request`, with parity `full_stripe_writes`, with `hedge` `hedged_reads`, with `evict_slow` `evicted` (members) and `evicted_slowness` (their mean time over the median of their peers'), with a bitmap `bitmap_writes` (of its page), and after a rebuild or a loss `rebuild_progress` (share of the units to rebuild), `rebuild_s` (duration), `rebuilt_bytes` and `lost_stripes`, with a scrub `scrub_progress` (share of the stripes; of a pool, of its objects), `scrub_s` (duration) and `scrubbed_bytes` (read from all disks); of a copy: `copy_progress` (share of the chunks), `copy_s` (duration), `copied_bytes` and `copied_on_write_bytes` (of them, those that a write waited for); of an archive: `pool_hit_ratio`, `stages`, `purges`, `purged_files`, `purged_bytes`, `stored_to_tape`, `to_tape_ms` (mean time that a file was in the pool before it was stored), `cancelled` (recalls); of a readout: `triggers`, `lost_events`, `lost_share`, `blocked_share` of the time, `blocked_triggers` and `buffered_events` on average; of an event builder: `built_events`, `lost_events`, `held_events`, `waiting_for_a_builder`, `assembling` (share of the time); of a recorder: `recorded_events`, `recorded_bytes`, `written_bytes`, `failed_writes`, `blocked_streams` (on average), `collect_ms` of a write and `write_ms` from then until it is done; of an archive's front: `held_back_by_limits` and `waiting_for_ports` (requests, on average: times the hours, job-hours lost), `held_back_share`; of its network: `inward_busy`, `outward_busy`; of its disk pool: `fill`, `waiting_for_space`; of its tape library: `mounts`, `mounts_per_access`, `locate_ms` (mean time to locate of an access), `most_drives_busy`, `bytes_read`, `bytes_written`, `paths_busy` (drive groups, on average), `passed_through` (mounts in a drive of another group), `back_hitches` (stops of starved drives), `relocated` (cartridges moved to other cells), `cleanings`, `within_deadline` (share of requests that had a drive within the time of their share), once something failed by use `failures`, and once it repacks or verifies cartridges `repack_progress`, `repacked_bytes` (read from old ones), `repack_s`, `verification_progress`, `verified_bytes` and `verification_s`; of a limiter: `refused` requests, and of each of its buckets `fill`; of a pool: `reads_per_request` and `writes_per_request` of drives, `fullest_drive` (the share of its room that it fills over the mean), and once it recovers `recovered_objects` (pieces of objects), `lost_objects`, `rebuild_progress`, `rebuild_s` and `rebuilt_bytes`; of a write-ahead log: `commits_per_flush`, and `write_amplification` (bytes written to the device, per byte of records); of a log-structured merge tree: `write_amplification` (per byte put), `stopped` and `slowed_down` (shares of the time in which puts were), `compactions`, and on average `level0_tables`, `bytes_to_compact`, and, with `fast`, `spilled_bytes` (of tables that had no room there)."""

class BusiestResults(TypedDict):
    """The servers of a component that are busiest, of those that stand in for no others: a class of ports, the drives of a group."""

    what: str
    """Which: `ports[1]` (a class of ports), `drives of groups[0]`, `arms of groups[0]`, `one cartridge`, `reads of shares[0]`, `streams to tape` (of an archive), `per_user of one user` or `per_host of one host`."""
    utilisation: float
    """Share of time in which they were busy."""

class PortionResults(TypedDict):
    """Servers of a component that stand in for no others."""

    what: str
    """Name of the servers."""
    servers: int
    """Number of servers."""
    utilisation: float
    """Share of time in which they were busy, excluding failed servers."""
    queue: float | None
    """Mean number of requests waiting for them; null if that is not known separately."""
    unavailable: float | None
    """Mean number of them that had failed and were not in use; null if none failed."""

class Bottleneck(TypedDict):
    """The component that limits the system."""

    component: str
    """Path."""
    group: str
    """Group."""
    what: str | None
    """The servers that limit it (as `components[].busiest.what`); `queue depth` if the limit is the number of slots that requests hold while other components serve them; null if all servers do."""
    utilisation: float
    """Utilisation of these, for all causes. Of a drive that is busy or stalled for 99.5 % of the time or more, and busy for the greater part of that, it includes the time stalled."""
    saturated: bool
    """True if its utilisation was at least 99.5 %, or 98.5 % in the second half of a run in which requests wait for ever longer, and it fell behind or all streams that reach it are closed."""
    saturates_at: float | None
    """Headroom: the multiple of this load at which it saturates. If it fell behind, the share of the load that was completed. Null if a closed stream reaches it, because its load depends on response times, if it was never idle but responses did not grow, because it serves together what waits, if requests arrive faster than they complete although no component is always busy, if it is a limit that refused more than 0.1 % of the requests, if a longer run would find it busier (`unsettled`, or a cache fills), if requests waited for space, if a replay ended well before other streams, or if the run ended with requests that wait forever."""
    at_least: bool
    """True if headroom is at least `saturates_at`, and not known better: for a component whose utilisation is below a tenth and not proportional to the load, for a disk that mostly writes back, which needs less work per write under more load, and for one that mostly rebuilds, scrubs or copies."""
    closed: ClosedLoad | None
    """Gain from more requests in flight, if all streams that reach it wait for responses (`closed`, or a trace replayed by think time); otherwise null."""
    streams: list[str]
    """Streams that reach it; `saturates_at` assumes that all of them grow in proportion."""
    estimate: bool
    """True if `saturates_at` is an estimate: the utilisation of caches and of drives that reorder is not proportional to the load. `headrace capacity` finds the load by simulation."""
    background: float
    """Share of the work of the component that rebuilds, scrubs or copies beside requests, and does not grow with their load."""
    uneven: str | None
    """The stream whose load varies with time (bursts, traces, logs): headroom is that of the mean load."""
    not_proportional: str | None
    """The component whose utilisation is not proportional to the load: the bottleneck, or another that the same requests use."""
    unsettled: str | None
    """This component, one that it is a part of, or one that sends it requests, if a longer run would find that busier: work that its requests cause is still to come, such as garbage collection or compactions. `saturates_at` is null then."""
    trials: HeadroomTrials | None
    """The short simulations by which an estimate was found; null where utilisation alone is the estimate."""
    cut_off: bool
    """True if `limits.wall_time` or an interrupt ended these simulations: another run may find another headroom."""

class ClosedLoad(TypedDict):
    """Clients that wait for answers before they go on, and the component that limits them."""

    clients: int
    """Maximum number of requests that they have in flight."""
    at_most: float | None
    """Maximum factor by which more requests in flight can raise throughput, when the component is always busy; `null` where the component may need less time per request when more are waiting, while a cache is filling, and for events, which are sent in turn."""

class HeadroomTrials(TypedDict):
    """Short simulations at several times the load."""

    requests: int
    """Number of requests of the longest simulation."""
    keeps_up: float
    """The largest multiple of the load whose requests were answered as they came, or lost no more often than in the run."""
    falls_behind: float | None
    """The smallest multiple of the load at which requests came faster than they were answered; null if none that was tried was too much."""
    sustains: float | None
    """The multiple of the load that was answered at `falls_behind`, lost requests included; null if that is null."""

class BusiestStretch(TypedDict):
    """The segment of the first replication in which a component is busiest."""

    from_s: float
    """Start, in simulated time."""
    to_s: float
    """End."""
    component: str
    """Path of the component that is busiest in it."""
    group: str
    """Group of the component."""
    utilisation: float
    """Utilisation of the component in the stretch."""
    mean_utilisation: float
    """Utilisation of the component over the run, without warm-up."""
    streams: list[StretchStream]
    """One entry per stream."""

class StretchStream(TypedDict):
    """A stream in the stretch."""

    name: str
    """Name."""
    requests_per_s: float
    """Throughput."""
    in_flight: float
    """Mean number of requests in flight, of those completed in the stretch, by Little's law."""
    mean_ms: float | None
    """Mean response time; null if no request completed."""
    p99_ms: float | None
    """P99 of the response time."""

class StreamTheory(TypedDict):
    """The prediction of theory for one stream."""

    stream: str
    """Name of the stream."""
    model: str
    """Formula; `none` if none applies."""
    exact: bool
    """True if all assumptions of the formula hold."""
    fails: str | None
    """Assumption that fails, and what is known about the error; of several, one after the other with semicolons."""
    utilisation: float | None
    """Predicted utilisation of the bottleneck."""
    service_ms: float | None
    """Predicted mean service time."""
    mean_ms: float | None
    """Predicted mean response time."""
    sd_ms: float | None
    """Predicted standard deviation of the response time."""
    quantiles_ms: list[list[float | float]]
    """Predicted quantiles of the response time; none where more than 100 streams share a component."""
    cdf: list[list[float | float]]
    """Predicted CDF, at the times of the simulated one."""

class PhaseResults(TypedDict):
    """A time in which the health of no component changes. Of several replications the means, as far as the same happened in all of them."""

    from_s: float
    """Start, in simulated time."""
    to_s: float
    """End."""
    after: list[str]
    """Events at its start: `volume/spindle[2] fails`, `volume ends its rebuild`; empty for the first."""
    streams: list[PhaseStreamResults]
    """One entry per stream."""

class PhaseStreamResults(TypedDict):
    """Results of a stream in a phase."""

    name: str
    """Name."""
    completed: int
    """Requests completed."""
    failed: int
    """Requests that failed."""
    requests_per_s: float
    """Throughput."""
    bytes_per_s: float
    """Throughput in bytes."""
    mean_ms: float | None
    """Mean response time; null if no request completed."""
    p99_ms: float | None
    """P99 of the response time."""

class PointResults(TypedDict):
    """One segment of the run."""

    time_s: float
    """End of the segment, in simulated time."""
    completed: list[int]
    """Requests completed, by stream."""
    mean_ms: list[float]
    """Mean response time, by stream."""
    p99_ms: list[float]
    """P99 of the response time, by stream; 0 where none completed."""
    in_time: list[float | None]
    """Share of requests in time, by objective; null if none of its requests completed."""
    utilisation: list[float]
    """Utilisation, by component."""
    fill: dict[str, float]
    """Fill level of disk pools as a share of their capacity, and of the buckets of limiters as a share of their burst, by path."""
    marked: dict[str, int]
    """Number of marked occurrences by `component.what`, if any: `archive.purges`."""

class FormulaError(TypedDict):
    """A short simulation of the scenario's own load, and the error of the formulas against it."""

    requests: int
    """Number of requests simulated."""
    response_ms: float
    """Their mean response, in ms."""
    half_width_ms: float
    """Half-width of its 95 % interval, in ms."""
    error: float
    """The formulas' mean response over the simulated one, less 1."""

class StationLimit(TypedDict):
    """A group of alike components as a station."""

    component: str
    """The group's name: paths without the numbers of copies."""
    kind: str
    """Its kind."""
    count: int
    """Number of components that requests come to."""
    servers: int
    """Number of servers of each."""
    demand_ms: float
    """The mean work that one request of the mix brings the busiest of them, visits × mean service time, in ms."""
    saturates_at_per_s: float
    """The number of requests per second at which it is always busy."""

class SolvedPoint(TypedDict):
    """The answer at one load."""

    load: float
    """Offered requests/s, or clients."""
    own: bool
    """True if this is the load that the scenario has."""
    throughput_per_s: float | None
    """Requests answered a second. None where more come than can be answered."""
    response_ms: float | None
    """Mean response time, in ms. None where more come than can be answered."""
    utilisation: list[float]
    """Utilisation of the busiest of each of the [stations](Solved::stations), in the same order."""
    streams: list[StreamPoint]
    """Every stream, in the order of the scenario."""
    asymptotic: Between | None
    """Bounds of throughput for any distributions of service, in requests per second. For one stream of clients."""
    balanced: Between | None
    """The narrower bounds of balanced networks, in requests per second. They hold where mean value analysis is exact."""
    bard_schweitzer_per_s: float | None
    """Throughput by Bard and Schweitzer's approximation, in requests per second. For a closed network."""
    linearizer_per_s: float | None
    """Throughput by linearizer."""
    sets: list[list[str | str]] | None
    """Fields to set in the scenario for this load: (path, value). `None` if its arrivals cannot be scaled."""
    simulated: SimulatedPoint | None
    """A simulation of this load, where one was asked for: formulas leave it `None`."""

class StreamPoint(TypedDict):
    """One stream at one load."""

    name: str
    """Its name."""
    throughput_per_s: float | None
    """Requests answered a second. None where more come than can be answered."""
    response_ms: float | None
    """Mean response time, in ms. None where more come than can be answered."""

# Bounds of a rate.
Between = TypedDict(
    "Between",
    {
        # At least this.
        "from": "float",
        # At most this.
        "to": "float",
    },
)

class SimulatedPoint(TypedDict):
    """A simulation of one load."""

    throughput_per_s: float
    """Requests answered a second."""
    response_ms: float
    """Mean response time, in ms."""
    half_width_ms: float | None
    """Half-width of its 95 % interval, in ms. None where the run was too short for one."""

class Estimate(TypedDict):
    """An estimate with its 95 % interval."""

    value: float
    """The estimate."""
    low: float
    """Lower end of the interval."""
    high: float
    """Upper end of the interval."""

class VolumeDurability(TypedDict):
    """The chance of data loss of one volume."""

    component: str
    """Its path; that of its group where several are equal."""
    count: int
    """Number of equal ones; the other values are those of one."""
    drives: int
    """Number of drives with data."""
    tolerates: int
    """Number of drives that can be lost at once without loss of data."""
    failures_per_year: float
    """Failures in a year."""
    mean_years: Estimate
    """Mean time to data loss, in years."""
    chance_in_a_year: Estimate
    """Chance of data loss within a year."""
    chance: Estimate
    """Chance of data loss within the time that was asked for."""
    lost_bytes_per_year: float
    """Expected bytes lost in a year."""
    degraded: float
    """Share of the time in which something is not rebuilt."""
    causes: list[LossCause]
    """Causes of loss, with their shares."""
    rebuilds: list[Rebuild]
    """Rebuilds as simulated."""
    theory: LossTheory | None
    """A formula beside the estimate. `None` where no formula applies."""
    cycles: int
    """Number of cycles of failures and repairs that were simulated."""

class LossCause(TypedDict):
    """A cause of data loss."""

    what: str
    """What happens while no redundancy is left."""
    share: float
    """Its share of the losses."""

class Rebuild(TypedDict):
    """A rebuild, as simulated beside the load of the scenario."""

    lost: str
    """What was lost: drive, server or rack."""
    at_once: int
    """Number of them lost at once."""
    wait_s: float
    """Seconds from a failure until the rebuild begins, where a spare is free; of an array without spares, until the drive is replaced."""
    rebuild: Estimate
    """Time of the rebuild in seconds: the mean of the replications."""
    replications: int
    """Number of replications."""
    simulated_s: float
    """Seconds simulated of each, in the mean."""
    simulated_share: float
    """Share of the rebuild that was simulated, in the mean: a stretch of it, or, of a pool, all of it for a sample of the objects; below 1 the rest is extrapolated at the same rate."""

class LossTheory(TypedDict):
    """A formula for the mean time to data loss."""

    formula: str
    """The formula."""
    mean_years: float
    """Mean time to data loss by it, in years."""
