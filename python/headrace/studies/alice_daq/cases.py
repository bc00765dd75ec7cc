"""The cases that the study of the ALICE data acquisition runs."""

import json
from functools import cache
from typing import Any

from headrace import Scenario, scenario
from headrace.study import Study, whole

Json = dict[str, Any]

GIB = 1 << 30
KIB = 1 << 10
FILE_SYSTEMS = {"XFS": "xfs.yaml", "StorNext": "stornext.yaml"}

SPINDLE: Json = {"type": "disk", "device": "seagate-st3500630ns", "positioning": "addressed"}
EXACT: Json = SPINDLE | {"positioning": "mechanical"}
# A command of a client, as in the study of the same arrays.
COMMAND = "0.1 ms"
# The cache of an array of 2009, of which the slides say nothing.
CACHE: Json = {"size": "512 MiB", "writes": "back", "line": "64 KiB", "read_ahead": "8 MiB"}
FAST: Json = {"type": "station", "service": "1 us", "servers": 64, "capacity": "64 TiB"}
OLD: Json = {"per_sub_event": "0.85 ms", "rate": "200 MB/s"}
NEW: Json = {"per_sub_event": "0.425 ms", "rate": "400 MB/s"}
RECORDER = "system.builder.recorder"


class Cases:
    """What is run, each case once."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.requests: int = study.document["sizes"]["small" if study.small else "requests"]
        self.recording = cache(self._recording)
        self.recorder = cache(self._recorder)
        self.disks = cache(self._disks)
        self.files = cache(self._files)
        self.hour = cache(self._hour)

    def run(self, document: Json) -> Json:
        """Run a scenario that is made here."""
        return dict(whole(Scenario(json.dumps(document)).run(theory=False)).data)

    def file(self, name: str, changes: Json) -> Json:
        """Run a scenario of the study's folder with changes."""
        return dict(whole(scenario.load(self.study.folder / name).with_(changes).run(theory=False)).data)

    def _recording(self, streams: int, **case: Any) -> float:
        """Return what one builder records, in MB/s of data before compression: see `_recorder`."""
        return self.recorder(streams, **case)[0]

    def _recorder(self, streams: int, *, compress: bool = False, **case: Any) -> tuple[float, float]:
        """Return what one builder records, in MB/s of data before compression, and the utilisation of its cores.

        `sub_event` is in kB, `old` is the older core, `cost` the time of a sub-event in another version of the library,
        `one` a volume of drives, `port` a slower port.
        """
        changes: Json = {"run.requests": 4 * self.requests, f"{RECORDER}.streams": streams}
        changes["system.readout.sub_event"] = f"{case.get('sub_event', 0.64)} kB"
        core = OLD if case.get("old") else NEW
        changes[f"{RECORDER}.format"] = core | ({"per_sub_event": case["cost"]} if "cost" in case else {})
        changes |= {f"{RECORDER}.to": ["a"]} if case.get("one") else {f"system.{name}": FAST for name in "abc"}
        changes |= {"system.builder.preset": case["port"]} if "port" in case else {}
        if compress or "zlib" in case:
            changes[f"{RECORDER}.compress"] = {"ratio": 2, "rate": f"{case.get('zlib', 60)} MB/s"}
        changes[f"{RECORDER}.cores"] = case.get("cores", 4)
        if "level" in case:
            changes["system.a.level"] = case["level"]
        found = self.file("one.yaml", changes)
        [busy] = [part["utilisation"] for part in found["components"] if part["path"] == "builder/recorder[0]"]
        return float(found["streams"][0]["bytes_per_s"]) / 1e6, float(busy)

    def _disks(
        self, level: str, disks: int, ops: str, volumes: int = 1, *, cached: bool = False
    ) -> tuple[list[float], float]:
        """Return what each client gets from its volume in MB/s, and the disks' own MB/s over it.

        Clients ask for full stripes of about 1 MiB, in regions of their own; `ops` has a letter each, `-` for nobody.
        """
        parity = 2 if level == "raid6" else 1
        stripe = 256 * (disks - parity)
        array: Json = {"type": "array", "level": level, "of": "spindle", "disks": disks, "stripe_unit": "256 KiB"}
        if cached:
            array["cache"] = CACHE
        streams = {
            f"client-{n}": {
                "to": f"volume-{n % volumes}",
                "arrivals": {"closed": {"depth": 1, "think": COMMAND}},
                "op": {"w": "write", "r": "read"}[op],
                "size": f"{stripe} KiB",
                "align": f"{stripe} KiB",
                "pattern": "sequential",
                "region": {"from": f"{n // volumes * stripe * 100_000} KiB", "size": f"{stripe * 80_000} KiB"},
            }
            for n, op in enumerate(ops)
            if op != "-"
        }
        system = {f"volume-{n}": array for n in range(volumes)}
        # How long a sequential reader waits for the last of its disks depends on where platters stand at first.
        run = {"seed": 1, "requests": self.requests // 2, "replications": 16}
        found = self.run({"parts": {"spindle": EXACT}, "system": system, "workload": streams, "run": run})
        rates = {component["path"]: component["bytes_per_s"] for component in found["components"]}
        spindles = sum(rate for path, rate in rates.items() if "spindle" in path)
        return [stream["bytes_per_s"] / 1e6 for stream in found["streams"]], spindles / max(rates["volume-0"], 1.0)

    def lmdd(self, file_system: str, op: str, kib: int, gib: int) -> float:
        """Return the MB/s at which one lmdd writes or reads a file; sizes of files in GiB, of blocks in KiB."""
        changes: Json = {
            "workload.lmdd.op": op,
            "workload.lmdd.size": f"{kib} KiB",
            "run.requests": gib * (GIB // (kib * KIB)),
        }
        return self.files(FILE_SYSTEMS[file_system], tuple(changes.items()))

    def _files(self, name: str, changes: tuple[tuple[str, object], ...]) -> float:
        return float(self.file(name, dict(changes))["streams"][0]["bytes_per_s"]) / 1e6

    def client(self) -> float:
        """Return what one client reads over a 4 Gb port from a volume that is faster, in MB/s."""
        system = {
            "client": {"type": "server"},
            "fabric": {"type": "switch", "preset": "fc_4g", "connects": ["client", "volume"]},
            "volume": FAST,
        }
        reads = {"from": "client", "to": "volume", "op": "read", "size": "1 MiB", "arrivals": {"closed": {"depth": 8}}}
        found = self.run({"system": system, "workload": {"reads": reads}, "run": {"requests": self.requests}})
        return float(found["streams"][0]["bytes_per_s"]) / 1e6

    def mixed(self, arrays: int) -> tuple[float, str]:
        """Return what clients read and write together over 4 Gb ports, in GB/s, and the bottleneck.

        Each array has three volumes behind one port; one client writes to each volume, and another reads from the next.
        """
        volume = {"type": "array", "level": "raid5", "of": "spindle", "disks": 5, "stripe_unit": "512 KiB"}
        tds = {"type": "array", "level": "raid0", "of": "volume", "disks": 3, "stripe_unit": "512 GiB"}
        names = [f"tds{n}" for n in range(arrays)]
        clients = {f"{name}-{n}": (name, n) for name in names for n in range(3)}
        ports = {"type": "switch", "preset": "fc_4g", "connects": [*names, *clients]}
        system: Json = dict.fromkeys(names, tds) | {client: {"type": "server"} for client in clients}
        streams = {
            client: {
                "from": client,
                "to": name,
                "op": "write" if n % 2 else "read",
                "size": "32 MiB",
                "align": "32 MiB",
                "pattern": "sequential",
                "arrivals": {"closed": {"depth": 2}},
                "region": {"from": f"{512 * n} GiB", "size": "256 GiB"},
            }
            for client, (name, n) in clients.items()
        }
        parts = {"spindle": SPINDLE, "volume": volume}
        run = {"requests": self.requests}
        found = self.run({"parts": parts, "system": system | {"fabric": ports}, "workload": streams, "run": run})
        rate = sum(stream["bytes_per_s"] for stream in found["streams"]) / 1e9
        return rate, found["bottleneck"]["group"]

    def _hour(self) -> tuple[float, int]:
        """Return what an hour of the whole system records, in GB/s, and the events that it loses."""
        seconds = 360 if self.study.small else 3600
        found = self.file("daq.yaml", {"run.requests": int(195.3125 * seconds)})
        recorded = sum(part["meters"].get("recorded_bytes") or 0.0 for part in found["components"])
        return recorded / found["simulated_s"] / 1e9, found["streams"][0]["failed"]

    def building(self) -> float:
        """Return what builders without recorders take at 2.5 GB/s, in GB/s."""
        changes: Json = {"run.requests": 25 * self.requests, "workload.trigger.arrivals.poisson": "390.625 /s"}
        document = scenario.load(self.study.folder / "daq.yaml").with_(changes).filled()
        del document["system"]["builders"]["recorder"], document["parts"]["gdc"]
        return float(self.run(document)["streams"][0]["bytes_per_s"]) / 1e9
