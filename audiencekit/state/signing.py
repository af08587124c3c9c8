"""The key pair by which others know a state directory. It signs exports, entries of the audit log and its heads."""

from __future__ import annotations

from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from audiencekit.state.keys import StateKey

# Names of senders that other hosts have noted are made from the key for this purpose: it stays.
_PURPOSE: Final = "forgotten sender"


def signing_key(key: StateKey) -> Ed25519PrivateKey:
    """Return the key that signs for a state directory: the same for the same state key.

    Signers put words before their message that no other has, so that no signature can be taken for another one.
    """
    return Ed25519PrivateKey.from_private_bytes(key.derive(_PURPOSE).unwrap())
