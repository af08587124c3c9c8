"""One list, whatever form it lies in, becomes the same records. FORMS_PEOPLE says how many people it has."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.forms import people
from tests.forms.table import VARIABLES, Form, Place
from tests.moments import PATIENCE_SECONDS
from tests.processes import Commands, environment

PEOPLE = int(os.environ.get("FORMS_PEOPLE", "3000"))
Prepare = Callable[..., pa.Table]


@pytest.fixture
def prepare(commands: Commands, tmp_path: Path) -> Prepare:
    """The records that a command makes of what its arguments name."""

    def call(*arguments: str, out: str) -> pa.Table:
        env = environment(tmp_path / "state", {name: os.environ[name] for name in VARIABLES if name in os.environ})
        done = commands.run("prepare", *arguments, "--out", out, env=env, cwd=tmp_path, timeout=PATIENCE_SECONDS)
        assert done.returncode == 0, done.stderr
        return pq.read_table(tmp_path / out / "records.parquet")

    return call


def test_every_form_gives_the_same_records(place: Place, form: Form, prepare: Prepare) -> None:
    """In the same order, with the same rows."""
    named = form.write(place, PEOPLE)
    found = prepare(*named, out="found")
    path = place.directory / "reference.csv"
    path.write_bytes(people.as_csv(PEOPLE))
    expected = prepare(str(path), out="expected")
    assert found.num_rows == PEOPLE
    assert found.equals(expected)
    hashes = {canary.decode() for canary in people.canaries(PEOPLE) if len(canary) == 64}
    assert hashes <= {each for name in ("email", "phone_number") for cell in found[name].to_pylist() for each in cell}
