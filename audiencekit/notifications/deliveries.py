"""The delivery of a notification: one request to an address, or one program. It ends in time, whatever they do."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import ssl
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Final

from audiencekit.errors import AudiencekitError
from audiencekit.notifications.receivers import Address
from audiencekit.process.connections import Connections, check_authorities, open_tls, read_proxy
from audiencekit.process.programs import start_program

MOST_SECONDS: Final = 5.0  # for all that one command delivers


class Deadline:
    """The end of the time that deliveries may take."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._end = seconds, time.monotonic() + seconds

    @property
    def left(self) -> float:
        """The seconds that are left; 0 after the end."""
        return max(self._end - time.monotonic(), 0.0)

    @property
    def in_words(self) -> str:
        """Why something did not end in time."""
        return f"no answer within {self._seconds:g} seconds"


class Exchange:
    """One request under way. A redirect is not followed, and of the answer only the status counts.

    It has a thread that is left behind when time is over: neither a lookup of a name nor an answer that comes byte by
    byte can be ended otherwise.
    """

    def __init__(
        self,
        address: Address,
        *,
        connections: Connections,
        deadline: Deadline,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._address, self._connections, self._deadline = address, connections, deadline
        self._body, self._headers = body, {"User-Agent": "audiencekit", **(headers or {})}
        self._failure: str | None = None
        self._thread = threading.Thread(target=self._run, name="audiencekit-notification", daemon=True)
        self._thread.start()

    def wait(self) -> str:
        """Return an empty text after an answer with a status of success, else why there is none."""
        self._thread.join(self._deadline.left)
        return self._deadline.in_words if self._failure is None else self._failure

    def _run(self) -> None:
        # No message of a library is passed on: it may quote the address.
        try:
            failure = self._exchanged()
        except TimeoutError:
            failure = self._deadline.in_words
        except ssl.SSLCertVerificationError:
            failure = "the receiver could not prove who it is: its certificate is not valid here"
        except OSError as error:
            is_refused = error.errno is None and self._connections.proxy is not None  # CONNECT, with no number
            failure = f"no connection: {error.strerror or ('the proxy refuses it' if is_refused else 'no reason')}"
        except http.client.HTTPException:
            failure = "the answer is not HTTP"
        except AudiencekitError as error:
            failure = str(error)
        except Exception as error:
            failure = f"{type(error).__name__}"
        self._failure = failure

    def _exchanged(self) -> str:
        with contextlib.closing(self._connection()) as connection:
            method = "GET" if self._body is None else "POST"
            connection.request(method, self._address.path.unwrap(), self._body, self._headers)
            status = connection.getresponse().status
        if 200 <= status < 300:
            return ""
        if 300 <= status < 400:
            return f"the receiver answered with status {status}: a redirect, which is not followed"
        return f"the receiver answered with status {status}"

    def _connection(self) -> http.client.HTTPConnection:
        address, seconds = self._address, max(self._deadline.left, 0.001)
        if not address.is_encrypted:
            return http.client.HTTPConnection(address.host, address.port, timeout=seconds)
        check_authorities(os.environ)
        tls = open_tls(self._connections.ca_bundle)
        if self._connections.proxy is None or address.is_loopback:
            return http.client.HTTPSConnection(address.host, address.port, timeout=seconds, context=tls)
        proxy = read_proxy(self._connections.proxy)
        host, port = proxy.url.host or "", proxy.url.port or 80
        connection = http.client.HTTPSConnection(host, port, timeout=seconds, context=tls)
        connection.set_tunnel(address.host, address.port, headers=proxy.headers)
        return connection


def run_program(words: Sequence[str], body: bytes, deadline: Deadline) -> str:
    """Run a program with `body` on its standard input; return an empty text when it ended well, else why not.

    It has none of our variables. Its output is dropped, since stdout is for data, and it is killed when time is over.
    """
    try:
        process = start_program(
            words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
    except OSError as error:
        return f"the program cannot be run: {error.strerror or type(error).__name__}"
    try:
        process.communicate(body, timeout=max(deadline.left, 0.001))
    except subprocess.TimeoutExpired:
        _end(process)
        return f"the program did not end in time: {deadline.in_words}"
    except OSError as error:
        _end(process)
        return f"the program cannot be given its input: {error.strerror or type(error).__name__}"
    return "" if not process.returncode else f"the program ended with exit code {process.returncode}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the program and those that it started."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
