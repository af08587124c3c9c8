"""Receipts as people and programs read them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from audiencekit.audiences.erasure.receipt import (
    NO_AUDIENCE,
    NO_READ_BACK,
    Receipt,
    ReceiptState,
    Skipped,
    TargetReceipt,
    counted,
)

RECEIPT = Receipt(
    erasure_id="forget-20261121-120000-abcdef00", account_id="18ce54d4x5t", profile="spec",
    started_at="2026-11-21T12:00:00Z", asked=2, identifiers={"email": 2}, forms={"email": 2, "handle": 1},
    rejected={"no_country": 1}, remembered=True, do_not_reach_until="2027-12-20T12:00:00Z", fingerprint="secret",
    audiences=[
        TargetReceipt(
            id="1a", name="VIP", state="confirmed", requests=1, records=3, confirmed_at="2026-11-21T12:00:09Z"
        ),
        TargetReceipt(id="1b", name="Newsletter", state="busy", why="run 2026 is at work"),
    ],
    skipped=[Skipped(id="1c", name="Both", why="it follows others")],
    do_not_reach=TargetReceipt(id="9z", name="do-not-reach list"),
)  # fmt: skip


def test_programs_get_everything_but_the_fingerprint() -> None:
    """And notes in words."""
    document = RECEIPT.to_json()
    assert "fingerprint" not in document
    assert NO_READ_BACK in document["notes"]
    assert Receipt.from_json(document) == Receipt.from_json({**RECEIPT.to_kept(), "fingerprint": ""})


@pytest.mark.parametrize(("state", "expected"), [("incomplete", ()), ("complete", (NO_AUDIENCE,))])
def test_only_a_whole_listing_shows_that_there_is_no_audience(state: ReceiptState, expected: tuple[str, ...]) -> None:
    """An erasure that ended before the listing does not know it."""
    assert replace(RECEIPT, audiences=[], state=state).notes == expected


def test_people_get_a_line_for_each_audience() -> None:
    """Each line says whether the audience was confirmed, failed or left out, and why."""
    text = RECEIPT.to_text()
    for part in (
        "erasure forget-20261121-120000-abcdef00: incomplete",
        "2 identifiers: email 2",
        "3 forms tried: email 2, handle 1",
        "left out    no_country 1",
        "1 of 2 settled",
        "1a  confirmed  'VIP': 3 records in 1 request, 2026-11-21T12:00:09Z",
        "1b  busy       'Newsletter': run 2026 is at work",
        "1c  skipped    'Both': it follows others",
        "do not reach until 2027-12-20T12:00:00Z",
        "9z  pending    'do-not-reach list'",
        "remembered",
    ):
        assert part in text
    assert "secret" not in text


@pytest.mark.parametrize(
    ("state", "settled"), [("confirmed", True), ("gone", True), ("busy", False), ("refused", False)]
)
def test_confirmed_and_gone_are_settled(state: str, settled: bool) -> None:
    """Everything else is left to be done."""
    assert TargetReceipt(id="1a", name="", state=state).is_settled is settled  # type: ignore[arg-type]
    assert [one.id for one in RECEIPT.left()] == ["1b", "9z"]


def test_one_is_not_many() -> None:
    """In words."""
    assert (counted(1, "audience"), counted(1_200, "audience")) == ("1 audience", "1,200 audiences")
