"""The tracer finds its way, and counts it as the page on the architecture says."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from audiencekit.personal import Secret
from tests.architecture.__main__ import _DIGEST, ADDRESS, WAYS, folders_of, holds_address, upward


@pytest.mark.parametrize(
    "value",
    [
        f"email\n{ADDRESS}\n",
        _DIGEST,
        np.frombuffer(_DIGEST, dtype=np.uint8),
        pa.array([ADDRESS]),
        [{"key": Secret(ADDRESS)}],
        pa.record_batch([pa.array([_DIGEST])], names=["email"]),
    ],
    ids=["text", "digest", "numpy", "arrow", "secret", "batch"],
)
def test_an_address_is_found_in_every_form(value: object) -> None:
    """Else a module would be missing on its way."""
    assert holds_address(value)
    assert not holds_address("somebody else")


def test_changes_of_folder_are_counted() -> None:
    """One for each time that another room is entered; upward when the layers have it above."""
    rooms = folders_of(["sources/files", "sources/opening", "planning/reading", "sources/table", "personal"])
    assert rooms == ["sources", "planning", "sources", "personal"]
    assert upward(rooms) == 1


@pytest.mark.parametrize("way", WAYS)
async def test_every_way_ends_at_the_socket(way: str) -> None:
    """Each begins and ends where it must."""
    modules = await WAYS[way]()
    assert any(module.startswith("api/") for module in modules)
    if "address" in way:
        assert modules[0].startswith(("sources/", "cli/", "pipeline"))
