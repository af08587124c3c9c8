"""The file that defines flexible audiences or a setup, as bytes."""

from __future__ import annotations

import codecs
from pathlib import Path

from audiencekit.errors import DefinitionRefused, InputOutputFailed
from audiencekit.limits import MAX_DEFINITION_BYTES


def read_definition(path: Path) -> bytes:
    """Return all of the file at `path`. Raises InputOutputFailed, and DefinitionRefused for one that is too large."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_DEFINITION_BYTES + 1)
    except OSError as error:
        raise InputOutputFailed(f"{str(path)!r} cannot be read: {error.strerror}") from None
    if len(content) > MAX_DEFINITION_BYTES:
        raise DefinitionRefused(str(path), [("", f"the file is larger than {MAX_DEFINITION_BYTES:,} bytes")])
    return content.removeprefix(codecs.BOM_UTF8)  # some editors begin a text with it
