"""The people to erase, as callers name them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from audiencekit.audiences.erasure.people import People
from audiencekit.errors import UsageError
from audiencekit.profile import find_profile


@pytest.mark.parametrize("identifiers", ["ada@example.org", pa.table({"email": ["ada@example.org"]})])
def test_neither_a_text_nor_a_frame_is_a_list_of_texts(identifiers: Any) -> None:
    """Its letters or its columns would be taken for people."""
    with pytest.raises(UsageError, match="identifiers are a list of texts") as caught:
        People.given(identifiers, None, {}, find_profile("spec"))
    assert "forget(source=frame)" in caught.value.hint


@pytest.mark.parametrize(("identifiers", "source"), [(None, None), (["ada@example.org"], "people.csv")])
def test_people_are_named_in_one_way(identifiers: Any, source: Any) -> None:
    """By identifiers or by a source."""
    with pytest.raises(UsageError, match="not both"):
        People.given(identifiers, source, {}, find_profile("spec"))
