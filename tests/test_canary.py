"""No raw value, no header cell and no hash reaches anything that a person or a program could read.

A marker stands in every cell and every header of sources with all kinds of faults. It is then looked for, in many
encodings, in stdout, stderr, the logs of every library at DEBUG, the frames of exceptions, every file written, every
byte spooled, and the process list. The search is first shown to find markers that were leaked on purpose.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import logging
import os
import re
import subprocess
import sys
import traceback
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit.audiences.erasure.forgetting import forget_async
from audiencekit.delivery import spool
from audiencekit.delivery.locks import TargetLock
from audiencekit.emulator import Emulator
from audiencekit.errors import AudiencekitError
from audiencekit.pipeline import check, prepare, upload_async
from audiencekit.preparation.target import Target
from audiencekit.settings import Settings, load_settings

WORD = "canary7q3zx"
DIGITS = "5550147"
HEX = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])", re.IGNORECASE)


def _forms(marker: str) -> dict[str, bytes]:
    raw = marker.encode()
    forms = {
        "raw": raw,
        "upper": marker.upper().encode(),
        "reversed": raw[::-1],
        "hex": raw.hex().encode(),
        "utf-16": marker.encode("utf-16-le"),
        "percent": "".join(f"%{byte:02X}" for byte in raw).encode(),
        "quoted-printable": "".join(f"={byte:02X}" for byte in raw).encode(),
        "json": "".join(f"\\u{ord(character):04x}" for character in marker).encode(),
    }
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + raw)
        forms[f"base64+{offset}"] = encoded[4 if offset else 0 : len(encoded) // 4 * 4 - 4]
    return forms


FORMS = {f"{marker} as {name}": form for marker in (WORD, DIGITS) for name, form in _forms(marker).items()}


def _leaks(content: bytes, *, hashes_allowed: bool = False) -> list[str]:
    found = [name for name, form in FORMS.items() if form in content]
    if not hashes_allowed and HEX.search(content):
        found.append("a SHA-256 in hex")
    return found


def _row_faults() -> str:
    """One list in which every row has another fault, a marker in every cell."""
    sha256 = hashlib.sha256(f"{WORD}@example.com".encode()).hexdigest()
    cells = [
        f"{WORD}@example.com,+1201{DIGITS},{WORD}",
        f"{WORD} at example.com,+1201{DIGITS}9999999,{WORD}",
        f"{WORD}@localhost,{DIGITS},{WORD}",
        f"{WORD}@@example.com,01{DIGITS},{WORD}",
        f"Name {WORD} <{WORD}@example.com>,(201) {DIGITS} x7,{WORD}",
        f"mailto:{WORD}@example.com,'+1201{DIGITS},{WORD}",
        f"{WORD}@example.com;{WORD}2@example.com,1201{DIGITS}.0,{WORD}",
        f"{sha256},1.2E+{DIGITS},{WORD}",
        f"{WORD}@exa\u200bmple.com,\u200b+1201{DIGITS},{WORD}",
        f"{WORD}@exa\0mple.com,+1\0{DIGITS},{WORD}",
        f"{WORD * 40}@example.com,{DIGITS * 9},{WORD}",
        f"{WORD}@example,{WORD},{WORD}",
        f"null,{DIGITS},{WORD}",
        f",,{WORD}",
        f"{WORD}@example.com",
        f"{WORD}@example.com,+1201{DIGITS},{WORD},{WORD},{WORD}",
        f"{WORD}\u0130@example.com,+1201{DIGITS},{WORD}",
        f'"{WORD}\n@example.com","+1201\n{DIGITS}",{WORD}',
        f"\u202e{WORD}@example.com,+1201{DIGITS},{WORD}",
        f"{WORD},{WORD},{WORD}",
        f"={WORD}@example.com,=1201{DIGITS},={WORD}",
        f"{WORD}@{'a' * 64}.com,\uff0b1201{DIGITS},{WORD}",
    ]
    good = [f"{WORD}{number}@example.com,+1201{DIGITS},{WORD}" for number in range(40)]
    return "\n".join([f"email {WORD},phone {WORD},{WORD}", *cells, *good]) + "\n"


def _csv(rows: str, head: str = f"email {WORD},phone {WORD}") -> bytes:
    return f"{head}\n{rows}\n".encode()


def _parquet(**columns: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


GOOD = "\n".join(f"{WORD}{number}@example.com,+1201{DIGITS}" for number in range(30))
SOURCES: dict[str, bytes] = {
    "row faults": _row_faults().encode(),
    "broken bytes": _row_faults().encode().replace(b"39@", b"39\xff@"),
    "all broken bytes": _csv(GOOD).replace(b"@", b"\xe9@"),
    "open quote": _csv(f'{GOOD}\n"{WORD}@example.com,+1201{DIGITS}\n{GOOD}'),
    "text after a quote": _csv(f'{GOOD}\n"{WORD}"x{WORD},+1201{DIGITS}'),
    "ragged": _csv("\n".join(f"{WORD}@example.com" for _ in range(60))),
    "no header": f"{WORD},{WORD}@example.com\n{GOOD}\n".encode(),
    "a person as header": f"{WORD},{WORD} Street 1\n{WORD},{WORD}\n".encode(),
    "header only": f"email {WORD},{WORD}\n".encode(),
    "duplicate header": _csv(GOOD, f"email {WORD},EMAIL {WORD}"),
    "too large a cell": _csv(f"{WORD * 7000}@example.com,{DIGITS}"),
    "far too large a cell": _csv(f'"{WORD * 20000}",{DIGITS}'),
    "no line ends": f"email {WORD},phone ".encode() + GOOD.replace("\n", ",").encode(),
    "utf-16": _csv(GOOD).decode().encode("utf-16"),
    "utf-16 without a mark": _csv(GOOD).decode().encode("utf-16-le"),
    "truncated gz": gzip.compress(_csv(GOOD), mtime=0)[:-9],
    "corrupt gz": gzip.compress(_csv(GOOD), compresslevel=0, mtime=0).replace(b"canary", b"kanary", 1),
    "excel": _csv("\n".join(f"{WORD}{n}@example.com,1.2{DIGITS}E+10" for n in range(60))),
    "hashes": _csv("\n".join(hashlib.sha256(f"{WORD}{n}".encode()).hexdigest() + "," for n in range(60))),
    "wrong kind": _csv("\n".join(f"+1201{DIGITS},{WORD}@example.com" for _ in range(60))),
    "two tables": _csv(f"{GOOD}\n\n{WORD},{WORD},{WORD},{WORD}\n" + f"{WORD},1,2,{WORD}\n" * 30),
    "parquet": _parquet(**{f"email {WORD}": [f"{WORD}@example.com", WORD, None], WORD: [WORD, WORD, WORD]}),
    "parquet of floats": _parquet(**{f"phone {WORD}": [1.5550147e10, 2.0], "email": [f"{WORD}@example.com", WORD]}),
    "truncated parquet": _parquet(email=[f"{WORD}@example.com"])[:-20],
    "prepared, with raw values": _parquet(
        row=[1, 2],
        operation=["Update", WORD],
        email=[[hashlib.sha256(WORD.encode()).hexdigest()], [f"{WORD}@x.example"]],
    ),
    "prepared": _parquet(
        row=[1, 2],
        operation=["Update", WORD],
        email=[[hashlib.sha256(f"{WORD}{n}".encode()).hexdigest()] for n in "ab"],
    ),
    "json lines": f'{{"email": "{WORD}@example.com"}}\n'.encode() * 5,
    "partner": _csv("\n".join(f"{WORD}{n}@example.com,{WORD}" for n in range(60)), "partner_user_id,x"),
}


class _Recorder(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.getMessage()} {record.args!r} {record.exc_info!r}")


@pytest.fixture
def logs() -> Iterator[_Recorder]:
    """Everything that any library logs, at DEBUG."""
    recorder, root = _Recorder(), logging.getLogger()
    level = root.level
    root.addHandler(recorder)
    root.setLevel(logging.DEBUG)
    yield recorder
    root.removeHandler(recorder)
    root.setLevel(level)


@pytest.fixture
def spooled(monkeypatch: pytest.MonkeyPatch) -> bytearray:
    """Every byte that goes into a spool, which leaves no file behind to look into."""
    written = bytearray()

    def pwrite(file: int, content: Any, offset: int) -> int:
        written.extend(content)
        return os.pwrite(file, content, offset)

    monkeypatch.setattr(spool, "os", _Tee(pwrite))
    return written


class _Tee:
    def __init__(self, pwrite: Callable[[int, Any, int], int]) -> None:
        self.pwrite = pwrite

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)


def _frames(error: BaseException) -> bytes:
    """The error as a debugger or a crash reporter sees it: with the locals of every frame below the caller's."""
    chain: list[str] = []
    seen: BaseException | None = error
    below = error.__traceback__.tb_next if error.__traceback__ else None
    while seen is not None:
        chain += traceback.TracebackException(type(seen), seen, below, capture_locals=True).format()
        chain.append(repr(vars(seen)))
        seen = seen.__cause__ or seen.__context__
        below = seen.__traceback__ if seen else None
    return "".join(chain).encode()


def _files(directory: Path, *, but: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and path != but
    }


def test_the_search_finds_what_was_leaked_on_purpose(tmp_path: Path, logs: _Recorder) -> None:
    """In every encoding, in logs, files and frames; and it finds nothing where nothing is."""
    assert _leaks(b"a report of 22 rows") == []
    assert _leaks(hashlib.sha256(b"x").hexdigest().encode()) == ["a SHA-256 in hex"]
    value = f"{WORD}@example.com"
    quoted = urllib.parse.quote(value).encode()
    wide = value.encode("utf-16")
    for leaked in (value.encode(), quoted, wide, base64.b64encode(b"ab" + value.encode()), value[::-1].encode()):
        assert _leaks(b"text " + leaked + b" text"), leaked
    assert _leaks(f"({DIGITS})".encode())
    logging.getLogger("some.library").debug("read %r", value)
    assert _leaks("\n".join(logs.lines).encode())
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "file").write_bytes(base64.b64encode(value.encode()))
    (leak,) = _files(tmp_path, but=tmp_path).values()
    assert _leaks(leak)

    def stumble(text: str) -> None:
        held = text
        raise ValueError(len(held))

    with pytest.raises(ValueError, match=r"\d") as caught:
        stumble(value)
    assert _leaks(_frames(caught.value))


@pytest.mark.parametrize("name", SOURCES)
def test_check_and_prepare_show_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], logs: _Recorder, spooled: bytearray, name: str
) -> None:
    """Plan, files, logs and errors hold no marker; what is prepared holds hashes and nothing raw."""
    source = tmp_path / "source"
    source.write_bytes(SOURCES[name])
    settings = load_settings({}, directory=tmp_path, state_dir=tmp_path / "state")
    shown: dict[str, bytes] = {}
    try:
        plan = check(source, settings=settings, rejections=tmp_path / "rejections.csv", max_rejected_share=1.0)
        shown["plan"] = json.dumps(plan.to_json()).encode() + repr(plan).encode()
        for number, refusal in enumerate(plan.refusals):
            shown[f"refusal {number}"] = _frames(refusal) + refusal.hint.encode()
    except AudiencekitError as error:
        shown["error"] = _frames(error) + error.hint.encode()
    try:
        prepare(source, out=tmp_path / "out", requests=True, settings=settings, max_rejected_share=1.0)
    except AudiencekitError as error:
        shown["error of prepare"] = _frames(error)
    out, err = capfd.readouterr()
    shown |= {"stdout": out.encode(), "stderr": err.encode(), "logs": "\n".join(logs.lines).encode()}
    assert {place: found for place, content in shown.items() if (found := _leaks(content))} == {}
    for file, content in _files(tmp_path, but=source).items():
        assert _leaks(content, hashes_allowed=file.startswith("out/re")) == [], file
    assert _leaks(bytes(spooled)) == []


@pytest.mark.parametrize("fault", ["", "late", "numbers"])
async def test_a_frame_shows_nothing(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    logs: _Recorder,
    emulator: Emulator,
    settings: Settings,
    fault: str,
) -> None:
    """Neither one that is uploaded, nor one that cannot be read to its end, nor one without a column to read."""
    sound = pa.record_batch({f"email {WORD}": [f"{WORD}{number}@example.com" for number in range(2_000)]})

    def batches() -> Iterator[Any]:
        yield sound
        if fault == "late":
            raise ValueError(f"{WORD}@example.com")

    frame = pa.RecordBatchReader.from_batches(sound.schema, batches())
    given = frame if fault != "numbers" else pa.table({"email": [1.5550147e10], WORD: [WORD]})
    shown: dict[str, bytes] = {}
    try:
        report = await upload_async(given, audience_id=emulator.audience_id, settings=settings)
        shown["report"] = json.dumps(report.to_json()).encode() + repr(report).encode()
    except AudiencekitError as error:
        shown["error"] = _frames(error) + error.hint.encode()
    assert list(shown) == ["error" if fault else "report"]
    out, err = capfd.readouterr()
    shown |= {"stdout": out.encode(), "stderr": err.encode(), "logs": "\n".join(logs.lines).encode()}
    assert {place: found for place, content in shown.items() if (found := _leaks(content))} == {}
    assert {name: found for name, kept in _files(tmp_path, but=tmp_path).items() if (found := _leaks(kept))} == {}


async def test_upload_shows_nothing(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    logs: _Recorder,
    spooled: bytearray,
    emulator: Emulator,
    settings: Settings,
) -> None:
    """Neither a whole run nor one that the service refuses leaves a marker or a hash anywhere but on the wire."""
    source = tmp_path / "source"
    source.write_bytes(SOURCES["row faults"])
    report = await upload_async(source, audience_id=emulator.audience_id, settings=settings)
    shown = {"report": json.dumps(report.to_json()).encode() + repr(report).encode()}
    assert report.rows.sent > 0
    with pytest.raises(AudiencekitError) as caught:
        await upload_async(source, audience_id="zzzz", settings=settings)
    shown["error"] = _frames(caught.value)
    out, err = capfd.readouterr()
    shown |= {"stdout": out.encode(), "stderr": err.encode(), "logs": "\n".join(logs.lines).encode()}
    assert {place: found for place, content in shown.items() if (found := _leaks(content))} == {}
    assert {name: found for name, kept in _files(tmp_path, but=source).items() if (found := _leaks(kept))} == {}
    assert spooled
    assert _leaks(bytes(spooled)) == []
    for secret in settings.secrets.values():
        everything = b"".join(shown.values()) + b"".join(_files(tmp_path, but=source).values())
        assert secret.unwrap().encode() not in everything


async def test_forget_shows_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], logs: _Recorder, emulator: Emulator, settings: Settings
) -> None:
    """Neither an erasure that is refused, nor one that ends early, nor one that is complete."""
    source = tmp_path / "source"
    source.write_bytes(SOURCES["row faults"])
    lines = [f"{WORD}@example.com", f"partner_user_id={WORD}-1", f"+1201{DIGITS}"]
    shown: dict[str, bytes] = {}
    for name, asked in (("lines", [*lines, f"{WORD} {WORD}", f"email={WORD}"]), ("lines of nobody", [WORD])):
        with pytest.raises(AudiencekitError) as refused:
            await forget_async(asked, settings=settings)
        shown[name] = _frames(refused.value) + refused.value.hint.encode()
    with pytest.raises(AudiencekitError) as refused:
        await forget_async(source=source, settings=settings)
    shown["source"] = _frames(refused.value)
    busy = TargetLock(settings.state_dir, settings.require_account(), Target.audience(emulator.audience_id), "run")
    with busy, pytest.raises(AudiencekitError) as ended:
        await forget_async(lines, settings=settings)
    shown["ended early"] = _frames(ended.value) + json.dumps(ended.value.document).encode()
    for file, content in _files(tmp_path, but=source).items():
        assert _leaks(content) == [], file
    receipt = await forget_async(source=source, skip_rejected=True, do_not_reach=True, settings=settings)
    shown["receipt"] = json.dumps(receipt.to_json()).encode() + repr(receipt).encode() + receipt.to_text().encode()
    out, err = capfd.readouterr()
    shown |= {"stdout": out.encode(), "stderr": err.encode(), "logs": "\n".join(logs.lines).encode()}
    assert {place: found for place, content in shown.items() if (found := _leaks(content))} == {}
    assert {name: found for name, kept in _files(tmp_path, but=source).items() if (found := _leaks(kept))} == {}


RUNNER = """
import logging, sys
logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
from audiencekit.cli import main
main()
"""


def _said_of(number: int) -> bytes:
    """What the process list says of a process and of all that it began; nothing of those that ended meanwhile."""
    entry = Path(f"/proc/{number}")
    try:
        said = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
        children = [int(child) for each in (entry / "task").glob("*/children") for child in each.read_text().split()]
    except OSError:
        return b""
    return said + b"".join(map(_said_of, children))


PARENT = """
import subprocess, sys
begun = "import sys; print('begun', flush=True); sys.stdin.read()"
subprocess.Popen([sys.executable, "-c", begun, "grand" + "child"]).wait()
"""


def test_the_process_list_is_searched_for_children_too() -> None:
    """Theirs are found, and those of nobody else."""
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        said = _said_of(process.pid)
        assert process.stdin is not None
        process.stdin.close()
    assert b"grandchild" in said
    assert Path("/proc/self/cmdline").read_bytes() not in said
    assert _said_of(process.pid) == b""


async def test_the_process_list_shows_nothing(tmp_path: Path, emulator: Emulator) -> None:
    """Neither arguments nor environment of the command or its children, nor anything it prints at DEBUG."""
    source = tmp_path / "source"
    source.write_bytes(SOURCES["row faults"])
    environment = {
        **os.environ, **emulator.env, "AUDIENCEKIT_STATE_DIR": str(tmp_path / "state"), "PYTHONASYNCIODEBUG": "1",
        "TMPDIR": str(tmp_path), "HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).resolve().parent.parent),
    }  # fmt: skip
    command = [sys.executable, "-c", RUNNER, "upload", str(source), "--audience", emulator.audience_id]
    seen = bytearray()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    import asyncio

    ended = asyncio.create_task(asyncio.to_thread(process.communicate))
    while not ended.done():
        seen += _said_of(process.pid)
        await asyncio.sleep(0.001)
    out, err = await ended
    assert process.returncode == 0, err.decode()[-300:]
    assert b"source" in seen
    assert _leaks(bytes(seen)) == []
    assert _leaks(out) == []
    assert _leaks(err) == []
    assert {name: found for name, kept in _files(tmp_path, but=source).items() if (found := _leaks(kept))} == {}
