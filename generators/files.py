"""The files that are generated, and what writes each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from generators.endpointcalls import write_stub
from generators.pythonpages import page_files
from generators.sbom import write_sbom
from generators.schedules import schedule_files

ROOT: Final = Path(__file__).resolve().parents[1]
FILES: Final[Mapping[str, Callable[[], str]]] = {
    **page_files(),
    **schedule_files(),
    "audiencekit/api/endpointcalls.pyi": write_stub,
    "audiencekit.cdx.json": write_sbom,
    "docs/events.schema.json": (ROOT / "audiencekit/runs/events.schema.json").read_text,
}
