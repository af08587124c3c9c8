"""Records for tests of the requests that hold them."""

from __future__ import annotations

from tests.records.conftest import hashed_records, sha256

__all__ = ["hashed_records", "sha256"]
