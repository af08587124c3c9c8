"""The people of a source."""

from __future__ import annotations

import hashlib
import io
import traceback
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from audiencekit.api.answers import Answer
from audiencekit.api.client import AdsClient
from audiencekit.audiences.erasure import people as room
from audiencekit.audiences.erasure.forgetting import forget_async
from audiencekit.audiences.erasure.people import (
    Asked,
    Lines,
    People,
    check_access,
    read_identifier_lines,
    read_rows,
    standard_input_lines,
)
from audiencekit.emulator import Emulator
from audiencekit.errors import (
    AudiencekitError,
    CredentialsRefused,
    ExchangeError,
    MappingRefused,
    PlanRefused,
    RequestRefused,
    SourceRefused,
    UsageError,
)
from audiencekit.identifiers.kinds import Kind
from audiencekit.limits import MAX_LINE_BYTES
from audiencekit.profile import find_profile
from audiencekit.reporting.progress import NoProgress
from audiencekit.selection.erased_people import read_forgotten
from audiencekit.settings import Settings
from audiencekit.sources.options import SourceOptions
from tests.cases import each_case

# --- The people of a source ---


def _read(tmp_path: Path, text: str, **options: object) -> Asked:
    path = tmp_path / "people.csv"
    path.write_text(text)
    return read_rows(path, SourceOptions(**options), NoProgress())  # type: ignore[arg-type]


def test_every_identifier_of_every_row(tmp_path: Path) -> None:
    """In every form; the country is that of the row, or the default."""
    asked = _read(
        tmp_path,
        "email,phone,country\nada@example.org,0151 12345678,DE\nbo@example.org,+12015550123,\n",
    )
    assert (asked.rows, dict(asked.identifiers), asked.rejected) == (2, {"email": 2, "phone_number": 2}, [])
    assert len(asked.keys.unwrap()) == 2 + 4


def test_cells_of_several_values_name_each(tmp_path: Path) -> None:
    """As uploads read them."""
    asked = _read(tmp_path, "email\nada@example.org;ada@example.com\n", split_cells=";")
    assert dict(asked.identifiers) == {"email": 2}


def test_whole_values_of_a_cell_and_both_kinds_of_a_column_name_each(tmp_path: Path) -> None:
    """As uploads divide them, and tell them apart."""
    asked = _read(tmp_path, 'email,note\n"ada@example.org, bo@example.org",\n"ada@example.org, x",\n')
    assert (dict(asked.identifiers), [one.row for one in asked.rejected]) == ({"email": 2}, [2])
    asked = _read(tmp_path, "email_or_phone,note\nada@example.org,\n+12015550123,\n")
    assert (dict(asked.identifiers), asked.rejected) == ({"email": 1, "phone_number": 1}, [])


def test_hashed_columns_give_the_one_form_that_they_hold(tmp_path: Path) -> None:
    """The others cannot be made of a hash."""
    asked = _read(tmp_path, "email\n" + "ab" * 32 + "\n", hashed=frozenset({Kind.EMAIL}))
    assert asked.keys.unwrap() == {(Kind.EMAIL, "ab" * 32)}


def test_placeholders_beside_an_identifier_are_no_rejections(tmp_path: Path) -> None:
    """A row without any identifier is rejected."""
    asked = _read(tmp_path, "email,handle\nada@example.org,n/a\nbo@example.org,\nn/a,\n")
    assert (asked.rows, asked.rejected) == (2, [(3, None, "no_identifier")])


def test_a_value_that_cannot_be_read_keeps_everything_back(tmp_path: Path) -> None:
    """Unless it may be left out: then the rest of its row is erased."""
    asked = _read(tmp_path, "email,phone\nada@example.org,0151 12345678\nbo@example.org,\ncy@example.org,\n")
    assert asked.rejected == [(1, "phone", "no_country")]
    with pytest.raises(PlanRefused, match="row 1, column phone: no_country: nothing was sent"):
        asked.check(what="row", skip_rejected=False)
    asked.check(what="row", skip_rejected=True)
    assert dict(asked.identifiers) == {"email": 3}


def test_a_source_without_identifiers_is_refused(tmp_path: Path) -> None:
    """And so is one that cannot be read to its end."""
    with pytest.raises(MappingRefused):
        _read(tmp_path, "city\nUlm\n")
    with pytest.raises(SourceRefused):
        _read(tmp_path, 'email\n"ada@example.org\n')


# --- Whether the service lets us erase, asked before any person is remembered ---


class Client:
    """Answers that it has audiences, and what the user may do, or fails."""

    def __init__(self, access: object) -> None:
        self._access = access

    async def list_custom_audiences(self, *, count: int) -> Answer:
        """None are there."""
        assert count == 1
        return Answer(status=200, data=[])

    async def get_authenticated_user_access(self) -> Answer:
        """Return the answer that the test has set."""
        if isinstance(self._access, ExchangeError):
            raise self._access
        return Answer(status=200, data=self._access)


def _client(access: object) -> Any:
    return Client(access)


@pytest.mark.parametrize("permissions", [["ANALYST"], ["CAMPAIGN_ANALYST"], ["CAMPAIGN_ANALYST", "ANALYST"]])
async def test_a_user_who_may_only_look_is_refused(permissions: list[str]) -> None:
    """With the permissions in words of the service, and where they are shown."""
    with pytest.raises(CredentialsRefused, match=f"only look at it .{permissions[0]}.*no one was remembered") as told:
        await check_access(_client({"user_id": "1", "permissions": permissions}), "acc1")
    assert "whoami" in (told.value.hint or "")


@pytest.mark.parametrize(
    "access",
    [
        {"permissions": ["ACCOUNT_ADMIN"]},
        {"permissions": ["ANALYST", "AD_MANAGER"]},
        {"permissions": ["PARTNER_AUDIENCE_MANAGER"]},
        {"permissions": ["ANALYST", "SOMETHING_NEW"]},
        {"permissions": ["ANALYST", {}]},
        {"permissions": []},
        {"permissions": "ANALYST"},
        {},
        [],
        None,
        RequestRefused("the service refuses the request", status=403),
    ],
)
async def test_whatever_does_not_say_so_is_no_reason(access: object) -> None:
    """Other permissions, unknown ones, none at all, and a service that does not tell."""
    await check_access(_client(access), "acc1")


async def test_a_user_with_read_access_adds_no_person_to_the_memory(
    emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The erasure ends before the file is written."""

    async def answer(self: AdsClient) -> Answer:
        return Answer(status=200, data={"user_id": "1", "permissions": ["ANALYST"]})

    monkeypatch.setattr(AdsClient, "get_authenticated_user_access", answer)
    with pytest.raises(CredentialsRefused, match="may only look"):
        await forget_async(["person1@example.org"], settings=settings)
    assert read_forgotten(settings.state_dir, settings.key) is None


# --- Identifiers one a line ---

HASH = hashlib.sha256(b"ada@example.org").hexdigest()


@each_case(
    "line, kind",
    [
        ("ada@example.org", "email"),
        ("email=ada@example.org", "email"),
        ("email = ada@example.org", "email"),
        ("a=b@example.org", "email"),
        (f"email={HASH}", "email"),
        ("+49 151 12345678", "phone_number"),
        ("0151 12345678", "phone_number"),
        ("phone_number=015112345678", "phone_number"),
        ("4b61639e-47cc-4056-a16a-c8217e02946b", "device_id"),
        ("@ada_l", "handle"),
        ("handle=ada_l", "handle"),
        ("platform_id=143567", "platform_id"),
        ("partner_user_id=a=b=c", "partner_user_id"),
        (f"partner_user_id={HASH}", "partner_user_id"),
    ],
)
def test_the_kind_is_recognised_or_said(line: str, kind: str) -> None:
    """`KIND=VALUE` where the first word is a kind."""
    asked = read_identifier_lines(Lines([line + "\n"]), country="DE")
    assert (dict(asked.identifiers), asked.rejected, asked.rows) == ({kind: 1}, [], 1)


@each_case("other", [None, float("nan"), 143567, b"ada@example.org"])
def test_a_line_that_is_no_text_is_refused_by_its_number(other: object) -> None:
    """As a frame holds a missing cell; no line is left out without a message."""
    with pytest.raises(UsageError, match="identifier 2 is no text"):
        read_identifier_lines(Lines(["ada@example.org", other]))  # type: ignore[list-item]


@each_case(
    "line, reason",
    [
        ("143567", "no_identifier"),
        (HASH, "no_identifier"),
        ("Ada Lovelace", "no_identifier"),
        ("phone_number=015112345678", "no_country"),
        ("0151 12345678", "no_country"),
        ("(201) 555-0101", "no_country"),
        ("email=ada@", "invalid_syntax"),
        ("partner_user_id=ada@example.org", "looks_personal"),
    ],
)
def test_an_unreadable_value_is_told_by_its_line(line: str, reason: str) -> None:
    """With the reason, never with the value."""
    asked = read_identifier_lines(Lines(["", line]))
    assert asked.rejected == [(2, None, reason)]
    with pytest.raises(PlanRefused, match="line 2: ") as refused:
        asked.check(what="line", skip_rejected=False)
    assert line not in str(refused.value)
    assert ("`country='DE'`" in refused.value.hint) is (reason == "no_country")
    assert "skip_rejected" not in refused.value.hint, "an erasure never advises to leave a person out"


def test_a_list_with_every_line_left_out_is_refused() -> None:
    """Even when lines may be left out, at least one person must be named."""
    with pytest.raises(PlanRefused, match="no one was named"):
        read_identifier_lines(Lines(["?", "??"])).check(what="line", skip_rejected=True)
    with pytest.raises(PlanRefused, match="no one was named"):
        read_identifier_lines(Lines(["", " \u200b"])).check(what="line", skip_rejected=False)


def test_many_rejections_are_counted() -> None:
    """A message names the first few."""
    asked = read_identifier_lines(Lines(["?"] * 9))
    assert asked.rejections_in_words("line").endswith("line 5: its kind is not recognised; and 4 more")
    assert asked.reasons() == {"no_identifier": 9}


class _Piped(io.BytesIO):
    def __init__(self, content: bytes, *, is_terminal: bool = False) -> None:
        super().__init__(content)
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


def test_standard_input_is_read_line_by_line() -> None:
    """A byte order mark and Windows line ends are no part of an identifier."""
    lines = standard_input_lines(_Piped("\ufeffada@example.org\r\nbo@example.org".encode()))
    assert dict(read_identifier_lines(lines).identifiers) == {"email": 2}


@each_case(
    "content, is_terminal, message",
    [
        (b"", True, "a terminal"),
        (b"a\n\xff\n", False, "line 2 of stdin is not UTF-8"),
        (b"a" * (MAX_LINE_BYTES + 1), False, "line 1 of stdin is longer"),
    ],
)
def test_standard_input_that_cannot_be(content: bytes, is_terminal: bool, message: str) -> None:
    """Is a usage error that quotes nothing."""
    with pytest.raises(UsageError, match=message):
        standard_input_lines(_Piped(content, is_terminal=is_terminal))


def test_a_failure_shows_no_line() -> None:
    """Not in the locals of any frame of its traceback."""

    def failing() -> object:
        yield "canary-7391@example.org"
        raise RuntimeError("canary-7391@example.org")

    with pytest.raises(AudiencekitError) as failed:
        read_identifier_lines(Lines(failing()))  # type: ignore[arg-type]
    told = traceback.TracebackException.from_exception(failed.value, capture_locals=True)
    own_frames = [line for line in told.format() if "test_identifierlines" not in line]
    assert "canary" not in "".join(own_frames)


# --- The people to erase, as callers name them ---


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


# --- The people that an erasure is asked for ---


def test_the_same_form_counts_once() -> None:
    """Two ways to write one identifier are two identifiers asked for, and one key."""
    asked = Asked()
    asked.add(Kind.EMAIL, frozenset({"a" * 64}))
    asked.add(Kind.EMAIL, frozenset({"a" * 64}))
    asked.add(Kind.HANDLE, frozenset({"a" * 64}))
    assert asked.keys.unwrap() == {(Kind.EMAIL, "a" * 64), (Kind.HANDLE, "a" * 64)}
    assert asked.identifiers == {"email": 2, "handle": 1}


def test_more_than_memory_should_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is sent."""
    monkeypatch.setattr(room, "MAX_ERASURE_KEYS", 2)
    asked = Asked()
    asked.add(Kind.EMAIL, frozenset({"a", "b"}))
    with pytest.raises(PlanRefused, match="nothing was sent"):
        asked.add(Kind.EMAIL, frozenset({"c"}))


def test_keys_are_not_shown() -> None:
    """Not in a repr."""
    asked = Asked()
    asked.add(Kind.PARTNER_USER_ID, frozenset({"crm-canary"}))
    assert "canary" not in repr(asked) + repr(asked.keys)
