"""One list, whatever form it lies in, becomes the same records. FORMS_PEOPLE says how many people it has."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.forms import people
from tests.forms.table import VARIABLES, Form, Place
from tests.moments import PATIENCE_SECONDS
from tests.processes import Commands, environment

PEOPLE = int(os.environ.get("FORMS_PEOPLE", "3000"))
Prepare = Callable[..., pa.Table]


@pytest.fixture(scope="module")
def prepare(commands: Commands, tmp_path_factory: pytest.TempPathFactory) -> Prepare:
    """The records that a command makes of what its arguments name."""
    directory, numbers = tmp_path_factory.mktemp("prepared"), count()

    def call(*arguments: str) -> pa.Table:
        env = environment(directory / "state", {name: os.environ[name] for name in VARIABLES if name in os.environ})
        out = str(next(numbers))
        done = commands.run("prepare", *arguments, "--out", out, env=env, cwd=directory, timeout=PATIENCE_SECONDS)
        assert done.returncode == 0, done.stderr
        return pq.read_table(directory / out / "records.parquet")

    return call


@pytest.fixture(scope="module")
def expected(prepare: Prepare, tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    """The records of the list as delimited text, all people among them."""
    path = tmp_path_factory.mktemp("reference") / "reference.csv"
    path.write_bytes(people.as_csv(PEOPLE))
    found = prepare(str(path))
    assert found.num_rows == PEOPLE
    hashes = {canary.decode() for canary in people.canaries(PEOPLE) if len(canary) == 64}
    assert hashes <= {each for name in ("email", "phone_number") for cell in found[name].to_pylist() for each in cell}
    return found


def test_every_form_gives_the_same_records(place: Place, form: Form, prepare: Prepare, expected: pa.Table) -> None:
    """In the same order, with the same rows."""
    assert prepare(*form.write(place, PEOPLE)).equals(expected)
