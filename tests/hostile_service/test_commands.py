"""Commands that ask the service, on a terminal, before every answer that means harm.

Each answer meets HARM_COMMANDS of them, two by default, and the next answer others, so that all are tried;
`HARM_COMMANDS=all` tries every command with every answer, in some minutes. Their waits pass FASTER_TIMES as fast: what
takes a minute here takes hours at a service.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest

from tests.cli.conftest import Service
from tests.hostile_service.harm import AUDIENCES, FARTHER_ASTRAY, HARMS, LISTS, Harm, seed_of
from tests.hostile_service.machine import PEOPLE, Machine
from tests.hostile_service.terminal import Shown
from tests.moments import PATIENCE_SECONDS
from tests.processes import COMMAND, ROOT, Commands
from tests.strace import strace

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="commands are forked, and measured, on Linux only")

AT_A_TIME: Final = 4
EACH: Final = os.environ.get("HARM_COMMANDS", "2")
MOST_BYTES: Final = 250_000_000  # a command that sends a short list has half of it
RESUME: Final = ("resume", "last")
FORGET: Final = ("forget", "--from", "people", "--no-header", "--map", "email=column1")


def _asking(audience_id: str) -> list[tuple[str, ...]]:
    return [
        ("whoami",), ("doctor",), ("audiences", "list"), ("audiences", "show", audience_id, "--used"),
        ("flexible", "list"),
        ("audiences", "health", audience_id),
        ("audiences", "wait", audience_id, "--timeout", "1s", "--interval", "1s"), ("do-not-reach", "show"),
        ("api", "list_custom_audiences", "--all"), ("api", "list_accounts", "--json"), ("activity", "subscribe"),
        ("init", "--audience", audience_id, "--from", "list.csv", "--consent-column", "marketing=yes",
         "--setup", "../data/setup.toml"),
    ]  # fmt: skip


def _sending(audience_id: str) -> list[tuple[str, ...]]:
    return [
        ("audiences", "create", "fresh"), ("audiences", "rename", audience_id, "renamed"),
        ("do-not-reach", "upload", "list.csv"),
        ("upload", "list.csv", "--audience", audience_id), ("sync", "list.csv", "--audience", audience_id),
        FORGET, RESUME,
    ]  # fmt: skip


def _groups(harm: Harm, audience_id: str) -> list[list[tuple[str, ...]]]:
    """The commands that an answer can meet, in groups of EACH: the groups of the next answer begin with others."""
    asking = [] if harm.late else _asking(audience_id)
    # The first answer of a sending command is one to a question: a wait in it is that of the asking commands.
    sending = [] if harm.is_wait and not harm.late else _sending(audience_id)
    if harm.late:  # those answer POST alone, and a name is changed by PUT
        sending = [call for call in sending if call[:2] != ("audiences", "rename")]
    calls = [*sending, *asking]
    size = len(calls) if EACH == "all" else int(EACH)
    first = HARMS.index(harm) * size % len(calls)
    turned = [*calls[first:], *calls[:first]]
    return [turned[place : place + size] for place in range(0, len(turned), size)]


def _prepared(command: tuple[str, ...], root: Path, commands: Commands, service: Service) -> Machine:
    """Where `command` can run: there is a run to be resumed, if that is what it does."""
    machine = Machine(root, commands, service)
    if command == RESUME:
        service.order({"fault": 22, "match": {"path": "*/users"}})
        assert machine.run("upload", "list.csv", "--audience", service.audience_id).code in (75, 77)
        service.clear()
    return machine


def _told(shown: Shown, service: Service) -> list[str]:
    """Return the personal data and credentials printed: the name of each, or its index among the people."""
    secrets = {name: text for name, text in service.env.items() if name.endswith(("_KEY", "_SECRET", "_TOKEN"))}
    people = {f"person {place}": person for place, person in enumerate(PEOPLE)}
    hashes = {f"hash of {name}": hashlib.sha256(person.encode()).hexdigest() for name, person in people.items()}
    return [name for name, text in {**secrets, **people, **hashes}.items() if text in shown.text]


def _faults(shown: Shown, machine: Machine, service: Service, harm: Harm) -> list[object]:
    """All that is wrong with how a command ended."""
    wrong: list[object] = [*shown.acting, *machine.written_astray(), *_told(shown, service)]
    wrong += [word for word in ("Traceback", "bug:") if word in shown.text]
    if shown.code not in harm.codes:
        wrong.append(f"code {shown.code}")
    if shown.peak_bytes > MOST_BYTES:
        wrong.append(f"{shown.peak_bytes} bytes")
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("harm", HARMS, ids=str)
def test_no_answer_does_harm(harm: Harm, service: Service, commands: Commands, tmp_path: Path) -> None:
    """A command ends, with a code that says what it came to; it shows and writes nothing that it should not."""
    for number, calls in enumerate(_groups(harm, service.audience_id)):
        roots = [tmp_path / f"{number}-{place}" for place in range(len(calls))]
        machines = [_prepared(call, root, commands, service) for call, root in zip(calls, roots, strict=True)]
        service.order(harm.order)
        with ThreadPoolExecutor(AT_A_TIME) as pool:
            shown = list(pool.map(lambda machine, call: machine.run(*call), machines, calls))
        found = {
            " ".join(call): wrong
            for call, machine, one in zip(calls, machines, shown, strict=True)
            if (wrong := _faults(one, machine, service, harm))
        }
        assert found == {}
        if json.loads(service.get("/__faults"))["fired"]:
            return
        service.clear()
    pytest.fail("no command met the answer")


def test_no_redirect_is_followed(service: Service, commands: Commands, tmp_path: Path) -> None:
    """The other host hears nothing of a command: of each third one, or of all with `HARM_COMMANDS=all`."""
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        elsewhere.setblocking(False)
        location = f"http://127.0.0.1:{elsewhere.getsockname()[1]}/12/accounts"
        service.order({"fault": 30, "times": None, "location": location})
        calls = [*_asking(service.audience_id), *_sending(service.audience_id)[:-1]]
        for number, call in enumerate(calls if EACH == "all" else calls[::3]):
            assert Machine(tmp_path / str(number), commands, service).run(*call).code in (3, 75)
        with pytest.raises(BlockingIOError):
            elsewhere.accept()


WRITING: Final = re.compile(
    r"\bO_(?:WRONLY|RDWR|CREAT|TMPFILE)\b|^\S+ +(?:mkdir|rename|unlink|chmod|(?:sym)?link|mknod)"
)
PATHS: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "path"),
    [(FORGET, AUDIENCES), (("do-not-reach", "upload", "list.csv"), LISTS)],
    ids=["forget", "do-not-reach"],
)
def test_no_file_is_opened_elsewhere(
    call: tuple[str, ...], path: str, service: Service, commands: Commands, tmp_path: Path
) -> None:
    """As the system sees it: every file that a command would write is of its own, whatever things are called."""
    machine, trace = Machine(tmp_path / "machine", commands, service), tmp_path / "trace"
    service.order(
        {"fault": 16, "kind": "hostile_ids", "times": 2, "seed": seed_of(FARTHER_ASTRAY), "match": {"path": path}}
    )
    calls = "trace=/^(open|creat|mkdir|rename|unlink|chmod|fchmod|symlink|link|mknod)"
    tracing = strace("--seccomp-bpf", "-f", "-qq", "-s", "4096", "-e", calls, "-o", str(trace))
    env = {**machine.env, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*tracing, *COMMAND, *call], env=env, cwd=machine.work, capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    lines = [line for line in trace.read_text().splitlines() if WRITING.search(line)]
    allowed = (
        *map(str, machine.own),
        str(machine.root / "temporary"),
        env["XDG_CACHE_HOME"],
        "/dev/null",
        "/dev/tty",
        "/proc/self",
    )
    astray = [line for line in lines if not all(_lies_in(allowed, path) for path in PATHS.findall(line))]
    assert json.loads(service.get("/__faults"))["fired"]
    assert lines, done.stderr
    assert astray == []


def _lies_in(directories: tuple[str, ...], path: str) -> bool:
    """Whether a path is below one of `directories`; one that is relative leads out of none."""
    if not path.startswith("/"):
        return ".." not in Path(path).parts
    return any(Path(os.path.normpath(path)).is_relative_to(directory) for directory in directories)
