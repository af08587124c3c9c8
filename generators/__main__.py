"""Writes all that is generated."""

from __future__ import annotations

import pathlib

from generators.numberingplans import compiled_plans

# First: the plans say from which text their metadata are read, and the others read metadata.
PLANS = compiled_plans()

from audiencekit.conformance import vectors  # noqa: E402
from audiencekit.records.phones import tables  # noqa: E402
from generators.files import FILES, ROOT  # noqa: E402
from generators.vectors import compressed_vectors  # noqa: E402

for path, write in FILES.items():
    (ROOT / path).write_text(write(), encoding="utf-8")

pathlib.Path(tables.__file__).with_name(tables.SUPPLIED).write_bytes(PLANS)
pathlib.Path(vectors.__file__).with_name(vectors.FILE).write_bytes(compressed_vectors())
