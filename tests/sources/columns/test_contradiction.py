"""A user's mapping of a column holds unless the column itself speaks against it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from audiencekit.errors import MappingRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.sources.source import Source

Open = Callable[..., Source]


@pytest.mark.parametrize(
    ("text", "kind", "column"),
    [
        ("mobile\n12015550123\n", Kind.PLATFORM_ID, "mobile"),
        ("screen_name\nann\n", Kind.PARTNER_USER_ID, "screen_name"),
        ("idfa\n4b61639e-47cc-4056-a16a-c8217e029462\n", Kind.PARTNER_USER_ID, "idfa"),
        ("what\n143567\n783214\n17874544\n", Kind.HANDLE, "what"),
    ],
)
def test_a_mapping_against_name_or_content_is_refused(open_bytes: Open, text: str, kind: Kind, column: str) -> None:
    """Where the values alone would not show it."""
    with pytest.raises(MappingRefused, match=f"column {column} "):
        open_bytes(text.encode(), columns=((kind, column),))


@pytest.mark.parametrize(
    ("text", "kind", "column"),
    [
        ("phone\na@example.com\n", Kind.EMAIL, "phone"),
        ("twitter\n143567\n783214\n17874544\n", Kind.PLATFORM_ID, "twitter"),
        ("what\nx1\n", Kind.PARTNER_USER_ID, "what"),
        ("what\n143567\nann\n", Kind.HANDLE, "what"),
    ],
)
def test_a_wrong_name_can_be_overruled(open_bytes: Open, text: str, kind: Kind, column: str) -> None:
    """When the cells say that it is wrong, or nothing speaks against the mapping."""
    columns = open_bytes(text.encode(), columns=((kind, column),)).mapping.columns
    assert [(found.kind, found.position) for found in columns] == [(kind, 0)]
