"""Devices: the catalogue, its files, what a trace reveals of them.

`devices.validation` holds one against a measured trace, `devices.calibration` fits one to it, `devices.disksim` makes
one of DiskSim's parameters.
"""

from headrace.devices.catalogue import device, names, numbers, report
from headrace.devices.quantities import in_ms, quantity, rate_of_sectors, sector_ms, time_of

__all__ = [
    "device",
    "in_ms",
    "names",
    "numbers",
    "quantity",
    "rate_of_sectors",
    "report",
    "sector_ms",
    "time_of",
]
