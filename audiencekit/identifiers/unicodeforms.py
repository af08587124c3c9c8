"""Unicode's normal forms, of texts that are short enough for them."""

from __future__ import annotations

import unicodedata
from typing import Final, Literal

# To put the marks on one letter in order takes the square of their number: 2 seconds for a cell of the largest size.
# Nothing that qualifies is as long: an address has 254 bytes, and four characters become one at most.
MAX_NORMALIZED: Final = 2_048  # characters


def in_form(form: Literal["NFC", "NFKC", "NFKD"], text: str) -> str:
    """`text` in that form; a longer one as it stands."""
    return unicodedata.normalize(form, text) if len(text) <= MAX_NORMALIZED else text
