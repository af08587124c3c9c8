"""Keys found among others, exactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.audiences.synchronisation.plan import keytable
from audiencekit.audiences.synchronisation.plan.keytable import KeyFilter, KeyTable
from audiencekit.selection.tags import TAG

SMALL = st.integers(0, 3)
PAIRS = st.lists(st.tuples(SMALL, st.integers(0, 1)), max_size=12)


def _tags(pairs: list[tuple[int, int]]) -> np.ndarray:
    return np.array([(high << 62, low) for high, low in pairs], dtype=TAG)


@given(PAIRS, PAIRS)
def test_exactly_the_keys_that_are_in_are_found(members: list[tuple[int, int]], asked: list[tuple[int, int]]) -> None:
    """Also where two keys share the first half of their tags; each has one number."""
    table = KeyTable([_tags(members[:5]), _tags(members[5:])])
    numbered = {pair: number for number, pair in enumerate(sorted(set(members)))}
    places, numbers = table.find(_tags(asked))
    assert len(table) == len(numbered)
    expected = [(place, numbered[pair]) for place, pair in enumerate(asked) if pair in numbered]
    assert list(zip(places.tolist(), numbers.tolist(), strict=True)) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keytable, "kernels", lambda _: None)
        assert [each.tolist() for each in table.find(_tags(asked))] == [places.tolist(), numbers.tolist()]


@settings(deadline=None)  # 16 MB each
@given(st.lists(st.binary(min_size=32, max_size=32), max_size=8), st.lists(st.binary(min_size=32, max_size=32)))
def test_a_filter_lets_pass_what_was_added(added: list[bytes], others: list[bytes]) -> None:
    """And few of the others: a key that differs in the first bits never passes."""
    known = KeyFilter()
    known.add(_matrix(added))
    asked = [*others, *added]
    likely = known.likely(_matrix(asked)).tolist()
    assert set(range(len(others), len(asked))) <= set(likely)
    assert {asked[place][:3] for place in likely} <= {each[:3] for each in added}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keytable, "kernels", lambda _: None)
        assert known.likely(_matrix(asked)).tolist() == likely


def test_a_filter_asks_twice() -> None:
    """A key with the first bytes of another passes only if the next bytes agree, too; other bytes are not read."""
    known = KeyFilter()
    known.add(_matrix([b"abcdefgh" + b"0" * 24]))
    asked = [b"abcdefgh" + b"1" * 24, b"abcdefgi" + b"0" * 24, b"abXdefgh" + b"0" * 24]
    last = bytes([asked[0][7] ^ 8])  # a bit that is beyond the filter
    asked.append(asked[0][:7] + last + asked[0][8:])
    for compiled in (keytable.kernels, lambda _: None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(keytable, "kernels", compiled)
            assert known.likely(_matrix(asked)).tolist() == [0, 3]


def _matrix(hashes: list[bytes]) -> np.ndarray:
    return np.frombuffer(b"".join(hashes), dtype=np.uint8).reshape(-1, 32)
