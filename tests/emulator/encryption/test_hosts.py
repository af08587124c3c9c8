"""Options of https: hosts by name or address."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audiencekit.emulator import EmulatorOptions


@pytest.mark.parametrize("host", ["ads-api.example.com", "localhost", "a", "192.0.2.7", "::1", "xn--bcher-kva.example"])
def test_a_host_is_a_name_or_an_address(host: str) -> None:
    """Of version 4 or 6."""
    assert EmulatorOptions(tls=True, hosts=(host,)).hosts == (host,)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "*.example.com",
        "https://example.com",
        "example.com:443",
        "Example.com",
        "-a.example",
        "a..b",
        "bücher.example",
        "a" * 64,
        "a.example\n",
    ],
)
def test_another_text_is_no_host(host: str) -> None:
    """The message shows what one looks like."""
    with pytest.raises(ValueError, match=r"such as ads-api\.example\.com"):
        EmulatorOptions(tls=True, hosts=(host,))


@pytest.mark.parametrize("settings", [{"hosts": ("a.example",)}, {"authority": Path("here")}])
def test_without_tls_they_mean_nothing(settings: dict[str, Any]) -> None:
    """So they are refused."""
    with pytest.raises(ValueError, match="need tls"):
        EmulatorOptions(**settings)
