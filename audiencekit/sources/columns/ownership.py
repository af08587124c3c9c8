"""Whose identifiers a column holds, by the words of its name: those of its row's person, or perhaps of another."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from audiencekit.identifiers.kind_table import KINDS
from audiencekit.identifiers.kinds import Kind
from audiencekit.sources.columns.vocabulary import words, words_of

# The words beside those of the kind that say which of a person's own addresses and numbers it is. The list of other
# people would never end.
_OWN: Final = words(
    """address addresses addr number numbers no num nr nbr value values id ids name field data info primary secondary
    main first second third st nd rd other others additional alternate alternative alt backup recovery preferred default
    best new current work home mobile office business company organization organisation corporate private personal
    direct landline day daytime evening night car radio pager callback isdn switchboard extra
    pay pal what is please enter
    customer customers client clients user users username contact contacts member members subscriber subscribers
    lead leads account person people guest attendee participant registrant individual profile your my the of for in and
    or with at to be must on oder ou of und
    billing shipping delivery invoice mailing ship bill receipt paypal google apple facebook instagram icloud gmail
    outlook hotmail skype login registered registration signup principal upn proxy proxyaddresses required format
    national international local full complete formatted normalized normalised clean cleaned original raw plain lower
    hash hashed hashes sha digest hex encrypted text string numeric custom smtp npe npo npsp res

    adresse adressen nummer nummern privat private privater privates geschaftlich geschaeftlich geschaftliche
    dienstlich dienstliche beruflich berufliche arbeit buro firma firmen unternehmen kunde kunden kundin nutzer benutzer
    benutzername mitglied mitglieder kontakt ansprechpartner person personlich personliche teilnehmer teilnehmerin gast
    haupt weitere weiterer weiteres zweite zweiter zweites andere anderes alternativ alternative primar sekundar
    standard bevorzugt bevorzugte neu neue aktuell aktuelle sonstige zusatzliche rechnung rechnungs lieferung liefer
    tagsuber abends autotelefon haupttelefon zweittelefon privattelefon firmentelefon mobilnummer privatnummer
    diensthandy rechnungsadresse abonnent anschrift vollstandig festnetz funk zentrale tel fon
    priv dienstl gesch geschaftl

    numero numeros bureau domicile prive privee professionnel professionnelle pro perso personnel personnelle travail
    maison principal principale secondaire autre autres client cliente utilisateur membre abonne contact societe
    entreprise livraison facturation electronique messagerie nouveau nouvelle actuel actuelle participant fixe adherent
    inscrit seconde second deuxieme

    direccion particular personal privado laboral profesional casa trabajo oficina principal secundario secundaria
    alternativo alternativa otro otra adicional cliente usuario miembro contacto empresa envio facturacion suscriptor
    electronico electronica corporativo nuevo nueva actual movil fijo participante preferido
    segundo segunda tercero tercera

    indirizzo abitazione ufficio lavoro privato personale principale secondario secondaria altro altra aziendale azienda
    utente membro contatto iscritto spedizione fatturazione elettronica elettronico nuovo nuova attuale fisso
    partecipante recapito pec seconda secondo terza terzo

    endereco escritorio trabalho residencial comercial pessoal outro outra alternativo usuario utilizador membro contato
    assinante entrega cobranca eletronico novo nova atual fixo celular profissional residencia
    fatura nota fone zap segundo segunda para

    adres nummer thuis werk prive persoonlijk persoonlijke zakelijk zakelijke vast mobiele hoofd primair secundair ander
    andere alternatief klant gebruiker lid contactpersoon bedrijf factuur facturatie levering verzending tweede eerste
    overdag avonds nieuw nieuwe huidig huidige deelnemer abonnee op

    adresy numer domowy sluzbowy praca prywatny glowny kontaktowy klienta klient firmowy komorkowy dodatkowy inny
    adresi numarasi numarası ev is isyeri cep kisisel musteri diger ikinci
    номер адрес рабочии домашнии мобильныи личныи основнои дополнительныи контактныи клиента другои
    rumah kantor nomor pribadi

    de del della dell di da do dos das des du la le les el il lo l d der die das den dem et und y e ed en a van het voor
    fur von vom zu zur im am ihre ihr votre su tu tuo seu uw"""
)
# Beside a column of the person's own, such a column is of another person, also where it is the only one of its kind.
_OTHERS: Final = words(
    """parent parents guardian guardians mother mothers father fathers mom mum dad husband wife partner friend friends
    coach teacher teachers tutor doctor physician dentist landlord tenant broker supplier driver accountant employee
    employer hr supervisor boss trainer instructor counselor lawyer attorney solicitor caregiver carer caretaker nurse
    sibling brother sister son daughter child relative kin next sponsor beneficiary witness executor trustee
    administrator admin secretary pa reception receptionist store shop branch dealer distributor installer technician
    buyer seller vendor requester approver creator author host organizer organiser inviter introducer recruiter

    eltern elternteil mutter vater freund freundin trainer lehrer lehrerin arzt hausarzt vermieter mieter burge makler
    lieferant fahrer buchhalter steuerberater mitarbeiter arbeitgeber chef anwalt vormund betreuerin kind bruder
    schwester ehemann ehefrau empfehler werber filiale handler erziehungsberechtigter erziehungsberechtigte

    parent parents mere pere tuteur ami amie entraineur professeur medecin proprietaire locataire fournisseur chauffeur
    comptable employe employeur avocat conjointe mari epouse enfant parrain garant

    padre madre padres tutor tutora amigo amiga entrenador profesor profesora medico arrendador inquilino proveedor
    conductor contador contable empleado empleador jefe abogado esposo esposa hijo hija hermano hermana avalista

    genitore genitori madre padre tutore amico amica allenatore insegnante medico locatore inquilino fornitore autista
    commercialista dipendente capo avvocato marito moglie figlio figlia garante

    pai mae pais responsavel amigo amiga treinador professor professora medico senhorio inquilino fornecedor motorista
    contador funcionario chefe advogado marido esposa filho filha fiador

    ouder ouders moeder vader voogd vriend vriendin docent leraar huisarts arts verhuurder huurder leverancier chauffeur
    boekhouder werknemer werkgever advocaat echtgenoot echtgenote broer zus borg"""
)
# No column of the person's own is needed: the name says that the value is not to be used, or is not theirs any more.
_NOT_TO_USE: Final = words(
    """opted unsubscribed unsubscribe blocked block blacklist blacklisted blocklist denylist dnc donotcall bounce
    bounces bounced bouncing bad old previous prior former past expired deleted removed suppressed suppression wrong
    incorrect fake dead undeliverable complained complaint spam revoked withdrawn stop

    abgemeldet abgemeldete gesperrt gesperrte alte alter altes fruhere fruherer ehemalige vorherige ungultig
    ungultige falsch falsche geloscht geloschte widerrufen
    desabonne desinscrit bloque bloquee ancien ancienne precedent precedente invalide errone
    baja bloqueado bloqueada antiguo antigua anterior invalido invalida erroneo
    disiscritto bloccato bloccata vecchio vecchia precedente errato errata
    descadastrado bloqueado antigo antiga anterior errado errada
    uitgeschreven afgemeld geblokkeerd geblokkeerde oud oude vorige ongeldig ongeldige"""
)
_OF_KINDS: Final = frozenset().union(*(KINDS[kind].headers.naming for kind in (Kind.EMAIL, Kind.PHONE_NUMBER)))
_GERMAN_OLD: Final = ("alt",)  # behind a noun; before one it is short for alternative
_ANOTHER: Final = frozenset(
    {("other", "person"), ("other", "contact"), ("second", "contact"), ("alternate", "contact")}
    | {("contact", "person"), ("kontakt", "person")}
)
_NEGATED: Final = (("do", "not"), ("opt", "out"), ("not", "in"), ("no", "longer"))


def names_own(name: str) -> bool:
    """Whether all words of a header cell are such that a person's own address or number has."""
    found = words_of(name)
    is_plain = all(word in _OWN or word in _OF_KINDS or word.isdecimal() or len(word) == 1 for word in found)
    is_plain = is_plain and _ANOTHER.isdisjoint(pairwise(found))
    return is_plain and found[-1:] not in ((), _GERMAN_OLD) and not names_not_to_use(name)


def names_other(name: str) -> bool:
    """Whether a header cell speaks of another person than that of the row."""
    return bool(_OTHERS & set(words_of(name)))


def names_not_to_use(name: str) -> bool:
    """Whether a header cell says that its column is of no use: opted out, blocked, bounced, old."""
    found = words_of(name)
    return bool(_NOT_TO_USE & set(found)) or any(pair in _NEGATED for pair in pairwise(found))
