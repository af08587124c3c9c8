"""The manifest of a prepared directory: written last, it names the parts that hold the records, and proves them.

`prepare` writes it as `manifest.json` beside the records, a Spark job as a directory `manifest` beside that of its
records (docs/prepared-format).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, Self

from audiencekit.errors import SourceRefused
from audiencekit.records.chunks import PREPARED_FORMAT
from audiencekit.sources.bytes.files import ByteReader, Identity, RawFile

SPARK_FORMAT: Final = "audiencekit-spark/1"
FORMATS: Final = (PREPARED_FORMAT, SPARK_FORMAT)
_BLOCK_BYTES: Final = 1_048_576
_COPY: Final = "copy the directory again, or prepare the list again into another one"


@dataclass(frozen=True, slots=True)
class NamedPart:
    """A part as the manifest names it: the last part of its path, its size in bytes and its SHA-256 in hex digits."""

    name: str
    size_bytes: int
    sha256: str

    @classmethod
    def of(cls, name: str, file: BinaryIO) -> Self:
        """The entry of what is left of `file`."""
        digest, size_bytes = hashlib.sha256(), 0
        for block in ByteReader(file).blocks(_BLOCK_BYTES):
            digest.update(block)
            size_bytes += len(block)
        return cls(name, size_bytes, digest.hexdigest())

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> Self:
        """The entry that `to_json` wrote. Raises KeyError and TypeError for anything else."""
        part = cls(entry["name"], entry["bytes"], entry["sha256"])
        if not (isinstance(part.name, str) and isinstance(part.size_bytes, int) and isinstance(part.sha256, str)):
            raise TypeError
        return part

    def to_json(self) -> dict[str, str | int]:
        """The entry, as an element of the list `parts`."""
        return {"name": self.name, "bytes": self.size_bytes, "sha256": self.sha256}


def read_manifest(content: bytes) -> tuple[NamedPart, ...] | None:
    """The parts that a manifest of ours names; None for a file of another program, or one that is not whole.

    Raises SourceRefused for one of ours in another format, or without its parts.
    """
    try:
        document = json.loads(content)
    except ValueError:
        return None
    told = document.get("format") if isinstance(document, dict) else None
    if not isinstance(told, str) or told.partition("/")[0] not in {known.partition("/")[0] for known in FORMATS}:
        return None
    if told not in FORMATS:
        raise SourceRefused(
            f"the manifest of this directory has another format than {' and '.join(FORMATS)}, which this version reads",
            hint="read it with the version of audiencekit that wrote it, or prepare the list again",
        )
    try:
        return tuple(map(NamedPart.from_json, document["parts"]))
    except (KeyError, TypeError):
        pass
    raise SourceRefused("the manifest of this directory does not name its parts", hint="prepare the list again")


class ProvenFile:
    """A part as it lies, which must be that of the manifest. Raises SourceRefused for one of another size.

    Its bytes are compared with the digest when they were read to their end: nothing that was read is sent before.
    """

    seekable = True

    def __init__(self, file: RawFile, named: NamedPart) -> None:
        self._file, self._named, self._is_proven = file, named, False
        if file.size_bytes != named.size_bytes:
            raise SourceRefused(
                f"this part has {file.size_bytes:,} bytes, and the manifest says {named.size_bytes:,}", hint=_COPY
            )

    @property
    def size_bytes(self) -> int:
        """Bytes of the part."""
        return self._file.size_bytes

    @property
    def identity(self) -> Identity:
        """The identity of the file."""
        return self._file.identity

    @property
    def repeatable(self) -> bool:
        """Whether the file can be read again."""
        return self._file.repeatable

    def open(self) -> BinaryIO:
        """The file, at its first byte."""
        return self._file.open()

    def check_unchanged(self, handle: BinaryIO) -> None:
        """Raise SourceRefused for other bytes than those of the manifest, and for a file that changed.

        The handle still holds most of a small part: those bytes are not asked for again.
        """
        if not self._is_proven:
            handle.seek(0)
            if NamedPart.of(self._named.name, handle) != self._named:
                raise SourceRefused("this part has other bytes than the manifest says", hint=_COPY)
            self._is_proven = True  # of this version of the file, which the next line holds it to
        self._file.check_unchanged(handle)
