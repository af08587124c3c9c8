"""The addresses of the service by name, of the profile or given, and each of them checked."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from audiencekit.api.hosts import ServiceAddresses, check_address
from audiencekit.errors import HostRefused, UsageError
from audiencekit.profile import SPEC, X
from tests.cases import each_case

# --- The addresses of the service by name, of the profile or given, and each of them checked ---

LOOPBACK = "http://127.0.0.1:9"


@each_case("address", ["https://evil.example.net", "http://ads.example.com", "http://user@127.0.0.1:1"])
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


# --- Where credentials go, and where they never go ---

ALLOWED = frozenset({"ads.example.com", "Gate.Example.org:8443", "10.1.2.3", "[2001:db8::7]:9000", "2001:db8::8"})

ACCEPTED = [
    # (address, scheme, host, port, path)
    ("https://ads-api.x.com", "https", "ads-api.x.com", 443, ""),
    ("https://ads-api.x.com/", "https", "ads-api.x.com", 443, ""),
    ("HTTPS://ADS-API.X.COM", "https", "ads-api.x.com", 443, ""),
    ("https://ads-api.x.com:443", "https", "ads-api.x.com", 443, ""),
    ("https://ads-api-sandbox.x.com", "https", "ads-api-sandbox.x.com", 443, ""),
    ("https://api.x.com", "https", "api.x.com", 443, ""),
    ("http://127.0.0.1:8080", "http", "127.0.0.1", 8080, ""),
    ("http://127.0.0.1", "http", "127.0.0.1", 80, ""),
    ("http://127.255.255.254:1", "http", "127.255.255.254", 1, ""),
    ("http://[::1]:8080", "http", "::1", 8080, ""),
    ("http://localhost:65535/", "http", "localhost", 65535, ""),
    ("http://LocalHost:5000", "http", "localhost", 5000, ""),
    ("https://localhost", "https", "localhost", 443, ""),
    ("http://127.0.0.1:8080/ads/v1.2/", "http", "127.0.0.1", 8080, "/ads/v1.2"),
    ("https://ads.example.com", "https", "ads.example.com", 443, ""),
    ("https://ads.example.com:8443/base", "https", "ads.example.com", 8443, "/base"),
    ("https://gate.example.org:8443", "https", "gate.example.org", 8443, ""),
    ("https://10.1.2.3", "https", "10.1.2.3", 443, ""),
    ("https://[2001:db8::7]:9000", "https", "2001:db8::7", 9000, ""),
    ("https://[2001:db8::8]", "https", "2001:db8::8", 443, ""),
]

REFUSED = {
    "foreign host": "https://evil.example.net",
    "own name as a label of another": "https://ads-api.x.com.evil.example.net",
    "own name at the end of another": "https://evil-ads-api.x.com",
    "a subdomain of an own host": "https://deep.ads-api.x.com",
    "the parent of an own host": "https://x.com",
    "an allowed name as a label": "https://ads.example.com.evil.example.net",
    "a subdomain of an allowed host": "https://deep.ads.example.com",
    "an allowed host on another port": "https://gate.example.org:8444",
    "an allowed host on the default port": "https://gate.example.org",
    "an own host on another port": "https://ads-api.x.com:8443",
    "an own host on port 80": "https://ads-api.x.com:80",
    "plain http to an own host": "http://ads-api.x.com",
    "plain http on the TLS port": "http://ads-api.x.com:443",
    "plain http to an allowed host": "http://ads.example.com",
    "trailing dot": "https://ads-api.x.com.",
    "two dots": "https://ads-api..x.com",
    "leading dot": "https://.ads-api.x.com",
    "trailing dot on loopback": "http://localhost.:8080",
    "localhost as a label": "http://localhost.evil.example.net",
    "a name under localhost": "http://ads.localhost:8080",
    "loopback as a label": "http://127.0.0.1.evil.example.net",
    "user before an own host": "https://user@ads-api.x.com",
    "password before an own host": "https://user:secret@ads-api.x.com",
    "own host as user": "https://ads-api.x.com@evil.example.net",
    "own host as user and password": "https://ads-api.x.com:443@evil.example.net",
    "empty user": "https://@ads-api.x.com",
    "escaped at sign": "https://ads-api.x.com%40evil.example.net",
    "backslash": "https://evil.example.net\\@ads-api.x.com",
    "backslash as slash": "https:\\\\ads-api.x.com",
    "backslash behind the host": "https://ads-api.x.com\\.evil.example.net",
    "leading space": " https://ads-api.x.com",
    "trailing space": "https://ads-api.x.com ",
    "space in the host": "https://ads-api .x.com",
    "tab in the host": "https://ads-api\t.x.com",
    "newline at the end": "https://ads-api.x.com\n",
    "newline in the host": "https://ads-api.x.com\r\nHost: evil.example.net",
    "NUL": "https://ads-api.x.com\0.evil.example.net",
    "Cyrillic look-alike": "https://ads-api.х.com",
    "punycode look-alike": "https://ads-api.xn--80ak6aa92e.com",
    "full-width letters": "https://ads-api.\uff58.com",
    "ideographic full stop": "https://ads-api。x。com",
    "dotless i": "https://ads-apı.x.com",
    "Kelvin sign in localhost": "http://loca\u212ahost",
    "circled digits": "http://①②⑦.0.0.1",
    "loopback as one number": "http://2130706433",
    "loopback as hexadecimal": "http://0x7f000001",
    "loopback as hexadecimal parts": "http://0x7f.0.0.1",
    "loopback with a hexadecimal end": "http://127.0.0.0x1",
    "loopback shortened to two": "http://127.1",
    "loopback shortened to three": "http://127.0.1",
    "loopback with leading zeros": "http://127.0.0.01",
    "loopback as octal": "http://0177.0.0.1",
    "any address": "http://0.0.0.0:8080",
    "any address, short": "http://0",
    "any address of IPv6": "http://[::]:8080",
    "loopback with all zeros": "http://[0:0:0:0:0:0:0:1]:8080",
    "loopback with leading zeros in IPv6": "http://[::0001]",
    "loopback mapped into IPv6": "http://[::ffff:127.0.0.1]",
    "loopback mapped in hexadecimal": "http://[::ffff:7f00:1]",
    "zone": "http://[::1%25lo]:8080",
    "IPv6 without brackets": "http://::1:8080",
    "IPv4 in brackets": "http://[127.0.0.1]",
    "unclosed bracket": "http://[::1",
    "name in brackets": "http://[localhost]",
    "link-local, the metadata service": "http://169.254.169.254",
    "private network": "https://10.1.2.4",
    "too many parts": "http://127.0.0.1.1",
    "part above 255": "http://127.0.0.256",
    "two ports": "https://ads-api.x.com:443:80",
    "port with a sign": "https://ads-api.x.com:+443",
    "port zero": "http://127.0.0.1:0",
    "empty port": "http://127.0.0.1:",
    "port above 65535": "http://127.0.0.1:65536",
    "port with letters": "http://127.0.0.1:80a",
    "port with leading zeros": "https://ads-api.x.com:0443",
    "port in Arabic digits": "http://127.0.0.1:٨٠",
    "query": "https://ads-api.x.com?host=evil.example.net",
    "fragment": "https://ads-api.x.com#@evil.example.net",
    "path that climbs": "https://ads-api.x.com/../evil",
    "path with an empty part": "https://ads-api.x.com//evil.example.net",
    "escaped path": "https://ads-api.x.com/%2e%2e/evil",
    "no scheme": "ads-api.x.com",
    "scheme-relative": "//ads-api.x.com",
    "one slash": "https:/ads-api.x.com",
    "three slashes": "https:///ads-api.x.com",
    "no host": "https://",
    "file": "file:///etc/passwd",
    "ftp": "ftp://ads-api.x.com",
    "websocket": "wss://ads-api.x.com",
    "unix socket": "http+unix://ads-api.x.com",
    "javascript": "javascript:alert(1)",
    "empty": "",
    "label that begins with a hyphen": "https://-ads.example.com",
    "label of 64 characters": f"https://{'a' * 64}.example.com",
}  # fmt: skip


@each_case("url, scheme, host, port, path", ACCEPTED)
def test_accepted(url: str, scheme: str, host: str, port: int, path: str) -> None:
    """Own hosts, allowed hosts and loopback that is named pass, in one canonical form."""
    address = check_address(url, profile=X, allowed_hosts=ALLOWED, named=frozenset({url}))
    assert (address.scheme, address.host, address.port, address.path) == (scheme, host, port, path)


@each_case("url", REFUSED.values())
def test_refused(url: str) -> None:
    """Every other address is refused, with nothing of it in the message but a plain host name."""
    with pytest.raises(HostRefused) as caught:
        check_address(url, profile=X, allowed_hosts=ALLOWED)
    assert "secret" not in str(caught.value)


@each_case("url", ["https://ads-api.x.com", "https://ads.example.com", "https://evil.example.net"])
def test_the_specification_has_no_hosts_of_its_own(url: str) -> None:
    """Under the profile without addresses only allowed hosts and loopback pass: for others a name is not enough."""
    with pytest.raises(HostRefused, match="profile spec"):
        check_address(url, profile=SPEC, allowed_hosts=frozenset(), named=frozenset({url}))


@each_case(
    "url, allowed, named",
    [
        ("http://localhost:22", "", ""),
        ("https://localhost", "", ""),
        ("http://127.0.0.1:8080", "127.0.0.1", ""),  # a host alone is every port
        ("http://127.0.0.1:8080", "127.0.0.1:8081", "http://127.0.0.1:8081"),
        ("http://127.0.0.1:8080", "localhost:8080", "http://localhost:8080"),
        ("http://127.0.0.1", "", "http://127.0.0.1:8080"),
        ("http://[::1]:8080", "[::1]:8081", "http://127.0.0.1:8080"),
    ],
)
def test_loopback_that_is_not_named_is_refused(url: str, allowed: str, named: str) -> None:
    """Any user of the machine can listen there: host and port must be the very ones."""
    with pytest.raises(HostRefused, match="of this machine"):
        check_address(url, profile=X, allowed_hosts=frozenset(allowed.split()), named=frozenset(filter(None, [named])))


@each_case(
    "url, allowed, named",
    [
        ("http://127.0.0.1:8080", "127.0.0.1:8080", ""),
        ("http://[::1]:8080", "[::1]:8080", ""),
        ("http://localhost", "LocalHost:80", ""),
        ("http://127.0.0.1:8080/ads", "", "http://127.0.0.1:8080"),
    ],
)
def test_loopback_that_is_named_is_taken(url: str, allowed: str, named: str) -> None:
    """As an address, or as host and port."""
    hosts, names = frozenset(allowed.split()), frozenset(filter(None, [named]))
    assert check_address(url, profile=SPEC, allowed_hosts=hosts, named=names).is_loopback


@each_case(
    "url, prefix",
    [
        ("https://ads-api.x.com:443/", "https://ads-api.x.com"),
        ("http://[::1]:8080/ads/", "http://[::1]:8080/ads"),
        ("http://127.0.0.1:80", "http://127.0.0.1"),
        ("https://localhost:80/a/b", "https://localhost:80/a/b"),
    ],
)
def test_prefix(url: str, prefix: str) -> None:
    """The canonical address has no default port and no slash at its end."""
    assert check_address(url, profile=X, allowed_hosts=frozenset(), named=frozenset({url})).prefix == prefix


OWN = {"ads-api.x.com", "ads-api-sandbox.x.com", "api.x.com"}


@given(st.text(max_size=40))
def test_rubbish_is_refused(text: str) -> None:
    """No text at all makes anything but an Address or HostRefused."""
    for url in (text, f"https://{text}", f"http://127.0.0.1{text}", f"https://ads-api.x.com{text}"):
        try:
            address = check_address(url, profile=X, allowed_hosts=frozenset(), named=frozenset({url}))
        except HostRefused:
            continue
        assert address.is_loopback or address.host in OWN
