"""Metadata is compared as loaded in memory, and by its text only until it is loaded."""

from __future__ import annotations

import phonenumbers.data
import pytest
from phonenumbers import PhoneMetadata

from audiencekit.preparation.columnar.phones import metadata as phone_metadata
from audiencekit.preparation.columnar.phones.metadata import (
    digest_in_memory,
    digest_of_unread,
    of_phonenumbers,
    regions_of_code,
)


@pytest.mark.parametrize(("code", "region"), [(49, "DE"), (800, "001")])
def test_every_attribute_of_metadata_counts(code: int, region: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each attribute counts, and a text is not asked for any more."""
    before = digest_in_memory(code, region)
    assert digest_in_memory(code, region) == before
    assert digest_of_unread(code, region) is None
    metadata = PhoneMetadata.metadata_for_region_or_calling_code(code, region)
    assert metadata is not None
    monkeypatch.setattr(metadata, "_mutable", True)
    monkeypatch.setattr(metadata, "international_prefix", "7")
    assert digest_in_memory(code, region) != before


@pytest.mark.parametrize("missing", ["_READ", "_REGIONS"])
def test_a_release_that_reads_otherwise_is_asked_for_all(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No text is believed where it is not known how metadata is read."""
    monkeypatch.setattr(phone_metadata, missing, None if missing == "_READ" else {})
    assert all(digest_of_unread(1, region) is None for region in regions_of_code(1))


def test_the_reading_function_must_be_of_phonenumbers_itself() -> None:
    """A program that has put a function of its own in the place of theirs may read anything."""
    theirs = vars(phonenumbers.data)["_load_region"]
    assert of_phonenumbers(theirs) is theirs
    assert of_phonenumbers(lambda code: theirs(code)) is None
    assert of_phonenumbers(None) is None
