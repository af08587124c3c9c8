"""Identifiers one a line."""

from __future__ import annotations

import hashlib
import io
import traceback

import pytest

from audiencekit.audiences.erasure.identifierlines import Lines, read_identifier_lines, standard_input_lines
from audiencekit.errors import AudiencekitError, PlanRefused, UsageError
from audiencekit.limits import MAX_LINE_BYTES

HASH = hashlib.sha256(b"ada@example.org").hexdigest()


@pytest.mark.parametrize(
    ("line", "kind"),
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


@pytest.mark.parametrize("other", [None, float("nan"), 143567, b"ada@example.org"])
def test_a_line_that_is_no_text_is_refused_by_its_number(other: object) -> None:
    """As a frame holds a missing cell; no line is left out without a message."""
    with pytest.raises(UsageError, match="identifier 2 is no text"):
        read_identifier_lines(Lines(["ada@example.org", other]))  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("143567", "no_identifier"),
        (HASH, "no_identifier"),
        ("Ada Lovelace", "no_identifier"),
        ("phone_number=015112345678", "no_country"),
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


@pytest.mark.parametrize(
    ("content", "is_terminal", "message"),
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
