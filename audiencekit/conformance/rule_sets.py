"""The rules of several services for what is hashed, as data: each is the specification's rule with a few changes.

Facts of public pages, in our words. A service of which no page with its rule could be read has no row.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from audiencekit.errors import UsageError
from audiencekit.identifiers.kinds import Kind

Change = Callable[[str], str]


def _without_tag(address: str) -> str:
    local, _, domain = address.rpartition("@")
    return f"{local.partition('+')[0]}@{domain}"


def _of_gmail(address: str) -> str:
    if not address.endswith("@gmail.com"):
        return address
    local, _, domain = _without_tag(address).rpartition("@")
    return f"{local.replace('.', '')}@{domain}"


def _without_plus(number: str) -> str:
    return number.removeprefix("+")


def _in_base64(digest: str) -> str:
    return base64.b64encode(bytes.fromhex(digest)).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """The rule of one service. `changes` are made to a value that the specification's rule has normalised.

    `source` is the page that says so. `disputed` are the kinds of which the service's pages say nothing, or contradict
    each other. `only_accepted`: the page says nothing of values to refuse, so none is among the vectors.
    """

    source: str
    kinds: frozenset[Kind]
    changes: Mapping[Kind, Change] = field(default_factory=dict)
    disputed: frozenset[Kind] = frozenset()
    encode: Change = str
    only_accepted: bool = True


_REACHED: Final = frozenset({Kind.EMAIL, Kind.PHONE_NUMBER})

RULE_SETS: Final[Mapping[str, RuleSet]] = MappingProxyType(
    {
        "spec": RuleSet(
            source="specification, part 2, section 4.4; docs/identifiers.md where it leaves a question open",
            kinds=frozenset(Kind),
            only_accepted=False,
        ),
        # Lower case and no white space around it; a handle without its sign; ids as integers; IDFA with dashes.
        "x": RuleSet(
            source="https://developer.x.com/en/docs/x-ads-api/audiences/overview/user-data",
            kinds=frozenset(kind for kind in Kind if kind.is_hashed),
            disputed=frozenset({Kind.PHONE_NUMBER}),  # the page has no rule for them
        ),
        # White space is taken out of addresses, all is in lower case, numbers are E.164 with their country code.
        "google": RuleSet(
            source="https://developers.google.com/display-video/api/guides/tasks/upload-customer-match-audience/prepare-data",
            kinds=_REACHED,
        ),
        # A plus and all behind it is taken out of addresses. Numbers are digits with their country code: the page of
        # August 2025 forbids the plus, that of June 2025 asked for it.
        "tiktok": RuleSet(
            source="https://ads.tiktok.com/help/article/list-of-supported-ids-and-formats-for-a-customer-file",
            kinds=_REACHED,
            changes={Kind.EMAIL: _without_tag, Kind.PHONE_NUMBER: _without_plus},
            disputed=frozenset({Kind.PHONE_NUMBER}),
        ),
        # Dots and tags are taken out of addresses at gmail.com alone; E.164 with its plus; base64 of the 32 bytes.
        "uid2": RuleSet(
            source="https://unifiedid.com/docs/getting-started/gs-normalization-encoding",
            kinds=_REACHED,
            changes={Kind.EMAIL: _of_gmail},
            encode=_in_base64,
        ),
    }
)


def find_rule_set(name: str) -> RuleSet:
    """Return the rule set called `name`. Raises UsageError for any other name."""
    if name not in RULE_SETS:
        raise UsageError("`rule_set=` is not a rule set", hint=f"one of {', '.join(RULE_SETS)}")
    return RULE_SETS[name]
