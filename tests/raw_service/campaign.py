"""One run of a command against the raw service, from its seed: lists, faults, resumptions, and the check."""

from __future__ import annotations

import asyncio
import csv
import hashlib
import json
import os
import random
import socket
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.moments import PATIENCE_SECONDS
from tests.raw_service.faults import ALL, UNDECIDABLE
from tests.raw_service.preloaded import Child, Preloaded
from tests.raw_service.server import Chosen, Member, RawService, Request, Wire

SETTLE_SECONDS = 5.0  # in place of 900: the longest late one comes after 2.6
DIVIDED = {
    "SETTLE_SECONDS": SETTLE_SECONDS,
    "RETRY_BASE_SECONDS": 0.02,
    "RETRY_CAP_SECONDS": 0.5,
    "PROBE_SECONDS": 0.2,
    "OUTAGE_PATIENCE_SECONDS": 6.0,
    "RESIGN_SECONDS": 0.3,
    "JITTER_SECONDS": 0.01,
    "MAX_RATE_LIMIT_WAIT_SECONDS": 0.5,
    "MAX_RETRY_AFTER_SECONDS": 1.0,
    "RATE_LIMIT_FALLBACK_SECONDS": 0.2,
    "DRAIN_SECONDS": 2.0,
    "LANE_RECOVERY_SECONDS": 0.5,
    "LONGEST_LANE_RECOVERY_SECONDS": 2.0,
    "READ_TIMEOUT_SECONDS": 1.0,
    "EXCHANGE_TIMEOUT_SECONDS": 1.5,
    "CONNECT_TIMEOUT_SECONDS": 1.0,
    "REQUEST_SECONDS": 60.0,
    "MAX_ANSWER_BYTES": 200_000,
}
COMMANDS = ("upload", "sync", "forget")
AREAS = (202, 212, 213, 303, 305, 312, 404, 415, 503, 512, 602, 615, 617, 702, 713)
UNFINISHED = (69, 74, 75, 77)
FAULTY_TRIES, QUIET_TRIES = 4, 3
AUDIENCES = ("aud1", "aud2")

Person = tuple[str, str]  # email, phone or nothing


@dataclass(slots=True)
class Outcome:
    """The result of one run; nothing in it is a value of a person."""

    command: str
    seed: int
    completed: int = 0
    processes: int = 0
    exits: Counter[int] = field(default_factory=Counter)
    deviations: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    met: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    reused: int = 0
    log: list[str] = field(default_factory=list)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def member(person: Person) -> Member:
    """The entry of a person, by the specification: SHA-256 of the email, of the number with its plus sign."""
    email, phone = person
    found = {f"email:{digest(email)}"} if email else set()
    return frozenset(found | ({f"phone_number:{digest(phone)}"} if phone else set()))


def people(chance: random.Random, count: int, *, phones: bool, first: int = 0) -> list[Person]:
    found = []
    for at in range(first, first + count):
        phone = f"+1{AREAS[at // 100 % len(AREAS)]}55501{at % 100:02d}" if phones and chance.random() < 0.6 else ""
        found.append((f"ada.k{at}@example.com", phone))
    return found


class Run:
    """The state of one run: its directory, its service and what it expects."""

    def __init__(self, command: str, seed: int, directory: Path, *, undecidable: bool, one_fault: str) -> None:
        self.chance = random.Random(f"{command} {seed}")
        self.outcome = Outcome(command, seed)
        self.directory = directory
        self.undecidable = undecidable
        self.one_fault = one_fault
        self.share = self.chance.choice([0.2, 0.4, 0.7])
        self.budget = self.chance.choice([6, 12, 20, 40])
        self.concurrency = self.chance.choice(["1", "4"])
        self.phones = self.chance.random() < 0.5
        self.large = self.chance.random() < 0.08
        self.body_bytes = 300_000 if self.large else self.chance.choice([2000, 2000, 3500])
        self.kill_at = self.chance.randint(3, 14) if self.chance.random() < 0.15 else 0
        self.kill_with = self.chance.choice(["terminate", "kill"])
        self.abandoned = self.chance.choice([0.0, 0.0, 0.8])  # share of the runs that are not resumed
        self.quiet = False
        self.bag: list[str] = []
        self.process: asyncio.subprocess.Process | Child | None = None
        self.preloaded: Preloaded | None = None
        self.values: set[str] = set()
        self.service = RawService({name: set() for name in AUDIENCES}, self.choose)
        self.service.chance = random.Random(f"service {command} {seed}")
        self.service.page_rows = self.chance.choice([1, 1000])
        self.service.on_request = self.count_for_kill
        self.port = 0
        self.made = 0

    # -- faults

    def choose(self, service: RawService, moment: str, wire: Wire) -> Chosen | None:
        """Draw the fault of an exchange; the moments of one exchange share one draw."""
        if moment == "accept":
            self.drawn = self.draw()
            if self.drawn is not None and self.drawn.when == "accept":
                return self.drawn
            self.by_wire = getattr(self, "by_wire", {})
            self.by_wire[wire.number] = self.drawn
            return None
        drawn: Chosen | None = self.by_wire.pop(wire.number, None)
        if drawn is not None and not moment.startswith("head aud") and self.chance.random() < 0.6:
            self.budget += 1  # questions meet fewer faults than changes
            return None
        return drawn

    def draw(self) -> Chosen | None:
        if self.quiet or self.budget <= 0 or self.chance.random() >= self.share:
            return None
        self.budget -= 1
        if self.one_fault:
            return {**ALL, **UNDECIDABLE}[self.one_fault]
        if self.undecidable and self.chance.random() < 0.6:
            return self.chance.choice(list(UNDECIDABLE.values()))
        if not self.bag:  # so that each kind is met as often as others
            kinds = sorted(ALL)
            self.bag = self.chance.sample(kinds, len(kinds))
        return ALL[self.bag.pop()]

    def count_for_kill(self, request: Request) -> None:
        if self.kill_at and request.number == self.kill_at and self.process is not None and not self.quiet:
            self.service.note(f"the client gets the signal: {self.kill_with}")
            (self.process.kill if self.kill_with == "kill" else self.process.terminate)()

    # -- the client

    async def client(self, *arguments: str) -> tuple[int, dict[str, Any]]:
        """Start the installed program with divided waits; returns its exit code and its document."""
        settings = "".join(f"l.{name}={value!r};" for name, value in DIVIDED.items())
        settings += f"l.MAX_BODY_BYTES={self.body_bytes};"
        program = f"import audiencekit.limits as l;{settings}from audiencekit.__main__ import start; start()"
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("AUDIENCEKIT_")},
            "AUDIENCEKIT_ADS_URL": f"http://127.0.0.1:{self.port}",
            "AUDIENCEKIT_ACCOUNT_ID": "acc1",
            "AUDIENCEKIT_CONSUMER_KEY": "invented-key",
            "AUDIENCEKIT_CONSUMER_SECRET": "invented-consumer-secret",
            "AUDIENCEKIT_ACCESS_TOKEN": "1-invented-token",
            "AUDIENCEKIT_ACCESS_TOKEN_SECRET": "invented-token-secret",
            "AUDIENCEKIT_STATE_DIR": str(self.directory / "state"),
            "AUDIENCEKIT_FEW_PEOPLE": "allow",
            "XDG_DATA_HOME": str(self.directory / "data"),
        }
        self.outcome.processes += 1
        self.service.note(f"$ {' '.join(a for a in arguments if '/' not in a)}{' (no faults)' if self.quiet else ''}")
        every = [*arguments, "--json", "--concurrency", self.concurrency]
        if self.preloaded is not None:
            self.process = await self.preloaded.start(settings, every, environment, self.directory)
        else:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", program, *every,
                env=environment, cwd=self.directory, stdin=asyncio.subprocess.DEVNULL, stdout=-1, stderr=-1,
            )  # fmt: skip
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                stdout, stderr = await self.process.communicate()
        except TimeoutError:
            self.process.kill()
            stdout, stderr = await self.process.communicate()
            self.deviation("the program did not end within 240 s")
        code = self.process.returncode
        assert code is not None
        self.process = None
        self.outcome.exits[code] += 1
        text = stdout.decode("utf-8", "replace") + stderr.decode("utf-8", "replace")
        self.look_for_values(text)
        last = [
            line.strip()
            for line in stderr.decode("utf-8", "replace").splitlines()
            if "error" in line or "unfinished" in line
        ]
        self.service.note(f"exit {code}; {last[-1][:200] if last else ''}")
        if code == 1 or "Traceback" in text:
            self.deviation(f"exit code {code}, a bug: {last[-1][:300] if last else ''}")
        try:
            document = json.loads(stdout)
        except ValueError:
            document = {}
        return code, document if isinstance(document, dict) else {}

    def look_for_values(self, text: str) -> None:
        words = ("invented-consumer-secret", "invented-token-secret", "1-invented-token", "invented-key")
        shown = sum(1 for value in (*self.values, *words) if value in text)
        if shown:
            self.deviation(f"{shown} values, hashes or secrets in what the program printed")

    def deviation(self, text: str) -> None:
        self.service.note(f"DEVIATION {text}")
        self.outcome.deviations.append(text)

    # -- lists and checks

    def write(self, rows: list[Person], operations: list[str] | None = None) -> Path:
        self.made += 1
        path = self.directory / f"list{self.made}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["email", *(["phone"] if self.phones else []), *(["operation"] if operations else [])])
            for at, (email, phone) in enumerate(rows):
                writer.writerow([email, *([phone] if self.phones else []), *([operations[at]] if operations else [])])
        for person in rows:
            self.values |= {value for value in person if value}
            self.values |= {identifier.split(":", 1)[1] for identifier in member(person)}
        return path

    def expect(self, audience: str, wanted: set[Member], where: str) -> None:
        found = self.service.audiences[audience]
        if found != wanted:
            missing, extra = len(wanted - found), len(found - wanted)
            self.deviation(f"{where}: {missing} members missing, {extra} too many, of {len(wanted)} in {audience}")

    async def expect_for_good(self, audience: str, wanted: set[Member], where: str) -> None:
        """Right at the end of the program, and when all that was late was applied."""
        self.expect(audience, wanted, f"{where}, at exit 0")
        await self.service.settle()
        self.expect(audience, wanted, f"{where}, after the late ones")

    def expect_rejections(self, document: dict[str, Any], judged: int, where: str) -> None:
        rejected = (document.get("rows") or {}).get("rejected") or 0
        if rejected > judged:
            self.deviation(f"{where}: {rejected} rows reported rejected, the service judged {judged}")

    async def until_complete(
        self, audience: str, begin: list[str], *, abandon: bool = False
    ) -> tuple[int, dict[str, Any]]:
        """The command, then `resume` while it says that it is not finished: with faults, then without."""
        arguments = begin
        for at in range(FAULTY_TRIES + QUIET_TRIES):
            self.quiet = at >= FAULTY_TRIES
            before = self.service.requests
            code, document = await self.client(*arguments)
            if code == 0:
                break
            if code in (3, 69) and arguments is begin:
                await self.service.settle()
                arrived = sum(number > before for number in self.service.applied[audience])  # not of earlier commands
                if arrived:
                    self.deviation(f"exit {code} says that nothing arrived, but {arrived} requests were applied")
            run = document.get("run_id") or document.get("erasure_id")
            if abandon or (code not in UNFINISHED and code != 3 and code >= 0):
                break
            if begin[0] == "sync" or (code == 3 and not (arguments is not begin and at < FAULTY_TRIES)):
                arguments = begin
            elif code < 0 or run or arguments is not begin:
                arguments = ["resume", run or "last"]
                if not (self.directory / "state" / ("erasures" if begin[0] == "forget" else "runs")).is_dir():
                    arguments = begin
            if self.chance.random() < 0.3:
                await asyncio.sleep(self.chance.uniform(0, 2))
        was_quiet, self.quiet = self.quiet, False
        if code == 0:
            self.outcome.completed += 1
        elif was_quiet and not abandon:
            self.outcome.stuck.append(f"{begin[0]} never complete without faults, exit {code}")
            self.service.note("STUCK")
        return code, document

    # -- the commands

    async def upload(self, audience: str = AUDIENCES[0], *, check: bool = True) -> set[Member] | None:
        """A list with Updates and Deletes; returns the members that it stands for, when it is complete."""
        count = self.chance.randint(2500, 4000) if self.large else self.chance.randint(60, 420)
        everyone = people(self.chance, count, phones=self.phones)
        strangers = {member((f"stranger{at}@example.org", "")) for at in range(5)}
        earlier = [(f"earlier{at}@example.org", "") for at in range(6)]
        self.service.audiences[audience] |= strangers | {member(person) for person in earlier}
        rows, operations = list(everyone), ["update"] * count
        leavers = self.chance.sample(everyone, self.chance.randint(1, count // 2))
        for email, phone in [*leavers, *earlier]:
            part = self.chance.random()
            rows.append(("", phone) if phone and part < 0.25 else (email, "") if part < 0.5 else (email, phone))
            operations.append("delete")
        if self.chance.random() < 0.4:
            back = self.chance.sample(leavers, max(1, len(leavers) // 3))
            rows += back
            operations += ["update"] * len(back)
        if check and not self.large and not self.abandoned and self.chance.random() < 0.3:
            refused = self.chance.sample(everyone, 2)
            self.service.refused = {f"email:{digest(email)}" for email, _ in refused}
        path = self.write(rows, operations)
        wanted = set(self.service.audiences[audience])
        judged = 0
        for row, operation in zip(rows, operations, strict=True):
            entry = member(row)
            if entry & self.service.refused:
                judged += 1
            elif operation == "update":
                wanted.add(entry)
            else:
                wanted = {one for one in wanted if not one & entry}
        begin = ["upload", str(path), "--audience", audience, "--operation-column", "operation"]
        code, document = await self.until_complete(audience, begin, abandon=self.chance.random() < self.abandoned)
        if check and self.abandoned and not self.service.refused:
            await self.take_out(audience)
            return None
        if code != 0:
            return None
        self.expect_rejections(document, judged, "upload")
        if check:
            await self.expect_for_good(audience, wanted, "upload")
        else:
            self.expect(audience, wanted, "upload, at exit 0")
        self.service.refused = set()
        return wanted

    async def take_out(self, audience: str) -> None:
        """Another run takes out some of them, after a run that was left as it was: what is late must not undo it."""
        emails = sorted(value for value in self.values if value.endswith("@example.com"))
        leavers: list[Person] = [(email, "") for email in self.chance.sample(emails, len(emails) // 4)]
        path = self.write(leavers)
        begin = ["upload", str(path), "--audience", audience, "--operation", "delete"]
        self.budget += self.chance.choice([0, 2, 6])
        code, document = await self.until_complete(audience, begin)
        if code != 0:
            return
        self.expect_rejections(document, 0, "removal")
        keys = frozenset().union(*(member(person) for person in leavers))
        for where in ("at exit 0", "after the late ones"):
            left = sum(1 for one in self.service.audiences[audience] if one & keys)
            if left:
                self.deviation(f"removal: {left} of {len(leavers)} are members, {where}")
            await self.service.settle()

    async def sync(self, audience: str = AUDIENCES[0], *, states: int = 0) -> set[Member] | None:
        """Two or three states of a list in turn; returns the members of the last one, when it is complete."""
        count = self.chance.randint(2500, 3500) if self.large else self.chance.randint(60, 360)
        now = people(self.chance, count, phones=self.phones)
        strangers = {member((f"stranger{at}@example.org", "")) for at in range(3)}
        self.service.audiences[audience] |= strangers
        wanted: set[Member] | None = None
        number = states or self.chance.choice([2, 3])
        for state in range(number):
            self.budget += 2 * bool(state)
            if state:
                now = self.change(now, 1000 * state)
            path = self.write(now)
            begin = ["sync", str(path), "--audience", audience, "--replace"]
            code, document = await self.until_complete(
                audience, begin, abandon=state + 1 < number and self.chance.random() < self.abandoned
            )
            if code != 0:
                wanted = None
                continue
            wanted = strangers | {member(person) for person in now}
            self.expect_rejections(document, 0, f"sync {state + 1}")
            if self.chance.random() < 0.3:
                await self.expect_for_good(audience, wanted, f"sync {state + 1}")
            else:
                self.expect(audience, wanted, f"sync {state + 1}, at exit 0")
        await self.service.settle()
        if wanted is not None:
            self.expect(audience, wanted, "last sync, after the late ones")
        return wanted

    def change(self, now: list[Person], first: int) -> list[Person]:
        """The next state of a list: people leave, come, come back, and get another number."""
        self.left = getattr(self, "left", [])
        stay = [person for person in now if self.chance.random() < self.chance.choice([0.6, 0.9])] or now[:1]
        gone = [person for person in now if person not in stay]
        back = [person for person in self.left if self.chance.random() < 0.5]
        self.left = gone
        changed = [
            (email, "" if phone and self.chance.random() < 0.5 else phone)
            if self.chance.random() < 0.15
            else (email, phone)
            for email, phone in stay
        ]
        known = {email for email, _ in changed}
        new = people(self.chance, self.chance.randint(1, 25), phones=self.phones, first=first)
        return changed + [person for person in (*back, *new) if person[0] not in known]

    async def forget(self) -> None:
        """Two audiences are filled with the same people, with faults; then some of them ask to be forgotten."""
        first = await self.upload(AUDIENCES[0], check=False)
        if self.chance.random() < 0.6:
            second = await self.sync(AUDIENCES[1], states=1)
        else:
            second = await self.upload(AUDIENCES[1], check=False)
        known = sorted(self.values)
        emails = [value for value in known if value.endswith("@example.com")]
        phones = [value for value in known if value.startswith("+1")]
        asked: list[Person] = [
            (email, "") for email in self.chance.sample(emails, min(len(emails), self.chance.randint(1, 9)))
        ]
        if phones:
            asked += [("", phone) for phone in self.chance.sample(phones, min(len(phones), 3))]
        asked += people(self.chance, 1, phones=False)
        path = self.write(asked)
        keys = set().union(*(member(person) for person in asked))
        self.budget += self.chance.choice([1, 3, 6])
        code, document = await self.until_complete(
            AUDIENCES[0], ["forget", "--from", str(path), "--shared-values", "keep"]
        )
        self.receipt(document, keys)
        await self.service.settle()
        if code != 0:
            return
        self.receipt(document, keys, where="after the late ones")
        for audience, wanted in zip(AUDIENCES, (first, second), strict=True):
            left = sum(1 for one in self.service.audiences[audience] if one & keys)
            if left:
                self.deviation(f"forget said complete, and {left} of the people are in {audience}")
            if wanted is not None:
                self.expect(audience, {one for one in wanted if not one & keys}, "forget, after the late ones")

    def receipt(self, document: dict[str, Any], keys: set[str] | frozenset[str], where: str = "at its end") -> None:
        listed = {entry.get("id"): entry.get("state") for entry in document.get("audiences") or []}
        for audience in AUDIENCES:
            left = sum(1 for one in self.service.audiences[audience] if one & keys)
            if listed.get(audience) in ("confirmed", "gone") and left:
                self.deviation(f"the receipt says {listed[audience]} for {audience}, and {left} are in it, {where}")
        if document.get("state") == "complete":
            for audience in AUDIENCES:
                if listed.get(audience) != "confirmed":
                    self.deviation(f"complete, but {audience} is {listed.get(audience)}")

    async def run(self) -> Outcome:
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096 if self.large else 65_536)
        listening.bind(("127.0.0.1", 0))
        server = await asyncio.start_server(
            self.service.accepted, sock=listening, limit=1 << 24 if not self.large else 8192
        )
        self.port = listening.getsockname()[1]
        self.service.note(
            f"seed {self.outcome.seed}: concurrency {self.concurrency}, bodies of {self.body_bytes}, "
            f"faults {self.share:.0%}, at most {self.budget}, signal at {self.kill_at}"
        )
        try:
            await getattr(self, self.outcome.command)()
        finally:
            server.close()
            for task in [*self.service.tasks, *self.service.late]:
                task.cancel()
        self.outcome.met = self.service.met
        self.outcome.requests = self.service.requests
        self.outcome.reused = self.service.reused
        self.outcome.log = self.service.log
        return self.outcome


async def run_seed(
    command: str, seed: int, *, undecidable: bool = False, one_fault: str = "", preloaded: Preloaded | None = None
) -> Outcome:
    """One run from its seed, in a directory of its own."""
    with tempfile.TemporaryDirectory(prefix="raw-service-") as directory:
        run = Run(command, seed, Path(directory), undecidable=undecidable, one_fault=one_fault)
        run.preloaded = preloaded
        return await run.run()
