"""Signatures against another library, and the figure that is written of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import signing
from benchmarks.signing import BEGIN, END, is_verified, main, sign_random, verify_many


def test_a_request_is_made_again_from_its_number() -> None:
    """And another number makes another one."""
    assert sign_random(1, 7) == sign_random(1, 7)
    assert sign_random(1, 7) != sign_random(1, 8)


@pytest.mark.parametrize("change", ["method", "url", "parameters", "client_secret", "header"])
def test_the_other_library_notices_each_change(change: str) -> None:
    """So that 0 differences say something."""
    request = sign_random(1, 1)
    assert is_verified(request)
    others = {
        "method": "PATCH",
        "url": request.url + "/x",
        "parameters": (*request.parameters, ("a", "1")),
        "client_secret": "x",
        "header": request.header.replace('oauth_timestamp="', 'oauth_timestamp="1'),
    }
    assert not is_verified(replace(request, **{change: others[change]}))


def test_a_signature_that_differs_is_named_by_its_number(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """And fails the run, with the figure in the file all the same."""
    monkeypatch.setattr(signing, "is_verified", lambda request, **other: bool(other))
    assert verify_many(3).differing == (0, 1, 2)
    page = tmp_path / "RESULTS.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    assert main(["--count", "3", "--out", str(page)]) == 1
    assert "3 differences" in page.read_text()
