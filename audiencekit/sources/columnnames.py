"""How names of columns are compared."""

from __future__ import annotations

from audiencekit.identifiers.unicodeforms import in_form


def compare_key(name: str) -> str:
    """`name` as names are compared: case-folded, trimmed, one space for many, without byte order mark."""
    return " ".join(in_form("NFC", name.replace("\ufeff", "")).casefold().split())
