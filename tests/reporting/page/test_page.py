"""A report as a page: its numbers are those of the document, and nothing in it acts or asks a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from audiencekit.audiences.sync.sync import sync_async
from audiencekit.emulator import Emulator
from audiencekit.pipeline import check, upload_async
from audiencekit.records.refusal_bounds import NAME_COUNTRIES
from audiencekit.reporting.page.page import plan_page, report_page
from audiencekit.reporting.page.page_parts import View
from audiencekit.reporting.page.privacy import FLOOR
from audiencekit.settings import Settings
from tests.cases import each_case
from tests.reporting.webpages import PageNumbers, number_at

SHARED = View(is_floored=True)


def _list(path: Path, people: int, *more: str) -> Path:
    lines = [f"p{number}@example.com,+1201555{number:04}" for number in range(people)]
    path.write_text("\n".join(["email,phone", *lines, *more, ""]), encoding="utf-8")
    return path


def report_of_a_bad_day(**changes: Any) -> dict[str, Any]:
    """A report of a run with losses, retries and waits."""
    return {
        "run_id": "20260101-1", "state": "complete", "target": {"kind": "audience", "id": "h1ab2"},
        "audience_name": None, "operation": "update", "source_names": ["list.csv"],
        "rows": {"read": 1_000, "sent": 850, "rejected": 100, "duplicate": 30, "superseded": 0, "suppressed": 20,
                 "pending": 0},
        "identifiers": {"email": {"present": 990, "valid": 900, "rejected": 90},
                        "phone_number": {"present": 500, "valid": 491, "rejected": 9}},
        "combinations": [{"kinds": ["email", "phone_number"], "rows": 491}, {"kinds": ["email"], "rows": 402},
                         {"kinds": ["phone_number"], "rows": 7}],
        "rejections": {"invalid_syntax": 81, "placeholder": 9},
        "requests": {"planned": 4, "confirmed": 4, "attempts": 7, "bytes": 81_234, "fill_ratio": 0.9},
        "pace": {"began_at": "2026-01-01T00:00:06Z", "step_seconds": 1, "requests": [2, 0, 2], "attempts": [2, 0, 5],
                 "waits": [0, 0, 1],
                 "records": [400, 0, 450]},
        "earlier_paces": [{"began_at": "2026-01-01T00:00:00Z", "step_seconds": 2, "requests": [1, 1],
                           "attempts": [1, 4], "waits": [0, 2], "records": [0, 0]}],
        "reconciliation": {"records_sent": 850, "success_count": 850, "total_count": 850},
        "changes": {}, "started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:00:09Z",
        "warnings": [{"code": "invalid_syntax", "message": "81 of 990 values are lost", "remedy": "correct them"}],
        "problems": [], "notes": [],
        **changes,
    }  # fmt: skip


def test_the_numbers_are_those_of_the_report_of_a_bad_day() -> None:
    """All of them: rows, losses, kinds, requests, counts of the service; the owner sees small ones, too."""
    document = report_of_a_bad_day()
    page = PageNumbers(report_page(document))
    assert page.cells == {key: number_at(document, key) for key in page.cells}
    assert {f"rows.{name}" for name, number in document["rows"].items() if number} <= page.cells.keys()
    assert page.cells["rejections.placeholder"] == "9"
    assert page.cells["combinations.2.rows"] == "7"
    assert {key.partition(".")[0] for key in page.cells} >= {"requests", "reconciliation", "identifiers"}
    assert "sent in 2 parts" in page.text
    assert "attempts after the first (6)" in page.text
    assert "asked to wait (3)" in page.text


def test_the_headline_counts_people_once() -> None:
    """30 of the 1,000 rows are of people who are there already."""
    page = PageNumbers(report_page(report_of_a_bad_day()))
    assert "850 of 970 people reached – 87.6\u00a0%" in page.text


def test_each_cause_has_its_remedy() -> None:
    """That of a warning, or else of the rules; of the doctor before both, with the people that it saves."""
    found = {"code": "invalid_syntax", "column": "email", "count": 81, "message": "81 values", "people": 60,
             "option": "`split_cells=`", "saves": 70, "saves_people": 5, "remedy": "look"}  # fmt: skip
    doubt = {**found, "code": "typing_error", "message": "12 valid addresses with a likely typing error"}
    by_warning = PageNumbers(report_page(report_of_a_bad_day())).text
    assert "correct them" in by_warning
    assert "leave such cells blank" in by_warning
    by_doctor = PageNumbers(report_page(report_of_a_bad_day(findings=[found, doubt]))).text
    assert "saves 70 of them, and 5 people" in by_doctor
    assert "12 valid addresses with a likely typing error" in by_doctor
    assert "correct them" not in by_doctor
    shared = PageNumbers(report_page(report_of_a_bad_day(findings=[found, doubt]), SHARED)).text
    assert "saves" not in shared.replace("what saves it", "")


def test_the_change_since_the_last_run() -> None:
    """In people, and each cause as it was; of a run that sent nothing it says nothing."""
    rows = {"read": 1_000, "sent": 813, "rejected": 187, "duplicate": 0, "superseded": 0, "suppressed": 0, "pending": 0}
    last = report_of_a_bad_day(rows=rows, rejections={"invalid_syntax": 40}, started_at="2025-12-31T00:00:00Z")
    page = PageNumbers(report_page(report_of_a_bad_day(), last=last)).text
    assert "37 more2025-12-31: 813 of 1,000, 81.3\u00a0%" in page
    assert "last time 40" in page
    shared = PageNumbers(report_page(report_of_a_bad_day(), SHARED, last=last)).text
    assert "about 40 more" in shared
    assert "about 810 of about 1,000" in shared
    assert "last time" not in shared
    assert "Since the last run" not in PageNumbers(report_page(report_of_a_bad_day(state="refused"), last=last)).text


@each_case("sent", [849, 850, 851])
def test_a_shared_page_tells_no_change_of_few_people(sent: int) -> None:
    """One more, one fewer and none are the same words."""
    document = report_of_a_bad_day()
    last = report_of_a_bad_day(rows={**document["rows"], "sent": sent, "rejected": 950 - sent})
    assert "about as many people" in PageNumbers(report_page(document, SHARED, last=last)).text


def test_small_counts_are_not_on_a_shared_page() -> None:
    """A reason that nine values have may point at one person; the other ones are rounded, or would tell it."""
    text = report_page(report_of_a_bad_day(), SHARED)
    page = PageNumbers(text)
    assert not [key for key in page.cells if key.startswith(("rejections", "combinations"))]
    assert f"fewer than {FLOOR}" in page.text
    assert "about 80" in page.text
    assert "about 490" in page.text
    assert "phone number only" in page.text
    assert "0.8\u00a0%" not in page.text
    assert "Counts below 10 are hidden; totals are rounded so that they cannot be worked out." in page.text


def test_a_small_count_of_rows_rounds_the_headline() -> None:
    """Three who are lost cannot be worked out as all people without those who were reached."""
    rows = {"read": 853, "sent": 850, "rejected": 3, "duplicate": 0, "superseded": 0, "suppressed": 0, "pending": 0}
    kinds = {"email": {"present": 850, "valid": 850, "rejected": 0}}
    combined = [{"kinds": ["email"], "rows": 850}]
    few = report_of_a_bad_day(rows=rows, combinations=combined, rejections={"no_identifier": 3}, identifiers=kinds)
    shared = PageNumbers(report_page(few, SHARED))
    assert "about 850 of about 850 people reached" in shared.text
    assert not [key for key in shared.cells if key.startswith(("rows", "reconciliation"))]
    assert "850 of 853 people reached" in PageNumbers(report_page(few)).text


def test_small_counts_are_not_in_the_notes() -> None:
    """They are told as in the tables; numbers of other things stay."""
    notes = ["1 number without a country in column phone", "see option 4", "12 values are shared"]
    page = PageNumbers(report_page(report_of_a_bad_day(notes=notes), SHARED))
    assert "fewer than 10 numbers without a country" in page.text
    assert "see option 4" in page.text
    assert "12 values are shared" in page.text


def test_a_match_rate_is_shown_over_time() -> None:
    """Of each day on which the service told a size; without a sync there is no rate, and none is made up."""
    history = [
        {"seen_at": "2026-01-01T08:00:00Z", "audience_size": 1_203, "members": None, "match_rate": None},
        {"seen_at": "2026-01-02T08:00:00Z", "audience_size": 1_300, "members": 2_001, "match_rate": 0.65},
    ]
    page = PageNumbers(report_page(report_of_a_bad_day(history=history)))
    assert [page.cells[f"history.{place}.audience_size"] for place in (0, 1)] == ["1,203", "1,300"]
    assert page.cells["history.1.members"] == "2,001"
    assert page.text.index("65\u00a0%") < page.text.index("Lost, and what saves it")
    shared = PageNumbers(report_page(report_of_a_bad_day(history=history), SHARED))
    assert "about 1,200" in shared.text
    assert "2,001" not in shared.text


def test_parts_of_zeros_are_left_out() -> None:
    """A sync in which nothing changed, with nothing lost."""
    rows = dict.fromkeys(("sent", "rejected", "duplicate", "superseded", "suppressed", "pending"), 0)
    names = ("additions", "renewals", "removals", "returned")
    calm = report_of_a_bad_day(
        rows={"read": 900, **rows, "unchanged": 900}, rejections={},
        changes={**dict.fromkeys(names, 0), "members": 900},
        requests={"planned": 0, "confirmed": 0, "attempts": 0, "bytes": 0}, pace={}, earlier_paces=[],
    )  # fmt: skip
    page = PageNumbers(report_page(calm))
    assert not [key for key, text in page.cells.items() if text == "0" and not key.startswith("identifiers")]
    assert not [heading for heading in ("Lost", "Members of", "Requests") if heading in page.text]
    assert "900 of 900 people reached – 100.0\u00a0%" in page.text


def test_nothing_is_loaded_and_nothing_acts() -> None:
    """Names that others chose are text."""
    hostile = "<script>alert(1)</script>\x1b[2J"
    page = PageNumbers(report_page(report_of_a_bad_day(audience_name=hostile, source_names=[hostile], notes=[hostile])))
    assert page.loaded == []
    assert "<script>alert(1)</script>" in page.text
    assert "\x1b" not in page.text


@each_case("state", ["complete", "incomplete", "refused"])
def test_every_state_has_words(state: str) -> None:
    """Also where counts are not known, or nothing was sent."""
    unknown = report_of_a_bad_day(
        state=state, finished_at=None, pace={}, earlier_paces=[], rejections={}, identifiers={}, combinations=[],
        rows=dict.fromkeys(("read", "sent", "rejected", "duplicate", "superseded", "suppressed", "pending")),
        problems=[{"message": "too many rows are rejected", "hint": None}],
    )  # fmt: skip
    page = PageNumbers(report_page(unknown))
    assert "not known" in page.text
    assert "too many rows are rejected" in page.text


async def test_a_sync_shows_its_members_and_when_they_expire(
    emulator: Emulator, settings: Settings, tmp_path: Path
) -> None:
    """The people who came, those who went, and a column a month."""
    from audiencekit.audiences.sync.sync import expiry

    source = tmp_path / "list.csv"
    await sync_async(_list(source, 60), audience=emulator.audience_id, settings=settings)
    report = await sync_async(_list(source, 50), audience=emulator.audience_id, settings=settings, allow_shrink=1.0)
    calendar = expiry(audience=emulator.audience_id, settings=settings).to_json()
    document = report.to_json()
    page = PageNumbers(report_page(document, expiry=calendar))
    assert page.cells == {key: number_at(document, key) for key in page.cells}
    assert page.cells["changes.removals"] == "10"
    assert "50 people are in the audience" in page.text


async def test_an_upload_with_losses(emulator: Emulator, settings: Settings, tmp_path: Path) -> None:
    """No value of the list is in the page."""
    source = _list(tmp_path / "list.csv", 80, *(f"canary{number}@@example.com," for number in range(20)))
    report = await upload_async(source, audience=emulator.audience_id, settings=settings)
    text = report_page(report.to_json())
    page = PageNumbers(text)
    assert page.cells["rejections.invalid_syntax"] == "20"
    assert "canary" not in text
    assert "@example" not in text


def test_a_plan_says_what_would_be_sent(settings: Settings, tmp_path: Path) -> None:
    """And that nothing was."""
    document = check(_list(tmp_path / "list.csv", 80), settings=settings).to_json()
    page = PageNumbers(plan_page(document))
    assert page.cells["rows.pending"] == "80"
    assert "80 of 80 people ready" in page.text
    assert "Nothing was sent by this check" in page.text
    assert "rows.sent" not in page.cells


def test_a_country_that_is_not_known_is_mended_in_the_list() -> None:
    """`--country` changes nothing for such a row. Where others have none at all, both are said."""
    rejections = {"no_country": 20}
    unknown = f"12 numbers with an unknown country in column Tel: {NAME_COUNTRIES}"
    none = "8 numbers without a country in column Tel: give `country=`"
    for notes, expected in (([unknown], (True, False)), ([unknown, none], (True, True)), ([none], (False, True))):
        text = PageNumbers(report_page(report_of_a_bad_day(rejections=rejections, notes=notes))).text
        lost = text[text.index("Lost, and what saves it") : text.index("Kinds of identifiers")]
        assert (NAME_COUNTRIES in lost, "give the country of the phone numbers" in lost) == expected
