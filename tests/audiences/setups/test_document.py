"""The file of a setup: what it may say, and what it must not."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from audiencekit.audiences.setups.document import read_setup
from audiencekit.audiences.setups.setup import Setup
from audiencekit.errors import DefinitionRefused, InputOutputFailed
from audiencekit.settings import KEY_NAME, NETWORK, SECRET_NAMES
from audiencekit.settings_file import ADDRESSES

NOW = datetime(2026, 11, 1, tzinfo=UTC)
WHOLE = """
requests_per_minute = 900

[accounts.shop]
account_id = "18ce54d4x5t"
note = "the shop in Berlin"

[lists.customers]
source = ["exports/a.csv", "exports/b.csv"]
country = "DE"
columns = { email = "Mail", phone_number = "token" }
suppress = "unsubscribed.csv"
max_rejected_share = 0.2
max_records_per_request = 2500

[audiences.spring]
list = "customers"
audience = "h1ab2"
account = "shop"
schedule = "every morning"
expires_at = 2027-06-01
max_rejected_share = 0.1
allow_shrink = 0.5

[audiences.leavers]
source = "leavers.csv"
audience = "All customers"
command = "upload"
operation = "delete"
"""
AUDIENCE = '[audiences.one]\nsource = "list.csv"\naudience = "h1ab2"\n'
OBJECTIONS = '[audiences.one]\nsource = "list.csv"\ncommand = "do-not-reach"\n'


def read(directory: Path, text: str) -> Setup:
    path = directory / "audiencekit.toml"
    path.write_text(text)
    return read_setup(path, now=NOW)


def problems(directory: Path, text: str) -> dict[str, str]:
    """The places of broken rules, with what is said of them."""
    with pytest.raises(DefinitionRefused) as caught:
        read(directory, text)
    return dict(caught.value.problems)


def test_a_whole_setup_is_read(tmp_path: Path) -> None:
    """An audience comes before its list, and paths count from the directory of the file."""
    spring, leavers = read(tmp_path, WHOLE).audiences
    assert (spring.name, spring.command, spring.operation, spring.audience) == ("spring", "sync", "sync", "h1ab2")
    assert (spring.account, spring.account_id, spring.schedule) == ("shop", "18ce54d4x5t", "every morning")
    assert spring.sources == (tmp_path / "exports/a.csv", tmp_path / "exports/b.csv")
    assert spring.keywords == {
        "country": "DE",
        "columns": {"email": "Mail", "phone_number": "token"},
        "suppress": [str(tmp_path / "unsubscribed.csv")],
        "max_rejected_share": 0.1,
        "max_records_per_request": 2500,
        "expires_at": date(2027, 6, 1),
        "allow_shrink": 0.5,
    }
    assert (leavers.command, leavers.operation, leavers.account_id) == ("upload", "delete", None)
    assert leavers.keywords == {"operation": "delete"}


def test_two_lists_do_not_sync_one_audience(tmp_path: Path) -> None:
    """Each would take out the people of the other. One list may have two ways, and an audience its uploads."""
    two = AUDIENCE.replace("one", "two")
    other = two.replace("list.csv", "other.csv")
    [(place, told)] = problems(tmp_path, AUDIENCE + other).items()
    assert place == "audiences.two.audience"
    assert told.startswith("audiences.one makes it equal to another list")
    account = '[accounts.shop]\naccount_id = "a1"\n'
    agreed = f'{two}consent_column = "marketing=yes"\n'
    assert "audiences.two.audience" in problems(tmp_path, AUDIENCE + agreed), "a part of a list is another list"
    sound = (f"{two}allow_shrink = 1\n", f'{other}command = "upload"\n', f'{account}{other}account = "shop"\n')
    assert [len(read(tmp_path, AUDIENCE + more).audiences) for more in sound] == [2, 2, 2]


@pytest.mark.parametrize("name", [*SECRET_NAMES, KEY_NAME, "key_command", "limiter", "password", "ACCESS_TOKEN"])
@pytest.mark.parametrize("place", ["", "accounts.shop", "lists.customers", "audiences.one"])
def test_a_secret_is_refused_wherever_it_stands(tmp_path: Path, name: str, place: str) -> None:
    """And its value is not told."""
    line = f'{name} = "canary"\n'
    account, listed = '[accounts.shop]\naccount_id = "a1"\n', '[lists.customers]\nsource = "x.csv"\n'
    texts = {"": line, "accounts.shop": account + line, "lists.customers": listed + line, "audiences.one": ""}
    text = texts[place] + AUDIENCE + (line if place == "audiences.one" else "")
    found = problems(tmp_path, text)
    assert "a secret does not belong in this file" in found[f"{place}.{name}".lstrip(".")]
    assert "canary" not in str(found)


@pytest.mark.parametrize(
    "name",
    [
        *ADDRESSES,
        *set(NETWORK) - {"proxy"},
        "notify_command",
        "status_file",
        "state_dir",
        "profile",
        "allow_host",
        "account_id",
    ],
)
def test_it_chooses_no_address_and_no_state_directory(tmp_path: Path, name: str) -> None:
    """Nor the account of what names none."""
    assert "this file does not choose it" in problems(tmp_path, f'{name} = "x"\n{AUDIENCE}')[name]


@pytest.mark.parametrize(
    ("text", "place", "told"),
    [
        ("", "audiences", "at least one"),
        ("audiences = 3\n", "audiences", "table of tables"),
        (f'{AUDIENCE}list = "gone"\n', "audiences.one.list", "no [lists.gone]"),
        (f'{AUDIENCE}account = "gone"\n', "audiences.one.account", "no [accounts.gone]"),
        (f'{AUDIENCE}command = "renew"\n', "audiences.one.command", "sync, upload or do-not-reach"),
        (f'{AUDIENCE}operation = "delete"\n', "audiences.one.operation", "a sync does not take this"),
        (f'{AUDIENCE}country = "Atlantis"\n', "audiences.one", "not a country"),
        (f'{AUDIENCE}contry = "DE"\n', "audiences.one.contry", "perhaps country"),
        (f"{AUDIENCE}expires_at = 2027-06-01T00:00:00\n", "audiences.one", "without a time zone"),
        (f"{AUDIENCE}allow_shrink = 3\n", "audiences.one.allow_shrink", "0 to 1"),
        (f"{AUDIENCE}allow_shrink = nan\n", "audiences.one.allow_shrink", "0 to 1"),
        (f"{AUDIENCE}ttl_days = {'9' * 5_000}\n", "", "a number that is too long"),
        (f"{AUDIENCE}ttl_days = true\n", "audiences.one", "ttl_days must be a whole number"),
        ('[audiences.one]\naudience = "h1ab2"\n', "audiences.one", "it has no list"),
        ('[audiences.one]\nsource = "x.csv"\n', "audiences.one.audience", "id or the name"),
        (f'{OBJECTIONS}audience = "h1ab2"\n', "audiences.one.audience", "has one do-not-reach list"),
        (f'{OBJECTIONS}audience = ""\n', "audiences.one.audience", "has one do-not-reach list"),
        (f"{OBJECTIONS}ttl_days = 500\n", "audiences.one", "less than 13 months"),
        (f"{OBJECTIONS}expires_at = 2027-12-02\n", "audiences.one", "less than 13 months"),
        (f"{AUDIENCE}expires_at = 2026-10-31\n", "audiences.one", "would expire before"),
        (f"{OBJECTIONS}effective_at = 2027-06-01\n", "audiences.one.effective_at", "takes effect at once"),
        (f'{OBJECTIONS}suppress = "x.csv"\n', "audiences.one.suppress", "leave suppression and consent out"),
        (
            f'{OBJECTIONS}consent_column = "ok=yes"\n',
            "audiences.one.consent_column",
            "leave suppression and consent out",
        ),
        (
            f'[lists.all]\nsource = "x.csv"\nsuppress = "y.csv"\n{OBJECTIONS}list = "all"\n',
            "audiences.one.suppress",
            "leave suppression and consent out",
        ),
        (f"{OBJECTIONS}allow_shrink = 0.5\n", "audiences.one.allow_shrink", "for a sync only"),
        ('[audiences.one]\nsource = "-"\naudience = "h1"\n', "audiences.one.source", "standard input"),
        (
            f'[accounts.a-b]\naccount_id = "a1"\n[accounts.A_B]\naccount_id = "a2"\n{AUDIENCE}',
            "accounts.A_B",
            "it reads like 'a-b'",
        ),
        (f'[accounts.shop]\naccount_id = "../x"\n{AUDIENCE}', "accounts.shop.account_id", "id of an ads account"),
        ('[audiences."a b"]\nsource = "x.csv"\naudience = "h1"\n', "audiences.a b", "a name has letters"),
    ],
)
def test_a_broken_rule_is_told_with_its_place(tmp_path: Path, text: str, place: str, told: str) -> None:
    """Before anything is read or sent."""
    assert told in problems(tmp_path, text)[place]


@pytest.mark.parametrize("operation", ["update", "delete"])
def test_a_do_not_reach_list_needs_no_audience(tmp_path: Path, operation: str) -> None:
    """An account has one of them; the keywords are those of an upload."""
    (found,) = read(tmp_path, f'{OBJECTIONS}operation = "{operation}"\nttl_days = 30\n').audiences
    assert (found.command, found.operation, found.audience) == ("do-not-reach", operation, "")
    assert found.keywords == {"operation": operation, "ttl_days": 30}


def test_all_broken_rules_are_told_at_once(tmp_path: Path) -> None:
    """Of all audiences."""
    text = AUDIENCE.replace("one", "two") + 'list = "gone"\n' + AUDIENCE + 'command = "renew"\n'
    assert set(problems(tmp_path, text)) == {"audiences.two.list", "audiences.one.command"}


def test_a_wrong_command_is_told_once(tmp_path: Path) -> None:
    """Which may be that of the list that needs no audience."""
    text = '[audiences.one]\nsource = "x.csv"\ncommand = "do-not-rech"\n'
    assert set(problems(tmp_path, text)) == {"audiences.one.command"}


def test_invalid_toml_is_refused_and_a_missing_file_fails(tmp_path: Path) -> None:
    """With the place where it goes wrong."""
    assert "line 1" in problems(tmp_path, "= 3")[""]
    with pytest.raises(InputOutputFailed, match="cannot be read"):
        read_setup(tmp_path / "gone.toml")


def test_addresses_stand_as_they_are(tmp_path: Path) -> None:
    """They are no paths from the directory of the file; one with a query may be a secret."""
    setup = read(tmp_path, AUDIENCE.replace('"list.csv"', '["s3://exports/a.csv", "b.csv"]'))
    assert setup.audiences[0].sources == ("s3://exports/a.csv", tmp_path / "b.csv")
    for wrong in ("https://example.com/a?signature=x", "ftp://example.com/a", "https://ann:secret@example.com/a"):
        assert list(problems(tmp_path, AUDIENCE.replace("list.csv", wrong))) == ["audiences.one.source"]
