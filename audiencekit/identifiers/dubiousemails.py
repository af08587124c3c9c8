"""Addresses that are valid and yet reach no one, or no person: likely typing errors, roles, throwaway mailboxes.

Nothing of this rejects a value, and no value is ever corrected: it is counted, and told. A domain counts as a typing
error only when it is a slip or two away from one of a closed list of providers: to name the provider says nothing of a
person.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Providers with so many mailboxes that a domain next to theirs is rather a slip than a company.
PROVIDERS: Final = _words(
    """gmail.com googlemail.com yahoo.com yahoo.co.uk yahoo.fr yahoo.de ymail.com rocketmail.com hotmail.com
    hotmail.co.uk hotmail.fr hotmail.de hotmail.it outlook.com outlook.de outlook.fr live.com live.co.uk icloud.com
    comcast.net verizon.net sbcglobal.net bellsouth.net btinternet.com protonmail.com freenet.de t-online.de
    wanadoo.fr orange.fr laposte.net libero.it virgilio.it gmx.net gmx.de web.de aol.com msn.com"""
)
# Of providers and companies that are one slip away from another provider, and no slip.
_REAL: Final = frozenset(
    _words(
        """mail.com email.com gmx.com gmx.at gmx.ch gmx.us gmx.fr gmx.es aol.de aol.fr aol.it mail.de mail.ru fmail.com
    hmail.com imail.com vmail.com zmail.com tmail.com emailn.de gmail.de me.com live.de live.fr live.nl live.it
    live.ca live.be live.se live.no live.dk live.cn live.jp live.in love.com life.com line.com alive.com olive.com
    five.com cloud.com icloud.de mac.com orange.com orange.es orange.pl orange.be orange.ch verizon.com comcast.com
    free.fr freenet.com freenet.ch outlook.be wanadoo.es wanadoo.nl libero.com msn.de msnbc.com aon.com aol.jp web.com
    web.id gmx.biz gmx.info hotmail.org proton.me proton.com yahoo.net yahoo.org t-mobile.de tonline.de"""
    )
)
# The ends of a domain that people mean when they type .com.
_SLIPS_OF_COM: Final = frozenset(
    _words("con cmo ocm om cm comm coom vom xom cpm cim c0m cok com.com coml clm dom com1")
)
# Offices: local parts, in lower case and before a plus, that name no person.
ROLES: Final = _words(
    """abuse accounting accounts admin administrator billing bookings careers contact contacto customerservice
    enquiries feedback finance hello help helpdesk hostmaster hr info information inquiries invoice invoices
    jobs kontakt mail mailer-daemon marketing media newsletter no-reply noreply office orders postmaster press
    privacy purchasing reception recruiting root sales security service services shop spam staff support team
    technik webmaster vertrieb buchhaltung bestellung einkauf rechnung contabilidad ventas contact-us
    do-not-reply donotreply"""
)
# Domains whose mailboxes are for a few minutes.
THROWAWAY: Final = _words(
    """10minutemail.com 20minutemail.com 33mail.com anonbox.net burnermail.io byom.de discard.email discardmail.com
    dispostable.com dropmail.me einrot.com emailondeck.com fakeinbox.com fakemail.net getairmail.com getnada.com
    grr.la guerrillamail.biz guerrillamail.com guerrillamail.de guerrillamail.net guerrillamail.org inboxbear.com
    inboxkitten.com incognitomail.com jetable.org mail-temp.com mail.tm maildrop.cc mailcatch.com mailexpire.com
    mailinator.com mailinator.net mailnesia.com mailnull.com mailpoof.com mintemail.com moakt.com mohmal.com
    mytemp.email nada.email owlymail.com sharklasers.com spam4.me spambog.com spamgourmet.com temp-mail.io
    temp-mail.org tempail.com tempinbox.com tempmail.com tempmail.net tempmailo.com tempr.email throwam.com
    throwawaymail.com trash-mail.com trashmail.com trashmail.de trashmail.net wegwerfemail.de wegwerfmail.de
    yopmail.com yopmail.fr yopmail.net zeroinbox.com"""
)
_MIN_LENGTH: Final = 9  # letters of a provider: next to a shorter one there are too many companies
_LONG: Final = 7  # letters of its name: two slips in it are likelier than another company
# The keys beside each letter.
_KEYS: Final = "qwertyuiopasdfghjklzxcvbnm"
_BESIDE: Final = """wa qes wrd etf ryg tuh yij uok ipl ol qsz adwx sfec dgrv fhtb gjyn hkum jli kop asx zcd xvf cbg vnh
    bmj nk"""
_NEIGHBOURS: Final = dict(zip(_KEYS, map(frozenset, _words(_BESIDE)), strict=True))


@lru_cache(maxsize=65_536)
def meant_provider(domain: str) -> str | None:
    """The provider that `domain` (lower case) is likely a typing error of; None for any other domain."""
    if domain in PROVIDERS or domain in _REAL or "." not in domain:
        return None
    for provider in PROVIDERS:
        if _is_slip(domain, provider):
            return provider
    return None


def _is_slip(domain: str, provider: str) -> bool:
    name, _, end = provider.partition(".")
    own, _, own_end = domain.partition(".")
    if own == name:
        return _is_slip_of_end(own_end, end, name)
    if len(provider) < _MIN_LENGTH or not _starts_like(own, name):
        return False
    if own_end == end or (end == "com" and own_end in _SLIPS_OF_COM):
        return distance(own, name, 2) <= (2 if len(name) >= _LONG and own[:1] == name[:1] else 1)
    return distance(domain, provider, 1) == 1


def _is_slip_of_end(own_end: str, end: str, name: str) -> bool:
    """Whether the same name has an end that is a slip; a country's own is none, but for a provider that has none."""
    if end == "com":
        return own_end in _SLIPS_OF_COM or (name in ("gmail", "googlemail", "icloud") and own_end == "co")
    return len(own_end) > 2 and own_end not in ("com", "net", "org") and distance(own_end, end, 1) == 1


def _starts_like(own: str, name: str) -> bool:
    """Whether the first letters may be the same key, missed by one, or in another order."""
    if own[:1] == name[:1] or own[:2] == name[1::-1] or own[:1] == name[1:2]:
        return True
    return own[:1] in _NEIGHBOURS.get(name[:1], frozenset()) or own[1:2] == name[:1]


def distance(one: str, other: str, most: int) -> int:
    """Letters to change, drop, add, or exchange with the next one to make `other` of `one`; `most` + 1 for more."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for column, wanted in enumerate(other, 1):
            steps = min(last[column] + 1, line[-1] + 1, last[column - 1] + (letter != wanted))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == wanted:
                steps = min(steps, before[column - 2] + 1)
            line.append(steps)
        if min(line) > most:
            return most + 1
        before, last = last, line
    return min(last[-1], most + 1)
