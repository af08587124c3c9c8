"""The vectors of the specification, decided a second time from the published text, and each difference explained.

The published text says less than the vectors do. A difference stands in one of three tables: the vectors clean a value
of which the text says nothing, and both agree once it is clean; the vectors refuse a value that the text does not
refuse; or the vectors part from the words of the text.
"""

from __future__ import annotations

import ast
import base64
import inspect
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

import idna
import pytest

from audiencekit.conformance.vectors import Vector
from tests.cases import each_case
from tests.conformance import second_implementation
from tests.conformance.second_implementation import Rejection, decide


class Difference(NamedTuple):
    """`counts` vectors of a spelling, by kind, that the second implementation decides otherwise, and why."""

    spelling: str
    counts: dict[str, int]
    why: str
    clean: Callable[[str], str] | None = None  # The step of the vectors before the rule of the text; None: they refuse.


def without(pattern: str, put: str = "") -> Callable[[str], str]:
    """A function that puts `put` in the place of `pattern`."""
    return lambda text: re.sub(pattern, put, text)


def with_plain_digits(text: str) -> str:
    """The text with the digits of all scripts as 0 to 9."""
    return "".join(str(unicodedata.digit(character, character)) for character in text)


def in_hex(text: str) -> str:
    """A digest in hex that is written in base64, or behind 0x or \\x."""
    if text.strip().endswith("="):
        return base64.b64decode(text).hex()
    return re.sub(r"^(0x|\\x)", "", text)


def with_ascii_domain(text: str) -> str:
    """The address with its domain as IDNA writes it in ASCII."""
    local, _, domain = text.strip().rpartition("@")
    return f"{local}@{idna.encode(domain, uts46=True).decode()}"


def composed(text: str) -> str:
    """The text in NFC."""
    return unicodedata.normalize("NFC", text)


CLEANED_FIRST = (
    Difference(
        "marks",
        {"email": 300, "handle": 180, "device_id": 150},
        "The text trims spaces; the vectors trim marks that cannot be seen, too.",
        without("[\u00ad\u200b-\u200f\u202a-\u202e\u2060\ufeff]"),
    ),
    Difference(
        "spreadsheet_text",
        {"handle": 180, "platform_id": 180, "device_id": 150},
        "The text does not know the signs by which a spreadsheet says that a value is text.",
        without('^(="|\')|"$'),
    ),
    Difference(
        "declared_hashed",
        {"email": 450},
        "The text asks for lower-case hex, and does not say that a digest in another notation is put into it.",
        in_hex,
    ),
    Difference(
        "quotes",
        {"email": 150},
        "The text does not take off quotes around the whole.",
        without("^[\"' ]+|[\"'; ]+$"),
    ),
    Difference("brackets", {"email": 150}, "The text does not take off angle brackets.", without("[<>]")),
    Difference("behind", {"email": 150}, "The text does not take off the signs of a list.", without("[,; ]+$")),
    Difference("scheme", {"email": 150}, "The text does not know mailto:.", without("^[A-Za-z]+:")),
    Difference("link", {"email": 150}, "The text does not know formulas of a link.", without('^=.*,"|"\\)$')),
    Difference("at_sign", {"handle": 180}, "The text knows the @ of ASCII only.", without("＠")),
    Difference(
        "profile",
        {"handle": 180},
        "The text does not know the address of a profile.",
        without(r"^.*(x|twitter)\.com/|/status/.*$"),
    ),
    Difference("other_digits", {"platform_id": 180}, "The text does not know other scripts.", with_plain_digits),
    Difference("braces", {"device_id": 150}, "The text does not know the braces of a registry.", without("[{}]")),
    Difference(
        "number_words",
        {"phone_number": 243},
        "The text does not say what happens with words beside a number.",
        without(r"^[A-Za-z.:]+ *|\(\w+\)$"),
    ),
    Difference("number_scheme", {"phone_number": 178}, "The text does not know tel:.", without("^[A-Za-z]+:")),
    Difference(
        "chat",
        {"phone_number": 204},
        "The text does not know the address of a chat.",
        without(r"^.*(wa\.me/|phone=)", "+"),
    ),
)

REFUSED = (
    Difference(
        "unassigned", {"phone_number": 726}, "E.164 gives lengths; the published example is in no assigned range."
    ),
    Difference("hash", {"handle": 236}, "The text does not say how a digest is told from a handle of 64 signs."),
    Difference("long", {"handle": 180}, "The text gives the signs of a handle, and no length."),
    Difference("masked", {"email": 178}, "The text does not speak of masked addresses; their signs are allowed."),
    Difference(
        "without_dashes",
        {"device_id": 150},
        "The text wants dashes, and does not say whether they may be put in; here they are.",
    ),
    Difference("reserved_domain", {"email": 120}, "The text does not say which domains are in use."),
    Difference("top_level", {"email": 120}, "The text does not say which top-level domains there can be."),
    Difference("signs", {"email": 120}, "The text does not say which signs beyond ASCII an address may have."),
    Difference("day", {"phone_number": 117}, "The text does not say that days are no numbers; lengths fit some."),
    Difference("extension", {"phone_number": 78}, "The text does not speak of extensions; E.164 has none to hash."),
    Difference(
        "placeholder",
        {"email": 72, "handle": 24},
        "The text has no list of words that mean no value; these have the form of an address or a handle.",
    ),
    Difference("invisible", {"phone_number": 43}, "The text does not say whether such marks part digits as spaces do."),
    Difference("hash_of_nothing", {"email": 13}, "The text names the digest of the empty text only."),
    Difference("shared_device", {"device_id": 4}, "The text does not say which ids many devices share."),
    Difference("zeros", {"device_id": 3}, "The text does not say what an id of zeros means."),
)

AGAINST_THE_WORDS = (
    Difference(
        "international_domain",
        {"email": 1080},
        'The text says "trim, lower-case; nothing else", so the domain stays; the vectors hash it in ASCII.',
        with_ascii_domain,
    ),
    Difference(
        "composed",
        {"email": 239},
        'The text says "trim, lower-case; nothing else", so accents stay as written; the vectors hash them in NFC.',
        composed,
    ),
    Difference(
        "spreadsheet_text",
        {"email": 150},
        'The text says "nothing else", and an apostrophe may begin an address; the vectors take it off.',
        without('^(="|\')|"$'),
    ),
    Difference(
        "counted",
        {"phone_number": 13},
        "The published example is +11234567890, with its digest; the vectors refuse it and all that count so.",
    ),
    Difference(
        "invisible", {"partner_user_id": 120}, 'The text says "passed as is"; the vectors refuse a mark inside it.'
    ),
    Difference(
        "personal", {"partner_user_id": 56}, 'The text says "passed as is"; the vectors refuse what looks personal.'
    ),
    Difference(
        "placeholder", {"partner_user_id": 12}, 'The text says "passed as is"; the vectors refuse words for no value.'
    ),
)

EXPLAINED = CLEANED_FIRST + REFUSED + AGAINST_THE_WORDS

PUBLISHED = (  # The facts, section 10: digests that the service printed, and those computed of its examples.
    ("handle", "@Twitter", "7352f353c460e74c7ae226952d04f8aa307b12329c5512ec8cb6f1a0f8f9b2cb"),
    ("handle", "adsapi", "49e0be2aeccfb51a8dee4c945c8a70a9ac500cf6f5cb08112575f74db9b1470d"),
    ("email", " ABC@twitter.com", "4798b8bbdcf6f2a52e527f46a3d7a7c9aefb541afda03af79c74809ecc6376f3"),
    ("email", "a+1@xyz.com", "27a1b87036e9b0f43235026e7cb1493f1838b6fe41965ea04486d82e499f8401"),
    ("phone_number", "+1 123 456 7890", "1fa6b8d986d9b9cd01bf36951815158bbde9f520c0567c835dfe34783d0a4231"),
    ("platform_id", "0123346", "c623c7e163984493b46c547088542e95d0aaa529bc52bbecce3ff91eb6b7843b"),
    (
        "device_id",
        "4B61639E-47CC-4056-A16A-C8217E029462",
        "225859d35b46df63b4fb381eb3f815b2ef4620bec0a79f2115a6a3eb71a5fa1a",
    ),
    ("device_id", "af3802a465767e36", "38bb33cb239524887c276ca99f9a077bc7161629804b914f4fd52e19dcffe92c"),
)


@pytest.fixture(scope="module", params=[10, pytest.param(1, marks=pytest.mark.slow)])
def differing(request: pytest.FixtureRequest, every_vector: list[Vector]) -> list[Vector]:
    """The vectors that the second implementation decides otherwise, of every tenth or of all."""
    return [vector for vector in every_vector[:: request.param] if not agrees(vector, vector.input)]


def agrees(vector: Vector, text: str) -> bool:
    """Whether the decision about `text` is that of the vector: refused, or the same normal form and digest."""
    decision = decide(vector.kind, text, vector.country, declared_hashed=vector.declared_hashed)
    if isinstance(decision, Rejection):
        return vector.reason is not None
    return vector.reason is None and decision == (vector.normalised, vector.digest)


def rows() -> Iterator[tuple[tuple[str, str], int]]:
    """The tables, as ((kind, spelling), count)."""
    for difference in EXPLAINED:
        for kind, count in difference.counts.items():
            yield (kind, difference.spelling), count


@pytest.mark.slow
@pytest.mark.parametrize("differing", [1], indirect=True)
def test_each_vector_agrees_or_its_difference_is_explained(differing: list[Vector]) -> None:
    """The second implementation decides as the vectors do, but for the counted differences of the tables."""
    assert len({key for key, _ in rows()}) == len(list(rows()))
    assert Counter((vector.kind, vector.spelling) for vector in differing) == dict(rows())


def test_differences_of_form_vanish_when_the_value_is_cleaned_first(differing: list[Vector]) -> None:
    """The vectors go beyond the text only as the tables say: with this step first, both have one result."""
    clean = {(kind, row.spelling): row.clean for row in EXPLAINED for kind in row.counts}
    left = Counter[tuple[str, str]]()
    for vector in differing:
        if cleaner := clean.get((vector.kind, vector.spelling)):
            left[vector.kind, vector.spelling] += not agrees(vector, cleaner(vector.input))
    assert not +left


def test_other_differences_are_values_that_only_the_vectors_refuse(differing: list[Vector]) -> None:
    """Without such a form in the tables the vector refuses; no other digest is hidden there."""
    formed = {(kind, row.spelling) for row in EXPLAINED if row.clean for kind in row.counts}
    assert all(vector.reason for vector in differing if (vector.kind, vector.spelling) not in formed)


@each_case("kind, text, digest", PUBLISHED)
def test_published_digests_are_met(kind: str, text: str, digest: str) -> None:
    """Examples with a published digest have it."""
    decision = decide(kind, text)
    assert not isinstance(decision, Rejection)
    assert decision[1] == digest


def test_the_second_implementation_knows_nothing_of_the_package() -> None:
    """It imports the standard library, idna and phonenumbers, and no module by its name as text."""
    tree = ast.parse(inspect.getsource(second_implementation))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported == {"__future__", "dataclasses", "hashlib", "idna", "phonenumbers", "re"}
    assert not re.search(r"__import__|importlib|exec\(|eval\(", inspect.getsource(second_implementation))
