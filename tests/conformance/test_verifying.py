"""Lists, functions and programs as they are given."""

from __future__ import annotations

import hashlib
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import audiencekit
from audiencekit.conformance import verifying
from audiencekit.conformance.vectors import Vector
from audiencekit.conformance.verifying import verify_command, verify_function, verify_sql, verify_url
from audiencekit.errors import InputOutputFailed, MappingRefused, UsageError
from tests.cases import each_case

PEOPLE = [{"email": f" P{number}@Example.com", "country": "DE"} for number in range(12)]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


RIGHT = [_digest(person["email"].strip().lower()) for person in PEOPLE]


def _csv(tmp_path: Path, name: str, lines: list[str]) -> str:
    (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    return str(tmp_path / name)


@each_case(
    "lines",
    [
        ["email", *RIGHT],
        ["email_sha256", *RIGHT],
        ["id,x", *(f"{place},{digest}" for place, digest in enumerate(RIGHT))],
        RIGHT,
        RIGHT[::-1],
        [*RIGHT[::-1], RIGHT[0]],
    ],
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
    found = audiencekit.verify(PEOPLE[:1], [{"email": _digest(f"salt{RIGHT[0]}")}])
    assert {fault.code: fault.rows for fault in found.faults} == {"unknown": 1}


def test_digests_of_people_who_are_not_in_the_list_are_noted() -> None:
    """They are no fault."""
    found = audiencekit.verify(PEOPLE, [{"email": digest} for digest in [*RIGHT, _digest("a"), _digest("b")]])
    assert found.verdict == "right"
    assert found.notes == ("2 digests belong to no value of column email",)


def _both(emails: list[int], phones: list[int]) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Twelve people, and the digests of theirs with these numbers; the last two share a telephone."""
    numbers = [f"+120155501{min(number, 10):02d}" for number in range(12)]
    people = [{**person, "phone": number} for person, number in zip(PEOPLE, numbers, strict=True)]
    made = [{"email": RIGHT[one], "phone": _digest(numbers[other])} for one, other in zip(emails, phones, strict=True)]
    return people, made


UP = list(range(12))


@each_case(
    "emails, phones, rows",
    [
        (UP, UP, 0),
        (UP[::-1], UP[::-1], 0),
        (UP[::-1] * 2, UP[::-1] * 2, 0),
        ([10, *UP[:10]], [11, *UP[:10]], 0),
        (UP, [*UP[1:], 0], 11),  # the last but one gets the same number
        (UP, [0, 1, 2, *UP[4:], 3], 8),
        (UP[::-1], [*UP[1:], 0], 10),
        (UP[3:], [*UP[4:], 3], 8),
        (UP[6:], [*UP[7:], 11], 4),
    ],
)
def test_digests_of_one_row_are_of_one_person(emails: list[int], phones: list[int], rows: int) -> None:
    """In any order, too, and with fewer or more rows."""
    found = audiencekit.verify(*_both(emails, phones))
    faults = {fault.code: (fault.column, fault.rows) for fault in found.faults}
    assert faults.get("other_row") == (("phone", rows) if rows else None)
    assert found.verdict == ("wrong" if rows or len(set(emails)) < 12 else "right")


def test_digests_of_values_that_are_rejected_are_not_right() -> None:
    """In any order, a digest of an unknown value may be theirs, whatever was made of them."""
    people = [*PEOPLE, {"email": "p12 at example.com"}]
    hashed = [{"email": digest} for digest in [*RIGHT[::-1], _digest("salt")]]
    with pytest.raises(MappingRefused, match="1 of its values are rejected"):
        audiencekit.verify(people, hashed)
    assert audiencekit.verify(people, hashed[:-1]).verdict == "right"


def test_a_sample_can_be_compared_with_an_export_of_all() -> None:
    """Each of its values has its right digest; how many belong to others is told."""
    strangers = [_digest(f"other{number}") for number in range(130)]
    found = audiencekit.verify(PEOPLE, [{"email": digest} for digest in [*RIGHT[::-1], *strangers]])
    assert (found.verdict, found.right) == ("right", 12)
    assert found.notes == ("130 digests belong to no value of column email",)


@pytest.mark.parametrize("raw", [["n/a", "n/a"], ["", ""], []])
def test_the_digest_of_null_is_wrong_in_any_order(raw: list[str]) -> None:
    """For a value that is rejected, a blank cell, and no row at all."""
    people = [*PEOPLE, *({"email": text} for text in raw)]
    found = audiencekit.verify(people, [{"email": digest} for digest in [_digest("NULL"), _digest("NULL"), *RIGHT]])
    assert {fault.code: fault.rows for fault in found.faults} == {"null_hashed": 2}
    assert (found.verdict, found.exit_code, found.right, found.wrong) == ("wrong", 3, 12, 2)
    assert (found.columns[0].values, found.columns[0].wrong) == (14, 2)


def test_digests_in_both_lists_are_not_right() -> None:
    """No value in the clear shows how they were made; a few among such values do no harm."""
    salted = [{"email": _digest(f"salt{digest}"), "handle": "ada"} for digest in RIGHT]
    for hashed in (salted, salted[::-1]):
        with pytest.raises(MappingRefused, match="no value of column email is valid"):
            audiencekit.verify([{"email": one["email"]} for one in salted], hashed)
    with pytest.raises(MappingRefused, match="no value of column email is valid"):
        audiencekit.verify(salted, [{**one, "handle": _digest("ada")} for one in salted])
    mixed = [{"email": digest} for digest in [*RIGHT[:-1], salted[0]["email"]]]
    for hashed in (mixed, mixed[::-1]):
        found = audiencekit.verify([*PEOPLE[:-1], mixed[-1]], hashed)
        assert (found.verdict, found.notes) == ("right", ())


@pytest.mark.parametrize("hashed", [PEOPLE, PEOPLE[::-1], PEOPLE[:5]])
def test_lists_in_the_wrong_order_are_not_right(hashed: list[dict[str, str]]) -> None:
    """Where no value was compared, none was wrong."""
    with pytest.raises(MappingRefused, match="no value of column email is valid"):
        audiencekit.verify([{"email": digest} for digest in RIGHT], hashed)


def test_a_column_without_a_valid_value_is_not_right_beside_another() -> None:
    """In any order, digests that belong to no value may be those of values that were rejected here."""
    people = [{**person, "phone": f"030 12345{number}"} for number, person in enumerate(PEOPLE)]
    hashed = [{"email": digest, "phone": _digest(f"salt{digest}")} for digest in RIGHT[::-1]]
    numbers = [{"email": one["email"], "phone": one["phone"]} for one in people]
    with pytest.raises(MappingRefused, match="no value of column phone is valid"):
        audiencekit.verify(numbers, hashed)


@pytest.mark.parametrize("step", [1, -1])
def test_cells_that_are_passed_on_are_not_hashed_whatever_else_is_in_them(step: int) -> None:
    """Row by row, and in any order; three faults at once, of values that are no digests."""
    people = [{"email": f" {name}.P{number}@Gmail.com "} for number, name in enumerate(["Ann", "Bob", "Zoe"] * 5)]
    found = audiencekit.verify(people, people[::step])
    assert {fault.code: fault.rows for fault in found.faults} == {"not_hashed": 15}


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


WORK = [_digest(f"w{number}@example.org") for number in range(12)]
AT_WORK = [
    {"work_email": f"w{number}@example.org", "email": person["email"], "email 2": f"s{number}@example.org"}
    for number, person in enumerate(PEOPLE)
]


@each_case(
    "names",
    [
        ("email_sha256", "work_email_sha256"),
        ("work_email_sha256", "email_sha256"),
        ("SHA256 (Email)", "hashed work email"),
        ("email_digest", "work_email_sha256_new"),
        ("email", "work_email"),
    ],
)
def test_columns_of_one_kind_are_paired_by_name(names: tuple[str, str]) -> None:
    """Whichever comes first; of the third, nothing is compared."""
    values = (WORK, RIGHT) if names[0].startswith("work") else (RIGHT, WORK)
    hashed = [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]
    found = audiencekit.verify(AT_WORK, hashed, columns=[("email", "work_email"), ("email", "email")])
    assert (found.verdict, [column.right for column in found.columns]) == ("right", [12, 12])


def test_each_named_column_of_digests_is_compared_or_refused() -> None:
    """None is passed over, and one that is not named is told of."""
    hashed = [{"a": one, "b": other} for one, other in zip(RIGHT, WORK, strict=True)]
    columns = [("email", "email"), ("email", "work_email")]
    found = audiencekit.verify(AT_WORK, hashed, columns=columns, hashed_columns=[("email", "a"), ("email", "b")])
    assert (found.verdict, len(found.columns), found.notes) == ("right", 2, ())
    for kind in ("email", "phone_number"):
        with pytest.raises(MappingRefused, match="no column of values is left for the digests in column b"):
            audiencekit.verify(PEOPLE, hashed, hashed_columns=[("email", "a"), (kind, "b")])
    with pytest.raises(MappingRefused, match="there is no column"):
        audiencekit.verify(PEOPLE, hashed, hashed_columns=[("email", "a"), ("email", "c")])


def test_digests_that_are_not_compared_are_noted(tmp_path: Path) -> None:
    """Such as a second column with the same name."""
    lines = ["email,email", *(f"{digest},{_digest('salt' + digest)}" for digest in RIGHT)]
    found = audiencekit.verify(PEOPLE, _csv(tmp_path, "hashed.csv", lines))
    assert found.notes == ("column email of hashed.csv has digests, and is not compared",)


def _hash(kind: str, text: str, country: str | None) -> str:
    return audiencekit.hash_identifier(kind, text, country=country)


@pytest.mark.parametrize("kind", ["handle", pytest.param("phone_number", marks=pytest.mark.slow)])
def test_a_right_function_is_right(kind: str) -> None:
    """It gets all vectors of its kind, and raises where it refuses a value."""
    found = audiencekit.verify_function(lambda *given: _hash(kind, *given), kind=kind)
    assert (found.verdict, found.right > 1_000) == ("right", True)


@pytest.mark.usefixtures("few_vectors")
def test_the_faults_of_a_function_are_named() -> None:
    """Of handles: a sign that stays, an address, and values that are refused."""
    found = audiencekit.verify_function(lambda text, country: _digest(text.strip().lower()), kind="handle")
    assert {"at_sign", "profile_address", "hashed_again", "placeholder_hashed"} <= {each.code for each in found.faults}
    assert found.subject == "vectors"


@each_case("kind, country", [("partner_user_id", None), ("nonsense", None), ("email", "Atlantis")])
def test_an_invalid_kind_or_country_is_refused(kind: str, country: str | None) -> None:
    """Before the function is called."""
    with pytest.raises(UsageError):
        audiencekit.verify_function(lambda *given: _hash("handle", *given), kind=kind, country=country)


@pytest.mark.usefixtures("few_vectors")
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
    assert found.right > 10
    assert "brackets" in {fault.code for fault in found.faults}


@pytest.mark.usefixtures("few_vectors")
@each_case("code", ["", "print()", "raise SystemExit(9)"])
def test_a_program_that_fails_is_told(code: str) -> None:
    """It prints too few lines, or ends with another exit code."""
    with pytest.raises(InputOutputFailed, match="the program"):
        verify_command([sys.executable, "-c", code], kind="handle")


@pytest.mark.usefixtures("few_vectors")
@each_case("end", ["", "\\n"])
def test_the_last_line_of_a_program_may_have_no_line_break(end: str) -> None:
    """As a program prints that joins its lines."""
    code = f"import sys; print('\\n'.join('ada' for _ in sys.stdin), end='{end}')"
    assert verify_command([sys.executable, "-c", code], kind="handle").wrong > 0


@pytest.mark.usefixtures("few_vectors")
@each_case("code", ["", "sys.stdout.close(); ", "print(sys.stdin.readline()); "])
def test_a_program_that_prints_nothing_is_ended(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a time without a byte, and without an end."""
    monkeypatch.setattr(verifying, "_PATIENCE_SECONDS", 1.0)
    with pytest.raises(InputOutputFailed, match="printed nothing for 1 seconds"):
        verify_command([sys.executable, "-c", f"import os, sys, time; {code}time.sleep(60)"], kind="handle")


def test_a_program_that_is_missing_is_told() -> None:
    """No program of the working directory is started."""
    with pytest.raises(UsageError, match="not found"):
        verify_command(["./no-such-program"], kind="handle")


EMAIL = "sha256(lower(trim(value)))"


@pytest.mark.usefixtures("few_vectors")
def test_a_sql_expression_gets_values_and_countries() -> None:
    """Each in its row, whatever order the database has; a NULL is a refusal, and a comment at the end does no harm."""
    given = {"kind": "phone_number", "country": "DE"}
    chosen = verify_function(lambda text, country: _digest(text) if country == "DE" else None, **given)
    assert verify_sql("CASE WHEN country = 'DE' THEN sha256(value) END -- as we do", **given) == chosen
    assert chosen.right > 1


@pytest.mark.usefixtures("few_vectors")
@each_case(
    "expression",
    [
        *("sha256(nothing)", "max(value)", "42", "value, country"),
        *("value) FROM vectors; SELECT 1; SELECT number, ('x'", "SELECT content FROM read_text('{file}')"),
        *("SELECT c FROM '{file}' AS t(c)", "SELECT any_value(value) FROM given"),
        *(),
        *(
            "x') FROM vectors; COPY vectors TO '{file}'; SELECT number, ('x'",
            "x') FROM vectors; SET enable_external_access = true; SELECT number, ('x'",
        ),
    ],
)
def test_an_expression_that_gives_no_digests_or_reaches_out_is_refused(expression: str, tmp_path: Path) -> None:
    """Neither files nor the variables of this process are there; the text of the expression is not repeated."""
    file = tmp_path / "secret.csv"
    file.write_text("c\nsecret\n")
    with pytest.raises(UsageError) as caught:
        verify_sql(expression.replace("{file}", str(file)), kind="handle")
    assert "secret" not in f"{caught.value}{caught.value.hint}"
    assert file.read_text() == "c\nsecret\n"


def test_without_duckdb_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is optional."""
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(UsageError, match="duckdb") as caught:
        verify_sql(EMAIL, kind="email")
    assert "'.[duckdb]'" in caught.value.hint


class Answering(BaseHTTPRequestHandler):
    """Hashes each line; the path says what goes wrong."""

    def do_POST(self) -> None:
        given = self.rfile.read(int(self.headers["Content-Length"])).decode().removesuffix("\n").split("\n")
        assert len(given) <= 1_000
        digests = [_digest(line.lower()) for line in given]
        ends = {"/crlf": "\r\n", "/short": "\n"}
        body = ends.get(self.path, "\n").join(digests[1:] if self.path == "/short" else digests)
        status = {"/away": 302, "/broken": 500}.get(self.path, 200)
        self.send_response(status)
        self.send_header("Location", "http://127.0.0.1:9/")
        self.end_headers()
        self.wfile.write((body + ("" if self.path == "/bare" else "\n")).encode())

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()
        thread.join()


def test_a_server_gets_the_vectors_in_parts(
    server: str, every_vector: list[Vector], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With any line break, and without one at the end; no proxy takes part."""
    vectors = [one for one in every_vector if one.kind == "email" and one.spelling in ("normalised", "case")]
    assert len(vectors) > 1_500, "more than one request has"
    monkeypatch.setattr(verifying, "read_vectors", lambda: iter(vectors))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9/")
    for path in ("/crlf", "/bare"):
        found = verify_url(server + path, kind="email")
        assert (found.right, found.wrong) == (len(vectors), 0)


@pytest.mark.usefixtures("few_vectors")
@each_case("path, words", [("/away", "302"), ("/broken", "500"), ("/short", "lines for")])
def test_a_server_that_answers_otherwise_is_an_error(server: str, path: str, words: str) -> None:
    """Redirects are not followed."""
    with pytest.raises(InputOutputFailed, match=words):
        verify_url(server + path, kind="handle")


@pytest.mark.usefixtures("few_vectors")
def test_a_server_that_is_not_there_is_an_error() -> None:
    """Its port was closed."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/"
        with pytest.raises(InputOutputFailed, match="does not answer"):
            verify_url(url, kind="handle")


@each_case(
    "url",
    [
        *("http://example.com/", "https://127.0.0.1/", "http://user:secret@127.0.0.1/"),
        *("http://127.0.0.1.example.com/", "http://127.0.0.1:port/", "http://[::1/", "http://0.0.0.0/"),
        *("http://localhost.example/", "127.0.0.1:80", ""),
    ],
)
def test_vectors_go_to_this_machine_only(url: str) -> None:
    """The address is not repeated: it may hold a password."""
    with pytest.raises(UsageError, match="this machine") as caught:
        verify_url(url, kind="handle")
    assert "secret" not in f"{caught.value}{caught.value.hint}"
