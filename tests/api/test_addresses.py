"""The addresses of the service by name, of the profile or given, and each of them checked."""

from __future__ import annotations

import pytest

from audiencekit.api.addresses import ServiceAddresses
from audiencekit.errors import HostRefused, UsageError
from audiencekit.profile import SPEC, X

LOOPBACK = "http://127.0.0.1:9"


@pytest.mark.parametrize("address", ["https://evil.example.net", "http://ads.example.com", "http://user@127.0.0.1:1"])
def test_hosts_are_checked_at_once(address: str) -> None:
    """Before anything could be sent to a host that credentials do not go to."""
    with pytest.raises(HostRefused):
        ServiceAddresses(SPEC, {"ads_url": address})


def test_an_address_without_a_name_is_checked_when_it_is_asked_for() -> None:
    """One of loopback must be known before."""
    addresses = ServiceAddresses(SPEC, {"ads_url": LOOPBACK})
    assert addresses.find(LOOPBACK).prefix == LOOPBACK
    for other in ("https://evil.example.net", "http://127.0.0.1:10"):
        with pytest.raises(HostRefused):
            addresses.find(other)


def test_named_ones_stand_for_the_given_ones() -> None:
    """A file may give an address; only the environment names one of loopback."""
    with pytest.raises(HostRefused):
        ServiceAddresses(SPEC, {"ads_url": LOOPBACK}, named=frozenset())


def test_a_missing_address_is_named() -> None:
    """With the setting that gives it."""
    with pytest.raises(UsageError) as caught:
        ServiceAddresses(SPEC).find("ads_url")
    assert caught.value.hint == "set AUDIENCEKIT_ADS_URL"


def test_the_profile_gives_the_addresses() -> None:
    """The public service's own are there without settings, and a given one takes precedence."""
    addresses = ServiceAddresses(X, {"base_url": LOOPBACK})
    assert addresses.find("ads_url").prefix == "https://ads-api.x.com"
    assert addresses.find("base_url").prefix == LOOPBACK
    assert addresses.has_tls
    assert not ServiceAddresses(SPEC, {"ads_url": LOOPBACK}).has_tls
