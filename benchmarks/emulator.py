"""The speed of the emulator: bodies of 5 MB applied and only counted, small calls, and memory for each body.

    python -m benchmarks.emulator --bodies 20 --calls 500

Bodies are told by the processor time of its process, so that what else runs here makes no difference; small calls by
the clock of who waits for them. Needs /proc.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

from audiencekit.emulator.signatures import SignedCall, base_string, sign
from audiencekit.limits import MAX_BODY_BYTES, MAX_OPERATIONS
from benchmarks.benchmark import count
from benchmarks.trials import start

MIN_APPLIED: Final = 5.0  # bodies a second of one core
MIN_COUNTED: Final = 30.0
MAX_SMALL_CALL_SECONDS: Final = 0.003
_RATE: Final = "1000000/60"
_USER_BYTES: Final = 79  # with one email, and the comma after it
_OPERATION_BYTES: Final = 56
_WARM_UP: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The figures: bodies by second of processor time, the median small call, memory kept of each body."""

    applied_per_core_second: float
    counted_per_core_second: float
    small_call_seconds: float
    kept_bytes_per_body: float

    @property
    def suffices(self) -> bool:
        """Whether the emulator is faster than what is measured against it."""
        return (
            self.applied_per_core_second >= MIN_APPLIED
            and self.counted_per_core_second >= MIN_COUNTED
            and self.small_call_seconds <= MAX_SMALL_CALL_SECONDS
        )


def make_body(size: int = MAX_BODY_BYTES) -> bytes:
    """A body of at most `size` bytes: as many operations as a request may have, each with as many people."""
    people = (size - MAX_OPERATIONS * _OPERATION_BYTES) // (MAX_OPERATIONS * _USER_BYTES)
    numbers = iter(range(MAX_OPERATIONS * people))
    operations = [
        {"operation_type": "Update", "params": {"users": [{"email": [f"{next(numbers):064x}"]} for _ in range(people)]}}
        for _ in range(MAX_OPERATIONS)
    ]
    return json.dumps(operations, separators=(",", ":")).encode()


class Service:
    """One running emulator, its process, and a connection to it."""

    def __init__(self, pid: int, ready: Mapping[str, object], env: Mapping[str, str]) -> None:
        self._pid, self._env = pid, env
        self._address = urlsplit(str(ready["ads_url"]))
        self._nonces = iter(range(sys.maxsize))
        account = f"/12/accounts/{ready['account_id']}"
        self.account, self.users = account, f"{account}/custom_audiences/{ready['audience_id']}/users"
        self._connection = http.client.HTTPConnection(self._address.netloc)

    def call(self, method: str, path: str, body: bytes | None = None) -> None:
        """One call, answered. Raises RuntimeError for any other answer than a success."""
        headers = {"Authorization": self._sign(method, path), "Content-Type": "application/json"}
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{method} was answered with {answer.status}")

    def cpu_seconds(self) -> float:
        """Processor time that the process has taken."""
        fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self) -> int:
        """Memory that the process has."""
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{self._pid}/status").read_text())
        return int(found[1]) * 1_024 if found else 0

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()

    def _sign(self, method: str, path: str) -> str:
        attributes = {
            "oauth_consumer_key": self._env["AUDIENCEKIT_CONSUMER_KEY"],
            "oauth_nonce": str(next(self._nonces)),
            "oauth_signature_method": "HMAC-SHA1",
            "oauth_timestamp": str(int(time.time())),
            "oauth_token": self._env["AUDIENCEKIT_ACCESS_TOKEN"],
            "oauth_version": "1.0",
        }
        signed = SignedCall(method, self._address.scheme, self._address.netloc, path, b"")
        secrets = (self._env[f"AUDIENCEKIT_{name}_SECRET"] for name in ("CONSUMER", "ACCESS_TOKEN"))
        attributes["oauth_signature"] = sign(base_string(signed, attributes), *secrets)
        return "OAuth " + ", ".join(f'{name}="{quote(text, safe="")}"' for name, text in attributes.items())


@contextmanager
def running_service(*options: str) -> Iterator[Service]:
    """An emulator in a process of its own."""
    process = start([sys.executable, "-m", "audiencekit", "emulator", "--rate", _RATE, *options])
    assert process.stdout is not None
    try:
        ready = json.loads(process.stdout.readline())
        with closing(Service(process.pid, ready, ready["env"])) as service:
            yield service
    finally:
        process.terminate()
        process.communicate()


def measure_bodies(service: Service, body: bytes, bodies: int) -> tuple[float, float]:
    """Bodies in a second of processor time, and how much memory each has left behind; always the same people."""
    for _ in range(_WARM_UP):
        service.call("POST", service.users, body)
    cpu_seconds, resident_bytes = service.cpu_seconds(), service.resident_bytes()
    for _ in range(bodies):
        service.call("POST", service.users, body)
    taken = max(service.cpu_seconds() - cpu_seconds, 1 / os.sysconf("SC_CLK_TCK"))
    return bodies / taken, (service.resident_bytes() - resident_bytes) / bodies


def measure_calls(service: Service, calls: int) -> float:
    """The median time of a small call, in seconds."""
    times = []
    for _ in range(calls):
        began = time.perf_counter()
        service.call("GET", service.account)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def measure(bodies: int, calls: int, *, size: int = MAX_BODY_BYTES) -> Findings:
    """Everything, with two emulators one after the other."""
    body = make_body(size)
    with running_service() as service:
        applied, kept = measure_bodies(service, body, bodies)
        small = measure_calls(service, calls)
    with running_service("--sink") as service:
        counted, _ = measure_bodies(service, body, bodies)
    return Findings(
        applied_per_core_second=round(applied, 2),
        counted_per_core_second=round(counted, 2),
        small_call_seconds=round(small, 5),
        kept_bytes_per_body=round(kept),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the findings as one line of JSON; 1 when the emulator is slower than it must be."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.emulator", description=__doc__.partition("\n")[0])
    parser.add_argument("--bodies", type=count, default=20, help="bodies for each measurement (default %(default)s)")
    parser.add_argument("--calls", type=count, default=500, help="small calls (default %(default)s)")
    given = parser.parse_args(arguments)
    findings = measure(given.bodies, given.calls)
    print(json.dumps(asdict(findings)))
    return 0 if findings.suffices else 1


if __name__ == "__main__":
    raise SystemExit(main())
