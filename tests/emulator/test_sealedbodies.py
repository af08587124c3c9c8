"""Bodies that are kept out of memory."""

from __future__ import annotations

import os

import pytest
from cryptography.exceptions import InvalidTag
from hypothesis import given, strategies as st

from audiencekit.emulator.sealedbodies import Place, SealedFile


@given(st.lists(st.binary(max_size=200), max_size=10))
def test_a_sealed_text_is_given_back(contents: list[bytes]) -> None:
    """In any order, empty texts too, each as often as it is asked for."""
    sealed = SealedFile()
    places = [sealed.add(content) for content in contents]
    assert [sealed.read(place) for place in reversed(places)] == contents[::-1]
    assert [sealed.read(place) for place in places] == contents


def test_the_file_has_no_name_and_shows_nothing() -> None:
    """Two texts that are alike are not alike there."""
    sealed, content = SealedFile(), b"ab" * 500
    places = [sealed.add(content) for _ in range(2)]
    shown = [os.pread(sealed._descriptor, place.size, place.start) for place in places]
    assert content not in shown[0] + shown[1]
    assert shown[0] != shown[1]
    assert os.fstat(sealed._descriptor).st_nlink == 0


def test_a_changed_text_is_not_given_back() -> None:
    """Nor what stands at another place."""
    sealed = SealedFile()
    place = sealed.add(b"people")
    with pytest.raises(InvalidTag):
        sealed.read(Place(place.start, place.size - 1))
    os.pwrite(sealed._descriptor, b"\x00", place.start)
    with pytest.raises(InvalidTag):
        sealed.read(place)


def test_no_room_is_told_and_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next value is written in the place of the one that failed."""
    sealed = SealedFile()

    def refuse(*given: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(os, "pwrite", refuse)
        with pytest.raises(OSError, match="No space"):
            sealed.add(b"people")
    assert sealed.add(b"others").start == 0
