"""The contact lists that are measured, by name."""

from __future__ import annotations

from typing import Final

CONTACTS: Final = "contacts"  # of contacts.py: a plain list
EXPORTS: Final = "exports"  # of exports.py: every region, and the spellings that its aims were set for
EVERY_SPELLING: Final = "every-spelling"  # the same, and all spellings that were found since
MIXES: Final = (CONTACTS, EXPORTS, EVERY_SPELLING)
