"""Which header words are known, and therefore shown."""

from __future__ import annotations

from hypothesis import example, given, settings, strategies as st

from audiencekit.sources.columns.vocabulary import VOCABULARY, is_showable, words, words_of
from tests.cases import each_case


@each_case(
    "name, found",
    [
        ("email", ("email",)),
        ("E-Mail", ("email",)),
        ("e_mail", ("email",)),
        ("eMail", ("email",)),
        ("E-Mail-Adresse", ("email", "adresse")),
        ("EmailAddress", ("email", "address")),
        ("emailaddress", ("email", "address")),
        ("\ufeffEmail", ("email",)),
        ("phone1", ("phone", "1")),
        ("Téléphone portable", ("telephone", "portable")),
        ("Telefonnummer", ("telefonnummer",)),
        ("Straße", ("strasse",)),
        ("userid", ("user", "id")),
        ("email_sha256", ("email", "sha", "256")),
        ("twitterID", ("twitter", "id")),
        ("IDFA", ("idfa",)),
        ("phoneno", ("phone", "no")),
        ("telnr", ("tel", "nr")),
        ("createdby", ("created", "by")),
        ("rowid", ("row", "id")),
        ("telmobile", ("tel", "mobile")),
        ("Kiyomitsu", ("kiyomitsu",)),
        ("", ()),
        ("---", ()),
    ],
)
def test_headers_fall_into_words(name: str, found: tuple[str, ...]) -> None:
    """Case, accents, camel case, compounds and digits are taken apart."""
    assert words_of(name) == found


@each_case(
    "name",
    sorted(
        words(
            """Maiden Maidin Maidla Melville Mella Melby Melen Formel Mailand Maille Cellat Tello Cellar Madison Rowland
            Ismail Leland Ella Ada Elin Casano Viano David Handel"""
        )
    ),
)
def test_words_that_only_look_like_compounds_stay_whole(name: str) -> None:
    """Short words, articles and the names of places end many words by chance; those words may be names of people."""
    assert words_of(name) == (name.casefold(),)


@each_case(
    "name",
    [
        *("email", "E-Mail (privat)", "Phone 1 - Value", "Kundennummer", "Correo electrónico"),
        *("Numéro de téléphone", "Indirizzo e-mail", "Número de telemóvel", "Mobiel nummer"),
        *("hashed_email_sha256", "x", "2024", "first_name"),
    ],
)
def test_known_words_are_shown(name: str) -> None:
    """In the languages of contact lists."""
    assert is_showable(name)


@each_case(
    "name",
    [
        "Kiyomitsu",
        "Anneliese Quandt",
        "ann@example.com",
        "+49 30 12345678",
        "4155550123",
        "email Anneliese",
        "email\x1b[31m",
        "email\u202e",
        "email " * 30,
        "",
        "  ",
        "東京",
        "नीता",
        "মীনা",
        "จีน",
        "林",
        "Maiden",
        "Rowland",
        "Ismail",
    ],
)
def test_anything_else_may_be_a_person(name: str) -> None:
    """One unknown word, many digits or a sign that does not print hides the name."""
    assert not is_showable(name)


@settings(deadline=None)
@example("𝚨")  # no capital itself, it stands for one
@given(st.text(max_size=40))
def test_any_header_has_words(name: str) -> None:
    """No text is too strange, and words are plain."""
    assert all(word == word.casefold() and word.isalnum() for word in words_of(name))


def test_the_vocabulary_is_plain() -> None:
    """Entries with accents or capitals would never match."""
    assert all(words_of(word) == (word,) for word in VOCABULARY)
    assert len(VOCABULARY) > 300
