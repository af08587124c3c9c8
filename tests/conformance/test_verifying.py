"""Lists, functions and programs as they are given."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest

import audiencekit
from audiencekit.conformance.verifying import verify_command
from audiencekit.errors import InputOutputFailed, MappingRefused, UsageError
from tests.cases import each_case

PEOPLE = [{"email": f" P{number}@Example.com", "country": "DE"} for number in range(12)]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


RIGHT = [_digest(person["email"].strip().lower()) for person in PEOPLE]


def _csv(tmp_path: Path, name: str, lines: list[str]) -> str:
    (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    return str(tmp_path / name)


@pytest.mark.parametrize(
    "lines",
    [
        ["email", *RIGHT],
        ["email_sha256", *RIGHT],
        ["id,x", *(f"{place},{digest}" for place, digest in enumerate(RIGHT))],
        RIGHT,
        RIGHT[::-1],
        [*RIGHT[::-1], RIGHT[0]],
    ],
    ids=["name", "kind", "only hashes", "no header", "any order", "one twice"],
)
def test_the_column_of_digests_is_recognised(tmp_path: Path, lines: list[str]) -> None:
    """By name, by kind, or as the only one that holds digests."""
    found = audiencekit.verify(PEOPLE, _csv(tmp_path, "hashed.csv", lines))
    assert (found.verdict, found.right, found.faults) == ("right", 12, ())


def test_digests_in_a_form_of_their_own_are_no_header(tmp_path: Path) -> None:
    """The first MD5 of a file is not its header."""
    md5 = [
        hashlib.md5(person["email"].strip().lower().encode(), usedforsecurity=False).hexdigest() for person in PEOPLE
    ]
    found = audiencekit.verify(PEOPLE, _csv(tmp_path, "hashed.csv", md5))
    assert [(fault.code, fault.rows) for fault in found.faults] == [("md5", 12)]


def test_values_without_a_digest_and_digests_of_other_rows_are_counted() -> None:
    """Neither is a fault of one value."""
    moved = [*RIGHT[:8], RIGHT[9], RIGHT[8], "", RIGHT[11]]
    found = audiencekit.verify(PEOPLE, [{"email": digest} for digest in moved])
    assert {fault.code: fault.rows for fault in found.faults} == {"other_row": 2, "left_out": 1}
    assert (found.right, found.wrong) == (9, 3)


def test_the_same_fault_in_two_columns_is_told_of_each() -> None:
    """Twice the same count and fault would read like an error of ours."""
    people = [{"email": f"p{number}@example.com", "handle": f"person_{number}"} for number in range(5)]
    lines = audiencekit.verify(people, people).to_text().splitlines()
    assert lines[1] == "5 people wrong: 5 not hashed in email, 5 not hashed in handle"


def test_digests_that_no_fault_explains_are_unknown() -> None:
    """A salt cannot be seen."""
    found = audiencekit.verify(PEOPLE[:3], [{"email": _digest(f"salt{digest}")} for digest in RIGHT[:3]])
    assert {fault.code: fault.rows for fault in found.faults} == {"unknown": 3}


def test_digests_of_people_who_are_not_in_the_list_are_noted() -> None:
    """They are no fault."""
    found = audiencekit.verify(PEOPLE, [{"email": digest} for digest in [*RIGHT, _digest("a"), _digest("b")]])
    assert found.verdict == "right"
    assert found.notes == ("2 digests belong to no value of column email",)


def test_no_value_and_no_digest_is_in_a_result() -> None:
    """Nor in its text."""
    found = audiencekit.verify(PEOPLE, [{"email": _digest(person["email"])} for person in PEOPLE])
    shown = f"{found!r}{found}{found.to_json()}"
    assert found.exit_code == 3
    assert not any(f"{number}@" in shown.lower() for number in range(12))
    assert RIGHT[0] not in shown


def test_columns_are_named_where_they_are_not_recognised() -> None:
    """Without a column of digests there is nothing to compare."""
    hashed = [{"a": digest, "b": _digest(digest)} for digest in RIGHT]
    with pytest.raises(MappingRefused, match="digests of email"):
        audiencekit.verify(PEOPLE, hashed)
    assert audiencekit.verify(PEOPLE, hashed, hashed_columns={"email": "a"}).verdict == "right"
    with pytest.raises(MappingRefused, match="no column of identifiers"):
        audiencekit.verify([{"a": "1"}], hashed)


def _own_rule(text: str, country: str | None) -> str:
    return audiencekit.hash_identifier("handle", text, country=country)


def test_a_right_function_is_right() -> None:
    """It raises where it refuses a value."""
    assert audiencekit.verify_function(_own_rule, kind="handle").verdict == "right"


def test_the_faults_of_a_function_are_named() -> None:
    """Of handles: a sign that stays, an address, and values that are refused."""
    found = audiencekit.verify_function(lambda text, country: _digest(text.strip().lower()), kind="handle")
    assert {"at_sign", "profile_address", "hashed_again", "placeholder_hashed"} <= {each.code for each in found.faults}
    assert found.subject == "vectors"


@each_case("kind, country", [("partner_user_id", None), ("nonsense", None), ("email", "Atlantis")])
def test_an_invalid_kind_or_country_is_refused(kind: str, country: str | None) -> None:
    """Before the function is called."""
    with pytest.raises(UsageError):
        audiencekit.verify_function(_own_rule, kind=kind, country=country)


def test_a_program_gets_vectors_and_none_of_our_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One value a line; no shell takes part."""
    monkeypatch.setenv("AUDIENCEKIT_CONSUMER_SECRET", "hidden")
    program = tmp_path / "hash me.py"
    program.write_text(
        "import hashlib, os, sys\n"
        "secret = any(name.startswith('AUDIENCEKIT_') for name in os.environ)\n"
        "for line in sys.stdin:\n"
        "    print('' if secret else hashlib.sha256(line.strip().lower().encode()).hexdigest())\n"
    )
    found = verify_command([sys.executable, str(program)], kind="device_id")
    assert found.right > 500
    assert "brackets" in {fault.code for fault in found.faults}


@each_case("code", ["", "print()", "raise SystemExit(9)"])
def test_a_program_that_fails_is_told(code: str) -> None:
    """It prints too few lines, or ends with another exit code."""
    with pytest.raises(InputOutputFailed, match="the program"):
        verify_command([sys.executable, "-c", code], kind="handle")


def test_a_program_that_is_missing_is_told() -> None:
    """No program of the working directory is started."""
    with pytest.raises(UsageError, match="not found"):
        verify_command(["./no-such-program"], kind="handle")
