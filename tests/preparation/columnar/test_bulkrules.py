"""One table from kind to bulk rule."""

from __future__ import annotations

import pyarrow as pa
import pytest

from audiencekit.identifiers.kinds import DEFAULT_RULES, Kind
from audiencekit.preparation.columnar import bulkrules
from audiencekit.preparation.columnar.bulkrules import decide_in_bulk

# Text as people write it, and as it is normalised.
CERTAIN = {
    Kind.EMAIL: (" Anna@Larchpost.example", "anna@larchpost.example"),
    Kind.PHONE_NUMBER: ("+1 (201) 555-0123", "+12015550123"),
    Kind.DEVICE_ID: ("6D92078A-8246-4BA4-AE5B-76104861E7DC", "6d92078a-8246-4ba4-ae5b-76104861e7dc"),
    Kind.HANDLE: ("@Anna_L", "anna_l"),
    Kind.PLATFORM_ID: (" 2244994946", "2244994946"),
    Kind.PARTNER_USER_ID: ("m-7421", "m-7421"),
}


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_is_decided_by_its_own_rule(kind: Kind) -> None:
    """A plain value of it leaves nothing to the definition."""
    text, normalized = CERTAIN[kind]
    decisions = decide_in_bulk(pa.array([text]), kind, None, DEFAULT_RULES)
    assert (decisions.normalized.to_pylist(), decisions.undecided.tolist()) == ([normalized], [])


def test_a_kind_without_a_rule_is_left_to_the_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every value of it, also a blank one."""
    monkeypatch.setattr(bulkrules, "_BULK_RULES", {})
    decisions = decide_in_bulk(pa.array(["anna@larchpost.example", None]), Kind.EMAIL, None, DEFAULT_RULES)
    assert decisions.undecided.tolist() == [0, 1]
