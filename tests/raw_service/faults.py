"""Answers of a network, a gateway, a clock or an attacker: bytes on the wire and the fate of a request.

The fate of the request itself is chosen apart from the answer: applied now, applied late, or never.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from tests.raw_service.server import Chosen, Fault, RawService, Request, Wire, counted, page, response

LATE = (0.3, 2.6)  # seconds of divided time; the client waits SETTLE_SECONDS of it
STALL_SECONDS = 2.5  # longer than the divided timeouts of the client
GAPS = (0.005, 0.05, 0.5)
BEHIND = "Mon, 02 Nov 2026 00:00:00 GMT"
AHEAD = "Fri, 01 Jan 2038 00:00:00 GMT"

ALL: dict[str, Chosen] = {}
UNDECIDABLE: dict[str, Chosen] = {}


def fault(name: str, *, when: str = "body", undecidable: bool = False) -> Callable[[Fault], Fault]:
    def keep(act: Fault) -> Fault:
        (UNDECIDABLE if undecidable else ALL)[name] = Chosen(name, when, act)
        return act

    return keep


def fate(service: RawService, request: Request, *choices: str) -> str:
    """Decide what becomes of a request whose answer is another's: now, late or never."""
    chosen = service.chance.choice(choices or ("now", "late", "never"))
    if not request.operations or service.judges(request):
        chosen = "never"
    if chosen == "now":
        service.apply(request)
    if chosen == "late":
        service.apply_later(request, service.chance.uniform(*LATE))
    if request.operations:
        service.note(f"#{request.number} fate {chosen}")
    return chosen


def right(request: Request) -> bytes:
    """A success with the counts of the request; of no other kind of request."""
    return response(200, counted(request.records, request.records))


def other(service: RawService, request: Request) -> bytes:
    """A success of another request, whose counts are not those of this one."""
    if not request.operations:
        return service.last_get if service.chance.random() < 0.5 else response(200, counted(7, 7))
    n = request.records
    success, total = service.chance.choice([(n + 3, n + 3), (0, 0), (n - 1, n - 1), (n - 1, n), (n, n - 1), (n, n + 1)])
    return response(200, counted(success, total))


# -- more answers than requests


def _twice(gap: float) -> None:
    @fault(f"twice after {gap * 1000:.0f} ms")
    async def act(service: RawService, wire: Wire, request: Request) -> None:
        answer = service.own_answer(request)
        await wire.send(answer)
        await asyncio.sleep(gap)
        await wire.send(answer)
        await wire.gone(1)

    @fault(f"504, then the late 200 after {gap * 1000:.0f} ms")
    async def late(service: RawService, wire: Wire, request: Request) -> None:
        await wire.send(page(504))
        await asyncio.sleep(gap)
        await wire.send(service.own_answer(request))
        await wire.gone(1)

    @fault(f"wrong counts, then the own answer after {gap * 1000:.0f} ms")
    async def wrong(service: RawService, wire: Wire, request: Request) -> None:
        await wire.send(other(service, request))
        await asyncio.sleep(gap)
        await wire.send(service.own_answer(request))
        await wire.gone(1)


for _gap in GAPS:
    _twice(_gap)


def _idle(status: int) -> None:
    @fault(f"{status} on the idle kept connection")
    async def act(service: RawService, wire: Wire, request: Request) -> None:
        await wire.send(service.own_answer(request))
        await asyncio.sleep(service.chance.choice(GAPS))
        extra = response(200, counted(service.last_counts, service.last_counts)) if status == 200 else page(status)
        await wire.send(extra)
        await wire.gone(1)


for _status in (200, 400, 401, 408, 429):
    _idle(_status)


@fault("kept connection promised, extra 408, next request answered before it is read")
async def _kept(service: RawService, wire: Wire, request: Request) -> None:
    await wire.send(service.own_answer(request), page(408))
    if await wire.reader.read(1):
        service.reused += 1
        await wire.send(right(request))
    await wire.gone(1)


@fault("two answers in one packet, neither its own")
async def _two(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request, "late", "never")
    await wire.send(right(request), right(request))
    await wire.gone(1)


@fault("a 200 and a 504 in one packet")
async def _mixed(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request, "late", "never")
    await wire.send(right(request), page(504))
    await wire.gone(1)


def _followed(name: str, garbage: bytes) -> None:
    @fault(f"answer and {name} in one packet")
    async def act(service: RawService, wire: Wire, request: Request) -> None:
        fate(service, request, "late", "never", "now")
        await wire.send(right(request), garbage)
        await wire.gone(1)


_followed("two empty lines", b"\r\n\r\n")
_followed("an empty line", b"\r\n")
_followed("one line feed", b"\n")
_followed("zeros", b"\0" * 9)
_followed("garbage", b"GARBAGE")
_followed("one bracket", b"}")
_followed("half a status line", b"HTTP/1.1")
_followed("a 408", page(408))
_followed("a 100", b"HTTP/1.1 100 Continue\r\n\r\n")
_NEXT = response(200, counted(3, 3))
_followed("one byte of the next", _NEXT[:1])
_followed("the next status line", _NEXT[: _NEXT.index(b"\r\n")])
_followed("half the next head", _NEXT[:50])
_followed("the next head", _NEXT[: _NEXT.index(b"\r\n\r\n") + 4])
_followed("the next answer but its last byte", _NEXT[:-1])
_followed("a request", b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")


# -- answers that come too early


@fault("answer at accept, counts of another", when="accept")
async def _accept(service: RawService, wire: Wire, request: Request) -> None:
    await wire.send(response(200, counted(service.last_counts + 3, service.last_counts + 3)))
    await wire.gone(1)


@fault("page at accept", when="accept")
async def _accept_page(service: RawService, wire: Wire, request: Request) -> None:
    await wire.send(page(service.chance.choice([400, 401, 403, 404, 408, 429, 503])))
    await wire.gone(1)


@fault("answer at accept with right counts", when="accept", undecidable=True)
async def _accept_lucky(service: RawService, wire: Wire, request: Request) -> None:
    await wire.send(response(200, counted(service.last_counts, service.last_counts)))
    await wire.gone(1)


@fault("closed at accept", when="accept")
async def _accept_close(service: RawService, wire: Wire, request: Request) -> None:
    wire.finish()


@fault("reset at accept", when="accept")
async def _accept_reset(service: RawService, wire: Wire, request: Request) -> None:
    wire.reset()


@fault("half-closed at accept, then the request is applied", when="accept")
async def _half_closed(service: RawService, wire: Wire, request: Request) -> None:
    wire.writer.write_eof()
    await wire.gone(1)


@fault("2xx after the head, body never read", when="head")
async def _early(service: RawService, wire: Wire, request: Request) -> None:
    n = service.last_counts + service.chance.choice([3, -1, 100])
    await wire.send(response(service.chance.choice([200, 201, 204]), counted(n, n)))
    wire.reset() if service.chance.random() < 0.5 else await asyncio.sleep(0.5)


@fault("2xx with right counts after the head, body never read", when="head", undecidable=True)
async def _early_lucky(service: RawService, wire: Wire, request: Request) -> None:
    await wire.send(response(200, counted(service.last_counts, service.last_counts)))
    await asyncio.sleep(0.5)


@fault("page after the head, body never read", when="head")
async def _early_page(service: RawService, wire: Wire, request: Request) -> None:
    await wire.send(page(service.chance.choice([400, 401, 403, 404, 408, 413, 429, 502, 503])))
    wire.reset() if service.chance.random() < 0.5 else await asyncio.sleep(0.3)


@fault("reset after the head", when="head")
async def _head_reset(service: RawService, wire: Wire, request: Request) -> None:
    wire.reset()


# -- counts of another request


@fault("counts of another request")
async def _counts(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request)
    await wire.send(other(service, request))


def _odd_counts(name: str, make: Callable[[int], bytes]) -> None:
    @fault(f"counts: {name}")
    async def act(service: RawService, wire: Wire, request: Request) -> None:
        fate(service, request, "late", "never", "late", "now")
        await wire.send(response(200, make(request.records)))


def _data(success: object, total: object) -> bytes:
    return json.dumps(counted(success, total)).encode()


_odd_counts("as text", lambda n: _data(str(n), str(n)))
_odd_counts("true and true", lambda n: _data(True, True))
_odd_counts("null", lambda n: _data(None, None))
_odd_counts("negative", lambda n: _data(-n, -n))
_odd_counts("beyond 64 bits", lambda n: _data(2**64 + n, 2**64 + n))
_odd_counts("of 5,000 digits", lambda n: b'{"data":{"success_count":1' + b"0" * 5000 + b',"total_count":1}}')
_odd_counts("1e999", lambda n: b'{"data":{"success_count":1e999,"total_count":1e999}}')
_odd_counts("NaN", lambda n: b'{"data":{"success_count":NaN,"total_count":NaN}}')
_odd_counts(
    "twice and different",
    lambda n: (
        b'{"data":{"success_count":%d,"success_count":%d,"total_count":%d,"total_count":%d}}' % (n, n - 1, n, n - 1)
    ),
)
_odd_counts("only one of them", lambda n: json.dumps({"data": {"success_count": n}}).encode())
_odd_counts("in a list", lambda n: json.dumps({"data": [{"success_count": n - 1, "total_count": n}]}).encode())
_odd_counts("a fraction", lambda n: _data(n + 0.5, n + 0.5))
_odd_counts(
    "with errors beside", lambda n: json.dumps({**counted(n, n), "errors": [{"code": "X", "message": "m"}]}).encode()
)
_odd_counts(
    "with operation_errors beside",
    lambda n: json.dumps({**counted(n, n), "operation_errors": [[{"code": "X", "message": "m"}]]}).encode(),
)
_odd_counts("in UTF-16", lambda n: json.dumps(counted(n - 1, n)).encode("utf-16"))
_odd_counts("100,000 brackets", lambda n: b"[" * 100_000)
_odd_counts("100,000 objects", lambda n: b'{"data":' * 100_000)
_odd_counts("invalid UTF-8", lambda n: b'{"data":{"success_count":"\xff\xfe"}}')
_odd_counts("a lone surrogate", lambda n: b'{"data":{"success_count":"\\ud800","total_count":"\\ud800"}}')
_odd_counts("two documents", lambda n: _data(n, n) + _data(n, n))
_odd_counts("half a document", lambda n: _data(n, n)[:-2])
_odd_counts("an empty body", lambda n: b"")
_odd_counts("an empty object", lambda n: b"{}")
_odd_counts("only data null", lambda n: b'{"data":null}')
_odd_counts("300 kB of spaces", lambda n: b" " * 300_000)


@fault("a portal's page with status 200")
async def _portal(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request)
    await wire.send(page(200, close=True))


@fault("own answer with other status 2xx")
async def _success(service: RawService, wire: Wire, request: Request) -> None:
    answer = service.own_answer(request)
    await wire.send(answer.replace(b" 200 ", b" %d " % service.chance.choice([201, 203, 226, 299]), 1))


@fault("204, 205 or 206 without counts")
async def _empty_success(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request)
    status = service.chance.choice([204, 205, 206, 202])
    await wire.send(f"HTTP/1.1 {status} Fine\r\nconnection: close\r\n\r\n".encode())
    wire.finish()


# -- statuses in a form that is not the service's


def _status(status: int, empty: bool) -> None:
    @fault(f"{status} {'with an empty body' if empty else 'as a page'}")
    async def act(service: RawService, wire: Wire, request: Request) -> None:
        fate(service, request, *(("never",) if status == 413 else ()))
        body = b"" if empty else None
        if status == 429:
            reset = service.chance.choice(["", "0", "-5", "soon", "1e300", "99999999999999", "1700000000"])
            extra = [f"x-rate-limit-reset: {reset}", "x-rate-limit-remaining: 0"] if reset else []
            await wire.send(page(429, *extra, body=body))
        else:
            await wire.send(page(status, body=body, close=service.chance.random() < 0.5))


for _code in (
    400,
    401,
    403,
    404,
    405,
    408,
    409,
    410,
    413,
    415,
    422,
    423,
    425,
    429,
    451,
    499,
    500,
    502,
    503,
    504,
    520,
    599,
):
    _status(_code, False)
    _status(_code, True)


def _foreign(name: str, status: int, body: object) -> None:
    @fault(f"{status} {name}")
    async def act(service: RawService, wire: Wire, request: Request) -> None:
        fate(service, request)
        await wire.send(response(status, json.dumps(body).encode()))


_foreign("JSON of a gateway, message", 400, {"message": "Bad Request"})
_foreign("JSON of a gateway, error text", 401, {"error": "unauthorized"})
_foreign("JSON of a gateway, fault", 403, {"fault": {"faultstring": "Forbidden"}})
_foreign("JSON of a gateway, problem", 404, {"title": "Not Found", "status": 404, "type": "about:blank"})
_foreign("JSON with errors empty", 400, {"errors": []})
_foreign("JSON with errors null", 404, {"errors": None})
_foreign("JSON with errors text", 400, {"errors": "bad"})
_foreign("JSON with errors a number", 422, {"errors": 5})
_foreign("JSON with operation_errors empty", 400, {"operation_errors": []})
_foreign("JSON with operation_errors all empty", 400, {"operation_errors": [[], [], []]})
_foreign("JSON list", 400, ["errors"])
_foreign("JSON null", 400, None)
_foreign("JSON with counts", 400, {"data": {"success_count": 15, "total_count": 15}})


@fault("redirect of another peer")
async def _redirect(service: RawService, wire: Wire, request: Request) -> None:
    status = service.chance.choice([300, 302, 303, 304, 301, 307, 308])
    fate(service, request, *(("never",) if status in (301, 307, 308) else ()))
    await wire.send(page(status, "location: /12/accounts/acc1/custom_audiences/aud1/users"))


@fault("503 or 429 with a strange Retry-After")
async def _retry_after(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request)
    word = service.chance.choice(["-5", "1e9", "soon", "Wed, 21 Oct 2015 07:28:00 GMT", AHEAD, "0", "nan", "0x10"])
    await wire.send(page(service.chance.choice([503, 429, 408]), f"retry-after: {word}"))


@fault("a clock that is wrong: 401 of the service, code 135")
async def _clock(service: RawService, wire: Wire, request: Request) -> None:
    date = service.chance.choice([BEHIND, AHEAD, "yesterday", "", "Sat, 28 Nov 2026 99:99:99 GMT"])
    answer = {"errors": [{"code": 135, "message": "Timestamp out of bounds."}]}
    await wire.send(response(401, answer, f"date: {date}"))


@fault("own answer with a wrong date")
async def _date(service: RawService, wire: Wire, request: Request) -> None:
    answer = service.own_answer(request)
    date = service.chance.choice([BEHIND, AHEAD, "yesterday", "Thu, 01 Jan 1970 00:00:00 GMT"])
    await wire.send(answer.replace(b"\r\n", f"\r\ndate: {date}\r\nage: -1\r\n".encode(), 1))


@fault("429 of the service, reset far or past")
async def _limited(service: RawService, wire: Wire, request: Request) -> None:
    reset = service.chance.choice(["0", "1", "99999999999", "abc", "1e308", "-1", "９", ""])
    answer = {"errors": [{"code": "TOO_MANY_REQUESTS", "message": "m"}]}
    head = response(429, answer).replace(b"\r\n", b"\r\nx-rate-limit-reset: " + reset.encode() + b"\r\n", 1)
    await wire.send(head)


# -- 1xx


@fault("100, 102 and 103, then the own answer")
async def _informational(service: RawService, wire: Wire, request: Request) -> None:
    for code in service.chance.sample([100, 102, 103, 100, 199], 3):
        await wire.send(f"HTTP/1.1 {code} Wait\r\nlink: </a>\r\n\r\n".encode())
        await asyncio.sleep(0.005)
    await wire.send(service.own_answer(request))


@fault("100, then closed")
async def _hundred(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request)
    await wire.send(b"HTTP/1.1 100 Continue\r\n\r\n")
    wire.finish()


@fault("101, then a success that is not its own")
async def _upgrade(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request, "late", "never")
    await wire.send(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n", right(request))
    await wire.gone(1)


@fault("1xx with a body that holds a success")
async def _smuggled(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request, "late", "never")
    inner = right(request)
    await wire.send(f"HTTP/1.1 103 Early\r\ncontent-length: {len(inner)}\r\n\r\n".encode(), page(502))
    await wire.gone(1)


@fault("102 without end")
async def _endless(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request)
    for _ in range(40):
        await wire.send(b"HTTP/1.1 102 Processing\r\n\r\n")
        await asyncio.sleep(0.1)


# -- framing


@fault("half an answer, then closed")
async def _half(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request)
    answer = right(request) if request.operations else service.own_answer(request)
    await wire.send(answer[: service.chance.randint(1, len(answer) - 1)])
    wire.finish()


@fault("half an answer, then reset")
async def _half_reset(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request)
    answer = right(request) if request.operations else service.own_answer(request)
    await wire.send(answer[: service.chance.randint(1, len(answer) - 1)])
    await asyncio.sleep(0.01)
    wire.reset()


@fault("half an answer, then silence")
async def _half_silence(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request)
    answer = right(request) if request.operations else service.own_answer(request)
    await wire.send(answer[: service.chance.randint(1, len(answer) - 1)])
    await wire.gone(STALL_SECONDS)


@fault("silence")
async def _silence(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request)
    await wire.gone(STALL_SECONDS)


@fault("own answer after the client has given up")
async def _too_late(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request, "late", "now")
    await asyncio.sleep(STALL_SECONDS)
    await wire.send(right(request))


@fault("own answer byte for byte")
async def _drip(service: RawService, wire: Wire, request: Request) -> None:
    answer = service.own_answer(request)
    for at in range(0, len(answer), 8):
        await wire.send(answer[at : at + 8])
        await asyncio.sleep(0.002)


@fault("keep-alive promised, then closed")
async def _broken_promise(service: RawService, wire: Wire, request: Request) -> None:
    await wire.send(service.own_answer(request))
    wire.finish()


@fault("own answer, then reset")
async def _answer_reset(service: RawService, wire: Wire, request: Request) -> None:
    await wire.send(service.own_answer(request))
    await asyncio.sleep(service.chance.choice([0, 0.01]))
    wire.reset()


@fault("reset after the whole request")
async def _reset(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request)
    wire.reset()


@fault("closed after the whole request")
async def _closed(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request)
    wire.finish()


@fault("content-length too short")
async def _short(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request)
    body = json.dumps(counted(request.records, request.records)).encode()
    await wire.send(
        f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body) - 5}\r\n\r\n".encode(), body
    )
    await wire.gone(1)


@fault("content-length too long")
async def _long(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request)
    body = json.dumps(counted(request.records, request.records)).encode()
    await wire.send(
        f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body) + 5}\r\n\r\n".encode(), body
    )
    wire.finish() if service.chance.random() < 0.5 else await wire.gone(STALL_SECONDS)


def _framing(name: str, headers: str, body: Callable[[bytes], bytes] = lambda text: text) -> None:
    @fault(f"framing: {name}")
    async def act(service: RawService, wire: Wire, request: Request) -> None:
        fate(service, request, "late", "never", "now")
        n = request.records + service.chance.choice([3, -1])
        text = body(json.dumps(counted(n, n)).encode())
        await wire.send(f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{headers}\r\n\r\n".encode(), text)
        wire.finish() if service.chance.random() < 0.5 else await wire.gone(0.6)


_framing("length +20", "content-length: +20")
_framing("length of letters", "content-length: many")
_framing("negative length", "content-length: -1")
_framing("two lengths", "content-length: 5\r\ncontent-length: 60")
_framing(
    "a length and chunked",
    "content-length: 5\r\ntransfer-encoding: chunked",
    lambda t: b"%x\r\n%s\r\n0\r\n\r\n" % (len(t), t),
)
_framing("length of 60 digits", "content-length: " + "9" * 60)
_framing("chunk without end", "transfer-encoding: chunked", lambda t: b"%x\r\n%s\r\n" % (len(t), t))
_framing("chunk of no number", "transfer-encoding: chunked", lambda t: b"zz\r\n%s\r\n0\r\n\r\n" % t)
_framing("chunk of 2**64", "transfer-encoding: chunked", lambda t: b"ffffffffffffffff1\r\n%s" % t)
_framing("chunked twice", "transfer-encoding: chunked, chunked", lambda t: b"%x\r\n%s\r\n0\r\n\r\n" % (len(t), t))
_framing("gzip that is none", "content-encoding: gzip\r\ncontent-length: 60", lambda t: t[:60].ljust(60))
_framing("unknown encoding", "content-encoding: zz\r\ncontent-length: 60", lambda t: t[:60].ljust(60))
_framing("500 headers", "\r\n".join(f"x-{n}: y" for n in range(500)))
_framing("a header of 200 kB", "x-long: " + "y" * 200_000)
_framing("a folded header", "x-a: 1\r\n  content-length: 3")
_framing("a header without a colon", "nonsense")
_framing("a space before the colon", "content-length : 60")
_framing("a null in a header", "x-a: \0")
_framing("no length, until closed", "connection: close")
_framing("charset of no kind", "content-type: application/json; charset=klingon\r\nconnection: close")


def _lines(name: str, line: bytes, *, believable: bool = False) -> None:
    @fault(f"status line: {name}")
    async def act(service: RawService, wire: Wire, request: Request) -> None:
        if believable:
            answer = service.own_answer(request)
            if not answer.startswith(b"HTTP/1.1 200 Reason"):
                await wire.send(answer)
                return
        else:
            fate(service, request, "late", "never")
            answer = right(request)
        await wire.send(answer.replace(b"HTTP/1.1 200 Reason", line, 1))
        wire.finish() if service.chance.random() < 0.5 else await wire.gone(0.5)


_lines("HTTP/1.0", b"HTTP/1.0 200 OK", believable=True)
_lines("no reason", b"HTTP/1.1 200", believable=True)
_lines("an empty line before", b"\r\nHTTP/1.1 200 OK", believable=True)
_lines("a reason of 8-bit letters", b"HTTP/1.1 200 \xfc\xff", believable=True)
_lines("2000", b"HTTP/1.1 2000 OK")
_lines("20", b"HTTP/1.1 20 OK")
_lines("ICY", b"ICY 200 OK")
_lines("-200", b"HTTP/1.1 -200 OK")
_lines("600", b"HTTP/1.1 600 Odd")
_lines("999", b"HTTP/1.1 999 Denied")
_lines("99", b"HTTP/1.1 099 Odd")
_lines("HTTP/9.9", b"HTTP/9.9 200 OK")
_lines("another protocol", b"SSH-2.0-OpenSSH_9.6\r\nHTTP/1.1 200 OK")
_lines("TLS alert", b"\x15\x03\x01\x00\x02\x02\x46HTTP/1.1 200 OK")
_lines("an empty answer", b"")


@fault("own answer in chunks with extensions and a trailer")
async def _chunks(service: RawService, wire: Wire, request: Request) -> None:
    answer = service.own_answer(request)
    head, _, body = answer.partition(b"\r\n\r\n")
    status = head.split(b"\r\n")[0]
    await wire.send(status, b"\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
    for at in range(0, len(body), 11):
        piece = body[at : at + 11]
        await wire.send(b"%x;a=b\r\n%s\r\n" % (len(piece), piece))
    await wire.send(b"0\r\nx-trailer: 1\r\n\r\n")


@fault("the request is quoted back in the error")
async def _quoted(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request)
    quoted = sorted({value for _, record in request.operations for value in record})
    body: dict[str, Any] = {"message": quoted[:3], "quoted": quoted}
    await wire.send(response(service.chance.choice([400, 403, 404, 500, 503]), body))


# -- what no client can know; each is counted apart


@fault("another request's success with right counts", undecidable=True)
async def _lucky(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request, "late", "never")
    await wire.send(right(request))


@fault("a cached success: Age and an old Date", undecidable=True)
async def _cached(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request, "late", "never")
    answer = response(200, counted(request.records, request.records), "age: 3600", "x-cache: HIT", f"date: {BEHIND}")
    await wire.send(answer)


@fault("202 with right counts, applied late", undecidable=True)
async def _accepted_only(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request, "late")
    await wire.send(response(202, counted(request.records, request.records)))


@fault("success applied again late: a gateway repeats the request", undecidable=True)
async def _repeated(service: RawService, wire: Wire, request: Request) -> None:
    answer = service.own_answer(request)
    if request.operations and not service.judges(request):
        service.apply_later(request, service.chance.uniform(*LATE))
    await wire.send(answer)


@fault("a refusal in the service's form that is another request's", undecidable=True)
async def _stray_refusal(service: RawService, wire: Wire, request: Request) -> None:
    fate(service, request, "late", "never")
    body = {"errors": [{"code": "INVALID_PARAMETER", "message": "m"}]}
    await wire.send(response(service.chance.choice([400, 404, 403, 422, 409]), body))


@fault("right counts, then the own answer 50 ms later", undecidable=True)
async def _twin(service: RawService, wire: Wire, request: Request) -> None:
    await wire.send(right(request))
    await asyncio.sleep(0.05)
    fate(service, request, "late", "never")
    await wire.send(page(504))
    await wire.gone(1)
