"""Values that are certain at first sight, decided and hashed at once by the kernels: most of most lists."""

from __future__ import annotations

from itertools import product
from typing import Any, Final

import numpy as np
from email_validator import SPECIAL_USE_DOMAIN_NAMES

from audiencekit.identifiers.email import CARRIERS, MAX_LOCAL_LENGTH
from audiencekit.identifiers.kinds import Kind, Rules
from audiencekit.identifiers.texts import DOUBLED, WORDS
from audiencekit.kernels.layouts import Words
from audiencekit.records.columns.arrays import PENDING, Codes, Matrix, arrow_array, hash_array
from audiencekit.records.columns.checks import signs
from audiencekit.records.columns.hashes import TEXT_LOOPS
from audiencekit.records.columns.letters import KNOWN
from audiencekit.records.columns.text_kernels import Plans, TextKernels
from audiencekit.records.phones.numbers import CALLING_CODES, CODES, DIALLED, PLACEHOLDERS, regions_of
from audiencekit.records.phones.tables import Tables, phone_tables

# A kernel asks these of ASCII texts only.
_WORDS: Final = Words.of(WORDS)
_PLACEHOLDERS: Final = Words.of(PLACEHOLDERS.to_pylist())

_DOUBLED: Final = Words.of(DOUBLED)

# Every text that NO_ADDRESS matches.
_JOINTS: Final = ("", "-", "_", ".")
_MAILS: Final = ("mail", "email", "e-mail", "e_mail")
_ENDS: Final = ("", *map("".join, product(_JOINTS, ("address", "provided", "given", "available"))))
NO_ADDRESSES: Final = frozenset(
    {
        "n/a",
        "*",
        *("x" * size for size in range(4, MAX_LOCAL_LENGTH + 1)),
        *(f"not{joint}provided" for joint in _JOINTS),
        *map("".join, product(["no"], _JOINTS, _MAILS, _ENDS)),
    }
)
_CARRIERS: Final = Words.of(CARRIERS)
_NO_ADDRESSES: Final = Words.of(NO_ADDRESSES)

_NO_REGION: Final = -1  # where a kernel begins for a region without phone numbers


def decide_plain(texts: Any, kind: Kind, countries: Any | None, rules: Rules) -> tuple[Codes, Matrix] | None:
    """Codes, PENDING for what is left to the columnar rules, and hashes of the valid ones.

    None for kinds that no kernel decides, and without kernels. `countries` are as in `decide_phone_numbers`. Holds raw
    values: to be called from a guarded function only.
    """
    compiled = TEXT_LOOPS if isinstance(TEXT_LOOPS, TextKernels) else None
    match kind:
        case Kind.EMAIL if compiled:
            return _decide_emails(texts, compiled)
        case Kind.PHONE_NUMBER if compiled:
            names, regions = regions_of(countries, len(texts), rules)
            plans = _plans(phone_tables().covering(filter(None, names), ()), names, rules)
            return compiled.decide_phone_numbers(texts, regions=regions, plans=plans)
        case _:
            return None


def valid_hashes(codes: Codes, hashes: Matrix) -> Any:
    """The hashes whose code is VALID (HASH_TYPE). They may be moved to the front of `hashes`."""
    return hash_array(TEXT_LOOPS.keep_valid(codes, hashes))


def _decide_emails(texts: Any, compiled: TextKernels) -> tuple[Codes, Matrix]:
    """Twice where letters are met for the first time: judged then, they are known from the second time on."""
    codes, hashes = _decide_known(texts, compiled)
    left = np.flatnonzero(codes == PENDING)
    if len(left):
        pending = texts.take(arrow_array(left))
        if KNOWN.learn(pending):
            codes[left], hashes[left] = _decide_known(pending, compiled)
    return codes, hashes


def _decide_known(texts: Any, compiled: TextKernels) -> tuple[Codes, Matrix]:
    return compiled.decide_emails(
        texts,
        words=_WORDS,
        no_addresses=_NO_ADDRESSES,
        doubled=_DOUBLED,
        carriers=_CARRIERS,
        special_use=Words.of(SPECIAL_USE_DOMAIN_NAMES),  # read anew, since a host program may change the library's list
        letters=KNOWN.letters(),
    )


def _plans(tables: Tables, names: list[str | None], rules: Rules) -> Plans:
    """The plans of the rows' countries, and of the calling codes that the columnar rules had to look at so far."""
    national = [tables.national[name] if name else _NO_REGION for name in names]
    return Plans(
        following=tables.following,
        readings=tables.readings,
        national=np.array(national, dtype=np.int32),
        international=tables.international,
        calling_codes=CALLING_CODES,
        outcomes=CODES,
        placeholders=_PLACEHOLDERS,
        words=_WORDS,
        signs=signs(),
        dialled=DIALLED,
        writes_plus=rules.phone_form == "e164",
        decides_national=rules.phone_validity == "valid",
    )
