"""One sign for those that people cannot tell apart: whatever a text processor put for `-`, a blank or `@`."""

from __future__ import annotations

from typing import Final

from audiencekit.identifiers.unicodeforms import in_form

# Hyphens, dashes, bars and minus signs that NFKC leaves as they are. The soft hyphen is an invisible character.
_DASHES: Final = dict.fromkeys(map(ord, "‐‑‒–—―⁃−⸺⸻\u058a\u30a0"), "-")


def plain_signs(text: str) -> str:
    """`text` in NFKC, every dash as `-`: for looking at it, never for sending."""
    return text if text.isascii() else in_form("NFKC", text.translate(_DASHES)).translate(_DASHES)
