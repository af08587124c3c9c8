"""The words of a header as evidence for its column."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.errors import MappingRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.sources.columns.header import (
    Header,
    compare_key,
    is_header,
    is_whole_file,
    named_kind,
    names_country,
    names_hashes,
    names_own_id,
    names_person_data,
    names_something_else,
    names_unsupported_hash,
)
from audiencekit.sources.columns.vocabulary import is_showable
from tests.cases import each_case

NAMES = {
    Kind.EMAIL: """email|E-Mail|e-mail address|EmailAddress|email_work|Mail|courriel|E-Mail-Adresse|e_mail|email1|
        Correo electrónico|Indirizzo e-mail|Posta elettronica|E-mail 1 - Value|Customer Email|hashed_email|
        email_sha256|Mails|Courriels|Emailadresse|SMTP_ADDR|E_MAIL|PersonEmail|emailaddress1|billing_email|
        E-mail 2 Address|Adresse mail|Home mail|Adresse de messagerie|Indirizzo email|E-posta|E-Posta Adresi|Eposta|
        Adres e-mail|Poczta elektroniczna|Adres poczty elektronicznej|メールアドレス|Eメール|電子メール|
        E-mailアドレス|Attendee Email""",
    Kind.PHONE_NUMBER: """phone|phone1|phone_2|mobile|Telefon|Telefonnummer|phone_work|Tel.|Tel. Nr|Téléphone portable|
        Teléfono móvil|Handynummer|Cell Phone|MobilePhone|Phone 1 - Value|GSM|mobiel nummer|telemóvel|cellulare|
        phone_sha256|Default Address Phone|Mobiles|Festnetznummer|TELF1|TELF2|TEL_NUMBER|MOB_NUMBER|work_phone_number|
        Mobile Phone Number|WhatsApp|WhatsApp Phone Number|Business Phone 2|Billing Phone|PersonMobilePhone|telephone1|
        Daytime Phone|Mobilfunknummer|Telf.|Tfno|Tlf|Numero di telefono|Recapito telefonico|Numer telefonu|
        Telefon komórkowy|Numer komórkowy|Cep Telefonu|Telefon Numarası|電話番号|携帯電話番号|携帯電話|手机号|联系电话|
        手機號碼|휴대폰번호|전화번호|Телефон|Мобильный телефон|رقم الجوال|Nomor Telepon|Điện thoại|Puhelinnumero|
        Κινητό τηλέφωνο""",
    Kind.DEVICE_ID: """idfa|IDFA|aaid|gaid|advertising_id|device_id|maid|Mobile Advertising ID|madid|android_id|IFA|
        MADIDs|google_ad_id""",
    Kind.HANDLE: """handle|twitter|twitter handle|x handle|screen_name|twitter_screen_name|twitter screenname|
        X username|Twitter URL""",
    Kind.PLATFORM_ID: "twitter_id|x_user_id|platform_id|twitter user id|platform_user_id|twitterid",
    Kind.PARTNER_USER_ID: "partner_user_id| Partner_User_ID ",
    None: """name|id|user_id|customer id|username|fax|Fax Nummer|home fax|email_opt_in|Email Opt Out|phone type|
        email status|phone country code|mobile id|owner email|agent_phone|created by email|facebook handle|
        instagram_handle|twitter followers|x|website|partner user id|partneruserid|date|address|email verified|
        E-mail Display Name|Assistant's Phone|Email/Phone|Maiden Name|Maiden|Madison|Cellar|Mailing|Melville|Mailand|
        Handling|Telling|E-mail 2 - Label|Phone 1 - Label|TELFX|TELBX|TEL_EXTENS|TRANSPOSED_PHONE_NUMBER|Referral Email|
        CEP|Contact No.|FAX番号|携帯電話会社|メール配信|WhatsApp Opt In|Accepts SMS Marketing|PersonAssistantPhone|
        HasOptedOutOfEmail|Komórka organizacyjna|userPrincipalName|Adresse|Messagerie|Mob|E-Mail: Angezeigter Name|
        E-Mail 2: Typ|
        Nom complet de l'adresse de messagerie|Nombre de pantalla de correo electrónico|Weergavenaam voor e-mail|
        Nome visualizzato posta elettronica|Telefon Assistent|Téléphone de l'assistant(e)|Telefaxnummer|
        Télécopie (bureau)|IDFV|Vendor Device ID|Email менеджера|手机型号""",
}
CASES = [(name.strip(" \n"), kind) for kind, names in NAMES.items() for name in names.split("|")]


@each_case("name, kind", CASES)
def test_names_say_kinds(name: str, kind: Kind | None) -> None:
    """In several languages and spellings; names of something about an identifier say none."""
    assert named_kind(name) == kind


@each_case("name", [name for name, kind in CASES if kind is not None])
def test_a_name_that_says_a_kind_is_shown(name: str) -> None:
    """Reports and rejections name the column; of any other it could be the name of a person."""
    assert is_showable(name)


@each_case(
    "test, yes, no",
    [
        (names_hashes, ["email_sha256", "Hashed Email", "SHA256", "phone hash"], ["email", "shah"]),
        (names_unsupported_hash, ["email_md5", "MD5", "sha1_email", "email_sha512"], ["email_sha256", "sha"]),
        (
            names_country,
            [
                *("country", "Country Code", "country_code", "Land", "pays", "país", "paese", "billing country"),
                *("Ländercode", "Default Address Country Code", "_address_country_id", "Business Country/Region"),
                *("Pays de résidence", "Länderschlüssel", "Land/Region privat", "Land/Region geschäftlich"),
                *("Rechnungsland", "Pays/Région (domicile)", "Pays de livraison", "ship-country"),
                *("Person - Country", "País de facturación", "国/地域"),
            ],
            [
                *("phone country code", "country manager", "landline", "region", "country of birth"),
                *("pays de naissance", "Landkreis"),
            ],
        ),
        (
            names_something_else,
            ["fax", "owner", "email opt in", "assigned to", "phone type", "IDFV", "Telefax", "Betreuer E-Mail"],
            ["email", "type", "x"],
        ),
        (names_own_id, ["id", "user_id", "uuid", "Order Key"], ["idfa", "device"]),
        (names_person_data, ["email", "first_name", "Last Name", "Vorname"], ["Anneliese", "home", "France"]),
    ],
)
def test_names_say_more(test: object, yes: list[str], no: list[str]) -> None:
    """Hashes, countries, other people, own ids, and headers beyond doubt."""
    assert callable(test)
    assert [name for name in yes if not test(name)] == []
    assert [name for name in no if test(name)] == []


@settings(deadline=None)
@given(st.text(max_size=30))
def test_any_name_may_be_asked(name: str) -> None:
    """No text is too strange for a kind or none, yes or no."""
    assert named_kind(name) in (None, *Kind)
    for test in (names_hashes, names_country, names_something_else, names_unsupported_hash):
        assert test(name) in (True, False)


@each_case(
    "cells, named",
    [
        (["email", "phone"], True),
        (["Anneliese", "Quandt"], True),
        (["2019", "2020-01-31", "20200131", "31.12.2020"], True),
        (["", ""], True),
        (["1", "2", "3"], True),
        (["Anneliese", "anneliese@example.com"], False),
        ([" ANNELIESE@EXAMPLE.COM "], False),
        (["name", "+49 30 12345678"], False),
        (["name", "030 12345678"], False),
        (["name", "4155550123"], False),
        (["6D92078A-8246-4BA4-AE5B-76104861E7DC"], False),
        (["ab" * 32], False),
    ],
)
def test_an_identifier_among_the_cells_means_no_header(cells: list[str], named: bool) -> None:
    """Identifiers and long numbers are data; words, years and dates may be names."""
    assert is_header(cells) is named


def test_a_name_that_the_user_gave_is_a_header() -> None:
    """Whatever else stands beside it."""
    assert is_header([" Kunde ", "ann@example.com"], ("kunde",))


@each_case(
    "one, other",
    [("Email", "  EMAIL "), ("\ufeffemail", "email"), ("Straße", "STRASSE"), ("e\u0301", "\u00e9"), ("a \t b", "A B")],
)
def test_names_are_compared_without_case_space_and_mark(one: str, other: str) -> None:
    """Two that differ in nothing else are one name."""
    assert compare_key(one) == compare_key(other)


NAMES_HEADER = ("Email", "Kiyomitsu", "", "phone ", "EMAIL", "column9")


@pytest.fixture
def header() -> Header:
    """Six columns, two of them with the same name; the user wrote one name."""
    return Header.of(NAMES_HEADER, 6, ("kiyomitsu",))


@pytest.mark.parametrize(("position", "shown"), [(0, "Email"), (1, "Kiyomitsu"), (2, "column3"), (3, "phone")])
def test_names_are_shown_when_known_or_given(header: Header, position: int, shown: str) -> None:
    """Others are shown by their place, counted from 1."""
    assert header.shown(position) == shown


def test_names_that_were_not_given_are_not_shown() -> None:
    """The same header without the user's word."""
    assert Header.of(NAMES_HEADER, 6, ()).shown(1) == "column2"


@pytest.mark.parametrize(
    ("name", "position"), [("PHONE", 3), ("kiyomitsu", 1), ("column3", 2), ("Column1", 0), ("column9", 5)]
)
def test_columns_are_found_by_name_or_place(header: Header, name: str, position: int) -> None:
    """A literal name goes before a place."""
    assert header.find(name) == position


@pytest.mark.parametrize("name", ["mobile", "column7", "column0", "", "column", "columnx"])
def test_missing_columns_are_refused_with_what_there_is(header: Header, name: str) -> None:
    """The hint lists names that may be shown."""
    with pytest.raises(MappingRefused, match="no column") as caught:
        header.find(name)
    assert "phone" in caught.value.hint


def test_same_names_are_refused(header: Header) -> None:
    """With their places, by which they can be told apart."""
    with pytest.raises(MappingRefused, match="column1 and column5 have the same name"):
        header.find("email")


def test_columns_without_header_have_places_only() -> None:
    """The message says that there is no header."""
    header = Header.of(None, 3, ())
    assert header.listed() == "column1, column2, column3"
    assert header.find("column2") == 1
    with pytest.raises(MappingRefused, match="no header"):
        header.find("email")


def test_long_lists_are_cut() -> None:
    """A message stays readable."""
    assert Header.of(None, 100, ()).listed().endswith("column40 and 60 more")


def test_a_header_shows_no_names_itself(header: Header) -> None:
    """Its words may be personal."""
    assert "Kiyomitsu" not in repr(header)


@each_case(
    "cells, lost",
    [
        (["email", "ann@example.com", "bob@example.com"], True),
        (["first_name", 'web"Anneliese', "ann@example.com"], True),
        (["ann@example.com", "+493012345678"], False),
        (["email", "phone"], False),
        (["Anneliese", "ann@example.com"], False),
    ],
)
def test_a_file_without_line_ends_is_known_by_its_only_record(cells: list[str], lost: bool) -> None:
    """Names and people in one record were several records once."""
    assert is_whole_file(cells) is lost
