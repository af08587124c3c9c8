"""Columns of consent, recognised by their names and the few words of their cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from audiencekit.sources.columns.vocabulary import words, words_of
from audiencekit.sources.sampling import is_filled

MOST_WORDS: Final = 6  # different ones of such a column

# Words of names that say yes, and of those that say no, in their ground forms and as exports write them.
_AGREES: Final = words(
    """accepts accept accepted consent consents consented optin subscribed subscribe subscription newsletter permission
    permitted allowed gdpr dsgvo rgpd agreed marketing einwilligung einwilligungen zustimmung zugestimmt werbung
    werbeeinwilligung consentement accord abonne consentimiento acepta suscrito consenso consente iscritto accetta
    consentimento aceita inscrito toestemming akkoord ingeschreven zgoda izin onay согласие
    agree agrees agreement authorized authorised authorization authorisation privacy allows accepting
    einverstandnis einverstaendnis einverstanden einverstandniserklarung einverstaendniserklaerung erlaubnis
    werbeerlaubnis kontakterlaubnis erlaubt datenschutz datenschutzerklarung akzeptiert newsletterempfanger
    autorisation autorise accepte autorizacion autoriza autorizado acepto autorizzazione autorizza accetto privacidad
    autorizacao autoriza aceito aceite toegestaan samtycke samtykke godkannt godkendt suostumus souhlas hozzajarulas
    consimtamant acord συγκαταθεση згода"""
)
_NEWS: Final = words("newsletter subscription marketing abonne werbung newsletterempfanger")
_REFUSES: Final = words(
    """unsubscribed unsubscribe optedout optout dnc donotcall donotcontact donotemail suppressed suppress abgemeldet
    widerrufen widerruf werbesperre gesperrt desabonne desinscrit opposition baja desuscrito disiscritto
    descadastrado cancelou uitgeschreven afgemeld bezwaar"""
)
_ABOUT_TIME: Final = words("date datum fecha data time at on am datetime timestamp when source ip id url by via quelle")
_YES: Final = words("yes y true t 1 ja j oui o si s sim tak evet да on x kylla ano igen ναι так")
_NO: Final = words("no n false f 0 nein non nao nee nie hayir нет off nej nei ei ne nem nu οχι ні")
# As `_plain` gives them.
_SAYS_YES: Final = words("subscribed optedin optin granted given accepted agreed confirmed angemeldet erteilt")
_SAYS_NO: Final = words(
    """unsubscribed neversubscribed notsubscribed nonsubscribed optedout optout denied declined refused withdrawn
    revoked cleaned bounced pending suppressed donotcontact abgemeldet widerrufen abgelehnt nichterteilt desinscrit
    desabonne refuse baja rechazado disiscritto rifiutato descadastrado recusado uitgeschreven afgemeld geweigerd"""
)
# Of these a column of statuses is one of consents; the others may be of orders.
_CERTAIN: Final = words(
    """subscribed unsubscribed neversubscribed notsubscribed nonsubscribed optedin optedout optin optout abgemeldet
    desinscrit desabonne disiscritto descadastrado uitgeschreven afgemeld donotcontact"""
)
_STATUS: Final = words("status state statut estado stato")


@dataclass(frozen=True, slots=True)
class Consent:
    """The words of a column: `refused` of `rows` say no. `word` is what most of the others say.

    None where these say nothing: a column of those who refuse may be blank for all others. `is_plain` says that the
    name speaks of consent, and not of a newsletter, which not each person has who agrees.
    """

    refused: int
    rows: int
    word: str | None
    is_plain: bool = True


def find_consent(name: str, cells: Sequence[str]) -> Consent | None:
    """Return the consent of a column; None if it has none, or every row agrees."""
    agrees = _polarity(name)
    said = Counter(cell.strip() for cell in cells if is_filled(cell))
    if not said or len(said) > MOST_WORDS:
        return None
    if agrees is None and not (_STATUS & set(words_of(name)) and _CERTAIN & set(map(_plain, said))):
        return None
    meanings = {word: _meaning(_plain(word), agrees) for word in said}
    if None in meanings.values():
        return None
    refused = sum(count for word, count in said.items() if meanings[word] is False)
    words_of_yes = [word for word, _ in said.most_common() if meanings[word]]
    is_plain = agrees is not True or bool((_AGREES - _NEWS) & set(words_of(name)))
    rows = len(cells) if agrees is False else sum(said.values())
    return Consent(refused, rows, words_of_yes[0] if words_of_yes else None, is_plain) if refused else None


def _polarity(name: str) -> bool | None:
    """Whether a yes in the column means that a person agrees; None where its name is not about consent."""
    found = words_of(name)
    if _ABOUT_TIME & set(found):
        return None
    pairs = set(pairwise(found))
    if _REFUSES & set(found) or {("opt", "out"), ("opted", "out"), ("do", "not"), ("no", "marketing")} & pairs:
        return False
    if _AGREES & set(found) or {("opt", "in"), ("opted", "in")} & pairs:
        return True
    return None


def _meaning(word: str, agrees: bool | None) -> bool | None:
    """Whether a word of a cell agrees; None for one that is not known."""
    if word in _SAYS_NO:
        return False
    if word in _SAYS_YES:
        return True
    if agrees is None:
        return None
    if word in _YES:
        return agrees
    return not agrees if word in _NO else None


def _plain(cell: str) -> str:
    """The words of a cell as one: `Never subscribed`, `NEVER_SUBSCRIBED` and `never-subscribed` are the same."""
    return "".join(words_of(cell))
