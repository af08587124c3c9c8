"""A port for a server that must be told one before it starts."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept_port() -> Iterator[int]:
    """A free port of loopback. On Linux the system gives it to no other process meanwhile, and none connects from it.

    A server that sets SO_REUSEADDR, as servers do, can listen there; until one does, connections are refused.
    """
    with socket.socket() as keeper:
        keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        keeper.bind(("127.0.0.1", 0))
        port = keeper.getsockname()[1]
        if sys.platform != "linux":  # elsewhere two sockets cannot be bound to one port in this way
            keeper.close()
        yield port
