"""The stamp of a sync in the description of its audience."""

from __future__ import annotations

from hypothesis import given, strategies as st

from audiencekit.api.answers import Answer
from audiencekit.api.stamps import REMOVAL, UPLOAD, Stamp, description_of, find_stamp, with_stamp
from tests.cases import each_case

AUDIENCE, TOKEN, OTHER = "1a2b", "0123456789abcdef", "fedcba9876543210"
MARK = f"[audiencekit sync {AUDIENCE}-{TOKEN}]"


@each_case(
    "before, after",
    [
        ("", MARK),
        ("Customers of the shop", f"Customers of the shop {MARK}"),
        (f"[audiencekit sync {AUDIENCE}-{OTHER}]", MARK),
        (f"a [audiencekit sync {AUDIENCE}-{OTHER}, upload] b", f"a {MARK} b"),
        (f"[audiencekit sync 9z-{OTHER}]", f"[audiencekit sync 9z-{OTHER}] {MARK}"),  # of a copied description
        ("[audiencekit sync]", f"[audiencekit sync] {MARK}"),  # by hand
    ],
)
def test_a_stamp_takes_the_place_of_the_one_before(before: str, after: str) -> None:
    """And what people wrote stays as it is."""
    assert with_stamp(before, Stamp(AUDIENCE, TOKEN)) == after


@given(st.text(max_size=80), st.sampled_from(["", UPLOAD, REMOVAL]))
def test_a_stamp_is_found_again(written: str, since: str) -> None:
    """Behind whatever people wrote, which comes first, to the letter."""
    stamp = Stamp(AUDIENCE, TOKEN, since)
    described = with_stamp(written, stamp)
    assert find_stamp(described, AUDIENCE) == stamp
    assert find_stamp(described, "9z") is None
    assert described.startswith(written)


def test_an_upload_keeps_the_token() -> None:
    """It says that it came after the sync that stamped the audience."""
    stamp = Stamp(AUDIENCE, TOKEN).followed_by(UPLOAD)
    assert str(stamp) == f"[audiencekit sync {AUDIENCE}-{TOKEN}, upload]"
    assert stamp.followed_by(UPLOAD) == stamp
    assert stamp.followed_by(REMOVAL).followed_by(UPLOAD) == Stamp(AUDIENCE, TOKEN, REMOVAL)


@each_case(
    "shown, expected",
    [({"description": "Shop"}, "Shop"), ({"description": None}, ""), ({}, None), ({"description": 5}, None)],
)
def test_a_service_may_show_no_description(shown: dict[str, object], expected: str | None) -> None:
    """An audience without one has "", a service that has no such field None."""
    assert description_of(Answer(status=200, data=shown)) == expected
