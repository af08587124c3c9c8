"""The texts that others stand for, in bulk: percent signs and the signs of HTML."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from audiencekit.identifiers.partner_user_id import ENCODED, decoded_forms
from audiencekit.preparation.columnar.buffers import Bools, arrow_array, text_buffers
from audiencekit.preparation.columnar.checks import matches, matches_among

_PERCENT: Final = "%[0-9A-Fa-f]{2}"
_ENCODED: Final = rf"\A(?:{ENCODED})\z"
_NO_DIGIT: Final = 16
_VALUES: Final = np.full(256, _NO_DIGIT, dtype=np.uint8)
for _digits in (b"0123456789abcdef", b"0123456789ABCDEF"):
    _VALUES[list(_digits)] = np.arange(_NO_DIGIT)


def shown_texts(texts: Any) -> Iterator[tuple[npt.NDArray[np.int64], Any]]:
    """Rows of `texts` (a pa.StringArray) with a percent sign or an entity, and the texts that are meant.

    Holds raw values: to be called from a guarded function only.
    """
    coded = np.flatnonzero(matches(texts, _PERCENT))
    if len(coded):
        yield coded, unquoted(texts.take(arrow_array(coded)))
    with_sign = np.flatnonzero(matches(texts, "&"))
    if not len(with_sign):
        return
    from html import unescape  # its table of entities is large, and hardly any list has one

    places = with_sign[matches(texts.take(arrow_array(with_sign)), _entities())]
    if len(places):
        yield places, pa.array(map(unescape, texts.take(arrow_array(places)).to_pylist()), pa.string())


def hold_others(texts: Any, are_asked: Bools) -> Bools:
    """Of those of `texts` that `are_asked`, which are the encoding of another text. Holds raw values, as before."""
    places = np.flatnonzero(matches_among(texts, are_asked, _ENCODED))
    found = np.zeros(len(texts), dtype=bool)
    found[places] = [any(decoded_forms(text)) for text in texts.take(arrow_array(places)).to_pylist()]
    return found


def unquoted(texts: Any) -> Any:
    """Each of `texts` (a pa.StringArray without nulls) as `urllib.parse.unquote` reads it."""
    offsets, data = text_buffers(texts)
    behind = np.append(data, [0, 0]).astype(np.uint8)
    high, low = _VALUES[behind[1:-1]], _VALUES[behind[2:]]
    begins = np.zeros(len(data) + 2, dtype=bool)
    begins[offsets] = True
    are_coded = (data == ord("%")) & (high < _NO_DIGIT) & (low < _NO_DIGIT) & ~begins[1:-1] & ~begins[2:]
    at = np.flatnonzero(are_coded)
    written, kept = data.copy(), np.ones(len(data), dtype=bool)
    written[at] = high[at] * _NO_DIGIT + low[at]
    kept[at + 1] = kept[at + 2] = False
    places = (offsets - 2 * np.searchsorted(at, offsets)).astype(np.int32)
    found = pa.StringArray.from_buffers(len(texts), pa.py_buffer(places), pa.py_buffer(written[kept]))
    try:
        found.validate(full=True)
    except pa.ArrowInvalid:  # of which a decoder replaces what it does not know
        return pa.array(map(unquote, texts.to_pylist()), pa.string())
    return found


@cache
def _entities() -> str:
    """A pattern for all that may be one, by its number or by a name that HTML knows also without a semicolon."""
    from html.entities import html5

    names = sorted(name for name in html5 if not name.endswith(";"))
    return f"&(?:#[0-9xX]|[A-Za-z0-9]{{1,31}};|{'|'.join(names)})"
