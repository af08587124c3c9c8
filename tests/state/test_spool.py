"""The spool returns each chunk that was put into it, or an error; no other process can read it."""

from __future__ import annotations

import errno
import os
import pickle
import random
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.errors import Bug, InputOutputFailed
from audiencekit.state import spool as spool_module
from audiencekit.state.spool import Spool
from tests.moments import PATIENCE_SECONDS

CHUNKS = st.lists(st.binary(max_size=200), max_size=8)
MARKER = b"marker-of-a-person"
with_one_directory = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def filled(directory: Path, chunks: list[bytes]) -> Spool:
    spool = Spool(directory)
    for chunk in chunks:
        spool.append(chunk)
    return spool


def put_one(spool: Spool) -> None:
    spool.append(MARKER)


def put_several(spool: Spool) -> None:
    spool.append_all([memoryview(MARKER), memoryview(MARKER)])


def read_until_failure(spool: Spool, message: str) -> list[bytes]:
    """The chunks that come out before reading fails with `message`."""
    came_out: list[bytes] = []
    with pytest.raises(InputOutputFailed, match=message):
        came_out += spool.chunks()
    return came_out


def sealed_file(spool: Spool) -> bytes:
    return os.pread(spool.fileno(), os.fstat(spool.fileno()).st_size, 0)


@with_one_directory
@given(CHUNKS)
def test_chunks_come_back_in_order(tmp_path: Path, chunks: list[bytes]) -> None:
    """Every chunk comes back as it was, empty ones too, as often as it is asked for."""
    with filled(tmp_path, chunks) as spool:
        assert list(spool.chunks()) == chunks
        assert list(spool.chunks()) == chunks
        assert len(spool) == len(chunks)


def test_views_are_taken_like_bytes(tmp_path: Path) -> None:
    """A memoryview is spooled without being turned into bytes first."""
    with Spool(tmp_path) as spool:
        spool.append(memoryview(b"0123456789")[2:5])
        spool.append(memoryview(bytearray(b"abc")))
        assert list(spool.chunks()) == [b"234", b"abc"]


@with_one_directory
@given(st.lists(CHUNKS, max_size=4))
def test_several_are_written_in_one_go(tmp_path: Path, lots: list[list[bytes]]) -> None:
    """They come back one by one, behind those before them."""
    with filled(tmp_path, [b"before"]) as spool:
        expected = [b"before"]
        for chunks in lots:
            begin = len(expected)
            assert spool.append_all([memoryview(chunk) for chunk in chunks]) == [*range(begin, begin + len(chunks))]
            spool.append(b"between")
            expected += [*chunks, b"between"]
        assert list(spool.chunks()) == expected
        assert [spool.read(number) for number in range(len(spool))] == expected


@pytest.mark.parametrize("in_place", [True, False])
@with_one_directory
@given(CHUNKS, st.data())
def test_several_are_read_in_one_go(tmp_path: Path, in_place: bool, chunks: list[bytes], data: st.DataObject) -> None:
    """One behind the other, in whatever order and as often as they are asked for."""
    with pytest.MonkeyPatch.context() as patch, filled(tmp_path, chunks) as spool:
        patch.setattr(spool_module, "_SEALS_IN_PLACE", in_place and spool_module._SEALS_IN_PLACE)
        numbers = data.draw(st.lists(st.integers(0, len(chunks) - 1))) if chunks else []
        assert spool.read_all(numbers) == b"".join(chunks[number] for number in numbers)
        with pytest.raises(Bug, match=f"chunk {len(chunks) + 1} of the spool was never written"):
            spool.read_all([*numbers, len(chunks)])


def test_two_readings_do_not_disturb_each_other(tmp_path: Path) -> None:
    """Readings have places of their own, and see what is appended meanwhile."""
    with filled(tmp_path, [b"a", b"b", b"c"]) as spool:
        first, second = spool.chunks(), spool.chunks()
        assert [next(first), next(first), next(second)] == [b"a", b"b", b"a"]
        spool.append(b"d")
        assert list(first) == [b"c", b"d"]
        assert list(second) == [b"b", b"c", b"d"]


@with_one_directory
@given(st.lists(st.binary(min_size=1, max_size=60), min_size=1, max_size=4), st.data())
def test_any_flipped_bit_is_found(tmp_path: Path, chunks: list[bytes], data: st.DataObject) -> None:
    """No chunk comes out changed: those before the damage are right, at the damage reading fails."""
    with filled(tmp_path, chunks) as spool:
        content = bytearray(sealed_file(spool))
        bit = data.draw(st.integers(0, len(content) * 8 - 1))
        content[bit // 8] ^= 1 << bit % 8
        os.pwrite(spool.fileno(), content, 0)
        came_out = read_until_failure(spool, "changed after it was written")
        assert came_out == chunks[: len(came_out)]
        assert len(came_out) < len(chunks)


def test_exchanged_chunks_are_found(tmp_path: Path) -> None:
    """Two chunks of one size, each intact, are refused when they stand in each other's place."""
    with filled(tmp_path, [b"first!", b"second"]) as spool:
        content = sealed_file(spool)
        half = len(content) // 2
        os.pwrite(spool.fileno(), content[half:] + content[:half], 0)
        with pytest.raises(InputOutputFailed, match="chunk 1 of the spool was changed"):
            next(spool.chunks())


def test_chunk_of_another_spool_is_found(tmp_path: Path) -> None:
    """Each spool has a key of its own: a chunk sealed elsewhere, at the same place, is refused."""
    with filled(tmp_path, [b"mine"]) as mine, filled(tmp_path, [b"else"]) as other:
        os.pwrite(mine.fileno(), sealed_file(other), 0)
        with pytest.raises(InputOutputFailed):
            next(mine.chunks())


@with_one_directory
@given(st.lists(st.binary(max_size=60), min_size=1, max_size=4), st.data())
def test_truncation_is_found(tmp_path: Path, chunks: list[bytes], data: st.DataObject) -> None:
    """A file cut anywhere gives the whole chunks before the cut, then fails."""
    with filled(tmp_path, chunks) as spool:
        os.ftruncate(spool.fileno(), data.draw(st.integers(0, len(sealed_file(spool)) - 1)))
        came_out = read_until_failure(spool, "is cut off")
        assert came_out == chunks[: len(came_out)]


def test_same_chunks_never_look_the_same(tmp_path: Path) -> None:
    """Neither within one spool nor between two is one plain text sealed to the same bytes."""
    with filled(tmp_path, [MARKER, MARKER]) as one, filled(tmp_path, [MARKER]) as two:
        # The tags at the end differ anyway: a nonce used twice would show in what stands before them.
        size, content = len(MARKER), sealed_file(one)
        second = content[len(content) // 2 :]
        assert len({content[:size], second[:size], sealed_file(two)[:size]}) == 3


def test_nothing_readable_is_on_disk(tmp_path: Path) -> None:
    """The file has no name, belongs to its owner alone, and holds nothing of what was spooled."""
    with filled(tmp_path, [MARKER * 10]) as spool:
        status = os.fstat(spool.fileno())
        assert list(tmp_path.iterdir()) == []
        assert status.st_nlink == 0
        assert stat.S_IMODE(status.st_mode) == 0o600
        assert MARKER not in sealed_file(spool)
        assert not os.get_inheritable(spool.fileno())


def test_kill_leaves_nothing(tmp_path: Path) -> None:
    """A process killed while spooling leaves the directory empty."""
    script = (
        "import os, signal, sys, pathlib\n"
        "from audiencekit.state.spool import Spool\n"
        "spool = Spool(pathlib.Path(sys.argv[1]))\n"
        "spool.append(b'x' * 100_000)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(__file__).resolve().parents[2]
    killed = subprocess.run([sys.executable, "-c", script, str(tmp_path)], cwd=root, check=False)
    assert killed.returncode == -9
    assert list(tmp_path.iterdir()) == []


def test_spool_does_not_show_its_key(tmp_path: Path) -> None:
    """`repr` gives sizes, pickle refuses, and no attribute is a key."""
    with filled(tmp_path, [MARKER]) as spool:
        assert repr(spool) == f"<Spool: 1 chunks, {len(MARKER) + 16} bytes>"
        with pytest.raises(TypeError):
            pickle.dumps(spool)
        assert not [name for name, value in vars(spool).items() if isinstance(value, bytes | bytearray)]


def test_closed_spool_is_gone(tmp_path: Path) -> None:
    """After closing, which may be done twice, there is nothing to read and nowhere to write."""
    spool = filled(tmp_path, [b"a", b"b"])
    reading = spool.chunks()
    assert next(reading) == b"a"
    spool.close()
    spool.close()
    assert list(reading) == []
    with pytest.raises(Bug, match="closed"):
        spool.append(b"c")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
@pytest.mark.parametrize("written_before", [0, 5])
@pytest.mark.parametrize("put", [put_one, put_several])
def test_full_disk_is_said_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, written_before: int, put: Callable[[Spool], object]
) -> None:
    """A write that fails, at once or half-way, is said; the chunks before stay, and the next may follow."""
    write = os.pwrite
    calls: list[int] = []

    def failing(file: int, content: bytes, offset: int) -> int:
        calls.append(offset)
        if len(calls) == 1 and written_before:
            return write(file, content[:written_before], offset)
        raise OSError(code, os.strerror(code))

    with filled(tmp_path, [b"before"]) as spool:
        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", failing)
            with pytest.raises(InputOutputFailed, match="chunk 2 of the spool cannot be written") as caught:
                put(spool)
        assert os.strerror(code) in str(caught.value)
        assert list(spool.chunks()) == [b"before"]
        spool.append(b"after")
        assert list(spool.chunks()) == [b"before", b"after"]


def test_partial_writes_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that writes and reads a few bytes at a time gives the same chunks."""
    write, read = os.pwrite, os.pread
    with Spool(tmp_path) as spool:
        monkeypatch.setattr(os, "pwrite", lambda file, content, offset: write(file, content[:7], offset))
        monkeypatch.setattr(os, "pread", lambda file, size, offset: read(file, min(size, 5), offset))
        spool.append(b"0123456789" * 10)
        spool.append(b"abc")
        spool.append_all([memoryview(b"defghij"), memoryview(b"k")])
        assert list(spool.chunks()) == [b"0123456789" * 10, b"abc", b"defghij", b"k"]


def test_disk_that_cannot_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read error names the chunk and the cause."""

    def failing(file: int, size: int, offset: int) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with filled(tmp_path, [b"a"]) as spool:
        monkeypatch.setattr(os, "pread", failing)
        with pytest.raises(InputOutputFailed, match="chunk 1 of the spool cannot be read"):
            next(spool.chunks())


def frames_of(trace: TracebackType | None) -> Iterator[dict[str, object]]:
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == spool_module.__file__:
            yield dict(trace.tb_frame.f_locals)
        trace = trace.tb_next


def held_in(value: object) -> bytes:
    """All bytes of a local variable."""
    if isinstance(value, list):
        return b"".join(map(held_in, value))
    return bytes(value) if isinstance(value, bytes | memoryview | np.ndarray) else b""


@pytest.mark.parametrize("put", [put_one, put_several])
def test_failure_holds_nothing_of_the_chunk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put: Callable[[Spool], object]
) -> None:
    """Neither the frames of a failed write nor its causes hold what was to be written."""

    def failing(file: int, content: bytes, offset: int) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", failing)
    with Spool(tmp_path) as spool, pytest.raises(InputOutputFailed) as caught:
        put(spool)
    frames = list(frames_of(caught.value.__traceback__))
    assert frames
    assert not [name for frame in frames for name, value in frame.items() if MARKER in held_in(value)]
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("damaged", [0, 1])
def test_failure_to_read_holds_nothing_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: int, in_place: bool
) -> None:
    """Neither of the chunks before the damaged one nor of that one, which is unsealed before its seal is looked at."""
    monkeypatch.setattr(spool_module, "_SEALS_IN_PLACE", in_place and spool_module._SEALS_IN_PLACE)
    with Spool(tmp_path) as spool:
        put_several(spool)
        end = len(sealed_file(spool)) // 2 * (damaged + 1)
        os.pwrite(spool.fileno(), bytes([sealed_file(spool)[end - 1] ^ 1]), end - 1)
        with pytest.raises(InputOutputFailed, match=f"chunk {damaged + 1} of the spool was changed") as caught:
            spool.read_all([0, 1])
    frames = list(frames_of(caught.value.__traceback__))
    assert frames
    assert not [name for frame in frames for name, value in frame.items() if MARKER in held_in(value)]


@pytest.mark.parametrize("chunk", ["text", memoryview(b"abcdef")[::2], None])
def test_content_that_is_no_bytes_is_a_bug(tmp_path: Path, chunk: object) -> None:
    """Something that cannot be sealed is named by what was expected, and not kept."""
    with Spool(tmp_path) as spool:
        with pytest.raises(Bug, match="contiguous bytes"):
            spool.append(chunk)  # type: ignore[arg-type]
        with pytest.raises(Bug, match="contiguous bytes"):
            spool.append_all([memoryview(b"one"), chunk])  # type: ignore[list-item]
        assert len(spool) == 0


def missing(path: Path) -> Path:
    return path / "missing"


def plain_file(path: Path) -> Path:
    (path / "file").write_text("")
    return path / "file"


@pytest.mark.parametrize("place", [missing, plain_file])
def test_unusable_directory_is_said(tmp_path: Path, place: Callable[[Path], Path]) -> None:
    """A directory that is not there, or is none, is named with the cause."""
    with pytest.raises(InputOutputFailed, match="no temporary file can be made"):
        Spool(place(tmp_path))


def test_threads_write_side_by_side(tmp_path: Path) -> None:
    """Chunks put by number come back by number, whatever the order in which threads wrote them."""
    numbers = list(range(200))
    random.Random(1).shuffle(numbers)
    with Spool(tmp_path) as spool, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: spool.append(b"%d" % number * number, number), numbers))
        assert list(spool.chunks()) == [b"%d" % number * number for number in range(200)]
        assert spool.read(7) == b"7777777"


def test_a_number_is_used_once(tmp_path: Path) -> None:
    """A chunk is never written over, and one that was never written is not read as empty."""
    with Spool(tmp_path) as spool:
        spool.append(b"b", 1)
        with pytest.raises(Bug, match="chunk 2 of the spool was written before"):
            spool.append(b"c", 1)
        with pytest.raises(Bug, match="chunk 1 of the spool was never written"):
            spool.read(0)
        with pytest.raises(Bug, match="chunk 3 of the spool was never written"):
            spool.read(2)
        assert spool.append(b"d") == 2


@pytest.mark.parametrize("in_place", [True, False])
def test_chunks_come_back_whatever_the_library_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_place: bool
) -> None:
    """Older releases of it make the room for what is sealed themselves; what stands on the disk is read by both."""
    if in_place and not spool_module._SEALS_IN_PLACE:
        pytest.skip("this release of the library has no functions that seal in place")
    monkeypatch.setattr(spool_module, "_SEALS_IN_PLACE", in_place)
    with Spool(tmp_path) as spool:
        assert spool.append(b"first") == 0
        assert spool.append_all([memoryview(b"second"), memoryview(b"third")]) == [1, 2]
        monkeypatch.setattr(spool_module, "_SEALS_IN_PLACE", not in_place and hasattr(AESGCM, "encrypt_into"))
        assert [bytes(chunk) for chunk in spool.chunks()] == [b"first", b"second", b"third"]


@pytest.mark.parametrize("put", [put_one, put_several])
def test_threads_that_take_one_number_do_not_lose_a_chunk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put: Callable[[Spool], object]
) -> None:
    """The later one is told, where the chunk of the earlier would be gone."""
    write, both = os.pwrite, threading.Barrier(2)

    def write_together(file: int, content: bytes, offset: int) -> int:
        both.wait(PATIENCE_SECONDS)
        return write(file, content, offset)

    monkeypatch.setattr(os, "pwrite", write_together)
    with Spool(tmp_path) as spool, ThreadPoolExecutor(2) as pool:
        errors = [done.exception() for done in [pool.submit(put, spool) for _ in range(2)]]
        assert [str(error) for error in errors if error] == ["chunk 1 of the spool was written before"]
        assert {bytes(chunk) for chunk in spool.chunks()} == {MARKER}
