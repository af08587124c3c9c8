"""Pieces of files by the kernels: nothing is read or written outside, whatever they are told."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from audiencekit.errors import Bug
from audiencekit.kernels.layouts import Slice, require
from audiencekit.sources.csv.cell_kernels import CellKernels, Room, _Column, _Places
from audiencekit.sources.csv.cells import Cells, WantedCells
from tests.cases import each_case
from tests.kernels.installed import installed

PIECE = b'a,bc,\n"d",,e\r\nf'


@pytest.fixture
def compiled() -> CellKernels:
    """Those of this installation."""
    return installed(CellKernels)


def _read(compiled: CellKernels, piece: bytes = PIECE, **told: Any) -> Cells | None:
    room = told.pop("room", None) or Room()
    wanted = WantedCells(**{"delimiter": ",", "width": 3, "positions": [0, 1, 2], **told})
    return compiled.read_cells(piece, wanted, room, longest=100)


def test_whole_lines_become_columns(compiled: CellKernels) -> None:
    """As many as are wanted, in the order that is wanted, valid for Arrow."""
    found = _read(compiled, positions=[2, 0])
    assert found is not None
    assert (found.records, found.whole_bytes) == (2, 14)
    for column in found.columns.values():
        column.validate(full=True)
    assert {place: column.to_pylist() for place, column in found.columns.items()} == {2: ["", "e"], 0: ["a", "d"]}


def test_a_room_serves_pieces_of_any_size(compiled: CellKernels) -> None:
    """It grows as it is needed, and stays."""
    room = Room()
    for size in (1, 1_000, 10, 100_000):
        found = _read(compiled, b"a,b,c\n" * size, room=room)
        assert found is not None
        assert found.records == size
        assert found.columns[1].to_pylist() == ["b"] * size


@each_case(
    "told", [{"delimiter": ""}, {"delimiter": ",,"}, {"delimiter": "§"}, {"positions": [3]}, {"positions": [-1]}]
)
def test_invalid_delimiters_and_positions_are_refused(compiled: CellKernels, told: dict[str, Any]) -> None:
    """Before anything is read."""
    with pytest.raises(ValueError, match="a kernel takes"):
        _read(compiled, **told)


@each_case("delimiter", ["\n", "\r", '"', "\0"])
def test_no_delimiter_is_guessed(compiled: CellKernels, delimiter: str) -> None:
    """A delimiter that could end lines or cells is refused."""
    assert _read(compiled, b"a,b,c\n", delimiter=delimiter) is None


@each_case("narrow", ["begins", "ends", "apart"])
def test_places_are_not_noted_outside_the_room(compiled: CellKernels, narrow: str) -> None:
    """A room that is too small is a bug."""

    class Narrow(Room):
        def for_bytes(self, piece_bytes: int) -> _Places:
            made = super().for_bytes(piece_bytes)
            setattr(made, f"{narrow}_count", 0)
            return made

    with pytest.raises(Bug, match="index out of range"):
        _read(compiled, PIECE + b"\n" + PIECE, room=Narrow())


BEGINS, ENDS = [0, 6], [1, 4, 5, 9, 10, 13]


@each_case(
    "begins, ends, width, lines, size_bytes",
    [
        (BEGINS, [1, 4, 5, 9, 10, 99], 3, 2, 15),
        (BEGINS, [1, 4, 5, 4_294_967_295, 10, 13], 3, 2, 15),
        (BEGINS, [1, 4, 5, 6, 3, 2], 3, 2, 15),
        (BEGINS, ENDS, 3, 3, 15),
        (BEGINS, ENDS, 0, 2, 15),
        (BEGINS, ENDS, 3, 2, 0),
        ([0, 4_294_967_295], ENDS, 3, 2, 15),
        ([0], ENDS, 3, 2, 15),
    ],
)
def test_cells_are_not_copied_from_or_to_outside(
    compiled: CellKernels, begins: list[int], ends: list[int], width: int, lines: int, size_bytes: int
) -> None:
    """Whatever places, width and room are given."""
    columns = [_Column.new(position, size_bytes, lines=lines) for position in (0, 1, 2)]
    to_structure = (_Column * 3)(*columns)
    given = (
        Slice.of(np.frombuffer(PIECE, dtype=np.uint8), np.uint8),
        ctypes.c_size_t(width),
        ctypes.c_int32(3),
        Slice.of(np.array(begins, dtype=np.uint32), np.uint32),
        Slice.of(np.array(ends, dtype=np.uint32), np.uint32),
        Slice(ctypes.addressof(to_structure), 3),
    )
    told = [one if isinstance(one, ctypes.c_int32 | ctypes.c_size_t) else ctypes.byref(one) for one in given]
    with pytest.raises(Bug, match="index out of range"):
        require(compiled._library.audiencekit_copy_cells(*told))
