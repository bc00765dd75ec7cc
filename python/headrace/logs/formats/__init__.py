"""The formats of logs, one small file each, behind one interface: `Format`."""

from headrace.logs.formats.cartridges import CARTRIDGES
from headrace.logs.formats.cond import COND
from headrace.logs.formats.cta import CTA
from headrace.logs.formats.dcache import DCACHE
from headrace.logs.formats.enstore import ENSTORE
from headrace.logs.formats.form import Format
from headrace.logs.formats.inventory import INVENTORY
from headrace.logs.formats.stat import STAT
from headrace.logs.formats.transfers import TRANSFERS

BY_NAME = {known.name: known for known in (TRANSFERS, COND, STAT, DCACHE, CARTRIDGES, CTA, ENSTORE, INVENTORY)}

__all__ = ["BY_NAME", "Format"]
