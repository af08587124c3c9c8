"""A right pipeline for a few invented people, and faults put into it by hand: nothing here asks the package."""

from __future__ import annotations

import base64
import codecs
import hashlib
import random
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import pyarrow as pa

T = TypeVar("T")

# Around an address as a person wrote it, the address itself, and how it should be hashed.
ADDRESSES = (
    (" ", "Ada.Lovett@Example.com", "\t", "ada.lovett@example.com"),
    ("\xa0", "bo+news@example.org", "\u3000", "bo+news@example.org"),
    ("\u200b", "cem_77@example.net", "", "cem_77@example.net"),
    ("\ufeff", "dana@example.com", "", "dana@example.com"),
    ('"', "eli.fay@example.org", '"', "eli.fay@example.org"),
    ("mailto:", "gus@bücher.example.com", "", "gus@xn--bcher-kva.example.com"),
    ("", "zoë@example.com", ",", "zoë@example.com"),
    ("<", "i.vo+a@gmail.com", ">", "i.vo+a@gmail.com"),
    ("'", "j.u@googlemail.com", "", "j.u@googlemail.com"),
    ("", "Tia.I@example.net", "", "tia.i@example.net"),
)
NFD = unicodedata.normalize("NFD", "zoë@example.com")
# A number as it is written, its country, its calling code, its national digits; invented (BNetzA, Ofcom, NANPA, ARCEP).
NUMBERS = (
    ("030 23125 017", "DE", "49", "3023125017"),
    ("+49 (30) 23125-018", "", "49", "3023125018"),
    ("020 7946 0123", "GB", "44", "2079460123"),
    ("0044 20 7946 0124", "GB", "44", "2079460124"),
    ("tel:+442079460125", "", "44", "2079460125"),
    ("(201) 555-0123", "US", "1", "2015550123"),
    ("+1 201 555 0124", "", "1", "2015550124"),
    ("01 99 00 12 34", "FR", "33", "199001234"),
    ("+33.1.99.00.12.35", "", "33", "199001235"),
    ('"+33 199 00 12 36"', "", "33", "199001236"),
)

Text = str


@dataclass(frozen=True)
class Address:
    """A raw address in parts."""

    left: str
    core: str
    right: str
    normalised: str


@dataclass(frozen=True)
class Number:
    """A raw number in parts."""

    raw: str
    country: str
    code: str
    national: str


def _stays(*signs: str) -> Callable[[Address], Text]:
    def write(one: Address) -> Text:
        left = one.left if one.left in signs else ""
        right = one.right if one.right in signs else ""
        return left + one.normalised + right

    return write


def _address(change: Callable[[str, str], str]) -> Callable[[Address], Text]:
    def write(one: Address) -> Text:
        local, _, domain = one.normalised.partition("@")
        return change(local, domain)

    return write


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


# Faults of one kind each: they write the text that is hashed.
OF_ADDRESSES: Mapping[str, Callable[[Address], Text]] = {
    "white_space": _stays(" ", "\t"),
    "no_break_space": _stays("\xa0", "\u3000"),
    "zero_width_mark": _stays("\u200b"),
    "byte_order_mark": _stays("\ufeff"),
    "quotes": _stays('"'),
    "scheme": _stays("mailto:"),
    "separator_behind": _stays(","),
    "brackets": _stays("<", ">"),
    "spreadsheet_mark": _stays("'"),
    "case": lambda one: one.core if one.core.isascii() else one.normalised,
    "domain_beyond_ascii": lambda one: one.normalised.replace("xn--bcher-kva", "bücher"),
    "not_composed": lambda one: one.normalised.replace("zoë", NFD[:4]),
    "gmail_dots": _address(
        lambda local, domain: f"{local.replace('.', '') if domain.startswith('g') else local}@{domain}"
    ),
    "dots": _address(lambda local, domain: f"{local.replace('.', '')}@{domain}"),
    "tags": _address(lambda local, domain: f"{local.split('+')[0]}@{domain}"),
    "googlemail": _address(lambda local, domain: f"{local}@{domain.replace('googlemail', 'gmail')}"),
    "turkish_lower_case": lambda one: one.core.replace("I", "ı").lower() if "I" in one.core else one.normalised,
    "accents": lambda one: one.normalised.replace("ë", "e"),
    "plus_as_space": lambda one: one.normalised.replace("+", " "),
    "percent_encoded": lambda one: one.normalised.replace("+", "%2B").replace("@", "%40").replace("ë", "%C3%AB"),
    "local_part_only": lambda one: one.normalised.split("@")[0],
}
OF_NUMBERS: Mapping[str, Callable[[Number], Text]] = {
    "no_plus": lambda one: one.code + one.national,
    "double_plus": lambda one: f"++{one.code}{one.national}",
    "prefix_00": lambda one: f"00{one.code}{one.national}",
    "trunk_zero": lambda one: f"+{one.code}0{one.national}",
    "no_country_code": lambda one: one.national,
    "plus_before_national": lambda one: f"+{_digits(one.raw)}" if one.raw[0] in "0(" and one.raw[:2] != "00"
    else f"+{one.code}{one.national}",
    "wrong_country": lambda one: f"+49{one.national}" if one.country else f"+{one.code}{one.national}",
    "number_as_written": lambda one: re.sub('tel:|"', "", one.raw),
    "decimals": lambda one: f"{one.code}{one.national}.0",
    "scientific_notation": lambda one: f"{int(one.code + one.national):.5E}",
}  # fmt: skip
# Faults of a step behind, whatever the kind: bytes of a text, a digest of bytes, a text of the digest.
ENCODED: Mapping[str, Callable[[str], bytes]] = {
    "newline": lambda text: (text + "\n").encode(),
    "carriage_return": lambda text: (text + "\r\n").encode(),
    "utf_16": lambda text: text.encode("utf-16-le"),
    "utf_16_big_endian": lambda text: text.encode("utf-16-be"),
    "mark_before": lambda text: codecs.BOM_UTF8 + text.encode(),
    "in_quotes": lambda text: b'"' + text.encode() + b'"',
    "python_bytes": lambda text: ("b'" + text + "'").encode(),
    "zero_byte": lambda text: text.encode() + b"\0",
    "latin_1": lambda text: text.encode("latin-1", "replace"),
}
DIGESTED: Mapping[str, Callable[[bytes], bytes]] = {
    "hashed_twice": lambda data: hashlib.sha256(hashlib.sha256(data).hexdigest().encode("ascii")).digest(),
    "bytes_hashed_twice": lambda data: hashlib.sha256(hashlib.sha256(data).digest()).digest(),
    "md5": lambda data: hashlib.md5(data, usedforsecurity=False).digest(),
    "sha1": lambda data: hashlib.sha1(data, usedforsecurity=False).digest(),
    "sha512": lambda data: hashlib.sha512(data).digest(),
}
SHOWN: Mapping[str, Callable[[bytes], str]] = {
    "upper_hex": lambda digest: digest.hex().upper(),
    "base64": lambda digest: base64.standard_b64encode(digest).decode(),
    "base64_of_hex": lambda digest: base64.b64encode(digest.hex().encode()).decode(),
    "prefix_0x": lambda digest: "0x" + digest.hex(),
    "named_digest": lambda digest: "sha256:" + digest.hex(),
    "truncated": lambda digest: digest.hex()[:20],
    "digest_in_quotes": lambda digest: f"'{digest.hex()}'",
    "digest_in_groups": lambda digest: digest.hex(":"),
}
# A fault of a raw value that the right pipeline leaves out, and the text that is hashed all the same.
REFUSED = {
    "blank_hashed": ("", ""),
    "placeholder_hashed": ("N/A", "n/a"),
    "display_name_hashed": ("Kai <kai@example.com>", "kai@example.com"),
    "reserved_domain_hashed": ("lea@shop.test", "lea@shop.test"),
    "invalid_hashed": ("max@@example.com", "max@@example.com"),
    "invisible_hashed": ("no\u200ba@example.com", "no\u200ba@example.com"),
    "several_together": ("ola@example.com, pia@example.org", "ola@example.com, pia@example.org"),
    "one_of_several": ("ola@example.com, pia@example.org", "ola@example.com"),
    "hashed_again": (hashlib.sha256(b"quin@example.com").hexdigest(),) * 2,
}

FAULTS = (*OF_ADDRESSES, *OF_NUMBERS, *ENCODED, *DIGESTED, *SHOWN, *REFUSED)
_STEPS = (OF_ADDRESSES, OF_NUMBERS, ENCODED, DIGESTED, SHOWN, REFUSED)


def people(copies: int = 1) -> pa.Table:
    """The raw list, each person `copies` times with another number behind the name or the digits."""
    numbers = [Number(*number) for number in NUMBERS]
    columns = {
        "email": [one.left + one.core + one.right for one in _addresses(copies)],
        "phone": [number.raw for number in numbers] * copies,
        "country": [number.country for number in numbers] * copies,
    }
    return _table(columns)


def _table(columns: Mapping[str, list[str]]) -> pa.Table:
    return pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()})


@lru_cache(maxsize=1)
def _addresses(copies: int) -> list[Address]:
    found = []
    for copy in range(copies):
        for left, written, right, normal in ADDRESSES:
            core, normalised = NFD if "zo" in written else written, normal
            if copy:
                core, normalised = (text.replace("@", f"{copy}@") for text in (core, normalised))
            found.append(Address(left, core, right, normalised))
    return found


def made(faults: Iterable[str], copies: int = 1) -> pa.Table:
    """The digests of the list by a pipeline with these faults."""
    wanted = frozenset(faults)
    encode: Callable[[str], bytes] = _of(ENCODED, wanted, str.encode)
    hashed = _of(DIGESTED, wanted, lambda data: hashlib.sha256(data).digest())
    show: Callable[[bytes], str] = _of(SHOWN, wanted, bytes.hex)
    write = _of(OF_ADDRESSES, wanted, lambda one: one.normalised)
    number = _of(OF_NUMBERS, wanted, lambda one: f"+{one.code}{one.national}")
    addresses = [show(hashed(encode(write(one)))) for one in _addresses(copies)]
    numbers = [show(hashed(encode(number(Number(*one))))) for one in NUMBERS] * copies
    for name in REFUSED:
        if name in wanted:
            addresses += [show(hashed(encode(REFUSED[name][1])))] * copies
            numbers += [""] * copies
    return _table({"email_sha256": addresses, "phone_sha256": numbers})


def _of(step: Mapping[str, T], wanted: frozenset[str], right: T) -> T:
    """Return the fault of a step that is wanted, or what is right."""
    return next((step[name] for name in step if name in wanted), right)


def refused(faults: Iterable[str], copies: int = 1) -> pa.Table:
    """The raw rows of the faults of refused values, behind those of the people: as many as of each person."""
    wanted = frozenset(faults)
    cells = [REFUSED[name][0] for name in REFUSED if name in wanted for _ in range(copies)]
    return _table({"email": cells, "phone": [""] * len(cells), "country": [""] * len(cells)})


def random_pairs(count: int, seed: int) -> list[tuple[str, str]]:
    """Pairs of faults of two steps: one pipeline has but one encoding, one digest and one form of it."""
    draw, found = random.Random(seed), dict[tuple[str, str], None]()
    while len(found) < count:
        one, other = draw.sample(FAULTS, 2)
        steps = [next(place for place, step in enumerate(_STEPS) if name in step) for name in (one, other)]
        if steps[0] != steps[1]:
            found[one, other] = None
    return list(found)
