"""`audiencekit.planning.options`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from audiencekit.destinations.ads import AUDIENCE, DO_NOT_REACH_LIST
from audiencekit.destinations.destination import Destination
from audiencekit.errors import MappingRefused, UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.planning.options import (
    plain_keywords,
    read_keywords,
    refuse_options,
    refuse_other_kinds,
    refuse_written_over,
)
from audiencekit.profile import SPEC, find_profile
from audiencekit.records.batches import ColumnMapping, MappedColumn
from tests.cases import each_case


def _refused(destination: Destination, *paths: str, **keywords: Any) -> str:
    """Why they are refused; empty when they are not."""
    try:
        refuse_options(read_keywords(keywords, find_profile("spec")), paths, destination)  # type: ignore[arg-type]
    except UsageError as error:
        return str(error)
    return ""


@each_case(
    "destination, keywords, is_refused",
    [
        (AUDIENCE, {"suppress": ["optouts.csv"], "consent_column": "marketing=yes"}, False),
        (DO_NOT_REACH_LIST, {}, False),
        (DO_NOT_REACH_LIST, {"suppress": ["optouts.csv"]}, True),
        (DO_NOT_REACH_LIST, {"consent_column": "marketing=yes"}, True),
    ],
)
def test_a_do_not_reach_list_takes_no_suppression(
    destination: Destination, keywords: dict[str, Any], is_refused: bool
) -> None:
    """It keeps people out already."""
    assert ("suppression has no meaning" in _refused(destination, "list.csv", **keywords)) is is_refused


@each_case(
    "paths, suppress, is_refused",
    [(("-",), (), False), ((), ("-",), False), (("-", "-"), (), True), (("-",), ("-",), True), ((), ("-", "-"), True)],
)
def test_standard_input_is_read_once(paths: tuple[str, ...], suppress: tuple[str, ...], is_refused: bool) -> None:
    """As a list, or as one of those to suppress."""
    assert ("named twice" in _refused(AUDIENCE, *paths, suppress=list(suppress))) is is_refused


def test_columns_of_kinds_that_the_destination_does_not_take_are_named() -> None:
    """The hint names the kinds that it takes."""
    kinds = (Kind.EMAIL, Kind.HANDLE, Kind.DEVICE_ID)
    mapping = ColumnMapping(
        columns=tuple(MappedColumn(position=at, name=f"c{at}", kind=kind) for at, kind in enumerate(kinds))
    )
    refuse_other_kinds(mapping, AUDIENCE)
    with pytest.raises(
        MappingRefused, match=r"takes email and phone_number only.*: c1 \(handle\), c2 \(device_id\)"
    ) as caught:
        refuse_other_kinds(mapping, DO_NOT_REACH_LIST)
    assert "`columns={'email': 'COLUMN', 'phone_number': 'COLUMN'}`" in (caught.value.hint or "")


def test_no_file_that_is_read_is_written_over(tmp_path: Path) -> None:
    """Whatever its name is: a link to it, or another way there."""
    read, link = tmp_path / "list.csv", tmp_path / "link.csv"
    read.write_text("email\n")
    os.link(read, link)
    refuse_written_over((str(read),), None)
    refuse_written_over((str(read), "-"), tmp_path / "rejections.csv")
    for rejections in (read, link, tmp_path / "." / "list.csv"):
        with pytest.raises(UsageError, match="written over the source"):
            refuse_written_over(("other.csv", str(read)), rejections)


def test_no_other_list_is_written_over(tmp_path: Path) -> None:
    """One that is not read this time."""
    (tmp_path / "april.csv").write_text("email\n")
    with pytest.raises(UsageError, match="another file than rejections"):
        refuse_written_over((str(tmp_path / "march.csv"),), tmp_path / "april.csv")


# --- Keywords that cannot be are refused as such, whatever a program gives ---

WRONG: list[dict[str, Any]] = [
    *(
        {name: 49}
        for name in ("country", "country_column", "encoding", "delimiter", "split_cells", "suppress_encoding")
    ),
    *({"ttl_days": given} for given in ("", "3", 1.5, True)),
    *({"hashed": given} for given in (49, [49], [["email"]])),
    *({"ignore": given} for given in (49, [49], [["phone"]])),
    *({"columns": given} for given in (49, "email=mail", ["email"], {"email": 49}, [("email", "mail", "x")])),
]


@each_case("keywords", WRONG)
def test_a_value_of_another_type_is_a_usage_error(keywords: Any) -> None:
    """And no AttributeError from wherever it is used first."""
    with pytest.raises(UsageError):
        read_keywords(plain_keywords(keywords), SPEC)
    with pytest.raises(UsageError):
        read_keywords(keywords, SPEC)


@each_case("hashed", ["email", Kind.EMAIL, ["email"], {Kind.EMAIL}, ("email", "email")])
@each_case("columns", [{"email": "mail"}, [("email", "mail")], ((Kind.EMAIL, "mail"),), [["email", "mail"]]])
def test_kinds_are_texts_however_they_are_gathered(hashed: Any, columns: Any) -> None:
    """As JSON keeps them, too."""
    for keywords in ({"hashed": hashed, "columns": columns}, plain_keywords({"hashed": hashed, "columns": columns})):
        source = read_keywords(keywords, SPEC).source
        assert (source.hashed, source.columns) == (frozenset({Kind.EMAIL}), ((Kind.EMAIL, "mail"),))


@each_case("ignore", ["Fax", ["Fax"], ("Fax",), {"Fax"}, iter(["Fax"])])
def test_columns_to_ignore_are_kept_for_a_resumed_run(ignore: Any) -> None:
    """One or several, as JSON keeps them."""
    plain = plain_keywords({"ignore": ignore})
    assert json.loads(json.dumps(plain)) == plain
    assert read_keywords(plain, SPEC).source.ignore == ("Fax",)
