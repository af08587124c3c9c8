"""The record of an audience, against recorded answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from audiencekit.emulator.audiences.records import Audience

FIXTURES = Path(__file__).resolve().parents[3].parent / "shared" / "corpora" / "hash" / "x_sdk_response_fixtures.json"


def test_a_record_has_the_recorded_fields() -> None:
    """Every field of the recorded custom audiences but the one that was dropped (`list_type`)."""
    if not FIXTURES.exists():
        pytest.skip("the shared fixtures are not there")
    cases = json.loads(FIXTURES.read_text("utf-8"))["cases"]
    recorded = [
        record
        for case in cases
        if case["id"].endswith("custom_audiences_all")
        for record in case["body"]["data"]
        if record["audience_type"] == "CRM"
    ]
    shown = Audience("a", "b", "c", None, created_at=0.0, updated_at=0.0).document()
    assert recorded
    for record in recorded:
        assert record.keys() - {"list_type"} <= shown.keys()
        for name in ("audience_type", "targetable_types", "partner_source"):
            assert shown[name] == record[name]
