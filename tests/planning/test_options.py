"""Keywords that cannot be are refused as such, whatever a program gives."""

from __future__ import annotations

import json
from typing import Any

import pytest

from audiencekit.errors import UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.planning.options import plain_keywords, read_keywords
from audiencekit.profile import SPEC

WRONG: list[dict[str, Any]] = [
    *(
        {name: 49}
        for name in ("country", "country_column", "encoding", "delimiter", "split_cells", "suppress_encoding")
    ),
    *({"ttl_days": given} for given in ("", "3", 1.5, True)),
    *({"hashed": given} for given in (49, [49], [["email"]])),
    *({"ignore": given} for given in (49, [49], [["phone"]])),
    *({"columns": given} for given in (49, "email=mail", ["email"], {"email": 49}, [("email", "mail", "x")])),
]


@pytest.mark.parametrize("keywords", WRONG, ids=repr)
def test_a_value_of_another_type_is_a_usage_error(keywords: Any) -> None:
    """And no AttributeError from wherever it is used first."""
    with pytest.raises(UsageError):
        read_keywords(plain_keywords(keywords), SPEC)
    with pytest.raises(UsageError):
        read_keywords(keywords, SPEC)


@pytest.mark.parametrize("hashed", ["email", Kind.EMAIL, ["email"], {Kind.EMAIL}, ("email", "email")])
@pytest.mark.parametrize(
    "columns", [{"email": "mail"}, [("email", "mail")], ((Kind.EMAIL, "mail"),), [["email", "mail"]]]
)
def test_kinds_are_texts_however_they_are_gathered(hashed: Any, columns: Any) -> None:
    """As JSON keeps them, too."""
    for keywords in ({"hashed": hashed, "columns": columns}, plain_keywords({"hashed": hashed, "columns": columns})):
        source = read_keywords(keywords, SPEC).source
        assert (source.hashed, source.columns) == (frozenset({Kind.EMAIL}), ((Kind.EMAIL, "mail"),))


@pytest.mark.parametrize("ignore", ["Fax", ["Fax"], ("Fax",), {"Fax"}, iter(["Fax"])])
def test_columns_to_ignore_are_kept_for_a_resumed_run(ignore: Any) -> None:
    """One or several, as JSON keeps them."""
    plain = plain_keywords({"ignore": ignore})
    assert json.loads(json.dumps(plain)) == plain
    assert read_keywords(plain, SPEC).source.ignore == ("Fax",)
