"""Devices from DiskSim 4's parameter files: a `.parv` with its `.diskspecs`, `.model` and `.seek`.

The names of parameters and what they mean are those of DiskSim's reference manual (CMU-PDL-08-101).
"""

from headrace.devices.disksim.device import inputs, read

__all__ = ["inputs", "read"]
