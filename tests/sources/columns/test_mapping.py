"""Fields of objects: none is read, and a note says which looks like an identifier, whatever the rows come as."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audiencekit.errors import MappingRefused, UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.records.batches import ColumnUse, MappedColumn
from audiencekit.sources.files import AnySource
from audiencekit.sources.frames import Frame
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import Source, open_source
from tests.cases import each_case

ROWS: list[dict[str, Any]] = [
    {
        "id": number,
        "contact": {"email": f"person{number}@example.com", "town": "Hull"},
        "customer": {"work": [{"tel": f"+1415555{number:04}"}]},
        "owner": {"email": "sales@example.com"},
    }
    for number in range(20)
]
TOLD = "but within an object; not read, write it as a column of its own if it is one"


def as_lines(directory: Path, rows: list[dict[str, Any]]) -> AnySource:
    """A file of NDJSON."""
    path = directory / "people.ndjson"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def as_parquet(directory: Path, rows: list[dict[str, Any]]) -> AnySource:
    """A Parquet file with columns of structures."""
    path = directory / "people.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def as_table(_: Path, rows: list[dict[str, Any]]) -> AnySource:
    """A table of Arrow."""
    return Frame(pa.Table.from_pylist(rows))


def as_dicts(_: Path, rows: list[dict[str, Any]]) -> AnySource:
    """Objects of Python."""
    return rows


Form = Callable[[Path, list[dict[str, Any]]], AnySource]
FORMS = (as_lines, as_parquet, as_table, as_dicts)


def nested_notes(source: AnySource, **options: Any) -> list[str]:
    """The notes on nested fields."""
    return [note for note in open_source(source, SourceOptions(**options)).notes if "within an object" in note]


@each_case("form", FORMS)
def test_a_nested_field_that_looks_like_an_identifier_is_told(form: Form, tmp_path: Path) -> None:
    """By its path; that of another person is none, as in a column of that name."""
    found = nested_notes(form(tmp_path, ROWS))
    assert found == [f"contact.email: email, {TOLD}", f"customer.work.tel: phone_number, {TOLD}"]


@each_case("form", FORMS)
def test_nested_fields_of_a_column_that_is_ignored_are_not_told(form: Form, tmp_path: Path) -> None:
    """And those of all columns where the user says which columns are read."""
    source = form(tmp_path, ROWS)
    assert nested_notes(source, ignore=("contact", "customer")) == []
    mapped = form(tmp_path, [{**row, "mail": "ann@example.com"} for row in ROWS])
    assert nested_notes(mapped, columns=(("email", "mail"),)) == []


@each_case("form", FORMS)
def test_a_key_that_may_be_of_a_person_is_not_shown(form: Form, tmp_path: Path) -> None:
    """Though most other keys are words of headers: the note says in which column it is."""
    rows = [{**row, "contact": {**row["contact"], "Zoltan": {"mail": "z@example.com"}}} for row in ROWS]
    found = nested_notes(form(tmp_path, rows))
    assert f"a field in contact: email, {TOLD}" in found
    assert "Zoltan" not in str(found)


@each_case("form", FORMS)
def test_objects_without_an_identifier_are_not_told(form: Form, tmp_path: Path) -> None:
    """Two countries in objects do not matter."""
    rows = [
        {"email": f"person{number}@example.com", "a": {"country": "DE", "town": ""}, "b": {"country": "FR", "n": 1.5}}
        for number in range(20)
    ]
    assert nested_notes(form(tmp_path, rows)) == []


def test_objects_in_objects_without_end_are_looked_at_a_little(tmp_path: Path) -> None:
    """As deep as any export goes, so many fields, and so many values of a list."""
    deep: Any = {"email": "ann@example.com"}
    for _ in range(100):
        deep = {"a": deep}
    wide = {f"k{number}": {"email": "ann@example.com"} for number in range(2000)}
    long = [{"city": "Hull"}] * 10_000 + [{"phone": "+14155550132"}]
    found = nested_notes(as_lines(tmp_path, [{"id": "1", "x": deep, "y": long, "z": wide}]))
    assert len(found) < 300
    assert "phone_number" not in str(found)


def test_fields_that_are_called_the_same_but_for_case_are_one(tmp_path: Path) -> None:
    """Columns are not told apart by case, either."""
    rows = [{"id": "1", "contact": {"Email": None, "EMAIL": "ann@example.com", "email": "bo@example.com"}}]
    assert nested_notes(as_lines(tmp_path, rows)) == [f"contact.EMAIL: email, {TOLD}"]


def test_a_map_of_arrow_is_an_object(tmp_path: Path) -> None:
    """Its keys are fields."""
    kind = pa.map_(pa.string(), pa.string())
    table = pa.table({"id": ["1"], "contact": pa.array([[("email", "ann@example.com")]], kind)})
    assert nested_notes(Frame(table)) == [f"contact.email: email, {TOLD}"]


Open = Callable[..., Source]
HASH = "973dfe463ec85785f5f95af5ba3906eedb2d931c24e69824a89ea65dba4e813b"  # of test@example.com
UUID = "6D92078A-8246-4BA4-AE5B-76104861E7DC"


def mapped(source: Source) -> list[tuple[str, int]]:
    """Kinds and positions."""
    return [(column.kind.value, column.position) for column in source.mapping.columns]


RECOGNISED: list[tuple[str, dict[str, Any], list[tuple[str, int]]]] = [
    ("email,phone\na@example.com,030 123456\n", {}, [("email", 0), ("phone_number", 1)]),
    (
        "E-Mail;Telefon;Handy\na@example.com;030 123456;\n",
        {},
        [("email", 0), ("phone_number", 1), ("phone_number", 2)],
    ),
    # names and no rows
    ("email,twitter_id,handle,idfa\n", {}, [("email", 0), ("platform_id", 1), ("handle", 2), ("device_id", 3)]),
    # content without a name that says anything
    ("what,ever\na@example.com,+49 30 12345678\n", {}, [("email", 0), ("phone_number", 1)]),
    ("a@example.com,+49 30 12345678\n", {}, [("email", 0), ("phone_number", 1)]),
    (f"what\n{UUID}\n", {}, [("device_id", 0)]),
    # a UUID of the source's own
    (f"user_id,email\n{UUID},a@example.com\n", {}, [("email", 1)]),
    # national numbers need a country
    ("what\n030 12345678\n", {}, []),
    ("what\n030 12345678\n", {"country": "DE"}, [("phone_number", 0)]),
    ("what,land\n030 12345678,Germany\n", {}, [("phone_number", 0)]),
    ("zip,when,id\n12345-6789,2024-05-17,2127365000\n", {"country": "US"}, []),
    # name against content of another kind
    ("email,phone\na@example.com,b@example.com\n", {}, [("email", 0)]),
    ("email,mobile\na@example.com,true\n", {}, [("email", 0)]),
    # the name alone, when nothing else was found: the rows say what is wrong with them
    ("email,phone\nAnneliese,a@example.com\n", {}, [("email", 0)]),
    ("mobile\ntrue\n", {}, [("phone_number", 0)]),
    ("twitter\nhttps://x.com/ann\n", {}, [("handle", 0)]),
    ("twitter_id\nann\n", {}, [("platform_id", 0)]),
    # a property of an identifier, or the identifier of another person
    ("fax\n+49 30 12345678\n", {"puts_in": True}, []),
    ("owner\na@example.com\n", {"puts_in": True}, []),
    ("owner_email,email\na@example.com,b@example.com\n", {"puts_in": True}, [("email", 1)]),
    ("email_opt_in,email\nyes,b@example.com\n", {}, [("email", 1)]),
    ("email_md5,email\n", {}, [("email", 1)]),
    # partner_user_id by exactly this name
    ("partner_user_id\nx1\n", {}, [("partner_user_id", 0)]),
    ("partner id\nx1\n", {}, []),
    # empty in the sample, named
    ("email_home,email_work\na@example.com,\n", {}, [("email", 0), ("email", 1)]),
]


@each_case("text, options, expected", RECOGNISED)
def test_columns_are_recognised(
    open_bytes: Open, text: str, options: dict[str, Any], expected: list[tuple[str, int]]
) -> None:
    """By name, by content, never by one against the other."""
    assert mapped(open_bytes(text.encode(), **options)) == expected


@each_case(
    "text, hashed, expected",
    [
        (f"email\n{HASH}\n", True, [(0, True)]),
        (f"email_sha256\n{HASH}\n", True, [(0, True)]),
        (f"email\n{HASH}\n", False, [(0, False)]),
        (f"email_sha256\n{HASH}\n", False, [(0, False)]),
        (f"email,email_sha256\na@example.com,{HASH}\n", False, [(0, False)]),
        (f"email,email_sha256\na@example.com,{HASH}\n", True, [(1, True)]),
        # a blank column is no column in the clear
        (f"email,email_sha256\n,{HASH}\n", False, [(0, False), (1, False)]),
        ("email,email_sha256\n", False, [(0, False)]),
        (f"email,mail\n{HASH},b@example.com\n", True, [(0, True)]),
        (f"email,mail\n{HASH},\n", True, [(0, True)]),
        ("email,phone\n,+493012345601\n", True, [(0, True), (1, False)]),
        ("email\n", True, [(0, True)]),
        ("email_md5\n0cc175b9c0f1b6a831c399e269772661\n", False, []),
        ("email_md5\n0cc175b9c0f1b6a831c399e269772661\n", True, []),
    ],
)
def test_hashes_are_hashes_when_declared(
    open_bytes: Open, text: str, hashed: bool, expected: list[tuple[int, bool]]
) -> None:
    """Undeclared ones are raw, so that their rows say already_hashed; a kind is not raw and hashed at once."""
    source = open_bytes(text.encode(), hashed=frozenset({Kind.EMAIL}) if hashed else frozenset())
    assert [(column.position, column.hashed) for column in source.mapping.columns] == expected


@each_case(
    "text, options, guesses",
    [
        ("email,phone\na@example.com,\n", {}, [False, True]),
        ("email,phone\na@example.com,n/a\n", {}, [False, True]),
        ("email,phone\n", {}, [True, True]),
        ("email,phone\na@example.com,030 12345678\n", {}, [False, False]),
        ("mobile\ntrue\n", {}, [False]),
        ("email,phone\na@example.com,\n", {"columns": ((Kind.PHONE_NUMBER, "phone"),)}, [False]),
        # of this kind alone values leave as they are
        ("email,partner_user_id\na@example.com,\n", {}, [False, False]),
    ],
)
def test_a_column_that_only_its_name_speaks_for_is_a_guess(
    open_bytes: Open, text: str, options: dict[str, Any], guesses: list[bool]
) -> None:
    """Its sampled cells are blank; what the user maps is none."""
    assert [column.is_guess for column in open_bytes(text.encode(), **options).mapping.columns] == guesses


def test_a_guess_is_told(open_bytes: Open) -> None:
    """People read why a column is taken."""
    assert (
        ColumnUse("phone", "phone_number", "by name alone: its first cells are blank")
        in open_bytes(b"email,phone\n").uses
    )


@each_case(
    "text, column",
    [
        ("email\na@example.com\n", "email"),
        ("phone,email\n+493012345601,a@example.com\n", "email"),
        ("what,phone\na@example.com,+493012345601\n", "column1"),
        ("work email,home email\na@example.com,\n", "work email"),
        # nor is it SHA-256
        ("email\n0cc175b9c0f1b6a831c399e269772661\n", "email"),
        ("email,phone\n0cc175b9c0f1b6a831c399e269772661,+493012345601\n", "email"),
    ],
)
def test_a_kind_that_is_declared_hashed_and_in_the_clear_is_refused(open_bytes: Open, text: str, column: str) -> None:
    """Its values would be left out of a list that is else sent."""
    with pytest.raises(MappingRefused, match=f"column {column} ") as caught:
        open_bytes(text.encode(), hashed=frozenset({Kind.EMAIL}))
    assert "leave out `hashed=['email']`" in caught.value.hint


def test_a_given_mapping_is_all_there_is(open_bytes: Open) -> None:
    """With one column given no other identifier is looked for; the country is."""
    data = b"Email,Mail,Land\na@example.com,b@example.com,DE\n"
    source = open_bytes(data, columns=((Kind.EMAIL, "mail"),))
    assert source.mapping.columns == (MappedColumn(kind=Kind.EMAIL, position=1, name="Mail"),)
    assert (source.mapping.country, source.mapping.country_name) == (2, "Land")


def test_given_columns_are_mapped_whatever_they_hold(open_bytes: Open) -> None:
    """By name or place, several of one kind, hashed when that is said; a given name is shown."""
    columns = ((Kind.PHONE_NUMBER, "column3"), (Kind.EMAIL, "Kiyomitsu"), (Kind.EMAIL, "b"), (Kind.EMAIL, "b"))
    source = open_bytes(b"Kiyomitsu,b,c\n1,2,3\n", columns=columns, hashed=frozenset({Kind.EMAIL}))
    assert source.mapping.columns == (
        MappedColumn(kind=Kind.EMAIL, position=0, name="Kiyomitsu", hashed=True),
        MappedColumn(kind=Kind.EMAIL, position=1, name="b", hashed=True),
        MappedColumn(kind=Kind.PHONE_NUMBER, position=2, name="c"),
    )


@each_case(
    "options",
    [
        {"columns": ((Kind.EMAIL, "mobile"),)},
        {"columns": ((Kind.EMAIL, "email"), (Kind.HANDLE, "EMAIL"))},
        {"columns": ((Kind.EMAIL, "email"),), "operation_column": "email"},
        {"country_column": "nowhere"},
        {"columns": ((Kind.EMAIL, "email"),), "country_column": "email"},
        {"operation_column": "nothing"},
        {"columns": ((Kind.EMAIL, "a"),)},
    ],
)
def test_impossible_mappings_are_refused(open_bytes: Open, options: dict[str, Any]) -> None:
    """Missing columns, two uses of one, and a name that stands twice."""
    with pytest.raises(MappingRefused):
        open_bytes(b"email,phone,a,A \nx@example.com,1,2,3\n", **options)


def test_same_names_matter_only_where_they_are_wanted(open_bytes: Open) -> None:
    """Templates and joins have them: two that are recognised are two of the person's, and places tell them apart."""
    assert mapped(open_bytes(b"email,a,A\nx@example.com,1,2\n")) == [("email", 0)]
    assert mapped(open_bytes(b"email,EMAIL\nx@example.com,y@example.com\n")) == [("email", 0), ("email", 1)]
    with pytest.raises(MappingRefused, match="column1 and column2"):
        open_bytes(b"email,EMAIL\nx@example.com,y@example.com\n", columns=((Kind.EMAIL, "email"),))
    source = open_bytes(b"email,EMAIL\nx@example.com,y@example.com\n", columns=((Kind.EMAIL, "column2"),))
    assert mapped(source) == [("email", 1)]


def test_a_column_that_the_user_maps_is_no_country(open_bytes: Open) -> None:
    """Whatever it is called and holds."""
    source = open_bytes(b"email,country\na@example.com,DE\n", columns=((Kind.PARTNER_USER_ID, "country"),))
    assert source.mapping.country is None


def test_hashes_without_a_name_are_told(open_bytes: Open) -> None:
    """Their kind cannot be seen: the user has to say it."""
    source = open_bytes(f"{HASH}\n".encode())
    assert source.mapping.columns == ()
    assert "column1: hashes, of which no name says the kind" in source.notes[0]
    source = open_bytes(f"{HASH}\n".encode(), columns=((Kind.EMAIL, "column1"),), hashed=frozenset({Kind.EMAIL}))
    assert source.mapping.columns[0].hashed


def test_the_operation_is_only_ever_given(open_bytes: Open) -> None:
    """A column of that name alone means nothing."""
    data = b"email,operation\na@example.com,delete\n"
    assert open_bytes(data).mapping.operation is None
    source = open_bytes(data, operation_column="operation")
    assert (source.mapping.operation, source.mapping.operation_name) == (1, "operation")


def test_notes_say_why(open_bytes: Open) -> None:
    """Each note says what was mapped or not, and for what reason."""
    source = open_bytes(b"email,phone,what,land,town\nAnneliese,030 123,a@example.com,49,Ulm\n")
    assert source.uses == (
        ColumnUse("email", "left out", "named like the kind email, but its cells are not"),
        ColumnUse("phone", "phone_number", "by name and content"),
        ColumnUse("what", "email", "by content"),
        ColumnUse("land", "left out", "named like a country, but its cells are none"),
        ColumnUse("town", "not used", ""),
    )
    assert "land: named like a country, but its cells are none; not used" in source.notes
    assert not any(note.startswith(("phone:", "what:")) for note in source.notes)


def test_uses_say_what_was_given(open_bytes: Open) -> None:
    """Of columns that options name; a name that may be a value is not shown."""
    source = open_bytes(
        b"a,b,c,d,e,Kiyomitsu\na@example.com,DE,update,yes,,x\n",
        columns=((Kind.EMAIL, "a"),), country_column="b", operation_column="c", consent_column="d", ignore=("e",),
    )  # fmt: skip
    assert [(each.column, each.use, each.why) for each in source.uses] == [
        ("a", "email", "as given"), ("b", "country", "as given"), ("c", "operation", "as given"),
        ("d", "consent", "as given"), ("e", "left out", "as `ignore=` says"), ("column6", "not used", ""),
    ]  # fmt: skip


def test_nothing_found_lists_the_columns(open_bytes: Open) -> None:
    """By names that may be shown."""
    source = open_bytes(b"city,Kiyomitsu\nBerlin,x\n")
    assert source.mapping.columns == ()
    assert "the columns are: city, column2" in source.notes[-1]


def test_notes_hold_no_cell_and_no_personal_name(open_bytes: Open) -> None:
    """Neither from rows nor from a first row taken for names."""
    data = b"Quandtova,what,Mobil,owner\nZiegelmeier,marker@example.com,ja,boss@example.com\n"
    source = open_bytes(data, country="DE", puts_in=True)
    text = repr((source, source.notes, source.mapping, source.description))
    assert not any(word in text for word in ("Quandtova", "Ziegelmeier", "marker", "boss"))


def test_own_words_of_a_header_are_shown(open_bytes: Open) -> None:
    """Their owner sees which column is meant."""
    data = b"First Name,Last Name,Statie,email,Lifecycle Stage\nAnn,Lee,LA,a@example.com,subscriber\n"
    with pytest.raises(MappingRefused) as caught:
        open_bytes(data, ignore=("nowhere",))
    assert caught.value.hint == "the columns are: First Name, Last Name, Statie, email, Lifecycle Stage"


def test_national_numbers_without_a_country_are_noted(open_bytes: Open) -> None:
    """They cannot be mapped, and their owner is told what is missing."""
    source = open_bytes(b"a@example.com,030 12345678\nb@example.com,030 87654321\n")
    assert mapped(source) == [("email", 0)]
    assert any("column2" in note and "`country=`" in note for note in source.notes)


@each_case(
    "text, options, hint",
    [
        ("email,action\na@example.com,Delete\n", {}, "action"),
        ("email,action\na@example.com,update\nb@example.com,\n", {}, "action"),
        ("email,operation\na@example.com,INSERT\nb@example.com,DELETE\n", {}, "operation"),
        ("email,action\na@example.com,add\nb@example.com,remove\n", {}, "action"),
        ("email,action\na@example.com,add\n", {}, None),
        ("email,action\na@example.com,archived\n", {}, None),
        ("email,action\na@example.com,delete\n", {"operation_column": "action"}, None),
        ("email,newsletter\na@example.com,add\nb@example.com,remove\n", {"consent_column": "newsletter"}, None),
    ],
)
def test_a_column_of_operations_is_noticed(
    open_bytes: Open, text: str, options: dict[str, Any], hint: str | None
) -> None:
    """Unless an option names it."""
    assert open_bytes(text.encode(), **options).operation_hint == hint


IGNORED: list[tuple[dict[str, Any], list[tuple[str, int]], int | None]] = [
    ({}, [("email", 0), ("phone_number", 1)], 2),
    ({"ignore": ("phone",)}, [("email", 0)], 2),
    ({"ignore": ("PHONE ", "column1")}, [], 2),
    ({"ignore": ("land",)}, [("email", 0), ("phone_number", 1)], None),
    ({"ignore": ("Kiyomitsu",)}, [("email", 0), ("phone_number", 1)], 2),
    ({"ignore": ("phone", "land"), "columns": ((Kind.EMAIL, "email"),)}, [("email", 0)], None),
    ({"ignore": ("phone",), "hashed": frozenset({Kind.PHONE_NUMBER})}, [("email", 0)], 2),
]


@each_case("options, expected, country", IGNORED)
def test_a_column_that_is_ignored_is_nothing(
    open_bytes: Open, options: dict[str, Any], expected: list[tuple[str, int]], country: int | None
) -> None:
    """Neither an identifier nor the country, nor a reason to refuse."""
    source = open_bytes(b"email,phone,land,Kiyomitsu\na@example.com,030 12345678,DE,delete\n", **options)
    assert mapped(source) == expected
    assert source.mapping.country == country
    assert (source.operation_hint is None) == ("Kiyomitsu" in options.get("ignore", ()))
    ignored = [use for use in source.uses if (use.use, use.why) == ("left out", "as `ignore=` says")]
    assert len(ignored) == len(options.get("ignore", ()))


def test_a_column_to_ignore_that_is_missing_is_refused(open_bytes: Open) -> None:
    """A slip of the pen would send it."""
    with pytest.raises(MappingRefused, match="no column 'fon'"):
        open_bytes(b"email,phone\na@example.com,+493012345601\n", ignore=("fon",))


@each_case(
    "options",
    [
        {"ignore": ("column1",), "columns": ((Kind.EMAIL, "email"),)},
        {"ignore": ("EMAIL ",), "columns": ((Kind.EMAIL, "email"),)},
        {"ignore": ("land",), "country_column": "Land"},
        {"ignore": ("what",), "operation_column": "what"},
        {"ignore": ("ok",), "consent_column": "ok"},
    ],
)
def test_a_column_is_not_mapped_and_ignored_at_once(open_bytes: Open, options: dict[str, Any]) -> None:
    """By its name and by its place, neither."""
    with pytest.raises(UsageError, match="is mapped and ignored"):
        open_bytes(b"email,land,what,ok\na@example.com,DE,update,yes\n", **options)


def test_a_name_to_ignore_makes_a_header(open_bytes: Open) -> None:
    """As any name that the user gives."""
    source = open_bytes(b"Kunde,ann@example.com\nBo,bob@example.com\n", ignore=("kunde",))
    assert source.description["header"] is True


SCREEN_NAMES: list[tuple[str, dict[str, Any], bool]] = [
    ("email,Screen Name\na@example.com,ann\n", {}, False),
    ("email,Screen Name\na@example.com,\n", {}, False),
    ("email,screen_name\na@example.com,ann\n", {}, False),
    ("email,ScreenName\na@example.com,ann\n", {}, False),
    ("email,user_id,screen_name\na@example.com,7,ann\n", {}, False),
    ("email,Screen Name\na@example.com,@ann\n", {}, True),
    ("email,screen_name\na@example.com,https://x.com/ann\n", {}, True),
    ("email,Twitter Screen Name\na@example.com,ann\n", {}, True),
    ("email,x_screen_name\na@example.com,ann\n", {}, True),
    ("twitter_id,screen_name\n783214,ann\n", {}, True),
    ("platform_id,screen_name\n783214,ann\n", {}, True),
    ("email,screen_name,tweets\na@example.com,ann,7\n", {}, True),
    ("email,Screen Name\na@example.com,ann\n", {"columns": ((Kind.HANDLE, "screen name"),)}, True),
    (f"screen_name\n{HASH}\n", {"hashed": frozenset({Kind.HANDLE})}, True),
    # of a list of people to keep out, no one is missed
    ("email,Screen Name\na@example.com,ann\n", {"every_form": True}, True),
]


@each_case("text, options, is_handle", SCREEN_NAMES)
def test_a_screen_name_is_a_handle_where_something_says_so(
    open_bytes: Open, text: str, options: dict[str, Any], is_handle: bool
) -> None:
    """In address books it is a name in some messenger: the handle of a stranger."""
    source = open_bytes(text.encode(), **options)
    assert (Kind.HANDLE in [column.kind for column in source.mapping.columns]) is is_handle


def test_a_screen_name_that_is_left_out_is_told(open_bytes: Open) -> None:
    """With the way to take it, where it holds anything."""
    (note,) = [note for note in open_bytes(b"email,Screen Name\na@example.com,ann\n").notes if "Screen" in note]
    assert note == "Screen Name: could be handles; not mapped, say `columns={'handle': 'Screen Name'}` if it is one"
    assert not any("Screen" in note for note in open_bytes(b"email,Screen Name\na@example.com,\n").notes)


BOTH = [("email", 0), ("phone_number", 0)]


@each_case(
    "name, found",
    [
        *((name, BOTH) for name in ("email_or_phone", "login", "Contact", "E-Mail oder Telefon")),
        ("Referrer contact", []),
        ("Coach email or phone", []),
    ],
)
def test_a_column_of_addresses_and_numbers_is_mapped_to_both(
    open_bytes: Open, name: str, found: list[tuple[str, int]]
) -> None:
    """Unless its name says that it is of another person."""
    cells = ["ada@example.com", "+14155550132", "bo@example.com", "+14155550133"]
    assert (
        mapped(open_bytes("\n".join([f"{name},note", *(f"{cell},x" for cell in cells)]).encode(), puts_in=True))
        == found
    )


def test_a_column_that_is_given_for_both_kinds_is_mapped_to_both(open_bytes: Open) -> None:
    """Other pairs of kinds are two uses of one column."""
    text = b"phone,note\nada@example.com,x\n4155550132,y\n"
    assert mapped(open_bytes(text, columns=((Kind.EMAIL, "phone"), (Kind.PHONE_NUMBER, "phone")))) == BOTH
    with pytest.raises(MappingRefused, match="more than one thing"):
        open_bytes(text, columns=((Kind.HANDLE, "note"), (Kind.PARTNER_USER_ID, "note")))
