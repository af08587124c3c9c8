"""Ordered checks over a whole column: the first that holds for a text decides it, as in the definition.

Patterns are RE2 (pyarrow.compute), which has no backtracking, lets every character class match line breaks, and does
not hold the interpreter; a few short texts are matched with `re`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.kinds import Reason
from audiencekit.identifiers.texts import CONTROLS, MARKS, SURROGATES, WHITE_SPACE, WORDS, characters_of, unmarked
from audiencekit.limits import SHA256_HEX_LENGTH
from audiencekit.preparation.columnar.buffers import Bools, arrow_array
from audiencekit.preparation.columnar.decisions import PENDING, UNDECIDED, VALID, Codes, code_of, put

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
# Arrow holds no surrogates.
INVISIBLE: Final = Check(f"[{MARKS}{CONTROLS.removesuffix(SURROGATES)}]", code_of(Reason.INVISIBLE_CHARACTER))

# How every rule but the one for handles begins, of texts that are trimmed and in the lower case of ASCII.
OPENING: Final = (BLANK, WORD, HASHED, INVISIBLE)


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
    """Of those that `are_asked`, whether `pattern` is found in them."""
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
