"""Arrays whose places lie are refused before anything is read through them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from audiencekit.errors import SourceRefused
from audiencekit.sources.frames.soundarrays import refuse_unsound

DATA = pa.py_buffer(b"ann@example.com" * 3)
LARGEST = 2**31 - 1


def _texts(*places: int, kind: Any = None, width: Any = np.int32) -> Any:
    offsets = pa.py_buffer(np.array(places, dtype=width))
    return pa.Array.from_buffers(kind or pa.string(), len(places) - 1, [None, offsets, DATA])


def _list(inner: Any, *places: int) -> Any:
    offsets = pa.py_buffer(np.array(places, dtype=np.int32))
    return pa.Array.from_buffers(pa.list_(inner.type), len(places) - 1, [None, offsets], children=[inner])


def _dictionary(places: list[int], values: Any) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(places, pa.int32()), values, safe=False)


LYING: dict[str, Callable[[], Any]] = {
    "beyond the data": lambda: _texts(0, LARGEST, 30, 45),
    "negative": lambda: _texts(0, -5, 30, 45),
    "descending": lambda: _texts(0, 40, 15, 45),
    "of bytes": lambda: _texts(0, LARGEST, 30, 45, kind=pa.binary()),
    "of large texts": lambda: _texts(0, 2**60, 30, 45, kind=pa.large_string(), width=np.int64),
    "of a list": lambda: _list(_texts(0, 15, 30, 45), 0, 2**30, 3),
    "in a list": lambda: _list(_texts(0, LARGEST, 30, 45), 0, 3),
    "in a list of fixed size": lambda: pa.Array.from_buffers(
        pa.list_(pa.string(), 3), 1, [None], children=[_texts(0, LARGEST, 30, 45)]
    ),
    "of a dictionary": lambda: _dictionary([0, 10**6], _texts(0, 15, 30, 45)),
    "in a dictionary": lambda: _dictionary([0, 1], _texts(0, LARGEST, 30, 45)),
    "of a view": lambda: pa.Array.from_buffers(
        pa.string_view(), 1, [None, pa.py_buffer(np.array([100, 0, 7, 0], dtype=np.int32)), DATA]
    ),
}


@pytest.mark.parametrize("name", LYING)
def test_an_array_that_contradicts_itself_is_refused(name: str) -> None:
    """Also as one chunk of several."""
    with pytest.raises(SourceRefused, match="contradicts itself"):
        refuse_unsound(LYING[name]())
    column = LYING[name]()
    whole = pa.chunked_array([pa.array([], column.type), column])
    with pytest.raises(SourceRefused, match="contradicts itself"):
        refuse_unsound(whole)


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["a", None, "ü"]),
        pa.array(["a", None], pa.string_view()),
        pa.array([["a"], None, []]),
        pa.array([["a", "b"]], pa.list_(pa.string(), 2)),
        pa.array([["a"]], pa.large_list(pa.large_string())),
        pa.array(["a", "b", "a", None]).dictionary_encode(),
        pa.array([1, None]),
        pa.array([1.5]),
        pa.array([{"a": "b"}]),
        pa.nulls(3),
        pa.array(["a", "b", "c"]).slice(1, 1),
        pa.chunked_array([["a"], ["b"]]),
        _texts(0, 15, 15, 45).slice(2),
        pa.Array.from_buffers(
            pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], dtype=np.int32)), pa.py_buffer(b"\xff")]
        ),
    ],
    ids=str,
)
def test_a_sound_array_passes(column: Any) -> None:
    """Bytes that are no text are a fault of their row, and none here."""
    refuse_unsound(column)


FRAME = """
import sys, numpy, pyarrow, audiencekit
from audiencekit.errors import SourceRefused
offsets = pyarrow.py_buffer(numpy.array([0, 2**31 - 1, 30, 45], dtype=numpy.int32))
data = pyarrow.py_buffer(b"ann@example.com" * 3)
emails = pyarrow.Array.from_buffers(pyarrow.string(), 3, [None, offsets, data])
frame = pyarrow.table({"email": emails})
if sys.argv[1] == "pandas":
    import pandas
    frame = pandas.DataFrame({"email": pandas.arrays.ArrowExtensionArray(emails)})
try:
    audiencekit.check(frame)
except SourceRefused as error:
    print(error)
"""


@pytest.mark.parametrize("library", ["table", "pandas"])
def test_a_frame_that_lies_does_not_end_the_process(library: str) -> None:
    """In a process of its own, since it would."""
    if library == "pandas":
        pytest.importorskip("pandas")
    done = subprocess.run([sys.executable, "-c", FRAME, library], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("data frame: a column contradicts itself")
