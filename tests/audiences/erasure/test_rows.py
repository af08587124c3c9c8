"""The people of a source."""

from __future__ import annotations

from pathlib import Path

import pytest

from audiencekit.audiences.erasure.rows import read_rows
from audiencekit.audiences.erasure.subjects import Asked
from audiencekit.errors import MappingRefused, PlanRefused, SourceRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.reporting.progress import NoProgress
from audiencekit.sources.options import SourceOptions


def _read(tmp_path: Path, text: str, **options: object) -> Asked:
    path = tmp_path / "people.csv"
    path.write_text(text)
    return read_rows(path, SourceOptions(**options), NoProgress())  # type: ignore[arg-type]


def test_every_identifier_of_every_row(tmp_path: Path) -> None:
    """In every form; the country is that of the row, or the default."""
    asked = _read(
        tmp_path,
        "email,phone,country\nada@example.org,0151 12345678,DE\nbo@example.org,+12015550123,\n",
    )
    assert (asked.rows, dict(asked.identifiers), asked.rejected) == (2, {"email": 2, "phone_number": 2}, [])
    assert len(asked.keys.unwrap()) == 2 + 4


def test_cells_of_several_values_name_each(tmp_path: Path) -> None:
    """As uploads read them."""
    asked = _read(tmp_path, "email\nada@example.org;ada@example.com\n", split_cells=";")
    assert dict(asked.identifiers) == {"email": 2}


def test_hashed_columns_give_the_one_form_that_they_hold(tmp_path: Path) -> None:
    """The others cannot be made of a hash."""
    asked = _read(tmp_path, "email\n" + "ab" * 32 + "\n", hashed=frozenset({Kind.EMAIL}))
    assert asked.keys.unwrap() == {(Kind.EMAIL, "ab" * 32)}


def test_placeholders_beside_an_identifier_are_no_rejections(tmp_path: Path) -> None:
    """A row without any identifier is rejected."""
    asked = _read(tmp_path, "email,handle\nada@example.org,n/a\nbo@example.org,\nn/a,\n")
    assert (asked.rows, asked.rejected) == (2, [(3, None, "no_identifier")])


def test_a_value_that_cannot_be_read_keeps_everything_back(tmp_path: Path) -> None:
    """Unless it may be left out: then the rest of its row is erased."""
    asked = _read(tmp_path, "email,phone\nada@example.org,0151 12345678\nbo@example.org,\ncy@example.org,\n")
    assert asked.rejected == [(1, "phone", "no_country")]
    with pytest.raises(PlanRefused, match="row 1, column phone: no_country: nothing was sent"):
        asked.check(what="row", skip_rejected=False)
    asked.check(what="row", skip_rejected=True)
    assert dict(asked.identifiers) == {"email": 3}


def test_a_source_without_identifiers_is_refused(tmp_path: Path) -> None:
    """And so is one that cannot be read to its end."""
    with pytest.raises(MappingRefused):
        _read(tmp_path, "city\nUlm\n")
    with pytest.raises(SourceRefused):
        _read(tmp_path, 'email\n"ada@example.org\n')
