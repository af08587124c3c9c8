"""Writes all that is generated."""

from __future__ import annotations

from audiencekit.conformance import vectors
from audiencekit.records.phones import tables
from generators.files import FILES, ROOT
from generators.numberingplans import compiled_plans
from generators.vectors import compressed_vectors

for path, write in FILES.items():
    (ROOT / path).write_text(write(), encoding="utf-8")

(ROOT / tables.__file__).with_name(tables.SUPPLIED).write_bytes(compiled_plans())
(ROOT / vectors.__file__).with_name(vectors.FILE).write_bytes(compressed_vectors())
