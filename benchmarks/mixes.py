"""The contact lists that are measured, by name."""

from __future__ import annotations

from typing import Final

CONTACTS: Final = "contacts"  # of contacts.py: a plain list
EXPORTS: Final = "exports"  # of exports.py: every spelling of every region
MIXES: Final = (CONTACTS, EXPORTS)
