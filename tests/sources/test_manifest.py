"""The manifest of a prepared directory: which files of that name are ours, and what proves a part."""

from __future__ import annotations

import hashlib
import io
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from audiencekit.errors import SourceRefused
from audiencekit.sources.bytes.files import RegularFile
from audiencekit.sources.manifest import NamedPart, ProvenFile, read_manifest
from tests.cases import each_case

CONTENT = b"PAR1 invented"
ENTRY: dict[str, Any] = {"name": "part-0.parquet", "bytes": 13, "sha256": hashlib.sha256(CONTENT).hexdigest()}


def _manifest(**changes: Any) -> bytes:
    return json.dumps({"format": "audiencekit-spark/1", "parts": [ENTRY], **changes}).encode()


def test_an_entry_is_name_size_and_digest() -> None:
    """As `sha256sum` gives it; what is written is what is read."""
    part = NamedPart.of("part-0.parquet", io.BytesIO(CONTENT))
    assert part.to_json() == ENTRY
    assert read_manifest(_manifest()) == read_manifest(_manifest(format="audiencekit-prepared/1")) == (part,)


@each_case(
    "content",
    [b"", _manifest()[:-1], b"[]", b"{}", b"\xff", _manifest(format="delta/1"), _manifest(format=1), b'{"parts": []}'],
)
def test_other_files_and_cut_ones_are_no_manifests(content: bytes) -> None:
    """Other programs have files of that name, too."""
    assert read_manifest(content) is None


@each_case(
    "changes, message",
    [
        ({"format": "audiencekit-spark/2"}, "another format"),
        ({"format": "audiencekit-prepared/10"}, "another format"),
        ({"parts": None}, "does not name its parts"),
        ({"parts": [{**ENTRY, "bytes": "13"}]}, "does not name its parts"),
        ({"parts": [{"name": "part-0.parquet"}]}, "does not name its parts"),
        ({"parts": ["part-0.parquet"]}, "does not name its parts"),
    ],
)
def test_a_manifest_of_ours_that_proves_nothing_is_refused(changes: dict[str, Any], message: str) -> None:
    """It is never taken for a directory without one."""
    with pytest.raises(SourceRefused, match=message):
        read_manifest(_manifest(**changes))


def test_a_part_is_proven_when_it_was_read(tmp_path: Path) -> None:
    """Its size at once, its bytes at the end, from wherever the reading ended."""
    path, named = tmp_path / "part-0.parquet", NamedPart.from_json(ENTRY)
    for content, message in ((CONTENT, ""), (CONTENT[:-1], "12 bytes, and the manifest says 13"), (b"x" * 13, "other")):
        path.write_bytes(content)
        found = ""
        try:
            file = ProvenFile(RegularFile(path), named)
            with closing(file.open()) as handle:
                handle.read(5)
                file.check_unchanged(handle)
        except SourceRefused as error:
            found = str(error)
        assert (message in found, bool(message)) == (True, bool(found))
