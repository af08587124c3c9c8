"""The file of a definition: all of it, or a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from audiencekit.audiences.definitionfile import read_definition
from audiencekit.errors import DefinitionRefused, InputOutputFailed
from audiencekit.limits import MAX_DEFINITION_BYTES


def test_a_file_may_be_as_large_as_the_limit(tmp_path: Path) -> None:
    """One byte more refuses it."""
    path = tmp_path / "setup.toml"
    path.write_bytes(b"#" * MAX_DEFINITION_BYTES)
    assert len(read_definition(path)) == MAX_DEFINITION_BYTES
    path.write_bytes(b"#" * (MAX_DEFINITION_BYTES + 1))
    with pytest.raises(DefinitionRefused, match="larger than 1,000,000 bytes"):
        read_definition(path)


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    """It is named, with the reason of the system."""
    with pytest.raises(InputOutputFailed, match=r"setup\.toml' cannot be read: No such file"):
        read_definition(tmp_path / "setup.toml")


def test_a_byte_order_mark_is_no_part_of_a_definition(tmp_path: Path) -> None:
    """Some editors begin a text with it."""
    (tmp_path / "setup.toml").write_bytes(b"\xef\xbb\xbf[audiences]\n")
    assert read_definition(tmp_path / "setup.toml") == b"[audiences]\n"
