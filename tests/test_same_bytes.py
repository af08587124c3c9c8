"""The bodies of a source are the same bytes in every process: whatever its locale, hash seed, cores and batches."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

# Settings made before the program begins: modules take the limits when they are imported.
PROGRAM = """
import os, sys
import audiencekit.limits as limits
cores, batch_rows = int(sys.argv.pop(1)), int(sys.argv.pop(1))
limits.BATCH_ROWS = batch_rows or limits.BATCH_ROWS
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
from audiencekit.cli import main
main()
"""
# In an ASCII locale Python cannot read the path of an installation that has other letters.
PLAIN = "C" if (sys.prefix + __file__).isascii() else "C.UTF-8"
ENVIRONMENTS = [
    ({"LANG": PLAIN, "LC_ALL": PLAIN, "PYTHONHASHSEED": "0"}, 1, 0),
    ({"LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8", "PYTHONHASHSEED": "1"}, 2, 97),
    ({"LANG": "C", "PYTHONHASHSEED": "3", "PYTHONUTF8": "0", "TZ": "America/Lima"}, 1, 1000),
]


def _people(path: Path, rows: int) -> Path:
    """Invented people: letters that locales disagree about, several numbers, twins, and faulty rows."""
    draw = random.Random(11)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("email,mobile,land,do\n")
        for n in range(rows):
            name = draw.choice(["IRIS", "İpek", "straße", "ıslak", "Zoë", "al.ice", "MIXED", "née"]) + str(
                n % (rows // 2)
            )
            domain = draw.choice(["EXAMPLE.com", "exämple.de", "mail.example", "example.org"])
            phone = draw.choice([f"+4930{n:08}", f"030 {n:07}", f"0532 {n:07}", "n/a", ""])
            file.write(f"{name}@{domain},{phone},{draw.choice(['DE', 'TR', ''])},{draw.choice(['update', 'Delete'])}\n")
        file.write("short@example.com\n")
    return path


def _digests(out: Path, sources: Sequence[Path | str], *options: str, run: tuple[dict[str, str], int, int]) -> str:
    """One digest over the names and bytes of all bodies, and over the rejections."""
    environment, cores, batch_rows = run
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "TMPDIR", "PYTHONPATH")}
    subprocess.run(
        [
            sys.executable, "-c", PROGRAM, str(cores), str(batch_rows), "prepare", *map(str, sources),
            "--out", str(out), "--requests", "--plan-time", "2026-01-02T03:04:05Z", *options,
        ],
        env=kept | environment | {"AUDIENCEKIT_STATE_DIR": str(out.parent / "state")},
        cwd=Path(__file__).parent.parent,
        check=True,
        capture_output=True,
    )  # fmt: skip
    digest = hashlib.sha256()
    files = sorted((out / "requests").iterdir())
    assert files
    for path in [*files, out / "rejections.csv"]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


@pytest.mark.slow
def test_the_same_source_makes_the_same_bodies_everywhere(tmp_path: Path) -> None:
    """Of several files with both operations, duplicates, conflicts and faulty rows; other files make others."""
    sources = [_people(tmp_path / "one.csv", 2000), _people(tmp_path / "two.csv", 300)]
    options = ("--operation-column", "do", "--country", "TR", "--max-rejected-share", "1")
    made = [
        _digests(tmp_path / f"out{n}", sources, *options, run=environment) for n, environment in enumerate(ENVIRONMENTS)
    ]
    assert len(set(made)) == 1
    other = [_people(tmp_path / "three.csv", 2002), sources[1]]
    assert _digests(tmp_path / "other", other, *options, run=ENVIRONMENTS[0]) != made[0], "the digest says nothing"
