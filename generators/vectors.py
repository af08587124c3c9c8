"""The vectors of the specification: each begins with a normalised value, and is spelled so that the rule leads back.

Refused ones have a fault put in. Nothing here asks the code that decides values; `tests/conformance` does.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

import phonenumbers
from phonenumbers import PhoneMetadata, PhoneNumber, PhoneNumberFormat, ValidationResult

T = TypeVar("T")
Line = tuple[str, str, str | None, str, str | None, str | None]  # kind, input, country, spelling, normalised, reason

_SPACES: Final = (" ", "  ", "\t", "\xa0", "\u2003", "\u3000", " \xa0", "\n")
_MARKS: Final = ("\u200b", "\ufeff", "\u200e", "\u2060", "\xad", "\u202a")
_WORDS: Final = ("null", "NULL", "None", "n/a", "N/A", "unknown", "-", "#N/A", "nan", "NaN", "undefined", "nil")
_NAMES: Final = (
    *("ada", "bo", "cem", "dana", "eli", "fay", "gus", "hana", "ivo", "jun", "kai", "lea", "max", "noa", "ola", "pia"),
    *("quin", "rui", "sam", "tia", "uma", "vic", "wim", "xena", "yara", "zoe"),
)
_PLAIN: Final = ("example.com", "example.org", "example.net", "mail.example.com", "shop-1.example.org")
# Labels whose form in ASCII is that of RFC 3492, since nothing in them is mapped by IDNA.
_LABELS: Final = ("bücher", "müller", "café", "niño", "søren", "łódź", "почта", "例え", "ελλάδα", "한국")
_RESERVED: Final = ("a.test", "a.invalid", "a.localhost", "b.local", "shop.test", "mail.invalid")
_LOCALS_BEYOND_ASCII: Final = ("zoë", "jürgen", "renée", "пётр", "björn", "çelik", "nuñez", "håkan")


class _Draw:
    """Numbers that a seed decides, the same in each version of Python."""

    def __init__(self, seed: str) -> None:
        self._seed, self._count = seed, 0

    def below(self, end: int) -> int:
        self._count += 1
        return int.from_bytes(hashlib.sha256(f"{self._seed} {self._count}".encode()).digest()[:8]) % end

    def pick(self, values: tuple[T, ...] | list[T]) -> T:
        return values[self.below(len(values))]

    def digits(self, count: int, alphabet: str = "0123456789") -> str:
        return "".join(alphabet[self.below(len(alphabet))] for _ in range(count))


def compressed_vectors() -> bytes:
    """Return the file of vectors."""
    lines = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in vectors())
    return gzip.compress("\n".join(lines).encode(), 9, mtime=0)


def vectors() -> list[Line]:
    """Return all vectors once, in their order."""
    kinds = (_emails, _phone_numbers, _device_ids, _handles, _platform_ids, _partner_user_ids, _hashed)
    found = {(line[0], line[1], line[2], line[3]): line for kind in kinds for line in kind()}
    return list(found.values())


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _cased(draw: _Draw, text: str) -> str:
    """`text`, of ASCII letters, in another case."""
    sign = draw.below(3)
    if sign == 0:
        return text.upper()
    return text.title() if sign == 1 else "".join(draw.pick([letter, letter.upper()]) for letter in text)


def _refused_alike(kind: str, valid: Callable[[], str]) -> Iterator[Line]:
    """The values that are refused whatever the kind."""
    for blank in ("", *_SPACES, "\u200b", "\ufeff "):
        yield kind, blank, None, "empty", None, "empty"
    for word in _WORDS:
        for text in (word, f" {word} ", f"{word}\t"):
            yield kind, text, None, "placeholder", None, "placeholder"
    for _ in range(60):
        digest = _sha256(valid())
        for text in (digest, digest.upper(), f" {digest}", "0x" + digest, "\\x" + digest):
            yield kind, text, None, "hash", None, "already_hashed"
        yield kind, base64.b64encode(bytes.fromhex(digest)).decode(), None, "hash", None, "already_hashed"


def _inside(draw: _Draw, text: str, sign: str) -> str:
    place = 1 + draw.below(len(text) - 1)
    return text[:place] + sign + text[place:]


# --- E-mail addresses ---


def _emails() -> Iterator[Line]:
    draw = _Draw("email 1")
    for parts in (_as_written, _dressed, _beyond_ascii, _no_addresses):
        yield from parts(draw)


def _local(draw: _Draw) -> str:
    parts = [draw.pick(_NAMES), *(draw.pick(_NAMES) for _ in range(draw.below(3)))]
    text = draw.pick([".", "_", "-", ""]).join(parts) + draw.pick(["", "", draw.digits(2), draw.digits(4)])
    return text + draw.pick(["", "", "+news", "+" + draw.digits(3)])


def _address(draw: _Draw) -> str:
    return f"{_local(draw)}@{draw.pick(_PLAIN)}"


def _valid(text: str, spelling: str, normalised: str) -> Line:
    return "email", text, None, spelling, normalised, None


def _refused(text: str, spelling: str, reason: str) -> Line:
    return "email", text, None, spelling, None, reason


def _as_written(draw: _Draw) -> Iterator[Line]:
    for _ in range(700):
        one = _address(draw)
        yield _valid(one, "dots_and_tags" if re.search(r"[.+].*@", one) else "normalised", one)
        yield _valid(_cased(draw, one), "case", one)
        yield _valid(draw.pick(_SPACES) + one + draw.pick(["", *_SPACES]), "white_space", one)
        yield _valid(draw.pick(["", *_SPACES]) + _cased(draw, one) + draw.pick(_SPACES), "white_space", one)


def _dressed(draw: _Draw) -> Iterator[Line]:
    for _ in range(150):
        one = _address(draw)
        yield _valid(draw.pick(_MARKS) + one, "marks", one)
        yield _valid(one + draw.pick(_MARKS) + draw.pick(_SPACES), "marks", one)
        yield _valid(draw.pick(["mailto:", "MAILTO:", "mailto: ", "SMTP:", "smtp:"]) + one, "scheme", one)
        yield _valid(draw.pick(["<{}>", " <{}>", "< {} >"]).format(one), "brackets", one)
        yield _valid(draw.pick(["'{}", '="{}"']).format(one), "spreadsheet_text", one)
        yield _valid(one + draw.pick([",", ";", " ;", ";;", ", "]), "behind", one)
        yield _valid(draw.pick(["'{}'", '"{}"', '" {} "', "'{}';"]).format(one), "quotes", one)
        yield _valid(f'=HYPERLINK("mailto:{one}","{one}")', "link", one)
        # Gmail's names have six letters at least, so that no one has these.
        few = ".".join(draw.pick(_NAMES)[:3]) + draw.pick(["", "+a", "+" + draw.digits(2)]) + "@gmail.com"
        yield _valid(few, "dots_and_tags", few)
        yield _valid(_cased(draw, few), "case", few)


def _beyond_ascii(draw: _Draw) -> Iterator[Line]:
    for label in _LABELS:
        in_ascii = "xn--" + label.encode("punycode").decode()
        for _ in range(40):
            name, end = draw.pick(_NAMES) + draw.digits(3), draw.pick(["example.com", "example.org"])
            normalised = f"{name}@{in_ascii}.{end}"
            yield _valid(f"{name}@{label}.{end}", "international_domain", normalised)
            yield _valid(f"{name.upper()}@{label}.{end.upper()}", "international_domain", normalised)
            yield _valid(f"{name}@{unicodedata.normalize('NFD', label)}.{end}", "international_domain", normalised)
            yield _valid(normalised, "normalised", normalised)
    for name in _LOCALS_BEYOND_ASCII:
        for _ in range(30):
            one = f"{unicodedata.normalize('NFC', name)}{draw.digits(3)}@{draw.pick(_PLAIN)}"
            yield _valid(unicodedata.normalize("NFD", one), "composed", one)
            yield _valid(one, "normalised", one)
            yield _valid(" " + one, "white_space", one)


def _no_addresses(draw: _Draw) -> Iterator[Line]:
    yield from _refused_alike("email", lambda: _address(draw))
    for _ in range(120):
        name, one = _local(draw), _address(draw)
        domain = draw.pick(_PLAIN)
        yield _refused(f"{name}@{draw.pick(_RESERVED)}", "reserved_domain", "special_use_domain")
        yield _refused(f"{draw.pick(_NAMES).title()} <{one}>", "display_name", "display_name")
        yield _refused(_inside(draw, one, draw.pick(_MARKS)), "invisible", "invisible_character")
        yield _refused(f'"{name}"@{domain}', "no_address", "invalid_syntax")
        yield _refused(f"{name}@[192.0.2.{draw.below(250)}]", "no_address", "invalid_syntax")
        yield _refused(one + ".", "no_address", "invalid_syntax")
        yield _refused(one.replace("@", draw.pick(["", "@@", " at "])), "no_address", "invalid_syntax")
        yield _refused(f"{name}@", "no_address", "invalid_syntax")
        yield _refused(f"@{domain}", "no_address", "invalid_syntax")
        yield _refused(f"{name}@{domain.replace('.', '..', 1)}", "no_address", "invalid_syntax")
        yield _refused(f".{one}", "no_address", "invalid_syntax")
        yield _refused(f"{name}.@{domain}", "no_address", "invalid_syntax")
        yield _refused(f"{name} {one}", "no_address", "invalid_syntax")
        yield _refused(f"{name}@{domain.rpartition('.')[0]}.{draw.pick(['c0m', 'c', 'n3t', '0rg'])}", "top_level",
                      "invalid_syntax")  # fmt: skip
        yield _refused(draw.pick(["“{}", "‘{}", "„{}", "{}’s"]).format(name) + f"@{domain}", "signs", "invalid_syntax")
        yield _refused(f"{name[:2]}{'*' * (2 + draw.below(5))}@{domain}", "masked", "placeholder")
        yield _refused(f"{'x' * (4 + draw.below(20))}@{domain}", "masked", "placeholder")
        long = "a" * (65 + draw.below(60))
        yield _refused(f"{long}{draw.digits(3)}@{domain}", "long", "too_long")
        labels = ".".join(draw.digits(60, "abcdefgh") for _ in range(4))
        yield _refused(f"{draw.pick(_NAMES)}@{labels}.{domain}", "long", "too_long")
        yield _refused(f"={draw.pick(['A', 'B', 'C'])}{1 + draw.below(900)}", "formula", "excel_mangled")
    for word in ("noemail", "no-email", "nomail", "no_mail", "notprovided", "not-provided", "test", "none", "null"):
        for domain in _PLAIN if not word.startswith(("te", "non", "nu")) else [f"{word}.com", f"{word}.org"]:
            yield _refused(f"{word}@{domain}", "placeholder", "placeholder")
            yield _refused(f" {word.upper()}@{domain}", "placeholder", "placeholder")


# --- Phone numbers ---

_NUMBERS: Final = 6  # of a region and sort
_FICTION: Final = {  # numbers that regulators keep for films and examples: national digits before those that vary
    "US": (("201555", "01", 2), ("415555", "01", 2), ("212555", "01", 2)),  # NANPA: 555-0100 to -0199
    "GB": (("7700", "900", 3), ("207946", "0", 3), ("1632", "960", 3)),  # Ofcom
    "AU": (("49157", "0", 3), ("2555", "0", 5)),  # ACMA
    "FR": (("199", "00", 4), ("63998", "", 4), ("26191", "", 4)),  # ARCEP
    "DE": (("30231", "25", 3), ("699000", "9", 3), ("899999", "8", 3)),  # Bundesnetzagentur
    "SE": (("701740", "6", 2),),  # PTS
}


def _phone_numbers() -> Iterator[Line]:
    draw = _Draw("phone number 1")
    seen = list[str]()
    for region in sorted(phonenumbers.SUPPORTED_REGIONS):
        for number in _drawn(draw, region):
            seen.append(_e164(number))
            yield from _spelled(draw, region, number)
        yield from _refused_numbers(draw, region)
    some = iter(seen * 2)
    yield from _refused_alike("phone_number", lambda: next(some))
    for _ in range(80):
        written = draw.pick(seen)
        for text in (written[:5] + "abc" + written[5:], written + " or call", "call " + written + "!"):
            yield "phone_number", text, None, "letters", None, "invalid_syntax"
        grouped = written[:4] + draw.pick(_MARKS) + written[4:]
        yield "phone_number", grouped, None, "invisible", None, "invisible_character"
        for mark in (" x12", " ext. 7", " extension 301", "#4", ";ext=12"):
            yield "phone_number", written + mark, None, "extension", None, "extension"
        rounded = f"{written[1]}.{written[2:7]}E+{len(written) - 2}"
        yield "phone_number", rounded, None, "formula", None, "excel_mangled"
        yield "phone_number", written[1:] + ".0", None, "formula", None, "excel_mangled"
        yield "phone_number", "#" * (3 + draw.below(9)), None, "formula", None, "excel_mangled"
        day, month, year = 13 + draw.below(15), 1 + draw.below(12), 1930 + draw.below(90)
        for text in (f"{day:02}.{month:02}.{year}", f"{month}/{day}/{year}", f"{year}-{month:02}-{day:02}"):
            yield "phone_number", text, draw.pick(["DE", "US", "SE", None]), "day", None, "invalid_syntax"
    for text in ("1234567890", "+1234567890", "123456789", "0123456789", "11111111", "+0000000000", "9999999999"):
        for country in (None, "US", "DE", "BR"):
            yield "phone_number", text, country, "counted", None, "placeholder"


def _e164(number: PhoneNumber) -> str:
    return phonenumbers.format_number(number, PhoneNumberFormat.E164)


def _drawn(draw: _Draw, region: str) -> list[PhoneNumber]:
    """Assigned numbers of `region`: of fiction where it has them, else drawn from its numbering plan."""
    code = phonenumbers.country_code_for_region(region)
    found = dict[str, PhoneNumber]()

    def keep(digits: str) -> None:
        leading = len(digits) - len(digits.lstrip("0"))
        number = PhoneNumber(code, int(digits or "0"), italian_leading_zero=leading > 0 or None)
        if leading > 1:
            number.number_of_leading_zeros = leading
        if len(set(digits)) > 2 and phonenumbers.is_valid_number_for_region(number, region):
            found.setdefault(_e164(number), number)

    for before, fixed, count in _FICTION.get(region, ()):
        for _ in range(_NUMBERS):
            keep(before + fixed + draw.digits(count))
    metadata = PhoneMetadata.metadata_for_region(region, None)
    for sort in (metadata.mobile, metadata.fixed_line) if region not in _FICTION and metadata is not None else ():
        example = "" if sort is None else sort.example_number or ""
        enough = len(found) + _NUMBERS // 2
        for attempt in range(600 if example else 0):
            if len(found) >= enough:
                break
            varied = max(1, min(6, len(example) - 1) - attempt // 100)
            keep(example[:-varied] + draw.digits(varied))
    return list(found.values())


def _grouped(draw: _Draw, digits: str) -> str:
    """`digits` in groups, with one sign between them."""
    size = draw.pick([2, 3, 4])
    # A point and one digit are the decimals of a spreadsheet.
    between = draw.pick([" ", "-", " " if len(digits) % size == 1 else ".", " - ", "\xa0", "\u2011"])
    return between.join(digits[place : place + size] for place in range(0, len(digits), size))


_OTHER_DIGITS: Final = ("٠١٢٣٤٥٦٧٨٩", "०१२३४५६७८९", "０１２３４５６７８９")
# Each with the whole number, or its digits.
_DRESSED_NUMBERS: Final = {
    "white_space": [f"{left}{{0}}{right}" for left in _SPACES for right in ("", *_SPACES)],
    "marks": [f"{left}{{0}}{right}" for left in _MARKS for right in ("", *_MARKS)],
    "number_scheme": ["tel:{0}", "TEL:{0}", "p:{0}", "tel: {0}"],
    "number_words": ["WhatsApp: {0}", "Mob. {0}", "mobile {0}", "M: {0}", "{0} (work)", "Tel.: {0}", "{0} (home)"],
    "chat": ["https://wa.me/{1}", "wa.me/{1}", "https://api.whatsapp.com/send?phone={1}"],
    "spreadsheet_text": ["'{0}", '="{0}"'],
    "quotes": ['"{0}"', "'{0}'"],
}


def _spelled(draw: _Draw, region: str, number: PhoneNumber) -> Iterator[Line]:
    e164 = _e164(number)
    code, national = str(number.country_code), phonenumbers.national_significant_number(number)

    def valid(text: str, spelling: str, country: str | None = None) -> Line:
        return "phone_number", text, country, spelling, e164, None

    other = draw.pick(["DE", "US", "IN", "BR", region])  # what the row says is passed over for a number with a plus
    yield valid(e164, "e164", draw.pick([None, None, other]))
    yield valid(f"+{code} {_grouped(draw, national)}", "punctuation", draw.pick([None, other]))
    yield valid(f"+{code} ({national[:2]}) {national[2:]}", "punctuation")
    spelling = draw.pick(list(_DRESSED_NUMBERS))
    yield valid(draw.pick(_DRESSED_NUMBERS[spelling]).format(e164, e164[1:]), spelling)
    if draw.below(4) == 0:
        table = str.maketrans("0123456789", draw.pick(_OTHER_DIGITS))
        yield valid(draw.pick(["+", "＋"]) + e164[1:].translate(table), "other_digits")
    yield valid(f"+ {code}-{national}", "punctuation")
    # 00 is the prefix of most countries; the row of one of them reads it so.
    yield valid(f"00{code}{national}", "international_prefix", "DE")
    written = phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL)
    digits = re.sub(r"\D", "", written)
    # With the country's own code in front of them, national digits may be read in two ways.
    if not digits.startswith((code, "00")) and not re.fullmatch(r"\d{1,2}[./-]\d{1,2}[./-]\d{2,4}", written):
        yield valid(written, "national", region)
        yield valid(digits, "national", region)
        yield valid(f" {written} ", "national", region)
        yield "phone_number", written, None, "no_country", None, "no_country"


_MAX_DIGITS: Final = 17  # of the national part that phonenumbers reads
# Of several regions with plans of their own: too long for one may be a number of another.
_SHARED_CODES: Final = frozenset(
    str(code) for code, regions in phonenumbers.COUNTRY_CODE_TO_REGION_CODE.items() if len(regions) > 1
)


def _refused_numbers(draw: _Draw, region: str) -> Iterator[Line]:
    code = str(phonenumbers.country_code_for_region(region))
    yield "phone_number", f"+{code}{draw.digits(1, '23456789')}1", None, "wrong_length", None, "not_possible"
    metadata = PhoneMetadata.metadata_for_region(region, None)
    lengths = [] if metadata is None or metadata.general_desc is None else list(metadata.general_desc.possible_length)
    long = draw.digits(max(lengths, default=0) + 1, "2345679")  # 8 is a trunk prefix in some plans
    if 1 < len(long) <= _MAX_DIGITS and code not in _SHARED_CODES:
        yield "phone_number", f"+{code}{long}", None, "wrong_length", None, "not_possible"
    if code in ("55", "229", "52"):  # whose older numbers are read as those of today
        return
    kept = 0
    for _ in range(80):
        digits = draw.digits(draw.pick(lengths), "0123456789")
        number = phonenumbers.parse(f"+{code}{digits}", None) if lengths and len(set(digits)) > 2 else None
        if number is None or phonenumbers.is_valid_number(number) or _e164(number) != f"+{code}{digits}":
            continue
        if phonenumbers.is_possible_number_with_reason(number) == ValidationResult.IS_POSSIBLE:
            kept += 1
            yield "phone_number", f"+{code}{digits}", None, "unassigned", None, "not_valid"
        if kept == 3:
            break


# --- The other kinds ---


def _device_ids() -> Iterator[Line]:
    draw = _Draw("device id 1")

    def uuid() -> str:
        digits = draw.digits(32, "0123456789abcdef")
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    for _ in range(150):
        one, android = uuid(), "a" + draw.digits(15, "0123456789abcdef")
        for text, spelling in (
            (one, "normalised"),
            (one.upper(), "case"),
            (f" {one}\t", "white_space"),
            (draw.pick(_MARKS) + one.upper(), "marks"),
            (draw.pick(["{{{}}}", " {{{}}}"]).format(one.upper()), "braces"),
            (draw.pick(["'{}", '="{}"']).format(one), "spreadsheet_text"),
        ):
            yield "device_id", text, None, spelling, one, None
        yield "device_id", android, None, "android", android, None
        yield "device_id", android.upper(), None, "case", android, None
        yield "device_id", one.replace("-", ""), None, "without_dashes", None, "invalid_syntax"
        yield "device_id", one[:-1], None, "without_dashes", None, "invalid_syntax"
        yield "device_id", _inside(draw, one, draw.pick(_MARKS)), None, "invisible", None, "invisible_character"
    for text in ("00000000-0000-0000-0000-000000000000", "0" * 16, "0" * 32, "{00000000-0000-0000-0000-000000000000}"):
        yield "device_id", text, None, "zeros", None, "zeroed"
    for text in ("9774d56d682e549c", "12345678-1234-1234-1234-123456789012", "0123456789ABCDEF", "f" * 16):
        yield "device_id", text, None, "shared_device", None, "placeholder"
    yield from _refused_alike("device_id", uuid)


def _handles() -> Iterator[Line]:
    draw = _Draw("handle 1")

    def handle() -> str:
        return f"{draw.pick(_NAMES)}_{draw.digits(2)}{draw.pick(_NAMES)}"[:15]

    for _ in range(180):
        one = handle()
        for text, spelling in (
            (one, "normalised"),
            (one.upper(), "case"),
            (f"@{one}", "at_sign"),
            (f" @{one.title()} ", "at_sign"),
            (f"＠{one}", "at_sign"),
            (draw.pick(["https://x.com/{}", "https://twitter.com/{}", "x.com/{}", "https://x.com/{}/status/7"])
             .format(one), "profile"),
            (draw.pick(["'@{}", '="@{}"']).format(one), "spreadsheet_text"),
            (f"\u200b{one}", "marks"),
        ):  # fmt: skip
            yield "handle", text, None, spelling, one, None
        yield "handle", one + "-" + draw.digits(2), None, "no_handle", None, "invalid_syntax"
        yield "handle", f"{one[:5]} {one[5:]}", None, "no_handle", None, "invalid_syntax"
        yield "handle", f"{one}{'a' * (16 - len(one))}{draw.digits(2)}", None, "long", None, "too_long"
        yield "handle", _inside(draw, one, draw.pick(_MARKS)), None, "invisible", None, "invisible_character"
    for page in ("home", "search", "i", "intent", "login", "settings"):
        yield "handle", f"https://x.com/{page}", None, "page", None, "invalid_syntax"
    yield from _refused_alike("handle", handle)


def _platform_ids() -> Iterator[Line]:
    draw = _Draw("platform id 1")

    def number() -> str:
        return draw.digits(1, "123456789") + draw.digits(6 + draw.below(12))

    for _ in range(180):
        one = number()
        for text, spelling in (
            (one, "normalised"),
            (f" {one} ", "white_space"),
            ("000" + one, "leading_zeros"),
            (draw.pick(["'{}", '="{}"']).format(one), "spreadsheet_text"),
            (one.translate(str.maketrans("0123456789", _OTHER_DIGITS[0])), "other_digits"),
        ):
            yield "platform_id", text, None, spelling, one, None
        yield "platform_id", f"{one[0]}.{one[1:5]}E+{len(one) - 1}", None, "formula", None, "excel_mangled"
        yield "platform_id", f"{one}.0", None, "formula", None, "excel_mangled"
        yield "platform_id", f"{int(one):,}", None, "thousands", None, "not_integer"
        yield "platform_id", f"id{one}", None, "thousands", None, "not_integer"
        yield "platform_id", "9" + draw.digits(20), None, "long", None, "too_long"
        yield "platform_id", _inside(draw, one, draw.pick(_MARKS)), None, "invisible", None, "invisible_character"
    for text in ("0", "000", " 0"):
        yield "platform_id", text, None, "zeros", None, "zeroed"
    yield from _refused_alike("platform_id", number)


def _partner_user_ids() -> Iterator[Line]:
    draw = _Draw("partner user id 1")
    for _ in range(120):
        one = f"{draw.pick(['crm', 'cust', 'K'])}-{draw.digits(6)}"
        yield "partner_user_id", one, None, "unchanged", one, None
        yield "partner_user_id", f" {one}", None, "unchanged", f" {one}", None
        personal = [f"{draw.pick(_NAMES)}@example.com", f"+1201555{draw.digits(2, '01')}42", f"@{draw.pick(_NAMES)}_7"]
        for text in personal:
            yield "partner_user_id", text, None, "personal", None, "looks_personal"
        yield "partner_user_id", _inside(draw, one, draw.pick(_MARKS)), None, "invisible", None, "invisible_character"
    for word in _WORDS:
        yield "partner_user_id", word, None, "placeholder", None, "placeholder"
    yield "partner_user_id", "", None, "empty", None, "empty"


def _hashed() -> Iterator[Line]:
    draw = _Draw("hashed 1")
    for _ in range(150):
        digest = _sha256(f"{draw.pick(_NAMES)}{draw.digits(5)}@example.com")
        packed = base64.b64encode(bytes.fromhex(digest)).decode()
        for text in (digest, digest.upper(), f" {digest} ", f"0x{digest}", f"\\x{digest}", packed):
            yield "email", text, None, "declared_hashed", digest, None
        for text in (digest[:-1], digest[:32], digest[:40], digest + "0", f"{digest[:20]} {digest[20:]}"):
            yield "email", text, None, "wrong_hash", None, "wrong_hash"
    for text in ("", *_WORDS):
        yield "email", _sha256(text), None, "hash_of_nothing", None, "hash_of_placeholder"
    yield "email", "0" * 64, None, "hash_of_nothing", None, "zeroed"
