"""Address space that drawing charts takes: where `ulimit -v` does not allow it, the library ends the program."""

import errno
import functools
import mmap

# V8, which draws charts, reserves 64 GiB at its start (VmPeak of a process that drew one: 64.3 GiB more than before).
NEEDED_GIB = 66


@functools.cache  # It reserves once, and keeps what it has.
def check() -> None:
    """Reserve what charts take, and give it back; raise `OSError` if that much is not allowed."""
    try:
        mmap.mmap(-1, NEEDED_GIB << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0).close()
    except OSError:
        message = f"charts reserve {NEEDED_GIB} GiB of address space; raise `ulimit -v`, or leave out the report"
        raise OSError(errno.ENOMEM, message) from None
