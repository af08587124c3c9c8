"""The signatures that people see, and the names that they may try."""

from __future__ import annotations

import inspect
import pydoc
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, get_type_hints

import click
import pytest

import audiencekit
from audiencekit.cli.upload import upload
from audiencekit.errors import UsageError
from audiencekit.planning.keywords import ABOUT, ELSEWHERE, Keywords, SourceKeywords, SyncKeywords
from audiencekit.planning.options import plain_keywords, read_keywords
from audiencekit.profile import SPEC
from tests.cases import each_case

DOORS = {
    "check": Keywords,
    "prepare": Keywords,
    "upload": Keywords,
    "upload_async": Keywords,
    "do_not_reach_upload": Keywords,
    "sync": SyncKeywords,
    "plan_sync": SyncKeywords,
    "forget": SourceKeywords,
}


def test_every_keyword_has_a_line() -> None:
    """And every line a keyword, which no line of another place contradicts."""
    assert list(ABOUT) == list(Keywords.__annotations__)
    assert not ELSEWHERE.keys() & ABOUT.keys()


@each_case("name", DOORS)
def test_help_shows_every_keyword_with_its_type_and_default(name: str) -> None:
    """As a console and a notebook do, which ask for the signature."""
    door, keywords = getattr(audiencekit, name), DOORS[name]
    parameters = inspect.signature(door).parameters
    shown = pydoc.plain(pydoc.render_doc(door))
    for keyword, kind in keywords.__annotations__.items():
        assert parameters[keyword].default == ABOUT[keyword].default
        assert f"{keyword}: {kind.__forward_arg__!r} = {ABOUT[keyword].default!r}" in shown
        assert f"{keyword}: {ABOUT[keyword].text}" in shown
    assert not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())


def test_the_defaults_shown_are_those_that_hold() -> None:
    """To give them all is to give none."""
    given: Any = {name: about.default for name, about in ABOUT.items()}
    assert read_keywords(given, SPEC) == read_keywords({}, SPEC)


def test_every_option_of_the_command_line_has_a_keyword_or_a_word_about_it() -> None:
    """Under its own name, or another that the error tells."""
    parameters = inspect.signature(audiencekit.upload).parameters.keys()
    options = [one for one in upload.params if isinstance(one, click.Option) and one.name != "help"]
    names = {option.opts[0].removeprefix("--").replace("-", "_") for option in options}
    assert names - parameters - ELSEWHERE.keys() == set()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"map": {"email": "mail"}}, "there is no `map`; it is `columns`"),
        ({"no_header": True}, "there is no `no_header`; it is `header=False`"),
        ({"audience_id": "a1"}, "there is no `audience_id`; it is `audience`, an id or a name"),
        ({"contry": "DE"}, "there is no `contry`; perhaps `country`"),
        ({"account_id": "a"}, "there is no `account_id`; give `settings=load_settings(account_id=…)`"),
        ({"nonsense": 1}, "there is no `nonsense`"),
    ],
)
def test_a_name_that_is_not_there_is_told_with_the_one_that_is(given: dict[str, Any], told: str) -> None:
    """Before anything that is missing."""
    door: Callable[..., Any] = audiencekit.upload
    with pytest.raises(UsageError) as caught:
        door("list.csv", **given)
    assert str(caught.value) == told
    assert "audience, columns" in caught.value.hint.replace("allow_empty, ", "")


def test_a_keyword_of_another_function_is_told_as_such() -> None:
    """A sync has no operation."""
    sync: Callable[..., Any] = audiencekit.sync
    with pytest.raises(UsageError, match="`sync` does not take `operation`"):
        sync("list.csv", audience="a1", operation="delete")


def test_a_missing_argument_is_a_type_error_as_of_any_function() -> None:
    """Which names no function that the caller has not called."""
    door: Callable[..., Any] = audiencekit.upload
    with pytest.raises(TypeError, match="missing a required argument: 'audience'"):
        door("list.csv")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (date(2027, 1, 1), "2027-01-01T00:00:00Z"),
        (datetime(2027, 1, 1, 12, tzinfo=UTC), "2027-01-01T12:00:00Z"),
        (datetime.fromisoformat("2027-01-01T12:00:00+02:00"), "2027-01-01T10:00:00Z"),
        ("2027-01-01", "2027-01-01T00:00:00Z"),
    ],
)
def test_times_are_taken_as_python_has_them(tmp_path: Path, given: Any, expected: str) -> None:
    """Days, moments with a time zone, and texts."""
    (tmp_path / "list.csv").write_text("email\nann@larchpost.example\n")
    plan = audiencekit.check(tmp_path / "list.csv", expires_at=given, plan_time=date(2026, 12, 1))
    assert (plan.expires_at, plan.plan_time) == (expected, "2026-12-01T00:00:00Z")
    kept = plain_keywords({"expires_at": given})["expires_at"]
    assert isinstance(kept, str), "a resumed run reads it from JSON"


def test_a_moment_without_a_time_zone_is_refused(tmp_path: Path) -> None:
    """It may be any of several."""
    with pytest.raises(UsageError, match="expires_at is a datetime without a time zone"):
        audiencekit.check(tmp_path / "list.csv", expires_at=datetime(2027, 1, 1))  # noqa: DTZ001


def test_the_types_of_the_keywords_can_be_resolved() -> None:
    """By tools that read them at run time."""
    assert get_type_hints(Keywords).keys() == ABOUT.keys()


@pytest.mark.parametrize(
    "given",
    [
        {"country": "Atlantis"}, {"hashed": ["partner_user_id"]}, {"hashed": 3}, {"ignore": [""]},
        {"delimiter": "ab"}, {"split_cells": "ab"}, {"delimiter": ";", "split_cells": ";"}, {"encoding": "morse"},
        {"columns": {"email": ""}}, {"columns": "email"}, {"ttl_days": 0}, {"ttl_days": "3"}, {"expires_at": "soon"},
        {"expires_at": "2027-01-01", "ttl_days": 3}, {"plan_time": "soon"}, {"effective_at": "soon"},
        {"max_rejected_share": 50}, {"max_rejected_column_share": -1}, {"suppress_max_rejected_share": 2},
        {"operation": "remove"}, {"operation": "delete", "operation_column": "verb"}, {"consent_column": "yes"},
        {"suppress_delimiter": ";"}, {"shared_values": 0}, {"shared_suppression": "some"}, {"few_people": "never"},
        {"phone_validity": "any"}, {"max_body_bytes": 1}, {"allow_empty": "yes"}, {"header": "no"},
    ],
    ids=str,
)  # fmt: skip
def test_errors_speak_python(tmp_path: Path, given: Any) -> None:
    """They name the keyword as it is called here, and no flag of the command line."""
    (tmp_path / "list.csv").write_text("email\nann@larchpost.example\n")
    with pytest.raises(UsageError) as caught:
        audiencekit.check(tmp_path / "list.csv", **given)
    told = f"{caught.value} {caught.value.hint}"
    assert "--" not in told
    assert any(name in told for name in given), told
