"""A trial of ours in a process that is set up as that of a command is, before anything imports Arrow.

python -m benchmarks.own_process benchmarks.dry_upload contacts.csv
"""

from __future__ import annotations

import runpy
import sys

from audiencekit.process.startup import set_up_own_process


def main() -> None:
    """Run the module that the command line names, with the arguments that follow it."""
    set_up_own_process()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
