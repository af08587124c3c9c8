"""The classes of faults of pipelines: each makes of a raw value the wrong digest that a pipeline with this fault makes.

A pipeline is a chain of five steps: it takes off what is not of the value, writes the value in its normal form, makes
bytes of it, a digest of these, and a text of the digest. A class changes one step. So faults of one pipeline add up.
"""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from html import escape
from typing import Final
from urllib.parse import quote

import phonenumbers

from audiencekit.identifiers.bare_numbers import LARGE_COUNTRIES
from audiencekit.identifiers.definition import normalize_identifier
from audiencekit.identifiers.kinds import Kind, Reason, Rules
from audiencekit.identifiers.several_values import values_in
from audiencekit.identifiers.texts import MARKS, MAX_NORMALIZED, WHITE_SPACE, trim


class Step(IntEnum):
    """The step of a pipeline that a class changes, in their order."""

    TAKE_OFF = 0
    REFUSE = 1
    WRITE = 2
    ENCODE = 3
    DIGEST = 4
    SHOW = 5


# --- A raw value, and what is around it ---

_ASCII_SPACE: Final = " \t\n\v\f\r"
_RUNS: Final = (
    ("white_space", f"[{_ASCII_SPACE}]"),
    ("no_break_space", f"[{WHITE_SPACE}]"),
    ("byte_order_mark", "\ufeff"),
    ("zero_width_mark", f"[{MARKS}]"),
)
_PEELS: Final = tuple(
    (name, re.compile(rf"\A({sign}*)(.*?)({sign}*)\Z", re.DOTALL)) for name, sign in _RUNS
)  # each takes off one sort of sign at both ends
_OF_ALL: Final = (
    ("quotes", re.compile(r"""\A(["'])(.+)(\1)\Z""", re.DOTALL)),
    ("spreadsheet_mark", re.compile(r"""\A(=")(.*)(")\Z""", re.DOTALL)),
    ("spreadsheet_mark", re.compile(r"""\A(')(.+)()\Z""", re.DOTALL)),
)
_LINK: Final = re.compile(
    r"""\A(=\s*HYPERLINK\(\s*"(?:mailto:|tel:)?[^"]*"\s*[,;]\s*")([^"]*)("\s*\))\Z""", re.IGNORECASE
)
_OF_KIND: Final = {
    Kind.EMAIL: (
        ("link_formula", _LINK),
        ("separator_behind", re.compile(r"\A()(.*[^,;\s])(\s*[,;][\s,;]*)\Z", re.DOTALL)),
        ("brackets", re.compile(r"\A(<)([^<>]*)(>)\Z")),
        ("scheme", re.compile(r"\A((?:mailto|smtp):[ ]*)(.+)()\Z", re.IGNORECASE)),
    ),
    Kind.PHONE_NUMBER: (("link_formula", _LINK), ("scheme", re.compile(r"\A((?:tel|p):\s*)(.+)()\Z", re.IGNORECASE)),),
    Kind.DEVICE_ID: (("brackets", re.compile(r"\A(\{)(.*)(\})\Z")),),
    Kind.HANDLE: (
        ("profile_address", re.compile(r"\A((?:https?://)?(?:(?:www|mobile|m)\.)?(?:x|twitter)\.com/)([^/?#]+)(.*)\Z",
                                       re.IGNORECASE)),
        ("at_sign", re.compile(r"\A([@＠])(.+)()\Z")),
    ),
    Kind.PLATFORM_ID: (("leading_zeros", re.compile(r"\A(0+)([1-9][0-9]*)()\Z")),),
}  # fmt: skip


@dataclass(frozen=True)
class Value:
    """One raw value: `normalised`, or the `reason` to refuse it; and what is taken off around it.

    Holds personal data: only in guarded functions.
    """

    kind: Kind
    raw: str = field(repr=False)
    country: str | None = None
    rules: Rules = field(default_factory=Rules)

    @cached_property
    def ruling(self) -> str | Reason:
        """The result of the definition."""
        return normalize_identifier(self.kind, self.raw, country=self.country, rules=self.rules)

    @property
    def normalised(self) -> str | None:
        """The normalised value, None for one that is refused."""
        return None if isinstance(self.ruling, Reason) else self.ruling

    @property
    def reason(self) -> Reason | None:
        """The reason to refuse the value, None for a valid one."""
        return self.ruling if isinstance(self.ruling, Reason) else None

    @cached_property
    def layers(self) -> tuple[tuple[tuple[str, str, str], ...], str]:
        """Names and texts of what is taken off, outermost first, and the core."""
        layers, core, found = list[tuple[str, str, str]](), self.raw, True
        while found and len(layers) < _MOST_LAYERS:
            found = False
            for name, form in (*_PEELS, *_OF_KIND.get(self.kind, ()), *_OF_ALL):
                peeled = form.match(core)
                if peeled and peeled[2] and peeled[2] != core:
                    layers.append((name, peeled[1], peeled[3]))
                    core, found = peeled[2], True
                    break
        return tuple(layers), core

    @cached_property
    def digits(self) -> str:
        """The ASCII digits of the core."""
        core = "".join(str(unicodedata.decimal(sign, sign)) for sign in self.layers[1])
        return re.sub("[^0-9]", "", core)

    @cached_property
    def number(self) -> phonenumbers.PhoneNumber | None:
        """The parsed phone number."""
        normalised = self.normalised or ""
        if self.kind is not Kind.PHONE_NUMBER or not normalised.startswith("+"):
            return None
        return phonenumbers.parse(normalised, None)

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The normalised values of a cell with several."""
        if self.reason is not Reason.INVALID_SYNTAX:
            return ()
        several = values_in(self.kind, self.raw) or _divided(self.kind, self.raw)
        rulings = [normalize_identifier(self.kind, one, country=self.country, rules=self.rules) for one in several]
        return () if any(isinstance(ruling, Reason) for ruling in rulings) else tuple(map(str, rulings))


_MOST_LAYERS: Final = 8


def _divided(kind: Kind, raw: str) -> list[str]:
    parts = [part for part in re.split("[;|\n]", raw) if part.strip()]
    return parts if len(parts) > 1 and kind in (Kind.EMAIL, Kind.PHONE_NUMBER) else []


# --- The classes ---

Make = Callable[[Value, str], Iterable[str]]
ALL: Final = frozenset(kind for kind in Kind if kind.is_hashed)


@dataclass(frozen=True, slots=True, eq=False)
class FaultClass:
    """One class of faults. `code` is stable; `message` and `remedy` are for people: the fault, and the line to mend it.

    `write` makes other texts of a value and its normalised text, `encode` bytes of a text, `digest` a digest of bytes,
    `show` texts of a digest. Of REFUSE, `reasons` are refused by the rule, and the pipeline hashes them all the same.
    """

    code: str
    step: Step
    message: str
    remedy: str
    kinds: frozenset[Kind] = ALL
    write: Make | None = None
    encode: Callable[[str], bytes] | None = None
    digest: Callable[[bytes], bytes] | None = None
    show: Callable[[bytes, str], Iterable[str]] | None = None
    reasons: frozenset[Reason] = frozenset()


_EMAIL: Final = frozenset({Kind.EMAIL})
_PHONE: Final = frozenset({Kind.PHONE_NUMBER})
_IDS: Final = frozenset({Kind.PLATFORM_ID})
_NUMERIC: Final = _PHONE | _IDS


def _sides(text: str) -> tuple[str, str]:
    local, _, domain = text.rpartition("@")
    return local, domain


def _without_dots(value: Value, text: str) -> Iterator[str]:
    local, domain = _sides(text)
    name, plus, tag = local.partition("+")
    yield f"{name.replace('.', '')}{plus}{tag}@{domain}"


def _gmail_without_dots(value: Value, text: str) -> Iterator[str]:
    if _sides(text)[1] in ("gmail.com", "googlemail.com"):
        yield from _without_dots(value, text)


def _without_tag(value: Value, text: str) -> Iterator[str]:
    local, domain = _sides(text)
    yield f"{local.partition('+')[0]}@{domain}"


def _turkish(value: Value, text: str) -> Iterator[str]:
    core = value.layers[1]
    if "I" in core or "İ" in core:
        yield core.replace("I", "ı").replace("İ", "i").lower()


def _unaccented(value: Value, text: str) -> Iterator[str]:
    yield "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


def _misread(value: Value, text: str) -> Iterator[str]:
    """UTF-8 read in an encoding of single bytes."""
    for encoding in ("cp1252", "latin-1"):
        misread = value.raw.encode().decode(encoding, "replace")
        if misread != value.raw:
            ruling = normalize_identifier(value.kind, misread, country=value.country, rules=value.rules)
            yield from [] if isinstance(ruling, Reason) else [str(ruling)]
            yield trim(misread).lower()
            yield "".join(_sides(text.encode().decode(encoding, "replace"))[:1]) + "@" + _sides(text)[1]


def _national(value: Value) -> tuple[str, str]:
    """The calling code and the national digits."""
    if value.number is None:
        return "", ""
    return str(value.number.country_code), phonenumbers.national_significant_number(value.number)


def _is_national(value: Value) -> bool:
    is_number = value.kind is Kind.PHONE_NUMBER and value.normalised is not None
    return is_number and not value.layers[1].lstrip("([ ").startswith(("+", "＋", "00"))


def _without_code(value: Value, text: str) -> Iterator[str]:
    code, national = _national(value)
    if code:
        yield national
        if _is_national(value):
            yield value.digits


def _with_trunk(value: Value, text: str) -> Iterator[str]:
    code, national = _national(value)
    for prefix in {"0", value.digits.removesuffix(national) if _is_national(value) else "0"} if code else ():
        if 0 < len(prefix) < 3:
            yield f"+{code}{prefix}{national}"


def _other_country(value: Value, text: str) -> Iterator[str]:
    code, national = _national(value)
    for other in _CODES if code else ():
        if other != code:
            yield f"+{other}{national}"
            if _is_national(value):
                yield f"+{other}{value.digits}"


_CODES: Final = sorted({str(phonenumbers.country_code_for_region(region)) for region in LARGE_COUNTRIES})


def _plus_before_national(value: Value, text: str) -> Iterator[str]:
    if _is_national(value):
        yield f"+{value.digits}"


def _of_core(change: Callable[[str], str]) -> Make:
    """The core as it is written, changed, in place of the number."""

    def write(value: Value, text: str) -> Iterator[str]:
        yield change(trim(value.layers[1]))

    return write


def _as_number(value: Value, text: str) -> str:
    """The digits that a program reads as a number."""
    return (value.digits if value.kind is Kind.PHONE_NUMBER else text).lstrip("0")


def _scientific(value: Value, text: str) -> Iterator[str]:
    for digits in {_as_number(value, text), text.removeprefix("+")}:
        if digits.isdecimal() and digits:
            number = int(digits)
            for form in (
                f"{number:.5E}",
                f"{number:.5e}",
                f"{number:.2E}",
                f"{number:.14E}",
                repr(float(number) * 1e6),
            ):
                mantissa, sign, exponent = form.upper().partition("E")
                yield form
                yield f"{mantissa.rstrip('0').rstrip('.')}{sign}{exponent}"


def _decimal(value: Value, text: str) -> Iterator[str]:
    for digits in {_as_number(value, text), text.removeprefix("+")}:
        yield f"{digits}.0"
        yield f"+{digits}.0"
        yield f"+{digits}0"


def _rounded(value: Value, text: str) -> Iterator[str]:
    if text.isdecimal():
        yield str(int(float(text)))


def _grouped(value: Value, text: str) -> Iterator[str]:
    if text.isdecimal():
        yield f"{int(text):,}"


def _empty(value: Value, text: str) -> Iterator[str]:
    yield ""


_NULLS: Final = ("null", "NULL", "None", "none", "nan", "NaN", "undefined", "nil", "<NA>", "\\N", "N/A", "n/a")


def _nulls(value: Value, text: str) -> Iterator[str]:
    yield from _NULLS


def _to(change: Callable[[str], str]) -> Make:
    def write(value: Value, text: str) -> Iterator[str]:
        yield change(text)

    return write


def _for(kinds: frozenset[Kind], code: str, message: str, remedy: str, write: Make) -> FaultClass:
    return FaultClass(code, Step.WRITE, message, remedy, kinds, write=write)


def _left_on(code: str, what: str, remedy: str, *kinds: Kind) -> FaultClass:
    return FaultClass(code, Step.TAKE_OFF, f"{what} stays in what is hashed", remedy, frozenset(kinds) or ALL)


def _encoded(code: str, message: str, remedy: str, encode: Callable[[str], bytes]) -> FaultClass:
    return FaultClass(code, Step.ENCODE, message, remedy, encode=encode)


def _digested(code: str, message: str, remedy: str, digest: Callable[[bytes], bytes]) -> FaultClass:
    return FaultClass(code, Step.DIGEST, message, remedy, digest=digest)


def _shown(code: str, message: str, remedy: str, show: Callable[[bytes, str], Iterable[str]]) -> FaultClass:
    return FaultClass(code, Step.SHOW, message, remedy, show=show)


def _refused(code: str, message: str, remedy: str, *reasons: Reason, kinds: frozenset[Kind] = ALL) -> FaultClass:
    return FaultClass(code, Step.REFUSE, message, remedy, kinds, reasons=frozenset(reasons))


def _of_several(code: str, message: str, remedy: str, write: Make) -> FaultClass:
    reasons = frozenset({Reason.INVALID_SYNTAX})
    return FaultClass(code, Step.REFUSE, message, remedy, _EMAIL | _PHONE, write=write, reasons=reasons)


def _one_part(value: Value, text: str) -> Iterator[str]:
    yield from value.parts


def _all_parts(value: Value, text: str) -> Iterator[str]:
    if value.parts:
        yield from (trim(value.raw).lower(), value.raw, trim(value.raw), re.sub(r"\s", "", value.raw).lower())
        yield from ("".join(value.parts), ",".join(value.parts))


def _prefixes(digest: bytes, _: str) -> Iterator[str]:
    text = digest.hex()
    yield from (text[:size] for size in _CUTS if size < len(text))


_CUTS: Final = (8, 10, 12, 16, 20, 24, 30, 32, 36, 40, 48, 50, 56, 60, 62, 63)


def _sha(name: str) -> Callable[[bytes], bytes]:
    return lambda data: hashlib.new(name, data, usedforsecurity=False).digest()


_HEX: Final = "write the 32 bytes as 64 lower-case hex digits"
_ONCE: Final = "hash the normalised text once, with SHA-256"
_UTF_8: Final = "hash the UTF-8 bytes of the normalised text, and nothing else"
_NULL: Final = "leave the cell blank where there is no value"

# The order decides between two classes that explain the same people: what is likelier comes first.
CLASSES: Final[tuple[FaultClass, ...]] = (
    _left_on("white_space", "white space around the value", "trim the value before hashing: value.strip()"),
    _left_on("case", "upper case", "lower-case the value before hashing: value.lower()", Kind.EMAIL, Kind.HANDLE,
             Kind.DEVICE_ID),
    _left_on("no_break_space", "a no-break or other Unicode space around the value",
             "trim Unicode's white space, not only ASCII's"),
    _left_on("zero_width_mark", "an invisible mark around the value", "remove U+200B and its like at both ends"),
    _left_on("byte_order_mark", "a byte order mark", "read the file as utf-8-sig, or remove U+FEFF"),
    _left_on("link_formula", "the formula of a link", "take the text of the link", Kind.EMAIL, Kind.PHONE_NUMBER),
    _left_on("quotes", "a pair of quotes", "read the CSV with its quotes, or remove them at both ends"),
    _left_on("spreadsheet_mark", 'the apostrophe or ="…" of a spreadsheet', "remove the mark in front of the value"),
    _left_on("scheme", "mailto:, smtp: or tel:", "remove the scheme in front of the value", Kind.EMAIL,
             Kind.PHONE_NUMBER),
    _left_on("brackets", "a pair of brackets", "remove the brackets", Kind.EMAIL, Kind.DEVICE_ID),
    _left_on("separator_behind", "a comma or semicolon behind the address", "remove it", Kind.EMAIL),
    _left_on("domain_beyond_ascii", "an international domain as it is written",
             "encode the domain by IDNA 2008 (xn--…)", Kind.EMAIL),
    _left_on("not_composed", "a letter in its decomposed form (NFD)", "normalise the text to NFC", Kind.EMAIL),
    _left_on("at_sign", "the @ of a handle", "remove the @ in front of it", Kind.HANDLE),
    _left_on("profile_address", "the address of a profile", "take the handle out of the address", Kind.HANDLE),
    _left_on("leading_zeros", "a zero in front of an id", "write the id as an integer", Kind.PLATFORM_ID),
    _for(_EMAIL, "gmail_dots", "dots of Gmail addresses are removed", "keep the dots: the rule does not ask for it",
         _gmail_without_dots),
    _for(_EMAIL, "dots", "dots before the @ are removed", "keep the dots: the rule does not ask for it", _without_dots),
    _for(_EMAIL, "tags", "the +tag of an address is removed", "keep the tag: the rule does not ask for it",
         _without_tag),
    _for(_EMAIL, "googlemail", "googlemail.com is made gmail.com", "keep the domain as it is",
         _to(lambda text: re.sub("@googlemail\\.com$", "@gmail.com", text))),
    _for(_EMAIL, "turkish_lower_case", "the value is lower-cased by Turkish rules (I becomes ı)",
         "lower-case without a locale, such as Locale.ROOT", _turkish),
    _for(_EMAIL, "accents", "accents are removed", "keep the letters as they are", _unaccented),
    _for(_EMAIL, "decomposed", "letters are decomposed (NFD)", "normalise the text to NFC",
         _to(lambda text: unicodedata.normalize("NFD", text))),
    _for(_EMAIL, "plus_as_space", "a + is read as a space", "decode the address as a path, not as a form",
         _to(lambda text: text.replace("+", " "))),
    _for(_EMAIL, "percent_encoded", "the value is percent-encoded", "hash the text, not its form in a URL",
         _to(lambda text: quote(text, safe=""))),
    _for(_EMAIL, "html_escaped", "the value is escaped for HTML", "hash the text, not its form in a page",
         _to(lambda text: escape(text).replace("&#x27;", "&#39;"))),
    _for(_EMAIL, "wrong_encoding", "UTF-8 is read in another encoding", "read the file as UTF-8", _misread),
    _for(_EMAIL, "local_part_only", "only the part before the @ is hashed", "hash the whole address",
         _to(lambda text: _sides(text)[0])),
    _for(_PHONE, "no_plus", "the + of E.164 is missing", "hash the number with its +: '+' + digits",
         _to(lambda text: text.removeprefix("+"))),
    _for(_PHONE, "double_plus", "the + is doubled", "add a + only where there is none", _to(lambda text: f"+{text}")),
    _for(_PHONE, "prefix_00", "00 in place of the +", "replace a leading 00 by +",
         _to(lambda text: f"00{text.removeprefix('+')}")),
    _for(_PHONE, "trunk_zero", "the 0 of national numbers stays behind the country code",
         "remove the national prefix, as phonenumbers does", _with_trunk),
    _for(_PHONE, "plus_before_national", "a + is put before a number without a country code",
         "parse the number with the country of its row", _plus_before_national),
    _for(_PHONE, "no_country_code", "the number has no country code", "parse the number with the country of its row",
         _without_code),
    _for(_PHONE, "wrong_country", "the number gets the code of another country",
         "parse the number with the country of its row, not with a default", _other_country),
    _for(_PHONE, "spaces_kept", "spaces in a number are kept", "format the number as E.164",
         _of_core(lambda text: re.sub(r"[^+0-9 \xa0]", "", text))),
    _for(_PHONE, "punctuation_kept", "punctuation in a number is kept", "format the number as E.164",
         _of_core(lambda text: re.sub(r"[\s\xa0]", "", text))),
    _for(_PHONE, "number_as_written", "a number is hashed as it is written", "format the number as E.164",
         _of_core(lambda text: text)),
    _for(_NUMERIC, "decimals", "a number has decimals (.0)", "read the column as text, not as a number", _decimal),
    _for(_NUMERIC, "scientific_notation", "a number is in scientific notation (4.9E+12)",
         "read the column as text, not as a number", _scientific),
    _for(_IDS, "rounded", "an id is rounded to 15 digits", "read the column as text, not as a number", _rounded),
    _for(_IDS, "thousands_separators", "an id has thousands separators", "write the id as an integer", _grouped),
    _for(frozenset({Kind.DEVICE_ID}), "dashes_removed", "the dashes of a device id are removed", "keep the dashes",
         _to(lambda text: text.replace("-", ""))),
    _for(frozenset({Kind.HANDLE}), "at_sign_added", "an @ is put before the handle", "hash the handle without @",
         _to(lambda text: f"@{text}")),
    _for(ALL, "upper_case", "the value is upper-cased", "lower-case the value before hashing: value.lower()",
         _to(str.upper)),
    _for(ALL, "empty_hashed", "the empty text is hashed", _NULL, _empty),
    _for(ALL, "null_hashed", "a word such as null, None or nan is hashed", _NULL, _nulls),
    _of_several("one_of_several", "of several values in a cell only one is hashed", "divide the cell, and hash each",
                _one_part),
    _of_several("several_together", "several values in a cell are hashed as one", "divide the cell, and hash each",
                _all_parts),
    _refused("blank_hashed", "a blank cell is hashed", _NULL, Reason.EMPTY),
    _refused("placeholder_hashed", "a placeholder or a mask is hashed", "leave out values that mean no one",
             Reason.PLACEHOLDER, Reason.ZEROED),
    _refused("hashed_again", "a digest is hashed again", "leave values as they are that are hashed already",
             Reason.ALREADY_HASHED),
    _refused("extension_hashed", "a number with an extension is hashed", "leave the number out, or its extension",
             Reason.EXTENSION, kinds=_PHONE),
    _refused("no_country_hashed", "a number without a country is hashed", "give the country of each row",
             Reason.NO_COUNTRY, kinds=_PHONE),
    _refused("display_name_hashed", "an address with a name beside it is hashed", "take the address out of < >",
             Reason.DISPLAY_NAME, kinds=_EMAIL),
    _refused("reserved_domain_hashed", "an address at a domain for tests is hashed", "leave it out",
             Reason.SPECIAL_USE_DOMAIN, kinds=_EMAIL),
    _refused("spreadsheet_damage_hashed", "a value that a spreadsheet has changed is hashed",
             "read the original column as text", Reason.EXCEL_MANGLED),
    _refused("invisible_hashed", "a value with an invisible character inside is hashed", "remove the character",
             Reason.INVISIBLE_CHARACTER),
    _refused("unassigned_hashed", "a number that no one can have is hashed", "leave out numbers that are not valid",
             Reason.NOT_VALID, Reason.NOT_POSSIBLE, kinds=_PHONE),
    _refused("invalid_hashed", "a value that is none of its kind is hashed", "check the form of each value",
             Reason.INVALID_SYNTAX, Reason.TOO_LONG, Reason.NOT_INTEGER),
    _encoded("newline", "a line break is hashed, too", "hash without it: printf '%s', not echo",
             lambda text: f"{text}\n".encode()),
    _encoded("carriage_return", "a line break of Windows is hashed, too", "remove \\r\\n before hashing",
             lambda text: f"{text}\r\n".encode()),
    _encoded("utf_16", "UTF-16 is hashed", _UTF_8, lambda text: text.encode("utf-16-le", "replace")),
    _encoded("utf_16_big_endian", "UTF-16 (big-endian) is hashed", _UTF_8,
             lambda text: text.encode("utf-16-be", "replace")),
    _encoded("utf_16_marked", "UTF-16 with its mark is hashed", _UTF_8,
             lambda text: b"\xff\xfe" + text.encode("utf-16-le", "replace")),
    _encoded("latin_1", "Latin-1 is hashed", _UTF_8, lambda text: text.encode("latin-1", "replace")),
    _encoded("mark_before", "a byte order mark is put before the value", "encode as utf-8, not as utf-8-sig",
             lambda text: text.encode("utf-8-sig", "replace")),
    _encoded("in_quotes", "the value is hashed in quotes", "hash the text, not its JSON",
             lambda text: f'"{text}"'.encode("utf-8", "replace")),
    _encoded("python_bytes", "the text b'…' of Python is hashed", "hash value.encode(), not str() of it",
             lambda text: f"b'{text}'".encode("utf-8", "replace")),
    _encoded("zero_byte", "a zero byte is hashed, too", "give the length without the end of a C string",
             lambda text: f"{text}\0".encode("utf-8", "replace")),
    _digested("hashed_twice", "the digest is hashed again", _ONCE,
              lambda data: hashlib.sha256(hashlib.sha256(data).hexdigest().encode()).digest()),
    _digested("bytes_hashed_twice", "the bytes of the digest are hashed again", _ONCE,
              lambda data: hashlib.sha256(hashlib.sha256(data).digest()).digest()),
    _digested("hash_of_md5", "the MD5 is hashed", _ONCE,
              lambda data: hashlib.sha256(_sha("md5")(data).hex().encode()).digest()),
    _digested("md5", "MD5 is used", _ONCE, _sha("md5")),
    _digested("sha1", "SHA-1 is used", _ONCE, _sha("sha1")),
    _digested("sha224", "SHA-224 is used", _ONCE, _sha("sha224")),
    _digested("sha384", "SHA-384 is used", _ONCE, _sha("sha384")),
    _digested("sha512", "SHA-512 is used", _ONCE, _sha("sha512")),
    _digested("sha3", "SHA3-256 is used", _ONCE, _sha("sha3_256")),
    _shown("upper_hex", "the digest is in upper case", _HEX, lambda digest, _: [digest.hex().upper()]),
    _shown("base64", "the digest is in base64", _HEX, lambda digest, _: [base64.b64encode(digest).decode()]),
    _shown("base64_of_url", "the digest is in base64 for URLs", _HEX,
           lambda digest, _: [base64.urlsafe_b64encode(digest).decode()]),
    _shown("base64_cut", "the digest is in base64 without =", _HEX,
           lambda digest, _: [base64.b64encode(digest).decode().rstrip("="),
                              base64.urlsafe_b64encode(digest).decode().rstrip("=")]),
    _shown("base64_of_hex", "the hex digits of the digest are in base64", _HEX,
           lambda digest, _: [base64.b64encode(digest.hex().encode()).decode()]),
    _shown("prefix_0x", "0x or \\x before the digest", _HEX,
           lambda digest, _: [before + text for before in ("0x", "\\x", "0X")
                              for text in (digest.hex(), digest.hex().upper())]),
    _shown("named_digest", "the name of the function before the digest", _HEX,
           lambda digest, _: [f"{name}{digest.hex()}" for name in ("sha256:", "sha256-", "SHA256:", "sha256=")]),
    _shown("truncated", "the digest is cut", _HEX, _prefixes),
    _shown("digest_in_quotes", "the digest is in quotes", _HEX,
           lambda digest, _: [f'"{digest.hex()}"', f"'{digest.hex()}'", f"b'{digest.hex()}'"]),
    _shown("space_around_digest", "white space is around the digest", _HEX,
           lambda digest, _: [f" {digest.hex()}", f"{digest.hex()} ", f" {digest.hex()} ", f"{digest.hex()}\n",
                              f"{digest.hex()}\r", f"{digest.hex()}\t", f"{digest.hex()}  -"]),
    _shown("digest_in_groups", "signs between the bytes of the digest", _HEX,
           lambda digest, _: [digest.hex(sign) for sign in ": -"]),
    _shown("not_hashed", "the value is not hashed", _ONCE, lambda digest, text: [text]),
)  # fmt: skip

BY_CODE: Final = {one.code: one for one in CLASSES}
RANKS: Final = {one: place for place, one in enumerate(CLASSES)}

# Not made of one value: these are found by comparing rows.
LEFT_OUT: Final = ("left_out", "a valid value has no digest", "look why the pipeline drops it")
OTHER_ROW: Final = ("other_row", "the digest of another row", "keep the order of the rows, or join by a key")
UNKNOWN: Final = ("unknown", "no known fault makes these digests", "look at one of them by hand: is a salt added?")


# --- The digests that a pipeline with some of these faults makes ---


def add_up(faults: Collection[FaultClass]) -> bool:
    """Whether one pipeline can have all `faults`: it takes only one encoding, one digest and one form of it."""
    single = [fault.step for fault in faults if fault.step not in (Step.TAKE_OFF, Step.WRITE)]
    return len(set(single)) == len(single)


def digests(value: Value, faults: frozenset[FaultClass]) -> Iterator[str]:
    """Return every text that a pipeline with all `faults` may give for `value`; none where they say nothing of it.

    The faults are of the kind of the value, and `add_up`.
    """
    if len(value.raw) > MAX_NORMALIZED:  # no identifier is as long, and each class would look through it
        return
    steps: dict[Step, list[FaultClass]] = {}
    for fault in sorted(faults, key=RANKS.__getitem__):
        steps.setdefault(fault.step, []).append(fault)
    texts = list(dict.fromkeys(_texts(value, steps)))
    encode, digest, show = (next(iter(steps.get(step, ())), None) for step in (Step.ENCODE, Step.DIGEST, Step.SHOW))
    for text in texts:
        try:
            data = encode.encode(text) if encode and encode.encode else text.encode()
        except UnicodeEncodeError:
            continue
        made = digest.digest(data) if digest and digest.digest else hashlib.sha256(data).digest()
        yield from show.show(made, text) if show and show.show else [made.hex()]


def _texts(value: Value, steps: dict[Step, list[FaultClass]]) -> Iterator[str]:
    kept = frozenset(fault.code for fault in steps.get(Step.TAKE_OFF, ()))
    writes = steps.get(Step.WRITE, [])
    if value.normalised is None:
        refusing = next(iter(steps.get(Step.REFUSE, ())), None)
        if refusing is None or value.reason not in refusing.reasons or kept:
            return
        texts = list(refusing.write(value, "") if refusing.write else _as_naive(value))
    elif Step.REFUSE in steps:
        return
    else:
        texts = list(_with_left_on(value, kept))
    for fault in writes:
        texts = [made for text in texts for made in fault.write(value, text)] if fault.write else texts
    yield from texts


def _with_left_on(value: Value, kept: frozenset[str]) -> Iterator[str]:
    """The normalised text with `kept` parts around it. Within one that stays, others may have stayed, too."""
    layers, core = value.layers
    inner = _core(value, core, kept)
    if not kept & {name for name, _, _ in layers}:
        yield inner
        return
    for blocks in (False, True):
        text, stays = inner, [False] * len(layers)
        for place, (name, _, _) in enumerate(layers):
            stays[place] = name in kept or (blocks and any(stays[:place]))
        for place in reversed(range(len(layers))):
            if stays[place]:
                _, left, right = layers[place]
                lower = value.kind is Kind.EMAIL and "case" not in kept
                text = f"{left.lower() if lower else left}{text}{right.lower() if lower else right}"
        yield text


def _core(value: Value, core: str, kept: frozenset[str]) -> str:
    """The core in its normal form, but for what is `kept`."""
    normalised = value.normalised or ""
    if not kept & {"case", "not_composed", "domain_beyond_ascii"} or not core.isprintable():
        return normalised
    if value.kind is not Kind.EMAIL:
        return core if core.lower() == normalised else normalised
    local, domain = _sides(core)
    if "case" not in kept:
        local, domain = local.lower(), domain.lower()
    if "not_composed" not in kept:
        local, domain = unicodedata.normalize("NFC", local), unicodedata.normalize("NFC", domain)
    plain = unicodedata.normalize("NFC", unicodedata.normalize("NFC", local).lower())
    if plain != _sides(normalised)[0]:  # something stands in it that no layer is
        return normalised
    if "domain_beyond_ascii" not in kept and not domain.isascii():
        domain = _sides(normalised)[1]
    return f"{local}@{domain}"


def _as_naive(value: Value) -> Iterator[str]:
    """The texts that a pipeline without our checks makes of a refused value."""
    raw, trimmed = value.raw, trim(value.raw)
    for text in (raw, raw.strip(), trimmed):
        yield text
        yield text.lower()
        yield text.upper()
    if value.reason is Reason.EMPTY:
        yield from ("", *_NULLS)
    without = re.sub(f"[{MARKS}]", "", trimmed)
    yield without.lower()
    if value.kind is Kind.EMAIL:
        if found := re.search("<([^<>]*)>", raw):
            yield trim(found[1]).lower()
        yield re.sub(r"\s", "", trimmed).lower()
        yield trimmed.lower().rstrip(".")
    elif value.kind is Kind.PHONE_NUMBER:
        yield from _naive_numbers(value, without)
    elif value.kind is Kind.HANDLE:
        yield trimmed.lstrip("@").lower()
    else:
        yield re.sub("[^0-9a-z]", "", trimmed.lower())


def _naive_numbers(value: Value, text: str) -> Iterator[str]:
    behind = re.split(r"(?i)\s*(?:x|ext|#|;)", text)[0]
    for written in (text, behind):
        digits = re.sub("[^0-9]", "", written)
        yield from (digits, f"+{digits}", re.sub("[^+0-9]", "", written), digits.lstrip("0"), "+" + digits.lstrip("0"))
        region = value.country or value.rules.default_country
        codes = [str(phonenumbers.country_code_for_region(region))] if region else _CODES
        for code in codes:
            yield from (f"+{code}{digits}", f"+{code}{digits.lstrip('0')}")
    try:
        lenient = phonenumbers.parse(text, value.country or value.rules.default_country)
    except phonenumbers.NumberParseException:
        return
    yield phonenumbers.format_number(lenient, phonenumbers.PhoneNumberFormat.E164)
