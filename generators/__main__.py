"""Writes all that is generated."""

from __future__ import annotations

from generators.files import FILES, ROOT

for path, write in FILES.items():
    (ROOT / path).write_text(write(), encoding="utf-8")
