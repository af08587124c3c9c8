"""The rules of the services for which the tools were written, and a filter that forgives what such a rule asks for.

    python -m benchmarks.other_tools.rules RULE KIND PROGRAM [WORD ...]

The filter starts the program with its own lines, and where the program's digest is right by RULE, prints that of the
specification in its place. So `verify --command` counts by RULE.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from audiencekit.conformance.rule_sets import RULE_SETS
from audiencekit.conformance.vectors import read_vectors
from audiencekit.identifiers.kinds import Kind

Change = Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How the rule of a service differs from the specification: by `changes` of normalised values, and `encode`.

    `codes` are the classes of faults that this is, when it is counted by the specification. `source` says where the
    rule is written.
    """

    name: str
    source: str
    changes: Mapping[Kind, Change] = field(default_factory=dict)
    codes: frozenset[str] = frozenset()
    encode: Change = str


def _of_rule_set(name: str, codes: frozenset[str] = frozenset()) -> Rule:
    found = RULE_SETS[name]
    return Rule(name=name, source=f"rule set `{name}`", changes=found.changes, codes=codes, encode=found.encode)


def _without_gmail_dots(address: str) -> str:
    local, _, domain = address.rpartition("@")
    is_gmail = domain in ("gmail.com", "googlemail.com")
    return f"{local.replace('.', '')}@{domain}" if is_gmail else address


def _without_gmail_tags(address: str) -> str:
    local, _, domain = address.rpartition("@")
    is_gmail = domain in ("gmail.com", "googlemail.com")
    return f"{local.partition('+')[0]}@{domain}" if is_gmail else address


def _without_plus(number: str) -> str:
    return number.removeprefix("+")


GOOGLE: Final = _of_rule_set("google")
TIKTOK: Final = _of_rule_set("tiktok", frozenset({"tags", "no_plus"}))
UID2: Final = _of_rule_set("uid2", frozenset({"base64", "gmail_dots", "tags"}))
GOOGLE_CONVERSIONS: Final = Rule(
    name="google_conversions",
    source="an example of google-ads, upload_enhanced_conversions_for_web: dots at Gmail are removed",
    changes={Kind.EMAIL: _without_gmail_dots},
    codes=frozenset({"gmail_dots"}),
)
GOOGLE_DATA_MANAGER: Final = Rule(
    name="google_data_manager",
    source="google-ads-datamanager-util, format_email_address: dots and tags at Gmail are removed",
    changes={Kind.EMAIL: lambda address: _without_gmail_dots(_without_gmail_tags(address))},
    codes=frozenset({"gmail_dots", "tags"}),
)
META: Final = Rule(
    name="meta",
    source="facebook-business, get_international_number: numbers without +",
    changes={Kind.PHONE_NUMBER: _without_plus},
    codes=frozenset({"no_plus"}),
)
SNAP: Final = Rule(
    name="snap",
    source="snap-business-sdk, normalize_phone_num: numbers without +",
    changes={Kind.PHONE_NUMBER: _without_plus},
    codes=frozenset({"no_plus"}),
)
RULES: Final = {rule.name: rule for rule in (GOOGLE, GOOGLE_CONVERSIONS, GOOGLE_DATA_MANAGER, META, SNAP, TIKTOK, UID2)}


class Forgiving:
    """The digests of vectors of one kind, by a rule, with those of the specification in their place."""

    def __init__(self, rule: Rule, kind: Kind) -> None:
        change = rule.changes.get(kind, str)
        self._found = {
            (vector.input, vector.country): (rule.encode(_sha256(change(vector.normalised))), vector.digest)
            for vector in read_vectors()
            if vector.kind is kind and vector.normalised is not None
        }

    def forgive(self, text: str, country: str | None, digest: str | None) -> str | None:
        """Return the digest of the specification where `digest` is right by the rule; else `digest`."""
        by_rule, right = self._found.get((text, country), (None, None))
        return right if digest and digest == by_rule else digest


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the filter; its exit code is that of the program."""
    rule, kind, *words = sys.argv[1:] if arguments is None else arguments
    forgiving, given = Forgiving(RULES[rule], Kind(kind)), sys.stdin.buffer.read()
    done = subprocess.run(words, input=given, stdout=subprocess.PIPE, check=False)
    texts, digests = given.decode().split("\n"), done.stdout.decode().split("\n")
    if len(digests) == len(texts):  # else `verify` says that they differ
        digests = [forgiving.forgive(text, None, digest) or "" for text, digest in zip(texts, digests, strict=True)]
    sys.stdout.buffer.write("\n".join(digests).encode())
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
