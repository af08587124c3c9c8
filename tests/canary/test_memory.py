"""The memory of a process after it has read a list holds no cell of an unmapped column."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.processes import environment, start
from tests.shortened import shortened

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory of a process is read from /proc")

ROWS = 150_000
# Freed memory is not wiped: a few hundred cells of the sample are found, and some of the last piece. Of all that a
# process of ours had read and freed it was a seventh to three quarters.
ALLOWED = ROWS // 10
CHECK = """
import sys
from audiencekit.process import startup
startup.prevent_dumps = lambda: None  # so that another process may look
startup.set_up_own_process()
import audiencekit
plan = audiencekit.check(sys.argv[1])
print(plan.to_json()["rows"]["read"], flush=True)
sys.stdin.readline()
"""


def _unmapped(number: int) -> str:
    return f"UNMAPPED{number:07}CELL"


def _write(kind: str, directory: Path) -> Path:
    """A list with a mapped column and one that is not."""
    emails = [f"zz.m{number:07}@canarymail.com" for number in range(ROWS)]
    notes = [_unmapped(number) for number in range(ROWS)]
    rows = list(zip(emails, notes, strict=True))
    path = directory / f"list.{kind}"
    match kind:
        case "csv":
            path.write_text("email,notes\n" + "".join(f"{email},{note}\n" for email, note in rows))
        case "quoted.csv":  # line ends within quotes: read with care
            path.write_text("email,notes\n" + "".join(f'{email},"{note}\n"\n' for email, note in rows))
        case "csv.gz":
            with gzip.open(path, "wt", compresslevel=1) as file:
                file.write("email,notes\n" + "".join(f"{email},{note}\n" for email, note in rows))
        case "jsonl":
            path.write_text("".join(f'{{"email":"{email}","notes":"{note}"}}\n' for email, note in rows))
        case _:
            pq.write_table(pa.table({"email": emails, "notes": notes}), path)
    return path


def _memory(number: int) -> bytes:
    """All that a process has in memory and may write to, but for what files and the system put there."""
    found = []
    with open(f"/proc/{number}/maps") as maps, open(f"/proc/{number}/mem", "rb", buffering=0) as memory:
        for line in maps:
            places, rights, *_, path = f"{line.strip()} ".split(" ", 5)
            if rights.startswith("rw") and not path.strip().startswith("[v"):
                begin, end = (int(place, 16) for place in places.split("-"))
                memory.seek(begin)
                found.append(memory.read(end - begin))
    return b"\0".join(found)


@pytest.mark.parametrize("kind", shortened(["csv", "parquet", "quoted.csv", "csv.gz", "jsonl"], 1))
def test_cells_that_are_not_mapped_do_not_outlive_their_piece(kind: str, tmp_path: Path) -> None:
    """A dump of the process, or its swap, would show them."""
    source = _write(kind, tmp_path)
    process = start(
        [sys.executable, "-c", CHECK, str(source)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=environment(tmp_path / "state"),
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == f"{ROWS}\n"
    try:
        memory = _memory(process.pid)
    except OSError:
        pytest.skip("the system lets no process look into another one")
    finally:
        process.communicate("\n")
    assert re.search(rb"zz\.m\d{7}@", memory), "the memory of the process was not seen"
    left = set(re.findall(rb"UNMAPPED(\d{7})CELL", memory))
    assert len(left) <= ALLOWED
