"""Sealed records: what was written comes back; everything else is refused, and nothing can be read from them."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from audiencekit.errors import StateRefused
from audiencekit.mirror.records import (
    HEAD,
    FileList,
    Head,
    Holder,
    MirroredFile,
    Sealer,
    digest_of,
    generation_of,
    mark_name,
    new_name,
)
from audiencekit.state.keys import StateKey

KEY = StateKey(bytes(range(32)))
FILES = st.dictionaries(
    st.text(min_size=1),
    st.builds(
        MirroredFile,
        st.integers(0, 1 << 50),
        st.integers(0, 1 << 62),
        st.lists(st.tuples(st.text(), st.text())).map(tuple),
    ),
)


@given(st.integers(1, 1 << 40), FILES, st.none() | st.builds(Holder, st.text(), st.text(), st.integers(0, 1 << 40)))
def test_a_head_and_its_list_come_back(generation: int, files: dict[str, MirroredFile], holder: Holder | None) -> None:
    sealer = Sealer.new(KEY)
    content = FileList(generation, files).to_bytes()
    head = Head(generation, new_name("lists/", generation), digest_of(content), holder)
    data = sealer.seal_head(head)
    assert data != sealer.seal_head(head)
    opened = Sealer.of_head(KEY, data)
    assert opened.open_head(data) == head
    assert opened.open_list(head, sealer.seal(head.files, content)) == FileList(generation, files)


@pytest.mark.parametrize("size", range(0, 80, 7))
def test_a_cut_object_is_refused(size: int) -> None:
    """Of any length."""
    data = Sealer.new(KEY).seal_head(Head(1, "lists/1", "00"))[:size]
    with pytest.raises(StateRefused):
        Sealer.of_head(KEY, data).open_head(data)


def test_an_object_belongs_to_its_name_and_its_state() -> None:
    """Under another name, of another state or under another key it is refused, and so is one that is missing."""
    one, two = Sealer.new(KEY), Sealer.new(KEY)
    data = one.seal("pieces/a", b"content")
    other = Sealer(StateKey(bytes(32)), one.state_id)
    for sealer, name, given_data in ((one, "pieces/b", data), (two, "pieces/a", data), (other, "pieces/a", data)):
        with pytest.raises(StateRefused):
            sealer.open(name, given_data)
    with pytest.raises(StateRefused, match="missing"):
        one.open("pieces/a", None)
    assert one.open("pieces/a", data) == b"content"


def test_a_list_that_is_not_that_of_the_head_is_refused() -> None:
    """Also if it is of the same name, as after a roll-back of one object."""
    sealer, head = Sealer.new(KEY), Head(2, "lists/2", digest_of(FileList(2).to_bytes()))
    with pytest.raises(StateRefused, match="not the last"):
        sealer.open_list(head, sealer.seal("lists/2", FileList(1).to_bytes()))


def test_an_object_shows_nothing_of_its_content() -> None:
    sealer = Sealer.new(KEY)
    head = Head(1, new_name("lists/", 1), "00", Holder("token", "hostname"))
    files = FileList(1, {"runs/secretrun/report.json": MirroredFile(1, 1, ())}).to_bytes()
    for data in (sealer.seal_head(head), sealer.seal("pieces/a", b"secretrun"), sealer.seal("lists/a", files)):
        assert not any(word in data for word in (b"secretrun", b"hostname", b"report"))
    assert len(sealer.seal(HEAD, b"")) == len(sealer.seal("pieces/a", b""))


@pytest.mark.parametrize(
    ("name", "generation"),
    [(mark_name(7), 7), ("lists/000000000012-0f", 12), ("marks/x", -1), ("pieces/0123456789ab", -1), ("", -1)],
)
def test_the_generation_is_read_from_a_name(name: str, generation: int) -> None:
    assert generation_of(name) == generation
