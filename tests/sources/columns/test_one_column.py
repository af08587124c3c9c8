"""Rows that came out as one cell each are told for what they are."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from audiencekit.errors import MappingRefused
from audiencekit.sources.source import Source
from tests.cases import each_case

ROWS = [["First Name", "E-Mail", "Phone"], *([f"P{n}", f"p{n}@example.com", f"212-234-56{n}"] for n in range(10, 20))]
QUOTED = "\n".join(f'"{sign.join(row)}"' for sign in ";" for row in ROWS)
FIXED = "\n".join("".join(cell.ljust(24) for cell in row) for row in ROWS)


@each_case(
    "text, words", [(QUOTED, "saved twice"), (QUOTED.replace(";", ","), "saved twice"), (FIXED, "of a fixed width")]
)
def test_rows_in_one_cell_are_told_for_their_form(open_bytes: Callable[..., Source], text: str, words: str) -> None:
    """With the way to read them."""
    with pytest.raises(MappingRefused, match=words):
        open_bytes(text.encode())


@each_case("text", ["note\na, b\nc, d\n", "note\none, two, three\n", '"a, b, c"\nHull\nYork\nLeeds\n', "note\nx  y\n"])
def test_other_single_columns_have_no_form(open_bytes: Callable[..., Source], text: str) -> None:
    """Texts with commas or blanks in them."""
    assert open_bytes(text.encode()).mapping.columns == ()
