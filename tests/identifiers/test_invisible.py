"""Invisible characters."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, strategies as st

from audiencekit.identifiers.invisible import has_control, has_invisible, trim

MARKS = {
    "zero-width space": "\u200b",
    "zero-width joiner": "\u200d",
    "word joiner": "\u2060",
    "byte order mark": "\ufeff",
    "soft hyphen": "\xad",
    "right-to-left mark": "\u200f",
    "left-to-right embedding": "\u202a",
    "pop directional formatting": "\u202c",
    "isolate": "\u2066",
    "variation selector": "\ufe0f",
    "tag": "\U000e0041",
    "Hangul filler": "\u3164",
}
CONTROLS = {"NUL": "\0", "escape": "\x1b", "Ctrl-Z": "\x1a", "unit separator": "\x1f", "C1": "\x9b", "delete": "\x7f"}


@pytest.mark.parametrize("name", MARKS)
def test_marks_come_off_at_the_ends_and_are_seen_inside(name: str) -> None:
    """A mark at the ends is an accident of copying, inside it changes the value."""
    mark = MARKS[name]
    assert trim(f"{mark} a b{mark}\t{mark}") == "a b"
    assert has_invisible(f"a{mark}b")


@pytest.mark.parametrize("name", CONTROLS)
def test_controls_stay_and_are_seen(name: str) -> None:
    """A control character is never taken off silently."""
    assert trim(CONTROLS[name]) == CONTROLS[name]
    assert has_invisible(CONTROLS[name])
    assert has_control(CONTROLS[name])


def test_every_white_space_of_unicode_comes_off() -> None:
    """White space of `str.isspace` is trimmed, except the four separators that Unicode calls controls."""
    spaces = [chr(code) for code in range(0x110000) if chr(code).isspace()]
    assert {sign for sign in spaces if trim(sign)} == set("\x1c\x1d\x1e\x1f")
    assert not any(has_invisible(sign) for sign in spaces if not trim(sign))


def test_every_format_control_and_surrogate_is_invisible() -> None:
    """Beside visible Arabic and Syriac number signs no character of the categories Cc, Cf and Cs goes unseen."""
    hidden = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in {"Cc", "Cf", "Cs"}]
    unseen = {unicodedata.name(sign, "") for sign in hidden if trim(sign) and not has_invisible(sign)}
    scripts = ("ARABIC", "SYRIAC", "KAITHI", "EGYPTIAN")
    assert {name for name in unseen if not name.startswith(scripts)} == set()


def test_tabs_and_line_breaks_are_controls_but_not_invisible() -> None:
    """Spaces of other sorts are neither."""
    assert all(has_control(sign) and not has_invisible(sign) for sign in "\t\n\r\v\f\x85\u2028")
    assert not any(has_control(sign) for sign in " \xa0\u3000a-ß日")


@given(st.text())
def test_trimming_twice_changes_nothing(text: str) -> None:
    """Trimming is idempotent and only shortens."""
    assert trim(trim(text)) == trim(text)
    assert trim(text) in text
