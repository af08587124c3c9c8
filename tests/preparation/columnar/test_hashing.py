"""Hashes of whole columns are those of the definition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.identifiers.kinds import hash_normalized
from audiencekit.kernels.library import find_library
from audiencekit.preparation.columnar import hashing
from audiencekit.preparation.columnar.buffers import HASH_TYPE
from audiencekit.preparation.columnar.hashing import sha256_of
from audiencekit.preparation.columnar.hexadecimal import to_hex

pytestmark = pytest.mark.usefixtures("hashed_by")


@pytest.fixture(params=["kernel", "one by one"], scope="module")
def hashed_by(request: pytest.FixtureRequest) -> Iterator[None]:
    """By a kernel, and as in an installation without kernels."""
    if request.param == "kernel" and find_library() is None:
        pytest.skip("this installation has no kernels of this version")
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "one by one":
            patch.setattr(hashing, "kernels", lambda _: None)
        yield


def _sha256_hex(texts: Any) -> list[str]:
    hashes = sha256_of(texts)
    assert hashes.type == HASH_TYPE
    return to_hex(hashes).to_pylist()  # type: ignore[no-any-return]


def test_published_vectors() -> None:
    """The examples of FIPS 180-4 for no text, one block and two blocks."""
    texts = ["", "abc", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"]
    assert _sha256_hex(pa.array(texts)) == [
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=30))
@settings(max_examples=60, deadline=None)
def test_same_as_definition(texts: list[Any]) -> None:
    """Each text has the definition's hash, in the order of the column."""
    assert _sha256_hex(pa.array(texts, pa.string())) == [hash_normalized(text) for text in texts]


def test_order_of_long_columns() -> None:
    """Long columns keep their order; slices count from their own beginning."""
    texts = [f"a{number}@example.com" for number in range(140_000)]
    hashes = _sha256_hex(pa.array(texts).slice(1_000))
    assert len(hashes) == 139_000
    for at in (0, 8_191, 8_192, 65_535, 65_536, 138_999):
        assert hashes[at] == hash_normalized(texts[at + 1_000])  # type: ignore[arg-type]
