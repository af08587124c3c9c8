"""Every form that an identifier can have been sent in."""

from __future__ import annotations

import hashlib
import uuid

import pytest
from hypothesis import given, strategies as st

from audiencekit.audiences.erasure import forms
from audiencekit.audiences.erasure.forms import FORMS, forms_of, keys_of, keys_of_hash
from audiencekit.identifiers.definition import normalize_identifier
from audiencekit.identifiers.kinds import Kind, Reason, Rules

DEVICE = "4b61639e-47cc-4056-a16a-c8217e02946b"
HASH = hashlib.sha256(b"ada@example.org").hexdigest()


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (Kind.EMAIL, " Ada@Example.ORG ", {"ada@example.org"}),
        (Kind.EMAIL, "ada@Bücher.example.com", {"ada@bücher.example.com", "ada@xn--bcher-kva.example.com"}),
        (Kind.PHONE_NUMBER, "+49 151 12345678", {"+4915112345678", "4915112345678"}),
        (Kind.PHONE_NUMBER, "0151 12345678", {"+4915112345678", "4915112345678"}),
        (Kind.DEVICE_ID, DEVICE, {DEVICE, DEVICE.upper()}),
        (Kind.DEVICE_ID, f"{{{DEVICE.title()}}}", {DEVICE, DEVICE.title(), DEVICE.upper()}),
        (Kind.DEVICE_ID, "AF3802A465767E36", {"af3802a465767e36", "AF3802A465767E36"}),
        (Kind.HANDLE, "@Ada_L", {"ada_l", "@ada_l"}),
        (Kind.PLATFORM_ID, "00143567", {"143567"}),
        (Kind.PARTNER_USER_ID, "crm-17", {"crm-17", hashlib.sha256(b"crm-17").hexdigest()}),
        (Kind.PARTNER_USER_ID, " crm-17 ", {" crm-17 ", "crm-17", hashlib.sha256(b"crm-17").hexdigest()}),
    ],
)
def test_the_forms_of_each_kind(kind: Kind, text: str, expected: set[str]) -> None:
    """Those of the table, and no other."""
    assert forms_of(kind, text, default_country="DE") == expected


def test_a_number_that_is_only_possible_was_sent_by_who_allowed_it() -> None:
    """Both settings of --phone-validity are tried."""
    assert forms_of(Kind.PHONE_NUMBER, "+4915000000001") == {"+4915000000001", "4915000000001"}


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        (Kind.EMAIL, "ada@", Reason.INVALID_SYNTAX),
        (Kind.PHONE_NUMBER, "0151 12345678", Reason.NO_COUNTRY),
        (Kind.DEVICE_ID, "0" * 16, Reason.ZEROED),
        (Kind.HANDLE, "", Reason.EMPTY),
    ],
)
def test_an_invalid_identifier_has_the_reason_of_the_definition(kind: Kind, text: str, reason: Reason) -> None:
    """National digits without a country are refused: they could be another person's number."""
    assert forms_of(kind, text) is reason


def test_keys_are_hashed_but_for_partner_user_ids() -> None:
    """As they stand in a request."""
    assert keys_of(Kind.EMAIL, "ada@example.org") == {HASH}
    assert "crm-17" in (keys_of(Kind.PARTNER_USER_ID, "crm-17"))  # type: ignore[operator]


def test_of_a_hash_there_is_one_form() -> None:
    """The form is in lower case; hashes of placeholders are refused."""
    assert keys_of_hash(HASH.upper()) == {HASH}
    assert keys_of_hash(hashlib.sha256(b"").hexdigest()) is Reason.HASH_OF_PLACEHOLDER


def test_every_form_has_its_source() -> None:
    """In words."""
    assert all(form.words and form.source for form in FORMS)


def test_a_kind_without_a_row_has_its_normal_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that an erasure names people of a kind that is new."""
    monkeypatch.setattr(forms, "FORMS", ())
    assert {forms_of(kind, text) for kind, text in ((Kind.HANDLE, "@Ada"), (Kind.HANDLE, "ada"))} == {
        frozenset({"ada"})
    }


TEXTS = st.one_of(
    st.tuples(st.just(Kind.EMAIL), st.emails()),
    st.tuples(st.just(Kind.PHONE_NUMBER), st.from_regex(r"(\+49|0049|0)1[5-7][0-9]{8,9}", fullmatch=True)),
    st.tuples(st.just(Kind.PHONE_NUMBER), st.from_regex(r"\+?[1-9][0-9 ]{6,14}", fullmatch=True)),
    st.tuples(st.just(Kind.DEVICE_ID), st.uuids().map(lambda one: str(uuid.UUID(int=one.int)).title())),
    st.tuples(st.just(Kind.HANDLE), st.from_regex(r"@?\w{1,15}", fullmatch=True)),
    st.tuples(st.just(Kind.PLATFORM_ID), st.from_regex(r"[0-9]{1,19}", fullmatch=True)),
    st.tuples(st.just(Kind.PARTNER_USER_ID), st.text(max_size=12)),
)
RULES = st.builds(
    Rules,
    default_country=st.just("DE"),
    phone_validity=st.sampled_from(["valid", "possible"]),
    phone_form=st.sampled_from(["e164", "digits"]),
    device_id_case=st.sampled_from(["lower", "as_given"]),
)


@given(TEXTS, RULES)
def test_the_value_sent_under_any_switch_is_among_the_forms(identifier: tuple[Kind, str], rules: Rules) -> None:
    """Whatever an upload made of the same text."""
    kind, text = identifier
    sent = normalize_identifier(kind, text, rules=rules)
    forms = forms_of(kind, text, default_country="DE")
    if isinstance(sent, Reason):
        return
    assert not isinstance(forms, Reason)
    assert sent in forms
