"""Writes all that is generated."""

from __future__ import annotations

from audiencekit.preparation.columnar.phones import compiledplans
from generators.files import FILES, ROOT
from generators.numberingplans import compiled_plans

for path, write in FILES.items():
    (ROOT / path).write_text(write(), encoding="utf-8")

(ROOT / compiledplans.__file__).with_name(compiledplans.SUPPLIED).write_bytes(compiled_plans())
