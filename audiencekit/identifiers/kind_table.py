"""The table of kinds: the rule of each and the words in headers of its columns; and the likely kind of a cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from audiencekit.identifiers.accounts import is_marked_handle, normalize_handle, normalize_platform_id
from audiencekit.identifiers.device_id import is_advertising_id, normalize_device_id
from audiencekit.identifiers.email import normalize_email
from audiencekit.identifiers.kinds import Kind, Normalized, Reason, Rules, looks_hashed
from audiencekit.identifiers.partner_user_id import normalize_partner_user_id
from audiencekit.identifiers.phone_number import is_international, normalize_phone_number, undressed
from audiencekit.identifiers.texts import in_form, trim

# --- The likely kind of one cell: for recognising columns, and data in place of a header ---

__all__ = ["is_identifier", "likely_kind", "looks_hashed"]


@dataclass(frozen=True, slots=True)
class Rulings:
    """Two rules for a trimmed text: for a text with an at sign, as an e-mail address; for any other, as a phone number.

    The second takes the country of the row, too.
    """

    is_email: Callable[[str], bool]
    is_phone_number: Callable[[str, str | None], bool]


_LONGEST: Final = 1_024  # characters; a longer cell is a text, whatever stands in it

# Reasons that only something in the form of an address gets.
_EMAIL_IN_FORM: Final = frozenset({Reason.SPECIAL_USE_DOMAIN, Reason.DISPLAY_NAME})

# National numbers as they are written: a trunk zero, an area code in brackets (behind a trunk digit in some countries),
# or three groups and more. One point makes a decimal, and two separators of one sort in a date's places make a date.
_PHONE_SHAPE: Final = re.compile(
    r"0\d{8,12}"
    r"|\(?0\d{1,5}\)? ?[ /.\-] ?\d[\d .\-]{4,11}"
    r"|(?:\d[ \-]?)?\(\d{2,5}\) ?\d[\d .\-]{4,11}"
    r"|\d{2,4}(?:[ .\-]\d{2,4}){2,4}"
)
_NO_PHONE: Final = re.compile(r"\d{1,4}([ .\-/])\d{1,2}\1\d{1,4}|\d+\.\d+|\d{1,3}(?:\.\d{1,3}){3}")


def likely_kind(text: str, *, country: str | None = None, rulings: Rulings | None = None) -> Kind | None:
    """Return the kind that `text` clearly has; None for hashes, placeholders, bare digits, long or unclear texts.

    With `country` (as written in the row) national phone numbers of this country count. `rulings` are those of the
    definition by default; others must give the same results.
    """
    trimmed, rulings = trim(text), rulings or _BY_DEFINITION
    if not trimmed or len(trimmed) > _LONGEST or looks_hashed(trimmed):
        return None
    if "@" in trimmed and rulings.is_email(trimmed):
        return Kind.EMAIL
    if is_advertising_id(trimmed):
        return Kind.DEVICE_ID
    if is_marked_handle(trimmed):
        return Kind.HANDLE
    return Kind.PHONE_NUMBER if rulings.is_phone_number(trimmed, country) else None


def has_email_form(ruling: str | Reason | None) -> bool:
    """Whether an address is accepted (None), or refused for a reason that only a text in this form can have."""
    return not isinstance(ruling, Reason) or ruling in _EMAIL_IN_FORM


def numbers_to_ask(trimmed: str, country: str | None) -> list[tuple[str, str | None]]:
    """Return how to read `trimmed` as a phone number: as one of any country, or of `country`."""
    asked: list[tuple[str, str | None]] = [(trimmed, None)] if is_international(trimmed) else []
    return [*asked, (trimmed, country)] if country and is_phone_shaped(trimmed) else asked


def is_phone_shaped(text: str) -> bool:
    """Whether `text` is written like a national phone number. Without a country this is not sufficient."""
    number = undressed(trim(text))
    return bool(_PHONE_SHAPE.fullmatch(number)) and not _NO_PHONE.fullmatch(number)


def is_identifier(text: str) -> bool:
    """Whether `text` is certainly personal, so that it cannot be a header.

    This is a valid e-mail address, also behind a name, or international phone number, a text in the form of an
    advertising id, or a SHA-256.
    """
    trimmed = trim(text)
    if looks_hashed(trimmed) or is_advertising_id(trimmed):
        return True
    ruling = normalize_email(trimmed)
    if not isinstance(ruling, Reason) or ruling is Reason.DISPLAY_NAME:
        return True
    return is_international(trimmed) and not isinstance(normalize_phone_number(trimmed), Reason)


def _is_phone_number(trimmed: str, country: str | None) -> bool:
    asked = numbers_to_ask(trimmed, country)
    return any(not isinstance(normalize_phone_number(text, country=of), Reason) for text, of in asked)


_BY_DEFINITION: Final = Rulings(lambda trimmed: has_email_form(normalize_email(trimmed)), _is_phone_number)


# --- One row a kind: its rule, and the words by which the header of a column names it ---
#
# A kind also needs its member of `Kind`, its type, and the module of its rule.

# A text, what its row says of its country, and the rules of the run.
Normalizer: TypeAlias = Callable[[str, str | None, Rules], Normalized | Reason]


def _words(text: str) -> frozenset[str]:
    return frozenset(in_form("NFKD", word) for word in text.split())  # the words of a header have Hangul in letters


def _phrases(*texts: str) -> tuple[frozenset[str], ...]:
    return tuple(map(_words, texts))


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderWords:
    """The words that name a kind: one of `words`, or a whole phrase, with no other words beside it than `allowed` ones.

    A header with one of `unless` names no kind. Words are case-folded and without accents, also those of kana:
    `メールアドレス` is `メールアトレス`.
    """

    words: frozenset[str] = frozenset()
    phrases: tuple[frozenset[str], ...] = ()
    allowed: frozenset[str] | None = None
    unless: frozenset[str] = frozenset()

    def are_in(self, header: frozenset[str]) -> bool:
        """Whether `header`, given as words, names the kind."""
        if self.allowed is not None and not header <= self.allowed:
            return False
        return bool(header & self.words) or any(phrase <= header for phrase in self.phrases)

    @property
    def naming(self) -> frozenset[str]:
        """Return the words that can be in a header which names the kind."""
        return self.words.union(*self.phrases, self.allowed or ())


@dataclass(frozen=True, slots=True, kw_only=True)
class KindRow:
    """The facts of one kind that are not in its name."""

    normalize: Normalizer
    headers: HeaderWords = HeaderWords()


_PHONE_WORDS: Final = _words(
    """phone phones telephone telephones tel mobile mobiles cell cellphone cellular landline telefon telefonnummer
    rufnummer festnetz festnetznummer handy handynummer mobil mobilnummer mobiltelefon portable fixe telefono
    telefonos movil celular cellulare cellulari telefone telefones telemovel telefoon telefoonnummer telefoonnummers
    mobiel mobielnummer gsm msisdn whatsapp sms mobilfunk mobilfunknummer telefonnummern telf tlf tlfno tfno telefonu
    telepon handphone ponsel telefonszam telefonni puhelin puhelinnumero matkapuhelin τηλεφωνο κινητο
    電話 電話番号 携帯 携帯電話 携帯番号 携帯電話番号 自宅電話番号 勤務先電話番号 連絡先電話番号
    手机 手机号 手机号码 电话 电话号码 联系电话 移动电话 手機 手機號碼 手機號 電話號碼 行動電話 聯絡電話
    휴대폰 휴대폰번호 휴대전화 휴대전화번호 핸드폰 핸드폰번호 전화번호 телефон телефона телефоны телефону сотовыи
    هاتف الهاتف جوال الجوال موبايل الموبايل"""
)

# The first row whose words are in a header decides: a mobile advertising id is no phone number.
KINDS: Final[Mapping[Kind, KindRow]] = MappingProxyType(
    {
        Kind.EMAIL: KindRow(
            normalize=lambda text, country, rules: normalize_email(text),
            headers=HeaderWords(
                words=_words(
                    """email emails mail mails mailadresse mailadres emailadres courriel courriels mel correo correos
                    emailadresse eposta smtpadr
                    メール eメール 電子メール メールアトレス eメールアトレス 電子メールアトレス emailアトレス"""
                ),
                phrases=_phrases(
                    "posta elettronica",
                    "correio eletronico",
                    "adresse electronique",
                    "adresse messagerie",
                    "poczta elektroniczna",
                    "poczty elektronicznej",
                    "smtp addr",
                ),
                unless=_PHONE_WORDS,
            ),
        ),
        Kind.DEVICE_ID: KindRow(
            normalize=lambda text, country, rules: normalize_device_id(text, rules=rules),
            headers=HeaderWords(
                words=_words("idfa aaid gaid maid maids madid madids adid ifa"),
                phrases=_phrases(
                    "advertising id", "advertiser id", "google ad id", "device id", "device ids", "android id"
                ),
            ),
        ),
        Kind.PHONE_NUMBER: KindRow(
            normalize=lambda text, country, rules: normalize_phone_number(text, country=country, rules=rules),
            headers=HeaderWords(
                words=_PHONE_WORDS,
                phrases=_phrases(
                    "mob number", "numer komorkowy", "numero telefonico", "recapito telefonico", "đien thoai"
                ),
                unless=_words("id ids code codes uuid country device advertising page url"),
            ),
        ),
        Kind.PLATFORM_ID: KindRow(
            normalize=lambda text, country, rules: normalize_platform_id(text),
            headers=HeaderWords(
                phrases=_phrases("platform id", "twitter id", "x user id", "platform ids", "twitter ids"),
                allowed=_words("platform twitter x user account id ids numeric number"),
            ),
        ),
        Kind.HANDLE: KindRow(
            normalize=lambda text, country, rules: normalize_handle(text),
            headers=HeaderWords(
                phrases=_phrases("handle", "handles", "screen name", "screenname", "twitter", "x username"),
                allowed=_words(
                    """handle handles screen name screenname twitter x user username profile account url link page
                    website"""
                ),
            ),
        ),
        # The name of the field alone names it: any column could be a partner's ids.
        Kind.PARTNER_USER_ID: KindRow(normalize=lambda text, country, rules: normalize_partner_user_id(text)),
    }
)
