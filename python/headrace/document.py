"""A scenario as Python sees it. Made from the schema by `make types`; a test keeps it the same.

Quantities are text with a unit: `"64 KiB"`, `"8.5 ms"`, `"50 /s"`.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict

__all__ = ["Access", "AdapterSpec", "AfterSpec", "AliceReading", "Allocate", "ArrayCacheSpec", "ArrivalSpec", "BatchSize", "ByteColumn", "CacheSpec", "Coalescing", "Command", "ComponentSpec", "Connection", "Copies", "CsvColumns", "DeclusteredSpec", "DestageSpec", "DeviceField", "DiskNumbers", "DrawnSize", "DrawnTime", "DriveGroup", "Duplex", "Elsewhere", "Engine", "FaultSpec", "FileLogOptions", "FileLogSpec", "FileTiming", "FirstUnit", "Fit", "Form", "Forwarding", "Frame", "FrameSpec", "InterfaceSpec", "LayoutSpec", "Level", "Limits", "Linked", "MechanicsSpec", "MigrateOrder", "MigrateSpec", "Moment", "OpSpec", "Order", "Paths", "PatternSpec", "Placement", "Policy", "PortClass", "PortQueue", "Positioning", "Precedence", "Preset", "Protocol", "PurgeSpec", "QueueSpec", "Queueing", "ReadAhead", "ReadFrom", "RebuildSpec", "Recall", "ReconnectedWrite", "Region", "ReplaySpec", "Rotation", "RunSpec", "ScenarioSpec", "Scheduling", "SeekTimes", "Share", "SizeSpec", "SlipsSkew", "Sourced", "Sourced2", "Sourced3", "Sourced4", "Sourced5", "Sourced6", "Spares", "StreamSpec", "Target", "TimeColumn", "TimeSpec", "Timing", "Told", "Told2", "Told3", "Told4", "Told5", "Told6", "TraceFormat", "TrackOrder", "Unseen", "VariedDevice", "Via", "WarmUp", "WhenFull", "WritePolicy", "Writes", "ZoneSpec"]

class ScenarioSpec(TypedDict):
    """A storage system, a load, and how long to watch them."""

    parts: NotRequired[dict[str, ComponentSpec]]
    """Templates, each under a name of its own: arrays are made of copies of them."""
    system: dict[str, ComponentSpec]
    """The components, each under a name of its own. Each exists once; whoever names it shares it."""
    workload: dict[str, StreamSpec]
    """The streams of requests, each under a name of its own."""
    faults: NotRequired[list[FaultSpec]]
    """Components that fail during the run."""
    run: NotRequired[RunSpec]
    """How long to run, and from which seed."""

class ComponentSpecDisk(TypedDict):
    """A disk drive."""

    type: Literal['disk']
    device: DeviceField
    """A drive of the catalogue by name, the path of a device file from the folder of the scenario (`./mine.yaml`), a variation of either, or its numbers written out."""
    positioning: NotRequired[Positioning]
    """How the places on the platter are sampled."""
    scheduling: NotRequired[Scheduling | None]
    """Which of the waiting requests is served next, for `positioning: mechanical`. Default: what the drive does."""
    queue_depth: NotRequired[int | None]
    """Maximum number of commands it holds and reorders; the rest queue in the host. With more than one it takes the next while data of the one before still goes to the host. Default: what the drive does."""
    phase: NotRequired[str | float | None]
    """Where the platter stands at the beginning, as a share of a turn, for `positioning: mechanical`. Default: drawn."""

class ComponentSpecSsd(TypedDict):
    """A solid-state drive."""

    type: Literal['ssd']
    device: SsdField
    """A drive of the catalogue by name, a variation of one, or its parameters written out."""
    interface: NotRequired[Interface | None]
    """What it is plugged into. The drive and the port agree on the slower of two rates. Default: what the drive supports."""
    read_command: NotRequired[str]
    """Time for which a read takes the port besides its data: that of the adapter or controller behind it."""
    write_command: NotRequired[str]
    """The same for a write."""
    written: NotRequired[str | float]
    """Share of the addresses, from 0 on, that holds data when the run begins, written in sequence. Reads of others take no flash."""
    overwritten: NotRequired[float]
    """How often the capacity was overwritten at random before the run begins, in no simulated time. Random writes are steady after 2 to 5, the more the less over-provisioning there is. Each takes about 0.3 s of real time for 1 GB of capacity … 100 s for 480 GB."""

class ComponentSpecFileSystem(TypedDict):
    """A file system on a volume, with its page cache."""

    type: Literal['file_system']
    of: str
    """The volume that it lies on, by its name in `system`."""
    memory: str
    """Memory for the page cache."""
    block: NotRequired[str]
    """Size of a block, which is a page of the cache."""
    call: NotRequired[str]
    """Processor time of a call besides copying."""
    copy: NotRequired[str | None]
    """Rate at which data is copied between application and page cache. Default: in no time."""
    dirty_limit: NotRequired[str | float]
    """Share of the memory that may be dirty; a writer beyond waits for pages to be written back. Linux: `dirty_ratio`, 20 %; 40 % up to 2.6.22."""
    dirty_background: NotRequired[str | float]
    """Share of the memory beyond which dirty pages are written back in the background. Linux: `dirty_background_ratio`, 10 %."""
    dirty_age: NotRequired[str]
    """Age at which dirty pages are written back. Linux: `dirty_expire_centisecs`, 30 s."""
    wake: NotRequired[str]
    """Time between looks at background limit and age. Linux: `dirty_writeback_centisecs`, 5 s."""
    max_request: NotRequired[str]
    """Largest request to the volume."""
    write_back_depth: NotRequired[int]
    """Number of requests that are written back at once."""
    read_ahead: NotRequired[str]
    """How much is read at once where reads follow each other. Linux: `read_ahead_kb`, 128 KiB."""
    direct_above: NotRequired[str | None]
    """Calls larger than this go to the volume past the page cache. Default: none do."""
    fsync_every: NotRequired[str | None]
    """Each time that this number of bytes has been written, the call that wrote the last of them waits until all of it is on the volume: `fsync` after each file of that size. Default: never."""
    allocation: NotRequired[Allocation | None]
    """Where files lie on the volume. Default: as in the file system, one after another."""

class ComponentSpecStation(TypedDict):
    """Servers with a service time by law."""

    type: Literal['station']
    servers: NotRequired[int]
    """Number of requests served at once."""
    service: TimeSpec
    """Service time of each."""
    order: NotRequired[Order]
    """Which of the waiting requests is served next."""
    capacity: NotRequired[str]
    """Addressable bytes."""

class ComponentSpecController(TypedDict):
    """What arrays share: processors, a bus, memory for caches."""

    type: Literal['controller']
    processors: NotRequired[int]
    """Number of commands processed at once."""
    command: NotRequired[str]
    """Processor time of a command: one that comes from a host, or one that goes to a disk."""
    disk_command: NotRequired[str | None]
    """Processor time of a command that goes to a disk, where it differs. Default: that of `command`."""
    data_rate: NotRequired[str | None]
    """Rate at which a processor handles the data of a host's command, in addition to `command`. Default: in no time."""
    parity_rate: NotRequired[str | None]
    """Rate at which a processor computes parity, in bytes of data that go into it. Default: in no time."""
    bus: NotRequired[str | None]
    """Rate of the bus that all data crosses: that of hosts once, that to and from disks once, parity once. Default: in no time."""
    transfer: NotRequired[str]
    """Most data that crosses the bus at once. Others cross in between."""
    memory: NotRequired[str | None]
    """Memory for the caches of its arrays: together they must fit. Default: as much as they ask for."""

# Several devices that answer as one.
ComponentSpecArray = TypedDict(
    "ComponentSpecArray",
    {
        "type": "Literal['array']",
        # How data is laid out over the disks.
        "level": "Level",
        # What it is made of: copies of a part, named or written out, or a list of components of `system`.
        "of": "Copies",
        # Number of copies.
        "disks": "NotRequired[int | None]",
        # Bytes that lie on one disk before the next has its turn. RAID 1 does not stripe: there it is the grain in which copies are tracked and rebuilt, 64 KiB by default. Every other level needs it.
        "stripe_unit": "NotRequired[str | None]",
        # Whether requests overlap.
        "queueing": "NotRequired[Queueing]",
        # On which disk a request begins. Only of RAID 0.
        "first_unit": "NotRequired[FirstUnit]",
        # On which disks the parity of a stripe lies. Only of levels with parity that moves from stripe to stripe.
        "rotation": "NotRequired[Rotation | None]",
        # Which copy a read is taken from. Only of mirrors; there the default is `round_robin`.
        "read_from": "NotRequired[ReadFrom | None]",
        # Disks that have failed, by number from 0: the array runs degraded.
        "failed": "NotRequired[list[int]]",
        # The server that it belongs to, for an array of listed components: requests to each go from there through the fabric. A server of others that switches connect makes it a virtualisation engine. Default: what it lists is at hand.
        "from": "NotRequired[str | None]",
        # Number of hot spares: further copies of the part, or the last of the components listed, which stand in for disks that fail.
        "spares": "NotRequired[int]",
        # Stripes of fewer units than there are disks, over all disks by permutations. Only of RAID 5, 6 and erasure codes.
        "declustered": "NotRequired[DeclusteredSpec | None]",
        # How what a disk has lost or missed is rebuilt.
        "rebuild": "NotRequired[RebuildSpec | None]",
        # A `link` or `fc_loop` of `system` between the array and its disks, or several, which take turns while they work. Default: data takes no time on the way.
        "via": "NotRequired[Via | None]",
        # The controllers of `system` that run it: one, or two. Default: none, and what controllers do takes no time.
        "controllers": "NotRequired[list[str]]",
        # Which of two controllers requests come to.
        "access": "NotRequired[Access]",
        # A cache between hosts and disks, in the memory of each of its controllers. Default: none.
        "cache": "NotRequired[ArrayCacheSpec | None]",
    },
)

class ComponentSpecLink(TypedDict):
    """A link that carries one transfer at a time."""

    type: Literal['link']
    preset: NotRequired[Preset | None]
    """What the wire is called: its rate and its frames. Default: `rate` and `frame` say them."""
    rate: NotRequired[str | None]
    """Transfer rate. With `frame`, the rate at which frames are sent: after line coding, before the overhead of frames. Default: that of `preset`."""
    frame: NotRequired[FrameSpec | None]
    """What frames add to data. Default: that of `preset`; without one nothing, and `rate` is that of data."""
    duplex: NotRequired[Duplex | None]
    """Whether reads and writes share the wire. Default: a `preset` is `full`, a bare `rate` is `half`."""
    latency: NotRequired[str]
    """Delay from the last byte sent to the last byte received; the next transfer may begin in the meantime."""
    metres: NotRequired[int]
    """Length of the wire in metres, of 5 ns each."""
    credit: NotRequired[int | None]
    """Buffer-to-buffer credit: frames sent before the first is acknowledged. Default: enough for any length."""

class ComponentSpecFcLoop(TypedDict):
    """A Fibre Channel arbitrated loop."""

    type: Literal['fc_loop']
    rate: str
    """`1 Gb/s`, `2 Gb/s` or `4 Gb/s`. The line rate (`1.0625 Gb/s`) and the nominal data rate (`100 MB/s`) mean the same."""
    policy: NotRequired[Policy]
    """Which port sends next."""
    per_node_delay: NotRequired[int]
    """Delay of a word in each port, in transmission words of 40 bits: 6 is typical (estimate); FC-AL-2 allows 12."""
    metres: NotRequired[int]
    """Length of cable round the loop, in metres, of 5 ns each."""
    frame_payload: NotRequired[str]
    """Data in a full frame: a multiple of 4 B from 128 B to 2112 B. SCSI devices send 2048 B, four sectors."""
    credit: NotRequired[int]
    """Buffer-to-buffer credit: frames sent before the first is acknowledged. The default is an estimate; it stalls no loop without long cables."""

class ComponentSpecSwitch(TypedDict):
    """A switch between servers, other switches and what holds data."""

    type: Literal['switch']
    connects: list[Connection]
    """Its neighbours: servers, other switches, and what holds data. A link between two switches is listed by either."""
    preset: NotRequired[Preset | None]
    """What the wires of its ports are called: their rate and frames. Default: `rate` and `frame` say them."""
    rate: NotRequired[str | None]
    """Rate of each port in each direction: that of data, or with `frame` of frames. Default: that of `preset`."""
    frame: NotRequired[FrameSpec | None]
    """How data is cut into frames. Default: that of `preset`; without one not at all."""
    latency: NotRequired[str]
    """Time from the arrival of a frame at a port to its place in the queue of another. Data sheets say 0.3 µs to 2 µs."""
    forwarding: NotRequired[Forwarding]
    """Whether a frame goes on before it is there whole."""
    form: NotRequired[Form]
    """Whether ports have queues."""
    credit: NotRequired[int | None]
    """Buffer-to-buffer credit of each port: frames sent before the first is acknowledged. Default: enough for any length."""
    ports: NotRequired[int | None]
    """Number of ports. Default: as many as neighbours need."""

class ComponentSpecServer(TypedDict):
    """A server that streams come from."""

    type: Literal['server']
    attached: NotRequired[list[str]]
    """What is attached to it without a switch, by the names in `system`: drives, volumes behind its adapter, file systems."""
    cores: NotRequired[int]
    """Number of cores."""
    submit: NotRequired[str]
    """Time a core works to submit a command."""
    complete: NotRequired[str]
    """Time a core works to finish a command that is answered."""
    interrupt: NotRequired[str]
    """Time a core works for each interrupt besides."""
    copy: NotRequired[str | None]
    """Rate at which a core moves data between adapter and application: copies, and checksums where protocols run in software. Default: it does not."""
    fill: NotRequired[str | None]
    """Rate at which a core makes the data of writes before it submits them, as fio's `refill_buffers` does. Default: in no time."""
    wake: NotRequired[str]
    """Time a core works to wake a thread that sleeps until a command is answered. A thread to which more answers come meanwhile finds them when it runs, and is not woken again."""
    wake_per_thread: NotRequired[str]
    """The same in addition for each other thread of the server."""
    contention: NotRequired[float]
    """Factor by which work takes longer while all cores work: they share what they work with. Default: 1, they share nothing."""
    adapter: NotRequired[AdapterSpec]
    """The host bus adapter, one for all ports."""
    paths: NotRequired[Paths]
    """Which way a request takes where there are several."""
    path_timeout: NotRequired[str | None]
    """Time after which a request without an answer is sent another way, once each; the last way is waited for. What is still under way is finished, and its answer ignored. Default: never."""

class ComponentSpecFront(TypedDict):
    """Limits of users and ports, before an archive."""

    type: Literal['front']
    per_user: NotRequired[int | None]
    """Maximum number of transfers of a user. Default: no limit."""
    per_host: NotRequired[int | None]
    """Maximum number of transfers of a host. Default: no limit."""
    ports: NotRequired[list[PortClass]]
    """The ports, class by class; a transfer takes the first that is free and suits the size of its file. Default: no ports are needed."""
    queue: NotRequired[PortQueue]
    """Who is next when a port is free."""
    put_latency: NotRequired[str]
    """Delay before the data of a put moves, the port being held."""
    get_latency: NotRequired[str]
    """Delay before the data of a get moves, the port being held."""
    client_rate: NotRequired[str | None]
    """The most that one client sends or receives. Default: no limit."""

class ComponentSpecNetwork(TypedDict):
    """A network that transfers share, each way."""

    type: Literal['network']
    rate: str
    """What data achieves, each way."""
    half_duplex: NotRequired[bool]
    """Whether both ways share `rate`."""

class ComponentSpecDiskPool(TypedDict):
    """Volumes on chains, which hold files."""

    type: Literal['disk_pool']
    chains: int
    """Number of chains (SCSI buses, or paths to a disk server)."""
    volumes: int
    """Number of volumes on each chain."""
    volume: str
    """Capacity of a volume. A larger file is stored on several successive ones."""
    rate: str
    """Rate of a chain."""
    allocate: NotRequired[Allocate]
    """Which volume the next file goes to."""

class ComponentSpecTapeLibrary(TypedDict):
    """Cartridges, drives and robots."""

    type: Literal['tape_library']
    groups: list[DriveGroup]
    """The groups of drives."""
    cartridge: str
    """Capacity of a cartridge. Files are written one after another; one that does not fit continues on the next."""
    cartridges: NotRequired[int]
    """Number of cartridges with files that are older than a log; each of these files lies on one at random, anywhere."""
    drive_rate: NotRequired[str | None]
    """The most that one drive reads or writes. Default: what its group carries."""
    load: NotRequired[str]
    """From the cartridge's arrival in a drive until it is ready."""
    locate: NotRequired[str]
    """From one end of the tape to the other. Going anywhere takes time in proportion to the way."""
    rewind: NotRequired[str]
    """From the end of the tape to its beginning, before unloading; in proportion."""
    unload: NotRequired[str]
    """From rewound until the robot can take the cartridge."""
    move: NotRequired[str]
    """What a robot takes to bring a cartridge to a drive, or to put it back."""
    hold: NotRequired[str]
    """How long an unused cartridge stays in its drive; it leaves earlier where a drive is needed for another. Default: it leaves at once."""
    recall: NotRequired[Recall]
    """Which recall is next when a drive is free."""
    accumulate: NotRequired[str]
    """How long requests for a cartridge that is in no drive wait for others for the same one before a drive is asked for. All that come together are served by one mount; `recall` must be `by_cartridge`. Default: they do not wait."""
    pass_through: NotRequired[str | None]
    """What an elevator or a pass-through port takes between two groups. A cartridge then goes to a drive of another group (the nearest in the list) where none of its own is free; arms of both groups move it. Default: cartridges stay in their group."""

class ComponentSpecArchive(TypedDict):
    """Files in a disk pool before a tape library."""

    type: Literal['archive']
    front: NotRequired[str | None]
    """The front that transfers pass, by its name in `system`. Default: clients and ports limit nothing."""
    network: NotRequired[str | None]
    """The network between clients, pool and tape, by its name in `system`. Default: it limits nothing."""
    pool: str
    """The disk pool, by its name in `system`."""
    library: NotRequired[str | None]
    """The tape library, by its name in `system`. Default: files are in the pool only."""
    migrate: NotRequired[MigrateSpec | None]
    """When files are stored to tape. Default: never."""
    purge: NotRequired[PurgeSpec | None]
    """When and which files are purged from the pool. Default: never."""

ComponentSpec: TypeAlias = "ComponentSpecDisk | ComponentSpecSsd | ComponentSpecFileSystem | ComponentSpecStation | ComponentSpecController | ComponentSpecArray | ComponentSpecLink | ComponentSpecFcLoop | ComponentSpecSwitch | ComponentSpecServer | ComponentSpecFront | ComponentSpecNetwork | ComponentSpecDiskPool | ComponentSpecTapeLibrary | ComponentSpecArchive"
"""A component, by its kind."""

DeviceField: TypeAlias = "str | VariedDevice | DiskNumbers"
"""What a document has in the place of a [`DeviceRef`]: variations are completed before it is read."""

class VariedDevice(TypedDict):
    """A drive that is like another one, but for the fields given beside `like`."""

    like: str
    """The device from which all that is not given here is taken, each number as an estimate."""

class DiskNumbers(TypedDict):
    """The numbers of a drive, as a data sheet gives them."""

    name: NotRequired[str | None]
    """Maker, model, size."""
    validation: NotRequired[str]
    """Against which measurements it was validated, and how well; or `not validated`."""
    capacity: Sourced
    """How many bytes it holds."""
    cylinders: Sourced2
    """How many cylinders: what the arm moves over."""
    rotation: Sourced3
    """How fast it turns."""
    media_rate_outer: Sourced4
    """How fast data passes under the head on the outermost track."""
    media_rate_inner: Sourced4
    """How fast data passes under the head on the innermost track."""
    seek_read: SeekTimes
    """How long the arm takes to where it reads."""
    seek_write: SeekTimes
    """How long the arm takes to where it writes."""
    overhead: NotRequired[Sourced5]
    """What every request takes beside: command, controller, interface."""
    price: NotRequired[Sourced6 | None]
    """What one costs, in any currency: `optimise` adds them up."""
    power: NotRequired[Sourced6 | None]
    """What it draws when it is busy, in watts."""
    rack_units: NotRequired[Sourced6 | None]
    """How many rack units it takes, its share of an enclosure."""
    mechanics: NotRequired[MechanicsSpec | None]
    """Its mechanics, for `positioning: mechanical`. Default: what follows from the numbers above."""
    cache: NotRequired[CacheSpec | None]
    """Its cache, for `positioning: mechanical`. Default: none."""
    interface: NotRequired[InterfaceSpec | None]
    """Its interface, for `positioning: mechanical`. Default: `overhead` before each command, and data in no time."""
    queue: NotRequired[QueueSpec | None]
    """What it makes of the commands that wait in it, for `positioning: mechanical`. Default: one after another."""

Sourced: TypeAlias = "str | Told"
"""A number, and where it comes from."""

class Told(TypedDict):
    """A number with its source."""

    value: str
    """The number."""
    source: NotRequired[str | None]
    """Where it was read."""
    estimate: NotRequired[str | None]
    """Where no source gives it: how it was estimated."""

Sourced2: TypeAlias = "int | Told2"
"""A number, and where it comes from."""

class Told2(TypedDict):
    """A number with its source."""

    value: int
    """The number."""
    source: NotRequired[str | None]
    """Where it was read."""
    estimate: NotRequired[str | None]
    """Where no source gives it: how it was estimated."""

Sourced3: TypeAlias = "str | Told3"
"""A number, and where it comes from."""

class Told3(TypedDict):
    """A number with its source."""

    value: str
    """The number."""
    source: NotRequired[str | None]
    """Where it was read."""
    estimate: NotRequired[str | None]
    """Where no source gives it: how it was estimated."""

Sourced4: TypeAlias = "str | Told4"
"""A number, and where it comes from."""

class Told4(TypedDict):
    """A number with its source."""

    value: str
    """The number."""
    source: NotRequired[str | None]
    """Where it was read."""
    estimate: NotRequired[str | None]
    """Where no source gives it: how it was estimated."""

class SeekTimes(TypedDict):
    """A seek curve, as a data sheet gives it: a + b dᵖ over a distance d."""

    track_to_track: Sourced5
    """To the next cylinder."""
    average: NotRequired[Sourced5 | None]
    """The mean between random cylinders. Default: as it follows from the other two with p = 1/2."""
    full_stroke: Sourced5
    """From the first cylinder to the last."""

Sourced5: TypeAlias = "str | Told5"
"""A number, and where it comes from."""

class Told5(TypedDict):
    """A number with its source."""

    value: str
    """The number."""
    source: NotRequired[str | None]
    """Where it was read."""
    estimate: NotRequired[str | None]
    """Where no source gives it: how it was estimated."""

Sourced6: TypeAlias = "float | Told6"
"""A number, and where it comes from."""

class Told6(TypedDict):
    """A number with its source."""

    value: float
    """The number."""
    source: NotRequired[str | None]
    """Where it was read."""
    estimate: NotRequired[str | None]
    """Where no source gives it: how it was estimated."""

class MechanicsSpec(TypedDict):
    """What is known of the mechanics beyond a data sheet."""

    source: NotRequired[str | None]
    """Where these numbers were read."""
    head_switch: NotRequired[str | None]
    """From one surface to another of the same cylinder. Default: as long as a seek to the next cylinder."""
    write_settle: NotRequired[str | None]
    """How much longer a seek or head switch takes before a write than before a read. Negative where it is shorter, as in some DiskSim files; no move takes less than no time. Default: by how much `seek_write` is slower to the next cylinder than `seek_read`."""
    write_retries: NotRequired[str | float | None]
    """What share of writes lose a turn, as the head is not steady enough when their sector comes."""
    zero_latency: NotRequired[bool]
    """Whether a read or write of a track begins at whichever of its sectors comes first, and not at the first."""
    zero_latency_writes: NotRequired[bool | None]
    """Whether a write does. Default: as `zero_latency`."""
    inward_more: NotRequired[str]
    """By how much longer a seek inwards takes than `seek` says: what pushes the arm (the air, its cable) helps it one way only."""
    outward_more: NotRequired[str]
    """By how much longer a seek outwards takes."""
    seek: NotRequired[list[list[int | str]]]
    """Seek times: (cylinders, time), distances rising; in between, and beyond the last, on straight lines. Default: the curve of `seek_read`."""
    layout: NotRequired[LayoutSpec | None]
    """Where sectors lie. Default: in sixteen zones, as many surfaces as the capacity takes, and skews just long enough to switch to the next track and settle for a write."""

class LayoutSpec(TypedDict):
    """How sectors lie on the platters."""

    surfaces: int
    """How many surfaces hold data."""
    order: NotRequired[TrackOrder]
    """In which order the tracks of a cylinder follow each other."""
    spares: NotRequired[Spares]
    """Where spare sectors lie."""
    slips_use_spares: NotRequired[bool]
    """Whether slipped sectors take the place of spares; else everything behind them in their zone moves on."""
    slips_skew: NotRequired[SlipsSkew | None]
    """Whether slipped sectors also move the beginnings of later tracks on."""
    zones: list[ZoneSpec]
    """The zones, from the outermost."""

TrackOrder: TypeAlias = "Literal['conventional'] | Literal['serpentine'] | Literal['zone_serpentine']"
"""In which order the tracks of a cylinder follow each other."""

class SparesCylinders(TypedDict):
    """At the end of each group of this many cylinders."""

    cylinders: int

Spares: TypeAlias = "Literal['none'] | Literal['zone_tracks'] | Literal['track_end'] | Literal['cylinder_end'] | Literal['cylinder_front'] | SparesCylinders | Literal['zone_end']"
"""Where spare sectors lie. Each zone's `spares` says how many."""

SlipsSkew: TypeAlias = "Literal['cylinders'] | Literal['tracks']"
"""Which slipped sectors of a zone move the beginning of a track on, by one sector each."""

class ZoneSpec(TypedDict):
    """A zone: cylinders whose tracks hold equally much."""

    first_cylinder: int
    """Its first cylinder."""
    last_cylinder: int
    """Its last cylinder."""
    sectors: int
    """How many sectors a track has."""
    offset: NotRequired[float]
    """At which sector of its track the first sector of the zone lies, seen from where all zones count."""
    track_skew: NotRequired[float]
    """By how many sectors a track begins later than the one before it in its cylinder."""
    cylinder_skew: NotRequired[float]
    """By how many sectors the first track of a cylinder begins later than the last of the one before."""
    reserved: NotRequired[int]
    """Sectors at the front of the zone that hold no data."""
    spares: NotRequired[int]
    """Spare sectors, or tracks, in each region that `spares` names."""
    slips: NotRequired[list[int]]
    """Defective sectors, or tracks, that are passed over, counted in the zone, in order."""
    remaps: NotRequired[list[list[int | int]]]
    """Defective sectors whose data lies elsewhere: (sector of the zone, sector of the zone where its data is)."""

class CacheSpec(TypedDict):
    """The cache of a drive."""

    source: NotRequired[str | None]
    """Where these numbers were read."""
    segments: int
    """How many places it holds data of at once."""
    segment_size: str
    """How much each holds."""
    read_ahead: NotRequired[ReadAhead]
    """When it reads on behind what was asked for."""
    read_ahead_most: NotRequired[str | None]
    """At most so far. Default: a segment."""
    read_ahead_least: NotRequired[str | None]
    """At least so far behind a read that continues a stream, whatever waits meanwhile, but no further than that stream has been read (the minimum prefetch of SCSI's caching page). Default: 0 B, it stops as soon as its arm is wanted elsewhere."""
    read_ahead_on_hit: NotRequired[bool]
    """Whether a read that the cache answers sets a drive that reads nothing ahead reading on behind that segment."""
    keeps_passing: NotRequired[bool]
    """Whether it keeps what passes under the head while the drive waits for the first sector of a read."""
    writes: NotRequired[Writes]
    """When a write counts as done."""
    keeps_written: NotRequired[bool | None]
    """Whether reads find in the cache what was written. Default: with `writes: back`."""
    write_room: NotRequired[str | None]
    """With `writes: back`: how much may be here that is not yet on the platter. A write comes in a segment at a time, each of which waits for room. Default: a segment."""
    writes_held: NotRequired[int | None]
    """With `writes: back`: how many writes may be here that are not yet on the platter, those that follow each other counted as one. Default: as many as there is room for."""
    drain: NotRequired[Scheduling]
    """With `writes: back`: which of them goes to the platter next."""
    alice_reading: NotRequired[AliceReading]
    """With `writes: back`: how the paper on the ALICE storage area network can be read to have its drives write. Default: as above."""

ReadAhead: TypeAlias = "Literal['never'] | Literal['always'] | Literal['sequential'] | Literal['track'] | Literal['next_track']"
"""When a drive reads on behind what was asked for."""

Writes: TypeAlias = "Literal['through'] | Literal['back']"
"""When a write counts as done."""

class SchedulingAgedSptfAgedSptf(TypedDict):
    """SchedulingAgedSptfAgedSptf"""

    weight: float
    """By how much each unit of waiting time shortens the estimate of positioning time."""

class SchedulingAgedSptf(TypedDict):
    """The same, but what has waited long is preferred."""

    aged_sptf: SchedulingAgedSptfAgedSptf

Scheduling: TypeAlias = "Literal['fcfs'] | Literal['sstf'] | Literal['look'] | Literal['c_look'] | Literal['sptf'] | SchedulingAgedSptf"
"""Which of the waiting requests a drive serves next."""

class AliceReading(TypedDict):
    """Four rules of a drive's write cache under which the bandwidth of an array falls once the stripe units of all streams together fill the caches of its disks: a reading of "Storage area network simulation … ALICE" (Vickovic et al.), whose text reports that fall and says only that requests are split to match the cache. All are off by default. No manual of a drive wholly supports them: use them to study that paper, not to predict a drive. They apply to data that crosses the bus of a controller."""

    reserves_commands: NotRequired[bool]
    """No data of a write moves before there is room for all of it, or for a segment of a larger one. A manual of Maxtor says otherwise: data is accepted until the buffer is full."""
    starts_with_all: NotRequired[bool]
    """The platter waits until all of a write has come, or a segment of a larger one. Weakly supported: manuals of IBM have drives write to the platter "subsequently" to receiving all data."""
    reports_large_late: NotRequired[bool]
    """A write that is no smaller than its segment is reported when it is on the platter. A hypothesis: manuals of Seagate have a drive return status once data is in the cache, without a word on larger commands."""
    keeps_stream_segments: NotRequired[bool]
    """Each stream of writes that is open keeps a segment as large as its writes, and the one that writes now has the rest. Partly supported: Seagate's circular segments keep what was written."""

class InterfaceSpec(TypedDict):
    """The interface of a drive, and what its electronics take."""

    source: NotRequired[str | None]
    """Where these numbers were read."""
    read_rate: NotRequired[str | None]
    """How fast data goes to the host. Default: in no time."""
    write_rate: NotRequired[str | None]
    """How fast data comes from the host. Default: in no time."""
    read_watermark: NotRequired[float | None]
    """How much of a read must be in the cache before its transfer begins."""
    read_hit: NotRequired[Command | None]
    """Before a read that is answered from the cache. Default of this and the next three: the drive's `overhead`."""
    read_miss: NotRequired[Command | None]
    """Before any other read."""
    write_hit: NotRequired[Command | None]
    """Before a write that follows the one before it."""
    write_miss: NotRequired[Command | None]
    """Before any other write."""
    elsewhere: NotRequired[Elsewhere | None]
    """By how much longer a command takes, unless the cache answers it or it follows the one before it, whose data is elsewhere: its place is worked out anew."""
    data_preparation: NotRequired[str]
    """Before the data of every command, once the drive has the bus."""
    reconnected_write: NotRequired[ReconnectedWrite | None]
    """What a write to the platter takes that comes right after a write and does not continue it, where the drive then lets go of the bus before it takes the data; instead of `write_miss` and `reselect`. Default: what any other write takes."""
    write_watermark: NotRequired[float | None]
    """How much of a write must be in the cache before its data goes to the platter; always enough for the rest to keep up with the platter."""
    write_start: NotRequired[str]
    """How much of a write, or all of a shorter one, must be in the cache before its data goes to the platter."""
    reselect: NotRequired[str]
    """To take up again what was laid aside while the platter was waited for: before the data of a read, after that of a write."""
    read_completion: NotRequired[str]
    """After the data of a read."""
    write_completion: NotRequired[str]
    """After the data of a write."""

class Command(TypedDict):
    """What a command takes, by the one before it."""

    after_read: str
    """After a read."""
    after_write: str
    """After a write."""

class Elsewhere(TypedDict):
    """What a command takes longer whose first sector is not where the last one of the command before was. What applies adds up."""

    other_track: NotRequired[str]
    """On another track."""
    other_cylinder: NotRequired[str]
    """In another cylinder."""
    other_zone: NotRequired[str]
    """In another zone."""

class ReconnectedWrite(TypedDict):
    """A write before whose data the drive lets go of the bus."""

    seek_after: str
    """From the command until the arm sets out."""
    data_after: str
    """From the command until the drive has the bus again, for the data."""
    reselect: str
    """To take the bus once more when the data is on the platter."""

class QueueSpec(TypedDict):
    """The commands that wait in a drive, and what it makes of them."""

    source: NotRequired[str | None]
    """Where these numbers were read."""
    scheduling: NotRequired[Scheduling]
    """Which of the waiting commands is served next."""
    depth: NotRequired[int]
    """The largest number among which it chooses; those behind them wait outside."""
    batch: NotRequired[int]
    """The largest number that it serves before it completes all of them together; it completes fewer where nothing waits. Default: it completes each alone."""
    margin: NotRequired[str | float | None]
    """By how much, as a share, a choice by positioning time overestimates a seek: a sector missed by a hair costs a turn, and long seeks are less sure than short ones. Default: 0 %."""
    longest_wait: NotRequired[str | None]
    """A command that has waited longer is served first, whatever `scheduling` says. Without it a drive that chooses by nearness or by positioning time can leave a command waiting for as long as there is something nearer. Default: no limit."""

Positioning: TypeAlias = "Literal['addressed'] | Literal['coupled'] | Literal['independent'] | Literal['mechanical']"
"""How the places on the platter are sampled."""

SsdField: TypeAlias = "str | VariedSsd | SsdNumbers"
"""What a document has in the place of a [`SsdRef`]: variations are completed before it is read."""

class VariedSsd(TypedDict):
    """A drive that is like another one, but for the fields given beside `like`."""

    like: str
    """The device from which all that is not given here is taken, each number as an estimate."""

class SsdNumbers(TypedDict):
    """The parameters of a solid-state drive."""

    name: NotRequired[str | None]
    """Maker, model, size."""
    validation: NotRequired[str]
    """Against which measurements it was validated, and how well; or `not validated`."""
    capacity: Sourced
    """Addressable bytes."""
    interface: Sourced7
    """The fastest interface that it supports."""
    queue_depth: NotRequired[Sourced2 | None]
    """Number of commands it holds at once; the rest wait in the host. Default: 32 for SATA (native command queueing), 64 Ki for NVMe."""
    read_latency: Sourced5
    """Latency of its electronics and firmware for a read, without flash and interface. Other commands go on meanwhile."""
    write_latency: Sourced5
    """The same for a write."""
    flash: FlashNumbers
    """Its flash."""
    buffer: BufferNumbers
    """Where writes wait for flash."""

Sourced7: TypeAlias = "Interface | Told7"
"""A number, and where it comes from."""

Interface: TypeAlias = "Literal['sata_1.5g'] | Literal['sata_3g'] | Literal['sata_6g'] | Literal['nvme_gen3_x4'] | Literal['nvme_gen4_x4'] | Literal['nvme_gen5_x4']"
"""An interface by its name: its rate after line coding, its frames, and whether reads and writes share the wire."""

class Told7(TypedDict):
    """A number with its source."""

    value: Interface
    """The number."""
    source: NotRequired[str | None]
    """Where it was read."""
    estimate: NotRequired[str | None]
    """Where no source gives it: how it was estimated."""

class FlashNumbers(TypedDict):
    """The flash of a drive."""

    over_provisioning: Sourced8
    """Flash beyond the capacity, as a share of the capacity."""
    channels: Sourced2
    """Number of channels between electronics and dies."""
    dies: Sourced2
    """Number of dies on all channels together. Each does one thing at a time."""
    page: Sourced
    """Size of a page."""
    planes: Sourced2
    """Number of planes of a die: pages that are programmed together."""
    block_pages: Sourced2
    """Number of pages of each plane that are erased together."""
    read: Sourced5
    """Time to read a page into the register of its die."""
    program: Sourced5
    """Time to program one page of each plane."""
    erase: Sourced5
    """Time to erase a block."""
    channel_rate: Sourced4
    """Data rate of a channel."""
    collection: NotRequired[Collection]
    """Which block is erased next."""

Sourced8: TypeAlias = "str | float | Told8"
"""A number, and where it comes from."""

class Told8(TypedDict):
    """A number with its source."""

    value: str | float
    """The number."""
    source: NotRequired[str | None]
    """Where it was read."""
    estimate: NotRequired[str | None]
    """Where no source gives it: how it was estimated."""

class CollectionChoices(TypedDict):
    """The one with the fewest valid pages of this number of blocks, drawn at random."""

    choices: int

Collection: TypeAlias = "Literal['greedy'] | Literal['fifo'] | CollectionChoices"
"""Which block is erased when a drive needs an empty one."""

class BufferNumbers(TypedDict):
    """The buffer of a drive, protected against loss of power or not: a write is done once it is there."""

    size: Sourced
    """How much it holds."""
    halves: NotRequired[bool]
    """Whether it is drained in two halves: while one is being written to flash the other fills, and room returns when the last page of a half is there. Default: room returns page by page."""

class Allocation(TypedDict):
    """Extents that are dealt to allocation groups in turn."""

    groups: int
    """Number of groups, each a part of the volume of its own."""
    extent: str
    """Size of an extent: a multiple of the stripe width keeps stripes whole."""

TimeSpec: TypeAlias = "str | DrawnTime"
"""A time, either fixed (`8.5 ms`) or drawn for each request."""

class DrawnTimeExponential(TypedDict):
    """Exponential with this mean."""

    exponential: str

class DrawnTimeErlangErlang(TypedDict):
    """DrawnTimeErlangErlang"""

    stages: int
    """How many stages."""
    mean: str
    """The mean of their sum."""

class DrawnTimeErlang(TypedDict):
    """The sum of several exponential stages."""

    erlang: DrawnTimeErlangErlang

# DrawnTimeUniformUniform
DrawnTimeUniformUniform = TypedDict(
    "DrawnTimeUniformUniform",
    {
        # The least time.
        "from": "str",
        # The longest time.
        "to": "str",
    },
)

class DrawnTimeUniform(TypedDict):
    """Equally likely anywhere in between."""

    uniform: DrawnTimeUniformUniform

DrawnTime: TypeAlias = "DrawnTimeExponential | DrawnTimeErlang | DrawnTimeUniform"
"""A law of time."""

Order: TypeAlias = "Literal['first_come'] | Literal['priority']"
"""Which of the waiting requests is served next."""

class LevelErasureErasure(TypedDict):
    """LevelErasureErasure"""

    parity: int
    """How many: as many disks may fail."""

class LevelErasure(TypedDict):
    """Any number of units of parity in each stripe, on each disk in turn."""

    erasure: LevelErasureErasure

Level: TypeAlias = "Literal['raid0'] | Literal['raid1'] | Literal['raid10'] | Literal['raid01'] | Literal['raid4'] | Literal['raid5'] | Literal['raid6'] | LevelErasure"
"""How data is laid out over the disks."""

Copies: TypeAlias = "str | list[str] | ComponentSpec"
"""What a component is made of."""

Queueing: TypeAlias = "Literal['fork_join'] | Literal['split_merge']"
"""Whether requests overlap."""

FirstUnit: TypeAlias = "Literal['addressed'] | Literal['first_disk']"
"""On which disk a request begins."""

Rotation: TypeAlias = "Literal['left_symmetric'] | Literal['left_asymmetric'] | Literal['right_symmetric'] | Literal['right_asymmetric'] | Literal['fixed']"
"""On which disks the parity of a stripe lies. The names are those of Linux md."""

ReadFrom: TypeAlias = "Literal['round_robin'] | Literal['shortest_queue'] | Literal['nearest']"
"""Which copy a read is taken from."""

class DeclusteredSpec(TypedDict):
    """Stripes narrower than the array, over all of its disks by permutations."""

    width: int
    """Number of units in a stripe, parity included."""
    spares: NotRequired[int]
    """Number of units in each row that are left free for rebuilds: the distributed spare."""

class RebuildSpec(TypedDict):
    """How data that a disk has lost or missed is computed again and written."""

    rate: NotRequired[str | None]
    """Maximum rate at which it writes. Default: as fast as the disks can."""
    at_least: NotRequired[str]
    """Minimum rate at which it goes on while hosts keep the array busy. Only of `foreground_first`. The default is that of Linux md."""
    to: NotRequired[Target | None]
    """Where the data of a failed disk goes. Default: to the distributed spare where the layout has one, else to a hot spare."""
    priority: NotRequired[Precedence]
    """Who goes first while hosts use the array."""
    chunk: NotRequired[str]
    """Bytes of a disk that are read together, and then written together. Two such chunks are under way at a time. The default is an estimate: controllers differ."""

Target: TypeAlias = "Literal['hot_spare'] | Literal['distributed_spare']"
"""Where the data of a failed disk goes. Without a spare it waits until the disk is replaced."""

Precedence: TypeAlias = "Literal['equal'] | Literal['foreground_first']"
"""Who goes first while hosts use the array."""

Via: TypeAlias = "str | list[str]"
"""What an array sends its requests and data by."""

Access: TypeAlias = "Literal['active_passive'] | Literal['active_active']"
"""Which of two controllers the requests to an array come to."""

class ArrayCacheSpec(TypedDict):
    """A cache between the hosts and the disks of an array."""

    size: str
    """Bytes that it holds at most: written data that is not on the disks yet, and lines for reads."""
    writes: NotRequired[WritePolicy]
    """When a write is answered."""
    line: NotRequired[str | None]
    """What is kept for reads is kept by lines of this size, and a read that misses fetches whole lines; the data of a stripe is a multiple of it. Default: 64 KiB, or the largest power of two below that fits."""
    read_ahead: NotRequired[str | None]
    """How far ahead of sequential reads it fetches: whole stripes, for each stream of reads. Default: nothing."""
    stripes_at_once: NotRequired[int]
    """How many stripes go to the disks at once, and how many are read ahead at once. Default: 8, an estimate."""
    run: NotRequired[str]
    """How much of one stream it moves before it turns to another, both ways: disks then seek less. Default: 8 MiB, an estimate."""
    destage: NotRequired[DestageSpec]
    """When written data goes to the disks. Whole stripes always go at once."""

WritePolicy: TypeAlias = "Literal['through'] | Literal['back']"
"""When a write to an array with a cache is answered."""

class DestageSpec(TypedDict):
    """When parts of stripes go from the cache to the disks."""

    high: NotRequired[str | float]
    """They begin to go when they take this share of the cache. Default: 80 %, an estimate."""
    low: NotRequired[str | float]
    """And then go until they take this share. Default: 60 %, an estimate."""
    idle: NotRequired[str]
    """All of them go when no request came for so long. Default: 1 s, an estimate."""
    before_read_ahead: NotRequired[bool]
    """Whether nothing is read ahead while something goes to the disks: writers then keep their rate, and readers starve. Off by default; it is one reading of "Storage area network simulation … ALICE" (Vickovic et al.), where readers fall below half."""

Preset: TypeAlias = "Literal['fc_1g'] | Literal['fc_2g'] | Literal['fc_4g'] | Literal['fc_8g'] | Literal['fc_16g'] | Literal['fc_32g'] | Literal['ethernet_1g'] | Literal['ethernet_10g'] | Literal['ethernet_25g'] | Literal['ethernet_40g'] | Literal['ethernet_100g'] | Literal['infiniband_sdr_1x'] | Literal['infiniband_sdr'] | Literal['infiniband_ddr'] | Literal['infiniband_qdr'] | Literal['infiniband_fdr'] | Literal['infiniband_edr']"
"""A wire by its name: its rate after line coding, and its frames."""

FrameSpec: TypeAlias = "Protocol | Frame"
"""How data is cut into frames: by a protocol, or by numbers."""

Protocol: TypeAlias = "Literal['fibre_channel'] | Literal['tcp'] | Literal['tcp_jumbo'] | Literal['infiniband']"
"""A protocol, by what its frames carry and add. All data goes in full frames but for the last."""

class Frame(TypedDict):
    """What a frame carries and what it adds."""

    payload: str
    """Data in a full frame."""
    overhead: str
    """Bytes of a frame besides, and of the gap to the next."""

Duplex: TypeAlias = "Literal['half'] | Literal['full']"
"""Whether the two directions of a link are one wire."""

Policy: TypeAlias = "Literal['fairness'] | Literal['read_command_first'] | Literal['fl_port_first'] | Literal['commands_first']"
"""Which port of a loop sends next."""

Connection: TypeAlias = "str | Linked"
"""A neighbour of a switch."""

class Linked(TypedDict):
    """A neighbour, and the wires to it."""

    to: str
    """The neighbour, by its name in `system`."""
    links: NotRequired[int]
    """Number of wires, each with a port at this end."""
    preset: NotRequired[Preset | None]
    """What each wire is called. Default: as the switch says."""
    rate: NotRequired[str | None]
    """Rate of each wire in each direction. Default: as the switch says."""
    metres: NotRequired[int]
    """Length of each wire in metres, of 5 ns each."""

Forwarding: TypeAlias = "Literal['cut_through'] | Literal['store_and_forward']"
"""Whether a frame goes on before it is there whole."""

Form: TypeAlias = "Literal['queued'] | Literal['direct']"
"""What is between the neighbours of a switch."""

class AdapterSpec(TypedDict):
    """A host bus adapter."""

    command: NotRequired[str]
    """Time its processor takes for each command."""
    queue_depth: NotRequired[int | None]
    """Maximum number of commands outstanding at each target; others wait. Default: no limit."""
    coalescing: NotRequired[Coalescing | None]
    """Completions reported together. Default: an interrupt for each."""

class Coalescing(TypedDict):
    """When an adapter that holds completions back interrupts its server."""

    most: int
    """Once it holds this number of completions …"""
    after: str
    """… or this time after the first of them."""
    above: NotRequired[str | None]
    """Only while the last 64 completions came faster than this. Default: always."""

Paths: TypeAlias = "Literal['round_robin'] | Literal['shortest_queue'] | Literal['first']"
"""Which way a request takes where there are several."""

class PortClass(TypedDict):
    """Ports that take files of some sizes."""

    number: int
    """Number of ports."""
    above: NotRequired[str]
    """Files must be larger than this."""
    up_to: NotRequired[str | None]
    """Files must not be larger than this. Default: no limit."""

PortQueue: TypeAlias = "Literal['first_that_fits'] | Literal['head_blocks'] | Literal['joint']"
"""Who is next when a port is free."""

Allocate: TypeAlias = "Literal['chain_by_chain'] | Literal['across_chains']"
"""Which volume the next file goes to."""

class DriveGroup(TypedDict):
    """Drives on one path."""

    drives: int
    """Number of drives."""
    for_reads: NotRequired[int]
    """Number of these that recall files only: a cartridge is mounted in none of them to be written."""
    for_writes: NotRequired[int]
    """Number of these that store files only."""
    rate: NotRequired[str | None]
    """What they transfer together: the rate of their chain or network. Default: no limit."""
    silos: NotRequired[int]
    """Number of silos whose cartridges they take."""
    arms: NotRequired[int]
    """Number of robot arms."""

Recall: TypeAlias = "Literal['arrival'] | Literal['by_cartridge']"
"""Which recall is next when a drive is free."""

class MigrateSpec(TypedDict):
    """Storing to tape: one process, which sleeps, lists files, and copies one after another."""

    every: str
    """How long it sleeps after a list is done."""
    min_age: NotRequired[str]
    """Files must have been in the pool for this long."""
    order: NotRequired[MigrateOrder]
    """In which order a list is copied."""

MigrateOrder: TypeAlias = "Literal['by_volume'] | Literal['oldest'] | Literal['smallest'] | Literal['largest']"
"""In which order files are stored to tape."""

class PurgeSpec(TypedDict):
    """Making room in the pool, of files that are on tape."""

    weight: str
    """Files with the largest weight go first; among equals the one unused longest. An expression of `size_mb` (10⁶ B), `hours_since_access`, `hours_on_disk` and `accesses`, such as `ceil(size_mb) * ceil(hours_since_access) ** 1.5`."""
    high: str | float
    """A purge begins when this share of the pool is taken."""
    low: str | float
    """It ends when less than this share is taken."""
    min_age: NotRequired[str]
    """Files must not have been used for this long."""

# A stream of requests to one component.
StreamSpec = TypedDict(
    "StreamSpec",
    {
        # The server that the requests come from, by its name in `system`: they find their way to `to` through switches. Default: they are at `to` at once.
        "from": "NotRequired[str | None]",
        # The component the requests go to, by its name in `system`.
        "to": "str",
        # When requests come.
        "arrivals": "ArrivalSpec",
        # Reads, writes, or both. A replayed trace has its own.
        "op": "NotRequired[OpSpec]",
        # How large each request is. A replayed trace has its own.
        "size": "NotRequired[SizeSpec]",
        # Which addresses they go to. A replayed trace has its own.
        "pattern": "NotRequired[PatternSpec]",
        # Addresses are multiples of this. Default: the smallest size that occurs.
        "align": "NotRequired[str | None]",
        # Only this number of bytes at the beginning is addressed. Default: the whole component.
        "footprint": "NotRequired[str | None]",
        # Only these bytes are addressed, for streams that share a component without touching the same data. `footprint` is short for a region that begins at 0.
        "region": "NotRequired[Region | None]",
        # Requests go to files of this size: each from its beginning to its end, one after another and around again. A request that does not fit at the end of a file begins the next. Streams with files of one size to one component have files of their own.
        "file": "NotRequired[str | None]",
        # Number of files. Default: one.
        "files": "NotRequired[int | None]",
        # Where the files lie: `contiguous` from the beginning of what is addressed, which is the default, or `spread` over it.
        "placement": "NotRequired[Placement | None]",
        # Maximum number of its requests in flight, for an open stream. Default: no limit.
        "outstanding": "NotRequired[int | None]",
        # What happens to a request that comes while `outstanding` are in flight.
        "when_full": "NotRequired[WhenFull]",
        # A request not answered within this time is given up by its host and counted as expired; the system still finishes it, while a closed client thinks and asks again. Default: hosts wait.
        "timeout": "NotRequired[str | None]",
        # Smaller numbers are more urgent, where a component has priorities.
        "priority": "NotRequired[int]",
    },
)

class ArrivalSpecPoisson(TypedDict):
    """At random at this rate, whatever happened before."""

    poisson: str

class ArrivalSpecEvery(TypedDict):
    """One after each such time."""

    every: str

class ArrivalSpecBurstyBursty(TypedDict):
    """ArrivalSpecBurstyBursty"""

    calm: str
    """The rate between bursts."""
    burst: str
    """The rate within a burst."""
    calm_for: str
    """The mean time between bursts."""
    burst_for: str
    """The mean length of a burst."""

class ArrivalSpecBursty(TypedDict):
    """In bursts: a Poisson process whose rate switches between two values, each kept for an exponential time (a Markov-modulated Poisson process of two states)."""

    bursty: ArrivalSpecBurstyBursty

class ArrivalSpecBatchesBatches(TypedDict):
    """ArrivalSpecBatchesBatches"""

    rate: str
    """How many batches come, on average."""
    size: BatchSize
    """How many requests come in each."""

class ArrivalSpecBatches(TypedDict):
    """Several at once, at random instants."""

    batches: ArrivalSpecBatchesBatches

class ArrivalSpecClosedClosed(TypedDict):
    """ArrivalSpecClosedClosed"""

    depth: int
    """How many clients: the queue depth."""
    think: NotRequired[TimeSpec]
    """What each waits from an answer to its next request."""
    threads: NotRequired[int | None]
    """Number of threads that the clients belong to, each to one: fio's `numjobs`. A thread does one thing at a time, on one core of the server that the stream comes `from`. Default: clients do not share threads."""

class ArrivalSpecClosed(TypedDict):
    """From a fixed number of clients, each of which sends its next request when its last is answered and it has thought."""

    closed: ArrivalSpecClosedClosed

class ArrivalSpecReplay(TypedDict):
    """From a trace of requests recorded on a real system."""

    replay: ReplaySpec

class ArrivalSpecLog(TypedDict):
    """From a log of file operations, to an archive."""

    log: FileLogSpec

ArrivalSpec: TypeAlias = "ArrivalSpecPoisson | ArrivalSpecEvery | ArrivalSpecBursty | ArrivalSpecBatches | ArrivalSpecClosed | ArrivalSpecReplay | ArrivalSpecLog"
"""When requests come."""

class BatchSizeGeometric(TypedDict):
    """Geometrically distributed: 1, 2, 3 … with this mean."""

    geometric: float
    """The mean; at least one."""

BatchSize: TypeAlias = "int | BatchSizeGeometric"
"""How many requests come at once."""

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

TraceFormat: TypeAlias = "Literal['validate'] | Literal['ascii'] | Literal['msr'] | Literal['spc'] | Literal['blkparse'] | Literal['blkparse_queued'] | Literal['fio_latency'] | Literal['fio_bandwidth'] | Literal['headrace'] | TraceFormatCsv"
"""The format of a trace file."""

class CsvColumns(TypedDict):
    """The columns of a CSV file, by their names in the header line."""

    time: NotRequired[TimeColumn | None]
    """Arrival time, from any origin."""
    op: str
    """Name of the operation column: `r`, `read` or `0` for a read; `w`, `write` or `1` for a write, in either case."""
    address: ByteColumn
    """Address of the first byte."""
    size: ByteColumn
    """Size."""
    response: NotRequired[TimeColumn | None]
    """Response time."""
    think: NotRequired[TimeColumn | None]
    """Think time: from the completion of this request to the next."""
    device: NotRequired[str | None]
    """Name of the device column."""

class TimeColumn(TypedDict):
    """A time column."""

    column: str
    """Name of the column."""
    unit: str
    """Unit of its values: `1 s`, `100 ns`."""

class ByteColumn(TypedDict):
    """A column of addresses or sizes."""

    column: str
    """Name of the column."""
    unit: str
    """Unit of its values: `1 B`, `512 B`."""

Timing: TypeAlias = "Literal['timestamps'] | Literal['think']"
"""When the requests of a trace are issued."""

Fit: TypeAlias = "Literal['refuse'] | Literal['wrap'] | Literal['scale']"
"""Handling of addresses beyond the end of the component."""

FileLogSpec: TypeAlias = "str | FileLogOptions"
"""A log of file operations: the path of a CSV file relative to the scenario, plain or compressed, or that with options. Its header names the columns `time_s`, `op` (`get`, `put`, `stage` or `delete`), `user`, `host`, `file` and `bytes`; `staged` (1 where the file was read from tape) and `measured_s` (response time on the real system) may follow. A log of sessions of cartridges, which goes to a tape library, has `time_s`, `op` (`session`), `file` (the cartridge), `drive_s` (seconds of drive use), and perhaps `silo` (where the cartridge lies, counted from 0). Lines are in order of time."""

class FileLogOptions(TypedDict):
    """A log of file operations, and how to replay it."""

    file: str
    """Path of the CSV file, relative to the scenario."""
    unseen: NotRequired[Unseen]
    """Where a file lies when the run begins that the log reads before it writes it. A column `staged` says it line by line."""
    speed: NotRequired[float]
    """Replay speed relative to the recording: times between operations are divided by it."""
    timing: NotRequired[FileTiming]
    """When an operation is asked for."""
    first: NotRequired[int | None]
    """Replay only the first N operations."""
    skip_bad: NotRequired[bool]
    """Skip and count bad lines instead of refusing the file."""

Unseen: TypeAlias = "Literal['tape'] | Literal['disk']"
"""Where a file lies that is older than the log."""

FileTiming: TypeAlias = "Literal['timestamps'] | Literal['gaps']"
"""When an operation of a log is asked for."""

class OpSpecReads(TypedDict):
    """This share of reads, the rest writes; drawn for each request."""

    reads: str | float

OpSpec: TypeAlias = "Literal['read'] | Literal['write'] | OpSpecReads"
"""Reads, writes, or both."""

SizeSpec: TypeAlias = "str | DrawnSize"
"""A size, either fixed (`64 KiB`) or drawn for each request."""

class DrawnSizeMix(TypedDict):
    """One of several sizes, each with its weight."""

    mix: list[Share]

# DrawnSizeUniformUniform
DrawnSizeUniformUniform = TypedDict(
    "DrawnSizeUniformUniform",
    {
        # The smallest size.
        "from": "str",
        # The largest size.
        "to": "str",
        # From one size to the next.
        "step": "str",
    },
)

class DrawnSizeUniform(TypedDict):
    """Equally likely any of `from`, `from` + `step`, … up to `to`."""

    uniform: DrawnSizeUniformUniform

DrawnSize: TypeAlias = "DrawnSizeMix | DrawnSizeUniform"
"""A law of size."""

class Share(TypedDict):
    """One size of a mix."""

    size: str
    """The size."""
    weight: float
    """How often, relative to the others."""

class PatternSpecHotSpotHotSpot(TypedDict):
    """PatternSpecHotSpotHotSpot"""

    skew: NotRequired[float]
    """Zipf's exponent; 0 is uniform, 1 the classic law."""
    spots: NotRequired[int]
    """How many regions."""

class PatternSpecHotSpot(TypedDict):
    """Some regions more than others: the r-th most popular of `spots` regions of equal size is asked for in proportion to r^−`skew` (Zipf's law). Popular regions lie scattered."""

    hot_spot: PatternSpecHotSpotHotSpot

class PatternSpecRunsRuns(TypedDict):
    """PatternSpecRunsRuns"""

    length: float
    """The mean number of requests in a run; at least one."""

class PatternSpecRuns(TypedDict):
    """Sequential runs from random places; the number of requests in a run is geometric."""

    runs: PatternSpecRunsRuns

PatternSpec: TypeAlias = "Literal['uniform'] | Literal['sequential'] | PatternSpecHotSpot | PatternSpecRuns"
"""Which addresses are asked for."""

# A part of a component.
Region = TypedDict(
    "Region",
    {
        # Where it begins. Requests are aligned from there on, so a drive wants a multiple of its sectors (512 B).
        "from": "str",
        # How much it holds.
        "size": "str",
    },
)

Placement: TypeAlias = "Literal['contiguous'] | Literal['spread']"
"""Where a stream's files lie."""

WhenFull: TypeAlias = "Literal['wait'] | Literal['drop']"
"""What happens to a request that comes while as many as may be are in flight."""

class FaultSpec(TypedDict):
    """A component that fails during the run."""

    component: str
    """The component, by its path in results: `volume/spindle[2]`, or the name of a link."""
    fails: Moment
    """When it fails: from then on it answers nothing, and what it was asked before is lost."""
    returns: NotRequired[Moment | None]
    """When it works again, with what it held. An array then writes what it missed."""
    replaced: NotRequired[Moment | None]
    """When another one, which is empty, takes its place. An array then rebuilds what it held."""

Moment: TypeAlias = "str | AfterSpec"
"""When something happens."""

class AfterSpec(TypedDict):
    """A moment counted in requests."""

    after: int
    """Number of requests answered, dropped, expired or failed, of all streams together."""

class RunSpec(TypedDict):
    """How long to run, and from which seed."""

    seed: NotRequired[int]
    """The root of all random streams. Same scenario, same seed: same results, bit for bit."""
    requests: NotRequired[int]
    """How many requests are answered, dropped, expired or failed before the run ends. A replayed trace ends with its last request."""
    time: NotRequired[str | None]
    """End after this simulated time, if that comes first."""
    replications: NotRequired[int]
    """How many independent runs, each with random streams of its own."""
    warm_up: NotRequired[WarmUp]
    """How much of the beginning is left out."""
    engine: NotRequired[Engine]
    """How the run is computed."""
    limits: NotRequired[Limits]
    """What ends a run before its time."""

WarmUp: TypeAlias = "Literal['auto'] | Literal['none']"
"""How much of the beginning is left out."""

Engine: TypeAlias = "Literal['auto'] | Literal['events'] | Literal['recursion']"
"""How a run is computed."""

class Limits(TypedDict):
    """What ends a run before its time; what was found until then is kept and marked."""

    in_flight: NotRequired[int]
    """Maximum number of requests in flight: beyond it the system does not keep up. A run by recursion has none in flight."""
    events: NotRequired[int]
    """Maximum number of events."""
    wall_time: NotRequired[str]
    """Maximum real time."""
