"""Single values, at the door of the library."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest

import audiencekit
from audiencekit.errors import IdentifierRejected, UsageError
from tests.cases import each_case


@each_case(
    "kind, text, country, expected",
    [
        ("email", " Ada@Example.COM ", None, "ada@example.com"),
        ("phone_number", "020 7946 0958", "United Kingdom", "+442079460958"),
        ("handle", "@Jack", None, "jack"),
        ("platform_id", "143567", None, "143567"),
    ],
)
def test_values_are_normalised_and_hashed(kind: str, text: str, country: str | None, expected: str) -> None:
    """The hash is that of the normalised text."""
    assert audiencekit.normalize(kind, text, country=country) == expected
    assert audiencekit.hash_identifier(kind, text, country=country) == hashlib.sha256(expected.encode()).hexdigest()


def test_a_rejected_value_is_a_value_error_with_its_reason() -> None:
    """The message names kind and reason, never the value."""
    for function in (audiencekit.normalize, audiencekit.hash_identifier):
        with pytest.raises(ValueError, match="email was rejected: invalid_syntax") as caught:
            function("email", "ada at example")
        assert isinstance(caught.value, IdentifierRejected)
        assert caught.value.reason == "invalid_syntax"


def test_an_unknown_kind_or_country_is_a_usage_error() -> None:
    """Unknown kinds and countries, and the kind that is never hashed."""
    with pytest.raises(UsageError, match="no kind"):
        audiencekit.normalize("e-mail", "ada@example.com")
    with pytest.raises(UsageError, match="country"):
        audiencekit.normalize("phone_number", "1", country="Atlantis")
    with pytest.raises(UsageError, match="unhashed"):
        audiencekit.hash_identifier("partner_user_id", "Crm-1")


@pytest.mark.parametrize("function", [audiencekit.normalize, audiencekit.hash_identifier])
def test_a_value_in_the_place_of_its_kind_is_not_shown(function: Callable[..., str]) -> None:
    """The two are easily taken one for the other."""
    with pytest.raises(UsageError) as caught:
        function("ada@larchpost.example", "email")
    assert "larchpost" not in str(caught.value) + caught.value.hint
    assert "choose one of: email" in caught.value.hint
