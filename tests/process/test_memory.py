"""Freed memory is shared, and goes back."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from audiencekit.process.memory import give_back, giving_back, share_heap, zeros, zeros_by_page
from tests.cases import each_case
from tests.processes import ROOT

MEGABYTE = 1_000_000


def _is_glibc() -> bool:
    try:
        return bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (AttributeError, OSError, ValueError):
        return False


only_glibc = pytest.mark.skipif(not _is_glibc(), reason="the C library is not glibc")

# Print the memory of a process, freed in the midst of other blocks, before and after.
HOLES = """
from audiencekit.process.memory import give_back

def resident() -> int:
    return int(open("/proc/self/statm").read().split()[1]) * 4096

blocks = [bytes(50_000) for _ in range(1_000)]
del blocks[::2]
before = resident()
give_back()
print(before - resident())
"""

# The heaps of a process of eight threads, as malloc_info(3) lists them, and Arrow's pool.
SHARED = """
import ctypes, os, sys, tempfile, threading
from audiencekit.process.memory import share_heap

share_heap()
import pyarrow

met = threading.Barrier(8)
def work() -> None:
    met.wait()
    blocks = [bytes(50_000) for _ in range(10)]
    met.wait()
    del blocks

threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
library = ctypes.CDLL(None)
library.fopen.restype = ctypes.c_void_p
with tempfile.NamedTemporaryFile() as file:
    stream = ctypes.c_void_p(library.fopen(file.name.encode(), b"w"))
    library.malloc_info(0, stream)
    library.fclose(stream)
    print(file.read().decode().count("<heap nr="), pyarrow.default_memory_pool().backend_name)
"""


def _run(program: str, **environment: str) -> list[str]:
    inherited = {name: value for name, value in os.environ.items() if name != "ARROW_DEFAULT_MEMORY_POOL"}
    done = subprocess.run(
        [sys.executable, "-c", program], env={**inherited, **environment}, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@only_glibc
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the system does not tell of memory there")
def test_memory_freed_between_other_blocks_goes_back() -> None:
    """Half of 50 MB was freed, and no two blocks of it are neighbours."""
    (given_back,) = map(int, _run(HOLES))
    assert given_back > 15 * MEGABYTE


@only_glibc
def test_all_threads_share_one_heap() -> None:
    """So does Arrow."""
    assert _run(SHARED) == ["1", "system"]


@only_glibc
def test_the_environment_chooses_the_memory_of_arrow() -> None:
    """The allocator that the environment names is used."""
    assert _run(SHARED, ARROW_DEFAULT_MEMORY_POOL="mimalloc") == ["1", "mimalloc"]


def test_freed_memory_goes_back_after_so_many_items(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the caller has finished with the last of them."""
    happened: list[object] = []
    monkeypatch.setattr("audiencekit.process.memory.give_back", lambda: happened.append("given back"))
    for item in giving_back(range(5), every=2):
        happened.append(item)
    assert happened == [0, 1, "given back", 2, 3, "given back", 4]


@pytest.mark.parametrize("error", [AttributeError, OSError, ValueError])
def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    """Wherever the system does not say that it has glibc."""

    def confstr(name: str) -> str:
        raise error

    monkeypatch.setattr("os.confstr", confstr)
    monkeypatch.delenv("ARROW_DEFAULT_MEMORY_POOL", raising=False)
    share_heap()
    give_back()
    assert "ARROW_DEFAULT_MEMORY_POOL" not in os.environ


@each_case("make", [zeros, zeros_by_page])
@each_case("size", [1, 4_096, 5_000_001])
def test_a_table_of_zeros(make: Callable[[int], memoryview], size: int) -> None:
    """As large as it was asked for, and to be written everywhere."""
    table = make(size)
    assert (len(table), table.readonly, any(table)) == (size, False, False)
    table[0] = table[-1] = 7
    assert (table[0], table[size - 1], make(size)[0]) == (7, 7, 0)


def test_a_table_takes_memory_where_it_is_touched() -> None:
    """A gigabyte of which one byte is written is no gigabyte."""
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    table = zeros(1_000 * MEGABYTE)
    table[500 * MEGABYTE] = 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


# The memory that two hundred buffers side by side take when each of them is begun.
BEGUN = """
from audiencekit.process.memory import zeros_by_page

def resident() -> int:
    return int(open("/proc/self/statm").read().split()[1]) * 4096

before = resident()
block = zeros_by_page(200_000_000)
for start in range(0, len(block), 1_000_000):
    block[start] = 1
print(resident() - before)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the system does not tell of memory there")
def test_buffers_that_are_begun_take_a_page_each() -> None:
    """Not all of the block, as they would in large pages."""
    (taken,) = map(int, _run(BEGUN))
    assert taken < 20 * MEGABYTE


SCRIPT = """
import contextlib, resource
from audiencekit.process.memory import RESERVE_BYTES, keep_reserve, release_reserve
keep_reserve()
resource.setrlimit(resource.RLIMIT_AS, (200_000_000, 200_000_000))
block = RESERVE_BYTES * 3 // 4
kept = [None] * 10_000
for place in range(len(kept)):
    try:
        kept[place] = bytearray(block)
    except MemoryError:
        break
release_reserve()
bytearray(block)
release_reserve()
print("ended")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere addresses are not limited")
def test_there_is_memory_once_more() -> None:
    """Of a process that has taken all that its limit gives."""
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "ended\n"), done.stderr
    without = SCRIPT.replace("\nkeep_reserve()", "")
    assert (
        "MemoryError"
        in subprocess.run([sys.executable, "-c", without], capture_output=True, text=True, cwd=ROOT).stderr
    )
