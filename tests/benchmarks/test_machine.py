"""The machine, versions and code that a figure depends on."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import machine
from benchmarks.machine import describe_machine, list_versions


def test_the_machine_is_described_without_its_name() -> None:
    """Processor, cores, memory, system and load."""
    described = describe_machine()
    assert set(described) == {"cpu", "cores", "memory_bytes", "system", "load"}
    assert described["cores"] >= 1
    assert described["memory_bytes"] > 100_000_000


def test_versions_are_those_of_what_takes_the_time() -> None:
    """And of the code that was measured."""
    assert {"python", "audiencekit", "code", "phonenumbers", "pyarrow"} <= set(list_versions())


def test_other_code_has_another_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed line, and a moved module, count."""
    seen = []
    for name, text in [("one.py", "x = 1"), ("one.py", "x = 2"), ("two.py", "x = 2")]:
        (tmp_path / "one.py").unlink(missing_ok=True)
        (tmp_path / name).write_text(text)
        monkeypatch.setattr(machine.audiencekit, "__file__", str(tmp_path / "__init__.py"))
        seen.append(list_versions()["code"])
    assert len(set(seen)) == 3
