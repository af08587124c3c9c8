"""A trial of ours with the heap and the threads that the commands have, set up before anything imports Arrow.

python -m benchmarks.own_heap benchmarks.dry_upload contacts.csv
"""

from __future__ import annotations

import runpy
import sys

from audiencekit.machine.heap import share_heap
from audiencekit.machine.leftout import leave_out_blas_threads


def main() -> None:
    """Run the module that the command line names, with the arguments that follow it."""
    share_heap()
    leave_out_blas_threads()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
