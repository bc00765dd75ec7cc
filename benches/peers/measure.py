"""Runs a workload of a module once, and prints the mean response and CPU seconds as JSON.

Usage: `python measure.py MODULE WORKLOAD CUSTOMERS SEED`. Imports and compilation are not measured: a
small run comes first.
"""

import importlib
import json
import sys
import time


def main(module: str, workload: str, customers: int, seed: int) -> None:
    """Run, and print JSON."""
    work = getattr(importlib.import_module(module), workload)
    work(100, seed)
    began = time.process_time()
    mean = work(customers, seed)
    print(json.dumps({"mean": mean, "cpu_s": time.process_time() - began}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
