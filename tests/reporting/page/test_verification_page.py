"""The page of a verification: its numbers are those of the document, and a shared one gives away no small count."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import example, given, settings, strategies as st

from audiencekit.conformance.verifying import verify, verify_function
from audiencekit.reporting.page.page_parts import View
from audiencekit.reporting.page.privacy import FLOOR
from audiencekit.reporting.page.verification_page import verification_page
from tests.examples import examples
from tests.reporting.page.test_privacy import neighbours
from tests.reporting.webpages import PageNumbers, number_at

SHARED, OWN = View(is_floored=True), View()
RIGHT, ABSENT = "right", ""
FAULTS = {"email": ("white_space", "upper_case"), "phone": ("no_plus",)}
Person = tuple[str, str]  # what the digests of the address and of the number are
PEOPLE: list[Person] = [
    (email, phone)
    for email in (RIGHT, ABSENT, *FAULTS["email"])
    for phone in (RIGHT, ABSENT, *FAULTS["phone"])
    if email or phone
]
LISTS = st.dictionaries(st.sampled_from(PEOPLE), st.integers(1, 30), min_size=1, max_size=5).map(Counter)


def document_of(people: Counter[Person]) -> dict[str, Any]:
    """The verification of lists with so many people of each sort."""
    of_column = {"email": Counter[str](), "phone": Counter[str]()}
    wrong = 0
    for (email, phone), times in people.items():
        wrong += times if {email, phone} - {RIGHT, ABSENT} else 0
        of_column["email"][email] += times
        of_column["phone"][phone] += times
    columns, faults = [], []
    for name, counts in of_column.items():
        lost = sum(counts[code] for code in FAULTS[name])
        counted = {"values": counts[RIGHT] + lost, "right": counts[RIGHT], "wrong": lost}
        columns.append({"column": name, "hashed_column": f"{name}_sha256", "kind": name, **counted})
        faults += [
            {"code": code, "column": name, "rows": counts[code], "share": 0.5, "message": "it stays", "remedy": "mend"}
            for code in FAULTS[name]
            if counts[code]
        ]
    return {
        "subject": "people", "right": people.total() - wrong, "wrong": wrong, "same_rows": True, "columns": columns,
        "faults": sorted(faults, key=lambda fault: (fault["code"], fault["column"])), "notes": [],
        "remedy": "mend" if wrong else None, "verdict": "wrong" if wrong else "right",
    }  # fmt: skip


def counts_of(document: dict[str, Any]) -> dict[str, int]:
    """All counts of a document, by what they count."""
    counts = {"right": document["right"], "wrong": document["wrong"]}
    for column in document["columns"]:
        counts |= {f"{column['column']} {name}": column[name] for name in ("values", "right", "wrong")}
    return counts | {f"{fault['code']} {fault['column']}": fault["rows"] for fault in document["faults"]}


@given(people=LISTS)
@example(people=Counter({(RIGHT, RIGHT): 850, ("white_space", RIGHT): 3}))
@example(people=Counter({(RIGHT, RIGHT): 850, ("white_space", "no_plus"): 3, (ABSENT, RIGHT): 40}))
@settings(max_examples=examples(30), deadline=None)
def test_a_hidden_count_could_be_another_one(people: Counter[Person]) -> None:
    """For a reader who knows all sums: other lists with another such count have the same page."""
    document = document_of(people)
    counts, page = counts_of(document), verification_page(document, SHARED)
    small = {key for key, number in counts.items() if 0 < number < FLOOR}
    for other in map(document_of, neighbours(people, PEOPLE) if small else ()):
        changed = {key for key in small if counts_of(other).get(key, 0) != counts[key]}
        if changed and verification_page(other, SHARED) == page:
            small -= changed
    assert small == set()


def test_the_numbers_are_those_of_the_document() -> None:
    """All of them, with the remedy of each fault; the owner sees small ones, and is told how to hide them."""
    document = document_of(Counter({(RIGHT, RIGHT): 850, ("white_space", RIGHT): 3, (RIGHT, "no_plus"): 40}))
    text = verification_page(document, OWN)
    page = PageNumbers(text)
    assert page.cells == {key: number_at(document, key) for key in page.cells}
    assert {"faults.0.rows", "faults.1.rows", "columns.0.wrong", "columns.1.values"} <= page.cells.keys()
    assert page.loaded == []
    assert "850 of 893 people right – 95.2\u00a0%" in page.text
    assert "43 people wrong. Most would be mended so: mend." in page.text
    assert "white space in email" in page.text
    assert "email (email), digests in email_sha256" in page.text
    assert "`share=True` hides them" in page.text


def test_counts_without_a_small_one_are_exact_on_a_shared_page() -> None:
    """Nothing is rounded without need; a page that hides something says so."""
    many = document_of(Counter({(RIGHT, RIGHT): 850, ("white_space", RIGHT): 43}))
    assert "850 of 893 people right" in PageNumbers(verification_page(many, SHARED)).text
    few = document_of(Counter({(RIGHT, RIGHT): 850, ("white_space", RIGHT): 3}))
    shared = PageNumbers(verification_page({**few, "notes": ["3 digests belong to no value"]}, SHARED))
    assert "about 850 of about 850 people right" in shared.text
    assert "fewer than 10 digests belong to no value" in shared.text
    assert not shared.cells.keys() & {"right", "wrong", "faults.0.rows"}


def test_real_verifications_have_their_page() -> None:
    """Of lists, also without a right digest, and of vectors, which are invented: their counts are never hidden."""
    wrong = verify([{"email": "ada@example.com"}], [{"email_sha256": "0" * 64}])
    assert "0 of 1 people right" in PageNumbers(verification_page(wrong.to_json(), OWN)).text
    vectors = verify_function(lambda text, _: text, kind="handle").to_json()
    page = PageNumbers(verification_page(vectors, SHARED))
    assert f"of {vectors['wrong'] + vectors['right']:,} vectors right" in page.text
    assert "invented people" in page.text
    assert page.cells == {key: number_at(vectors, key) for key in page.cells}
