"""A service that can be told to mean harm: an emulator in another process."""

from __future__ import annotations

from tests.cli.conftest import service

__all__ = ["service"]
