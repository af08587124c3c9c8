"""A column mapped to the wrong kind sends nothing, and the message says which column, and what it looks like."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

from audiencekit.errors import Refused
from audiencekit.identifiers.kinds import Kind
from audiencekit.pipeline import check
from audiencekit.settings import Settings, load_settings
from tests.cases import each_case

Cell = Callable[[int], str]

# Three files of each kind: other spellings, other sizes.
COLUMNS: dict[Kind, list[tuple[str, Cell, int]]] = {
    Kind.EMAIL: [
        ("email", lambda n: f"person{n}@example.com", 40),
        ("E-Mail", lambda n: f" Person.{n}@Example.org", 5),
        ("mail", lambda n: f"p{n}+list@example.net", 300),
    ],
    Kind.PHONE_NUMBER: [
        ("phone", lambda n: f"+1201555{n + 100:04}", 40),
        ("Telefon", lambda n: f"+49 30 {1234567 + n}", 5),
        ("mobile", lambda n: f"1201555{n + 1000:04}", 300),
    ],
    Kind.DEVICE_ID: [
        ("idfa", lambda n: f"4b61639e-47cc-4056-a16a-c8217e{n + 100000:06}", 40),
        ("device_id", lambda n: f"4B61639E-47CC-4056-A16A-C8217E{n + 200000:06}", 5),
        ("android_id", lambda n: f"af3802a4657{n + 10000:05x}", 300),
    ],
    Kind.HANDLE: [
        ("handle", lambda n: f"@person_{n}", 40),
        ("twitter", lambda n: f"https://x.com/person{n}", 5),
        ("screen_name", lambda n: f"@Person{n}", 300),
    ],
    Kind.PLATFORM_ID: [
        ("platform_id", lambda n: str(14356700 + n), 40),
        ("twitter_id", lambda n: str(1234567890123456700 + n), 5),
        ("x_user_id", lambda n: str(783214 + n), 300),
    ],
    Kind.PARTNER_USER_ID: [
        ("partner_user_id", lambda n: f"CRM-{n:06}", 40),
        ("partner_user_id", lambda n: f"a/{n}", 5),
        ("partner_user_id", lambda n: f"crm{n:05}x", 300),
    ],
}
PAIRS = list(itertools.permutations(Kind, 2))


def _write(path: Path, name: str, cell: Cell, rows: int) -> Path:
    path.write_text("".join(f"{line}\n" for line in [f"no,{name}", *(f"{n},{cell(n)}" for n in range(rows))]))
    return path


def _refusals(source: Path, settings: Settings, kind: Kind, name: str) -> list[Refused]:
    """Why `column` is not taken for `kind`, at once or after reading."""
    try:
        return list(check(source, columns={kind.value: name}, country="US", settings=settings).refusals)
    except Refused as refusal:
        return [refusal]


@each_case("file", range(3))
@each_case("true, claimed", PAIRS)
def test_a_column_of_another_kind_is_refused(tmp_path: Path, true: Kind, claimed: Kind, file: int) -> None:
    """Whatever the values, the name of the column stands in the message."""
    name, cell, rows = COLUMNS[true][file]
    source = _write(tmp_path / "list.csv", name, cell, rows)
    settings = load_settings({}, directory=tmp_path, state_dir=tmp_path)
    refusals = _refusals(source, settings, claimed, name)
    assert refusals, "the plan would be sent"
    assert any(name in str(refusal) for refusal in refusals)


@each_case("file", range(3))
@each_case("kind", Kind)
def test_the_right_column_is_taken(tmp_path: Path, kind: Kind, file: int) -> None:
    """No false alarm: said or recognised, every value of it qualifies."""
    name, cell, rows = COLUMNS[kind][file]
    source = _write(tmp_path / "list.csv", name, cell, rows)
    settings = load_settings({}, directory=tmp_path, state_dir=tmp_path)
    for columns in ({kind.value: name}, {}):
        plan = check(source, columns=columns, country="US", settings=settings)
        assert plan.verdict == "ready", (columns, plan.rejections)
        assert plan.columns == {kind.value: [name]}
        assert plan.records == rows


@each_case(
    "name, cell, kind",
    [
        ("pid", lambda n: f"1415555{2600 + n}", Kind.PARTNER_USER_ID),
        ("pid", lambda n: f"001415555{2600 + n}", Kind.PARTNER_USER_ID),
        ("pid", lambda n: f"415555{2600 + n}", Kind.PARTNER_USER_ID),
        ("last_name", lambda n: ["Johnson", "Garcia", "Smith"][n % 3], Kind.PARTNER_USER_ID),
        ("Vorname", lambda n: ["Ann", "Bea", "Cleo"][n % 3], Kind.HANDLE),
        ("twitter_id", lambda n: f"{123456789012345 + n}000", Kind.PLATFORM_ID),
    ],
)
def test_values_that_would_leave_in_the_clear_or_rounded_are_refused(
    tmp_path: Path, name: str, cell: Cell, kind: Kind
) -> None:
    """Bare phone numbers and names as partner ids, names as handles, ids that a spreadsheet rounded."""
    source = _write(tmp_path / "list.csv", name, cell, 40)
    settings = load_settings({}, directory=tmp_path, state_dir=tmp_path)
    assert any(name in str(refusal) for refusal in _refusals(source, settings, kind, name))


@each_case(
    "cell, kind",
    [
        (lambda n: str(1_000_000 + n * 7), Kind.PARTNER_USER_ID),
        (lambda n: str(40_000_000 + n), Kind.PARTNER_USER_ID),
        (lambda n: str(123456789012345000 + n), Kind.PLATFORM_ID),
    ],
)
def test_ids_that_only_look_so_are_taken(tmp_path: Path, cell: Cell, kind: Kind) -> None:
    """Ids that count up are no phone numbers, and one id in a thousand ends in three zeros."""
    source = _write(tmp_path / "list.csv", "member", cell, 40)
    settings = load_settings({}, directory=tmp_path, state_dir=tmp_path)
    assert check(source, columns={kind.value: "member"}, country="US", settings=settings).verdict == "ready"
