"""One table from kind to bulk rule."""

from __future__ import annotations

import base64
import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.identifiers.accounts import normalize_handle, normalize_platform_id
from audiencekit.identifiers.device_id import normalize_device_id
from audiencekit.identifiers.kinds import DEFAULT_RULES, Kind, Reason, Rules, accept_hashed
from audiencekit.identifiers.partner_user_id import normalize_partner_user_id
from audiencekit.identifiers.texts import trim
from audiencekit.records.columns import hashes, small_kinds
from audiencekit.records.columns.arrays import VALID, Decisions, code_of
from audiencekit.records.columns.checks import ALWAYS, CODE_POINTS, FEW, HASHED
from audiencekit.records.columns.small_kinds import decide_in_bulk
from benchmarks.differential import compare
from benchmarks.values import (
    device_ids as device_id_values,
    handles as handle_values,
    hashed as hashed_values,
    partner_user_ids as partner_user_id_values,
    platform_ids as platform_id_values,
)
from tests.cases import each_case
from tests.examples import examples

# Text as people write it, and as it is normalised.
CERTAIN = {
    Kind.DEVICE_ID: ("6D92078A-8246-4BA4-AE5B-76104861E7DC", "6d92078a-8246-4ba4-ae5b-76104861e7dc"),
    Kind.HANDLE: ("@Anna_L", "anna_l"),
    Kind.PLATFORM_ID: (" 2244994946", "2244994946"),
    Kind.PARTNER_USER_ID: ("m-7421", "m-7421"),
}


@each_case("kind", CERTAIN)
def test_every_kind_is_decided_by_its_own_rule(kind: Kind) -> None:
    """A plain value of it leaves nothing to the definition."""
    text, normalized = CERTAIN[kind]
    decisions = decide_in_bulk(pa.array([text]), kind, DEFAULT_RULES)
    assert (decisions.normalized.to_pylist(), decisions.undecided.tolist()) == ([normalized], [])


def test_a_kind_without_a_rule_is_left_to_the_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every value of it, also a blank one."""
    monkeypatch.setattr(small_kinds, "_BULK_RULES", {})
    decisions = decide_in_bulk(pa.array(["anna@larchpost.example", None]), Kind.EMAIL, DEFAULT_RULES)
    assert decisions.undecided.tolist() == [0, 1]


ASSEMBLED = 6_000


@dataclass(frozen=True)
class SmallKind:
    """A module with its decider, the definition, the values to try, and the checks of which every one is needed."""

    module: ModuleType
    decider: str
    define: Callable[[str], Any]
    values: Any
    ladders: dict[str, int]

    def decide(self, texts: Any) -> Decisions:
        """Return the module's decisions on a list or column of texts."""
        column = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.string())
        return getattr(self.module, self.decider)(column)

    def differs(self, texts: list[str]) -> list[int]:
        """Where module and definition disagree."""
        return compare(self.decide(texts), [self.define(text) for text in texts])


def _ladders(module: ModuleType, *names: str) -> dict[str, int]:
    """How many checks of each ladder are needed: all of the opening, of others all but the one that always holds."""
    return {name: len(getattr(module, name)) - (name != "OPENING") for name in names}


DEVICE_ID = SmallKind(
    small_kinds,
    "decide_device_ids",
    normalize_device_id,
    device_id_values,
    _ladders(small_kinds, "OPENING", "_DEVICE_ID_CHECKS"),
)
# No word of today begins as a handle or address does, so the last check of whole texts decides nothing yet.
HANDLE = SmallKind(
    small_kinds,
    "decide_handles",
    normalize_handle,
    handle_values,
    _ladders(small_kinds, "_WHOLE_CHECKS", "_NAME_CHECKS"),
)
PLATFORM_ID = SmallKind(
    small_kinds,
    "decide_platform_ids",
    normalize_platform_id,
    platform_id_values,
    _ladders(small_kinds, "OPENING", "_NUMBER_CHECKS"),
)
PARTNER_USER_ID = SmallKind(
    small_kinds,
    "decide_partner_user_ids",
    normalize_partner_user_id,
    partner_user_id_values,
    {"_WORD_CHECKS": 1, "_SIGN_CHECKS": 2, "_PARTNER_ID_CHECKS": 1},
)
HASH = SmallKind(hashes, "decide_hashed", accept_hashed, hashed_values, _ladders(hashes, "_CHECKS"))

KINDS = [DEVICE_ID, HANDLE, PLATFORM_ID, PARTNER_USER_ID, HASH]
ASCII_KINDS = [kind for kind in KINDS if kind is not PARTNER_USER_ID]


def _name(kind: SmallKind) -> str:
    return kind.module.__name__.rpartition(".")[2]


every_kind = pytest.mark.parametrize("kind", KINDS, ids=_name)
every_ascii_kind = pytest.mark.parametrize("kind", ASCII_KINDS, ids=_name)


@pytest.fixture(scope="module")
def tried(assembled: Callable[..., list[str]]) -> Callable[[SmallKind], tuple[list[str], list[Any]]]:
    """Values of a kind with what people take for them, and what the definition says of each."""

    @cache
    def make(number: int) -> tuple[list[str], list[Any]]:
        kind = KINDS[number]
        texts = [*kind.values.ODD, *assembled(kind.values.PARTS, ASSEMBLED)]
        return texts, [kind.define(text) for text in texts]

    return lambda kind: make(KINDS.index(kind))


@every_kind
def test_same_as_definition(kind: SmallKind, tried: Any) -> None:
    """Whatever is decided equals the definition, text or reason."""
    texts, answers = tried(kind)
    assert compare(kind.decide(texts), answers) == []


@every_kind
def test_same_as_definition_a_few_at_a_time(kind: SmallKind, tried: Any) -> None:
    """In columns so short that the patterns are matched otherwise, too."""
    texts, answers = tried(kind)
    for start in range(0, 1_500, FEW):
        part = slice(start, start + FEW)
        assert compare(kind.decide(texts[part]), answers[part]) == []


@every_kind
def test_same_as_definition_for_any_text(kind: SmallKind) -> None:
    """No text makes the two differ."""
    parts = st.lists(st.sampled_from(kind.values.PARTS) | st.text(max_size=3), max_size=5).map("".join)

    @given(st.lists(parts, max_size=20))
    @settings(max_examples=examples(40), deadline=None)
    def check(texts: list[str]) -> None:
        assert kind.differs(texts) == []

    check()


@every_ascii_kind
def test_every_ascii_character_at_every_place(kind: SmallKind) -> None:
    """One foreign ASCII character at any place of a value is judged as the definition does."""
    whole = [(text, at) for text in kind.values.WHOLE for at in range(len(text) + 1)]
    assert kind.differs([text[:at] + chr(code) + text[at:] for text, at in whole for code in range(128)]) == []


@every_ascii_kind
def test_ascii_is_decided(kind: SmallKind, tried: Any) -> None:
    """Only texts that are not ASCII are left to the definition, and those that may be hashes in other digits."""
    texts, _ = tried(kind)
    left = [trim(texts[index]) for index in kind.decide(texts).undecided]
    assert not any(text.isascii() and len(text) not in (44, 66) for text in left)


LEFT: list[tuple[SmallKind, list[str]]] = [
    (DEVICE_ID, []),
    (HASH, []),
    (HANDLE, []),
    (PLATFORM_ID, ["x١.٠", "' ١٢", "'\u30001", '="\u30001"', "١" * 65]),
]


@each_case("kind, left", LEFT)
def test_only_few_forms_are_left(kind: SmallKind, left: list[str]) -> None:
    """Other characters than those of ASCII are decided, whether they come off, are refused or are foreign."""
    decided = ["\ufeff1\u200b", "\u2029", "b\xadob", "bób", "–", "un\u212anown", "ſ", "'aé", "=é", "1é", "é1.0"]
    decided += [
        "١٢",
        "1３",
        "٠٠१७",
        "０",
        "９" * 19,
        "٠" * 40 + "٣",
        "'" + "\U0001d7d8" * 62 + "\U0001d7d9",
        "'١٢",
        '="１२"',
        "-١,٢",
        "x.com/é",
        "x.com/bob?é",
        "é" * 70_000,
        "＠bob",
        "＠@bob",
        "＠un\u212anown",
    ]
    assert kind.decide([*decided, *left]).undecided.tolist() == [len(decided) + at for at in range(len(left))]
    assert kind.differs([*decided, *left]) == []


@every_kind
def test_null_and_blank_are_empty(kind: SmallKind) -> None:
    """Missing, blank and invisible cells are EMPTY, also in a slice; a column of no values is fine."""
    column = pa.array(["x", None, "", " \t", "\xa0\u2003", "\ufeff\u200b"])
    assert set(kind.decide(column.slice(1)).reasons.to_pylist()) == {code_of(Reason.EMPTY)}
    assert len(kind.decide(column.slice(0, 0))) == 0


def test_device_ids_in_the_case_as_given(tried: Any) -> None:
    """With the rule that keeps the case, ids leave as they were written and are judged alike."""
    rules, (texts, _) = Rules(device_id_case="as_given"), tried(DEVICE_ID)
    expected = [normalize_device_id(text, rules=rules) for text in texts]
    assert compare(small_kinds.decide_device_ids(pa.array(texts), rules), expected) == []


PARTNER_FORMS = ["digits", "float", "groups", "uuid", "hex", "dotted", "address", "two parts", "hash", "cookie", "page"]
PARTNER_FORMS += ["braces", "base64", "JSON", "words", "padded", "mangled", "mail", "name"]


@each_case("form", PARTNER_FORMS)
def test_clean_partner_user_ids_are_decided(form: str) -> None:
    """Of the usual forms of ids, and of what stands in their column by mistake, nothing is left to the definition."""
    chance = random.Random(5)
    numbers = [chance.getrandbits(128) for _ in range(1_000)]
    forms: dict[str, Callable[[int], str]] = {
        "digits": str,
        "uuid": lambda number: str(uuid.UUID(int=number)),
        "hex": lambda number: f"u{number:032X}",
        "dotted": lambda number: f"crm.{number}:de",
        "float": lambda number: f"{number % 10**6}.0",
        "groups": lambda number: f"2024-{number % 10**6:06}",
        "address": lambda number: f"gid://shop/Customer/{number % 10**13}",
        "two parts": lambda number: f"auth0|{number:032x}",
        "hash": lambda number: f"CUST#{number % 10**6:06}",
        "cookie": lambda number: f"{number % 10**9 + 10**9}.{number % 10**8 + 10**9}",
        "page": lambda number: f"https://crm.example.com/c/{number % 10**6}",
        "braces": lambda number: f"{{{uuid.UUID(int=number)}}}",
        "base64": lambda number: base64.b64encode(f"gid://shop/Customer/{number % 10**9 + 10**9}".encode()).decode(),
        "JSON": lambda number: f'{{"id":"k{number:x}"}}',
        "words": lambda number: f"Branch 7 {number % 10**6:06}",
        "padded": lambda number: f"C{number % 10**6:06}   ",
        "mangled": lambda number: f"4.9151{number % 10**4}E+12",
        "mail": lambda number: f"ada{number}@example.com",
        "name": lambda number: "Ada Quist" + "s" * (number % 9),
    }
    expected = {"mangled": Reason.EXCEL_MANGLED, "mail": Reason.LOOKS_PERSONAL, "name": Reason.LOOKS_PERSONAL}
    decisions = PARTNER_USER_ID.decide([forms[form](number) for number in numbers])
    assert (decisions.codes == (code_of(expected[form]) if form in expected else VALID)).mean() >= 0.995


PLAIN_PARTNER_USER_ID = small_kinds._PLAIN_PARTNER_ID
FORM_CHECKS = small_kinds._DEVICE_ID_CHECKS
REFUSES_ALL = (*FORM_CHECKS[:2], FORM_CHECKS[2]._replace(pattern=ALWAYS))

BROKEN: list[tuple[SmallKind, str, str, Any]] = [
    (DEVICE_ID, "longer forms", "_FORM", small_kinds._FORM.replace("{12}", "{11,13}")),
    (DEVICE_ID, "any case of digits", "_FORM", small_kinds._FORM.replace("a-f", "a-g")),
    (DEVICE_ID, "android ids forgotten", "_FORM", small_kinds._FORM.replace("|[0-9a-f]{16}", "|[0-9a-f]{32}")),
    (DEVICE_ID, "shared ids forgotten", "_NOBODYS", small_kinds._REPEATED_DIGITS),
    (DEVICE_ID, "a repeated digit forgotten", "_NOBODYS", small_kinds._NOBODYS.replace("|7[7-]*", "")),
    (DEVICE_ID, "every id is a placeholder", "_DEVICE_ID_CHECKS", REFUSES_ALL),
    (HANDLE, "longer handles", "_PLAIN_HANDLE", small_kinds._PLAIN_HANDLE.replace("15", "16")),
    (HANDLE, "dots in handles", "_PLAIN_HANDLE", small_kinds._PLAIN_HANDLE.replace("a-z", "a-z.")),
    (HANDLE, "empty handles", "_PLAIN_HANDLE", small_kinds._PLAIN_HANDLE.replace("{1,", "{0,")),
    (HANDLE, "no marks of exports", "unmark_texts", lambda trimmed: trimmed),
    (DEVICE_ID, "no marks of exports", "unmark_texts", lambda trimmed: trimmed),
    (HANDLE, "no addresses", "_ADDRESS", r"\A()\z"),
    (HANDLE, "a host too many", "_ADDRESS", small_kinds._ADDRESS.replace("(?:x|", "(?:x+|")),
    (HANDLE, "any dot", "_ADDRESS", small_kinds._ADDRESS.replace(r"\.com", ".com")),
    (HANDLE, "no line breaks behind", "_ADDRESS", small_kinds._ADDRESS.replace("(?s:.*)", ".*")),
    (HANDLE, "a page forgotten", "_PAGE", small_kinds._PAGE.replace("intent|", "")),
    (HANDLE, "a page too many", "_PAGE", small_kinds._PAGE.replace("intent|", "intent|bob|")),
    (PLATFORM_ID, "leading zeros are plain", "_PLAIN_PLATFORM_ID", r"\A[0-9]{1,18}\z"),
    (PLATFORM_ID, "longer ids are plain", "_PLAIN_PLATFORM_ID", r"\A[1-9][0-9]*\z"),
    (PLATFORM_ID, "any end", "_PLAIN_PLATFORM_ID", r"\A[1-9][0-9]{0,17}"),
    (PLATFORM_ID, "any text of any script", "_OF_ANY_SCRIPT", r"\A"),
    (PLATFORM_ID, "numbers as long as a hash", "_OF_ANY_SCRIPT", r"\A[0-9]+\z"),
    (PLATFORM_ID, "other signs are digits", "_digits", lambda: np.full(CODE_POINTS + 1, ord("7"), dtype=np.uint8)),
    (PLATFORM_ID, "no formulas", "_MARKED", r"\A'"),
    (PLATFORM_ID, "formulas with quotes inside", "_MARKED", r"""\A(?:'|="(?s:.*)"\z)"""),
    (PLATFORM_ID, "a larger largest id", "MAX_PLATFORM_ID", 2**63),
    (PLATFORM_ID, "a smaller largest id", "MAX_PLATFORM_ID", 2**63 - 2),
    (PARTNER_USER_ID, "nothing is encoded", "hold_others", lambda texts, are_asked: np.zeros(len(texts), dtype=bool)),
    (PARTNER_USER_ID, "no sign is spelled", "_DOUBTFUL", small_kinds._DOUBTFUL.replace("[Aa][Tt]", "[Zz]")),
    (PARTNER_USER_ID, "no short IPv6", "_DOUBTFUL", small_kinds._DOUBTFUL.replace("|::", "")),
    (PARTNER_USER_ID, "no IPv6 with IPv4 in it", "_DOUBTFUL", small_kinds._DOUBTFUL.replace("{5}", "{6}")),
    (PARTNER_USER_ID, "no IPv4", "_DOUBTFUL", small_kinds._DOUBTFUL.replace("{3}", "{4}")),
    (PARTNER_USER_ID, "no sign in brackets", "_DOUBTFUL", small_kinds._DOUBTFUL.replace("?(?i:at)", "?(?i:zz)")),
    (PARTNER_USER_ID, "no plain word", "_DOUBTFUL", small_kinds._DOUBTFUL.replace(" at ", " zz ")),
    (
        PARTNER_USER_ID,
        "digits with separators",
        "_PLAIN_PARTNER_ID",
        PLAIN_PARTNER_USER_ID.replace("[0-9]+", "[0-9.-]+"),
    ),
    (PARTNER_USER_ID, "digits with a slash", "_PLAIN_PARTNER_ID", PLAIN_PARTNER_USER_ID.replace("[0-9]+", "[0-9/]+")),
    (
        PARTNER_USER_ID,
        "plus without a letter",
        "_PLAIN_PARTNER_ID",
        PLAIN_PARTNER_USER_ID.replace("[A-Za-z][A-Za-z0-9+/]", "[A-Za-z0-9+/]"),
    ),
    (PARTNER_USER_ID, "white space", "_PLAIN_PARTNER_ID", PLAIN_PARTNER_USER_ID.replace("[!", "[ !")),
    (PARTNER_USER_ID, "no profiles", "_DOUBTFUL", small_kinds._DOUBTFUL.replace("(?i:com)", "(?i:net)")),
    (PARTNER_USER_ID, "profiles in one case", "_DOUBTFUL", small_kinds._DOUBTFUL.replace("(?i:com)", "com")),
    (PARTNER_USER_ID, "profiles behind a slash only", "_DOUBTFUL", small_kinds._DOUBTFUL.replace("[ /.(]", "/")),
    (PARTNER_USER_ID, "no North America", "_DOUBTFUL", small_kinds._DOUBTFUL.replace("{4}", "{5}")),
    (PARTNER_USER_ID, "zeros before groups", "_PLAIN_PARTNER_ID", PLAIN_PARTNER_USER_ID.replace("[1-9]", "[0-9]")),
    (PARTNER_USER_ID, "at signs", "_PLAIN_PARTNER_ID", PLAIN_PARTNER_USER_ID.replace("?A-~", "?@A-~")),
    (PARTNER_USER_ID, "signs of codes", "_PLAIN_PARTNER_ID", PLAIN_PARTNER_USER_ID.replace("!-$'", "!-'")),
    (PARTNER_USER_ID, "any end", "_PLAIN_PARTNER_ID", PLAIN_PARTNER_USER_ID.removesuffix(r"\z")),
    (PARTNER_USER_ID, "any beginning", "_PLAIN_PARTNER_ID", PLAIN_PARTNER_USER_ID.removeprefix(r"\A")),
    (HASH, "zeros are a hash", "_REFUSED", pa.array(hashed_values.KNOWN)),
    (HASH, "nothing is known", "_REFUSED", pa.array(["0" * 64])),
    (HASH, "a good one is known", "_REFUSED", pa.array([hashed_values.GOOD])),
    (HASH, "any hex", "HASHED", HASHED._replace(pattern=r"\A[0-9a-f]+\z")),
    (HASH, "any letters", "HASHED", HASHED._replace(pattern=r"\A[0-9a-z]{64}\z")),
    (HASH, "any end", "HASHED", HASHED._replace(pattern=r"\A[0-9a-f]{64}")),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "attribute", "broken"),
    [(kind, attribute, broken) for kind, _, attribute, broken in BROKEN],
    ids=[f"{_name(case[0])}: {case[1]}" for case in BROKEN],
)
def test_broken_patterns_are_found(
    kind: SmallKind, attribute: str, broken: Any, tried: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comparison fails for every pattern that is broken on purpose."""
    texts, answers = tried(kind)
    assert getattr(kind.module, attribute) != broken
    monkeypatch.setattr(kind.module, attribute, broken)
    assert compare(kind.decide(texts), answers)


LADDERS = [(kind, name, at) for kind in KINDS for name, size in kind.ladders.items() for at in range(size)]


@pytest.mark.parametrize(
    ("kind", "ladder", "position"), LADDERS, ids=[f"{_name(kind)}: {ladder} {at}" for kind, ladder, at in LADDERS]
)
def test_every_check_is_needed(
    kind: SmallKind, ladder: str, position: int, tried: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without any one of the checks the comparison fails."""
    texts, answers = tried(kind)
    checks = getattr(kind.module, ladder)
    monkeypatch.setattr(kind.module, ladder, checks[:position] + checks[position + 1 :])
    assert compare(kind.decide(texts), answers)
