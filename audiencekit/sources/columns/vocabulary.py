"""The words of contact-list headers. A header made of these words is shown; any other may be a person's name.

Words are case-folded and without accents, as `words_of` gives them.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from audiencekit.identifiers.kind_table import KINDS
from audiencekit.identifiers.texts import in_form

MAX_SHOWN_LENGTH: Final = 64  # characters
MAX_SHOWN_DIGITS: Final = 4  # in a row; more could be a phone number
MIN_PART_LENGTH: Final = 3  # letters of a word inside a compound such as `emailaddress`
# Shorter words that end a compound (`userid`, `createdby`), and how many letters must stand before them.
SHORT_ENDINGS: Final = {"id": 3, "ids": 3, "md": 3, "nr": 3, "no": 5, "by": 5, "to": 5}


def words(text: str) -> frozenset[str]:
    """The words of a word list."""
    return frozenset(text.split())


_ENGLISH: Final = """
email mail emails phone phones mobile cell cellphone cellular telephone tel landline fax work office business home
private personal other main primary secondary preferred default alternate alternative additional backup best
customer customers user users client clients contact contacts member members subscriber subscribers lead leads account
accounts person people
company organization organisation address addresses number numbers no num nr nbr id ids identifier
key code codes country countries region nation city town street state province county district postal post zip zipcode
postcode hash hashed hashes sha md hex digest encrypted raw plain normalized normalised clean cleaned original
first last middle full given family sur name names surname firstname lastname fullname forename title gender sex birth
birthday birthdate age date time datetime year month day created updated modified added deleted first seen last login
status type kind category group groups segment segments list lists tag tags source origin channel campaign audience
audiences opt in out optin optout consent consented subscribed unsubscribed newsletter marketing verified valid invalid
confirmed bounced active inactive enabled is has of the and or at by for from to via with
twitter x handle handles screen username nickname nick profile page url link website web site domain host platform
partner external internal device devices advertising advertiser ad ads android ios apple google idfa idfv aaid gaid adid
maid maids uuid guid mobile operation action update delete expires effective value values count total amount price
order orders purchase purchases revenue spend lifetime score points rank notes note comment comments description text
message language locale currency timezone ip ext extension area prefix calling dialing international national local
facebook instagram linkedin youtube tiktok github telegram whatsapp skype signal sms social media owner agent manager
assigned sales rep referrer referred support sender recipient billing shipping delivery invoice row index record line
new old current previous temp test sample demo display label madid msisdn gsm assistant emergency mailing buyer iso
permission agreed agree accepts accepted allowed privacy gdpr
territory residence cc mails mobiles screenname ifa madids numeric addr daytime evening direct corporate attendee
formatted receipt vendor idfv spouse ship
"""
_GERMAN: Final = """
mailadresse telefon telefonnummer rufnummer festnetz handy mobil mobilnummer mobiltelefon handynummer durchwahl
nummer privat privates geschaftlich geschaeftlich dienstlich beruflich arbeit buro firma unternehmen kunde kunden
kundennummer kundin nutzer benutzer benutzername mitglied mitglieder mitgliedsnummer kontakt kontakte ansprechpartner
adresse adressen anschrift vorname nachname familienname anrede titel geschlecht geburtsdatum geburtstag land laender
landercode landerkurzel landeskennung staat ort stadt strasse hausnummer plz postleitzahl bundesland datum uhrzeit
anmeldung abmeldung einwilligung sprache bemerkung notiz notizen gruppe gruppen quelle wert anzahl umsatz aktiv
festnetznummer emailadresse telefax landerschlussel landesschlussel wohnsitzland rechnungsland lieferland rechnung
lieferung angezeigter assistent zustimmung zugestimmt einverstandnis einverstaendnis einverstanden erlaubnis
werbeerlaubnis werbung werbeeinwilligung datenschutz datenschutzerklarung akzeptiert erlaubt newsletterempfanger filiale
"""
_FRENCH: Final = """
courriel mel adresse telephone telephones numero numeros portable fixe mobile bureau domicile prive professionnel
client cliente clients utilisateur membre contact societe entreprise nom prenom civilite sexe naissance anniversaire
pays ville rue code postal departement langue date creation inscription consentement statut groupe groupes commentaire
identifiant electronique courriels complet telecopie livraison facturation accepte autorisation
"""
_SPANISH: Final = """
correo correos electronico direccion telefono telefonos movil celular fijo casa trabajo oficina principal secundario
cliente clientes usuario usuarios miembro contacto contactos empresa nombre nombres apellido apellidos genero sexo
nacimiento pais paises ciudad calle provincia estado codigo postal idioma fecha alta baja consentimiento grupo grupos
comentario comentarios identificador numero asistente envio facturacion acepta autorizacion privacidad
"""
_ITALIAN: Final = """
posta elettronica indirizzo telefono cellulare cellulari fisso casa lavoro ufficio principale secondario cliente clienti
utente utenti membro contatto contatti azienda societa nome cognome sesso nascita paese paesi nazione citta via
provincia cap codice lingua data iscrizione consenso accetta autorizzazione gruppo gruppi nota identificativo numero
"""
_PORTUGUESE: Final = """
email correio eletronico endereco telefone telefones telemovel celular fixo casa trabalho escritorio principal
secundario cliente clientes usuario utilizador membro contato contacto contatos empresa nome sobrenome apelido genero
sexo nascimento pais paises cidade rua estado codigo postal cep idioma data cadastro consentimento grupo grupos
identificador numero autorizacao aceita
"""
_DUTCH: Final = """
emailadres mailadres telefoon telefoonnummer telefoonnummers mobiel mobielnummer vast thuis werk prive zakelijk klant
klanten klantnummer gebruiker gebruikersnaam lid contactpersoon bedrijf naam voornaam achternaam tussenvoegsel geslacht
geboortedatum land landen landcode plaats stad straat huisnummer postcode provincie taal datum toestemming groep groepen
opmerking nummer adres
"""
_POLISH: Final = """
adres adresy telefon komorkowy numer nazwisko imie firma kraj miasto ulica kod pocztowy klient zgoda
"""
_TURKISH: Final = """
adresi telefon cep numarası adı soyadı ulke sehir posta kodu musteri
"""
_OTHERS: Final = "мобильныи номер رقم nomor"
_ARTICLES: Final = "de del di der die das du la le les el il lo da do et und oder ou van het en"
_LANGUAGES: Final = (
    *(_ENGLISH, _GERMAN, _FRENCH, _SPANISH, _ITALIAN, _PORTUGUESE, _DUTCH, _POLISH, _TURKISH),
    *(_OTHERS, _ARTICLES),
)
VOCABULARY: Final = words(" ".join(_LANGUAGES)).union(*(row.headers.naming for row in KINDS.values()))
# Words that stand for themselves: names of people and places begin or end with them by chance (Maille, Rowland).
_ALONE: Final = words(f"{_ARTICLES} of the and or at by for from to via with is has in out mel land ifa")

_ONE_WORD: Final = {"e mail": "email", "e posta": "eposta", "whats app": "whatsapp"}  # where a word begins so
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])")
_WORD: Final = re.compile(r"[^\W\d_]+|\d+")


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a header cell, case-folded and without accents; `EmailAddress`, `userid` and `phone1` are
    split."""
    split = _CAMEL.sub(" ", name.replace("\ufeff", ""))
    plain = in_form("NFKD", split.casefold()).casefold()  # a letter may stand for a capital
    letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
    found = [part for word in _WORD.findall(letters) for part in _parts(word)]
    joined = " " + " ".join(found)
    for apart, whole in _ONE_WORD.items():
        joined = joined.replace(f" {apart}", f" {whole}")
    return tuple(joined.split())


def is_showable(name: str) -> bool:
    """Whether a header cell consists of known words, single letters and short numbers only."""
    words = words_of(name)
    if sum(map(str.isdecimal, name)) > MAX_SHOWN_DIGITS:
        return False  # short groups may add up to a phone number
    return bool(words) and len(name) <= MAX_SHOWN_LENGTH and name.isprintable() and all(map(_is_known, words))


def _is_known(word: str) -> bool:
    # A single letter of another script may be all of a name that its marks do not divide.
    return (len(word) == 1 and word.isascii()) or word.isdecimal() or word in VOCABULARY


def _parts(word: str) -> tuple[str, ...]:
    """A compound of two known words, its first one as long as can be, else the word itself."""
    if word in VOCABULARY:
        return (word,)
    for end in range(min(len(word), MAX_SHOWN_LENGTH), MIN_PART_LENGTH - 1, -1):
        if _is_part(word[:end]) and _ends_compound(word[end:], after=end):
            return (word[:end], word[end:])
    return (word,)


def _is_part(word: str) -> bool:
    return len(word) >= MIN_PART_LENGTH and word in VOCABULARY and word not in _ALONE


def _ends_compound(word: str, *, after: int) -> bool:
    shortest = SHORT_ENDINGS.get(word)
    return _is_part(word) if shortest is None else after >= shortest
