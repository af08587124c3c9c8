"""Names of audiences that this machine has seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from audiencekit.api.opening import open_client
from audiencekit.destinations.known_audiences import FILE, AccountDocument, KnownAudiences, ensure_audience, unique_id
from audiencekit.errors import InputOutputFailed, Refused, UsageError
from audiencekit.settings import Settings
from tests.cases import each_case

# --- Names of audiences that this machine has seen ---


def test_names_are_kept_by_account(tmp_path: Path) -> None:
    """A new name replaces the old one; what is gone is forgotten."""
    known = KnownAudiences(tmp_path, "acc1")
    known.note({"h1": "Spring", "h2": "Autumn"})
    KnownAudiences(tmp_path, "acc2").note({"h1": "Another"})
    known.note({"h1": "Spring 2"}, gone=["h2"])
    assert KnownAudiences(tmp_path, "acc1").names() == {"h1": "Spring 2"}
    assert KnownAudiences(tmp_path, "acc2").names() == {"h1": "Another"}
    assert KnownAudiences(tmp_path, None).names() == {}


@each_case("content", [b"", b"rubbish", b"[]", b'{"acc1": 7}', b'{"acc1": {"h1": 7, "../x": "y"}}', b"\xff"])
def test_rubbish_is_not_known(tmp_path: Path, content: bytes) -> None:
    """And does not stay."""
    (tmp_path / FILE).write_bytes(content)
    known = KnownAudiences(tmp_path, "acc1")
    assert known.names() == {}
    known.note({"h1": "Spring"})
    assert known.names() == {"h1": "Spring"}


def test_a_directory_that_cannot_be_written_fails_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    known = KnownAudiences(tmp_path / "file", "acc1")
    known.note({"h1": "Spring"})
    assert known.names() == {}


def test_the_state_directory_is_made_for_its_owner(tmp_path: Path) -> None:
    KnownAudiences(tmp_path / "state", "acc1").note({"h1": "Spring"})
    assert ((tmp_path / "state").stat().st_mode & 0o777, (tmp_path / "state" / FILE).stat().st_mode & 0o777) == (
        0o700,
        0o600,
    )


NAMES = {"h1": "Spring", "h2": "Spring", "h3": "Springs of May", "h4": "Autumn"}


@each_case(
    "given, hint",
    [
        ("Spring", "give an id: h1, h2"),
        ("spring", "give an id, perhaps: h1 'Spring', h2 'Spring', h3 'Springs of May'"),
        ("Winter", "`audiencekit audiences list` shows ids and names"),
    ],
)
def test_names_that_are_not_of_one_are_refused_with_the_ids(given: str, hint: str) -> None:
    with pytest.raises(UsageError) as refused:
        unique_id(given, NAMES)
    assert refused.value.hint == hint


def test_the_name_of_one_is_its_id(tmp_path: Path) -> None:
    """A text that reads as an id is one."""
    assert unique_id("Autumn", NAMES) == "h4"
    known = KnownAudiences(tmp_path, "acc1")
    known.note({"h1": "h2", "h2": "Spring customers"})
    assert (known.find("h2"), known.find("Spring customers")) == ("h2", "h2")


# --- A document with a part for each account: each account changes its own, and a damaged file is no truth ---


@pytest.fixture
def document(tmp_path: Path) -> AccountDocument:
    return AccountDocument(tmp_path / "state", "some.json", "audiencekit-some/1")


def test_each_account_has_its_part(document: AccountDocument) -> None:
    document.replace("one", {"a": 1})
    document.replace("two", {"b": [2]})
    document.replace("one", {"c": 3})
    assert document.read() == {"one": {"c": 3}, "two": {"b": [2]}}


def test_a_file_in_another_format_is_neither_read_nor_written_over(document: AccountDocument, tmp_path: Path) -> None:
    AccountDocument(tmp_path / "state", "some.json", "audiencekit-some/2").replace("one", {"a": 1})
    content = (tmp_path / "state" / "some.json").read_bytes()
    for use in (document.read, lambda: document.replace("one", {"b": 2})):
        with pytest.raises(InputOutputFailed, match="reads audiencekit-some/1 only"):
            use()
    assert (tmp_path / "state" / "some.json").read_bytes() == content


def test_a_file_that_is_missing_or_was_changed_is_empty(document: AccountDocument, tmp_path: Path) -> None:
    document.replace("one", {"a": 1})
    path = tmp_path / "state" / "some.json"
    path.write_bytes(path.read_bytes().replace(b"one", b"two"))
    assert document.read() == {}
    path.unlink()
    assert document.read() == {}


# --- An audience that is to be there ---


async def test_an_audience_is_created_or_found_by_its_name(settings: Settings) -> None:
    """A name that begins with the same letters is another; that of a deleted audience is refused."""
    async with open_client(settings) as client:
        longer, _ = await ensure_audience(client, "Spring customers, old")
        first, state = await ensure_audience(client, "Spring customers", "of 2026")
        again, state_again = await ensure_audience(client, "Spring customers")
        assert (state, state_again, again["id"]) == ("created", "found", first["id"])
        assert first["id"] != longer["id"]
        await client.delete_custom_audience(first["id"])
        with pytest.raises(Refused, match="was deleted"):
            await ensure_audience(client, "Spring customers")
