"""A scenario as Python sees it. Made from the schema by `make types`; a test keeps it the same.

Quantities are text with a unit: `"64 KiB"`, `"8.5 ms"`, `"50 /s"`.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict

__all__ = ["Access", "AdapterSpec", "Affinity", "AfterSpec", "AliceReading", "Allocate", "Allocation", "ArrayCacheSpec", "ArrivalSpec", "Assign", "BatchSize", "BetweenHosts", "BitmapSpec", "BoundedParetoSpec", "Branch", "BufferNumbers", "ByHeat", "ByteColumn", "BytesLimit", "CacheSpec", "CacheStart", "CachedWrites", "Cause", "CauseShares", "Cells", "CheckpointSpec", "Cleaning", "Clients", "Coalescing", "Collection", "ColumnName", "Command", "ComponentSpec", "CompressSpec", "Connection", "Copies", "CopyChoice", "CsvColumns", "DebtSpec", "DeclusteredSpec", "DestageSpec", "DiskField", "DiskNumbers", "Domain", "DrawnSize", "DrawnTime", "DriveGroup", "DriveQueue", "DriveShare", "Duplex", "Elsewhere", "EmpiricalSpec", "Engine", "ErasureSpec", "EvictSlowSpec", "Excess", "FailsSpec", "FailureRate", "Failures", "FastSpec", "FaultSpec", "Fetch", "FileLogOptions", "FileLogSpec", "FileTiming", "FirstUnit", "Fit", "FlashNumbers", "FlushSpec", "Form", "FormatSpec", "Forwarding", "Frame", "FrameSpec", "FullBuffer", "GroupMembers", "HyperexponentialSpec", "Interface", "InterfaceSpec", "Interpolation", "LayoutSpec", "Level", "Level0Spec", "Limits", "Linked", "LoadTime", "Locate", "LognormalSpec", "MechanicsSpec", "MigrateOrder", "MigrateSpec", "Moment", "MountRule", "MoveTime", "OpSpec", "OperationsLimit", "Order", "Paths", "PatternSpec", "Placement", "Placement2", "Placement3", "Policy", "PolicySpec", "PoolContents", "PoolScrubSpec", "PortClass", "PortQueue", "Positioning", "Precedence", "Preset", "Protocol", "PurgeSpec", "QueueSpec", "Queueing", "RateFrom", "RatesSpec", "ReadAhead", "ReadFrom", "ReadReplica", "RebuildSpec", "Recall", "RecallPoolSpec", "ReconnectedWrite", "RecoverySpec", "Region", "RepackSpec", "ReplacementSpec", "ReplaySpec", "Rotation", "RunSpec", "SasPreset", "ScenarioSpec", "Scheduling", "ScrubSpec", "ScsiPreset", "SeekTimes", "Serpentine", "Share", "ShareNumbers", "SizeSpec", "SlipsSkew", "SmallWrites", "Sourced", "Sourced2", "Sourced3", "Sourced4", "Sourced5", "Sourced6", "Sourced7", "Sourced8", "Sourced9", "Spares", "SsdField", "SsdNumbers", "Stalls", "StepSpec", "StorageModule", "StreamSpec", "Streaming", "StripeAccess", "SuspendNumbers", "SystemSpec", "TapeDriveField", "TapeDriveNumbers", "TapeFailures", "TapePoolSpec", "Target", "TimeColumn", "TimeShare", "TimeSpec", "Timing", "Told", "Told2", "Told3", "Told4", "Told5", "Told6", "Told7", "Told8", "Told9", "TraceFormat", "TrackOrder", "Travel", "Unseen", "VariedDevice", "VaryingSpec", "VerifySpec", "Via", "VolumeField", "VolumeNumbers", "WarmUp", "WhenFull", "WritePolicy", "Writes", "ZoneSpec"]

class ScenarioSpec(TypedDict):
    """A storage system, its load, and the length of the simulation."""

    parts: NotRequired[dict[str, ComponentSpec]]
    """Templates by name. Arrays consist of copies of them."""
    system: dict[str, SystemSpec]
    """Components by name. Each exists once and is shared by everything that names it. A `group` is several copies of components."""
    workload: dict[str, StreamSpec]
    """Streams of requests by name."""
    faults: NotRequired[list[FaultSpec]]
    """Components that fail during the run."""
    rates: NotRequired[RatesSpec | None]
    """Failure rates, for the chance of data loss."""
    objectives: NotRequired[dict[str, str]]
    """Shares of requests that are to be answered in time, by stream or operation: `users: 99 % within 20 ms`. Several are joined by `and`: `recall: 50 % within 2 min and 99 % within 10 min`. An operation (`reads`, `writes`, `get`, `recall` …) is that of the only stream that has it; of others, write `stream.operation`."""
    uncertain: NotRequired[dict[str, str]]
    """Values that are known only approximately, by path, with their 95 % intervals: `system.host.submit: 5 us..12 us`. A run takes the value at the path; `headrace validate` says how far its predictions vary with them. `headrace calibrate scenario` writes them. A value may follow others before it, each with its own values at the ends of their intervals: `95 us..105 us and 109 us..82 us with system.host.submit`."""
    run: NotRequired[RunSpec]
    """Length of the run, seed, and warm-up."""

class ComponentSpecStation(TypedDict):
    """Servers with a given service time distribution."""

    type: Literal['station']
    servers: NotRequired[int]
    """Number of requests served in parallel."""
    service: TimeSpec
    """Service time of a request."""
    rate: NotRequired[str | None]
    """Rate of data: each request takes the time of its data at this rate besides. Default: its size does not matter."""
    order: NotRequired[Order]
    """Order of service."""
    capacity: NotRequired[str]
    """Addressable bytes."""

class ComponentSpecDisk(TypedDict):
    """A disk drive."""

    type: Literal['disk']
    device: DiskField
    """A drive from the catalogue by name, the path of a device file relative to the scenario (`./mine.yaml`), a variation of either, or its parameters in full."""
    positioning: NotRequired[Positioning]
    """How positions on the platter are modelled. Sequential requests, rebuilds, and drives that reorder need `mechanical`."""
    scheduling: NotRequired[Scheduling | None]
    """Scheduling policy, for `positioning: mechanical`. Default: the drive's own."""
    queue_depth: NotRequired[int | None]
    """Maximum number of commands it holds and reorders; the rest queue in the host. With more than one it starts the next command while data of the previous one is still being sent. Default: the drive's own."""
    phase: NotRequired[str | float | None]
    """Initial angle of the platter as a fraction of a revolution, for `positioning: mechanical`. Default: random."""

class ComponentSpecSsd(TypedDict):
    """A solid-state drive."""

    type: Literal['ssd']
    device: SsdField
    """The drive: the name of a device in the catalogue, a variation of one, or a full set of parameters."""
    interface: NotRequired[Interface | None]
    """The port it is plugged into. Drive and port run at the slower of their rates. Default: the drive's own interface."""
    read_command: NotRequired[str]
    """Time that a read occupies the port in addition to its frames: the overhead of the adapter or controller."""
    write_command: NotRequired[str]
    """Time that each write takes the port besides its frames."""
    written: NotRequired[str | float]
    """Share of the addresses, from 0 on, that holds sequentially written data at the start of the run. Reads of unwritten addresses do not access flash."""
    overwritten: NotRequired[float]
    """Number of times that random writes have overwritten the capacity before the run, in no simulated time. Random writes reach steady state after 2 to 5 passes; drives with less over-provisioning need more. All data lies scattered then, also what they did not hit."""

# A file system on a volume, with its page cache.
ComponentSpecFileSystem = TypedDict(
    "ComponentSpecFileSystem",
    {
        "type": "Literal['file_system']",
        # The volume that holds it, by its name in `system`.
        "of": "str",
        # The server that it belongs to, such as one that exports it over a network: requests reach it there, and it reaches its volume from there. Default: none; clients have it themselves, or it is `attached` to a server.
        "from": "NotRequired[str | None]",
        # Memory of the page cache: what the machine has beyond its kernel and applications.
        "memory": "str",
        # Replacement policy: the clean page that gives way.
        "replacement": "NotRequired[ReplacementSpec]",
        # Block size, which is also the page size of the cache.
        "block": "NotRequired[str]",
        # CPU time of a call, excluding copying.
        "call": "NotRequired[str]",
        # Rate at which data is copied between application and page cache. Default: copying takes no time.
        "copy": "NotRequired[str | None]",
        # Maximum share of the memory that may be dirty; at this limit a writer waits for write-back. Linux: `dirty_ratio`, 20 %; 40 % up to 2.6.22.
        "dirty_limit": "NotRequired[str | float]",
        # Share of dirty memory above which background write-back starts. Linux: `dirty_background_ratio`, 10 %.
        "dirty_background": "NotRequired[str | float]",
        # Age at which a dirty page is written back. Linux: `dirty_expire_centisecs`, 30 s.
        "dirty_age": "NotRequired[str]",
        # Interval at which write-back checks the age of pages. Linux: `dirty_writeback_centisecs`, 5 s.
        "wake": "NotRequired[str]",
        # Maximum size of a request to the volume.
        "max_request": "NotRequired[str]",
        # Maximum number of write-back requests in flight.
        "write_back_depth": "NotRequired[int]",
        # Read-ahead window of sequential reads. Linux: `read_ahead_kb`, 128 KiB.
        "read_ahead": "NotRequired[str]",
        # Calls larger than this bypass the page cache. Default: none do.
        "direct_above": "NotRequired[str | None]",
        # Number of bytes written between calls of `fsync`, which wait until all data is on the volume; a file size calls it after each file. They do not flush the volume's own cache, as a stream's `flush_every` does. Default: never.
        "fsync_every": "NotRequired[str | None]",
        # Placement of files on the volume. Default: one after another, as in the address space.
        "allocation": "NotRequired[Allocation | None]",
    },
)

class ComponentSpecDeviceCache(TypedDict):
    """A cache on a fast device before a slower one."""

    type: Literal['device_cache']
    to: str
    """Component whose data is cached."""
    on: str
    """Component that holds the cache."""
    at: NotRequired[str]
    """First byte of the cache there."""
    size: NotRequired[str | None]
    """Size of the cache. Default: to the end of the component."""
    block: NotRequired[str]
    """Unit of the cache: a power of two from 4 KiB to 256 KiB. Default: 64 KiB."""
    replacement: NotRequired[ReplacementSpec]
    """Replacement policy: the clean block that gives way."""
    writes: NotRequired[CachedWrites]
    """Treatment of writes."""
    bypass: NotRequired[str | None]
    """Requests of at least this size go past the cache. Default: none do."""
    dirty: NotRequired[str | float]
    """Share of blocks with dirty data above which data is written back. 0 writes all of it back. Default: 10 %, as in bcache."""
    max_request: NotRequired[str]
    """Maximum size of a request that writes back. Default: 1 MiB."""
    write_back_depth: NotRequired[int]
    """Maximum number of requests that write back at a time. Default: 4."""
    begins: NotRequired[CacheStart]
    """Contents at the start of the run."""

class ComponentSpecController(TypedDict):
    """An array controller: processors, a bus, and memory for caches."""

    type: Literal['controller']
    processors: NotRequired[int]
    """Number of commands processed in parallel."""
    command: NotRequired[str]
    """Processor time per command. It applies to the command of a host and again to each command to a disk that follows from it, unless `disk_command` is set: a read of one disk takes it twice."""
    disk_command: NotRequired[str | None]
    """Processor time per command to a disk; `0 s` where the array has no processor work per disk. Default: that of `command`."""
    data_rate: NotRequired[str | None]
    """Rate at which a processor handles the data of host commands, in addition to `command`. Default: no time."""
    parity_rate: NotRequired[str | None]
    """Rate at which a processor computes parity, in bytes that it reads for that: the data of a whole stripe; old data, old parity and new data of a small write; of a degraded read or a rebuild the units that replace a lost one. Default: no time."""
    bus: NotRequired[str | None]
    """Rate of the bus. Host data, back-end data and parity each cross it once. Default: no time."""
    transfer: NotRequired[str]
    """Largest transfer on the bus; larger ones are split and interleave with others."""
    cache: NotRequired[ArrayCacheSpec | None]
    """Cache memory that all of its arrays share, except those with a `cache` of their own. Two controllers of one array have the same, and each holds a copy of what is to be written back. Default: none."""

# Several devices that act as one.
ComponentSpecArray = TypedDict(
    "ComponentSpecArray",
    {
        "type": "Literal['array']",
        # RAID level: how data is distributed over the disks.
        "level": "Level",
        # Its disks: copies of a part, by name or written in place, or a list of components of `system`.
        "of": "Copies",
        # Number of disks.
        "disks": "NotRequired[int | None]",
        # Number of consecutive bytes on one disk before the next disk follows. Required except for RAID 1, which does not stripe: there it is the granularity in which copies are tracked and rebuilt, 64 KiB by default.
        "stripe_unit": "NotRequired[str | None]",
        # Overlap of consecutive requests.
        "queueing": "NotRequired[Queueing]",
        # Disk on which a request starts. RAID 0 only.
        "first_unit": "NotRequired[FirstUnit]",
        # Placement of parity. Only for levels that rotate parity.
        "rotation": "NotRequired[Rotation | None]",
        # Policy that selects the copy to read. Mirrors only. Default: `round_robin`.
        "read_from": "NotRequired[ReadFrom | None]",
        # Time after which a read that is not answered is sent again, to other disks than those that are late: to another copy, or to those that the data can be computed from. The first answer counts; the other still takes its disks' time. Redundant levels only. Default: never.
        "hedge": "NotRequired[str | None]",
        # Eviction of a member that takes longer than the others for a while but has not failed: a spare takes its place where there is one. Redundant levels only. Default: never.
        "evict_slow": "NotRequired[EvictSlowSpec | None]",
        # Failed disks, numbered from 0: the array runs degraded.
        "failed": "NotRequired[list[int]]",
        # Server that an array of listed components belongs to; it sends requests to each component through the fabric. A server other than that of the stream acts as a virtualisation engine. Default: the components are attached directly.
        "from": "NotRequired[str | None]",
        # Number of hot spares: additional copies of the part, or the last of the listed components.
        "spares": "NotRequired[int]",
        # Declustering: stripes narrower than the array, spread over all disks. RAID 5, 6 and erasure codes only.
        "declustered": "NotRequired[DeclusteredSpec | None]",
        # Rebuild of lost or outdated data of a disk.
        "rebuild": "NotRequired[RebuildSpec | None]",
        # Scrub of all data, once. Redundant levels only. Default: none.
        "scrub": "NotRequired[ScrubSpec | None]",
        # Path between the array and its disks: a `link`, `fc_loop`, `scsi_bus` or `sas` of `system`, or several, used in turn. Default: transfers take no time.
        "via": "NotRequired[Via | None]",
        # One or two controllers of `system` that run the array. Default: none; controller work takes no time.
        "controllers": "NotRequired[list[str]]",
        # Sharing of requests by two controllers.
        "access": "NotRequired[Access]",
        # Write-intent bitmap, as Linux md has it: writes to a region not marked wait until its mark is on all disks. Default: none.
        "bitmap": "NotRequired[BitmapSpec | None]",
        # Number of rows of 4 KiB (a page of each disk) in which writes can be in progress at a time: the stripe cache of Linux md, whose `stripe_cache_size` is 256 by default. Further writes wait. Levels with parity only. Default: no limit.
        "stripe_cache": "NotRequired[int | None]",
        # Cache of its own, in each of its controllers. Default: the `cache` of its controllers, shared with their other arrays; none where they have none.
        "cache": "NotRequired[ArrayCacheSpec | None]",
    },
)

class ComponentSpecLimiter(TypedDict):
    """Limits of operations and bytes in front of another component."""

    type: Literal['limiter']
    to: str
    """Component that requests go on to."""
    device: NotRequired[VolumeField | None]
    """Volume type of a cloud, which sets the limits: its name in the catalogue, or a variation of one. Default: none; `operations` and `bytes` apply."""
    operations: NotRequired[OperationsLimit | None]
    """Limit of operations. Default: that of `device`, or none. Fields that are left out here are those of `device`, too."""
    bytes: NotRequired[BytesLimit | None]
    """Limit of bytes. Default: that of `device`, or none. Fields that are left out here are those of `device`, too."""
    initial: NotRequired[str | float]
    """Share of each `burst` that is saved at the start of the run."""
    excess: NotRequired[Excess]
    """Treatment of requests beyond a limit."""

class ComponentSpecShares(TypedDict):
    """Shares of a component among those who ask it."""

    type: Literal['shares']
    to: NotRequired[str | None]
    """Component of `system` that requests go on to. Give this or `of`."""
    of: NotRequired[Copies | None]
    """Component that requests go on to, a part: copies of these shares, such as the drives of a pool, have one each."""
    depth: int
    """Number of requests that are there at once; the others wait here for their turn."""
    policy: NotRequired[PolicySpec]
    """Choice of who is next."""
    capacity: NotRequired[str | None]
    """Operations per second of the target, of which reservations and limits in per cent are parts. It limits nothing by itself."""
    unit: NotRequired[str | None]
    """A larger request counts as several operations, one for each part of this size. Default: each request is one."""
    background: NotRequired[ShareNumbers | None]
    """Share of work that no host waits for, such as rebuilds. Default: that of those who ask for it."""
    by_cause: NotRequired[CauseShares | None]
    """Shares of work for one cause each."""

class ComponentSpecShare(TypedDict):
    """A share of a component."""

    type: Literal['share']
    of: str
    """The `shares` that it is one of."""
    reservation: NotRequired[str | None]
    """Operations per second that it gets first, or a part of the `capacity` of the shares, under `mclock`. Default: none."""
    weight: NotRequired[float | None]
    """Its part beside the weights of others: of what reservations leave under `mclock`, or operations in each turn under `round_robin`. Default: 1."""
    limit: NotRequired[str | None]
    """Operations per second that it gets at most, or a part of the `capacity` of the shares, under `mclock`. Default: no limit."""
    priority: NotRequired[int | None]
    """Priority, under `priority`. Smaller numbers are more urgent. Default: 0."""
    read_cost: NotRequired[str | None]
    """Size that each of its reads counts as, in operations of the `unit` of the shares. Default: its own."""
    write_cost: NotRequired[str | None]
    """Size that each of its writes counts as. Default: its own."""

class ComponentSpecWriteAheadLog(TypedDict):
    """A write-ahead log with group commit."""

    type: Literal['write_ahead_log']
    to: str
    """Component that holds the log."""
    at: NotRequired[str]
    """First byte of the log there."""
    size: NotRequired[str | None]
    """Size of the log, after which it begins again. Default: to the end of the component."""
    block: NotRequired[str]
    """Unit of writes to the log. A group begins with the block that the group before filled in part. Default: 4 KiB."""
    window: NotRequired[str]
    """Time for which the first commit of a group waits for others: PostgreSQL's `commit_delay`, MySQL's `binlog_group_commit_sync_delay`. Default: 0; a group is what came during the flush before."""
    most: NotRequired[int | None]
    """Maximum number of commits in a group, which then waits no longer; 1 makes each stable by itself. Default: no limit."""

class ComponentSpecLsmTree(TypedDict):
    """A store of keys and values as a log-structured merge tree."""

    type: Literal['lsm_tree']
    to: str
    """Component that holds the tables. It needs room for all levels, and for as much again as `keys`."""
    at: NotRequired[str]
    """First byte of the tables there. Default: 0."""
    log: NotRequired[str | None]
    """Component to which each put is written first, one after another: a `write_ahead_log`, or a device. Default: puts are not logged, and a flush waits until all memtables are tables."""
    fast: NotRequired[FastSpec | None]
    """Faster component for the first levels: `db_paths`, BlueStore's `block.db`. Default: all tables are on `to`."""
    keys: str
    """Size of all keys and values."""
    written: NotRequired[str | float]
    """Share of them that is stored when the run begins, in levels as large as they may be, as after many overwrites: each key may be in several. Default: all."""
    memtable: NotRequired[str]
    """Size of a memtable: RocksDB's `write_buffer_size`. Default: 64 MiB."""
    memtables: NotRequired[int]
    """Number of memtables, the one that is written to included; puts stop when all are full: `max_write_buffer_number`. Default: 2."""
    table: NotRequired[str]
    """Size of a table: `target_file_size_base`. Default: 64 MiB."""
    level1: NotRequired[str]
    """Size of level 1: `max_bytes_for_level_base`. Levels are as large as the next one divided by `fan_out`, down to one that is no larger than this: `level_compaction_dynamic_level_bytes`. With `fast`, level 1 has this size and each other the one before times `fan_out`, up to `keys`: with several paths RocksDB has no dynamic levels. Default: 256 MiB."""
    fan_out: NotRequired[int]
    """How many times as large as the level before a level is: `max_bytes_for_level_multiplier`. Default: 10."""
    level0: NotRequired[Level0Spec]
    """Numbers of tables in level 0 that matter."""
    debt: NotRequired[DebtSpec]
    """Bytes that compactions have yet to move."""
    slow_rate: NotRequired[str]
    """Rate of all puts together while they are slowed down: `delayed_write_rate`. Default: 16 MiB/s."""
    compactions: NotRequired[int]
    """Number of compactions at once: `max_background_jobs`, less one for flushes. Default: 1."""
    merge_rate: NotRequired[str | None]
    """Processor's rate of one compaction, in bytes read. Default: no limit; it takes as long as its reads and writes."""
    request: NotRequired[str]
    """Size of reads and writes of compactions and flushes: `compaction_readahead_size`. Default: 2 MiB."""
    block: NotRequired[str]
    """Size of blocks, the unit of gets. Default: 4 KiB."""

# A copy of one component to another while hosts use it.
ComponentSpecCopy = TypedDict(
    "ComponentSpecCopy",
    {
        "type": "Literal['copy']",
        # Component to copy, by its name in `system`. It is only read.
        "from": "str",
        # Component that becomes its copy.
        "to": "str",
        # Bytes to copy, from the first. Default: all that `from` holds.
        "bytes": "NotRequired[str | None]",
        # Time at which copying begins. Until then, chunks are only copied because hosts write to them.
        "starts": "NotRequired[str]",
        # Maximum rate of the copy. Default: limited by the components only.
        "rate": "NotRequired[str | None]",
        # Minimum rate while hosts keep the component busy. Only for `foreground_first`. The default is that of rebuilds in Linux md.
        "at_least": "NotRequired[str]",
        # Priority of the copy against host requests that come through it.
        "priority": "NotRequired[Precedence]",
        # Number of bytes that are read, then written, together. The default is that of rebuilds, an estimate.
        "chunk": "NotRequired[str]",
        # Number of chunks in progress at a time. The default is that of rebuilds, an estimate: one is read while the other is written.
        "in_flight": "NotRequired[int]",
    },
)

class ComponentSpecPool(TypedDict):
    """Drives in servers that act as one volume, in placement groups."""

    type: Literal['pool']
    of: Copies
    """Drives: a part, of which each server has copies, or `servers` × `drives` components of `system`, server by server."""
    servers: int
    """Number of servers."""
    drives: int
    """Number of drives of each server. They are numbered through: `pool/nvme[8]` is the first of the second server of eight drives each."""
    racks: NotRequired[int]
    """Number of racks, over which servers are shared out in order. Default: one."""
    server: NotRequired[Copies | None]
    """Server: a part of `type: server`, or one component for each server. Its core time is taken by each request at the primary and by each piece where its drive is: `submit` when it comes, `complete` when its answer goes. Default: no core time."""
    link: NotRequired[Copies | None]
    """Link of a server to the network: a part of `type: link`, or one component for each server. Data that comes in crosses it as writes, data that goes out as reads, one message after another and stored at the end of each link. Default: no time on a network."""
    uplink: NotRequired[Copies | None]
    """Link of a rack to all others and to what is outside: a part of `type: link`, or one component for each rack. What goes from one rack to another crosses both, out as reads and in as writes. Default: no time between racks."""
    clients: NotRequired[Clients]
    """Where clients are."""
    replicas: NotRequired[int | None]
    """Number of replicas. Give this or `erasure`."""
    erasure: NotRequired[ErasureSpec | None]
    """Erasure code. Give this or `replicas`."""
    domain: NotRequired[Domain]
    """Failure domain: no two pieces of a group share one."""
    groups: int
    """Number of placement groups."""
    size: str
    """Size of the pool's data, without redundancy. It is rounded down to as many objects in each group."""
    object: NotRequired[str | None]
    """Size of an object; neighbouring objects belong to different groups. Default: 4 MiB, with an erasure code in whole stripes."""
    placement: NotRequired[Placement]
    """Choice of the drives of a group."""
    read_from: NotRequired[ReadReplica]
    """Replica that reads are served from."""
    recovery: NotRequired[RecoverySpec]
    """Recovery of lost pieces."""
    scrub: NotRequired[PoolScrubSpec | None]
    """Scrub of all data, once. Default: none."""

class ComponentSpecLink(TypedDict):
    """A link that carries one transfer at a time."""

    type: Literal['link']
    preset: NotRequired[Preset | None]
    """Type of wire, which sets rate and frame format. Default: none; `rate` and `frame` apply."""
    rate: NotRequired[str | None]
    """Data rate; with `frame`, the rate of whole frames after line coding. Default: that of `preset`."""
    frame: NotRequired[FrameSpec | None]
    """Frame format. Default: that of `preset`, or no frames."""
    duplex: NotRequired[Duplex | None]
    """Sharing of the wire by reads and writes. Default: `full` with a `preset`, otherwise `half`."""
    latency: NotRequired[str]
    """Propagation delay, during which the next transfer can start."""
    metres: NotRequired[int]
    """Length in metres (5 ns each)."""
    credit: NotRequired[int | None]
    """Buffer-to-buffer credit: frames sent before the first is acknowledged. Default: enough for any length."""

class ComponentSpecFcLoop(TypedDict):
    """A Fibre Channel arbitrated loop."""

    type: Literal['fc_loop']
    rate: str
    """Generation: `1 Gb/s`, `2 Gb/s` or `4 Gb/s`. Line rate (`1.0625 Gb/s`) or data rate (`100 MB/s`) are also accepted."""
    policy: NotRequired[Policy]
    """Access policy: which port sends next."""
    per_node_delay: NotRequired[int]
    """Delay in each port, in transmission words of 40 bits. 6 is typical (estimate); FC-AL-2 allows 12."""
    metres: NotRequired[int]
    """Length of cable around the loop in metres (5 ns each)."""
    frame_payload: NotRequired[str]
    """Payload of a full frame: a multiple of 4 B from 128 B to 2112 B. Default: 2048 B, four sectors, as SCSI devices send."""
    credit: NotRequired[int]
    """Buffer-to-buffer credit: frames sent before the first is acknowledged. Default: 4, an estimate that stalls only loops with long cables."""

class ComponentSpecScsiBus(TypedDict):
    """A parallel SCSI bus."""

    type: Literal['scsi_bus']
    preset: ScsiPreset
    """Generation, which sets data rate and width."""
    async_rate: NotRequired[str]
    """Rate of messages, commands and status, which are always transferred asynchronously. Default: 5 MB/s, an estimate."""
    selection: NotRequired[str]
    """Response time of the selected device, phase changes included. Default: 2 µs, an estimate."""
    burst: NotRequired[str | None]
    """Maximum amount of data per connection; a disk with more disconnects and arbitrates again. Default: no limit."""

class ComponentSpecSas(TypedDict):
    """A SAS port with its expanders."""

    type: Literal['sas']
    preset: SasPreset
    """Generation, which sets the rate of a lane."""
    lanes: NotRequired[int]
    """Number of lanes of the wide port, each with one connection at a time. Default: 4."""
    disk_links: NotRequired[SasPreset | None]
    """Generation of the disk links. A connection runs at the slower of the two rates. Default: `preset`."""
    expanders: NotRequired[int]
    """Number of expanders between the controller and a disk. Default: 1."""
    expander_delay: NotRequired[str]
    """Delay per expander. Default: 0.3 µs, an estimate."""
    metres: NotRequired[int]
    """Cable length to a disk in metres (5 ns each)."""

class ComponentSpecSwitch(TypedDict):
    """A switch that connects servers, storage and other switches."""

    type: Literal['switch']
    connects: list[Connection]
    """Neighbours: servers, storage, other switches, and readouts with their event builders. A link between two switches is listed at one of them."""
    preset: NotRequired[Preset | None]
    """Type of port, which sets rate and frame format. Default: none; `rate` and `frame` apply."""
    rate: NotRequired[str | None]
    """Rate of each port per direction: of data, or with `frame` of whole frames. Default: that of `preset`."""
    frame: NotRequired[FrameSpec | None]
    """Frame format. Default: that of `preset`, or no frames."""
    latency: NotRequired[str]
    """Delay from the arrival of a frame at one port to the queue of another. Data sheets give 0.3 µs to 2 µs."""
    forwarding: NotRequired[Forwarding]
    """Time at which a frame is forwarded: before or after it has fully arrived."""
    form: NotRequired[Form]
    """Internal structure."""
    credit: NotRequired[int | None]
    """Buffer-to-buffer credit of each port: frames sent before the first is acknowledged. Default: enough for any length."""
    ports: NotRequired[int | None]
    """Number of ports. Default: the number that its neighbours need."""

class ComponentSpecServer(TypedDict):
    """A server that streams come from."""

    type: Literal['server']
    attached: NotRequired[list[str]]
    """Components of `system` attached without a switch: drives, arrays behind its adapter, file systems."""
    cores: NotRequired[int]
    """Number of cores."""
    submit: NotRequired[str]
    """Core time to submit a command, or to take one in. A server that a volume belongs to does both: a request from another server takes `submit` and `complete` twice, once for the network and once for the drives."""
    complete: NotRequired[str]
    """Core time to complete a command, or to send its answer."""
    interrupt: NotRequired[str]
    """Additional core time per interrupt."""
    copy: NotRequired[str | None]
    """Rate at which a core copies data between adapter and application, checksums included. Default: no copying."""
    fill: NotRequired[str | None]
    """Rate at which a core generates the data of writes before it submits them, as with fio's `refill_buffers`. Default: no time."""
    wake: NotRequired[str]
    """Core time to wake a thread that waits for a completion. Commands that complete before the thread runs need no further wake-up."""
    wake_per_thread: NotRequired[str]
    """Additional wake-up time for each other thread on the server."""
    contention: NotRequired[float]
    """Slow-down of core work while all cores are busy. Default: 1, no contention."""
    adapter: NotRequired[AdapterSpec]
    """The host bus adapter, shared by all ports."""
    paths: NotRequired[Paths]
    """Multipath policy."""
    path_timeout: NotRequired[str | None]
    """Time without an answer after which a request is retried on another path, once per path; the last path has no timeout. Earlier attempts still complete, and their answers are ignored. Default: never."""

class ComponentSpecFront(TypedDict):
    """Limits per user and per host, and ports, in front of an archive."""

    type: Literal['front']
    per_user: NotRequired[int | None]
    """Maximum number of transfers per user. Default: no limit."""
    per_host: NotRequired[int | None]
    """Maximum number of transfers per host. Default: no limit."""
    ports: NotRequired[list[PortClass]]
    """Classes of ports; a transfer takes the first free port that accepts the size of its file. Default: no ports needed."""
    queue: NotRequired[PortQueue]
    """Queueing discipline for ports."""
    put_latency: NotRequired[TimeSpec]
    """Delay before the data of a put is sent. The port is held."""
    get_latency: NotRequired[TimeSpec]
    """Delay before the data of a get is sent. The port is held."""
    client_rate: NotRequired[str | None]
    """Maximum rate of one client. Default: no limit."""
    between_hosts: NotRequired[BetweenHosts | None]
    """How hosts differ. Default: they do not."""
    stalls: NotRequired[Stalls | None]
    """Transfers that stand still, because the host swaps their process out. Default: none."""
    failures: NotRequired[Failures | None]
    """Attempts that fail, and are made again. Default: none."""
    block_in_flight: NotRequired[str | None]
    """Flow control: a file has one block of this size in flight, which goes over the network and then over the chain, or the other way for a get. `client_rate` limits it on the network. Default: no such limit; data flows over both at once, as it does within about 3 % where two or more blocks are in flight."""

class ComponentSpecNetwork(TypedDict):
    """A network shared by transfers."""

    type: Literal['network']
    rate: str
    """Data rate in each direction."""
    half_duplex: NotRequired[bool]
    """If true, both directions share `rate`."""

class ComponentSpecDiskPool(TypedDict):
    """A disk pool: volumes on chains."""

    type: Literal['disk_pool']
    chains: int
    """Number of chains (SCSI buses, or paths to a disk server)."""
    volumes: int
    """Number of volumes on each chain."""
    volume: str
    """Capacity of a volume. Larger files span successive volumes."""
    rate: str
    """Rate of a chain."""
    allocate: NotRequired[Allocate]
    """Allocation policy for volumes."""
    on: NotRequired[list[str]]
    """Block devices that hold the files, one for each chain, by name: arrays, disks, or volumes of a server behind a network. The volumes of a chain lie one after another on its device; where a file begins within its volume is random. Default: none; only `rate` limits a chain."""
    io_size: NotRequired[str]
    """With `on`: size of the requests to the device, one after another for each transfer. Default: 1 MiB."""
    buffer: NotRequired[str]
    """With `on`: memory of a transfer. While one half is on the wire, the device reads or writes the other. Default: 32 MiB."""

class ComponentSpecTapeLibrary(TypedDict):
    """Cartridges, drives and robots."""

    type: Literal['tape_library']
    groups: list[DriveGroup]
    """The groups of drives."""
    device: NotRequired[TapeDriveField | None]
    """Tape drive of the catalogue, which sets `cartridge`, `drive_rate`, `load`, `first_load`, `locate`, `rewind`, `wraps` and `unload` as far as they are not given. Default: none."""
    cartridge: NotRequired[str | None]
    """Capacity of a cartridge. Files are appended; one that does not fit continues on the next cartridge. Default: that of `device`."""
    cartridges: NotRequired[int]
    """Number of cartridges that hold files older than the log. Each such file is at a random position of a random cartridge."""
    drive_rate: NotRequired[str | None]
    """Maximum rate of one drive. Default: that of `device`, or the rate of its group."""
    load: NotRequired[LoadTime | None]
    """Time from insertion of a cartridge until the drive is ready: constant, or drawn from a law or from branches that were fitted to a log. Default: that of `device`, or none."""
    first_load: NotRequired[str | None]
    """Time of the first load of a new cartridge: LTO-9 drives characterise it for 40 minutes on average. Default: that of `device`, or as any load."""
    locate: NotRequired[Locate | None]
    """Locate time from one end of the tape to the other, measured times by distance, or a fit that knows wraps and bands. Default: that of `device`, or none."""
    rewind: NotRequired[Travel | None]
    """Rewind time from the far end of the tape, or measured times by distance. Default: that of `device`, or none."""
    wraps: NotRequired[int | None]
    """Number of wraps: passes from one end of the tape to the other by which a serpentine tape is filled, 208 for LTO-8. Data half-way through the capacity then lies anywhere along the tape. Default: that of `device`, or one, a linear tape."""
    streaming: NotRequired[Streaming | None]
    """Back-hitches of a drive that is starved. Default: none; the tape moves at any rate."""
    unload: NotRequired[str | None]
    """Time from rewound until the robot can remove the cartridge. Default: that of `device`, or none."""
    move: NotRequired[str]
    """Robot time to move a cartridge to or from a drive."""
    prepare: NotRequired[str]
    """Time that the library's software takes before an arm brings a cartridge to a drive. The arm is reserved meanwhile."""
    cells: NotRequired[Cells | None]
    """Cells of the cartridges, which arms travel to beside `move`. Default: `move` is all."""
    free_drives: NotRequired[int]
    """Number of drives of each group that are kept empty: once a cartridge was brought to one, another that is unused is dismounted, the one unused longest. A mount then need not wait for a dismount."""
    hold: NotRequired[str]
    """Deferred dismount: how long an unused cartridge stays mounted. It is dismounted earlier if another needs the drive. Default: dismounted at once."""
    cleaning: NotRequired[Cleaning | None]
    """Cleaning of drives. Default: none."""
    failures: NotRequired[TapeFailures]
    """Failures of drives, arms and cartridges by use, beside the `faults` of a scenario. Default: none."""
    recall: NotRequired[Recall]
    """Order of recalls when a drive becomes free."""
    queue: NotRequired[DriveQueue]
    """Which of the requests that wait gets a drive, where none is for its mounted cartridge."""
    shares: NotRequired[list[DriveShare]]
    """Shares of the drives by group of users: how many each may use at a time, and its priority or deadline. Default: none."""
    accumulate: NotRequired[str]
    """Delay before an unmounted cartridge is requested, to collect further requests for it. One mount serves all of them; `recall` must not be `arrival`. Default: no delay."""
    batch: NotRequired[int]
    """Number of recalls for the mounted cartridge that are put in order together, those that have waited longest first. Those that come meanwhile are for the next batch."""
    longest_wait: NotRequired[str | None]
    """After a batch, a recall for another cartridge that has waited longer than this gets the drive. Default: no limit; the cartridge stays as long as recalls for it wait."""
    repack: NotRequired[RepackSpec | None]
    """Repack: old cartridges are copied to new ones. Default: none."""
    verify: NotRequired[VerifySpec | None]
    """Verification of cartridges. Default: none."""
    pass_through: NotRequired[str | None]
    """Time of an elevator or pass-through port between two groups. With it, a cartridge whose own group has no free drive goes to the nearest group (in the order of the list) that has one; arms of both groups move it. Default: cartridges stay in their group."""

class ComponentSpecArchive(TypedDict):
    """An archive: files in a disk pool in front of a tape library."""

    type: Literal['archive']
    front: NotRequired[str | None]
    """Name of the front. Default: no limits."""
    network: NotRequired[str | None]
    """Name of the network between clients, pool and tape. Default: no limit."""
    pool: str
    """Name of the disk pool."""
    recalls: NotRequired[RecallPoolSpec | None]
    """A disk pool of its own for recalls (a retrieve buffer); `pool` is then for files that are put (an archive buffer). Default: `pool` is for both."""
    pin: NotRequired[str]
    """Lifetime of a pin: how long a file that was staged stays in its pool, whatever a purge wants, unless it is cancelled or deleted. Default: 0 s."""
    contents: NotRequired[PoolContents | None]
    """Contents of the pool when a run begins, beside the files of the log: of that for recalls, if there are two. Default: none."""
    library: NotRequired[str | None]
    """Name of the tape library. Default: none; files are kept only in the pool."""
    migrate: NotRequired[MigrateSpec | None]
    """Migration to tape. Default: never."""
    purge: NotRequired[PurgeSpec | None]
    """Purge policy: which files leave `pool`, and when. Default: nothing is purged."""

class ComponentSpecReadout(TypedDict):
    """Local data concentrators: what triggers read out."""

    type: Literal['readout']
    concentrators: int
    """Number of concentrators."""
    sub_event: SizeSpec
    """Size of a sub-event, drawn for each concentrator and trigger."""
    time: NotRequired[TimeSpec]
    """Time to read a sub-event, in addition to its size divided by `rate`. Default: none."""
    rate: NotRequired[str | None]
    """Rate at which a concentrator reads. Default: unlimited."""
    buffer: NotRequired[str | None]
    """Buffer of each concentrator, which holds a sub-event from the trigger until it has been sent. Default: unlimited."""
    when_full: NotRequired[FullBuffer]
    """Treatment of a trigger when a buffer is full."""
    builder: str
    """Event builder that receives the sub-events, by its name in `system`. They cross the switches that connect it and the readout; where no switch connects them, each concentrator and builder has a port."""
    fails: NotRequired[FailsSpec | None]
    """Failure of a concentrator. Default: none fails."""

class ComponentSpecEventBuilder(TypedDict):
    """Global data concentrators: where the sub-events of an event meet."""

    type: Literal['event_builder']
    builders: int
    """Number of builders."""
    assign: NotRequired[Assign]
    """Choice of the builder of the next event."""
    buffers: NotRequired[int | None]
    """Maximum number of events in a builder, from the first sub-event until the event is recorded. Default: unlimited; 1 with `assign: credit`."""
    preset: NotRequired[Preset | None]
    """Type of the ports, which sets rate and frame. Switches that connect the builders set it instead."""
    rate: NotRequired[str | None]
    """Rate of each port. Default: that of `preset`."""
    frame: NotRequired[FrameSpec | None]
    """Frame overhead. Default: that of `preset`."""
    overhead: NotRequired[TimeSpec]
    """Overhead of the transfer of a sub-event; through switches, of its concentrator before it sends."""
    assemble: NotRequired[TimeSpec]
    """Time to assemble an event. A builder assembles one event at a time."""
    give_up: NotRequired[str | None]
    """Time after which a builder abandons an event with a missing sub-event, counted from the arrival of the others. Default: never."""
    recorder: NotRequired[Copies | None]
    """Recorder of each builder: the name of a part, or its definition. Default: an event is complete when it is built."""

# Streams that format, compress and write events.
ComponentSpecRecorder = TypedDict(
    "ComponentSpecRecorder",
    {
        "type": "Literal['recorder']",
        # Number of streams.
        "streams": "NotRequired[int]",
        # Number of cores that the streams share. A stream uses at most one.
        "cores": "NotRequired[int]",
        # Throughput of a core running several threads relative to one (simultaneous multithreading).
        "smt": "NotRequired[float]",
        # CPU time of formatting. Default: none.
        "format": "NotRequired[FormatSpec]",
        # Compression of formatted events. Default: none.
        "compress": "NotRequired[CompressSpec | None]",
        # Targets by their names in `system`: volumes, or one archive.
        "to": "list[str]",
        # Server whose adapter sends the writes, over the switches that connect it and the volumes. Default: writes reach the volumes without a server or fabric.
        "from": "NotRequired[str | None]",
        # Choice of the volume of a write.
        "affinity": "NotRequired[Affinity]",
        # Size of a write, which a stream collects first: one request to a volume, or one file of an archive.
        "write": "str",
        # Memory of a stream for collected data and writes in flight. Default: twice `write`.
        "buffer": "NotRequired[str | None]",
    },
)

ComponentSpec: TypeAlias = "ComponentSpecStation | ComponentSpecDisk | ComponentSpecSsd | ComponentSpecFileSystem | ComponentSpecDeviceCache | ComponentSpecController | ComponentSpecArray | ComponentSpecLimiter | ComponentSpecShares | ComponentSpecShare | ComponentSpecWriteAheadLog | ComponentSpecLsmTree | ComponentSpecCopy | ComponentSpecPool | ComponentSpecLink | ComponentSpecFcLoop | ComponentSpecScsiBus | ComponentSpecSas | ComponentSpecSwitch | ComponentSpecServer | ComponentSpecFront | ComponentSpecNetwork | ComponentSpecDiskPool | ComponentSpecTapeLibrary | ComponentSpecArchive | ComponentSpecReadout | ComponentSpecEventBuilder | ComponentSpecRecorder"
"""A component, by its kind."""

TimeSpec: TypeAlias = "str | DrawnTime"
"""A time, either fixed (`8.5 ms`) or drawn for each request."""

class DrawnTimeExponential(TypedDict):
    """Exponential with this mean."""

    exponential: str

class DrawnTimeErlangErlang(TypedDict):
    """DrawnTimeErlangErlang"""

    stages: int
    """Number of stages."""
    mean: str
    """Mean of the sum."""

class DrawnTimeErlang(TypedDict):
    """The sum of several exponential stages."""

    erlang: DrawnTimeErlangErlang

# DrawnTimeUniformUniform
DrawnTimeUniformUniform = TypedDict(
    "DrawnTimeUniformUniform",
    {
        # Minimum.
        "from": "str",
        # Maximum.
        "to": "str",
    },
)

class DrawnTimeUniform(TypedDict):
    """Uniform between two times."""

    uniform: DrawnTimeUniformUniform

class DrawnTimeLognormal(TypedDict):
    """Lognormal: the logarithm is normal."""

    lognormal: LognormalSpec

class DrawnTimeHyperexponential(TypedDict):
    """Hyperexponential with two phases: more variable than exponential."""

    hyperexponential: HyperexponentialSpec

class DrawnTimeBoundedPareto(TypedDict):
    """Bounded Pareto: a heavy tail up to a largest value."""

    bounded_pareto: BoundedParetoSpec

class DrawnTimeEmpirical(TypedDict):
    """Values of a sample, such as measured times."""

    empirical: EmpiricalSpec

class DrawnTimeMix(TypedDict):
    """One of several times, with weights."""

    mix: list[TimeShare]

DrawnTime: TypeAlias = "DrawnTimeExponential | DrawnTimeErlang | DrawnTimeUniform | DrawnTimeLognormal | DrawnTimeHyperexponential | DrawnTimeBoundedPareto | DrawnTimeEmpirical | DrawnTimeMix"
"""A distribution of times."""

class LognormalSpec(TypedDict):
    """A time whose logarithm is normal."""

    mean: str
    """Mean."""
    cv: float
    """Coefficient of variation: the standard deviation over the mean."""

class HyperexponentialSpec(TypedDict):
    """One of two exponential times, with balanced means: each contributes half of the mean. Other phases are a `mix` of exponential times."""

    mean: str
    """Mean."""
    cv: float
    """Coefficient of variation: the standard deviation over the mean. 1 is exponential."""

# A time between two bounds whose density falls with a power: P(X > x) = ((from/x)^shape − (from/to)^shape) / (1 − (from/to)^shape).
BoundedParetoSpec = TypedDict(
    "BoundedParetoSpec",
    {
        # Exponent of the tail. The smaller, the heavier: 1 to 2 for many file sizes and session lengths.
        "shape": "float",
        # The smallest value, above zero.
        "from": "str",
        # The largest value.
        "to": "str",
    },
)

class EmpiricalSpec(TypedDict):
    """The values of a sample, each as often as it occurs there, and no others: the distribution is not smoothed."""

    values: NotRequired[list[str] | None]
    """The values. Leave out for a `file`."""
    file: NotRequired[str | None]
    """File beside the scenario with a value on each line, or CSV with a header; it may be compressed."""
    column: NotRequired[str | None]
    """Column of the values in a CSV file. Default: the file has no header, and a line is a value."""
    weight: NotRequired[str | None]
    """Column of a CSV file that says how often each value occurs. Default: once."""
    unit: NotRequired[str | None]
    """Unit of numbers in the file: `1 ms`. Default: each has its unit beside it, as in `8.5 ms`."""

class TimeShare(TypedDict):
    """One time of a mix."""

    time: TimeSpec
    """The time, fixed or drawn."""
    weight: float
    """Relative frequency."""

Order: TypeAlias = "Literal['first_come'] | Literal['priority']"
"""Order of service."""

DiskField: TypeAlias = "str | VariedDevice | DiskNumbers"
"""A device: one of the catalogue, a file of its own, a variation of either, or its parameters in full."""

class VariedDevice(TypedDict):
    """A device that equals another but for the fields given beside `like`."""

    like: str
    """The device that supplies all fields not given here, each marked as an estimate."""

class DiskNumbers(TypedDict):
    """The parameters of a drive, as in a data sheet."""

    name: NotRequired[str | None]
    """Manufacturer, model, size."""
    validation: NotRequired[str]
    """The measurements it was validated against, and the result; or `not validated`."""
    capacity: Sourced
    """Capacity in bytes."""
    cylinders: Sourced2
    """Number of cylinders."""
    rotation: Sourced3
    """Rotational speed."""
    media_rate_outer: Sourced4
    """Media rate of the outermost track."""
    media_rate_inner: Sourced4
    """Media rate of the innermost track."""
    seek_read: SeekTimes
    """Seek times for reads."""
    seek_write: SeekTimes
    """Seek times for writes."""
    overhead: NotRequired[Sourced5]
    """Overhead per request: command, controller, interface."""
    price: NotRequired[Sourced6 | None]
    """Price of one drive in any currency; `optimise` adds them up."""
    power: NotRequired[Sourced6 | None]
    """Power draw when busy, in watts."""
    rack_units: NotRequired[Sourced6 | None]
    """Rack units it occupies: its share of an enclosure."""
    mechanics: NotRequired[MechanicsSpec | None]
    """Mechanics, for `positioning: mechanical`. Default: derived from the fields above."""
    cache: NotRequired[CacheSpec | None]
    """Cache, for `positioning: mechanical`. Default: none."""
    interface: NotRequired[InterfaceSpec | None]
    """Interface, for `positioning: mechanical`. Default: `overhead` per command, and no transfer time."""
    queue: NotRequired[QueueSpec | None]
    """Command queue, for `positioning: mechanical`. Default: one command at a time."""

Sourced: TypeAlias = "str | Told"
"""A value and its source."""

class Told(TypedDict):
    """A value with its source."""

    value: str
    """The value."""
    source: NotRequired[str | None]
    """Publication of the value."""
    estimate: NotRequired[str | None]
    """How the value was estimated, if no source gives it."""

Sourced2: TypeAlias = "int | Told2"
"""A value and its source."""

class Told2(TypedDict):
    """A value with its source."""

    value: int
    """The value."""
    source: NotRequired[str | None]
    """Publication of the value."""
    estimate: NotRequired[str | None]
    """How the value was estimated, if no source gives it."""

Sourced3: TypeAlias = "str | Told3"
"""A value and its source."""

class Told3(TypedDict):
    """A value with its source."""

    value: str
    """The value."""
    source: NotRequired[str | None]
    """Publication of the value."""
    estimate: NotRequired[str | None]
    """How the value was estimated, if no source gives it."""

Sourced4: TypeAlias = "str | Told4"
"""A value and its source."""

class Told4(TypedDict):
    """A value with its source."""

    value: str
    """The value."""
    source: NotRequired[str | None]
    """Publication of the value."""
    estimate: NotRequired[str | None]
    """How the value was estimated, if no source gives it."""

class SeekTimes(TypedDict):
    """A seek curve from data-sheet values: a + b dᵖ for a distance d."""

    track_to_track: Sourced5
    """Seek to the next cylinder."""
    average: NotRequired[Sourced5 | None]
    """Mean seek between random cylinders. Default: follows from the other two with p = 1/2."""
    full_stroke: Sourced5
    """Seek from the first cylinder to the last."""

Sourced5: TypeAlias = "str | Told5"
"""A value and its source."""

class Told5(TypedDict):
    """A value with its source."""

    value: str
    """The value."""
    source: NotRequired[str | None]
    """Publication of the value."""
    estimate: NotRequired[str | None]
    """How the value was estimated, if no source gives it."""

Sourced6: TypeAlias = "float | Told6"
"""A value and its source."""

class Told6(TypedDict):
    """A value with its source."""

    value: float
    """The value."""
    source: NotRequired[str | None]
    """Publication of the value."""
    estimate: NotRequired[str | None]
    """How the value was estimated, if no source gives it."""

class MechanicsSpec(TypedDict):
    """Mechanical parameters beyond a data sheet."""

    source: NotRequired[str | None]
    """Source of these values."""
    head_switch: NotRequired[str | None]
    """Head switch within a cylinder. Default: the seek time to the next cylinder."""
    write_settle: NotRequired[str | None]
    """Additional settle time of a seek or head switch before a write. Negative in some DiskSim files; no move takes less than zero time. Default: the difference of `seek_write` and `seek_read` to the next cylinder."""
    write_retries: NotRequired[str | float | None]
    """Share of writes that lose a revolution because the head has not settled when their sector arrives."""
    read_retries: NotRequired[str | float | None]
    """Share of reads that lose a revolution, because the head has not settled when their sector arrives or the sector must be read again."""
    zero_latency: NotRequired[bool]
    """If true, access to a track starts at whichever of its sectors comes first (zero-latency access)."""
    zero_latency_writes: NotRequired[bool | None]
    """Zero-latency access for writes. Default: as `zero_latency`."""
    inward_more: NotRequired[str]
    """Additional time of inward seeks over `seek`: the force of air and cable on the arm helps one direction only."""
    outward_more: NotRequired[str]
    """Additional time of outward seeks over `seek`."""
    seek: NotRequired[list[list[int | str]]]
    """Seek times as (cylinders, time) with increasing distances, interpolated and extrapolated linearly. Default: the curve of `seek_read`."""
    layout: NotRequired[LayoutSpec | None]
    """Layout of sectors. Default: sixteen zones, as many surfaces as the capacity needs, and skews just large enough to switch tracks and settle for a write."""

class LayoutSpec(TypedDict):
    """Layout of sectors on the platters."""

    surfaces: int
    """Number of surfaces that hold data."""
    order: NotRequired[TrackOrder]
    """Order of the tracks in a cylinder."""
    spares: NotRequired[Spares]
    """Location of spare sectors."""
    slips_use_spares: NotRequired[bool]
    """If true, slipped sectors use up spares; otherwise all later sectors of the zone shift."""
    slips_skew: NotRequired[SlipsSkew | None]
    """Slipped sectors that also shift the start of later tracks. Default: none."""
    zones: list[ZoneSpec]
    """The zones, from the outermost."""

TrackOrder: TypeAlias = "Literal['conventional'] | Literal['serpentine'] | Literal['zone_serpentine']"
"""Order of the tracks in a cylinder."""

class SparesCylinders(TypedDict):
    """At the end of each group of this many cylinders."""

    cylinders: int

Spares: TypeAlias = "Literal['none'] | Literal['zone_tracks'] | Literal['track_end'] | Literal['cylinder_end'] | Literal['cylinder_front'] | SparesCylinders | Literal['zone_end']"
"""Location of spare sectors. `spares` of each zone sets their number."""

SlipsSkew: TypeAlias = "Literal['cylinders'] | Literal['tracks']"
"""Slipped sectors of a zone that shift the start of a track by one sector each."""

class ZoneSpec(TypedDict):
    """A zone: cylinders with the same number of sectors per track."""

    first_cylinder: int
    """Its first cylinder."""
    last_cylinder: int
    """Its last cylinder."""
    sectors: int
    """Sectors per track."""
    offset: NotRequired[float]
    """Angle of the zone's first sector, in sectors, relative to the origin common to all zones."""
    track_skew: NotRequired[float]
    """Track skew: sectors by which a track starts later than the previous one in its cylinder."""
    cylinder_skew: NotRequired[float]
    """Cylinder skew: sectors by which the first track of a cylinder starts later than the last track of the previous cylinder."""
    reserved: NotRequired[int]
    """Unused sectors at the start of the zone."""
    spares: NotRequired[int]
    """Number of spare sectors or tracks in each region named by `spares`."""
    slips: NotRequired[list[int]]
    """Slipped (skipped) defective sectors or tracks, numbered within the zone, in ascending order."""
    remaps: NotRequired[list[list[int | int]]]
    """Remapped defective sectors: (sector of the zone, sector of the zone that holds its data)."""

class CacheSpec(TypedDict):
    """The cache of a drive."""

    source: NotRequired[str | None]
    """Source of these values."""
    segments: int
    """Number of segments."""
    segment_size: str
    """Size of a segment."""
    read_ahead: NotRequired[ReadAhead]
    """Condition for reading ahead."""
    read_ahead_most: NotRequired[str | None]
    """Maximum read-ahead. Default: one segment."""
    read_ahead_least: NotRequired[str | None]
    """Minimum read-ahead after a read that continues a stream, even if other commands wait, but never more than the stream has read so far (the minimum prefetch of SCSI's caching page). Default: 0 B; read-ahead stops as soon as another command needs the arm."""
    read_ahead_on_hit: NotRequired[bool]
    """If true, a cache hit restarts read-ahead behind that segment when the drive is not reading ahead."""
    keeps_passing: NotRequired[bool]
    """If true, the cache keeps sectors that pass under the head while the drive waits for the first sector of a read."""
    writes: NotRequired[Writes]
    """Time at which a write completes."""
    keeps_written: NotRequired[bool | None]
    """If true, reads hit written data in the cache. Default: true with `writes: back`."""
    write_room: NotRequired[str | None]
    """With `writes: back`: maximum amount of dirty data. Write data arrives one segment at a time; each segment waits for space. Default: one segment."""
    writes_held: NotRequired[int | None]
    """With `writes: back`: maximum number of dirty writes, contiguous ones counted as one. Default: limited by space only."""
    drain: NotRequired[Scheduling]
    """With `writes: back`: order in which dirty data is written."""
    drain_after: NotRequired[str | None]
    """With `writes: back`: time without commands after which the drive begins to write dirty data; until then, commands find its arm free. Earlier, it writes only what must make room. Default: 0 s, whenever it is idle."""
    alice_reading: NotRequired[AliceReading]
    """With `writes: back`: rules of a drive's write cache as read from the paper on the ALICE storage area network. Default: off."""

ReadAhead: TypeAlias = "Literal['never'] | Literal['always'] | Literal['sequential'] | Literal['track'] | Literal['next_track']"
"""Condition under which a drive reads ahead."""

Writes: TypeAlias = "Literal['through'] | Literal['back']"
"""Time at which a write completes."""

class SchedulingAgedSptfAgedSptf(TypedDict):
    """SchedulingAgedSptfAgedSptf"""

    weight: float
    """Reduction of the estimated positioning time per unit of waiting time."""

class SchedulingAgedSptf(TypedDict):
    """Shortest positioning time first, with preference for requests that have waited long."""

    aged_sptf: SchedulingAgedSptfAgedSptf

Scheduling: TypeAlias = "Literal['fcfs'] | Literal['sstf'] | Literal['look'] | Literal['c_look'] | Literal['sptf'] | SchedulingAgedSptf"
"""Scheduling policy of a drive."""

class AliceReading(TypedDict):
    """Four rules of a drive's write cache under which the bandwidth of an array falls once the stripe units of all streams together fill the caches of its disks: a reading of "Storage area network simulation … ALICE" (Vickovic et al.), whose text reports that fall and says only that requests are split to match the cache. All are off by default. No manual of a drive wholly supports them: use them to study that paper, not to predict a drive. They apply to data that crosses the bus of a controller."""

    reserves_commands: NotRequired[bool]
    """Write data is not transferred until there is space for all of it, or for a segment of a larger write. A Maxtor manual says otherwise: data is accepted until the buffer is full."""
    starts_with_all: NotRequired[bool]
    """The drive starts to write to the platter when all data has arrived, or a segment of a larger write. Weakly supported: IBM manuals have drives write to the platter "subsequently" to receiving all data."""
    reports_large_late: NotRequired[bool]
    """A write at least as large as its segment completes when it is on the platter. A hypothesis: in Seagate manuals a drive returns status once data is in the cache; larger commands are not mentioned."""
    keeps_stream_segments: NotRequired[bool]
    """Each open write stream keeps a segment as large as its writes; the active one has the rest. Partly supported: Seagate's circular segments keep written data."""

class InterfaceSpec(TypedDict):
    """The interface of a drive and its overheads."""

    source: NotRequired[str | None]
    """Source of these values."""
    read_rate: NotRequired[str | None]
    """Transfer rate to the host. Default: no transfer time."""
    write_rate: NotRequired[str | None]
    """Transfer rate from the host. Default: no transfer time."""
    read_watermark: NotRequired[float | None]
    """Amount of a read that must be in the cache before its transfer starts."""
    read_hit: NotRequired[Command | None]
    """Overhead of a read that hits the cache. Default of this and the next three: the drive's `overhead`."""
    read_miss: NotRequired[Command | None]
    """Overhead of any other read."""
    write_hit: NotRequired[Command | None]
    """Overhead of a write that continues the previous one."""
    write_miss: NotRequired[Command | None]
    """Overhead of any other write."""
    elsewhere: NotRequired[Elsewhere | None]
    """Repositioning overhead: additional time of a command whose data is elsewhere, unless the cache answers it or it continues the previous command."""
    data_preparation: NotRequired[str]
    """Time before the data of every command, once the drive has the bus."""
    reconnected_write: NotRequired[ReconnectedWrite | None]
    """Overhead of a write to the platter that follows a write without continuing it, if the drive disconnects before it accepts the data; replaces `write_miss` and `reselect`. Default: as for any other write."""
    write_watermark: NotRequired[float | None]
    """Amount of a write that must be in the cache before it is written to the platter; always enough for the rest to keep up with the platter."""
    write_start: NotRequired[str]
    """Amount of a write (all of a shorter one) that must be in the cache before it is written to the platter."""
    reselect: NotRequired[str]
    """Reselection overhead: before the data of a read, after the data of a write."""
    read_completion: NotRequired[str]
    """Time after the data of a read."""
    write_completion: NotRequired[str]
    """Time after the data of a write."""

class Command(TypedDict):
    """Overhead of a command by the previous one."""

    after_read: str
    """After a read."""
    after_write: str
    """After a write."""

class Elsewhere(TypedDict):
    """Additional time of a command by the distance between its first sector and the last sector of the previous command. All that apply are added."""

    other_track: NotRequired[str]
    """On another track."""
    other_cylinder: NotRequired[str]
    """In another cylinder."""
    other_zone: NotRequired[str]
    """In another zone."""

class ReconnectedWrite(TypedDict):
    """A write for which the drive disconnects before the data."""

    seek_after: str
    """Time from the command until the arm starts to move."""
    data_after: str
    """Time from the command until the drive has the bus again for the data."""
    reselect: str
    """Time to reselect when the data is on the platter."""

class QueueSpec(TypedDict):
    """The command queue of a drive."""

    source: NotRequired[str | None]
    """Source of these values."""
    scheduling: NotRequired[Scheduling]
    """Scheduling policy."""
    depth: NotRequired[int]
    """Commands it can hold and reorder; the rest queue in the host."""
    batch: NotRequired[int]
    """Maximum number of completions reported together; fewer if no command waits. Default: each is reported alone."""
    margin: NotRequired[str | float | None]
    """Margin added to estimated seeks when choosing by positioning time: a sector narrowly missed costs a revolution, and long seeks are less certain than short ones. Default: 0 %."""
    longest_wait: NotRequired[str | None]
    """A command that has waited in the drive longer than this is served first, regardless of `scheduling`. Without a limit, policies that prefer near commands can starve distant ones. Default: no limit."""

Positioning: TypeAlias = "Literal['addressed'] | Literal['coupled'] | Literal['independent'] | Literal['mechanical']"
"""How positions on the platter are modelled."""

SsdField: TypeAlias = "str | VariedDevice | SsdNumbers"
"""A device: one of the catalogue, a file of its own, a variation of either, or its parameters in full."""

class SsdNumbers(TypedDict):
    """The parameters of a solid-state drive."""

    name: NotRequired[str | None]
    """Manufacturer, model and capacity."""
    validation: NotRequired[str]
    """Measurements that it was validated against, with the error; or `not validated`."""
    capacity: Sourced
    """Addressable capacity."""
    interface: Sourced7
    """Fastest interface that it supports."""
    queue_depth: NotRequired[Sourced2 | None]
    """Maximum number of commands in the drive; the rest wait in the host. Default: 32 for SATA (native command queueing), 64 Ki for NVMe."""
    command: NotRequired[Sourced5 | None]
    """Time for which its controller is busy with a command: it begins one after another, so the inverse is the most commands a second. Default: no limit of its own."""
    read_latency: Sourced5
    """Latency that its controller and firmware add to a read, excluding flash and interface. It delays no other command."""
    write_latency: Sourced5
    """Latency of writes."""
    price: NotRequired[Sourced6 | None]
    """Price of one drive in any currency; `optimise` adds them up."""
    power: NotRequired[Sourced6 | None]
    """Power draw when busy, in watts."""
    rack_units: NotRequired[Sourced6 | None]
    """Rack units it occupies: its share of an enclosure."""
    flash: FlashNumbers
    """Flash memory."""
    buffer: BufferNumbers
    """Write buffer."""

Sourced7: TypeAlias = "Interface | Told7"
"""A value and its source."""

Interface: TypeAlias = "Literal['sata_1.5g'] | Literal['sata_3g'] | Literal['sata_6g'] | Literal['sas_3g'] | Literal['sas_6g'] | Literal['sas_12g'] | Literal['sas_22_5g'] | Literal['nvme_gen3_x2'] | Literal['nvme_gen4_x2'] | Literal['nvme_gen5_x2'] | Literal['nvme_gen3_x4'] | Literal['nvme_gen4_x4'] | Literal['nvme_gen5_x4']"
"""An interface by its name: its rate after line coding, its frames, and whether reads and writes share the wire."""

class Told7(TypedDict):
    """A value with its source."""

    value: Interface
    """The value."""
    source: NotRequired[str | None]
    """Publication of the value."""
    estimate: NotRequired[str | None]
    """How the value was estimated, if no source gives it."""

class FlashNumbers(TypedDict):
    """The flash of a drive."""

    over_provisioning: Sourced8
    """Over-provisioning: flash in excess of the capacity, as a share of the capacity."""
    channels: Sourced2
    """Number of channels between controller and dies."""
    dies: Sourced2
    """Total number of dies on all channels. A die performs one operation at a time."""
    page: Sourced
    """Page size."""
    planes: Sourced2
    """Number of planes of a die. Pages that follow each other, one on each plane, are programmed together, and read together for one request."""
    independent_reads: NotRequired[Sourced9 | None]
    """If true, each plane reads for itself, whatever the other planes of its die read (independent plane reads). Programs and erasures take the whole die. Default: a die reads for one request at a time."""
    block_pages: Sourced2
    """Pages per block of one plane: the unit of erasure."""
    read: Sourced5
    """Time to read a page into the die's register."""
    program: Sourced5
    """Time to program one page of each plane."""
    erase: Sourced5
    """Time to erase a block."""
    channel_rate: Sourced4
    """Data rate of one channel."""
    suspend: NotRequired[SuspendNumbers | None]
    """Suspension of programs and erasures by reads. Default: a read waits until its die has finished."""
    collection: NotRequired[Collection]
    """Garbage collection: how the next block to erase is chosen."""

Sourced8: TypeAlias = "str | float | Told8"
"""A value and its source."""

class Told8(TypedDict):
    """A value with its source."""

    value: str | float
    """The value."""
    source: NotRequired[str | None]
    """Publication of the value."""
    estimate: NotRequired[str | None]
    """How the value was estimated, if no source gives it."""

Sourced9: TypeAlias = "bool | Told9"
"""A value and its source."""

class Told9(TypedDict):
    """A value with its source."""

    value: bool
    """The value."""
    source: NotRequired[str | None]
    """Publication of the value."""
    estimate: NotRequired[str | None]
    """How the value was estimated, if no source gives it."""

class SuspendNumbers(TypedDict):
    """Suspension of a program or an erasure by reads of the same die."""

    time: Sourced5
    """Time to suspend the operation, before the read starts."""
    reads: Sourced2
    """Maximum number of reads served before the operation completes. Later reads wait for it."""

class CollectionChoices(TypedDict):
    """The block with the fewest valid pages among this number of blocks drawn at random."""

    choices: int

Collection: TypeAlias = "Literal['greedy'] | Literal['fifo'] | CollectionChoices"
"""Rule by which garbage collection chooses the block to erase."""

class BufferNumbers(TypedDict):
    """The write buffer of a drive. A write completes when its data is in the buffer, whether or not the buffer survives a power failure; a flush, and a durable write, when it is stable."""

    size: Sourced
    """Capacity of the buffer."""
    halves: NotRequired[bool]
    """If true, the buffer consists of two halves: one fills while the other is written to flash, and a half becomes free when its last page is on flash. Default: space becomes free page by page."""
    power_loss_protection: NotRequired[bool]
    """True if capacitors keep the buffer until it is on flash when power is lost: what is in it is stable, and a flush costs its command alone. Default: a flush waits until all pages that it covers are on flash. (The mapping is kept either way, at no cost.)"""

ReplacementSpec: TypeAlias = "Literal['lru'] | Literal['arc'] | Literal['2q']"
"""Replacement policy of a cache."""

class Allocation(TypedDict):
    """Allocation groups, which receive extents in turn."""

    groups: int
    """Number of groups, which divide the volume equally."""
    extent: str
    """Extent size. A multiple of the stripe width preserves full-stripe writes."""

CachedWrites: TypeAlias = "Literal['through'] | Literal['back'] | Literal['around']"
"""Treatment of writes by a cache on a device."""

class CacheStartHits(TypedDict):
    """It is full, and has each block with this probability: the hit ratio of a cache in use, which a run is too short to reach."""

    hits: str | float

CacheStart: TypeAlias = "Literal['empty'] | Literal['full'] | CacheStartHits"
"""Contents of a cache at the start of a run."""

class ArrayCacheSpec(TypedDict):
    """A cache between hosts and disks: of one array, or of all arrays of a controller."""

    size: str
    """Capacity: dirty data and lines for reads."""
    writes: NotRequired[WritePolicy]
    """Time at which a write completes."""
    line: NotRequired[str | None]
    """Line size. A read miss fetches whole lines; the data of a stripe is a multiple of it. Default: 16 KiB, or the largest smaller power of two that fits. An estimate: an EMC CLARiiON has pages of 2 to 16 KiB, 8 by default, and a Hitachi Universal Storage Platform segments of 16 KiB."""
    replacement: NotRequired[ReplacementSpec]
    """Replacement policy: the line that gives way."""
    read_ahead: NotRequired[str | None]
    """Read-ahead per sequential stream, in whole stripes. Default: none."""
    stripes_at_once: NotRequired[int | None]
    """Number of stripes destaged in parallel, and of stripes read ahead in parallel. Default, an estimate: 8 are destaged while the cache is filled up to `destage.high`, then more in proportion, and 4 for each disk (8 to 1024) where it is full or a write waits for space. Read-ahead is bounded by `read_ahead` alone, and neighbouring stripes are one command to a disk."""
    run: NotRequired[str]
    """Amount of one stream moved before it switches to another, in both directions; larger runs need fewer seeks. Default: 8 MiB, an estimate."""
    destage: NotRequired[DestageSpec]
    """Rules of destaging partial stripes. Full stripes are destaged at once."""
    volatile: NotRequired[bool]
    """True if its contents are lost with power: a flush then waits until all that it covers is on the disks, and a write that must be durable, too. Default: batteries or flash keep them, and a flush is answered at once."""

WritePolicy: TypeAlias = "Literal['through'] | Literal['back']"
"""Time at which a write to an array with a cache completes."""

class DestageSpec(TypedDict):
    """Rules of destaging partial stripes."""

    high: NotRequired[str | float]
    """Destaging starts at this share of the cache. Default: 80 %, an estimate."""
    low: NotRequired[str | float]
    """Destaging stops at this share. Default: 60 %, an estimate."""
    idle: NotRequired[str]
    """Everything is destaged after this time without requests. Default: 1 s, an estimate."""
    read_ahead_share: NotRequired[str | float | None]
    """Read-ahead during destaging, as a share of the bytes destaged: 0 % stops it, so that writers keep their rate and readers starve. Default: unlimited."""

class LevelErasureErasure(TypedDict):
    """LevelErasureErasure"""

    parity: int
    """Number of parity units, which is the number of disks that can fail without loss."""

class LevelErasure(TypedDict):
    """Any number of parity units per stripe, rotated over the disks."""

    erasure: LevelErasureErasure

Level: TypeAlias = "Literal['raid0'] | Literal['raid1'] | Literal['raid10'] | Literal['raid01'] | Literal['raid4'] | Literal['raid5'] | Literal['raid6'] | LevelErasure"
"""RAID level: how data is distributed over the disks."""

Copies: TypeAlias = "str | list[str] | ComponentSpec"
"""The elements of an array."""

Queueing: TypeAlias = "Literal['fork_join'] | Literal['split_merge']"
"""Overlap of consecutive requests."""

FirstUnit: TypeAlias = "Literal['addressed'] | Literal['first_disk']"
"""Disk on which a request starts."""

Rotation: TypeAlias = "Literal['left_symmetric'] | Literal['left_asymmetric'] | Literal['right_symmetric'] | Literal['right_asymmetric'] | Literal['fixed']"
"""Placement of parity, with the names of Linux md."""

ReadFrom: TypeAlias = "Literal['round_robin'] | Literal['shortest_queue'] | Literal['nearest']"
"""Policy that selects the copy to read."""

# When an array evicts a member that is slow but has not failed. An evicted member is treated as a failed one until it is replaced. Only an array that misses no data evicts, so one member at a time.
EvictSlowSpec = TypedDict(
    "EvictSlowSpec",
    {
        # A member is slow in a window if its accesses take more than this many times as long as those of its peers: its mean time over the median of their mean times. An estimate: Hao et al. (FAST 2016) call a drive slow from 2 on.
        "factor": "NotRequired[float]",
        # How long a member must be slow, in each window that says something about it, to be evicted. The default is the time over which OpenZFS counts slow accesses before it degrades a device (`slow_io_t`).
        "for": "NotRequired[str]",
        # Time over which the times of accesses are averaged. Default: a tenth of `for`, an estimate.
        "window": "NotRequired[str | None]",
        # Number of accesses to a member in a window below which the window says nothing about it: an estimate.
        "accesses": "NotRequired[int]",
    },
)

class DeclusteredSpec(TypedDict):
    """Declustering: stripes narrower than the array, spread over all disks by permutations."""

    width: int
    """Number of units in a stripe, parity included."""
    spares: NotRequired[int]
    """Number of disks that each row leaves free for rebuilds (distributed spare)."""
    row: NotRequired[str | None]
    """Bytes of each disk that consecutive stripes fill before the next ones lie on other disks, so that rebuilds read and write long runs. A multiple of `stripe_unit`. Default: `stripe_unit`; ZFS's dRAID has 16 MiB."""

class RebuildSpec(TypedDict):
    """How lost or outdated data of a disk is rebuilt."""

    rate: NotRequired[str | None]
    """Maximum write rate of the rebuild. Default: limited by the disks only."""
    at_least: NotRequired[str]
    """Minimum rate while hosts keep the array busy. Only for `foreground_first`. The default is that of Linux md."""
    to: NotRequired[Target | None]
    """Destination of the data of a failed disk. Default: the distributed spare if the layout has one, otherwise a hot spare."""
    priority: NotRequired[Precedence]
    """Priority of the rebuild against host requests."""
    chunk: NotRequired[str]
    """Number of bytes of a disk that are read, then written, together. The default is an estimate; controllers differ."""
    in_flight: NotRequired[int | None]
    """Number of chunks in progress at a time. Default: two, one read while the other is written; with a distributed spare two for every `width` disks, because all disks take part. An estimate: Linux md and OpenZFS limit the bytes in flight instead."""

Target: TypeAlias = "Literal['hot_spare'] | Literal['distributed_spare']"
"""Destination of the data of a failed disk. Without a spare the rebuild waits for a replacement."""

Precedence: TypeAlias = "Literal['equal'] | Literal['foreground_first']"
"""Priority of background work against host requests."""

class ScrubSpec(TypedDict):
    """A scrub: all units of each stripe are read and compared with its parity, or with each other if they are copies. Disks that have failed are skipped. A scrub pauses while the array rebuilds, and corrects nothing, because latent errors are not simulated."""

    starts: NotRequired[str]
    """Time at which it begins."""
    position: NotRequired[str | float]
    """Share of the stripes before the one that is scrubbed first; after the last stripe it goes on with the first. Disks are slower towards their last stripes, so half stands for the mean of a scrub that takes longer than the run."""
    rate: NotRequired[str | None]
    """Maximum rate at which each disk is read. Default: limited by the disks only."""
    at_least: NotRequired[str]
    """Minimum rate at which each disk is read while hosts keep the array busy. Only for `foreground_first`. The default is that of Linux md."""
    priority: NotRequired[Precedence]
    """Priority of the scrub against host requests."""
    chunk: NotRequired[str]
    """Number of bytes of a disk that are read together. The default is that of rebuilds, an estimate."""
    in_flight: NotRequired[int]
    """Number of chunks in progress at a time. The default is that of rebuilds, an estimate."""

Via: TypeAlias = "str | list[str]"
"""The path from an array to its disks."""

Access: TypeAlias = "Literal['active_passive'] | Literal['active_active']"
"""Sharing of the requests to an array by two controllers."""

class BitmapSpec(TypedDict):
    """A write-intent bitmap, as Linux md has it."""

    chunk: NotRequired[str]
    """Region of each disk that a bit stands for. Default: 64 MiB, that of mdadm."""
    delay: NotRequired[str]
    """Time between two passes that clear bits of regions without writes. Default: 5 s, that of mdadm."""

VolumeField: TypeAlias = "str | VariedDevice | VolumeNumbers"
"""A device: one of the catalogue, a file of its own, a variation of either, or its parameters in full."""

class VolumeNumbers(TypedDict):
    """The limits of a volume type."""

    name: NotRequired[str | None]
    """Cloud, volume type and size."""
    validation: NotRequired[str]
    """Measurements that it was validated against, with the error; or `not validated`."""
    operations: NotRequired[OperationsLimit | None]
    """Limit of operations."""
    bytes: NotRequired[BytesLimit | None]
    """Limit of bytes."""

class OperationsLimit(TypedDict):
    """A limit of operations per second. A request that needs more operations than are saved waits for the rest."""

    rate: Sourced3
    """Operations per second in the long run."""
    burst: NotRequired[Sourced6 | None]
    """Maximum number of unused operations that are saved and may pass later: the credits of a cloud volume. Default: those of a tenth of a second, as in QEMU, and at least one."""
    peak: NotRequired[Sourced3 | None]
    """Rate at which saved operations may pass, of which those of a tenth of a second pass at once. Default: at once."""
    unit: NotRequired[Sourced | None]
    """A larger request counts as several operations, one for each part of this size. Default: each request is one."""

class BytesLimit(TypedDict):
    """A limit of bytes per second. A request larger than what is saved waits for the rest."""

    rate: Sourced4
    """Bytes per second in the long run."""
    burst: NotRequired[Sourced | None]
    """Maximum number of unused bytes that are saved and may pass later. Default: those of a tenth of a second."""
    peak: NotRequired[Sourced4 | None]
    """Rate at which saved bytes may pass, of which those of a tenth of a second pass at once. Default: at once."""

Excess: TypeAlias = "Literal['queue'] | Literal['refuse']"
"""Treatment of requests beyond a limit."""

PolicySpec: TypeAlias = "Literal['mclock'] | Literal['priority'] | Literal['round_robin'] | Literal['wpq']"
"""Policy by which shares choose who is next."""

class ShareNumbers(TypedDict):
    """A share in operations."""

    reservation: NotRequired[str | None]
    """Operations per second that it gets first, or a part of `capacity`, under `mclock`. Default: none."""
    weight: NotRequired[float | None]
    """Its part beside the weights of others: of what reservations leave under `mclock`, operations in each turn under `round_robin`, or of the chance to be next under `wpq`. Default: 1."""
    limit: NotRequired[str | None]
    """Operations per second that it gets at most, or a part of `capacity`, under `mclock`. Default: no limit."""
    priority: NotRequired[int | None]
    """Priority, under `priority`. Smaller numbers are more urgent. Default: 0."""
    read_cost: NotRequired[str | None]
    """Size that each of its reads counts as, in operations of `unit`, as Ceph's `osd_recovery_cost` once was. Default: its own."""
    write_cost: NotRequired[str | None]
    """Size that each of its writes counts as. Default: its own."""

class CauseShares(TypedDict):
    """Shares of work by its cause. Default of each: `background`; of hosts, an equal share."""

    host: NotRequired[ShareNumbers | None]
    """Requests of hosts that come without a `share` of their own."""
    destage: NotRequired[ShareNumbers | None]
    """Data that leaves write-back caches."""
    rebuild: NotRequired[ShareNumbers | None]
    """Rebuilds, and recovery of pools."""
    scrub: NotRequired[ShareNumbers | None]
    """Scrubs, and streams of `cause: scrub`."""
    migration: NotRequired[ShareNumbers | None]
    """Moves between tiers."""
    compaction: NotRequired[ShareNumbers | None]
    """Merges of tables."""

class FastSpec(TypedDict):
    """A faster component for the first levels of a store. Level 0 belongs there, and as many others as fit together when each is as large as it may be, and level 0 as large as level 1, which is RocksDB's rule for `db_paths`. A table that finds no room there goes to `to`, as in BlueFS."""

    to: str
    """Component that holds these tables."""
    at: NotRequired[str]
    """First byte of the tables there. Default: 0."""
    size: str
    """Space for tables there."""

class Level0Spec(TypedDict):
    """Numbers of tables in level 0."""

    compact_at: NotRequired[int]
    """From which on they are compacted: `level0_file_num_compaction_trigger`. Default: 4."""
    slow_at: NotRequired[int]
    """From which on puts are slowed down: `level0_slowdown_writes_trigger`. Default: 20."""
    stop_at: NotRequired[int]
    """From which on puts stop: `level0_stop_writes_trigger`. Default: 36."""

class DebtSpec(TypedDict):
    """Sizes of what compactions have yet to move."""

    slow_at: NotRequired[str]
    """From which on puts are slowed down: `soft_pending_compaction_bytes_limit`. Default: 64 GiB."""
    stop_at: NotRequired[str]
    """From which on puts stop: `hard_pending_compaction_bytes_limit`. Default: 256 GiB."""

Clients: TypeAlias = "Literal['outside'] | Literal['in_racks']"
"""Where the clients of a pool are."""

class ErasureSpec(TypedDict):
    """An erasure code: each stripe of an object has `data` units, and `parity` units computed from them, any of which may be lost."""

    data: int
    """Units of data in a stripe."""
    parity: int
    """Units of parity in a stripe."""
    unit: NotRequired[str]
    """Size of a unit. The default is that of Ceph."""
    access: NotRequired[StripeAccess]
    """Least data that is read or written at once."""
    small_writes: NotRequired[SmallWrites]
    """Reads before a write of less than a stripe."""

StripeAccess: TypeAlias = "Literal['parts'] | Literal['whole_stripes']"
"""Least data of an erasure code that is read or written at once."""

SmallWrites: TypeAlias = "Literal['cheaper'] | Literal['reconstruct'] | Literal['modify']"
"""Reads before a write of less than a stripe, where both ways are open."""

Domain: TypeAlias = "Literal['drive'] | Literal['server'] | Literal['rack']"
"""Failure domain of a pool."""

Placement: TypeAlias = "Literal['straw2'] | Literal['rendezvous']"
"""Choice of the drives of a group."""

ReadReplica: TypeAlias = "Literal['primary'] | Literal['any'] | Literal['nearest']"
"""Replica that reads are served from."""

class RecoverySpec(TypedDict):
    """How a pool recovers."""

    out_after: NotRequired[str]
    """Time after which a drive that is down is out: its pieces get other places. Before, only what it missed is written when it returns. The default is that of Ceph (`mon_osd_down_out_interval`)."""
    groups_per_drive: NotRequired[int]
    """Number of groups that recover at a time from or to a drive, its reservations (`osd_max_backfills`)."""
    objects_per_group: NotRequired[int]
    """Number of objects of a group that recover at a time (`osd_recovery_max_active`, that of hard disks)."""

class PoolScrubSpec(TypedDict):
    """A scrub: each server reads the pieces that it holds of a group's objects, and the primary compares their digests, whose messages take no time. No group begins while anything recovers. It corrects nothing, because latent errors are not simulated. Defaults are those of Ceph."""

    starts: NotRequired[str]
    """Time at which it begins."""
    groups_per_drive: NotRequired[int]
    """Number of groups that are scrubbed at a time on a drive (`osd_max_scrubs`; 1 before Reef)."""
    objects: NotRequired[int]
    """Number of objects of a group that are compared together; writes to them wait meanwhile (`osd_scrub_chunk_max`)."""
    read: NotRequired[str]
    """Number of bytes that a drive reads at once; one read of a group follows the other (`osd_deep_scrub_stride`; 512 KiB in older versions)."""
    sleep: NotRequired[str]
    """Pause of a group between its objects that are compared together (`osd_scrub_sleep`)."""

Preset: TypeAlias = "Literal['fc_1g'] | Literal['fc_2g'] | Literal['fc_4g'] | Literal['fc_8g'] | Literal['fc_16g'] | Literal['fc_32g'] | Literal['ethernet_1g'] | Literal['ethernet_10g'] | Literal['ethernet_25g'] | Literal['ethernet_40g'] | Literal['ethernet_100g'] | Literal['ethernet_200g'] | Literal['ethernet_400g'] | Literal['roce_25g'] | Literal['roce_100g'] | Literal['roce_200g'] | Literal['roce_400g'] | Literal['infiniband_sdr_1x'] | Literal['infiniband_sdr'] | Literal['infiniband_ddr'] | Literal['infiniband_qdr'] | Literal['infiniband_fdr'] | Literal['infiniband_edr'] | Literal['infiniband_hdr'] | Literal['infiniband_ndr']"
"""A type of wire: its rate after line coding, and its frames."""

FrameSpec: TypeAlias = "Protocol | Frame"
"""Frame format: a protocol, or payload and overhead."""

Protocol: TypeAlias = "Literal['fibre_channel'] | Literal['tcp'] | Literal['tcp_jumbo'] | Literal['roce'] | Literal['infiniband']"
"""A protocol: payload and overhead of its frames. All frames but the last are full."""

class Frame(TypedDict):
    """Payload and overhead of a frame."""

    payload: str
    """Payload of a full frame."""
    overhead: str
    """Overhead per frame, including the gap to the next."""

Duplex: TypeAlias = "Literal['half'] | Literal['full']"
"""Sharing of the wire by the two directions of a link."""

Policy: TypeAlias = "Literal['fairness'] | Literal['read_command_first'] | Literal['fl_port_first'] | Literal['commands_first']"
"""Access policy of a loop."""

ScsiPreset: TypeAlias = "Literal['scsi1'] | Literal['fast'] | Literal['fast_wide'] | Literal['ultra'] | Literal['ultra_wide'] | Literal['ultra2'] | Literal['ultra160'] | Literal['ultra320']"
"""Generation of parallel SCSI."""

SasPreset: TypeAlias = "Literal['sas_3g'] | Literal['sas_6g'] | Literal['sas_12g'] | Literal['sas_22_5g']"
"""Generation of SAS."""

Connection: TypeAlias = "str | Linked"
"""A neighbour of a switch."""

class Linked(TypedDict):
    """A neighbour and its wires."""

    to: str
    """Name of the neighbour in `system`."""
    links: NotRequired[int]
    """Number of wires, each on a port of its own. Concentrators and builders share those that lead to them evenly, in order."""
    preset: NotRequired[Preset | None]
    """Type of each wire. Default: that of the switch."""
    rate: NotRequired[str | None]
    """Rate of each wire per direction. Default: that of the switch."""
    metres: NotRequired[int]
    """Length of each wire in metres (5 ns each)."""

Forwarding: TypeAlias = "Literal['cut_through'] | Literal['store_and_forward']"
"""Time at which a frame is forwarded: before or after it has fully arrived."""

Form: TypeAlias = "Literal['queued'] | Literal['direct']"
"""Internal structure of a switch."""

class AdapterSpec(TypedDict):
    """A host bus adapter."""

    command: NotRequired[str]
    """Processor time per command: one command after another."""
    latency: NotRequired[str]
    """Time that a command takes through the adapter and back besides, while others go on."""
    rate: NotRequired[str | None]
    """Rate at which data crosses the adapter's slot, in each direction: after packet headers, about 6.6 GB/s with eight lanes of PCIe 3.0, 13 GB/s of 4.0 and 26 GB/s of 5.0 (estimates). Default: no limit."""
    queue_depth: NotRequired[int | None]
    """Maximum number of commands outstanding per target; others wait. Default: no limit."""
    coalescing: NotRequired[Coalescing | None]
    """Interrupt coalescing. Default: one interrupt per completion."""

class Coalescing(TypedDict):
    """Interrupt coalescing: when the adapter interrupts its server."""

    most: int
    """Maximum number of completions per interrupt."""
    after: str
    """Maximum delay after the first completion."""
    above: NotRequired[str | None]
    """Completion rate, over the last 64, above which interrupts are coalesced. Default: always."""

Paths: TypeAlias = "Literal['round_robin'] | Literal['shortest_queue'] | Literal['first']"
"""Multipath policy."""

class PortClass(TypedDict):
    """A class of ports for files of certain sizes."""

    number: int
    """Number of ports."""
    above: NotRequired[str]
    """Minimum file size (exclusive)."""
    up_to: NotRequired[str | None]
    """Maximum file size (inclusive). Default: no limit."""

PortQueue: TypeAlias = "Literal['first_that_fits'] | Literal['head_blocks'] | Literal['joint']"
"""Queueing discipline for ports."""

class BetweenHosts(TypedDict):
    """How hosts differ: coefficients of variation between them (the standard deviation over the mean). What a host has is lognormal around the mean that the front has, drawn once for each host."""

    rate: NotRequired[float]
    """Of `client_rate`."""
    latency: NotRequired[float]
    """Of `put_latency` and `get_latency`, which share one factor."""

class Stalls(TypedDict):
    """Transfers that stand still once, before their data moves. Their port is held."""

    share: str | float
    """Share of transfers; with `per`, of those of that size."""
    per: NotRequired[str | None]
    """Size of the transfers that `share` is of. Larger ones go on for longer and stand still more often: with *s* bytes, the share is 1 − (1 − `share`) ^ (*s* / `per`). Default: transfers of all sizes stand still alike."""
    time: TimeSpec
    """How long each stands still."""

class Failures(TypedDict):
    """Attempts that fail after a part of their data, uniform from none to all of it. Such an attempt holds limits and a port as any other, and leaves nothing in the pool. All time before the last attempt counts as blocked at the front."""

    share: str | float
    """Share of attempts that fail."""
    retry_after: NotRequired[TimeSpec]
    """Time from a failure to the next attempt."""
    attempts: NotRequired[int]
    """Maximum number of attempts; when all of them fail, so does the request."""

Allocate: TypeAlias = "Literal['chain_by_chain'] | Literal['across_chains']"
"""Allocation policy for volumes."""

class DriveGroup(TypedDict):
    """Drives that share one path."""

    drives: int
    """Number of drives."""
    device: NotRequired[TapeDriveField | None]
    """Tape drive of the catalogue, where this group has others than the library: its numbers are those of the drives and of the cartridges in their silos. A cartridge goes to drives of another group only if they read its format, or write it. Default: the library's."""
    for_reads: NotRequired[int]
    """Number of these reserved for reading. Some drive must be left to write the cartridges of each group."""
    for_writes: NotRequired[int]
    """Number of these reserved for writing. Some drive must be left to read the cartridges of each group."""
    rate: NotRequired[str | None]
    """Rate that they share: that of their chain or network. Default: no limit."""
    silos: NotRequired[int]
    """Number of silos that they serve."""
    arms: NotRequired[int]
    """Number of robot arms."""

TapeDriveField: TypeAlias = "str | VariedDevice | TapeDriveNumbers"
"""A device: one of the catalogue, a file of its own, a variation of either, or its parameters in full."""

class TapeDriveNumbers(TypedDict):
    """The numbers of a tape drive and of the cartridges of its generation."""

    name: NotRequired[str | None]
    """Maker, generation."""
    validation: NotRequired[str]
    """Measurements that it was validated against, with the error; or `not validated`."""
    format: str
    """Name of the format of its cartridges, such as `lto-9`."""
    reads: NotRequired[list[str]]
    """Formats of other cartridges that it reads."""
    writes: NotRequired[list[str]]
    """Formats of other cartridges that it writes."""
    capacity: Sourced
    """Capacity of a cartridge, without compression."""
    rate: Sourced4
    """Maximum rate, without compression."""
    wraps: Sourced6
    """Number of wraps by which a tape is filled."""
    load: Sourced5
    """Time from insertion of a cartridge until the drive is ready."""
    first_load: NotRequired[Sourced5 | None]
    """Time of the load of a cartridge that no drive has had before. Default: `load`."""
    unload: Sourced5
    """Time from rewound until the robot can remove the cartridge."""
    locate: Sourced5
    """Time to locate from one end of the tape to the other."""
    rewind: Sourced5
    """Time to rewind from the far end of the tape."""

LoadTime: TypeAlias = "TimeSpec | list[Branch]"
"""Time of a load: constant, or drawn for each mount."""

# A branch of a fitted distribution: an exponential time above a minimum.
Branch = TypedDict(
    "Branch",
    {
        # Relative frequency.
        "share": "float",
        # Minimum time.
        "from": "str",
        # Mean of the exponential time that is added to it.
        "exponential": "str",
        # Maximum time; the distribution is cut off there. Default: none.
        "to": "NotRequired[str | None]",
    },
)

Locate: TypeAlias = "Travel | Serpentine"
"""Time to locate: by distance alone, or by a fit that knows the serpentine way."""

Travel: TypeAlias = "str | list[MoveTime]"
"""Time to move the tape: in proportion to the distance, or as measured."""

class MoveTime(TypedDict):
    """Duration of a move of the tape."""

    distance: str | float
    """Distance, as a share of the length of the tape."""
    time: str
    """Time."""

class Serpentine(TypedDict):
    """A fit of locate times, as CERN made for LTO-7M: a sum of what the move needs. With its numbers: `{start: 4.29 s, whole: 105 s, wrap: 6.69 s, band: 3.2 s, direction: 5.22 s, back: 11.32 s, middle: 6.04 s}`; `whole` is 0.62 ms for each position, of which a tape has about 169,000 by our estimate."""

    start: NotRequired[str]
    """Time of any move."""
    whole: NotRequired[str]
    """Additional time from one end of the tape to the other; shorter distances take proportionally less."""
    wrap: NotRequired[str]
    """Additional time to another wrap."""
    band: NotRequired[str]
    """Additional time to a wrap of another of the four data bands."""
    direction: NotRequired[str]
    """Additional time to a wrap of the other direction."""
    back: NotRequired[str]
    """Additional time back on the same wrap."""
    middle: NotRequired[str]
    """Time saved by a move across the middle of the tape."""

class Streaming(TypedDict):
    """Behaviour of a drive whose data comes too slowly for its tape, or leaves too slowly: it stops, repositions, and starts again once its buffer is full, or empty."""

    min_rate: str
    """Lowest rate at which the tape moves; a drive that matches its speed to the host has one below its maximum."""
    buffer: str
    """Capacity of the drive's buffer."""
    back_hitch: str
    """Time of a back-hitch: stop, go back, and start."""

class Cells(TypedDict):
    """Cells of a library and the way to them: an arm travels from where it put the last cartridge to the next one, and with it to a drive or a cell. A cartridge begins in a random cell of its group."""

    modules: list[StorageModule]
    """The storage modules of each group, the nearest to its drives first. Cartridges for which they have no room lie in the last one too."""
    placement: NotRequired[Placement2]
    """Cell of a cartridge that is dismounted. Default: the one that it began in."""

class StorageModule(TypedDict):
    """Cells that are equally far from the drives."""

    cells: int
    """Number of cells."""
    travel: str
    """Time for which an arm travels from the drives to these cells."""

class Placement2Heat(TypedDict):
    """A free cell as near as its heat entitles it to: as many of the hottest as the first module has cells go there, the next ones to the second. A cartridge is the hotter, the later its tenth last use was."""

    heat: ByHeat

Placement2: TypeAlias = "Literal['home'] | Literal['nearest'] | Placement2Heat"
"""Cell of a cartridge that is dismounted."""

class ByHeat(TypedDict):
    """Cells by heat: what is done beside."""

    relocate: NotRequired[bool]
    """Arms of which none has anything to do move cartridges that have cooled down to cells farther away."""
    fast_drop_off: NotRequired[bool]
    """A cartridge for whose drive a request waits goes to the nearest free cell."""

class Cleaning(TypedDict):
    """Cleaning of drives: once its cartridge is put away, an arm brings a drive that is due a cleaning cartridge, and takes it away afterwards."""

    mounts: int
    """Number of mounts after which a drive is cleaned. The simulator of ECMWF's library has 123, a median of its log."""
    time: str
    """Time of a cleaning; 340 s there."""

class TapeFailures(TypedDict):
    """Failures of drives, arms and cartridges. Each is left out by default."""

    drives: NotRequired[FailureRate | None]
    """A drive fails at the end of the session whose mount was its last."""
    arms: NotRequired[FailureRate | None]
    """An arm fails after a move."""
    cartridges: NotRequired[FailureRate | None]
    """A cartridge gets stuck when it is to leave its drive, which is not used until somebody has freed it."""

class FailureRate(TypedDict):
    """A rate of failures by use: geometric, so that each use is as likely to be the last."""

    uses: int
    """Mean number of uses between two failures: mounts of a drive, moves of an arm (mean swaps between failures), dismounts of cartridges."""
    repair: str
    """Mean time of the repair, which is exponential."""

Recall: TypeAlias = "Literal['arrival'] | Literal['by_cartridge'] | Literal['ascending'] | Literal['nearest'] | Literal['recommended']"
"""Order of recalls when a drive becomes free. All but `arrival` first serve those for the mounted cartridge."""

class DriveQueueAged(TypedDict):
    """As `priority`, but each of these times that a request has waited counts as one level of priority."""

    aged: str

DriveQueue: TypeAlias = "Literal['arrival'] | Literal['priority'] | DriveQueueAged | Literal['deadline']"
"""Which of the requests that wait gets a drive, where none is for its mounted cartridge. It is not taken from another."""

class DriveShare(TypedDict):
    """A group of users, such as a virtual organisation or a class of restores."""

    users: NotRequired[list[str]]
    """Users as the log names them, in its column `user`. Default: those that no other share names."""
    reads: NotRequired[int | None]
    """Maximum number of drives that read for them at a time. Default: no limit."""
    writes: NotRequired[int | None]
    """Maximum number of drives that write for them at a time. A stream to tape writes for the first of the users that its pool names. Default: no limit."""
    priority: NotRequired[int | None]
    """Priority of their requests; the smallest is served first. Default: that of their stream."""
    within: NotRequired[str | None]
    """Time within which their requests should have a drive. The meter `within_deadline` is the share of those that do. Default: none."""

# Repack: the data of old cartridges is copied to new ones, from tape to tape, each pair of cartridges in a pair of drives. A cartridge is read from its beginning to its end. It takes drives that no request wants, and lets go of them between two pieces if one does.
RepackSpec = TypedDict(
    "RepackSpec",
    {
        # Number of cartridges, of the library's `cartridges`, each full. Default: all.
        "cartridges": "NotRequired[int | None]",
        # Number of the group whose cartridges these are, counted from 0. Default: any.
        "from": "NotRequired[int | None]",
        # Number of the group whose cartridges take the data. Default: any.
        "to": "NotRequired[int | None]",
        # Share of the data of each cartridge that is still wanted, and is copied.
        "live": "NotRequired[str | float]",
        # Maximum number of drives at a time, an even number: two for each cartridge that is read. With 0, nothing is repacked.
        "drives": "NotRequired[int]",
        # Bytes of a cartridge that are read before drives are left to requests that wait for them.
        "piece": "NotRequired[str]",
    },
)

class VerifySpec(TypedDict):
    """Verification: cartridges are read from their beginning to their end, in drives that no request wants. A drive is let go of between two pieces if a request wants it."""

    cartridges: NotRequired[int | None]
    """Number of cartridges, of the library's `cartridges`, each full. Default: all."""
    drives: NotRequired[int]
    """Maximum number of drives at a time."""
    piece: NotRequired[str]
    """Bytes of a cartridge that are read before its drive is left to requests that wait for it."""

class RecallPoolSpec(TypedDict):
    """A disk pool for recalls. A file lies in one pool: a get of one that is still where it was put needs no recall."""

    pool: str
    """Name of the disk pool."""
    purge: NotRequired[PurgeSpec | None]
    """Purge policy of this pool. Default: nothing is purged."""

class PurgeSpec(TypedDict):
    """Purge: freeing pool space of files that are on tape."""

    weight: str
    """Weight of a file, an expression; the file with the largest weight is purged first, and among equals the least recently used. Variables: `size_mb` (10⁶ B), `hours_since_access`, `hours_on_disk` and `accesses`. Example: `ceil(size_mb) * ceil(hours_since_access) ** 1.5`."""
    high: str | float
    """A purge starts when this share of the pool is in use."""
    low: str | float
    """Share of the pool in use below which a purge stops."""
    min_age: NotRequired[str]
    """Minimum time since the last access."""

class PoolContents(TypedDict):
    """Files that are in the disk pool when a run begins, and on tape too. No operation of the log is on them: they leave as the purge decides, by the time since the run began."""

    share: str | float
    """Share of the pool that is in use when the run begins, files of the log included."""
    file: str
    """Size of each of these files."""

class MigrateSpec(TypedDict):
    """Migration to tape: streams that sleep, list the files that are due, and copy one after another until none is left."""

    every: str
    """Sleep time after a list is finished; above 0 s."""
    min_age: NotRequired[str]
    """Minimum time in the pool."""
    order: NotRequired[MigrateOrder]
    """Order in which a list is copied."""
    streams: NotRequired[int]
    """Maximum number of streams. Each writes to a cartridge of its own, in a drive of its own. A file is written by one stream."""
    pools: NotRequired[list[TapePoolSpec]]
    """Tape pools: cartridges of their own for the files of some users, and copies. Default: one pool for all files, with `streams`."""
    read: NotRequired[CopyChoice]
    """Which copy of a file is read, where several pools take it."""
    mount: NotRequired[MountRule | None]
    """What must wait for tape before a stream asks for a drive. Default: any file that is due."""
    flush: NotRequired[FlushSpec | None]
    """How often a drive writes out its buffer. Default: never; tape marks take no time."""

MigrateOrder: TypeAlias = "Literal['by_volume'] | Literal['oldest'] | Literal['smallest'] | Literal['largest']"
"""Order in which files are copied to tape."""

class TapePoolSpec(TypedDict):
    """A tape pool: cartridges for the files of some users, filled by streams of its own. A file is stored once in each pool that takes it: two pools for the same users keep two copies, on different cartridges."""

    users: NotRequired[list[str]]
    """Users whose files it takes, as the log names those who put them. Default: those that no pool names, and files that are older than the log."""
    library: NotRequired[str | None]
    """Name of the tape library. Default: that of the archive."""
    streams: NotRequired[int]
    """Maximum number of streams, and so of drives that write to it at a time."""

CopyChoice: TypeAlias = "Literal['first'] | Literal['mounted']"
"""Which copy of a file is read, where it is in several tape pools. One in a library whose drives have all failed is read only if all are."""

class MountRule(TypedDict):
    """A rule for mounts: one of its conditions suffices. It is looked at when a list is made."""

    bytes: NotRequired[str | None]
    """Bytes that are due, for each stream that writes and one more."""
    files: NotRequired[int | None]
    """Number of files that are due, for each stream that writes and one more."""
    age: NotRequired[str | None]
    """Time in the pool of the oldest file that is due, while no stream writes."""

class FlushSpec(TypedDict):
    """A flush: the drive writes its buffer to tape, with a tape mark, before it takes more. Files are on tape from then on, and tape marks between two flushes are buffered. A stream also flushes at the end of a cartridge, and when no file is left."""

    time: str
    """Time of a flush: the back-hitch that it causes, and the rest of the buffer."""
    bytes: NotRequired[str | None]
    """Number of bytes after which a flush follows."""
    files: NotRequired[int | None]
    """Number of files after which a flush follows. Default: one, where `bytes` is not given either."""

SizeSpec: TypeAlias = "str | DrawnSize"
"""A size, either fixed (`64 KiB`) or drawn for each request."""

class DrawnSizeMix(TypedDict):
    """One of several sizes with weights."""

    mix: list[Share]

# DrawnSizeUniformUniform
DrawnSizeUniformUniform = TypedDict(
    "DrawnSizeUniformUniform",
    {
        # The smallest size.
        "from": "str",
        # The largest size.
        "to": "str",
        # Distance between sizes.
        "step": "str",
    },
)

class DrawnSizeUniform(TypedDict):
    """Uniform over `from`, `from` + `step`, …, `to`."""

    uniform: DrawnSizeUniformUniform

DrawnSize: TypeAlias = "DrawnSizeMix | DrawnSizeUniform"
"""A distribution of sizes."""

class Share(TypedDict):
    """One size of a mix."""

    size: str
    """The size."""
    weight: float
    """Relative frequency."""

FullBuffer: TypeAlias = "Literal['wait'] | Literal['drop']"
"""Treatment of a trigger when a buffer is full."""

class FailsSpec(TypedDict):
    """Failure of a concentrator."""

    concentrator: int
    """Number of the concentrator, from 0."""
    at: str
    """Time of the failure. Its later sub-events never arrive."""

Assign: TypeAlias = "Literal['round_robin'] | Literal['random'] | Literal['credit'] | Literal['least_load']"
"""Choice of the builder of the next event."""

class FormatSpec(TypedDict):
    """CPU time of formatting: the sum of these parts."""

    per_event: NotRequired[str]
    """Time per event."""
    per_sub_event: NotRequired[str]
    """Time per sub-event."""
    rate: NotRequired[str | None]
    """Rate at which one core formats data. Default: unlimited."""

class CompressSpec(TypedDict):
    """Compression."""

    ratio: float
    """Compression ratio: size before divided by size after."""
    rate: str
    """Rate of uncompressed data at which one core compresses."""

Affinity: TypeAlias = "Literal['stream'] | Literal['none']"
"""Choice of the volume of a write."""

class SystemSpecGroup(TypedDict):
    """Several copies of a small system."""

    type: Literal['group']
    copies: int
    """Number of copies."""
    of: GroupMembers
    """What each copy consists of: components by name, or one component, which is a part of `parts` by its name or written in place. Copies of one component have no name of their own within: `drive[2]`."""

SystemSpec: TypeAlias = "SystemSpecGroup | ComponentSpec"
"""An entry of `system`."""

GroupMembers: TypeAlias = "str | ComponentSpec | dict[str, SystemSpec]"
"""What the copies of a group consist of."""

# A stream of requests to one component.
StreamSpec = TypedDict(
    "StreamSpec",
    {
        # Server that sends the requests, by its name in `system`; they reach `to` through switches. Of several copies (`node/cpu`), any sends each request, or, if `to` is in the same copies, the one whose own component it goes to. Default: requests arrive at `to` directly.
        "from": "NotRequired[str | None]",
        # Target component, by its name in `system`. Of several copies of a group (`node/volume`), each request goes to one, chosen at random with equal probability, at an address of that one; a flush goes to all.
        "to": "str",
        # Arrival process, such as `{poisson: 100 /s}` or `{closed: {depth: 8}}`.
        "arrivals": "ArrivalSpec",
        # Reads, writes, both, or discards. A replayed trace has its own.
        "op": "NotRequired[OpSpec]",
        # Request size. A replayed trace has its own.
        "size": "NotRequired[SizeSpec]",
        # Size of its writes, where it also reads. Default: `size`, as of its reads.
        "write_size": "NotRequired[SizeSpec | None]",
        # Address pattern. A replayed trace has its own.
        "pattern": "NotRequired[PatternSpec]",
        # Alignment of addresses. Default: the smallest request size.
        "align": "NotRequired[str | None]",
        # Number of bytes addressed, from the start of the component. Default: the whole component.
        "footprint": "NotRequired[str | None]",
        # Range of addresses, for streams that share a component but not data. `footprint` is short for a region that starts at 0.
        "region": "NotRequired[Region | None]",
        # Requests go to files of this size, each accessed sequentially, one file after another, repeatedly. A request that does not fit at the end of a file goes to the start of the next. Streams with files of the same size on one component use separate files.
        "file": "NotRequired[str | None]",
        # Number of files. Default: one.
        "files": "NotRequired[int | None]",
        # Placement of the files: `contiguous` from the start of the addressed range (default), or `spread` over it.
        "placement": "NotRequired[Placement3 | None]",
        # Maximum number of its requests in flight, for an open stream. Default: no limit.
        "outstanding": "NotRequired[int | None]",
        # What happens to a request that arrives while `outstanding` are in flight.
        "when_full": "NotRequired[WhenFull]",
        # A request not answered within this time counts as expired; the system still finishes it, while a closed client goes on to its next request. Default: hosts wait.
        "timeout": "NotRequired[str | None]",
        # Priority, for components with priorities. Smaller numbers are more urgent.
        "priority": "NotRequired[int]",
        # Reason for its requests, by which `shares` and `utilisation_by_cause` tell background work from that of hosts: `scrub` for a job that reads or trims what no host waits for.
        "cause": "NotRequired[Cause]",
        # Number of its writes after which its next request is a flush, answered when all writes acknowledged before it are stable: fio's `fsync` and `fdatasync`. With one client, 1 flushes after each write. Default: never.
        "flush_every": "NotRequired[int | None]",
        # If true, its writes are answered when they, and all writes acknowledged before, are stable: fio's `sync` (`O_DSYNC`; a flush and force unit access).
        "durable": "NotRequired[bool]",
    },
)

class ArrivalSpecPoisson(TypedDict):
    """Poisson process with this rate."""

    poisson: str

class ArrivalSpecEvery(TypedDict):
    """Periodic with this interval."""

    every: str

class ArrivalSpecBurstyBursty(TypedDict):
    """ArrivalSpecBurstyBursty"""

    calm: str
    """Rate between bursts."""
    burst: str
    """Rate within a burst."""
    calm_for: str
    """Mean time between bursts."""
    burst_for: str
    """Mean length of a burst."""

class ArrivalSpecBursty(TypedDict):
    """Bursts: a Poisson process whose rate alternates between two values for exponential times (two-state Markov-modulated Poisson process)."""

    bursty: ArrivalSpecBurstyBursty

class ArrivalSpecBatchesBatches(TypedDict):
    """ArrivalSpecBatchesBatches"""

    rate: str
    """Rate of batches."""
    size: BatchSize
    """Requests per batch."""

class ArrivalSpecBatches(TypedDict):
    """Batches at random instants (Poisson)."""

    batches: ArrivalSpecBatchesBatches

class ArrivalSpecRenewal(TypedDict):
    """Independent times between requests, with this distribution (renewal process)."""

    renewal: TimeSpec

class ArrivalSpecVarying(TypedDict):
    """Poisson process whose rate varies with time."""

    varying: VaryingSpec

class ArrivalSpecClosedClosed(TypedDict):
    """ArrivalSpecClosedClosed"""

    depth: int
    """Number of clients, which is the queue depth."""
    think: NotRequired[TimeSpec]
    """Think time from an answer to the client's next request."""
    threads: NotRequired[int | None]
    """Number of threads that the clients belong to, each to one: fio's `numjobs`. A thread does one thing at a time, on one core of the server that the stream comes `from`. Default: clients do not share threads."""

class ArrivalSpecClosed(TypedDict):
    """Closed loop: a fixed number of clients, each of which sends its next request a think time after the answer to the last."""

    closed: ArrivalSpecClosedClosed

class ArrivalSpecSteps(TypedDict):
    """Training in steps: accelerators compute on a batch of samples while reader threads fetch the next ones."""

    steps: StepSpec

class ArrivalSpecReplay(TypedDict):
    """From a trace of requests recorded on a real system."""

    replay: ReplaySpec

class ArrivalSpecLog(TypedDict):
    """From a log of file operations, to an archive."""

    log: FileLogSpec

ArrivalSpec: TypeAlias = "ArrivalSpecPoisson | ArrivalSpecEvery | ArrivalSpecBursty | ArrivalSpecBatches | ArrivalSpecRenewal | ArrivalSpecVarying | ArrivalSpecClosed | ArrivalSpecSteps | ArrivalSpecReplay | ArrivalSpecLog"
"""Arrival process."""

class BatchSizeGeometric(TypedDict):
    """Geometric with this mean: 1, 2, 3, …"""

    geometric: float
    """Mean, at least 1."""

BatchSize: TypeAlias = "int | BatchSizeGeometric"
"""Requests per batch."""

class VaryingSpec(TypedDict):
    """A Poisson process whose rate varies with time (nonhomogeneous): a daily curve, a ramp, a step."""

    rates: list[RateFrom]
    """Rates and when each begins, from `0 s` on."""
    between: NotRequired[Interpolation]
    """The rate between two of these times."""
    period: NotRequired[str | None]
    """Time after which the curve begins again, such as `24 h`. Default: the last rate stays."""
    scale: NotRequired[float]
    """Factor for all rates."""

class RateFrom(TypedDict):
    """A rate and when it begins."""

    at: str
    """Simulated time; within a period, time since its beginning."""
    rate: str
    """The rate then, zero for none."""

Interpolation: TypeAlias = "Literal['steps'] | Literal['linear']"
"""The rate between two times at which it is given."""

class StepSpec(TypedDict):
    """Accelerators that train on a data set: `size` of the stream is that of a sample, and each request is a read of one, or a piece of it. The terms are those of DLIO, the benchmark of I/O for deep learning (Devarajan et al., CCGrid 2021)."""

    accelerators: int
    """Number of accelerators. Each trains on its own share of the data set."""
    batch: int
    """Samples of a batch, on which an accelerator computes in one step. With 0, nothing is read, an epoch is one step, and only checkpoints load the storage."""
    compute: TimeSpec
    """Time for which an accelerator computes on a batch."""
    threads: NotRequired[int]
    """Reader threads of each accelerator. Each reads one sample after another."""
    fetch: NotRequired[Fetch]
    """What a thread fetches at a time. Threads take turns, and batches are used in order."""
    prefetch: NotRequired[int]
    """Batches that are fetched ahead of the one that an accelerator computes on. With 0, nothing is read while it computes."""
    read: NotRequired[str | None]
    """A sample is read in pieces of this size, one after another. Where a file has several samples, its pieces are read in order, and a sample that lies in a piece which was read comes with it. Default: each sample in one piece of its own."""
    preprocess: NotRequired[TimeSpec]
    """Time for which a thread works on each sample that it has read: on a core of its server, where the stream has one (`from`)."""
    hand_over: NotRequired[TimeSpec]
    """Time that an accelerator takes to get a batch that is ready, and for which it waits: the copy from the process that read it."""
    barrier: NotRequired[bool]
    """Training is synchronous: no accelerator begins a step before all have ended the one before."""
    samples: NotRequired[int | None]
    """Samples of the data set, a multiple of `samples_per_file`. Default: as many whole files as there is room for."""
    samples_per_file: NotRequired[int]
    """Samples that lie in one file, and are read in its order: files are shuffled, not their samples."""
    shuffle: NotRequired[bool]
    """Files come in random order, another in each epoch; else in that of their addresses."""
    epochs: NotRequired[int | None]
    """Times that the data set is read; the run ends after the last. Default: until the run ends. Nothing is read ahead of an epoch."""
    checkpoint: NotRequired[CheckpointSpec | None]
    """Checkpoints, written by accelerators at once while none computes. Default: none."""

Fetch: TypeAlias = "Literal['batch'] | Literal['sample']"
"""What a reader thread fetches at a time."""

class CheckpointSpec(TypedDict):
    """Periodic checkpoints."""

    every: int
    """Steps from one to the next."""
    first: NotRequired[int | None]
    """Steps before the first. Default: `every`."""
    each_epoch: NotRequired[bool]
    """True if these steps are counted from the beginning of each epoch, as DLIO does; else from that of the run."""
    writers: NotRequired[int | None]
    """How many of the accelerators write; the others wait for them. Default: all."""
    size: str
    """Bytes that each of them writes, at the end of the addressed range, over its last checkpoint."""
    shard: NotRequired[str]
    """Bytes that every accelerator writes besides, before these: its shard of the state of the optimiser (ZeRO)."""
    write: NotRequired[str]
    """It is written, and read back, in pieces of this size."""
    in_flight: NotRequired[int]
    """Pieces that each accelerator writes at once."""
    sync: NotRequired[bool]
    """True if each accelerator flushes what it has written (fsync), and its checkpoint ends with that: what a file system's memory or a volatile cache has taken in is then on the medium."""
    restores: NotRequired[int]
    """Times that the last checkpoint is read back after the last epoch, as for a restart; one from before the run if none was due in it. Before each, accelerators compute once."""
    reads_in_flight: NotRequired[int]
    """Pieces that each accelerator reads back at once."""

class ReplaySpec(TypedDict):
    """A trace to replay."""

    trace: str
    """Path of the file, relative to the scenario. Plain, or compressed with gzip, zstd or bzip2."""
    format: NotRequired[TraceFormat | None]
    """Format of the file. Default: detected from its first lines."""
    timing: NotRequired[Timing | None]
    """When requests are issued. Default: by think times if the trace has them, otherwise at its timestamps."""
    speed: NotRequired[float]
    """Replay speed relative to the recording: times between requests are divided by it."""
    devices: NotRequired[list[str]]
    """Devices of the trace to replay. Required if there is more than one; several are concatenated in this order."""
    fit: NotRequired[Fit]
    """Handling of addresses beyond the end of the component."""
    first: NotRequired[int | None]
    """Replay only the first N requests."""
    skip_bad: NotRequired[bool]
    """Skip and count bad lines instead of refusing the file."""

class TraceFormatCsv(TypedDict):
    """CSV with a header line."""

    csv: CsvColumns

TraceFormat: TypeAlias = "Literal['fio_bandwidth'] | Literal['fio_latency'] | Literal['msr'] | Literal['spc'] | Literal['alibaba'] | Literal['tencent'] | Literal['systor'] | Literal['fiu'] | Literal['validate'] | Literal['ascii'] | Literal['blkparse'] | Literal['blkparse_queued'] | Literal['vscsi1'] | Literal['vscsi2'] | Literal['oracle_objects'] | Literal['oracle_general'] | Literal['headrace'] | TraceFormatCsv"
"""The format of a trace file."""

class CsvColumns(TypedDict):
    """The columns of a CSV file, by their names in the header line; or by their numbers, in a file without one."""

    time: NotRequired[TimeColumn | None]
    """Arrival time, from any origin."""
    op: ColumnName
    """Name of the operation column: `r`, `read` or `0` for a read; `w`, `write` or `1` for a write, in either case."""
    address: ByteColumn
    """Address of the first byte."""
    size: ByteColumn
    """Size."""
    response: NotRequired[TimeColumn | None]
    """Response time."""
    think: NotRequired[TimeColumn | None]
    """Think time: from the completion of this request to the next."""
    device: NotRequired[ColumnName | None]
    """Name of the device column."""

class TimeColumn(TypedDict):
    """A time column."""

    column: ColumnName
    """Name of the column."""
    unit: str
    """Unit of its values: `1 s`, `100 ns`."""

ColumnName: TypeAlias = "int | str"
"""A column by its name in the header line, or by its number from 1 on. If all columns have numbers, the file has no header line."""

class ByteColumn(TypedDict):
    """A column of addresses or sizes."""

    column: ColumnName
    """Name of the column."""
    unit: str
    """Unit of its values: `1 B`, `512 B`."""

Timing: TypeAlias = "Literal['timestamps'] | Literal['think']"
"""When the requests of a trace are issued."""

Fit: TypeAlias = "Literal['refuse'] | Literal['wrap'] | Literal['scale']"
"""Handling of addresses beyond the end of the component."""

FileLogSpec: TypeAlias = "str | FileLogOptions"
"""A log of file operations: the path of a CSV file relative to the scenario, plain or compressed, or that with options. Its header names the columns `time_s`, `op` (`get`, `put`, `stage`, `delete` or `cancel`), `user`, `host`, `file` and `bytes`; `staged` (1 where the file was read from tape), `cartridge` and `position_bytes` (where on tape it lies, for files older than the log) and `measured_s` (response time on the real system) may follow. A log of sessions of cartridges, which goes to a tape library, has `time_s`, `op` (`session`), `file` (the cartridge), `drive_s` (seconds of drive use), and perhaps `silo` (where the cartridge lies, counted from 0). Lines are in order of time."""

class FileLogOptions(TypedDict):
    """A log of file operations, and how to replay it."""

    file: str
    """Path of the CSV file, relative to the scenario."""
    unseen: NotRequired[Unseen]
    """Initial location of files that the log reads before it writes them. A column `staged` overrides it line by line."""
    speed: NotRequired[float]
    """Replay speed relative to the recording: times between operations are divided by it."""
    timing: NotRequired[FileTiming]
    """When an operation is asked for."""
    begins: NotRequired[str | None]
    """Time of the log, in its `time_s`, at which the run begins: for logs of one clock that are replayed together, or beside faults. No line is earlier. Default: that of the first line."""
    first: NotRequired[int | None]
    """Replay only the first N operations."""
    skip_bad: NotRequired[bool]
    """Skip and count bad lines instead of refusing the file."""

Unseen: TypeAlias = "Literal['tape'] | Literal['disk']"
"""Initial location of files older than the log."""

FileTiming: TypeAlias = "Literal['timestamps'] | Literal['gaps']"
"""When the operations of a log are issued."""

class OpSpecReads(TypedDict):
    """Share of reads; the rest are writes. Drawn for each request."""

    reads: str | float

OpSpec: TypeAlias = "Literal['read'] | Literal['write'] | OpSpecReads | Literal['discard']"
"""Reads, writes, both, or discards."""

class PatternSpecHotSpotHotSpot(TypedDict):
    """PatternSpecHotSpotHotSpot"""

    skew: NotRequired[float]
    """Zipf's exponent; 0 is uniform, 1 the classic law."""
    spots: NotRequired[int]
    """Number of regions."""

class PatternSpecHotSpot(TypedDict):
    """Skewed by Zipf's law: the r-th most popular of `spots` equal regions has a frequency proportional to r^−`skew`. Popular regions are scattered."""

    hot_spot: PatternSpecHotSpotHotSpot

class PatternSpecRunsRuns(TypedDict):
    """PatternSpecRunsRuns"""

    length: float
    """Mean number of requests per run, at least 1."""

class PatternSpecRuns(TypedDict):
    """Sequential runs from random positions, with a geometric number of requests."""

    runs: PatternSpecRunsRuns

PatternSpec: TypeAlias = "Literal['uniform'] | Literal['sequential'] | PatternSpecHotSpot | PatternSpecRuns"
"""Address pattern."""

# A range of addresses of a component.
Region = TypedDict(
    "Region",
    {
        # Start address. Alignment counts from here, so use a multiple of the drive's sector size (512 B).
        "from": "str",
        # Length.
        "size": "str",
    },
)

Placement3: TypeAlias = "Literal['contiguous'] | Literal['spread']"
"""Placement of a stream's files."""

WhenFull: TypeAlias = "Literal['wait'] | Literal['drop']"
"""What happens to a request that arrives at the limit."""

Cause: TypeAlias = "Literal['host'] | Literal['destage'] | Literal['rebuild'] | Literal['scrub'] | Literal['migration'] | Literal['garbage_collection'] | Literal['compaction'] | Literal['maintenance']"
"""Reason for which work is done."""

# A component that fails during the run, or is slow for a part of it.
FaultSpec = TypedDict(
    "FaultSpec",
    {
        # The component, by its path in results: `volume/spindle[2]`, or the name of a link. A copy of a group, `node[3]`, fails with all of its components. Of an archive: a drive or a robot arm of a tape library (`library/drive[3]`, `library/arm[0]`), or a volume of a disk pool (`pool/volume[5]`).
        "component": "str",
        # When it fails. It stops answering, and requests in it are lost. A drive, an arm or a volume finishes what it does.
        "fails": "NotRequired[Moment | None]",
        # When it works again with its data intact. An array then writes what it missed.
        "returns": "NotRequired[Moment | None]",
        # When an empty replacement takes its place. An array then rebuilds its data.
        "replaced": "NotRequired[Moment | None]",
        # How many times as long as usual it takes for whatever it begins while it is slow, without failing: the service of a station, a disk or a link, the flash, its channels and the latency of a solid-state drive, the wire of a port. Its users do not know.
        "slow": "NotRequired[float | None]",
        # When it becomes slow. Default: at the beginning of the run.
        "from": "NotRequired[Moment | None]",
        # When it takes its usual time again. Default: never.
        "until": "NotRequired[Moment | None]",
    },
)

Moment: TypeAlias = "str | AfterSpec"
"""When something happens."""

class AfterSpec(TypedDict):
    """A moment counted in requests."""

    after: int
    """Number of requests answered, dropped, expired or failed, of all streams together."""

class RatesSpec(TypedDict):
    """Rates of failures and errors: `headrace durability` estimates the chance of data loss from them. Runs ignore them."""

    drive: str
    """Failures of each drive that lose its data, the annualised failure rate. Failures are independent, and come at the same rate at any age."""
    server: NotRequired[str | None]
    """Failures of each server of a pool that lose the data of all its drives. Default: none."""
    rack: NotRequired[str | None]
    """Failures of each rack of a pool that lose the data of all its drives. Default: none."""
    latent_error: NotRequired[str | None]
    """Unrecoverable read errors, the error rate of data sheets. One that is met by a rebuild without redundancy left loses a sector. Default: none."""
    replace: NotRequired[str]
    """Time until a failed disk of an array is replaced: until its rebuild begins where no spare is free, and until a spare is there again."""

class RunSpec(TypedDict):
    """Length of the run, seed, and warm-up."""

    seed: NotRequired[int]
    """Seed of all random streams. The same scenario and seed give bit-identical results."""
    requests: NotRequired[int | None]
    """Number of requests answered, dropped, expired or failed before the run ends. Default: 200,000, or no limit where `time` is given. A replayed trace ends with its last request."""
    time: NotRequired[str | None]
    """Simulated time after which the run ends, or `requests` if they are given and come first."""
    replications: NotRequired[int]
    """Number of independent runs, each with its own random streams."""
    split: NotRequired[bool]
    """Splits one run of `requests` into replications of equal length, which processors share: 32 or 8 of them, if these are long beside the warm-up, otherwise none. For questions about a steady state, with `replications: 1`."""
    warm_up: NotRequired[WarmUp]
    """Warm-up: what is discarded at the beginning."""
    engine: NotRequired[Engine]
    """Simulation engine."""
    limits: NotRequired[Limits]
    """Limits that stop a run early."""

WarmUp: TypeAlias = "Literal['auto'] | Literal['none']"
"""Warm-up: what is discarded at the beginning."""

Engine: TypeAlias = "Literal['auto'] | Literal['events'] | Literal['recursion']"
"""Method of computing a run."""

class Limits(TypedDict):
    """Limits that stop a run early; results up to then are kept and marked."""

    in_flight: NotRequired[int]
    """Maximum number of requests in flight, beyond which the system is overloaded. Not applicable to the recursion."""
    parts: NotRequired[int]
    """Maximum number of parts of requests in flight, such as accesses to the disks of an array, with all other processes of the simulation."""
    events: NotRequired[int]
    """Maximum number of events."""
    wall_time: NotRequired[str]
    """Maximum real time of all replications together."""
