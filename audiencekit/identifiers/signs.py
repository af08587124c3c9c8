"""One sign for those that people cannot tell apart: whatever a text processor put for `-`, a blank or `@`."""

from __future__ import annotations

import re
from typing import Final

from audiencekit.identifiers.unicodeforms import in_form

# Hyphens, dashes, bars and minus signs that NFKC leaves as they are. The soft hyphen is an invisible character.
_DASHES: Final = re.compile("[‐‑‒–—―⁃−⸺⸻\u058a\u30a0]")


def plain_signs(text: str) -> str:
    """`text` in NFKC, every dash as `-`: for looking at it, never for sending."""
    return text if text.isascii() else _DASHES.sub("-", in_form("NFKC", _DASHES.sub("-", text)))
