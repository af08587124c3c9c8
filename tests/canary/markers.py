"""Markers to search for: a word and digits that occur only in them, as code may spell them, and their hashes."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping

WORD = "canary7q3zx"
DIGITS = "5550147"
HEX = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])", re.IGNORECASE)


def _forms(marker: str) -> dict[str, bytes]:
    raw = marker.encode()
    forms = {
        "raw": raw,
        "upper": marker.upper().encode(),
        "reversed": raw[::-1],
        "hex": raw.hex().encode(),
        "utf-16": marker.encode("utf-16-le"),
        "percent": "".join(f"%{byte:02X}" for byte in raw).encode(),
        "quoted-printable": "".join(f"={byte:02X}" for byte in raw).encode(),
        "json": "".join(f"\\u{ord(character):04x}" for character in marker).encode(),
    }
    for offset in range(3):
        # All letters that come from the marker alone: of fewer, chance makes some in any file of digests.
        encoded = base64.b64encode(b"\0" * offset + raw)
        forms[f"base64+{offset}"] = encoded[-(-8 * offset // 6) : 8 * (offset + len(raw)) // 6]
    return forms


FORMS = {f"{marker} as {name}": form for marker in (WORD, DIGITS) for name, form in _forms(marker).items()}


def leaks(content: bytes, *, hashes_allowed: bool = False) -> list[str]:
    """The names of the forms that are in `content`."""
    found = [name for name, form in FORMS.items() if form in content]
    if not hashes_allowed and HEX.search(content):
        found.append("a SHA-256 in hex")
    return found


def leaks_by_place(shown: Mapping[str, bytes]) -> dict[str, list[str]]:
    """Where something was found, and what; empty when nothing was."""
    return {place: found for place, content in shown.items() if (found := leaks(content))}
