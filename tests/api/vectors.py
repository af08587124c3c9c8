"""Public vectors of the shared corpora."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases import each_case

CORPORA = Path(__file__).resolve().parents[2].parent / "shared" / "corpora"


def each_vector(path: Path, kind: str) -> Any:
    """Call the test with every `case` of a kind in one file; without the file it is skipped."""
    if not path.exists():
        return pytest.mark.skip(reason="no shared corpora here")
    cases = json.loads(path.read_text())["cases"]
    return each_case("case", [case for case in cases if case["kind"] == kind])
