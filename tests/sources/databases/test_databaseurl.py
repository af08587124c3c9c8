"""A URL says which database, and never a secret."""

from __future__ import annotations

import pytest

from audiencekit.errors import UsageError
from audiencekit.sources.databases.databaseurl import SECRETS, DatabaseUrl


@pytest.mark.parametrize(
    ("text", "database"),
    [
        ("postgresql://host/shop", "postgresql"),
        ("postgres://ann@host:5433/shop?sslmode=verify-full", "postgresql"),
        ("postgresql:///?service=shop", "postgresql"),
        ("postgresql://host/shop?passfile=/home/ann/pgpass&sslkey=/home/ann/key", "postgresql"),
        ("sqlite:///people.db", "sqlite"),
        ("snowflake://ann@account/shop", "snowflake"),
        ("bigquery://project", "bigquery"),
        ("grpc+tls://host:443", "flightsql"),
        ("grpc://host:80", "flightsql"),
    ],
)
def test_which_database(text: str, database: str) -> None:
    """By its scheme."""
    assert DatabaseUrl.parse(text).database == database
    assert database in SECRETS


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://ann:hunter2@host/shop",
        "postgresql://ann:@host/shop",
        "postgresql://host/shop?password=hunter2",
        "postgresql://host/shop?sslpassword=hunter2",
        "snowflake://ann@account/shop?token=hunter2",
        "snowflake://ann@account/shop?privateKey=hunter2",
        "snowflake://ann@account/shop?private_key=hunter2",
    ],
)
def test_a_secret_is_refused(text: str) -> None:
    """It is not quoted, and the hint says where it goes."""
    with pytest.raises(UsageError, match="a password or a key") as caught:
        DatabaseUrl.parse(text)
    assert "hunter2" not in f"{caught.value} {caught.value.hint} {caught.value!r}"
    assert "it" in caught.value.hint


@pytest.mark.parametrize(
    "text", ["", None, 3, "people.csv", "mysql://host/shop", "host=a dbname=b", "http://[", "postgresql://h:x/d"]
)
def test_an_invalid_database_url_is_refused(text: object) -> None:
    """With the forms that are taken."""
    with pytest.raises(UsageError, match="URL") as caught:
        DatabaseUrl.parse(text)
    assert "postgresql://HOST/DATABASE" in caught.value.hint


def test_it_is_not_shown() -> None:
    """Hosts and users are of the caller's, and go into no log."""
    assert "shop" not in repr(DatabaseUrl.parse("postgresql://ann@host/shop"))
