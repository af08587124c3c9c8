"""A service of byte streams: it reads HTTP/1.1 by itself, keeps the members, and answers as a fault says."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import struct
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

Member = frozenset[str]  # "field:hash" of each identifier
JSON_TYPE = "application/json;charset=utf-8"


@dataclass(slots=True)
class Request:
    """One request as it came: only what the faults and the log need."""

    number: int
    connection: int
    method: str
    path: str
    body: bytes = b""
    operations: list[tuple[str, Member]] = field(default_factory=list)

    @property
    def audience(self) -> str:
        """The audience of a request that changes members, else nothing."""
        parts = self.path.split("/")
        return parts[-2] if parts[-1] == "users" and len(parts) > 2 else ""

    @property
    def records(self) -> int:
        return len(self.operations)

    def in_words(self) -> str:
        kinds = Counter(kind for kind, _ in self.operations)
        what = " ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        return f"{self.method} {self.path.split('/', 4)[-1]} {what}".strip()


def response(
    status: int | str, body: bytes | dict[str, Any] = b"", *headers: str, kind: str = JSON_TYPE, close: bool = False
) -> bytes:
    """The bytes of a well-formed answer with a length."""
    text = json.dumps(body).encode() if isinstance(body, dict) else body
    line = status if isinstance(status, str) else f"HTTP/1.1 {status} Reason"
    names = [f"content-type: {kind}", f"content-length: {len(text)}", *headers]
    names.append("connection: close" if close else "connection: keep-alive")
    return "\r\n".join([line, *names, "", ""]).encode() + text


def counted(success: Any, total: Any) -> dict[str, Any]:
    return {"request": {"params": {}}, "data": {"success_count": success, "total_count": total}}


def page(status: int, *headers: str, body: bytes | None = None, close: bool = False) -> bytes:
    """The page of a gateway."""
    text = b"<html><head><title>Sorry</title></head><body>gateway</body></html>" if body is None else body
    return response(status, text, "server: gateway", *headers, kind="text/html", close=close)


class Wire:
    """One connection from a client."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        self.reader, self.writer, self.number = reader, writer, number

    async def send(self, *pieces: bytes) -> None:
        self.writer.write(b"".join(pieces))
        await self.writer.drain()

    def finish(self) -> None:
        """Close after what was sent."""
        self.writer.close()

    def reset(self) -> None:
        """Close with a reset, and forget what was not sent yet."""
        sock = self.writer.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def gone(self, seconds: float) -> None:
        """Wait until the client has closed, at most so long."""
        try:
            async with asyncio.timeout(seconds):
                while await self.reader.read(65_536):
                    pass
        except TimeoutError:
            pass


Fault = Callable[["RawService", Wire, Request], Awaitable[None]]


@dataclass(slots=True)
class Chosen:
    """A fault for one exchange, and when it comes in."""

    name: str
    when: str  # accept, head, body
    act: Fault


class RawService:
    """The members of the audiences, the log, and the answers of a service that behaves."""

    def __init__(self, audiences: dict[str, set[Member]], choose: Callable[[RawService, str, Wire], Chosen | None]):
        self.audiences = audiences
        self.descriptions = dict.fromkeys(audiences, "")
        self.choose = choose
        self.chance = random.Random(0)
        self.refused: set[str] = set()  # identifiers whose records the service refuses
        self.refused_requests = 0
        self.requests = 0
        self.connections = 0
        self.applied: defaultdict[str, list[int]] = defaultdict(list)  # the numbers of requests, by audience
        self.last_counts = 17
        self.last_get = response(200, {"request": {}, "data": {"id": "other"}})
        self.late: set[asyncio.Task[None]] = set()
        self.met: Counter[str] = Counter()
        self.log: list[str] = []
        self.undecidable = 0
        self.page_rows = 1000
        self.on_request: Callable[[Request], None] | None = None
        self.began = time.monotonic()
        self.reused = 0
        self.tasks: set[asyncio.Task[Any]] = set()

    def note(self, text: str) -> None:
        self.log.append(f"{time.monotonic() - self.began:8.3f} {text}")

    # -- members

    def apply(self, request: Request, *, how: str = "") -> None:
        members = self.audiences.get(request.audience)
        if members is None or not request.operations:
            return
        for kind, record in request.operations:
            if kind == "Update":
                members.add(record)
            else:
                for member in [one for one in members if one & record]:
                    members.remove(member)
        self.applied[request.audience].append(request.number)
        self.note(f"#{request.number} applied {how} -> {len(members)} members of {request.audience}")

    def apply_later(self, request: Request, seconds: float) -> None:
        async def wait() -> None:
            await asyncio.sleep(seconds)
            self.apply(request, how=f"late by {seconds:.2f} s")

        task = asyncio.get_running_loop().create_task(wait())
        self.late.add(task)
        task.add_done_callback(self.late.discard)

    async def settle(self) -> None:
        """Wait until nothing is to be applied late any more."""
        while self.late:
            await asyncio.wait(set(self.late))

    # -- answers

    def judges(self, request: Request) -> list[int]:
        """Which operations the service refuses."""
        return [at for at, (_, record) in enumerate(request.operations) if record & self.refused]

    def own_answer(self, request: Request) -> bytes:
        """The answer of a service that behaves; it also applies the request."""
        if not request.audience:
            answer = self.answer_question(request)
            if request.method == "GET":
                self.last_get = answer
            return answer
        bad = self.judges(request)
        if bad:
            self.refused_requests += 1
            self.note(f"#{request.number} judged: {len(bad)} of {request.records} refused")
            errors = [
                [{"code": "INVALID_PARAMETER", "message": "no"}] if at in bad else [] for at in range(request.records)
            ]
            return response(400, {"request": {}, "operation_errors": errors})
        self.apply(request)
        self.last_counts = request.records
        return response(200, counted(request.records, request.records))

    def answer_question(self, request: Request) -> bytes:
        url = urlsplit(request.path)
        parts = [part for part in url.path.split("/") if part]
        if parts[-1] == "authenticated_user_access":
            return response(200, {"request": {}, "data": {"user_id": "1", "permissions": ["ACCOUNT_ADMIN"]}})
        if parts[-1] == "custom_audiences":
            names = [] if "permission_scope=SHARED" in url.query else sorted(self.audiences)
            start = 0
            for pair in url.query.split("&"):
                if pair.startswith("cursor="):
                    start = int(pair.removeprefix("cursor=p"))
            more = start + self.page_rows < len(names)
            found = [self.shown(name) for name in names[start : start + self.page_rows]]
            cursor = f"p{start + self.page_rows}" if more else None
            return response(200, {"request": {}, "data": found, "next_cursor": cursor})
        if len(parts) > 1 and parts[-2] == "custom_audiences":
            if parts[-1] not in self.audiences:
                return response(404, {"request": {}, "errors": [{"code": "NOT_FOUND", "message": "no"}]})
            if request.method == "PUT":
                self.describe(parts[-1], request)
            return response(200, {"request": {}, "data": self.shown(parts[-1])})
        if parts[-2:-1] == ["accounts"]:
            return response(200, {"request": {}, "data": {"id": parts[-1], "name": "Shop", "timezone": "UTC"}})
        self.note(f"#{request.number} UNKNOWN {request.method} {request.path}")
        return response(404, {"request": {}, "errors": [{"code": "NOT_FOUND", "message": "no"}]})

    def describe(self, audience: str, request: Request) -> None:
        from urllib.parse import parse_qs

        asked = {**parse_qs(urlsplit(request.path).query), **parse_qs(request.body.decode("utf-8", "replace"))}
        if "description" in asked:
            self.descriptions[audience] = asked["description"][0]

    def shown(self, audience: str) -> dict[str, Any]:
        return {
            "id": audience,
            "name": f"Audience {audience}",
            "description": self.descriptions[audience],
            "targetable": False,
            "audience_size": None,
            "audience_type": "CRM",
            "owner_account_id": "acc1",
            "is_owner": True,
            "deleted": False,
            "partner_source": "OTHER",
            "permission_level": "READ_WRITE",
            "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-01-01T00:00:00Z",
            "reasons_not_targetable": ["TOO_SMALL"],
            "targetable_types": ["CRM"],
            "list_type": None,
            "metadata": None,
        }

    # -- the wire

    async def accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        wire = Wire(reader, writer, self.connections)
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        try:
            chosen = self.choose(self, "accept", wire)
            if chosen is not None:
                await self.meet(chosen, wire, Request(0, wire.number, "", ""))
                return
            first = True
            while await self.exchange(wire, first=first):
                first = False
        except (OSError, EOFError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass
        finally:
            self.tasks.discard(task)
            writer.close()

    async def exchange(self, wire: Wire, *, first: bool) -> bool:
        """One request of a connection; returns whether another one may come."""
        try:
            head = await wire.reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return False
        if not first:
            self.reused += 1
        lines = head.decode("latin-1").split("\r\n")
        method, path, _ = lines[0].split(" ", 2)
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        self.requests += 1
        request = Request(self.requests, wire.number, method, path)
        if self.requests == 1:
            self.note(f"first head: {' '.join(sorted(headers))}; connection: {headers.get('connection')}")
        chosen = self.choose(self, f"head {request.audience or method}", wire)
        if chosen is not None and chosen.when == "head":
            self.note(f"#{request.number} c{wire.number} head of {method}")
            await self.meet(chosen, wire, request)
            return False
        if headers.get("transfer-encoding"):
            self.note(f"#{request.number} UNKNOWN chunked request")
        request.body = await wire.reader.readexactly(int(headers.get("content-length", "0")))
        if request.audience:
            request.operations = read_operations(request.body)
        self.note(f"#{request.number} c{wire.number} {request.in_words()}")
        if self.on_request is not None:
            self.on_request(request)
        if chosen is not None:
            await self.meet(chosen, wire, request)
            return False
        await wire.send(self.own_answer(request))
        return headers.get("connection", "").lower() != "close"

    async def meet(self, chosen: Chosen, wire: Wire, request: Request) -> None:
        self.met[chosen.name] += 1
        self.note(f"#{request.number} c{wire.number} fault {chosen.name}")
        await chosen.act(self, wire, request)


def read_operations(body: bytes) -> list[tuple[str, Member]]:
    """The operations of a body, one for each record, in order."""
    found = []
    for item in json.loads(body):
        for user in item["params"]["users"]:
            record = frozenset(f"{kind}:{value}" for kind, values in user.items() for value in values)
            found.append((item["operation_type"], record))
    return found
