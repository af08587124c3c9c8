"""Identifiers that arrive hashed, and what people take for them.

`PARTS` are put together at random; `ODD` stand for a rule each; each ASCII character is put at every place of `WHOLE`.
"""

from __future__ import annotations

import hashlib

from audiencekit.identifiers.texts import WORDS

GOOD = "5e884898da28047151d0e56f8dc6292773603d0d6aabbd62a11ef721d1542d8a"
KNOWN = [hashlib.sha256(text.encode()).hexdigest() for text in ("", "null", "NULL", "test@test.com", "0", "1111111")]
WHOLE = [GOOD, GOOD.upper()]
PARTS = ["0" * 64, "a" * 64, "F" * 64, "b" * 63, "0" * 63, "0" * 32, "0", " ", "g", "null", "\u200b", "１"]
PARTS += [GOOD, *KNOWN]
ODD = ["", GOOD, GOOD.upper(), f" {GOOD}\n", GOOD[:-1], GOOD + "0", "0" * 64, "0" * 63, "0" * 65]
ODD += ["\x00" + GOOD, *sorted(WORDS)]
ODD += ["0" * 63 + "1", *KNOWN, *(text.upper() for text in KNOWN), f"sha256:{GOOD}", GOOD[:32], GOOD * 2]
ODD += [f"\ufeff{GOOD}"]
ODD += [
    "q" * 42 + "A=",
    "0x" + GOOD.upper(),
    "\\x" + GOOD,
    "Q" * 42 + "B=",
    f" 0X{GOOD}",
    "A" * 43 + "=",
    "+/" * 21 + "A=",
]
