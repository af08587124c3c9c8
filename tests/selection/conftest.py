"""Records for tests of their selection."""

from __future__ import annotations

from tests.records.conftest import hashed_records, memory_chunks, sha256

__all__ = ["hashed_records", "memory_chunks", "sha256"]
