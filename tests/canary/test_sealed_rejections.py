"""The cells of rejected rows are sealed: all of them are back with the identity, and none is seen without it.

SEALED_RUNS sets the number of runs with faults (100; 2,000 were run once).
"""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from audiencekit.emulator import Emulator
from audiencekit.errors import AudiencekitError
from audiencekit.identifiers.kinds import Reason
from audiencekit.pipeline import check, upload_async
from audiencekit.reporting.sealed_rejections import find_sealed, open_sealed, sealed_files
from audiencekit.settings import Settings, load_settings
from tests.canary.markers import WORD, leaks, leaks_by_place
from tests.canary.sealed_runs import FAULTS, live
from tests.canary.sources import SOURCES
from tests.canary.witnesses import Printed, files_in, frames_of

pyrage = pytest.importorskip("pyrage", reason="the extra age is not installed")
RUNS: Final = int(os.environ.get("SEALED_RUNS", "100"))
CHUNK: Final = 50


@pytest.fixture
def identity(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The file of an identity, and its recipient."""
    made, path = pyrage.x25519.Identity.generate(), tmp_path_factory.mktemp("age") / "identity"
    path.write_text(str(made))
    path.chmod(0o600)
    return str(path), str(made.to_public())


@pytest.mark.parametrize("name", SOURCES)
def test_a_check_seals_every_rejection_and_shows_none(
    tmp_path: Path, printed: Printed, spooled: bytearray, identity: tuple[str, str], name: str
) -> None:
    """The rejections in the sealed file are those of rejections.csv, in its order."""
    source, listed = tmp_path / "source", tmp_path / "rejections.csv"
    source.write_bytes(SOURCES[name])
    settings = load_settings({}, directory=tmp_path, state_dir=tmp_path / "state")
    shown: dict[str, bytes] = {}
    try:
        check(source, settings=settings, rejections=listed, max_rejected_share=1.0, seal_rejections=identity[1])
    except AudiencekitError as error:
        shown["error"] = frames_of(error)
    shown |= printed()
    assert leaks_by_place(shown) == {}
    assert leaks_by_place(files_in(tmp_path, but=source)) == {}
    assert leaks(bytes(spooled)) == []
    if shown.get("error"):
        assert sealed_files(settings.state_dir) == []
        return
    with listed.open(newline="") as file:
        wanted = [(int(row["row"]), row["column"], row["reason"]) for row in csv.DictReader(file)]
    # Shared values are found after the last row was read, when the cells are there no more.
    wanted = [one for one in wanted if one[2] != Reason.SHARED]
    sealed = open_sealed(find_sealed(settings.state_dir, "last"), identity[0]) if wanted else ()
    rows = [json.loads(row.unwrap()) for row in sealed]
    assert [(row["row"], column or "", reason) for row in rows for column, reason in row["rejections"]] == wanted


async def test_an_upload_seals_the_cells_and_shows_none(
    tmp_path: Path, printed: Printed, emulator: Emulator, settings: Settings, identity: tuple[str, str]
) -> None:
    """The cells come back as they stood in the list; the report, the journal and the files of the run have none."""
    source = tmp_path / "source"
    cells = [f"{WORD}{number} at example.com" for number in range(3)]
    source.write_text("email,name\n" + "".join(f'"{cell}",x\n' for cell in cells) + "ada@example.com,x\n" * 9)
    report = await upload_async(
        source, audience=emulator.audience_id, settings=settings, max_rejected_share=1.0, seal_rejections=identity[1]
    )
    shown = printed() | {"report": json.dumps(report.to_json()).encode() + repr(report).encode()}
    assert leaks_by_place(shown) == {}
    assert leaks_by_place(files_in(tmp_path, but=source)) == {}
    rows = [
        json.loads(row.unwrap()) for row in open_sealed(find_sealed(settings.state_dir, report.run_id), identity[0])
    ]
    assert [(row["row"], row["email"]) for row in rows] == list(enumerate(cells, 1))


def _live(seeds: range, tmp_path: Path, identity: tuple[str, str]) -> tuple[Counter[str], int]:
    """The faults that runs met, and the rejected cells that came back."""
    faults, cells = Counter[str](), 0
    for seed in seeds:
        (directory := tmp_path / str(seed)).mkdir()
        run = live(seed, directory, *identity)
        assert (run.leaked, run.wrong) == ({}, []), seed
        faults, cells = faults + run.faults, cells + run.cells
    return faults, cells


def test_all_cells_come_back_after_faults(tmp_path: Path, identity: tuple[str, str]) -> None:
    """Whatever a run met, no file and no error holds a cell; of each kind of fault there is one."""
    faults, cells = _live(range(RUNS, RUNS + 18), tmp_path, identity)
    assert set(faults) == set(FAULTS)
    assert cells


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, RUNS, CHUNK))
def test_all_cells_come_back_in_a_campaign(tmp_path: Path, identity: tuple[str, str], first: int) -> None:
    """SEALED_RUNS runs."""
    faults, cells = _live(range(first, min(first + CHUNK, RUNS)), tmp_path, identity)
    print(f"faults {dict(faults)}, cells {cells}")  # noqa: T201  # shown with -rP
