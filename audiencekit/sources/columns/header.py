"""The meaning of a header's words for a column: its kind, whether it holds hashes, whether it is the country."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, Self

from audiencekit.errors import MappingRefused
from audiencekit.identifiers.kind_table import KINDS, is_identifier
from audiencekit.identifiers.kinds import Kind
from audiencekit.identifiers.texts import in_form
from audiencekit.sources.columns.vocabulary import is_showable, words, words_of
from audiencekit.text import option

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
_QUESTION: Final = frozenset({"is", "from"})
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
    return None if found & _ABOUT - _asked(found) else _kind_of(found)


def _asked(found: frozenset[str]) -> frozenset[str]:
    """Return the words of a question to the person, as in the columns of forms: `What is your email address?`."""
    return _QUESTION if "your" in found else frozenset()


def _kind_of(found: frozenset[str]) -> Kind | None:
    for kind, row in KINDS.items():
        if row.headers.are_in(found):
            return None if found & row.headers.unless else kind
    return None


def names_both(name: str) -> bool:
    """Whether a header cell names addresses and phone numbers, or neither."""
    found = frozenset(words_of(name)) - _HASH
    named = [bool(found & KINDS[kind].headers.words) for kind in (Kind.EMAIL, Kind.PHONE_NUMBER)]
    return all(named) or not (any(named) or named_kind(name))


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
    found -= _asked(found)
    about_one = bool(found & _ABOUT) and _kind_of(found - _ABOUT) is not None
    return about_one or bool(found & _NOT_THE_PERSON)


def names_another_person(name: str) -> bool:
    """Whether a header cell says that its identifiers are those of another person, of an app, or of a fax."""
    return bool(_NOT_THE_PERSON & set(words_of(name)))


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
    """Whether a header cell names something with codes like those of countries, such as a language."""
    return bool(_NOT_COUNTRIES & set(words_of(name)))


def names_person_data(name: str) -> bool:
    """Whether a cell is beyond doubt a column's name: of an identifier, or of the parts of a person's name."""
    return named_kind(name) is not None or names_name_part(name)


def names_name_part(name: str) -> bool:
    """Whether a header cell names a part of a person's name."""
    return frozenset(words_of(name)) in _NAME_PARTS


MANY_DIGITS: Final = 7  # a cell of digits from here on is data, unless it is a date
MAX_LISTED: Final = 40  # names in one message
_DATE: Final = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|(?:19|20)\d{6}")
_ALIAS: Final = re.compile(r"column([1-9][0-9]{0,5})")


def compare_key(name: str) -> str:
    """`name` as names are compared: case-folded, trimmed, one space for many, without byte order mark."""
    return " ".join(in_form("NFC", name.replace("\ufeff", "")).casefold().split())


def is_header(cells: list[str], given: tuple[str, ...] = ()) -> bool:
    """Whether the first record names the columns: with a name that the user gave, or when no cell is personal.

    A cell that is an identifier, or a long number, belongs to a person.
    """
    if {compare_key(cell) for cell in cells} & set(map(compare_key, given)):
        return True
    return not any(is_identifier(cell.strip()) or _is_long_number(cell.strip()) for cell in cells)


def _is_long_number(cell: str) -> bool:
    digits = sum(letter.isdecimal() for letter in cell)
    return digits >= MANY_DIGITS and not any(map(str.isalpha, cell)) and _DATE.fullmatch(cell) is None


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a source. `names` are its own words (None without a header), `given` what the user wrote.

    `evident` are the positions of names that may be shown although their words are not known.
    """

    names: tuple[str, ...] | None
    width: int
    given: frozenset[str] = frozenset()
    evident: frozenset[int] = frozenset()

    def __repr__(self) -> str:
        return f"<Header of {self.width} columns>"

    @classmethod
    def of(cls, names: tuple[str, ...] | None, width: int, given: tuple[str, ...]) -> Self:
        """Return a header of `width` columns. Names that are in `given` may be shown."""
        return cls(names, width, frozenset(map(compare_key, given)))

    def showing(self, evident: frozenset[int]) -> Self:
        """The same header, of which the names at the positions `evident` may be shown."""
        return replace(self, evident=evident)

    @property
    def keys(self) -> tuple[str, ...]:
        """The names as they are compared, up to the last that is not blank."""
        keys = [self.key(position) for position in range(len(self.names or ()))]
        return tuple(keys[: max((place for place, key in enumerate(keys, 1) if key), default=0)])

    def key(self, position: int) -> str:
        """The name of a column as it is compared; empty without a header."""
        return compare_key(self.names[position]) if self.names is not None and position < len(self.names) else ""

    def shown(self, position: int) -> str:
        """The name for people: the own one when it may be shown, else `column4`, counted from 1."""
        key = self.key(position)
        own = " ".join(self.names[position].replace("\ufeff", "").split()) if key and self.names is not None else ""
        may_be_shown = own.isprintable() and (key in self.given or position in self.evident or is_showable(own))
        return own if own and may_be_shown else f"column{position + 1}"

    def find(self, name: str) -> int:
        """The position of the column called `name`. Raises MappingRefused when there is none, or more than one."""
        key = compare_key(name)
        places = [position for position in range(self.width) if key and self.key(position) == key]
        if len(places) > 1:
            self.refuse_same_name(places)
        if places:
            return places[0]
        alias = _ALIAS.fullmatch(key)
        if alias is not None and int(alias[1]) <= self.width:
            return int(alias[1]) - 1
        without = "" if self.names is not None else ", and the source has no header"
        raise MappingRefused(f"there is no column {name!a}{without}", hint=f"the columns are: {self.listed()}")

    def has(self, name: str) -> bool:
        """Whether there is a column called `name`, or several."""
        key = compare_key(name)
        alias = _ALIAS.fullmatch(key)
        is_place = alias is not None and int(alias[1]) <= self.width
        return is_place or any(key and self.key(position) == key for position in range(self.width))

    def refuse_same_name(self, positions: list[int]) -> None:
        """Raise MappingRefused for wanted columns that have the same name."""
        aliases = [f"column{position + 1}" for position in positions]
        raise MappingRefused(
            f"{' and '.join(aliases)} have the same name, {self.shown(positions[0])}",
            hint=f"say which is meant by its place, for example {option('columns', {'KIND': aliases[0]})}",
        )

    def listed(self) -> str:
        """The shown names of all columns, for a message."""
        names = [self.shown(position) for position in range(min(self.width, MAX_LISTED))]
        return ", ".join(names) + (f" and {self.width - MAX_LISTED} more" if self.width > MAX_LISTED else "")


def is_whole_file(cells: list[str]) -> bool:
    """Whether the only record of a file holds both names and people, because the line ends were lost."""
    has_people = any(is_identifier(cell.strip()) for cell in cells)
    return has_people and any('"' in cell or names_person_data(cell) for cell in cells)
