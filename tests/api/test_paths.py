"""Paths: an id can never mean another path."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from audiencekit.api.catalogue import BY_NAME
from audiencekit.api.paths import check_identifier, fill_path
from audiencekit.errors import UsageError

USERS = BY_NAME["add_custom_audience_users"]


@pytest.mark.parametrize(
    ("version", "path"),
    [
        ("12", "/12/accounts/18ce54d4x5t/custom_audiences/1nmth/users"),
        ("13", "/13/accounts/18ce54d4x5t/custom_audiences/1nmth/users"),
    ],
)
def test_fill(version: str, path: str) -> None:
    """The version and both ids stand in their places (specification part 2, section 4.4)."""
    assert fill_path(USERS, version=version, account_id="18ce54d4x5t", custom_audience_id="1nmth") == path


@pytest.mark.parametrize(
    "identifier",
    [
        "",
        " ",
        "1nmth ",
        "1NMTH",
        "..",
        ".",
        "a/b",
        "a%2fb",
        "a?b",
        "a#b",
        "a\\b",
        "a\n",
        "\na",
        "{account_id}",
        "ä",
        "٣",
        "a" * 33,
        None,
        7,
        b"a",
        ["a"],
    ],
)
def test_an_invalid_id_is_refused(identifier: Any) -> None:
    """Anything but lower-case letters and digits is refused, and not repeated."""
    with pytest.raises(UsageError) as caught:
        fill_path(USERS, version="12", account_id="abc1", custom_audience_id=identifier)
    assert "custom_audience_id" in str(caught.value)
    with pytest.raises(UsageError):
        fill_path(USERS, version="12", account_id=identifier, custom_audience_id="abc1")


@pytest.mark.parametrize("version", ["", "v12", "12.0", "-1", "012", "12/../11", "١٢", "1234"])
def test_an_invalid_version_is_refused(version: str) -> None:
    """A version is a whole number of up to three digits."""
    with pytest.raises(UsageError):
        fill_path(USERS, version=version, account_id="abc1", custom_audience_id="abc1")


@given(st.text(max_size=40))
def test_any_accepted_id_is_one_segment(text: str) -> None:
    """An id that passes has no character with a meaning in a path."""
    try:
        check_identifier("custom_audience_id", text)
    except UsageError:
        return
    assert text.isascii()
    assert text.isalnum()
