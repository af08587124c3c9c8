"""The rule for phone numbers: E.164, by the country of the row (reference: api-facts 1.7)."""

from __future__ import annotations

import re
import traceback
import unicodedata
from typing import Final

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumber, PhoneNumberFormat, ValidationResult

from audiencekit.identifiers.common_checks import refuse_at_once
from audiencekit.identifiers.countries import country_of_row, find_country
from audiencekit.identifiers.kinds import DEFAULT_RULES, NormalizedPhoneNumber, Reason, Rules
from audiencekit.identifiers.texts import is_mangled, is_placeholder_number, is_repeated, trim, unlinked, unquoted

# --- The rule for phone numbers: E.164 with its plus sign (reference: api-facts 1.7; X, Conversion API) ---
#
# The country comes from the number itself (`+`, or an international prefix), else from the row, else from the rules:
# these do not decide where the row names a country that is not known. It is never guessed, and a number is read only as
# phonenumbers reads it for that country, but for abolished prefixes (FORMER_PREFIXES). Refused although phonenumbers
# takes them, because it silently drops or turns a part: extensions, letters, stray marks at the ends, a second number,
# invisible characters, the parameters of a tel: address.

# The punctuation that phonenumbers knows, and a plus only in front.
DASHES: Final = "‐-―−ー－"
_SIGNS: Final = rf"\-{DASHES}／/()（）［］\[\].~⁓∼～ "
_WRITTEN: Final = re.compile(rf"[(\[ ]*\+{{0,2}}[0-9{_SIGNS}]+")
# A whole number, and behind it the way to one of several telephones.
_EXTENDED: Final = re.compile(
    rf"[(\[ ]*\+{{0,2}}(?:[{_SIGNS}]*[0-9]){{7,}}[{_SIGNS}]*(?i:x|ext\.?|extn\.?|extension|#|;ext=)[ .:]*[0-9]{{1,6}}"
)
PLAIN: Final = str.maketrans(dict.fromkeys("\xa0\u1680\u202f\u205f\u3000", " ") | {"＋": "+", "（": "(", "）": ")"})
NARROW_SPACES: Final = "\u2000-\u200a"
_GROUPED: Final = re.compile(r"[1-9]\d{0,2}(?:,\d{3}){2,}")  # thousands separators: a spreadsheet's number
# Of a day, as calendars and spreadsheets write it, in the years in which people are born and buy. No country of
# phonenumbers writes a number so: the few with groups of these sizes put spaces or, with two digits each, dots between.
# Its own search for numbers in texts passes over days with slashes.
_YEAR, _MONTH, _DAY_OF_MONTH = "(?:19[0-9]|20[0-2])[0-9]", "(?:0?[1-9]|1[0-2])", "(?:0?[1-9]|[12][0-9]|3[01])"


def day_form(slash: str, others: str) -> str:
    """Return the pattern of a day. Both arguments are character classes: slashes, and other separators."""

    def begin(between: str) -> str:
        return f"(?:{_DAY_OF_MONTH}{between}{_MONTH}|{_MONTH}{between}{_DAY_OF_MONTH}){between}"

    between = f"[{slash}{others}] ?"
    year_first = f"{_YEAR}{between}{_MONTH}{between}{_DAY_OF_MONTH}"
    return rf"(?:{begin(between)}{_YEAR}|{year_first})\.?|{begin(f'[{slash}]')}[0-9][0-9]"


_DAY: Final = re.compile(day_form("/／", rf".\-{DASHES}"))
_INTERNATIONAL: Final = re.compile(r"[(\[ ]*\+")
# RFC 3966; and how exports of Meta's lead forms mark a cell as a phone number, so that spreadsheets leave it whole.
_SCHEME: Final = re.compile(r"\A(?:tel|p):\s*", re.IGNORECASE)
# People's words for which of their numbers it is, and for how they are reached at it. A word for a fax, for what is
# old, or for another person is none of them.
_WORDS: Final = (
    "what'?s ?app|wa|sms|mobile|mobil|mobiltelefon|mobiel|mobilnr|mob|cell|cell ?phone|cellular|cellulare|cel|celular|"
    "handy|gsm|móvil|movil|mov|telemóvel|telemovel|portable|port|phone|telephone|telefon|telefono|teléfono|telefone|"
    "téléphone|telefoon|tel|tél|telf|tlf|festnetz|landline|fixe|fijo|fisso|fixo|vast|home|work|office|business|personal|"
    "private|privat|privé|prive|privato|privado|main|direct|geschäftlich|dienstlich|büro|bureau|domicile|casa|trabajo|"
    "oficina|ufficio|lavoro|trabalho|thuis|werk|携帯|携帯電話|電話|手机|电话"
)
_LETTERS: Final = "[mthwcp]"  # for some of these words, with a sign behind them
_IN_FRONT: Final = (
    rf"(?:(?:{_WORDS})(?:\.? ?\((?:{_WORDS})\)| (?:{_WORDS}))? ?[.:：]{{0,2}}|{_LETTERS} ?[.:：]{{1,2}}) *"
)
_LABEL_IN_FRONT: Final = re.compile(rf"{_IN_FRONT}(?=[+(\[0-9])", re.IGNORECASE)
_LABEL_BEHIND: Final = re.compile(rf" *[(\[] ?(?:{_WORDS}|{_LETTERS}) ?[)\]]\Z", re.IGNORECASE)
# A link to a chat: its digits are a number with its calling code (WhatsApp, "How to use click to chat").
_CHAT: Final = re.compile(
    r"(?:https?://)?(?:(?:www\.)?wa\.me/|(?:api|web)\.whatsapp\.com/send/?\?phone=)\+?([1-9][0-9]{6,14})/?",
    re.IGNORECASE | re.ASCII,
)
# Every text of which a word, a link or a quote comes off; others are among them.
DRESSED: Final = (
    rf"(?i)(?:\A|[^a-z])(?:{_WORDS})(?:[^a-z]|\z)|\A[^a-z0-9]*{_LETTERS} ?[.:：]|[(\[] ?{_LETTERS} ?[)\]]"
    r"""|wa\.me/|whatsapp\.com|hyperlink|['"][^a-z0-9]*\z"""
)

_ZERO_ZERO: Final = re.compile(r"[( ]*00[) ]*")

_MAX_WRITTEN: Final = 100  # characters; far beyond any number, short enough for every pattern here
_WHOLE_NUMBER: Final = 7  # digits; two groups of so many, divided by a slash, are two numbers
_MAX_DIGITS: Final = 15  # ITU-T E.164


def normalize_phone_number(
    text: str, *, country: str | None = None, rules: Rules = DEFAULT_RULES
) -> NormalizedPhoneNumber | Reason:
    """Return the number as it is hashed, or the reason to reject it.

    `country` is the country in the row, as in `country_of_row`; where that is None, `rules.default_country` is used.
    The order of the checks decides the reason: empty, placeholder word, already hashed, invisible character,
    spreadsheet, extension, syntax, placeholder number, country, possible, valid.
    """
    trimmed = trim(text)
    if (reason := refuse_at_once(trimmed)) is not None:
        return reason
    if len(trimmed) > _MAX_WRITTEN:
        return Reason.INVALID_SYNTAX
    number = undressed(trimmed)
    if is_mangled(number) or _GROUPED.fullmatch(number):
        return Reason.EXCEL_MANGLED
    return _normalize_written(number, country, rules)


def is_international(text: str) -> bool:
    """Whether `text` begins with a plus sign, as ITU-T E.123 recommends for international numbers."""
    return _INTERNATIONAL.match(undressed(trim(text))) is not None


def undressed(trimmed: str) -> str:
    """Return a number without quotes, link and people's words around it, with ASCII digits, plus and spaces."""
    number = _plain(unquoted(unlinked(trimmed)))
    if len(number) > _MAX_WRITTEN or not any(map(str.isalpha, number)):
        return number
    if chat := _CHAT.fullmatch(number):
        return f"+{chat[1]}"
    label = _LABEL_IN_FRONT.match(number)
    return _LABEL_BEHIND.sub("", number[label.end() :] if label else number)


def _plain(text: str) -> str:
    """Return `text` with ASCII digits, plus and spaces, and without a leading `tel:` or `p:`."""
    if not text.isascii():
        text = "".join(str(unicodedata.decimal(sign, sign)) for sign in text.translate(PLAIN))
        text = re.sub(f"[{NARROW_SPACES}]", " ", text)
    return _SCHEME.sub("", text, count=1)


def _normalize_written(number: str, country: str | None, rules: Rules) -> NormalizedPhoneNumber | Reason:
    if _EXTENDED.fullmatch(number):
        return Reason.EXTENSION
    if not _WRITTEN.fullmatch(number) or _DAY.fullmatch(number) or _holds_two(number):
        return Reason.INVALID_SYNTAX
    if is_placeholder_number(_digits(number)):
        return Reason.PLACEHOLDER
    region = _region(country, rules)
    parsed = _parse(number, region, rules)
    if parsed in RENUMBERED_FROM and rules.phone_validity == "valid":
        parsed = _renumbered(number, region) or parsed
    if isinstance(parsed, Reason):
        return parsed
    e164 = _e164(parsed)
    return NormalizedPhoneNumber(e164 if rules.phone_form == "e164" else e164.removeprefix("+"))


def _digits(number: str) -> str:
    return re.sub(r"\D", "", number)


def _holds_two(number: str) -> bool:
    """Whether one cell has two whole numbers."""
    if sum(len(_digits(part)) >= _WHOLE_NUMBER for part in re.split("[/／]", number)) > 1:
        return True
    groups = sum(len(_digits(part)) >= _WHOLE_NUMBER for part in number.split())
    return groups > 1 and len(_digits(number)) > _MAX_DIGITS


def _region(country: str | None, rules: Rules) -> str | None:
    """Return the country of the row, else the default; None if it is unknown, or has no phone numbers."""
    region = country_of_row(country or "") or find_country(rules.default_country or "")
    return region if region in phonenumbers.SUPPORTED_REGIONS else None


def _parse(number: str, region: str | None, rules: Rules) -> PhoneNumber | Reason:
    """Return the number read for `region`; if that fails and it begins with 00, read it as international.

    00 is the international prefix that ITU-T E.123 recommends to every country. In countries that use another prefix
    (and in the few with national numbers in 00) the national reading is preferred, unless both readings are valid: 0055
    51 98123-4567 is a number of Porto Alegre, and in Brazil also one of Peru, dialled by the carrier 55.
    """
    if _INTERNATIONAL.match(number):
        return _qualified(number, region, rules)
    read = _read_nationally(number, region, rules) if region else Reason.NO_COUNTRY
    if not _ZERO_ZERO.match(number):
        return read
    also = rules if isinstance(read, Reason) else DEFAULT_RULES
    again = _qualified(_ZERO_ZERO.sub("+", number, count=1), None, also)
    if isinstance(again, Reason):
        return read
    return again if isinstance(read, Reason) or _e164(again) == _e164(read) else Reason.NO_COUNTRY


def _read_nationally(number: str, region: str, rules: Rules) -> PhoneNumber | Reason:
    """Return the number as phonenumbers reads it for `region`, unless its digits are two different valid numbers.

    In Germany 4915112345678 is valid as a fixed line, and as a mobile number that has lost its plus sign: the digits do
    not say which country code is meant, and a wrong guess would hash another person's number.
    """
    read = _qualified(number, region, rules)
    digits = _digits(number)
    if isinstance(read, Reason) or not digits.startswith(str(phonenumbers.country_code_for_region(region))):
        return read
    other = _qualified(f"+{digits}", None, DEFAULT_RULES)
    return read if isinstance(other, Reason) or _e164(other) == _e164(read) else Reason.NO_COUNTRY


def _renumbered(number: str, region: str | None) -> PhoneNumber | None:
    """Return the valid number that has taken the place of `number` in its country's plan."""
    if _ZERO_ZERO.match(number):
        number = _ZERO_ZERO.sub("+", number, count=1)
    if _INTERNATIONAL.match(number):
        return _in_new_plan(number, None)
    return _in_new_plan(number, region) if region in RENUMBERED_REGIONS else None


def _in_new_plan(number: str, region: str | None) -> PhoneNumber | None:
    """Return the same of `number` as it is read in `region`, or behind its plus sign."""
    try:
        parsed = phonenumbers.parse(number, region)
    except NumberParseException as fault:
        _forget_frames(fault)
        return None
    digits = renumber(parsed.country_code or 0, phonenumbers.national_significant_number(parsed))
    if digits is None or parsed.extension:
        return None
    new = phonenumbers.parse(f"+{parsed.country_code}{digits}")
    return new if phonenumbers.is_valid_number(new) else None


def _e164(number: PhoneNumber) -> str:
    return phonenumbers.format_number(number, PhoneNumberFormat.E164)


def _forget_frames(fault: BaseException | None) -> None:
    """Clear the frames of `fault`: phonenumbers puts one of them into a reference cycle, with all its callers."""
    while fault is not None:
        traceback.clear_frames(fault.__traceback__)
        fault.__traceback__ = None
        fault = fault.__context__


def _qualified(number: str, region: str | None, rules: Rules) -> PhoneNumber | Reason:
    try:
        parsed = phonenumbers.parse(number, region)
    except NumberParseException as fault:
        _forget_frames(fault)
        is_text = fault.error_type == NumberParseException.NOT_A_NUMBER
        return Reason.INVALID_SYNTAX if is_text else Reason.NOT_POSSIBLE
    if parsed.extension:
        return Reason.EXTENSION
    if is_repeated(phonenumbers.national_significant_number(parsed)):
        return Reason.PLACEHOLDER
    if phonenumbers.is_valid_number(parsed):
        return parsed
    # A local number, without its area code, is no one's: "possible only locally" does not count.
    if phonenumbers.is_possible_number_with_reason(parsed) != ValidationResult.IS_POSSIBLE:
        return _behind_former_prefix(parsed, number) or Reason.NOT_POSSIBLE
    if rules.phone_validity == "valid":
        return Reason.NOT_VALID
    # A text that reads as another number the second time, by us or by the service, is no one's.
    return parsed if _e164(phonenumbers.parse(_e164(parsed))) == _e164(parsed) else Reason.NOT_POSSIBLE


def _behind_former_prefix(parsed: PhoneNumber, number: str) -> PhoneNumber | None:
    """Return the valid number that `parsed`, read from `number`, is without a prefix that its country has abolished."""
    code, national = parsed.country_code or 0, phonenumbers.national_significant_number(parsed)
    digits = behind_former_prefix(code, national, has_code=len(_digits(number)) > len(national))
    if digits is None or is_repeated(digits):
        return None
    found = PhoneNumber(code, int(digits))
    return found if phonenumbers.is_valid_number(found) else None


# --- Prefixes that a country has abolished, so that phonenumbers does not remove them: Mexico's ---
#
# Until 2019 one dialled more than the ten digits of a number there: 01 to another area, 044 or 045 to a mobile number,
# 1 to one from abroad. The ten digits stayed (ITU-T, national numbering plans, T020200008A0003: Mexico). Older lists
# have the prefixes, and WhatsApp still writes the 1.

MEXICO: Final = 52
# Without the calling code a 1 may be that of North America: 1 415 555 0132 is read in San Francisco, not in San Miguel.
ABROAD: Final = "1"
FORMER_PREFIXES: Final = "01|04[45]|1"

_FORMER: Final = re.compile(rf"({FORMER_PREFIXES})([0-9]{{10}})")


def behind_former_prefix(calling_code: int, national: str, *, has_code: bool) -> str | None:
    """Return the ten digits after a former prefix in the national digits of a number, if it is written with one.

    `has_code` says that the calling code was written before them.
    """
    found = _FORMER.fullmatch(national) if calling_code == MEXICO else None
    return found[2] if found and (has_code or found[1] != ABROAD) else None


# --- Numbers from before a country gave all of them, or all of a sort, more digits, where the new number is certain ---
#
# Brazil: 9 in front of the eight digits of mobile numbers, which begin with 6 to 9, done in all areas since 2016
# (ANATEL, resolution 553/2010); WhatsApp still writes the old form. Benin: 01 in front of all eight digits since 30
# November 2024 (ARCEP Benin; ITU Operational Bulletin 1301). Ivory Coast's (2021) depend on the operator of the time.

BRAZIL, BENIN = 55, 229
RENUMBERED_FROM: Final = (Reason.NOT_VALID, Reason.NOT_POSSIBLE)
RENUMBERED_REGIONS: Final = ("BR", "BJ")

_NEW_PLANS: Final = {
    BRAZIL: (re.compile("([1-9]{2})([6-9][0-9]{7})"), r"\g<1>9\2"),
    BENIN: (re.compile("([0-9]{8})"), r"01\1"),
}


def renumber(calling_code: int, national: str) -> str | None:
    """Return the national digits of today for those of before; None where these are no old number, or unclear."""
    form, new = _NEW_PLANS.get(calling_code, (None, ""))
    found = form.fullmatch(national) if form is not None else None
    return found.expand(new) if found else None
