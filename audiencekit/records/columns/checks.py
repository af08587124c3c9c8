"""Ordered checks over a whole column: the first that holds for a text decides it, as in the definition.

Patterns are RE2 (pyarrow.compute), which has no backtracking, lets every character class match line breaks, and does
not hold the interpreter; a few short texts are matched with `re`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.kinds import Reason
from audiencekit.identifiers.phone_number import DASHES, NARROW_SPACES, PLAIN
from audiencekit.identifiers.texts import CONTROLS, MARKS, SURROGATES, WHITE_SPACE, WORDS, characters_of, unmarked
from audiencekit.limits import SHA256_HEX_LENGTH
from audiencekit.records.columns.arrays import PENDING, UNDECIDED, VALID, Bools, Bytes, Codes, arrow_array, code_of, put

SPACES: Final = " \t\n\v\f\r"  # the white space that is ASCII
_TRIMMED: Final = characters_of(WHITE_SPACE + MARKS)
# The one letter beyond ASCII that is one of ASCII in lower case.
KELVIN: Final = "\u212a"

ALWAYS: Final = r"\A"
NEVER: Final = r"\z."

# RE2 compiles a pattern anew for every column, which takes longer than so few texts do with `re`. Of these none is
# long: some patterns take `re` the square of a text's length.
FEW: Final = 128
_SHORT_BYTES: Final = 256


class Check(NamedTuple):
    """Texts whose match with `pattern` is `holds` get `code`, unless an earlier check gave them one.

    Texts of less than `least` bytes never match.
    """

    pattern: str
    code: int
    holds: bool = True
    least: int = 0


def pattern_of(texts: Sequence[str]) -> str:
    """A pattern for exactly one of `texts`, of which there is at least one."""
    return rf"\A(?:{'|'.join(map(re.escape, texts))})\z"


BLANK: Final = Check(rf"\A[{WHITE_SPACE}{MARKS}]*\z", code_of(Reason.EMPTY))
NOT_ASCII: Final = Check(r"[^\x00-\x7f]", UNDECIDED)
WORD: Final = Check(pattern_of(sorted(WORDS)).replace("k", f"[k{KELVIN}]"), code_of(Reason.PLACEHOLDER))
HASHED: Final = Check(rf"\A[0-9a-f]{{{SHA256_HEX_LENGTH}}}\z", code_of(Reason.ALREADY_HASHED), least=SHA256_HEX_LENGTH)
# Of texts in lower case, so not every one is a hash.
ENCODED: Final = Check(r"\A(?:(?:\\x|0x)[0-9a-f]{64}|[a-z0-9+/_-]{43}=)\z", UNDECIDED, least=44)
# Arrow holds no surrogates.
INVISIBLE: Final = Check(f"[{MARKS}{CONTROLS.removesuffix(SURROGATES)}]", code_of(Reason.INVISIBLE_CHARACTER))

# How every rule but the one for handles begins, of texts that are trimmed and in the lower case of ASCII.
OPENING: Final = (BLANK, WORD, HASHED, ENCODED, INVISIBLE)


def trim_texts(texts: Any) -> Any:
    """`texts` without white space and invisible marks at their ends; null becomes the empty text."""
    filled = pc.fill_null(texts, "") if texts.null_count else texts
    trimmed = pc.ascii_trim(filled, SPACES)
    others = np.flatnonzero(~are_ascii(trimmed))
    return put(trimmed, others, pc.utf8_trim(trimmed.take(arrow_array(others)), _TRIMMED)) if len(others) else trimmed


def unmark_texts(trimmed: Any) -> Any:
    """Each of `trimmed` without the marks that keep a spreadsheet from making a number or a formula of it."""
    marked = pc.or_(pc.starts_with(trimmed, "'"), pc.starts_with(trimmed, '="')).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(marked)
    if not len(rows):
        return trimmed
    texts = trimmed.take(arrow_array(rows)).to_pylist()
    return put(trimmed, rows, pa.array(map(unmarked, texts), pa.string()))


def are_ascii(texts: Any) -> Bools:
    """For each text whether all of it is ASCII."""
    found: Bools = pc.string_is_ascii(texts).to_numpy(zero_copy_only=False)
    return found


def are_few(texts: Any) -> bool:
    """Whether `re` is quicker than RE2 is."""
    return len(texts) <= FEW and (pc.max(pc.binary_length(texts)).as_py() or 0) <= _SHORT_BYTES


def matches(texts: Any, pattern: str) -> npt.NDArray[np.bool_]:
    """For each text whether `pattern` is found in it."""
    if are_few(texts):
        found = compiled(pattern).search
        return np.fromiter((found(text) is not None for text in texts.to_pylist()), np.bool_, len(texts))
    matched: npt.NDArray[np.bool_] = pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)
    return matched


def matches_among(texts: Any, are_asked: Bools, pattern: str) -> Bools:
    """Whether `pattern` is found in a text; False for texts that are not asked."""
    rows = np.flatnonzero(are_asked)
    if len(rows) == len(texts):
        return matches(texts, pattern)
    found = np.zeros(len(texts), dtype=bool)
    if len(rows):
        found[rows] = matches(texts.take(arrow_array(rows)), pattern)
    return found


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """`pattern` for `re`, which calls the end of a text otherwise. Nothing here depends on where the two differ."""
    return re.compile(pattern.replace(r"\z", r"\Z"))


def begin_codes(plain: npt.NDArray[np.bool_]) -> Codes:
    """VALID for the texts that are `plain`, PENDING for those that checks must decide."""
    return np.where(plain, VALID, PENDING).astype(np.int8)


def decide_in_order(texts: Any, codes: Codes, checks: Sequence[Check]) -> None:
    """Puts into `codes`, for each of `texts` that is PENDING, the code of the first of `checks` that holds for it."""
    rest = np.flatnonzero(codes == PENDING)
    pending = texts.take(arrow_array(rest))
    longest = pc.max(pc.binary_length(pending)).as_py()
    for check in checks:
        if not len(rest):
            return
        if check.least > longest:
            decided = np.full(len(rest), not check.holds)
        else:
            decided = matches(pending, check.pattern) == check.holds
        if decided.any():
            codes[rest[decided]] = check.code
            rest, pending = rest[~decided], pending.filter(arrow_array(~decided))


CODE_POINTS: Final = 0x20000

BREAK: Final = 1  # white space that is no sign inside a value
MARK: Final = 2  # comes off at the ends, and is refused inside
CONTROL: Final = 3  # is refused wherever it stands
DOUBT: Final = 4  # no sign of ASCII, and yet one that a pattern of the definition may take

# Letters that are others in ASCII when their case does not count.
_DOUBTFUL: Final = "ſİı\u212a"
# Signs that may stand in a number, but, as `]`, never before its plus.
_PUNCTUATION: Final = "［］⁓∼"

# Where the ten digits of a script begin (Unicode, UnicodeData.txt, general category Nd).
ZEROS: Final = (
    *(0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66, 0x0DE6),
    *(0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0),
    *(0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10, 0x104A0, 0x10D30, 0x10D40),
    *(0x11066, 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0, 0x11650, 0x116C0, 0x116D0, 0x116DA, 0x11730),
    *(0x118E0, 0x11950, 0x11BF0, 0x11C50, 0x11D50, 0x11DA0, 0x11DE0, 0x11F50, 0x16130, 0x16A60, 0x16AC0, 0x16B50),
    *(0x16D70, 0x1CCF0, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E4F0, 0x1E5F1, 0x1E950),
    0x1FBF0,
)


def foreign_digits() -> str:
    """Return the decimal digits that are not ASCII, as the inside of a regular expression's class."""
    return "".join(f"{chr(zero)}-{chr(zero + 9)}" for zero in ZEROS)


@cache
def signs() -> Bytes:
    """Return the table: BREAK, MARK, CONTROL, DOUBT, the sign of ASCII that is meant, or 0 for all others."""
    table = np.zeros(CODE_POINTS, dtype=np.uint8)
    table[0x20:0x7F] = np.arange(0x20, 0x7F)
    for characters, meaning in (
        (characters_of(CONTROLS), CONTROL),
        (characters_of(WHITE_SPACE), BREAK),
        (characters_of(MARKS), MARK),
    ):
        table[[ord(character) for character in characters if ord(character) < CODE_POINTS]] = meaning
    table[[ord(space) for space in characters_of(NARROW_SPACES) + " "]] = ord(" ")
    table[[ord(dash) for dash in characters_of(DASHES)]] = ord("-")
    table[[ord(sign) for sign in _PUNCTUATION]] = ord("]")
    table[[ord("／"), ord("～")]] = [ord("/"), ord("~")]
    table[[ord(character) for character in _DOUBTFUL]] = DOUBT
    for character, sign in PLAIN.items():
        table[character] = ord(sign)
    for zero in ZEROS:
        if unicodedata.decimal(chr(zero), None) == 0:  # a script may be younger than this interpreter
            table[zero : zero + 10] = np.arange(ord("0"), ord("9") + 1)
    return table
