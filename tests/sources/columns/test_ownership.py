"""Columns of other people: left out of a list that is put in, counted in any other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from audiencekit.errors import MappingRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.sources.columns.ownership import names_own
from audiencekit.sources.source import Source
from tests.cases import each_case

Open = Callable[..., Source]
OWN = """Email, E-mail 2 Address, Default Address Phone, Handy, Home Phone 2, Work Email, E-Mail geschäftlich,
Telefon privat, Téléphone portable, Courriel professionnel, Correo electrónico personal, Teléfono fijo, Cellulare,
Email aziendale, Telemóvel, E-mail pessoal, Telefoon thuis, Mobiel nummer, Alt Phone, Billing Email, email_1,
phone_home, Company Main Phone, E-mail 1 - Value, Person - Email - Work, Recovery Email, Weitere Telefonnummer"""
OTHERS = """Parent 1 Email, Guardian Phone, Father's Email, Coach Email, HR Phone, Eltern E-Mail, Vermieter Telefon,
Email du parent, Correo del padre, Email genitore, E-mail do responsável, E-mail ouder, Nachbar Telefon, Owner Phone,
Opted-out Email, Blocked Phone, DNC Phone, Bounce Email, Old Email, Previous Email, E-Mail alt, Other Contact Phone"""


@each_case("name", [name.strip() for name in OWN.split(",")])
def test_names_of_ones_own(name: str) -> None:
    """As address books and shops write them."""
    assert names_own(name)


@each_case("name", [name.strip() for name in OTHERS.split(",")])
def test_names_of_others(name: str) -> None:
    """Known words or not: no list of strangers is whole."""
    assert not names_own(name)


def _list(*names: str, rows: int = 20) -> bytes:
    kinds = ["phone" if "Phone" in name else "email" for name in names]
    people = [
        ",".join(
            f"+121223456{row:02}" if kind == "phone" else f"p{row}.{place}@example.com"
            for place, kind in enumerate(kinds)
        )
        for row in range(rows)
    ]
    return "\n".join([",".join(names), *people, ""]).encode()


def _mapped(source: Source) -> list[str]:
    return [column.name for column in source.mapping.columns]


def test_others_are_left_out_and_named(open_bytes: Open) -> None:
    """Also where the name is of unknown words; the other columns stay."""
    data = _list("Email", "Coach Email", "Zaphod Email", "Work Email", "Phone", "Doctor Phone")
    source = open_bytes(data, puts_in=True)
    assert _mapped(source) == ["Email", "Work Email", "Phone"]
    for name in ("Coach Email", "Zaphod Email", "Doctor Phone"):
        assert any(note.startswith(f"{name}: left out") for note in source.notes)
    assert source.warnings == ()


def test_each_counts_where_people_are_kept_out(open_bytes: Open) -> None:
    """A person who is missed would be reached."""
    names = ("Email", "Coach Email", "Opted-out Email", "Phone", "Doctor Phone")
    for options in ({}, {"every_form": True}):
        source = open_bytes(_list(*names), **options)
        assert len(source.mapping.columns) == len(names)


@each_case(
    "name",
    [
        *("Bounced Email", "unsubscribed_email", "opt_out_email", "Invalid Email", "deleted_email", "Inactive email"),
        *("Email (bounced)", "What is your email address?", "Referred By (Email)", "Correo del vendedor"),
    ],
)
def test_no_name_keeps_a_column_of_people_to_keep_out_from_being_read(open_bytes: Open, name: str) -> None:
    """A list of bounces has its people in `Bounced Email`: passed over, they would be sent."""
    for names in ((name,), ("Email", name), (name, "Email")):
        source = open_bytes(_list(*names), every_form=True)
        assert sorted(column.position for column in source.mapping.columns) == list(range(len(names)))


def test_a_list_of_people_to_take_out_asks_for_other_people(open_bytes: Open) -> None:
    """Its own columns count whatever happened to them; a referrer did not ask to be taken out."""
    assert _mapped(open_bytes(_list("Email", "Unsubscribed Email"))) == ["Email", "Unsubscribed Email"]
    with pytest.raises(
        MappingRefused, match="column Referrer Email seems to have the addresses of other people"
    ) as asked:
        open_bytes(_list("Email", "Referrer Email"))
    assert "`ignore=['Referrer Email']`" in asked.value.hint
    assert _mapped(open_bytes(_list("Email", "Referrer Email"), ignore=("Referrer Email",))) == ["Email"]


def test_a_question_to_the_person_is_their_own(open_bytes: Open) -> None:
    """As forms head their columns."""
    assert _mapped(open_bytes(_list("What is your email address?"), puts_in=True)) == ["column1"]
    assert _mapped(open_bytes(_list("Email", "is your email valid"), puts_in=True)) == ["Email"]


def test_another_kind_of_the_person_is_enough(open_bytes: Open) -> None:
    """Known words of others count beside any column of the person; alone they are who the list is of."""
    assert _mapped(open_bytes(_list("Email", "Doctor Phone"), puts_in=True)) == ["Email"]
    assert _mapped(open_bytes(_list("Email", "Zaphod Phone"), puts_in=True)) == ["Email", "column2"]
    assert _mapped(open_bytes(_list("Parent Email", "Parent Phone"), puts_in=True)) == ["column1", "column2"]
    assert _mapped(open_bytes(_list("Opted-out Email"), puts_in=True)) == []


def test_a_column_that_is_left_out_can_be_mapped(open_bytes: Open) -> None:
    """With each other one that is meant."""
    columns = ((Kind.EMAIL, "Email"), (Kind.EMAIL, "Coach Email"))
    source = open_bytes(_list("Email", "Coach Email"), puts_in=True, columns=columns)
    assert _mapped(source) == ["Email", "Coach Email"]


def test_people_who_are_lost_by_it_are_counted(open_bytes: Open) -> None:
    """Those who have an identifier nowhere else."""
    data = b"Email,Coach Email\n" + b"a@example.com,b@example.com\n" * 10 + b",c@example.com\n" * 4 + b",\n"
    (warning,) = open_bytes(data, puts_in=True).warnings
    assert (warning.code, warning.count) == ("left_out", 4)
    assert "Coach Email" in warning.message


def test_a_list_that_also_takes_people_out_is_asked(open_bytes: Open) -> None:
    """Left out, its Deletes would be missed; taken, strangers would be put in."""
    data = b"Email,Coach Email,op\n" + b"a@example.com,b@example.com,update\n" * 10
    with pytest.raises(MappingRefused, match="Coach Email may be of other people") as caught:
        open_bytes(data, puts_in=True, operation_column="op")
    assert "`ignore=['Coach Email']`" in caught.value.hint
    assert _mapped(open_bytes(data, puts_in=True, operation_column="op", ignore=("Coach Email",))) == ["Email"]


def test_a_name_that_looks_like_a_value_is_not_shown(open_bytes: Open) -> None:
    """An address is a person, also as a header that was named by hand."""
    data = b"Email,b@example.com\n" + b"a@example.com,b@example.com\n" * 3
    source = open_bytes(data, puts_in=True, header=True)
    assert any(note.startswith("column2: left out") for note in source.notes)
    assert "b@example.com" not in " ".join(source.notes)


ADDRESSES = [f"p{n}@example.com" for n in range(30)]


@each_case(
    "data",
    [
        ", ".join(ADDRESSES),
        "\n".join("; ".join(ADDRESSES[start : start + 10]) for start in range(0, 30, 10)),
        "\n".join(";".join(ADDRESSES[start : start + 2]) for start in range(0, 30, 2)),
        "Red;Green\n" + "\n".join(";".join(ADDRESSES[start : start + 2]) for start in range(0, 30, 2)),
    ],
)
def test_a_person_a_cell_is_refused(open_bytes: Open, data: str) -> None:
    """It would be one person a row; where people are kept out, all count."""
    with pytest.raises(MappingRefused, match="each cell may be another person"):
        open_bytes(data.encode(), puts_in=True)
    assert open_bytes(data.encode()).mapping.columns


def test_columns_with_names_are_no_cells_of_people(open_bytes: Open) -> None:
    """However many they are, and however few rows there are."""
    names = [f"Email {number}" for number in range(1, 9)]
    assert _mapped(open_bytes(_list(*names, rows=1), puts_in=True)) == names
    without = b"Ada,ada@example.com,ada@example.org\n" * 3
    assert len(open_bytes(without, puts_in=True).mapping.columns) == 2


def test_all_of_a_column_of_addresses(open_bytes: Open, rows_of: Callable[[Source], list[dict[str, Any]]]) -> None:
    """One column is a list of people."""
    assert len(rows_of(open_bytes("\n".join(ADDRESSES).encode(), puts_in=True))) == 30
