"""The authority: kept, made anew, and limited to the hosts that were named."""

from __future__ import annotations

import ssl
import stat
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509

from audiencekit.emulator.encryption import authority as module
from audiencekit.emulator.encryption.authority import CERTIFICATE_FILE, KEY_FILE, VALID_DAYS, Encryption
from audiencekit.emulator.encryption.certificates import make_context, make_holder, sign_server, today
from audiencekit.emulator.encryption.hosts import AuthorityError

HOSTS = ("ads-api.example.com", "192.0.2.7")


def shake_hands(server: ssl.SSLContext, authority: Path, host: str) -> x509.Certificate:
    """The certificate that a client is shown which trusts `authority` and calls `host`. Raises ssl.SSLError."""
    context = ssl.create_default_context(cafile=str(authority))
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(to_client, to_server, server_hostname=host)
    serving = server.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(4):
        for end in (client, serving):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return x509.load_der_x509_certificate(client.getpeercert(binary_form=True) or b"")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1", *HOSTS])
def test_a_client_believes_every_name(host: str) -> None:
    """Those that were named, and loopback always."""
    encryption = Encryption(HOSTS, None)
    try:
        shown = shake_hands(encryption.context, encryption.authority, host)
    finally:
        encryption.close()
    assert shown.not_valid_after_utc - today() < timedelta(days=VALID_DAYS)
    assert not encryption.authority.exists()


def test_other_names_are_not_believed() -> None:
    """Neither by the server's certificate, nor by any that the authority could sign."""
    encryption = Encryption(HOSTS, None)
    try:
        with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
            shake_hands(encryption.context, encryption.authority, "api.example.com")
    finally:
        encryption.close()


def test_a_lost_key_opens_nothing_else(tmp_path: Path) -> None:
    """A certificate for a bank, signed with it, is refused."""
    encryption = Encryption(HOSTS, tmp_path)
    found = module._read(tmp_path, ("localhost",))
    assert found is not None
    server, now = make_holder("bank"), today()
    # A day earlier: OpenSSL reads a coarser clock, which may still stand in the second before `now`.
    forged = sign_server(server, found.holder, ("bank.example.org",), now - timedelta(days=1), now + timedelta(days=1))
    with pytest.raises(ssl.SSLCertVerificationError, match="permitted subtree violation"):
        shake_hands(make_context(forged, server.key), encryption.authority, "bank.example.org")


def test_a_kept_authority_is_trusted_once(tmp_path: Path) -> None:
    """Its key is for the owner alone; a second start shows another certificate of the same authority."""
    place = tmp_path / "new" / "authority"
    first = Encryption(HOSTS, place)
    assert {each.name: stat.S_IMODE(each.stat().st_mode) for each in place.iterdir()} == {
        CERTIFICATE_FILE: 0o644,
        KEY_FILE: 0o600,
    }
    before = (place / CERTIFICATE_FILE).read_bytes()
    second = Encryption(HOSTS[:1], place)
    second.close()
    assert (place / CERTIFICATE_FILE).read_bytes() == before
    shown = [shake_hands(each.context, place / CERTIFICATE_FILE, HOSTS[0]) for each in (first, second)]
    assert shown[0].serial_number != shown[1].serial_number


def test_an_authority_that_is_no_longer_good_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For other hosts, near its end, or where its key is lost or another's."""
    Encryption(HOSTS, tmp_path)
    seen = {(tmp_path / CERTIFICATE_FILE).read_bytes()}

    def is_new() -> bool:
        Encryption((*HOSTS, "more.example.com"), tmp_path)
        content = (tmp_path / CERTIFICATE_FILE).read_bytes()
        before = len(seen)
        seen.add(content)
        return len(seen) > before

    assert is_new()
    assert not is_new()
    later = today() + timedelta(days=VALID_DAYS - 6)
    with monkeypatch.context() as patch:
        patch.setattr(module, "today", lambda: later)
        assert is_new()
    (tmp_path / KEY_FILE).unlink()
    assert is_new()
    Encryption(HOSTS, tmp_path / "other")
    (tmp_path / "other" / KEY_FILE).replace(tmp_path / KEY_FILE)
    assert is_new()


@pytest.mark.parametrize("name", [CERTIFICATE_FILE, KEY_FILE])
def test_files_of_others_are_left_alone(tmp_path: Path, name: str) -> None:
    """They are not an emulator's to overwrite."""
    Encryption(HOSTS, tmp_path)
    (tmp_path / name).write_text("notes")
    with pytest.raises(AuthorityError, match="not an emulator's"):
        Encryption(HOSTS, tmp_path)
    assert (tmp_path / name).read_text() == "notes"


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """With the reason of the system."""
    (tmp_path / "file").write_text("")
    with pytest.raises(AuthorityError, match=r"the authority cannot be kept in .*file/directory': Not a directory"):
        Encryption(HOSTS, tmp_path / "file" / "directory")
