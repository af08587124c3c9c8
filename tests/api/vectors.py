"""Public vectors of the shared corpora."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

CORPORA = Path(__file__).resolve().parents[2].parent / "shared" / "corpora"


def vectors(path: Path, kind: str) -> list[Any]:
    """Parameters of a test: the cases of a kind in one file; without the file one that is skipped."""
    if not path.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason="no shared corpora here"))]
    cases = json.loads(path.read_text())["cases"]
    return [pytest.param(case, id=case["id"]) for case in cases if case["kind"] == kind]
