"""A server of PostgreSQL for the tests of this directory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgresserver import postgresql


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The URL of a server that this process has for itself."""
    pytest.importorskip("adbc_driver_postgresql", reason="the extra postgresql is not installed")
    with postgresql() as url:
        yield url
