"""The tracer finds its way, and counts it as the page on the architecture says."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from audiencekit.kernels.library import find_library
from audiencekit.personal import Secret
from tests.architecture.__main__ import _DIGEST, ADDRESS, SOCKET, WAYS, folders_of, holds_address, upward
from tests.architecture.trace import ROOT
from tests.cases import each_case

# Modules, changes of folder, calls upward, with kernels. They may only shrink: write down the smaller figure.
MOST = {
    "an address to an audience": (26, 7, 0),
    "an address to the do-not-reach list": (26, 7, 0),
    "a 429": (9, 3, 0),
}


@each_case(
    "value",
    [
        f"email\n{ADDRESS}\n",
        _DIGEST,
        np.frombuffer(_DIGEST, dtype=np.uint8),
        pa.array([ADDRESS]),
        [{"key": Secret(ADDRESS)}],
        pa.record_batch([pa.array([_DIGEST])], names=["email"]),
    ],
)
def test_an_address_is_found_in_every_form(value: object) -> None:
    """Else a module would be missing on its way."""
    assert holds_address(value)
    assert not holds_address("another text")


def test_changes_of_folder_are_counted() -> None:
    """One for each time that another room is entered; what calls its argument, as a guard does, is no room."""
    rooms = folders_of(["sources/files", "personal", "sources/source", "planning/reading", "sources/table", "errors"])
    assert rooms == ["sources", "planning", "sources", "errors"]


def test_calls_upward_are_found() -> None:
    """As the layers have it; side by side and below are none."""
    down, up = ("planning/reading", "sources/table"), ("state/spool", "runs/store")
    assert upward([down, up, ("api/calls", "records/records")]) == [up]


@pytest.mark.slow
@pytest.mark.skipif(find_library() is None, reason="the figures are of the way through the kernels")
@pytest.mark.parametrize("way", WAYS)
async def test_no_way_grows(way: str) -> None:
    """Each begins at the cell, ends at the socket, and is not longer than it was."""
    found = await WAYS[way]()
    if "address" in way:
        assert (found.modules[0].partition("/")[0], found.modules[-1]) == ("sources", SOCKET)
    assert all(is_now <= was for is_now, was in zip(found.figures, MOST[way], strict=True)), found.to_text(way)


@each_case("way", WAYS)
def test_the_page_has_the_figures(way: str) -> None:
    """And says that nothing calls upward."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    modules, changes, up = MOST[way]
    assert f"\n{way}: {modules} modules, {changes} changes of folder\n" in page
    assert "No call on the\nway leads to a higher room" in page
    assert up == 0
