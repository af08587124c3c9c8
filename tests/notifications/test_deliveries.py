"""Deliveries to real receivers that drop, delay, redirect and lie, and to programs."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import time
from pathlib import Path

import pytest

from audiencekit.notifications.deliveries import Deadline, Exchange, run_program
from audiencekit.notifications.receivers import Address
from audiencekit.personal import Secret
from audiencekit.process.connections import Connections
from tests.authorities import Authority
from tests.connectproxy import ConnectProxy, proxying
from tests.moments import PATIENCE_SECONDS
from tests.notifications.localreceiver import WAYS, LocalReceiver, local_receiver

SHORT = 0.3
WHY = {
    "well": "",
    "redirect": "the receiver answered with status 307: a redirect, which is not followed",
    "error": "the receiver answered with status 500",
    "dribble": "no answer within 0.3 seconds",
    "nonsense": "the answer is not HTTP",
    "drop": None,  # in the system's words
    "silence": "no answer within 0.3 seconds",
}


def _deliver(url: str, seconds: float = PATIENCE_SECONDS, connections: Connections | None = None) -> str:
    address = Address.read(Secret(url), "AUDIENCEKIT_NOTIFY_URL")
    return Exchange(
        address, connections=connections or Connections(), deadline=Deadline(seconds), body=b"{}", headers={"X": "1"}
    ).wait()


@pytest.mark.parametrize("way", WAYS)
def test_a_receiver_may_do_what_it_likes(receiver: LocalReceiver, way: str) -> None:
    """It is asked once, at one address, and for no longer than it may take; no reason shows the address."""
    receiver.way = way
    why = _deliver(receiver.url, SHORT if way in ("dribble", "silence") else PATIENCE_SECONDS)
    assert bool(why) == (way != "well")
    assert WHY[way] in (why, None)
    assert "s3cret" not in why
    assert receiver.bodies == [b"{}"]
    assert receiver.paths == ["POST /hook/s3cret-path?sig=s3cret-query"]


def test_no_receiver_is_no_delivery() -> None:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        why = _deliver(f"http://127.0.0.1:{door.getsockname()[1]}/s3cret")
    assert why.startswith("no connection: ")
    assert "s3cret" not in why


def test_proxies_of_other_programs_are_not_used(receiver: LocalReceiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://192.0.2.1:3128")
    monkeypatch.setenv("https_proxy", "http://192.0.2.1:3128")
    assert _deliver(receiver.url) == ""


async def test_a_receiver_proves_who_it_is_also_behind_a_proxy(tmp_path: Path) -> None:
    """By the authorities of the settings; the proxy learns its host and port, and nothing that is told."""
    authority, other = Authority(tmp_path), Authority(tmp_path, "other")
    host = "hooks.example.com"
    with local_receiver(authority.server(host)) as receiver:
        async with proxying(ConnectProxy({f"{host}:443": receiver.port})) as proxy:

            async def deliver(bundle: Path, address: str = f"https://{host}/s3cret") -> str:
                connections = Connections(proxy=Secret(proxy.url), ca_bundle=bundle)
                return await asyncio.to_thread(_deliver, address, PATIENCE_SECONDS, connections)

            assert await deliver(authority.bundle) == ""
            assert "its certificate is not valid here" in await deliver(other.bundle)
            refused = await deliver(authority.bundle, "https://elsewhere.example.com/s3cret")
            assert refused == "no connection: the proxy refuses it"
    assert receiver.bodies == [b"{}"]
    assert proxy.heads[0].startswith(f"CONNECT {host}:443 ")
    assert b"s3cret" not in proxy.tunnelled


PRINT = "import os, sys, json; open(sys.argv[1], 'w').write(json.dumps([sys.stdin.read(), dict(os.environ), sys.argv]))"


def test_a_program_gets_the_body_and_none_of_our_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On its standard input, and without a shell."""
    monkeypatch.setenv("AUDIENCEKIT_CONSUMER_SECRET", "s3cret")
    out = tmp_path / "out"
    words = (sys.executable, "-c", PRINT, str(out), "$(id); *")
    assert run_program(words, b'{"version":1}', Deadline(PATIENCE_SECONDS)) == ""
    body, environment, arguments = json.loads(out.read_text())
    assert body == '{"version":1}'
    assert not [name for name in environment if name.startswith("AUDIENCEKIT_")]
    assert arguments[-1] == "$(id); *"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import sys; sys.exit(3)", "the program ended with exit code 3"),
        ("import sys; sys.stdin.close(); print('s3cret')", ""),
    ],
)
def test_a_program_may_end_as_it_likes(capfd: pytest.CaptureFixture[str], code: str, why: str) -> None:
    """Its output is dropped: stdout is for the data of the command."""
    assert run_program((sys.executable, "-c", code), b"{}" * 100_000, Deadline(PATIENCE_SECONDS)) == why
    assert capfd.readouterr() == ("", "")


def test_a_program_that_does_not_end_is_ended_with_its_children(tmp_path: Path) -> None:
    children = tmp_path / "children"
    code = (
        "import subprocess, sys, time\n"
        "one = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "open(sys.argv[1] + '.new', 'w').write(str(one.pid))\n"
        "__import__('os').rename(sys.argv[1] + '.new', sys.argv[1])\n"
        "time.sleep(600)"
    )
    deadline = Deadline(0.5)
    why = ""
    while not children.exists():  # on a busy machine half a second is not enough for two interpreters
        deadline = Deadline(deadline._seconds * 2)
        why = run_program((sys.executable, "-c", code, str(children)), b"{}", deadline)
    assert why.startswith("the program did not end in time")
    child = int(children.read_text())
    end = time.monotonic() + PATIENCE_SECONDS
    while _lives(child) and time.monotonic() < end:
        time.sleep(0.02)
    assert not _lives(child)


def _lives(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
        return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return False


def test_a_missing_program_is_no_failure_of_ours() -> None:
    assert run_program(("/no/such/program",), b"{}", Deadline(1)).startswith("the program cannot be run")
