"""The proofs of both sides: that an event is the emulator's, and that a receiver has the secret of the application.

Delivery security is not shown (specification part 0, section 6): these are the public service's.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Final

SIGNATURE_HEADER: Final = "x-twitter-webhooks-signature"


def sign(secret: str, content: bytes) -> str:
    """HMAC-SHA256 of a body under the secret of the application, as the header and the proof have it."""
    digest = hmac.new(secret.encode(), content, hashlib.sha256).digest()
    return "sha256=" + base64.b64encode(digest).decode()


def is_proof(secret: str, crc_token: str, answer: object) -> bool:
    """Return whether the answer to a challenge shows the secret: `{"response_token": "sha256=…"}`."""
    given = answer.get("response_token") if isinstance(answer, dict) else None
    return isinstance(given, str) and hmac.compare_digest(given.encode(), sign(secret, crc_token.encode()).encode())
