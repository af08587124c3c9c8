"""A receiver that listens."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.notifications.localreceiver import LocalReceiver, local_receiver


@pytest.fixture
def receiver() -> Iterator[LocalReceiver]:
    with local_receiver() as found:
        yield found
