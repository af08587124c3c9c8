"""The meaning of a header's words for a column: its kind, whether it holds hashes, whether it is the country."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from audiencekit.identifiers.kind_table import KINDS
from audiencekit.identifiers.kinds import Kind
from audiencekit.sources.columns.vocabulary import words, words_of

_FIELDS: Final = {kind.value: kind for kind in Kind}
# Identifiers of people other than the row's own, of apps, and numbers without a person: content alone does not map
# them. Apps have an id for each vendor (IDFV), also where the owner of the device opted out of advertising.
_NOT_THE_PERSON: Final = words(
    """owner agent manager assigned rep referrer referred referral sender by support vendor idfv transposed assistant
    emergency spouse fax telefax telecopie faks факс fakusu
    assistent assistentin assistente asistente vorgesetzter vorgesetzten betreuer berater sachbearbeiter verkaufer
    vertreter notfall ehepartner ehegatte conseiller vendeur proprietaire responsable urgence conjoint propietario
    proprietario vendedor asesor emergencia conyuge venditore emergenza coniuge eigenaar verkoper opiekun менеджер
    менеджера"""
)
# A column with one of these words is about an identifier, or about another person's, and is none itself.
_ABOUT: Final = _NOT_THE_PERSON | words(
    """opt optin optout consent consented consentement einwilligung subscribed unsubscribed newsletter
    marketing verified valid invalid confirmed bounced active inactive enabled is has status statut type kind count
    total date datum fecha time datetime created updated modified deleted seen login domain host provider
    source quelle origin channel language preference preferences message text comment comments subject notes note
    sales from recipient ext extens extension durchwahl area prefix calling dialing brand model carrier network os
    version app followers following tweets posts display label labels angezeigter complet pantalla mostrar visualizzato
    weergavenaam exibicao typ tipo"""
)
# Ids of the source's own making look like device ids when they are UUIDs.
_OWN_ID: Final = words(
    "id ids uuid guid key row record index order account user customer client contact session lead member"
)
_HASH: Final = frozenset({"hash", "hashed", "hashes", "sha", "digest", "hex", "encrypted"})
_UNSUPPORTED_HASH: Final = frozenset({"md5", "md", "sha1", "sha512"})
# A screen name is a handle only where something says so: in address books it is a name in some messenger.
_SCREEN: Final = frozenset({"screen", "screenname"})
_X: Final = frozenset({"twitter", "x", "handle", "handles"})
_OF_X: Final = frozenset({"twitter", "tweet", "tweets"})
_NAME_PARTS: Final = (
    frozenset({"first", "name"}),
    frozenset({"last", "name"}),
    frozenset({"firstname"}),
    frozenset({"lastname"}),
    frozenset({"vorname"}),
    frozenset({"nachname"}),
)
_COUNTRY: Final = words(
    """country countries land lander landcode landercode landerkurzel landerschlussel landeskennung landesschlussel
    staat wohnsitzland rechnungsland lieferland pays pais paises paese paesi nazione nation kraj ulke страна
    国 国名 国家"""
)
_COUNTRY_ALLOWED: Final = _COUNTRY | words(
    """code codes iso name alpha id region territory default primary main billing invoice shipping delivery home work
    business mailing address customer user contact person ship bill buyer kurzel postal residence residencia residenza
    privat geschaftlich rechnung lieferung domicile bureau livraison facturation particular trabajo envio facturacion
    abitazione ufficio spedizione fatturazione entrega cobranca regiao regio 地域 地区 thuis werk o of da de del della
    do di cc 1 2 3"""
)

# Codes of states and of languages are codes of countries, too.
_NOT_COUNTRIES: Final = words(
    """state states st province provincia provincial prov region regions regione territory county department
    departement bundesland kanton canton estado stato provincie district lang language languages sprache langue idioma
    lingua taal locale currency wahrung initials initialen title titel"""
)


def named_kind(name: str) -> Kind | None:
    """The kind that a header cell names, None when it names none, or only something about one."""
    if (whole := " ".join(name.replace("\ufeff", "").casefold().split())) in _FIELDS:
        return _FIELDS[whole]
    found = frozenset(word for word in words_of(name) if not word.isdecimal()) - _HASH
    return None if found & _ABOUT else _kind_of(found)


def _kind_of(found: frozenset[str]) -> Kind | None:
    for kind, row in KINDS.items():
        if row.headers.are_in(found):
            return None if found & row.headers.unless else kind
    return None


def names_screen_name(name: str) -> bool:
    """Whether a header cell names screen names, and does not say of which service."""
    found = frozenset(words_of(name))
    return bool(found & _SCREEN) and not found & _X


def speaks_of_x(name: str) -> bool:
    """Whether a header cell says that the list is of people on X."""
    if names_screen_name(name):
        return False
    return named_kind(name) in (Kind.HANDLE, Kind.PLATFORM_ID) or bool(_OF_X & set(words_of(name)))


def names_something_else(name: str) -> bool:
    """Whether a header cell says that the column is about an identifier, or is an identifier of another person."""
    found = frozenset(words_of(name))
    about_one = bool(found & _ABOUT) and _kind_of(found - _ABOUT) is not None
    return about_one or bool(found & _NOT_THE_PERSON)


def names_own_id(name: str) -> bool:
    """Whether a header cell names an id of the source's own making."""
    return bool(_OWN_ID & set(words_of(name)))


def names_hashes(name: str) -> bool:
    """Whether a header cell says that the column holds hashes."""
    return bool(_HASH & set(words_of(name)))


def names_unsupported_hash(name: str) -> bool:
    """Whether a header cell names a hash other than SHA-256."""
    found = words_of(name)
    other_sha = any(pair in (("sha", "1"), ("sha", "512")) for pair in pairwise(found))
    return other_sha or bool(_UNSUPPORTED_HASH & set(found))


def names_country(name: str) -> bool:
    """Whether a header cell says that the column holds countries."""
    found = frozenset(words_of(name))
    return bool(found & _COUNTRY) and found <= _COUNTRY_ALLOWED


def names_country_in_short(name: str) -> bool:
    """Whether a header cell may say that the column holds codes of countries: Mailchimp calls it CC."""
    return words_of(name) == ("cc",)


def names_part_of_country(name: str) -> bool:
    """Whether a header cell names what is written in such codes as countries are, and is none."""
    return bool(_NOT_COUNTRIES & set(words_of(name)))


def names_person_data(name: str) -> bool:
    """Whether a cell is beyond doubt a column's name: of an identifier, or of the parts of a person's name."""
    return named_kind(name) is not None or names_name_part(name)


def names_name_part(name: str) -> bool:
    """Whether a header cell names a part of a person's name."""
    return frozenset(words_of(name)) in _NAME_PARTS
