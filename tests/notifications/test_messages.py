"""A notification as it is sent."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given, strategies as st

from audiencekit.notifications.messages import body_of, compose, sign
from audiencekit.personal import Secret
from tests.cases import each_case
from tests.notifications.endings import NOW, ending, report
from tests.test_docs import ROOT


def _compose(document: dict[str, Any], **more: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {"run_id": "run-1", "identity": "run-1", "command": "upload", "exit_code": 0, **more}
    return compose(ending(document=document, before=facts.pop("before", None)), ["warnings", "fewer"], **facts)


def _numbers(document: Any) -> list[int]:
    if isinstance(document, dict):
        return [number for value in document.values() for number in _numbers(value)]
    return [document] if isinstance(document, int) and not isinstance(document, bool) else []


@given(st.integers(0, 3_000), st.integers(0, 60))
def test_no_small_count_is_told(sent: int, rejected: int) -> None:
    """Neither as it is nor as the difference of others, which are all rounded alike; what is unknown is null."""
    told = _compose(report(sent, rejected), before=report(sent + 3, rejected))
    counts = _numbers([told["rows"], told["people"], told["people_before"]]) or _numbers(told["rows"] or {})
    assert all(number % 10 == 0 for number in counts)
    words = re.findall(r"(?<![\w.,:-])[1-9](?![\w,.:-])", told["text"])
    assert words == []


@given(st.integers(1, 9))
def test_a_small_count_cannot_be_computed(rejected: int) -> None:
    """That of one person more, or less, is the same."""
    told, *others = (_compose(report(1_000 - each, each))["rows"] for each in (rejected, rejected - 1, rejected + 1))
    assert told in others
    assert told["rejected"] is None


def test_neither_columns_nor_files_nor_notes_are_told() -> None:
    """In a list with a person as column, the names of columns are people."""
    told = _compose(report(), place={"kind": "audience", "id": "h1ab2", "name": "Spring"}, error="PlanRefused")
    for form in ("json", "slack", "teams"):
        body = body_of(told, form)  # type: ignore[arg-type]
        assert b"Lovelace" not in body
        assert b"ada@example.com" not in body
        assert b"Spring" in body


@each_case(
    "name, shown",
    [
        ("Spring 2026", "Spring 2026"),
        ("for ada@example.com", None),
        ("+49 171 1234567", None),
        ("Krebs patients", None),
    ],
)
def test_a_name_is_told_only_if_nothing_in_it_may_be_of_a_person(name: str, shown: str | None) -> None:
    told = _compose(report(), place={"kind": "audience", "id": "h1ab2", "name": name})
    assert told["target"] == {"kind": "audience", "id": "h1ab2", "name": shown}
    assert (name in told["text"]) == (shown is not None)


def test_text_forms_cannot_act() -> None:
    """A name calls no one in Slack, and makes no link in Teams; each has its own document."""
    told = _compose(
        report(), place={"kind": "audience", "id": "h1ab2", "name": "<!channel> [x](https://a.example) *b*"}
    )
    slack, teams = (json.loads(body_of(told, form)) for form in ("slack", "teams"))  # type: ignore[arg-type]
    block = teams["attachments"][0]["content"]["body"][0]
    for text in (slack["text"], block["text"]):
        assert "channel" in text
        assert not set("<>[]*!/") & set(text)
    assert (list(slack), teams["type"], block["type"]) == (["text"], "message", "TextBlock")


def test_the_signature_is_that_of_openssl() -> None:
    """`printf '1795836600.{"version":1}' | openssl dgst -sha256 -hmac 0123456789abcdef`."""
    expected = "338f2dbb458a1d8e27f5f146312665af3491b4edc9e137be96af1c80de3370a7"
    assert sign(b'{"version":1}', Secret("0123456789abcdef"), NOW) == f"t=1795836600,v1={expected}"


def test_the_page_describes_each_key() -> None:
    """The published description has the keys of the document, and no others."""
    page = (ROOT / "docs/nightly.md").read_text()
    section = page.split("### The notification\n")[1].split("\n### ")[0]
    documented = re.findall(r"^\| `([a-z_]+)` \|", section, flags=re.MULTILINE)
    assert documented == list(_compose(report()))
