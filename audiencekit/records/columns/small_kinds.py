"""User ids of the platform, column by column. Values with digits of other scripts are left to the definition, except
whole numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.identifiers.accounts import PAGES
from audiencekit.identifiers.bare_numbers import KNOWN, readings_of
from audiencekit.identifiers.device_id import SHARED
from audiencekit.identifiers.kinds import DEFAULT_RULES, Kind, Reason, Rules
from audiencekit.identifiers.partner_user_id import MANGLED, SPELLED_AT
from audiencekit.identifiers.personal_shapes import number_behind_words, shape_of, words_in
from audiencekit.identifiers.texts import BREAKS, CONTROLS, MARKS, SURROGATES, WHITE_SPACE
from audiencekit.limits import MAX_HANDLE_LENGTH, MAX_PARTNER_USER_ID_LENGTH, MAX_PLATFORM_ID
from audiencekit.records.columns.arrays import (
    PENDING,
    UNDECIDED,
    VALID,
    Bytes,
    Codes,
    Decisions,
    arrow_array,
    code_of,
    code_points,
    put,
)
from audiencekit.records.columns.checks import (
    ALWAYS,
    BLANK,
    CODE_POINTS,
    ENCODED,
    HASHED,
    INVISIBLE,
    OPENING,
    SPACES,
    WORD,
    Check,
    are_ascii,
    begin_codes,
    decide_in_order,
    foreign_digits,
    matches,
    matches_among,
    pattern_of,
    signs,
    trim_texts,
    unmark_texts,
)
from audiencekit.records.columns.suspicions import hold_others, judge_likeness
from audiencekit.records.record_bits import Indices
from audiencekit.records.tally import PersonalShapes

_MAX_DIGITS: Final = len(str(MAX_PLATFORM_ID))
# Small enough at first sight: shorter than the largest, or as long and with a lesser first digit.
_LESSER: Final = f"[1-{int(str(MAX_PLATFORM_ID)[0]) - 1}]"
_PLAIN_PLATFORM_ID: Final = rf"\A(?:[1-9][0-9]{{0,{_MAX_DIGITS - 2}}}|{_LESSER}[0-9]{{{_MAX_DIGITS - 1}}})\z"
_MARKED: Final = r"""\A(?:'|="[^"]*"\z)"""

# Numbers as spreadsheets mangle them: the same forms as in identifiers/texts.py.
_MANGLED: Final = (
    r"\A[+-]?[0-9]+(?:[.,][0-9]*)?e[+-]?[0-9]+\z",
    r"(?s)\A(?:[+-]?[0-9]{5,}[.,]0{1,6}|.*[0-9][.,]0)\z",
    r"\A#{2,}\z",
    r"\A=",
    r"\A[+-]?[0-9]+[.,][0-9]*\z",
)
# Behind the marks of a spreadsheet the definition knows white space that is not ASCII, too.
_FOREIGN: Final = rf"""\A(?:'[{SPACES}]*[^\x00-\x7f]|="(?s:.*)[^\x00-\x7f])"""
# Numbers of which the definition says the same in digits of any script, but for those as long as a hash.
_OF_ANY_SCRIPT: Final = r"""\A(?:'?[0-9]{1,63}|="[0-9]{1,60}"|[+-]?[0-9]{1,30}[.,][0-9]{0,30})\z"""
_OF_ANY_BYTES: Final = 256  # at most, of 64 characters
_NO_DIGIT: Final = ord("!")
_FOREIGN_CHECKS: Final = (Check(_FOREIGN, UNDECIDED), Check(f"[{foreign_digits()}]", UNDECIDED))
_NUMBER_CHECKS: Final = (
    *(Check(pattern, code_of(Reason.EXCEL_MANGLED)) for pattern in _MANGLED),
    Check(r"\A[0-9]+\z", code_of(Reason.NOT_INTEGER), holds=False),
    Check(r"\A0+\z", code_of(Reason.ZEROED)),
    Check(rf"\A0*[1-9][0-9]{{{_MAX_DIGITS}}}", code_of(Reason.TOO_LONG)),
    Check(ALWAYS, VALID),
)


def decide_platform_ids(texts: Any) -> Decisions:
    """The certain ones of `texts` (pa.StringArray): the id as the definition gives it, or its reason.

    Holds raw values: to be called from a guarded function only.
    """
    lowered = _in_ascii(pc.ascii_lower(trim_texts(texts)))
    numbers = _unmarked(lowered)
    codes = begin_codes(matches(numbers, _PLAIN_PLATFORM_ID))  # which nothing is that any other check refuses
    if not (codes == PENDING).any():
        return Decisions.of(numbers, codes)
    decide_in_order(lowered, codes, OPENING)
    decide_in_order(lowered, codes, _FOREIGN_CHECKS)
    decide_in_order(numbers, codes, _NUMBER_CHECKS)
    digits = pc.ascii_ltrim(numbers, "0")
    _refuse_large(digits, codes)
    return Decisions.of(digits, codes)


def _in_ascii(texts: Any) -> Any:
    """The numbers of `texts` in digits of ASCII, the others as they are."""
    rows = np.flatnonzero(~are_ascii(texts) & (pc.binary_length(texts).to_numpy() <= _OF_ANY_BYTES))
    if not len(rows):
        return texts
    begins, codes = code_points(texts.take(arrow_array(rows)))
    signs_of = pa.py_buffer(_digits()[np.minimum(codes, CODE_POINTS)])
    written = pa.StringArray.from_buffers(len(rows), pa.py_buffer(begins), signs_of)
    numbers = np.flatnonzero(matches(written, _OF_ANY_SCRIPT))
    return put(texts, rows[numbers], written.take(arrow_array(numbers)))


@cache
def _digits() -> Bytes:
    """A table: the ASCII digit of each character, or a sign that no number has; ASCII characters unchanged."""
    are_digits = (signs() >= ord("0")) & (signs() <= ord("9"))
    found = np.append(np.where(are_digits, signs(), np.uint8(_NO_DIGIT)), np.uint8(_NO_DIGIT))
    found[:0x80] = np.arange(0x80)
    return found


def _unmarked(lowered: Any) -> Any:
    """Each text without the marks that keep a spreadsheet from making a number of it."""
    rows = np.flatnonzero(matches(lowered, _MARKED))
    marked = lowered.take(arrow_array(rows))
    behind = pc.ascii_ltrim_whitespace(pc.utf8_slice_codeunits(marked, 1, None))
    within = pc.ascii_trim_whitespace(pc.utf8_slice_codeunits(marked, 2, -1))
    return put(lowered, rows, pc.if_else(pc.starts_with(marked, "'"), behind, within))


def _refuse_large(digits: Any, codes: Codes) -> None:
    """Puts TOO_LONG for ids as long as the largest and above it: texts of one length order as numbers do."""
    as_long = pc.equal(pc.binary_length(digits), pa.scalar(_MAX_DIGITS, pa.int32()))
    larger = pc.and_(as_long, pc.greater(digits, pa.scalar(str(MAX_PLATFORM_ID), pa.string())))
    above: Any = larger.to_numpy(zero_copy_only=False)
    codes[np.logical_and(codes == VALID, above)] = code_of(Reason.TOO_LONG)


def decide_in_bulk(texts: Any, kind: Kind, rules: Rules) -> Decisions:
    """The decisions on `texts` that are certain; the others are left to the definition.

    Holds raw values: to be called from a guarded function only.
    """
    return _BULK_RULES.get(kind, _leave)(texts, rules)


def _leave(texts: Any, rules: Rules) -> Decisions:
    """Leave every value to the definition: a kind without a rule for whole columns."""
    return Decisions(pa.nulls(len(texts), pa.string()), arrow_array(np.full(len(texts), UNDECIDED, dtype=np.int8)))


_BULK_RULES: Final[Mapping[Kind, Callable[[Any, Rules], Decisions]]] = {
    Kind.DEVICE_ID: lambda texts, rules: decide_device_ids(texts, rules),
    Kind.HANDLE: lambda texts, rules: decide_handles(texts),
    Kind.PLATFORM_ID: lambda texts, rules: decide_platform_ids(texts),
    Kind.PARTNER_USER_ID: lambda texts, rules: decide_partner_user_ids(texts),
}


_FORM: Final = r"(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16})"
_REPEATED_DIGITS: Final = "|".join(f"{digit}[{digit}-]*" for digit in "0123456789abcdef")
_NOBODYS: Final = "|".join((*sorted(SHARED), _REPEATED_DIGITS))

_DEVICE_ID_CHECKS: Final = (
    Check(r"\A(?:[0-]*0[0-]*|\{[0-]*0[0-]*\})\z", code_of(Reason.ZEROED)),
    Check(rf"\A(?:{_FORM}|\{{{_FORM}\}})\z", code_of(Reason.INVALID_SYNTAX), holds=False),
    Check(rf"\A\{{?(?:{_NOBODYS})\}}?\z", code_of(Reason.PLACEHOLDER)),
    Check(ALWAYS, VALID),
)


def decide_device_ids(texts: Any, rules: Rules = DEFAULT_RULES) -> Decisions:
    """The certain ones of `texts` (pa.StringArray): the id as the definition gives it, or its reason.

    Holds raw values: to be called from a guarded function only.
    """
    trimmed = trim_texts(texts)
    bare = unmark_texts(trimmed)
    lowered = pc.ascii_lower(bare)
    plain = matches(lowered, rf"\A{_FORM}\z") & ~matches(lowered, rf"\A(?:{_NOBODYS})\z")
    codes = begin_codes(plain)
    decide_in_order(pc.ascii_lower(trimmed), codes, OPENING)
    decide_in_order(lowered, codes, _DEVICE_ID_CHECKS)
    # A valid id holds no braces but those around it.
    kept = lowered if rules.device_id_case == "lower" else bare
    return Decisions.of(pc.ascii_trim(kept, "{}"), codes)


_SITE: Final = r"\A(?:https?://)?(?:(?:www|mobile|m)\.)?(?:x|twitter)\.com/(?:#!/)?@?"
_ADDRESS: Final = rf"{_SITE}([a-z0-9_]+)(?:[/?#](?s:.*))?\z"
_PLAIN_HANDLE: Final = rf"\A[a-z0-9_]{{1,{MAX_HANDLE_LENGTH}}}\z"

_PAGE: Final = pattern_of(sorted(PAGES))

_WHOLE_CHECKS: Final = (BLANK, HASHED, ENCODED, WORD)
_NAME_CHECKS: Final = (
    WORD,
    INVISIBLE,
    Check(r"\A[a-z0-9_]+\z", code_of(Reason.INVALID_SYNTAX), holds=False),
    Check(rf"\A.{{{MAX_HANDLE_LENGTH + 1}}}", code_of(Reason.TOO_LONG)),
    Check(ALWAYS, VALID),
)


def decide_handles(texts: Any) -> Decisions:
    """The certain ones of `texts` (pa.StringArray): the handle as the definition gives it, or its reason.

    Holds raw values: to be called from a guarded function only.
    """
    lowered = pc.ascii_lower(trim_texts(texts))
    names = _bare_names(unmark_texts(lowered))
    codes = begin_codes(matches(names, _PLAIN_HANDLE) & ~matches(names, WORD.pattern))
    decide_in_order(lowered, codes, _WHOLE_CHECKS)
    decide_in_order(names, codes, _NAME_CHECKS)
    return Decisions.of(names, codes)


def _bare_names(lowered: Any) -> Any:
    """Each text without profile address or one `@`; nothing of a page that names no one."""
    marked = pc.or_(pc.starts_with(lowered, "@"), pc.starts_with(lowered, "＠"))
    names = pc.if_else(marked, pc.utf8_slice_codeunits(lowered, 1, None), lowered)
    addressed = pc.match_substring_regex(lowered, _ADDRESS)
    if not pc.any(addressed).as_py():
        return names
    found = pc.replace_substring_regex(lowered.filter(addressed), _ADDRESS, r"\1")
    found = pc.if_else(pc.match_substring_regex(found, _PAGE), "", found)
    return pc.replace_with_mask(names, addressed, found)


_SIGNS: Final = "!-$'-*,-?A-~"  # printable, and none that begins an address, a number or a code of one sign
_DIGITS: Final = r"[0-9]+(?:\.0)?"
_GROUPED: Final = r"[1-9][0-9]*(?:[.-][0-9]+)+"  # a phone number in such groups has a zero in front
_SIGNED: Final = rf"[{_SIGNS}]*[A-Za-z_][{_SIGNS}]*"
_WORDED: Final = rf"[ {_SIGNS}]*(?:[A-Za-z_][ {_SIGNS}]*[0-9]|[0-9][ {_SIGNS}]*[A-Za-z_])[ {_SIGNS}]*"
_BASE64: Final = r"(?:[0-9/][0-9+/]*)?[A-Za-z][A-Za-z0-9+/]*={0,2}"
_PLAIN_PARTNER_ID: Final = rf"\A(?:{_DIGITS}|{_GROUPED}|{_SIGNED}|{_WORDED}|{_BASE64})\z"
_NORTH_AMERICAN: Final = r"\A(?:1[.-])?[0-9]{3}[.-][0-9]{3}[.-][0-9]{4}\z"
# IPv6 has six colons at least, or two that stand together.
_INTERNET: Final = r"\A[0-9]+(?:\.[0-9]+){3}\z|::|(?::[^:]*){5}:|(?:\A|[ /.(])(?i:x|twitter)\.(?i:com)/"
_AT: Final = rf"{SPELLED_AT}\z|(?i: at )|[(\[{{<] ?(?i:at) ?[)\]}}>]"
_DOUBTFUL: Final = rf"{_AT}|{_INTERNET}|{_NORTH_AMERICAN}"

_OFF: Final = f"[{WHITE_SPACE}{MARKS}]*"  # at the ends
_BEYOND: Final = f"[{BREAKS}{MARKS}{CONTROLS.removesuffix(SURROGATES)}\ufffd]"
_WORDS: Final = WORD.pattern.removeprefix(r"\A").removesuffix(r"\z")
# Nothing else is looked at by any of the checks.
_CHECKED: Final = rf"\A{_OFF}(?:(?i:{_WORDS}|{MANGLED}){_OFF})?\z|{_BEYOND}"
_WORD_CHECKS: Final = (WORD,)
_SIGN_CHECKS: Final = (
    Check(_BEYOND.replace("\ufffd", ""), code_of(Reason.INVISIBLE_CHARACTER)),
    Check("\ufffd", code_of(Reason.INVALID_SYNTAX)),
)
_PARTNER_ID_CHECKS: Final = (Check(rf"\A(?i:{MANGLED})\z", code_of(Reason.EXCEL_MANGLED)),)


def decide_partner_user_ids(texts: Any) -> Decisions:
    """The certain ones of `texts` (pa.StringArray): the id as it stands, or its reason.

    Holds raw values: to be called from a guarded function only.
    """
    filled = pc.fill_null(texts, "")
    trimmed = pc.ascii_trim(filled, " ")
    plain = matches(trimmed, _PLAIN_PARTNER_ID)
    plain &= ~matches_among(pc.ascii_lower(trimmed), plain, WORD.pattern)
    plain &= ~matches_among(trimmed, plain, _DOUBTFUL)
    plain &= ~hold_others(trimmed, plain)
    codes = np.zeros(len(filled), dtype=np.int8)
    codes[pc.utf8_length(filled).to_numpy(zero_copy_only=False) > MAX_PARTNER_USER_ID_LENGTH] = code_of(Reason.TOO_LONG)
    rest = np.flatnonzero(~plain)
    if len(rest):
        codes[rest] = _judge(filled.take(arrow_array(rest)), codes[rest])
    return Decisions.of(filled, codes)


def _judge(texts: Any, lengths: Codes) -> Codes:
    """The decisions on `texts`, of which `lengths` says for the long ones that they are too long."""
    trimmed = trim_texts(texts)
    checked = np.flatnonzero(matches(texts, _CHECKED))
    codes = np.where(lengths == VALID, PENDING, lengths).astype(np.int8)
    codes[checked] = _check(texts.take(arrow_array(checked)), trimmed.take(arrow_array(checked)), codes[checked])
    left = np.flatnonzero(codes == PENDING)
    codes[left] = judge_likeness(trimmed.take(arrow_array(left)))
    return codes


def _check(texts: Any, trimmed: Any, codes: Codes) -> Codes:
    codes = codes.copy()
    codes[matches(trimmed, BLANK.pattern)] = BLANK.code
    decide_in_order(pc.ascii_lower(trimmed), codes, _WORD_CHECKS)
    decide_in_order(texts, codes, _SIGN_CHECKS)
    decide_in_order(trimmed, codes, _PARTNER_ID_CHECKS)
    return codes


# Values of a batch, and of one of more than _MANY: a share is wanted, that of the whole list over many batches.
_LOOKED_AT, _LOOKED_AT_OF_MANY, _MANY = 128, 64, 10_000
_FIRST_TRIED: Final = 8  # numbers of many: to read one costs as much as to look at ten values
_REPEATED: Final = 0.3  # of the values have a word that is the column's own
_COUNTER_GAP: Final = 100_000  # between the numbers of a sample, and more: people's lie so far apart, counters do not
_TRUNKED: Final = 11  # digits: so many, behind a single zero, are hardly a counter
_FEW: Final = 3  # numbers, whose distances say nothing


def count_personal_shapes(texts: Any, countries: Any | None, default_country: str | None) -> PersonalShapes:
    """The counts of `texts` (pa.StringArray). `countries` (codes; None: no row names one) are those of the rows.

    Holds raw values: to be called from a guarded function only.
    """
    places = _evenly(len(texts), _LOOKED_AT_OF_MANY if len(texts) > _MANY else _LOOKED_AT)
    looked_at = texts.take(arrow_array(places)).to_pylist()
    with_word = Counter(word for text in looked_at for word in words_in(text))
    least = max(2, len(looked_at) * _REPEATED)
    repeated = {word for word, count in with_word.items() if count >= least}
    shapes = Counter(shape for text in looked_at if (shape := shape_of(text, repeated)))
    numbers = [number_behind_words(text) for text in looked_at]
    apart = np.flatnonzero(_lie_apart(numbers))
    # Behind words people have a number nearly always: of ids the first few show that the rest need no look.
    tried, readings = apart[:0], Counter[str]()
    for size in (len(apart),) if len(texts) <= _MANY else (_FIRST_TRIED, len(apart)):
        if len(tried) and max(readings.values(), default=0) + readings[KNOWN] < len(tried) - 1:
            break
        tried = apart[_evenly(len(apart), size)]
        regions = [None] * len(tried) if countries is None else countries.take(arrow_array(places[tried])).to_pylist()
        own = [region or default_country for region in regions]
        readings = Counter(
            name for n, c in zip(tried.tolist(), own, strict=True) for name in readings_of(numbers[n], c)
        )
    return PersonalShapes(len(looked_at), shapes, len(apart), len(tried), readings)


def _evenly(size: int, most: int) -> Indices:
    """Places among `size`, as many as `most`, evenly."""
    return np.arange(size) if size <= most else np.linspace(0, size - 1, most).astype(np.int64)


def _lie_apart(numbers: list[str]) -> list[bool]:
    """Return which of `numbers` (empty: none) are no numbers of a counter. Long ones after a single zero never are."""
    by_size: dict[int, list[int]] = {}
    for digits in numbers:
        by_size.setdefault(len(digits), []).append(int(digits or 0))
    apart = {
        size: len(of_size) < _FEW or max(of_size) - min(of_size) > len(of_size) * _COUNTER_GAP
        for size, of_size in by_size.items()
    }
    return [bool(digits) and (apart[len(digits)] or _is_trunked(digits)) for digits in numbers]


def _is_trunked(digits: str) -> bool:
    return len(digits) >= _TRUNKED and digits[0] == "0" != digits[1]
