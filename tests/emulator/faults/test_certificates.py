"""Certificates of the https address."""

from __future__ import annotations

import ssl

from cryptography import x509

from audiencekit.emulator.encryption import make_certificates


def test_each_kind_has_a_context_and_the_authority_is_one() -> None:
    """Made afresh each time: nothing that could be trusted by mistake lies about."""
    made, again = make_certificates(), make_certificates()
    assert set(made.contexts) == {"good", "expired", "wrong_host", "self_signed"}
    assert all(isinstance(context, ssl.SSLContext) for context in made.contexts.values())
    authority = x509.load_pem_x509_certificate(made.authority.encode())
    assert authority.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert made.authority != again.authority
    assert "PRIVATE" not in made.authority
