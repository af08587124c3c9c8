"""Runs in the network that is looked at: `python -m tests.egress.inside jobs|notified|leaks DIRECTORY [--cut-off]`.

It begins the emulator, then one real process after another, all with the hook, and prints one JSON document. With
`--cut-off` it is in a namespace of its own, whose loopback it brings up: nothing else is there.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.egress.strays import count_strays, raise_loopback
from tests.moments import PATIENCE_SECONDS
from tests.notifications.localreceiver import local_receiver
from tests.processes import COMMAND, PIPE, ROOT, environment

HOOK = Path(__file__).parent / "hook"
ELSEWHERE = "192.0.2.1"  # for documentation (RFC 5737): no machine has it
LEAKS = {
    "TCP": f"socket.create_connection(('{ELSEWHERE}', 443), 1)",
    "UDP": f"socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('{ELSEWHERE}', 53))",
    "DNS": "socket.getaddrinfo('leak.example.com', 443)",
    "another port": "socket.create_connection(('127.0.0.1', 9), 1)",
    "no Python": "door = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); ctypes.CDLL(None).sendto(door.fileno(),"
    f" b'x', 1, 0, struct.pack('=H2s4s8x', socket.AF_INET, b'\\0\\x35', socket.inet_aton('{ELSEWHERE}')), 16)",
}


class World:
    """An emulator and a directory with a list.

    `codes`, `said` and `strays` are exit codes, messages, and packets that the kernel counted, of the jobs so far.
    """

    def __init__(self, directory: Path, is_cut_off: bool) -> None:
        self._directory, self._is_cut_off = directory, is_cut_off
        self.attempts = directory / "attempts"
        self.codes: dict[str, int] = {}
        self.said: dict[str, str] = {}
        self.strays: dict[str, int] = {}
        # As on the machine of a company: what other programs would heed leads elsewhere.
        proxies = dict.fromkeys(("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"), f"http://{ELSEWHERE}:3128")
        hook = {"PYTHONPATH": f"{HOOK}:{ROOT}", "EGRESS_FILE": str(self.attempts)}
        self._env = {**environment(directory / "state"), **proxies, **hook}
        self._emulator = self._begin("emulator", "emulator", stdout=PIPE)
        assert self._emulator.stdout is not None
        self.ready: dict[str, Any] = json.loads(self._emulator.stdout.readline())
        self._env |= self.ready["env"]

    def _begin(self, name: str, *arguments: str, **more: Any) -> subprocess.Popen[str]:
        env = {**self._env, "EGRESS_JOB": name, **more.pop("env", {})}
        return subprocess.Popen([*COMMAND, *arguments], env=env, cwd=self._directory, text=True, **more)

    @contextlib.contextmanager
    def counted(self, name: str) -> Iterator[None]:
        """A job whose strays are counted; not outside a namespace, where the counts are the machine's."""
        before = count_strays() if self._is_cut_off else 0
        yield
        self.strays[name] = count_strays() - before if self._is_cut_off else 0

    def run(self, name: str, *arguments: str, text: str = "", env: dict[str, str] | None = None) -> None:
        """One command to its end."""
        with self.counted(name):
            process = self._begin(name, *arguments, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=env or {})
            self.said[name] = process.communicate(text, timeout=PATIENCE_SECONDS)[1]
        self.codes[name] = process.returncode

    def log_in(self) -> None:
        """Login, with this process in the place of the browser."""
        no_token = {"AUDIENCEKIT_ACCESS_TOKEN": "", "AUDIENCEKIT_ACCESS_TOKEN_SECRET": ""}
        with self.counted("login"):
            process = self._begin("login", "login", "--no-browser", stdin=PIPE, stdout=PIPE, stderr=PIPE, env=no_token)
            assert process.stderr is not None
            line = process.stderr.readline()
            if "oauth_token=" in line:
                _approve(line.split()[-1])
            self.said["login"] = line + process.communicate(timeout=PATIENCE_SECONDS)[1]
        self.codes["login"] = process.returncode
        self.run("logout", "logout", env=no_token)

    def end(self) -> None:
        self._emulator.terminate()
        self.codes["emulator"] = self._emulator.wait(timeout=PATIENCE_SECONDS)


def run_jobs(world: World) -> None:
    """The main jobs: each command that reads people or calls the service, in the order of a day."""
    audience = world.ready["audience_id"]
    world.run("check", "check", "list.csv", "--doctor")
    world.run("prepare", "prepare", "list.csv", "--out", "out", "--requests")
    world.run("hash", "hash", "email", text='"ada@example.com"\n')
    world.run("doctor", "doctor")
    world.run("whoami", "whoami")
    world.run("upload", "upload", "list.csv", "--audience", audience)
    world.run("create", "audiences", "create", "Autumn")
    world.run("sync", "sync", "list.csv", "--audience", audience, "--rebuild")
    world.run("do-not-reach", "do-not-reach", "upload", "list.csv")
    world.run("forget", "forget", text="ada@example.com\n")
    world.run("report", "report")
    world.run("api", "api", "list_accounts")
    world.run("list", "audiences", "list")
    world.log_in()


def run_notified(world: World) -> None:
    """Commands that tell how they ended: a receiver, a ping and a collector, each at its own port of this machine."""
    with local_receiver() as receiver, local_receiver() as ping, local_receiver() as collector:
        collector.way = "redirect"
        otel_url = f"http://127.0.0.1:{collector.port}"
        env = {"AUDIENCEKIT_NOTIFY_URL": receiver.url, "AUDIENCEKIT_PING_URL": ping.url}
        env |= {"AUDIENCEKIT_OTEL_URL": otel_url, "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{ELSEWHERE}:4318"}
        world.ready |= {"notify_url": receiver.url, "ping_url": ping.url, "otel_url": otel_url}
        audience = world.ready["audience_id"]
        world.run("upload", "upload", "list.csv", "--audience", audience, "--notify-on", "expiry=500d", env=env)
        receiver.way = "redirect"
        world.run("refused", "upload", "missing.csv", "--audience", audience, env=env)
        world.run("check", "check", "list.csv", env=env)
        world.ready |= {"told": receiver.paths, "pinged": ping.paths}


def run_leaks(world: World) -> None:
    """Packets elsewhere, each in its own way."""
    for name, leak in LEAKS.items():
        code = f"import contextlib, ctypes, socket, struct\nwith contextlib.suppress(OSError):\n    {leak}"
        env = {"PYTHONPATH": str(HOOK), "EGRESS_JOB": name, "EGRESS_FILE": str(world.attempts)}
        with world.counted(name):
            subprocess.run([sys.executable, "-c", code], env={**os.environ, **env}, check=True)


def _approve(page: str) -> None:
    """As a person in the browser does."""
    form = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(page).query)) | {"decision": "approve"}
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    opener.open(page.partition("?")[0], urllib.parse.urlencode(form).encode(), timeout=PATIENCE_SECONDS).close()


def main(what: str, directory: Path, is_cut_off: bool) -> None:
    if is_cut_off:
        raise_loopback()
    (directory / "list.csv").write_text("email\nada@example.com\nbo@example.com\ncy@example.com\n")
    world = World(directory, is_cut_off)
    try:
        {"jobs": run_jobs, "notified": run_notified, "leaks": run_leaks}[what](world)
    finally:
        world.end()
    json.dump({name: getattr(world, name) for name in ("codes", "said", "strays", "ready")}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), "--cut-off" in sys.argv)
