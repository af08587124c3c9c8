"""The official SDK and this program against the same twelve faults, over real sockets.

    pip install '.[bench]'
    python -m benchmarks.sdk_faults [--out benchmarks/RESULTS.md]

Each meets each fault once, with an emulator of its own and in a process of its own. The SDK has everything switched on
that it offers against faults, unless the row says otherwise. Right is: everybody on the list, and the caller told so by
counts that are those of the people; or, for a redirect, an error, and not one byte at the other address.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import csv
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from audiencekit.emulator import Emulator, EmulatorOptions
from audiencekit.emulator.faults import read_faults
from benchmarks.emulator_process import AUDIENCE
from benchmarks.trials import ROOT

BEGIN: Final = "<!-- faults: what follows is written by python -m benchmarks.sdk_faults -->"
END: Final = "<!-- faults: end -->"
OUT: Final = ROOT / "benchmarks" / "RESULTS.md"
PEOPLE: Final = 20
PATIENCE_SECONDS: Final = 100.0  # then a contestant is taken to wait for ever
AT_ONCE: Final = 6
ARMED: Final = ("handle_rate_limit=1", "retry_max=3", "retry_on_timeouts=1")
OURS, THEIRS = "audiencekit", "twitter-ads"


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One fault of the first request."""

    name: str
    order: dict[str, Any]
    options: tuple[str, ...] = ARMED  # of the SDK
    leads_away: bool = False


PROBES: Final = (
    Probe(name="success_count one short of total_count", order={"fault": 17, "kind": "success_short"}),
    Probe(name="429 without a reset", order={"fault": 6, "reset": "missing"}),
    Probe(name="429 with a reset in the past", order={"fault": 6, "reset": "past"}),
    Probe(name="429 twice running", order={"fault": 4, "times": 2, "reset": 2}),
    Probe(name="503 once, the SDK as it comes", order={"fault": 10}, options=()),
    Probe(name="503 once", order={"fault": 10}),
    Probe(name="502 once", order={"fault": 8, "status": 502, "body": "html"}),
    Probe(name="connection reset", order={"fault": 13}),
    Probe(name="truncated answer", order={"fault": 15, "kind": "truncated"}),
    Probe(name="HTML with status 200", order={"fault": 16, "kind": "html"}),
    Probe(name="silence", order={"fault": 28}),
    Probe(name="307 to another host", order={"fault": 30}, leads_away=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What came of one contestant and one probe. `heard` is what its caller was told."""

    heard: str
    is_told_done: bool
    members: int
    strange_bytes: int

    def is_right(self, probe: Probe) -> bool:
        """Whether nobody is lost, nobody is misled, and nothing went elsewhere."""
        if probe.leads_away:
            return not self.is_told_done and not self.strange_bytes
        return self.is_told_done and self.members == PEOPLE


@dataclass
class Stranger:
    """Another address, which counts what it is sent."""

    received: int = 0
    url: str = field(default="", init=False)

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[Stranger]:
        """Until the block ends."""
        server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        async with server:
            self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/elsewhere"
            yield self

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while part := await reader.read(65_536):
                self.received += len(part)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        writer.close()


async def meet(contestant: str, probe: Probe) -> Finding:
    """One contestant and one fault."""
    with tempfile.TemporaryDirectory(prefix="sdk-faults-") as name:
        directory = Path(name)
        async with Stranger().listening() as stranger:
            where = {"location": stranger.url} if probe.leads_away else {}
            faults = read_faults([{**probe.order, **where, "match": {"method": "POST", "path": "*/users"}}])
            async with Emulator(EmulatorOptions(faults=tuple(faults))) as emulator:
                command = _our_command(directory, emulator) if contestant == OURS else _their_command(directory, probe)
                code, out = await _run(command, _environment(emulator, directory))
                log = [json.loads(line) for line in emulator.store.operations.lines()]
        heard, done = _our_words(code) if contestant == OURS else _their_words(out)
        members = {str(user) for line in log for user in line["users"]}
        return Finding(heard=heard, is_told_done=done, members=len(members), strange_bytes=stranger.received)


def _hashes() -> list[str]:
    return [hashlib.sha256(f"person{number}@example.com".encode()).hexdigest() for number in range(PEOPLE)]


def _our_command(directory: Path, emulator: Emulator) -> list[str]:
    with (directory / "people.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["email"], *([value] for value in _hashes())])
    upload = [
        "upload",
        str(directory / "people.csv"),
        "--audience",
        emulator.audience_id,
        "--hashed",
        "email",
        "--json",
    ]
    return [sys.executable, "-m", "audiencekit", *upload]


def _their_command(directory: Path, probe: Probe) -> list[str]:
    users = [{"email": [value]} for value in _hashes()]
    body = [{"operation_type": "Update", "params": {"users": users}}]
    (directory / "body.json").write_text(json.dumps(body))
    return [sys.executable, "-m", "benchmarks.sdk_upload", str(directory / "body.json"), *probe.options]


def _environment(emulator: Emulator, directory: Path) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AUDIENCEKIT_")}
    state = {"AUDIENCEKIT_STATE_DIR": str(directory / "state"), AUDIENCE: emulator.audience_id}
    return {**inherited, **emulator.env, **state, "PYTHONPATH": str(ROOT)}


async def _run(command: list[str], environment: dict[str, str]) -> tuple[int | None, str]:
    """Exit code and stdout; None when it would not end."""
    process = await asyncio.create_subprocess_exec(
        *command, env=environment, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        out, _ = await asyncio.wait_for(process.communicate(), PATIENCE_SECONDS)
    except TimeoutError:
        process.kill()
        await process.communicate()
        return None, ""
    return process.returncode, out.decode()


def _our_words(code: int | None) -> tuple[str, bool]:
    return ("no end" if code is None else "complete" if code == 0 else f"exit code {code}"), code == 0


def _their_words(out: str) -> tuple[str, bool]:
    heard = json.loads(out) if out else {}
    if "counts" in heard:
        return "returns ({}, {})".format(*heard["counts"]), heard["counts"] == [PEOPLE, PEOPLE]
    return (f"raises {heard['raised']}" if heard else f"still waits after {PATIENCE_SECONDS:.0f} s"), False


async def meet_all(probes: Sequence[Probe] = PROBES) -> dict[tuple[str, str], Finding]:
    """Every contestant and every probe, a few at a time: most of it is waiting."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(contestant: str, probe: Probe) -> Finding:
        async with turns:
            return await meet(contestant, probe)

    pairs = [(contestant, probe) for probe in probes for contestant in (OURS, THEIRS)]
    found = await asyncio.gather(*(one(*pair) for pair in pairs))
    return {(contestant, probe.name): one for (contestant, probe), one in zip(pairs, found, strict=True)}


def write_table(found: dict[tuple[str, str], Finding]) -> str:
    """The findings in Markdown."""
    lines = [f"| fault | {THEIRS} | | {OURS} | |", "|---|---|---|---|---|"]
    right = dict.fromkeys((THEIRS, OURS), 0)
    for probe in PROBES:
        cells = [probe.name]
        for contestant in right:
            finding = found[contestant, probe.name]
            right[contestant] += finding.is_right(probe)
            cells += [_words(finding), "right" if finding.is_right(probe) else "wrong"]
        lines.append(f"| {' | '.join(cells)} |")
    sums = [f"{count} of {len(PROBES)}" for count in right.values()]
    return "\n".join([*lines, f"| right | | {sums[0]} | | {sums[1]} |"])


def _words(finding: Finding) -> str:
    away = f", {finding.strange_bytes} bytes at the other host" if finding.strange_bytes else ""
    return f"{finding.heard}, {finding.members} of {PEOPLE} there{away}"


def write_results(path: Path, table: str) -> None:
    """Replace what stands between the marks of `path`. Raises ValueError for a file without them."""
    before, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{path.name} must have the lines {BEGIN!r} and {END!r}")
    path.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the table; 1 unless all of ours are right."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sdk_faults", description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT, help="the file that the table is written into")
    given = parser.parse_args(arguments)
    found = asyncio.run(meet_all())
    table = write_table(found)
    write_results(given.out, table)
    print(table)
    return 0 if all(found[OURS, probe.name].is_right(probe) for probe in PROBES) else 1


if __name__ == "__main__":
    sys.exit(main())
