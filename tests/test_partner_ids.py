"""Personal data never leaves as a partner user id, whichever way it comes; other ids do."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import audiencekit
from audiencekit.errors import IdentifierRejected, UsageError
from audiencekit.identifiers.kinds import Kind, Rules
from audiencekit.integrations.outcomes import PartitionWork
from audiencekit.integrations.tallies import read_tally
from audiencekit.records.batches import ColumnMapping, MappedColumn
from audiencekit.records.records import UPDATE
from audiencekit.records.refusal_bounds import Bounds, judge
from audiencekit.sources.arrow import TypedColumns
from tests.cases import each_case
from tests.numberlists import IDS, PHONES, MakeList, with_check_digit, with_check_number
from tests.personalids import OPAQUE, PERSONAL, opaque_column, personal_column
from tests.personalvalues import BARE, own_ids, personal_values
from tests.shortened import shortened

NAME = "partner_user_id"
CONFIRMED = {"confirm_partner_ids": True}

Lists = Mapping[Any, Sequence[str]]  # columns by a word for what is in them
Source = Callable[[Path, Lists], tuple[Any, dict[str, Any]]]


def _rows(lists: Lists) -> list[tuple[str | None, ...]]:
    return list(zip_longest(*lists.values()))


def _csv(path: Path, lists: Lists, name: str = NAME) -> tuple[Any, dict[str, Any]]:
    """The only column has the name of the kind; more of them are given as this kind."""
    names = _names(lists, name)
    with path.open("w", newline="") as file:
        written = csv.writer(file, quoting=csv.QUOTE_ALL)
        written.writerow([*names, "email"])
        written.writerows([*row, f"p{number}@canarymail.com"] for number, row in enumerate(_rows(lists)))
    return path, _given(names)


def _names(lists: Lists, name: str = NAME) -> list[str]:
    return [name] if len(lists) == 1 else [f"{name} {number} of {len(lists)}" for number, _ in enumerate(lists)]


def _given(names: list[str]) -> dict[str, Any]:
    return {} if names == [NAME] else {"columns": [(NAME, name) for name in names]}


def _mapped(path: Path, lists: Lists) -> tuple[Any, dict[str, Any]]:
    return _csv(path, lists, "member")


def _table(lists: Lists) -> dict[str, list[str | None]]:
    return dict(zip(_names(lists), map(list, zip(*_rows(lists), strict=True)), strict=True))


def _frame(_: Path, lists: Lists) -> tuple[Any, dict[str, Any]]:
    return pa.table(_table(lists)), _given(_names(lists))


def _lists(path: Path, lists: Lists) -> tuple[Any, dict[str, Any]]:
    columns = {name: [None if value is None else [value] for value in column] for name, column in _table(lists).items()}
    pq.write_table(pa.table(columns), path)
    return path, _given(_names(lists))


def _json_lines(path: Path, lists: Lists) -> tuple[Any, dict[str, Any]]:
    path = path.with_suffix(".ndjson")
    names = _names(lists)
    path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in _rows(lists)))
    return path, _given(names)


SOURCES: list[Source] = [_csv, _mapped, _frame, _lists, _json_lines]
every_source = pytest.mark.parametrize("source", shortened(SOURCES, 1), ids=lambda source: source.__name__)


def _passing(source: Source, path: Path, lists: Lists, **more: Any) -> set[str]:
    """Those of `lists` that no refusal names; each is a column of one table."""
    given, keywords = source(path, lists)
    return _unnamed(lists, source, audiencekit.check(given, **keywords, **more).refusals)


def _unnamed(lists: Lists, source: Source | None, refusals: Iterable[object]) -> set[str]:
    names = _names(lists, "member" if source is _mapped else NAME)
    told = "\n".join(map(str, refusals))
    return {word for word, name in zip(lists, names, strict=True) if f"column {name} ({NAME})" not in told}


@every_source
def test_nothing_of_a_person_passes(source: Source, tmp_path: Path) -> None:
    """Columns of each way of writing, 10,000 values in all: each is refused."""
    styles = personal_values()
    assert sum(map(len, styles.values())) >= 10_000
    assert _passing(source, tmp_path / "list.csv", styles) == set()


def _kept_back(source: Source, path: Path, **more: Any) -> int:
    """How many of ten thousand ids would not be sent."""
    styles = own_ids()
    given, keywords = source(path, styles)
    plan = audiencekit.check(given, **keywords, **more)
    assert plan.verdict == "ready", plan.refusals
    assert plan.identifiers[NAME]["present"] == sum(map(len, styles.values())) >= 10_000
    return plan.identifiers[NAME]["rejected"]


@every_source
def test_ids_of_ones_own_making_pass(source: Source, tmp_path: Path) -> None:
    """Columns of each style of ids, 10,000 in all: at most one in a thousand is kept back."""
    assert _kept_back(source, tmp_path / "list.csv") <= 10


@pytest.mark.parametrize("country", shortened(["DE", "US"], 1))
def test_the_country_of_a_run_keeps_no_ids_back(country: str, tmp_path: Path) -> None:
    """Ids that happen to be numbers there do not refuse a column."""
    assert _kept_back(_csv, tmp_path / "list.csv", country=country) <= 10


def test_a_mixture_does_not_pass(tmp_path: Path) -> None:
    """All ways of writing in one column that has the name of the kind, and all bare ones."""
    styles = personal_values()
    mixtures = {
        "all": [value for column in styles.values() for value in column],
        "bare": [value for style in styles if style in BARE for value in styles[style]],
    }
    for values in mixtures.values():
        random.Random(1).shuffle(values)
    passing = {word for word, values in mixtures.items() if _passing(_csv, tmp_path / "list.csv", {word: values})}
    assert passing == set()


def _refused(lists: Lists) -> set[str]:
    """Those of `lists` that are refused, by the counts of a task of Spark; each is a column of one table."""
    columns = [
        MappedColumn(kind=Kind.PARTNER_USER_ID, position=place, name=name) for place, name in enumerate(_names(lists))
    ]
    mapping = ColumnMapping(columns=tuple(columns))
    typed = TypedColumns((pa.string(),) * len(columns), None)
    work = PartitionWork(mapping=mapping, typed=typed, rules=Rules(), operation_type=UPDATE, names_rows=False)
    cells = {f"c{place}": column for place, column in enumerate(_table(lists).values())}
    *_, counts = work.outcomes([pa.record_batch(cells)], before=0)
    refusals = judge(read_tally(counts["tally"][0].as_py()), mapping, Bounds(max_rejected_share=0.5))
    return set(lists) - _unnamed(lists, None, refusals)


@pytest.mark.slow
def test_spark_says_the_same() -> None:
    """The counts of its tasks lead to the same judgement."""
    styles = personal_values(40)
    assert _refused(styles) == set(styles)
    assert _refused(own_ids(40)) == set()


def _is_taken(text: str, **more: Any) -> bool:
    try:
        return audiencekit.normalize(NAME, text, **more) == text
    except IdentifierRejected:
        return False


@pytest.mark.parametrize("count", shortened([5, 30], 1))
def test_single_values_are_judged_more_strictly(count: int) -> None:
    """Without a column nothing of a person of ten digits and more passes; ids of other lengths do."""
    styles = {style: values for style, values in personal_values(count).items() if len(values[0]) >= 10}
    assert [value for values in styles.values() for value in values if _is_taken(value)] == []
    short = ("ES, at home", "PL, at home", "FR, zero lost", "NL, zero lost", "AU, zero lost", "ZA, zero lost")
    for style in short:
        values = personal_values(count)[style]
        assert [value for value in values if _is_taken(value, country=style[:2])] == []
        assert all(_is_taken(value, country=style[:2], confirm_partner_ids=True) for value in values)
    kept_back = [
        text for style, ids in own_ids(count).items() if _is_never_a_phone(style) for text in ids if not _is_taken(text)
    ]
    assert kept_back == []


def _is_never_a_phone(style: str) -> bool:
    long = ("year and six", "order", "four and four and four", "float of eleven", "quoted")
    return style not in {*long, *(f"{size} digits" for size in range(10, 18))}


def test_hash_never_takes_the_kind() -> None:
    """Nothing is hashed that the service expects as it is."""
    with pytest.raises(UsageError, match="unhashed"):
        audiencekit.hash_identifier(NAME, "015112345678")


H4 = {
    "German mobiles under the kind's own name": [f"0151{10_000_001 + n}" for n in range(300)],
    "American numbers beside addresses": [f"201555{n:04}" for n in range(1, 301)],
}


@each_case("form", H4)
def test_it_says_where_and_what_to_do(form: str, tmp_path: Path) -> None:
    """The column, how many, and both ways on; said a second time, they are sent as they stand."""
    values = H4[form]
    path, _ = _csv(tmp_path / "list.csv", {form: values})
    (refusal, *_) = audiencekit.check(path).refusals
    assert str(refusal).startswith(
        "300 of the 300 long numbers in column partner_user_id (partner_user_id) read as phone"
    )
    assert "phone_number" in (refusal.hint or "")
    assert "`confirm_partner_ids=True`" in (refusal.hint or "")
    assert audiencekit.check(path, **CONFIRMED).verdict == "ready"
    assert not any(value in f"{refusal} {refusal.hint}" for value in values)


def test_the_name_of_the_column_said_twice_is_not_enough(tmp_path: Path) -> None:
    """`--map` with the kind's own name says once what the name says."""
    path, _ = _csv(tmp_path / "list.csv", {"numbers": H4["German mobiles under the kind's own name"]})
    assert audiencekit.check(path, columns={NAME: NAME}).verdict == "refused"


def test_an_innocent_beginning_does_not_help(tmp_path: Path) -> None:
    """Phone numbers that begin behind the sample, and behind the first batch, refuse the whole."""
    ids = [f"CRM-{n:06}" for n in range(99_000)]
    path, _ = _csv(tmp_path / "list.csv", {"ids": ids + [f"0151{10_000_001 + n}" for n in range(2_000)]})
    (refusal, *_) = audiencekit.check(path).refusals
    assert "2,000 of the 2,000 long numbers" in str(refusal)


def test_the_country_of_each_row_counts(tmp_path: Path) -> None:
    """National numbers of small countries, each row with its own."""
    numbers = [("NO", f"4{n:07}") for n in range(1_100_000, 1_100_060)] + [
        ("DK", f"2{n:07}") for n in range(1_100_000, 1_100_060)
    ]
    path = tmp_path / "list.csv"
    path.write_text("partner_user_id,country\n" + "".join(f"{number},{country}\n" for country, number in numbers))
    assert audiencekit.check(path).verdict == "refused"
    path.write_text("partner_user_id\n" + "".join(f"{number}\n" for _, number in numbers))
    assert audiencekit.check(path).verdict == "ready", "eight digits are an id unless a country is said"


def test_a_confirmation_is_the_word_true_and_nothing_like_it(tmp_path: Path) -> None:
    """A text from a configuration does not confirm by being there."""
    path, _ = _csv(tmp_path / "list.csv", {"numbers": H4["American numbers beside addresses"]})
    with pytest.raises(UsageError, match="confirm_partner_ids must be"):
        audiencekit.check(path, confirm_partner_ids="false")  # type: ignore[typeddict-item]


def _drawn(makes: dict[str, MakeList], size: int, seeds: int) -> Lists:
    return {(word, seed): make(random.Random(seed), size) for word, make in makes.items() for seed in range(seeds)}


@pytest.mark.parametrize(("size", "seeds"), shortened([(60, 1), (1_000, 2)], 1))
def test_numbers_of_several_countries_are_refused(size: int, seeds: int) -> None:
    """However they are mixed, and whether they are drawn or invented."""
    lists = _drawn(PHONES, size, seeds)
    assert set(lists) - _refused(lists) == set()


@pytest.mark.parametrize(("size", "seeds"), shortened([(100, 1), (1_000, 2)], 1))
def test_lists_of_ids_are_not_refused(size: int, seeds: int) -> None:
    """Random ones, counters, times and those with other signs."""
    assert _refused(_drawn(IDS, size, seeds)) == set()


ACCOUNTS: dict[str, Callable[[random.Random], str]] = {
    "Visa": lambda c: with_check_digit(f"4{c.randrange(10**14):014}"),
    "Mastercard": lambda c: with_check_digit(f"5{c.randrange(1, 6)}{c.randrange(10**13):013}"),
    "Mastercard, newer": lambda c: with_check_digit(f"{c.randrange(2221, 2721)}{c.randrange(10**11):011}"),
    "American Express": lambda c: with_check_digit(f"37{c.randrange(10**12):012}"),
    "Discover": lambda c: with_check_digit(f"6011{c.randrange(10**11):011}"),
    "JCB": lambda c: with_check_digit(f"{c.randrange(3528, 3590)}{c.randrange(10**11):011}"),
    "Diners Club": lambda c: with_check_digit(f"36{c.randrange(10**11):011}"),
    "UnionPay": lambda c: with_check_digit(f"62{c.randrange(10**13):013}"),
    "Visa in groups": lambda c: _in_fours(with_check_digit(f"4{c.randrange(10**14):014}"), " "),
    "Visa with dashes": lambda c: _in_fours(with_check_digit(f"4{c.randrange(10**14):014}"), "-"),
    "German IBAN": lambda c: with_check_number("DE", f"{c.randrange(10**18):018}"),
    "British IBAN": lambda c: with_check_number("GB", f"CANA{c.randrange(10**14):014}"),
    "French IBAN": lambda c: with_check_number("FR", f"{c.randrange(10**23):023}"),
    "IBAN in groups": lambda c: _in_fours(with_check_number("DE", f"{c.randrange(10**18):018}"), " "),
    "IBAN in lower case": lambda c: with_check_number("NL", f"CANA{c.randrange(10**10):010}").lower(),
}


def _in_fours(text: str, sign: str) -> str:
    return sign.join(text[place : place + 4] for place in range(0, len(text), 4))


@every_source
def test_numbers_of_accounts_do_not_pass(source: Source, tmp_path: Path) -> None:
    """Of payment cards and of banks, in every way of writing."""
    chance = random.Random(3)
    lists = {style: [make(chance) for _ in range(120)] for style, make in ACCOUNTS.items()}
    assert _passing(source, tmp_path / "list.csv", lists) == set()


def test_it_says_that_they_are_accounts_and_takes_a_confirmation(tmp_path: Path) -> None:
    """Loyalty cards may look the same, and their owner knows it."""
    path, _ = _csv(tmp_path / "list.csv", {"cards": [ACCOUNTS["Visa"](random.Random(seed)) for seed in range(50)]})
    (refusal, *_) = audiencekit.check(path).refusals
    assert str(refusal).startswith(
        "50 of the 50 values in column partner_user_id (partner_user_id) that are written like"
    )
    assert "`confirm_partner_ids=True`" in (refusal.hint or "")
    assert audiencekit.check(path, **CONFIRMED).verdict == "ready"


def test_accounts_among_other_ids_do_not_pass(tmp_path: Path) -> None:
    """A few hundred behind many ids refuse the list."""
    ids = [f"CRM-{n:06}" for n in range(9_000)]
    lists = {
        style: ids + [ACCOUNTS[style](random.Random(seed)) for seed in range(300)] for style in ("Visa", "German IBAN")
    }
    assert _passing(_csv, tmp_path / "list.csv", lists) == set()


def test_numbers_of_sixteen_digits_pass() -> None:
    """One in ten has the check digit of a card by chance, and one in a hundred that of an account."""
    chance = random.Random(5)
    cards = [f"4{chance.randrange(10**15):015}" for _ in range(1_000)]
    accounts = [f"DE{chance.randrange(10**20):020}" for _ in range(1_000)]
    assert _refused({"cards": cards, "accounts": accounts}) == set()


@each_case("style", ["Visa", "American Express", "German IBAN", "IBAN in groups"])
def test_a_single_account_is_refused(style: str) -> None:
    """One value has no column."""
    value = ACCOUNTS[style](random.Random(1))
    assert not _is_taken(value)
    assert _is_taken(value, confirm_partner_ids=True)


# Forms that a column cannot show: docs/identifiers.md says so.
NOT_FOUND = {
    *("date in digits alone", "MAC, digits alone", "name in base64"),
    *("car", "passport", "American number without a sign, seven digits"),
}


@pytest.mark.parametrize("size", shortened([30, 500], 1))
def test_columns_of_personal_data_are_refused(size: int) -> None:
    """Names, dates, numbers behind words, addresses, profiles, devices, places; what is not found is known."""
    lists = {(form, seed): personal_column(form, size, seed) for form in PERSONAL for seed in range(2)}
    assert {form for form, _ in set(lists) - _refused(lists)} == NOT_FOUND


@pytest.mark.parametrize("size", shortened([30, 100, 500], 1))
def test_columns_of_ordinary_ids_are_not_refused(size: int) -> None:
    """Those of common systems, counters of all lengths, and numbers behind words of the column."""
    assert _refused({(style, seed): opaque_column(style, size, seed) for style in OPAQUE for seed in range(2)}) == set()


# Form: the words by which the refusal names what the values look like.
LOOKS = {
    "social security number": "national identity or insurance numbers",
    "tax number of Brazil, digits": "national numbers with the right check digits",
    "name and birthday, dots": "dates",
    "postal address of Germany": "names, usernames or postal addresses",
    "profile, linkedin": "addresses of web pages",
    "number behind user_": "words and a phone number",
    "MAC, colons": "hardware addresses of devices",
    "coordinates, comma": "coordinates",
}


def _unsuspected(form: str) -> list[str]:
    """Values that are not refused one by one, as those with a zero in front are, which a phone number may have."""
    return [value for value in personal_column(form, 60) if not value.startswith("0")]


def test_it_says_what_the_values_look_like_and_takes_a_confirmation(tmp_path: Path) -> None:
    """The column, how many, what they are shaped like, and the option; never a value."""
    lists = {form: _unsuspected(form) for form in LOOKS}
    path, keywords = _csv(tmp_path / "list.csv", lists)
    refusals = audiencekit.check(path, **keywords).refusals
    assert len(refusals) == len(lists)
    for refusal, name, what in zip(refusals, _names(lists), LOOKS.values(), strict=True):
        shown = f"values of column {name} (partner_user_id) that were looked at are shaped like {what}"
        assert shown in str(refusal)
        assert "`confirm_partner_ids=True`" in (refusal.hint or "")
        assert not any(value in f"{refusal} {refusal.hint}" for values in lists.values() for value in values)
    assert audiencekit.check(path, **keywords, **CONFIRMED).verdict == "ready"


def test_personal_values_among_ids_do_not_pass(tmp_path: Path) -> None:
    """Half of a long list, behind its first batch."""
    values = [f"crm-{n:08}" for n in range(60_000)] + personal_column("name and birthday, dots", 60_000)
    assert _passing(_csv, tmp_path / "list.csv", {"values": values}) == set()


def test_a_padded_counter_behind_a_word_passes() -> None:
    """Its numbers have a zero in front, as those of phones have; they lie close together."""
    assert _refused({"padded": [f"crm-{n:010}" for n in range(123_456_000, 123_476_000)]}) == set()


@every_source
def test_columns_of_personal_data_do_not_pass(source: Source, tmp_path: Path) -> None:
    """Nor do mixes of countries, whichever way they come."""
    mixes = ["German, British and French", "German with the zero, American, French, Indian"]
    lists = {form: personal_column(form, 60) for form in LOOKS}
    lists |= {mix: PHONES[mix](random.Random(1), 400) for mix in mixes}
    assert _passing(source, tmp_path / "list.csv", lists) == set()


@each_case("form", [*LOOKS, "number behind id:"])
def test_a_single_value_of_these_shapes_is_refused(form: str) -> None:
    """One value has no column."""
    values = _unsuspected(form)
    if "address" in form:  # of words that no list repeats, some read as letters that are drawn
        values = ["Hauptstr. 95, 13341 Berlin"]
    assert [value for value in values if _is_taken(value)] == []
    assert all(_is_taken(value, **CONFIRMED) for value in values)
