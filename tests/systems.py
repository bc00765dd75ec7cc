"""Random systems: documents of every kind of component, load and fault, the same for the same number."""

import copy
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = dict[str, Any]

DISKS = ["seagate-st32171w", "seagate-st3500630ns", "maxtor-7y250p0", "quantum-atlas-10k", "samsung-hd103uj"]
SMALL_SSD = {
    "like": "micron-7450-pro-1920gb",
    "capacity": "600 MB",
    "flash": {"block_pages": 8, "erase": "38 us", "over_provisioning": "7 %"},
    "buffer": {"size": "16 MiB"},
}
# Each number in a document is now and then one of these.
HOSTILE: list[object] = [
    *("0 s", "1 ns", "1 us", "100 h", "0 B", "1 B", "513 B", "1 TB", "900 PB", "0 /s", "1e9 /s", "1e-9 /s", "1 GB/s"),
    *(0, 1, -1, 2, 65535, 2**31, 2**64, 1e308, 0.5, "0 %", "100 %", "200 %", "nan", "inf", "1e400 s", "-1 s"),
    *(None, True, "", "~", "\0", "a" * 1000, [], {}, ["a"], {"like": "a"}, "none", "mechanical"),
]


def write_files(folder: Path) -> None:
    """Write the logs, traces and job files that documents name."""
    draws, places = random.Random(1), random.Random(2)
    moments = sorted(draws.uniform(0, 20_000) for _ in range(400))
    put: list[str] = []
    log = ["time_s,op,user,host,file,bytes,cartridge,position_bytes"]
    for number, moment in enumerate(moments):
        op = draws.choice(["put", "get", "get", "stage", "delete", "cancel"] if put else ["put"])
        file = f"f{number}" if op == "put" else draws.choice([*put, f"old{draws.randrange(50)}"])
        put += [file] if op == "put" else []
        put = [one for one in put if op != "delete" or one != file]
        place = places.choice(["", f"L{number % 4},", f"L{number % 4},{places.randrange(20 * 10**9)}"])
        log.append(f"{moment:.1f},{op},u{number % 5},h{number % 3},{file},{draws.randrange(1, 10**9)},{place}")
    sessions = [f"{moment:.0f},session,T{draws.randrange(20)},{draws.randrange(1, 500)}" for moment in moments]
    trace = [
        f"{int(moment * 1e6)},{draws.choice('rw')},{512 * draws.randrange(10**5)},{512 * draws.randrange(1, 200)}"
        for moment in moments
    ]
    for name, lines in {
        "log.csv": log,
        "sessions.csv": ["time_s,op,file,drive_s", *sessions],
        "trace.csv": ["time_us,op,address,bytes", *trace],
        "job.fio": ["[a]", "rw=randrw", "bs=16k", "iodepth=4", "size=200m", "[b]", "rw=write", "bs=64k", "size=100m"],
        "times.csv": [f"{draws.lognormvariate(1, 1):.3f}" for _ in range(50)],
    }.items():
        (folder / name).write_text("\n".join(lines) + "\n")


class Systems:
    """Draws one document."""

    def __init__(self, number: int) -> None:
        self.draws = random.Random(number)
        self.parts: Json = {}
        self.system: Json = {}
        self.workload: Json = {}
        self.fallible: list[str] = []
        self.slowable: list[str] = []

    def chance(self, share: float) -> bool:
        return self.draws.random() < share

    def one(self, *choices: Any) -> Any:
        return self.draws.choice(choices)

    def maybe(self, share: float = 0.3, **fields: Callable[[], Any]) -> Json:
        """Return some of the fields, each with this chance."""
        return {name: draw() for name, draw in fields.items() if self.chance(share)}

    def number(self, least: float, most: float) -> float:
        """Return a number between two; its logarithm is uniform."""
        return float(f"{least * (most / least) ** self.draws.random():.3g}")

    def time(self, least_ms: float = 0.1, most_ms: float = 30) -> str:
        return f"{self.number(least_ms, most_ms)} ms"

    def size(self, least: int = 9, most: int = 20) -> str:
        return f"{1 << self.draws.randint(least, most)} B"

    def rate(self, least: float = 20, most: float = 1000) -> str:
        return f"{self.number(least, most)} MB/s"

    def law(self, mean_ms: float) -> Any:
        mean = f"{mean_ms} ms"
        return self.one(
            mean,
            {"exponential": mean},
            {"erlang": {"stages": self.draws.randint(1, 5), "mean": mean}},
            {"uniform": {"from": "0 ms", "to": f"{2 * mean_ms} ms"}},
            {"lognormal": {"mean": mean, "cv": self.number(0.1, 3)}},
            {"hyperexponential": {"mean": mean, "cv": self.number(1, 4)}},
            {"bounded_pareto": {"shape": self.number(0.5, 3), "from": mean, "to": f"{100 * mean_ms} ms"}},
            {"empirical": {"values": [mean, f"{3 * mean_ms} ms"]}},
            {"empirical": {"file": "times.csv", "unit": mean}},
            {"mix": [{"time": mean, "weight": 3}, {"time": {"exponential": mean}, "weight": 1}]},
        )

    # Block storage.

    def station(self) -> Json:
        service = self.law(self.number(0.01, 20))
        few = {"type": "station", "servers": self.one(1, 1, 2, 8), "service": service}
        return few | self.maybe(
            order=lambda: "priority",
            capacity=lambda: self.one("1 GB", "1 TB"),
            rate=lambda: self.one("1 GB/s", "20 MB/s"),
        )

    def disk(self) -> Json:
        positioning = self.one("addressed", "coupled", "independent", "mechanical")
        plain = {"type": "disk", "device": self.one(*DISKS), "positioning": positioning}
        if positioning != "mechanical":
            return plain
        policies = ("fcfs", "sstf", "look", "c_look", "sptf", {"aged_sptf": {"weight": 0.5}})
        return plain | self.maybe(queue_depth=lambda: self.one(1, 2, 8, 32), scheduling=lambda: self.one(*policies))

    def ssd(self) -> Json:
        device: Json = copy.deepcopy(SMALL_SSD)
        device["buffer"] |= self.maybe(0.5, power_loss_protection=lambda: False)
        device["flash"] |= self.maybe(independent_reads=lambda: True)
        device |= self.maybe(command=lambda: self.one("1 us", "0.1 ms"))
        some = self.maybe(written=lambda: self.one("0 %", "50 %", "100 %"), overwritten=lambda: self.one(0.5, 1))
        return {"type": "ssd", "device": device} | some | self.maybe(read_command=self.time)

    def leaf(self) -> Json:
        kind: Json = self.one(self.station, self.disk, self.disk, self.disk, self.ssd)()
        return kind

    def cache(self) -> Json:
        return {"size": self.one("2 MiB", "64 MiB", "1 GiB"), "writes": self.one("through", "back")} | self.maybe(
            read_ahead=lambda: self.one("1 MiB", "8 MiB"),
            replacement=lambda: self.one("lru", "arc", "2q"),
            stripes_at_once=lambda: self.one(1, 4),
            run=lambda: self.one("64 KiB", "8 MiB"),
            volatile=lambda: True,
            destage=lambda: {"high": "50 %", "low": self.one("10 %", "50 %"), "idle": self.time(1, 1000)},
        )

    def controller(self) -> str:
        return self.add("c", {"type": "controller"} | self.maybe(
            0.5,
            processors=lambda: self.one(1, 4),
            command=lambda: self.time(0.01, 1),
            disk_command=lambda: self.time(0.01, 1),
            data_rate=self.rate,
            parity_rate=self.rate,
            bus=self.rate,
            cache=self.cache,
        ))  # fmt: skip

    def way(self) -> str:
        name = self.add("w", self.one(
            {"type": "link", "rate": self.rate()} | self.maybe(latency=self.time, credit=lambda: 2),
            {"type": "link", "preset": self.one("fc_1g", "fc_4g", "ethernet_1g")} | self.maybe(metres=lambda: 10_000),
            {"type": "fc_loop", "rate": self.one("1 Gb/s", "4 Gb/s")}
            | self.maybe(policy=lambda: self.one("fairness", "read_command_first", "commands_first")),
            {"type": "scsi_bus", "preset": self.one("fast", "ultra160")} | self.maybe(burst=lambda: "16 KiB"),
            {"type": "sas", "preset": self.one("sas_3g", "sas_6g"), "lanes": self.one(1, 4)},
        ))  # fmt: skip
        self.fallible.append(name)
        return name

    def levels(self) -> tuple[Any, int, Json]:
        """Return a level, a number of disks, and fields that only some levels have."""
        level, least, more = self.one(
            ("raid0", 1, {"queueing": self.one("fork_join", "split_merge")}),
            ("raid1", 2, {"read_from": self.one("round_robin", "shortest_queue", "nearest")}),
            ("raid10", 4, {"read_from": self.one("round_robin", "shortest_queue")}),
            ("raid01", 4, {}),
            ("raid4", 3, {}),
            ("raid5", 3, {"rotation": self.one("left_symmetric", "right_asymmetric")}),
            ("raid5", 6, {"declustered": {"width": 4, "spares": self.one(0, 1)}}),
            ("raid6", 4, {"stripe_cache": self.one(16, 256)}),
            ({"erasure": {"parity": 3}}, 6, {}),
        )
        disks = least + self.one(0, 0, 2, 4)
        return level, disks, {key: value for key, value in more.items() if self.chance(0.6) or key == "declustered"}

    def array(self) -> str:
        level, disks, more = self.levels()
        name, part = f"a{len(self.system)}", f"p{len(self.parts)}"
        self.parts[part] = self.leaf()
        spares = self.one(0, 0, 1, 2) if level != "raid0" else 0
        fields: Json = {"type": "array", "level": level, "of": part, "disks": disks, "spares": spares} | more
        fields["stripe_unit"] = self.one("512 B", "4 KiB", "64 KiB", "1 MiB")
        fields |= self.maybe(
            via=lambda: self.way() if self.chance(0.7) else [self.way(), self.way()],
            controllers=lambda: [self.controller()],
            cache=self.cache,
        )
        if "cache" in fields and "controllers" not in fields:
            fields["controllers"] = [self.controller()]
        if level != "raid0":
            fields |= self.maybe(
                rebuild=lambda: {"chunk": self.one("64 KiB", "4 MiB")}
                | self.maybe(
                    rate=self.rate, priority=lambda: "foreground_first", in_flight=lambda: self.one(1, 16)
                ),
                scrub=lambda: {"starts": self.time(), "position": self.one("0 %", "50 %")}
                | self.maybe(rate=self.rate, priority=lambda: "foreground_first"),
                bitmap=dict,
                failed=lambda: [0],
            )  # fmt: skip
            fields |= self.maybe(hedge=self.time)
            fields |= self.maybe(evict_slow=lambda: {"factor": self.one(1.5, 4), "for": "200 ms", "accesses": 2})
        self.fallible += [f"{name}/{part}[{self.draws.randrange(disks)}]" for _ in range(2)]
        self.can_be_slow(f"{name}/{part}[0]", self.parts[part])
        return self.add(name, fields)

    def can_be_slow(self, name: str, component: Json) -> None:
        """Note a component whose times can be longer than usual."""
        if component.get("positioning") != "mechanical":
            self.slowable.append(name)

    def listed(self) -> str:
        """Return an array of components that are listed."""
        names = [self.device() for _ in range(self.draws.randint(2, 4))]
        return self.add(
            "l", {"type": "array", "level": self.one("raid0", "raid1"), "of": names, "stripe_unit": "64 KiB"}
        )

    def device(self) -> str:
        leaf = self.leaf()
        name = self.add("d", leaf)
        self.fallible.append(name)
        self.can_be_slow(name, leaf)
        return name

    def volume(self) -> str:
        name: str = self.one(self.array, self.array, self.device, self.listed, self.pool)()
        if self.chance(0.1):
            name = self.share(name)
        if self.chance(0.1):
            name = self.log(name)
        if self.chance(0.05):
            name = self.store(name)
        if self.chance(0.1):
            name = self.device_cache(name)
        if self.chance(0.07):
            name = self.copy(name)
        return self.limiter(name) if self.chance(0.15) else name

    def log(self, target: str) -> str:
        """Return a write-ahead log on a component."""
        name = self.add("g", {"type": "write_ahead_log", "to": target} | self.maybe(
            at=lambda: self.one("1 MiB", "512 B"),
            size=lambda: self.one("1 MiB", "16 MiB"),
            block=lambda: self.one("512 B", "64 KiB"),
            window=self.time,
            most=lambda: self.one(1, 2, 100),
        ))  # fmt: skip
        self.fallible.append(name)
        return name

    def device_cache(self, target: str) -> str:
        """Return a cache on a device before a component."""
        name = self.add("k", {"type": "device_cache", "to": target, "on": self.device()} | self.maybe(
            size=lambda: self.one("1 MiB", "16 MiB"),
            block=lambda: self.one("4 KiB", "256 KiB"),
            replacement=lambda: self.one("lru", "arc", "2q"),
            writes=lambda: self.one("through", "back", "around"),
            bypass=lambda: "128 KiB",
            dirty=lambda: self.one("0 %", "50 %"),
            write_back_depth=lambda: self.one(1, 64),
            begins=lambda: self.one("full", {"hits": "70 %"}),
        ))  # fmt: skip
        self.fallible.append(name)
        return name

    def copy(self, target: str) -> str:
        """Return a copy of a device to a component."""
        name = self.add("q", {"type": "copy", "from": self.device(), "to": target} | self.maybe(
            starts=self.time,
            rate=self.rate,
            priority=lambda: "foreground_first",
            chunk=lambda: self.one("4 KiB", "100 kB", "1 GB"),
            in_flight=lambda: self.one(1, 100),
        ) | {"bytes": self.one("3 MB", "16 MiB")})  # fmt: skip
        self.fallible.append(name)
        return name

    def store(self, target: str) -> str:
        """Return a log-structured merge tree on a component."""
        name = self.add("m", {"type": "lsm_tree", "to": target, "keys": self.one("1 MB", "40 MB")} | self.maybe(
            at=lambda: "1 MiB",
            log=lambda: self.add("g", {"type": "write_ahead_log", "to": self.device()}),
            written=lambda: self.one("0 %", "50 %"),
            memtables=lambda: 4,
            level1=lambda: self.one("64 KiB", "1 MB"),
            fan_out=lambda: self.one(2, 10),
            level0=lambda: {"compact_at": 1, "slow_at": self.one(1, 3), "stop_at": 3},
            debt=lambda: {"slow_at": "1 MB", "stop_at": self.one("2 MB", "1 GB")},
            slow_rate=self.rate,
            compactions=lambda: self.one(1, 8),
            merge_rate=self.rate,
            request=lambda: self.one("512 B", "1 MiB"),
        ) | {"memtable": self.one("64 KiB", "512 B"), "table": self.one("16 KiB", "1 MiB")})  # fmt: skip
        self.fallible.append(name)
        return name

    def pool(self) -> str:
        """Return a pool of drives in servers."""
        part, servers, drives = f"p{len(self.parts)}", self.one(3, 5), self.one(1, 3)
        self.parts[part] = {"type": "station", "service": self.time(), "capacity": "64 MiB"}
        code = self.one(
            {"replicas": self.one(1, 2, 3)},
            {"erasure": {"data": 2, "parity": 1, "small_writes": self.one("modify", "reconstruct")}},
            {"erasure": {"data": 2, "parity": 1, "access": "whole_stripes"}},
        )
        placed = {
            "groups": self.one(1, 8),
            "size": "16 MiB",
            "object": "256 KiB",
            "recovery": {"out_after": self.time()},
        }
        placed |= self.maybe(
            server=lambda: {"type": "server", "submit": self.time()},
            link=lambda: {"type": "link", "preset": "ethernet_25g"},
            placement=lambda: "rendezvous",
            read_from=lambda: "any",
            scrub=lambda: {"starts": self.time(), "groups_per_drive": self.one(1, 3), "read": "64 KiB"},
        )
        if self.chance(0.3):
            placed |= {"racks": self.one(1, servers), "uplink": {"type": "link", "rate": "1 GB/s"}}
            placed |= self.one({}, {"clients": "in_racks", "read_from": "nearest"})
        where: Json = {"of": part, "servers": servers, "drives": drives}
        if self.chance(0.2):
            where = self.on_shared_servers(self.parts[part], servers, drives)
        name = self.add("c", {"type": "pool"} | where | code | placed)
        if where["of"] == part:
            self.fallible += [f"{name}/{part}[{drive}]" for drive in range(0, servers * drives, 2)]
            self.can_be_slow(f"{name}/{part}[0]", self.parts[part])
        return name

    def on_shared_servers(self, drive: Json, servers: int, drives: int) -> Json:
        """Return where a pool lies: on drives and servers that another pool with a load of its own has too."""
        where: Json = {
            "of": [self.add("n", drive) for _ in range(servers * drives)],
            "servers": servers,
            "drives": drives,
        }
        self.fallible.append(where["of"][0])
        if self.chance(0.5):
            where["server"] = [self.add("s", {"type": "server", "submit": "0.01 ms"}) for _ in range(servers)]
        other = {"groups": 4, "size": "4 MiB", "object": "256 KiB", "replicas": self.one(1, 2)}
        stream = {"to": self.add("o", {"type": "pool"} | where | other), "arrivals": self.open_arrivals()}
        self.workload["other"] = stream | {"size": self.size(), "op": {"reads": "50 %"}}
        return where

    def share(self, target: str) -> str:
        """Return a share of a component, or what shares it."""
        shares: Json = {"type": "shares", "to": target, "depth": self.one(1, 8, 64)}
        numbers = self.numbers_of_a_share()
        if self.chance(0.4):
            shares["policy"] = self.one("priority", "round_robin", "wpq")
            goes_by = {"priority": {"priority"}}.get(shares["policy"], {"weight"})
            numbers = {name: value for name, value in numbers.items() if name in goes_by}
        else:
            numbers.pop("priority", None)
            shares |= {"capacity": "3000 /s"} | self.maybe(
                unit=lambda: "64 KiB",
                background=lambda: {"limit": "200 /s"},
                by_cause=lambda: {
                    self.one("host", "destage", "rebuild", "scrub"): {"limit": self.one("40 %", "150 %")}
                },
            )
            if "unit" in shares:
                numbers |= self.maybe(0.3, read_cost=lambda: "1 MiB", write_cost=lambda: "4 KiB")
        name = self.add("v", shares)
        self.fallible.append(name)
        if self.chance(0.3):
            return name
        return self.add("y", {"type": "share", "of": name} | numbers)

    def numbers_of_a_share(self) -> Json:
        return self.maybe(
            0.5,
            reservation=lambda: "50 /s",
            weight=lambda: self.one(0.1, 7),
            limit=lambda: self.one("60 /s", "5000 /s", "90 %"),
            priority=lambda: self.one(0, 2),
        )

    def limiter(self, target: str) -> str:
        """Return limits in front of a component, or in front of others in front of it."""
        limits = self.maybe(0.6, operations=self.limit_of_operations, bytes=self.limit_of_bytes)
        if not limits or self.chance(0.2):
            limits["device"] = self.one("aws-gp2-100gib", "azure-premium-ssd-p20", {"like": "aws-gp3"})
        limits |= self.maybe(0.2, initial=lambda: self.one("0 %", "50 %"), excess=lambda: "refuse")
        name = self.add("q", {"type": "limiter", "to": target} | limits)
        self.fallible.append(name)
        return self.limiter(name) if self.chance(0.2) else name

    def limit_of_operations(self) -> Json:
        return {"rate": f"{self.number(10, 1e4)} /s"} | self.maybe(
            0.5,
            burst=lambda: self.one(0, 0.5, 100, 5e6),
            peak=lambda: "20 /ms",
            unit=lambda: self.one("4 KiB", "256 KiB"),
        )

    def limit_of_bytes(self) -> Json:
        bursts = ("0 B", "1 MiB", "100 GB")
        return {"rate": self.rate(1)} | self.maybe(0.5, burst=lambda: self.one(*bursts), peak=lambda: "2 GB/s")

    def file_system(self) -> str:
        plain = {"type": "file_system", "of": self.volume(), "memory": self.one("8 MiB", "64 MiB", "1 GB")}
        return self.add("f", plain | self.maybe(
            replacement=lambda: self.one("lru", "arc", "2q"),
            call=lambda: self.time(0.001, 0.1),
            copy=self.rate,
            dirty_limit=lambda: self.one("10 %", "40 %"),
            dirty_background=lambda: "1 %",
            dirty_age=self.time,
            write_back_depth=lambda: self.one(1, 64),
            read_ahead=lambda: self.one("0 B", "1 MiB"),
            direct_above=lambda: "1 MiB",
            fsync_every=lambda: self.one("1 MiB", "100 MB"),
        ))  # fmt: skip

    def server(self, target: str) -> str:
        name = self.add("s", {"type": "server"} | self.maybe(
            cores=lambda: self.one(1, 4),
            submit=lambda: self.time(0.001, 0.1),
            complete=lambda: self.time(0.001, 0.1),
            copy=self.rate,
            wake=lambda: self.time(0.001, 0.1),
            contention=lambda: 1.5,
            adapter=lambda: {
                **{"command": "5 us", "queue_depth": 8, "latency": "20 us"},
                "coalescing": {"most": 4, "after": "50 us"},
            },
            paths=lambda: self.one("round_robin", "shortest_queue", "first"),
            path_timeout=lambda: self.time(1, 100),
        ))  # fmt: skip
        if self.chance(0.2):
            self.system[name]["attached"] = [target]
            return name
        for _ in range(self.one(1, 1, 2)):
            speed = self.one({"preset": self.one("fc_2g", "ethernet_10g")}, {"rate": self.rate()})
            some = self.maybe(
                latency=lambda: self.time(0.001, 0.1), credit=lambda: 2, forwarding=lambda: "store_and_forward"
            )  # fmt: skip
            self.fallible.append(self.add("x", {"type": "switch", "connects": [name, target]} | speed | some))
        return name

    # Files and events.

    def library(self) -> str:
        groups = [self.drive_group() for _ in range(self.one(1, 1, 2))]
        plain = {"type": "tape_library", "groups": groups, "cartridge": self.one("20 GB", "1 TB"), "cartridges": 20}
        orders = ("by_cartridge", "ascending", "nearest", "recommended")
        by = self.one({}, {"recall": self.one(*orders)} | self.maybe(
            accumulate=lambda: "1 min", batch=lambda: self.one(1, 20), longest_wait=lambda: self.one("0 s", "10 min")
        ))  # fmt: skip
        name = self.add("t", plain | {"drive_rate": self.rate()} | by | self.maybe(
            0.5,
            load=lambda: self.one("20 s", [{"share": 1, "from": "10 s", "exponential": "5 s"}]),
            locate=lambda: self.one(
                "60 s",
                [{"distance": "1 %", "time": "1 s"}, {"distance": 1, "time": "90 s"}],
                {"start": "4 s", "whole": "105 s", "wrap": "7 s", "band": "3 s", "back": "11 s", "middle": "6 s"},
            ),
            rewind=lambda: "50 s",
            move=lambda: "10 s",
            hold=lambda: "5 min",
            wraps=lambda: 52,
            streaming=lambda: {"min_rate": "10 MB/s", "buffer": "64 MB", "back_hitch": "2 s"},
            pass_through=lambda: "20 s",
            prepare=lambda: "15 s",
            free_drives=lambda: self.one(1, 3),
            device=lambda: self.one("ibm-lto-8", "ibm-lto-9"),
            cleaning=lambda: {"mounts": 3, "time": "60 s"},
            queue=lambda: self.one("priority", {"aged": "1 min"}),
            failures=lambda: {
                self.one("drives", "arms", "cartridges"): {"uses": self.one(1, 10), "repair": self.time(100, 100_000)}
            },
            verify=lambda: {"drives": self.one(1, 3), "piece": "1 GB"},
            shares=lambda: self.one(
                [{"users": ["u1"], "reads": 1, "writes": 1, "priority": 3}, {"within": "5 min"}],
                [{"reads": 1, "priority": 1}, {"users": ["u2", "u0"], "within": "1 h"}],
            ),
            cells=lambda: {
                "modules": [{"cells": 4, "travel": "2 s"}, {"cells": self.one(4, 40), "travel": "9 s"}],
                "placement": self.one("home", "nearest", {"heat": {"relocate": True, "fast_drop_off": True}}),
            },
        ))  # fmt: skip
        if min(group["drives"] for group in groups) > 1 and self.chance(0.2):
            repack = {"drives": self.one(2, 5), "piece": self.one("1 GB", "50 GB")}
            self.system[name]["repack"] = repack | self.maybe(live=lambda: "60 %", to=lambda: len(groups) - 1)
        self.fallible += [f"{name}/drive[0]", f"{name}/arm[0]"]
        return name

    def drive_group(self) -> Json:
        """Return drives and arms of a library, now and then of another generation or reserved for reads or writes."""
        return {"drives": self.draws.randint(1, 4), "arms": self.one(1, 2)} | self.maybe(
            0.15,
            device=lambda: self.one("ibm-lto-8", "ibm-lto-9"),
            rate=self.rate,
            silos=lambda: 2,
            **{self.one("for_reads", "for_writes"): lambda: 1},
        )

    def front(self) -> str:
        """Return the servers before a pool, and clients that differ, stand still, fail and keep one block in flight."""
        front: Json = {"type": "front"} | self.maybe(
            per_user=lambda: 2,
            per_host=lambda: 3,
            ports=lambda: [{"number": 3}],
            queue=lambda: self.one("head_blocks", "joint"),
            put_latency=self.time,
            get_latency=self.time,
            client_rate=lambda: self.rate(1),
            stalls=lambda: {"share": self.one("5 %", "100 %"), "time": self.law(self.number(10, 10_000))},
            failures=lambda: (
                {"share": self.one("5 %", "50 %", "100 %")}
                | self.maybe(retry_after=self.time, attempts=lambda: self.one(1, 3, 1000))
            ),
            block_in_flight=lambda: self.one("1 B", "64 KiB", "1 GB"),
        )
        if self.chance(0.3):
            front["between_hosts"] = {"latency": self.number(0.1, 10)} | (
                {"rate": self.number(0.1, 10)} if "client_rate" in front else {}
            )
        return self.add("front", front)

    def archive(self) -> str:
        chains = self.draws.randint(1, 3)
        pool: Json = {"type": "disk_pool", "chains": chains, "volumes": 2, "volume": self.one("2 GB", "10 GB")}
        pool |= {"rate": self.rate()} | self.maybe(allocate=lambda: "across_chains")
        if self.chance(0.3):
            pool["on"] = [self.volume() for _ in range(chains)]
        fields: Json = {"type": "archive", "pool": self.add("pool", pool)} | self.maybe(
            0.7,
            library=self.library,
            network=lambda: self.add("n", {"type": "network", "rate": self.rate()}),
            front=self.front,
        )  # fmt: skip
        self.fallible.append(f"{fields['pool']}/volume[0]")
        if "library" in fields:
            fields["migrate"] = {"every": "5 min"} | self.maybe(
                order=lambda: self.one("oldest", "largest"),
                streams=lambda: self.one(2, 5),
                mount=lambda: self.one({"files": 3}, {"bytes": "1 GB", "age": "1 h"}),
                flush=lambda: {"time": "3 s"} | self.maybe(files=lambda: 10, bytes=lambda: "1 GB"),
            )
            if "streams" not in fields["migrate"]:
                fields["migrate"] |= self.maybe(
                    pools=lambda: self.one(
                        [{"streams": 2}, {"library": self.library()}],
                        [{"users": ["u1"]}, {"streams": 3}, {"users": ["u1", "u2"]}],
                    ),
                    read=lambda: "mounted",
                )
            purge = {"weight": "size_mb", "high": "80 %", "low": "60 %"}
            fields |= self.maybe(purge=lambda: purge)
            if self.chance(0.3):
                fields["recalls"] = {"pool": self.add("recalled", pool | {"on": []}), "purge": purge}
            if "purge" in fields.get("recalls", fields):
                fields |= self.maybe(pin=lambda: self.one("1 min", "1 h"))
        return self.add("archive", fields)

    def readout(self) -> str:
        builders: Json = {"type": "event_builder", "builders": self.draws.randint(1, 4), "rate": self.rate()}
        builders |= self.maybe(
            0.4,
            buffers=lambda: self.one(1, 4),
            assign=lambda: self.one("random", "credit", "least_load"),
            assemble=lambda: self.law(1),
            give_up=self.time,
            recorder=lambda: {
                "type": "recorder", "streams": 2, "to": [self.volume()], "write": self.one("64 KiB", "1 MiB")
            } | self.maybe(format=lambda: {"rate": "100 MB/s"}, compress=lambda: {"ratio": 2, "rate": "50 MB/s"}),
        )  # fmt: skip
        sub_event = self.one("50 kB", {"uniform": {"from": "10 kB", "to": "50 kB", "step": "10 kB"}})
        plain = {"type": "readout", "concentrators": self.draws.randint(1, 5), "sub_event": sub_event}
        return self.add("r", plain | {"builder": self.add("b", builders)} | self.maybe(
            time=lambda: self.law(0.1),
            rate=self.rate,
            buffer=lambda: self.one("100 kB", "8 MB"),
            when_full=lambda: "drop",
            fails=lambda: {"concentrator": 0, "at": "1 s"},
        ))  # fmt: skip

    def add(self, name: str, component: Json) -> str:
        """Add a component under a name of its own, and return it."""
        own = name if name not in self.system else f"{name}{len(self.system)}"
        self.system[own] = component
        return own

    # Load.

    def open_arrivals(self) -> Json:
        rate = self.number(1, 500)
        arrivals: Json = self.one(
            {"poisson": f"{rate} /s"},
            {"every": f"{1000 / rate} ms"},
            {"renewal": self.law(1000 / rate)},
            {"batches": {"rate": f"{rate / 4} /s", "size": self.one(4, {"geometric": 3})}},
            {"bursty": {"calm": f"{rate} /s", "burst": f"{3 * rate} /s", "calm_for": "1 s", "burst_for": "0.1 s"}},
            {"varying": {
                "rates": [{"at": "0 s", "rate": f"{rate} /s"}, {"at": "2 s", "rate": self.one("0 /s", "90 /s")}],
                "between": self.one("steps", "linear"),
                "period": "4 s",
            }},
        )  # fmt: skip
        return arrivals

    def arrivals(self) -> Json:
        if self.chance(0.6):
            return self.open_arrivals()
        closed = {"depth": self.one(1, 4, 32)} | self.maybe(think=lambda: self.law(self.number(0.1, 100)))
        steps: Json = {"accelerators": self.one(1, 4), "batch": self.one(1, 8), "compute": self.law(20)} | self.maybe(
            threads=lambda: 4,
            prefetch=lambda: self.one(0, 3),
            barrier=lambda: True,
            samples=lambda: 100,
            epochs=lambda: 2,
            fetch=lambda: "sample",
            checkpoint=lambda: {"every": 5, "each_epoch": self.chance(0.5), "size": self.one("1 MiB", "16 MiB")},
        )
        columns = {"time": {"column": "time_us", "unit": "1 us"}, "op": "op"}
        columns |= {name: {"column": name, "unit": "1 B"} for name in ("address", "bytes")}
        columns["size"] = columns.pop("bytes")
        replay = {"trace": "trace.csv", "format": {"csv": columns}, "fit": "wrap", "speed": self.one(1, 100, 10000)}
        arrivals: Json = self.one({"closed": closed}, {"closed": closed}, {"steps": steps}, {"replay": replay})
        return arrivals

    def blocks(self, target: str) -> Json:
        """Return a stream of requests for blocks."""
        arrivals = self.arrivals()
        stream: Json = {"to": target, "arrivals": arrivals} | self.maybe(timeout=lambda: self.time(1, 1000))
        stream |= self.maybe(0.1, cause=lambda: self.one("scrub", "migration"))
        stream |= self.maybe(0.2, priority=lambda: self.one(0, 1, 9))
        if "replay" in arrivals:
            return stream
        size = self.size()
        uniform = {"uniform": {"from": "4 KiB", "to": "64 KiB", "step": "4 KiB"}}
        mix = {"mix": [{"size": "4 KiB", "weight": 1}, {"size": "64 KiB", "weight": 1}]}
        stream["size"] = self.one(size, size, uniform, mix)
        if is_open(arrivals):
            stream |= self.one({}, {}, {"outstanding": 8}, {"outstanding": self.one(1, 64), "when_full": "drop"})
        if "steps" in arrivals:
            return stream
        stream |= self.maybe(
            0.6,
            op=lambda: self.one("write", "write", "write", {"reads": "50 %"}, {"reads": "90 %"}),
            pattern=lambda: self.one("sequential", {"hot_spot": {"skew": 1}}, {"runs": {"length": 8}}),
        )
        if stream.get("op", "read") != "read":
            stream |= self.maybe(0.2, flush_every=lambda: self.one(1, 7, 1000), durable=lambda: True)
        if self.chance(0.2):
            return stream | {"file": "4 MiB", "files": self.one(1, 4), "pattern": "sequential"}
        stream |= self.maybe(footprint=lambda: self.one("1 MiB", "100 MB"))
        if "footprint" not in stream and self.chance(0.1):
            stream["region"] = {"from": "1 MiB", "size": "50 MB"}
        return stream

    def load(self) -> None:
        """Send streams to a system."""
        what = self.draws.random()
        if what < 0.1:
            self.workload["files"] = {"to": self.archive(), "arrivals": {"log": "log.csv"}}
        elif what < 0.15:
            log = {"file": "sessions.csv", "timing": self.one("timestamps", "gaps")}
            self.workload["sessions"] = {"to": self.library(), "arrivals": {"log": log}}
        elif what < 0.27:
            stream = {"to": self.readout(), "arrivals": self.open_arrivals()}
            self.workload["triggers"] = stream
        else:
            self.load_blocks()

    def group(self) -> tuple[str, Json]:
        """Return the volumes of several copies of a small system, and the servers that streams come from, if any."""
        part, name, drives = f"p{len(self.parts)}", f"n{len(self.system)}", self.one(1, 3)
        self.parts[part] = self.leaf()
        volume = {"type": "array", "level": "raid0", "stripe_unit": "64 KiB"}
        of: Json = {"drive": {"type": "group", "copies": drives, "of": part}, "volume": volume | {"of": ["drive"]}}
        of = self.one(of, {"volume": volume | {"of": part, "disks": drives}}, {"volume": self.parts[part]})
        if is_local := self.chance(0.3):
            of["cpu"] = {"type": "server", "submit": self.time(0.01, 0.1), "attached": ["volume"]}
        target = self.add(name, {"type": "group", "copies": self.one(1, 2, 20), "of": of})
        self.fallible += [f"{target}[0]", f"{target}[0]/volume"]
        if is_local:
            return f"{target}/volume", {"from": f"{target}/cpu"}
        if self.chance(0.3):
            speed = self.one({"preset": "ethernet_25g"}, {"rate": self.rate()})
            self.add(
                "x", {"type": "switch", "connects": [self.add("h", {"type": "server"}), f"{target}/volume"]} | speed
            )
            return f"{target}/volume", {"from": next(name for name in self.system if name.startswith("h"))}
        return self.one(f"{target}/volume", f"{target}[0]/volume"), {}

    def load_blocks(self) -> None:
        if self.chance(0.08):
            target, source = self.group()
        else:
            target = self.file_system() if self.chance(0.2) else self.volume()
            source = {"from": self.server(target)} if self.chance(0.3) else {}
        for number in range(self.one(1, 1, 2, 3)):
            self.workload[f"w{number}"] = self.blocks(target) | source
        if self.chance(0.03):
            self.workload = {"fio": "job.fio"}

    def moment(self) -> Any:
        return self.one(self.time(1, 10_000), {"after": self.draws.randrange(1, 1500)})

    def fault(self) -> Json:
        fails = self.number(1, 5000)
        gone = self.one({}, {"returns": f"{fails + self.number(1, 5000)} ms"}, {"replaced": f"{2 * fails} ms"})
        counted = {"fails": {"after": 200}} | self.one({}, {"returns": {"after": 400}}, {"replaced": {"after": 400}})
        when = {"fails": f"{fails} ms"} | gone if self.chance(0.6) else counted
        fault: Json = {"component": self.draws.choice(self.fallible)} | when
        return fault

    def document(self) -> Json:
        self.load()
        run = {"seed": self.draws.randrange(1000), "requests": self.one(300, 2000)} | self.maybe(
            0.2, time=lambda: self.time(100, 100_000), replications=lambda: 3, warm_up=lambda: "none",
            engine=lambda: self.one("events", "events", "recursion"),
        )  # fmt: skip
        document: Json = {"system": self.system, "workload": self.workload, "run": run}
        if self.parts:
            document["parts"] = self.parts
        if self.fallible and self.chance(0.4):
            faults = [self.fault() for _ in range(self.one(1, 1, 2, 3))]
            # Those of one component would overlap, which is refused.
            document["faults"] = list({fault["component"]: fault for fault in faults}.values())
        if self.slowable and self.chance(0.2):
            slow = {"component": self.draws.choice(self.slowable), "slow": self.one(1.5, 8, 1000)}
            slow |= self.maybe(0.5, **{"from": lambda: "100 ms"}, until=lambda: self.one("1 s", {"after": 900}))
            document["faults"] = [*document.get("faults", []), slow]
        streams = [name for name in self.workload if name != "fio"]
        if streams and self.chance(0.2):
            document["objectives"] = {self.draws.choice(streams): f"90 % within {self.time(1, 1000)}"}
        return document


def is_open(arrivals: Json) -> bool:
    """Return true if requests come whether or not others are answered."""
    return not {"closed", "steps", "replay", "log"} & set(arrivals)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of each value within a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(one for key, within in inner for one in places(within, (*path, key)))]


def damaged(document: Json, draws: random.Random) -> Json:
    """Return the document with a few of its values replaced by hostile ones."""
    for _ in range(draws.choice([1, 1, 2, 5])):
        *path, last = draws.choice([path for path in places(document) if path])
        within: Any = document
        for key in path:
            within = within[key]
        within[last] = copy.deepcopy(draws.choice(HOSTILE))
    return document


def system(number: int) -> Json:
    """Return the document of this number: four of five are as drawn, the others damaged."""
    document = Systems(number).document()
    return damaged(document, random.Random(-number)) if number % 5 == 4 else document
