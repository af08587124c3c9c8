"""The machine, versions and code that a figure depends on."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import machine
from benchmarks.machine import list_versions


def test_other_code_has_another_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed line, and a moved module, count."""
    seen = []
    for name, text in [("one.py", "x = 1"), ("one.py", "x = 2"), ("two.py", "x = 2")]:
        (tmp_path / "one.py").unlink(missing_ok=True)
        (tmp_path / name).write_text(text)
        monkeypatch.setattr(machine.audiencekit, "__file__", str(tmp_path / "__init__.py"))
        seen.append(list_versions()["code"])
    assert len(set(seen)) == 3
