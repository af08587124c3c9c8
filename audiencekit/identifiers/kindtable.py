"""One row a kind: its rule, and the words by which the header of a column names it.

A kind also needs its member of `Kind`, its type, and the module of its rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from audiencekit.identifiers.device_id import normalize_device_id
from audiencekit.identifiers.email import normalize_email
from audiencekit.identifiers.handle import normalize_handle
from audiencekit.identifiers.kinds import Kind, Normalized
from audiencekit.identifiers.partner_user_id import normalize_partner_user_id
from audiencekit.identifiers.phone_number import normalize_phone_number
from audiencekit.identifiers.platform_id import normalize_platform_id
from audiencekit.identifiers.reasons import Reason
from audiencekit.identifiers.rules import Rules
from audiencekit.identifiers.unicodeforms import in_form

# A text, what its row says of its country, and the rules of the run.
Normalizer: TypeAlias = Callable[[str, str | None, Rules], Normalized | Reason]


def _words(text: str) -> frozenset[str]:
    return frozenset(in_form("NFKD", word) for word in text.split())  # the words of a header have Hangul in letters


def _phrases(*texts: str) -> tuple[frozenset[str], ...]:
    return tuple(map(_words, texts))


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderWords:
    """The words that name a kind: one of `words`, or all of a phrase, with no other beside them than `allowed` ones.

    A header that also has one of `unless` names no kind at all. Words are case-folded and without accents, also those
    of kana: `メールアドレス` is `メールアトレス`.
    """

    words: frozenset[str] = frozenset()
    phrases: tuple[frozenset[str], ...] = ()
    allowed: frozenset[str] | None = None
    unless: frozenset[str] = frozenset()

    def are_in(self, header: frozenset[str]) -> bool:
        """Whether `header`, the words of one, is about the kind."""
        if self.allowed is not None and not header <= self.allowed:
            return False
        return bool(header & self.words) or any(phrase <= header for phrase in self.phrases)

    @property
    def naming(self) -> frozenset[str]:
        """The words that can stand in a header which names the kind."""
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
