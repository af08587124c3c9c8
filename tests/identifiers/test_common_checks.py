"""The questions that come before the rule of any kind."""

from audiencekit.identifiers.common_checks import refuse_at_once
from audiencekit.identifiers.kinds import Reason
from tests.cases import each_case


@each_case(
    "trimmed, expected",
    [
        ("", Reason.EMPTY),
        ("N/A", Reason.PLACEHOLDER),
        ("null", Reason.PLACEHOLDER),
        ("0a" * 32, Reason.ALREADY_HASHED),
        ("0A" * 32, Reason.ALREADY_HASHED),
        ("ada\u200b@example.com", Reason.INVISIBLE_CHARACTER),
        ("ada\0@example.com", Reason.INVISIBLE_CHARACTER),
        ("ada@example.com", None),
        ("0a" * 31, None),
    ],
)
def test_the_first_reason_decides(trimmed: str, expected: Reason | None) -> None:
    """Nothing else is looked at once a value is of no kind."""
    assert refuse_at_once(trimmed) == expected
