"""Packets go to the service and nowhere else: real processes, in a network where only the emulator is.

Two nets, one behind the other: a hook in each Python process writes down the hosts that it asks for, and the kernel
counts packets of any process that had no way out of the namespace.
"""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import sys
import urllib.parse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.egress.inside import ELSEWHERE, LEAKS
from tests.moments import PATIENCE_SECONDS
from tests.processes import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="namespaces of networks are Linux's")
SERVICE, RECEIVERS = ("ads_url", "ads_sandbox_url", "base_url"), ("notify_url", "ping_url", "otel_url")
CUT_OFF = ["unshare", "--user", "--map-root-user", "--net"]
SILENT = {"check", "prepare", "hash", "report", "emulator"}  # they need no service


@functools.cache
def _can_be_cut_off() -> bool:
    return (
        shutil.which("unshare") is not None and not subprocess.run([*CUT_OFF, "true"], capture_output=True).returncode
    )


@dataclass(frozen=True)
class Seen:
    """The calls of the processes inside: `attempts` are [job, event, host, port]."""

    found: dict[str, Any]
    attempts: list[tuple[str, str, str, int | None]]

    def elsewhere(self) -> list[tuple[str, str, str, int | None]]:
        """Attempts that do not lead to an address of the emulator."""
        ready = self.found["ready"]
        urls = [ready[name] for name in (*SERVICE, *RECEIVERS) if name in ready]
        places = {(parts.hostname, parts.port) for parts in map(urllib.parse.urlsplit, urls)}
        # Of a receiver the address is looked up, too: here it is no name, and no query leaves.
        places |= {(urllib.parse.urlsplit(ready[name]).hostname, None) for name in RECEIVERS if name in ready}
        return [one for one in self.attempts if one[2:] not in places]


def _look(what: str, directory: Path) -> Seen:
    """Have `what` done inside, cut off where this machine allows it."""
    is_cut_off = _can_be_cut_off()
    inside = [sys.executable, "-m", "tests.egress.inside", what, str(directory)]
    command = [*CUT_OFF, *inside, "--cut-off"] if is_cut_off else inside
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = (directory / "attempts").read_text().splitlines()
    attempts = [(job, event, host, port) for job, event, host, port in map(json.loads, lines)]
    return Seen(json.loads(done.stdout.splitlines()[-1]), attempts)


@pytest.mark.slow
def test_the_main_jobs_speak_to_the_service_alone(tmp_path: Path) -> None:
    """No packet elsewhere and no query of a name, although the environment names proxies; five of them call nothing."""
    seen = _look("jobs", tmp_path)
    assert seen.elsewhere() == []
    assert {name: count for name, count in seen.found["strays"].items() if count} == {}
    assert {name: seen.found["said"].get(name) for name, code in seen.found["codes"].items() if code} == {}
    jobs = set(seen.found["codes"])
    assert {job for job, *_ in seen.attempts} == jobs - SILENT


@pytest.mark.slow
def test_notifications_go_to_their_receiver_alone(tmp_path: Path) -> None:
    """By the commands that send: no packet goes elsewhere, also not to where a redirect leads."""
    seen = _look("notified", tmp_path)
    assert seen.elsewhere() == []
    assert {name: count for name, count in seen.found["strays"].items() if count} == {}
    ready = seen.found["ready"]
    ports = {name: urllib.parse.urlsplit(ready[name]).port for name in RECEIVERS}
    reached = {name: {job for job, _, _, port in seen.attempts if port == ports[name]} for name in RECEIVERS}
    assert reached == {"notify_url": {"upload", "refused"}, "ping_url": {"upload"}, "otel_url": {"upload", "refused"}}
    assert [path.split("/")[1] for path in ready["told"]] == ["hook", "hook"]
    assert seen.found["codes"] == {"upload": 0, "refused": 3, "check": 0, "emulator": 0}


@pytest.mark.slow
def test_packets_to_other_hosts_are_seen(tmp_path: Path) -> None:
    """The test of the test, cut off so that nothing leaves: by the hook, and by the kernel what no hook hears of."""
    if not _can_be_cut_off():
        pytest.skip("this machine gives no namespace of networks: `unshare --user --net` is refused")
    seen = _look("leaks", tmp_path)
    assert {job for job, *_ in seen.elsewhere()} == set(LEAKS) - {"no Python"}
    assert {host for _, _, host, _ in seen.elsewhere()} == {ELSEWHERE, "leak.example.com", "127.0.0.1"}
    assert {name for name, count in seen.found["strays"].items() if count} == set(LEAKS) - {"another port"}
