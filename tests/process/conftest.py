"""Servers, answers and credentials for the tests of connections: those of the client."""

from __future__ import annotations

from tests.api.conftest import (
    answer_bytes as answer_bytes,
    answering as answering,
    credentials as credentials,
    listening as listening,
    make_transport as make_transport,
)
