"""The address of a proxy: read, and never shown with its password."""

from __future__ import annotations

import base64

import pytest

from audiencekit.errors import UsageError
from audiencekit.machine.connections import read_proxy
from audiencekit.personal import Secret


@pytest.mark.parametrize(
    "address",
    ["http://HOST", "https://HOST:1", "HOST:3128", "http://HOST:3128/x", "http://HOST:99999", "socks5://HOST:1",
     "http://HOST@h:1", "http://a:HOST@h", "http://a:b@HOST@h:1", "http://[HOST]:1", "http://[::zz]:1", "HOST",
     "http://a:HOST\n@h:1"],
)  # fmt: skip
def test_an_address_that_is_none_is_refused_and_not_shown(address: str) -> None:
    """It may hold a password."""
    with pytest.raises(UsageError, match="AUDIENCEKIT_PROXY") as caught:
        read_proxy(Secret(address.replace("HOST", "invented-word")))
    assert "invented-word" not in f"{caught.value}{caught.value.hint}"


def test_a_proxy_shows_no_password() -> None:
    """Only its header has it."""
    proxy = read_proxy(Secret("http://ann:invented%3Aword@proxy.example.com:3128/"))
    assert "invented" not in repr(proxy) + str(proxy.url)
    sent = proxy.headers["Proxy-Authorization"].removeprefix("Basic ")
    assert base64.b64decode(sent) == b"ann:invented:word"
    assert read_proxy(Secret("http://[::1]:3128")).headers == {}
