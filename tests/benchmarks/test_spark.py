"""The section with the figures of Spark."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.series import Spread
from benchmarks.spark import BOUNDS, OTHERS, describe
from benchmarks.spark_session import started_processor_seconds


def test_the_section_has_every_figure_with_its_bound() -> None:
    """And those that have none."""
    found = {name: Spread.of([1.0, 1.5, 2.5]) for name in (*BOUNDS, *OTHERS)}
    text = describe(found, 2_000, 3, "Spark 4 on Java 17")
    assert "| seconds of the core in it |  | 1.50 | 1.00 – 2.50 |" in text
    assert "the core's on one machine, alone | 1.25 | 1.50 | 1.00 – 2.50 |" in text
    assert "2,000 rows" in text


def test_processor_time_of_what_was_started_is_counted() -> None:
    """Of children and theirs, while they run; not our own."""
    work = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"
    nested = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {work!r}])"
    before = started_processor_seconds()
    process = subprocess.Popen([sys.executable, "-c", nested], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    during = started_processor_seconds()
    process.communicate(b"\n")
    assert during - before >= 0.25
