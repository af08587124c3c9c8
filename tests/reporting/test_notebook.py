"""Results and progress where HTML is shown."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import audiencekit
from audiencekit.destinations.target import Target
from audiencekit.reporting.notebook import NotebookProgress, find_display
from audiencekit.reporting.report import Report, RowCounts
from audiencekit.reporting.text import render_plan, render_report

REPORT = Report(
    run_id="20261124-1", state="incomplete", target=Target.audience("a1"), operation="update",
    rows=RowCounts(read=1_234, sent=1_000, rejected=230, pending=4), rejections={"not_valid": 230},
    identifiers={"email": {"present": 1_234, "valid": 1_004, "rejected": 230}}, started_at="2026-11-24T00:00:00Z",
    problems=({"message": "<script>alert(1)</script>", "hint": ""},),
)  # fmt: skip


class _Read(HTMLParser):
    """The texts of a page, and its tags, each of which must be closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: set[str] = set()
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_printed_report_is_the_text_of_the_command_line() -> None:
    """And its repr is one short line."""
    assert str(REPORT) == render_report(REPORT.to_json())
    assert repr(REPORT) == "<Report of run 20261124-1: incomplete, 1,000 of 1,234 rows sent>"


def test_a_report_in_a_notebook_shows_its_counts() -> None:
    """Names given by a service or a file are text, and no markup."""
    page = _Read(REPORT._repr_html_())
    assert {"1,234", "1,000", "1,004", "230", "<script>alert(1)</script>"} <= set(page.texts)
    assert "script" not in page.tags


def test_the_owner_sees_small_counts_in_a_notebook(tmp_path: Path) -> None:
    """The list is small and theirs; the pictures are those of the page, with their remedies."""
    (tmp_path / "list.csv").write_text("email\nann@larchpost.example\nn/a\nbe@larchpost.example\nn/a\n")
    page = _Read(audiencekit.check(tmp_path / "list.csv")._repr_html_())
    assert "of 4 people ready – 50.0\u00a0%" in page.texts
    assert "leave such cells blank in the source: there is no value to be saved" in page.texts
    assert not [text for text in page.texts if "fewer than" in text]
    assert "details" in page.tags


def test_a_plan_is_printed_and_shown_as_well(tmp_path: Path) -> None:
    """With its verdict."""
    (tmp_path / "list.csv").write_text("email\nann@larchpost.example\n")
    plan = audiencekit.check(tmp_path / "list.csv")
    assert str(plan) == render_plan(plan.to_json())
    assert repr(plan) == "<Plan: ready, 1 of 1 rows to send>"
    assert "Plan: ready" in _Read(plan._repr_html_()).texts


def test_outside_of_a_notebook_nothing_is_shown() -> None:
    """There is no place for it."""
    assert find_display() is None


def test_progress_is_drawn_in_one_place_a_few_times_a_second_and_at_the_end() -> None:
    """With the last messages, whatever they hold."""
    drawn: list[dict[str, str]] = []
    now = iter([0.0, 0.05, 0.3, 0.31, 0.32])
    progress = NotebookProgress(drawn.append, lambda: next(now))
    for done in (0, 10, 40, 100):
        progress.step("reading", done, 100, unit="rows")
    progress.tell("waiting <b>")
    texts = [_Read(each["text/html"]).texts for each in drawn]
    assert [text[1].partition(",")[0] for text in texts] == [
        "0 of 100 rows", "40 of 100 rows", "100 of 100 rows", "100 of 100 rows",
    ]  # fmt: skip
    assert texts[-1][-1] == "waiting <b>"
    assert drawn[-1]["text/plain"].splitlines()[-1] == "waiting <b>"
