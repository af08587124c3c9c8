"""Values that are certain at first sight, decided and hashed at once by the kernels: most of most lists."""

from __future__ import annotations

from itertools import product
from typing import Any, Final

import numpy as np
from email_validator import SPECIAL_USE_DOMAIN_NAMES

from audiencekit.identifiers.email import CARRIERS, MAX_LOCAL_LENGTH
from audiencekit.identifiers.kinds import Rules
from audiencekit.identifiers.texts import DOUBLED, WORDS
from audiencekit.kernels.layouts import Words
from audiencekit.records.columns.arrays import PENDING, Codes, Matrix, arrow_array
from audiencekit.records.columns.checks import signs
from audiencekit.records.columns.letters import KNOWN
from audiencekit.records.columns.other_spellings import leave_emails, leave_numbers
from audiencekit.records.columns.text_kernels import Plans, TextKernels
from audiencekit.records.phones.regions import CALLING_CODES, CODES, DIALLED, PLACEHOLDERS, regions_of, written_codes
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

_LOOKED_AT: Final = 256  # numbers for calling codes, at a time
_NO_REGION: Final = -1  # where a kernel begins for a region without phone numbers


def decide_emails(texts: Any, compiled: TextKernels) -> tuple[Codes, Matrix]:
    """Return the codes of addresses, PENDING where the definition must decide, and the hashes of the valid ones.

    Twice where letters are met for the first time: judged then, they are known from the second time on. Holds raw
    values: to be called from a guarded function only, as `decide_phone_numbers`.
    """
    codes, hashes = _decide_known(texts, compiled)
    left = np.flatnonzero(codes == PENDING)
    if len(left):
        pending = texts.take(arrow_array(left))
        if KNOWN.learn(pending):
            codes[left], hashes[left] = _decide_known(pending, compiled)
    leave_emails(texts, codes, PENDING)
    return codes, hashes


def decide_phone_numbers(
    texts: Any, countries: Any | None, rules: Rules, compiled: TextKernels
) -> tuple[Codes, Matrix]:
    """The same of phone numbers. `countries` (pa.StringArray of codes, or a dictionary of them; null where the row
    names none; None: no row does) are those of the rows.

    A kernel leaves what has a calling code whose plan is not among the tables. So those of what it left are read, a few
    at a time, since most of a list have the same ones, and what is left is decided again.
    """
    names, regions = regions_of(countries, len(texts), rules)
    tables = phone_tables().covering(filter(None, names), ())
    codes, hashes = compiled.decide_phone_numbers(texts, regions=regions, plans=_plans(tables, names, rules))
    left, looked_at = np.flatnonzero(codes == PENDING), 0
    while looked_at < len(left):
        places = left[looked_at : looked_at + _LOOKED_AT]
        new = {
            code
            for text, region in zip(texts.take(arrow_array(places)).to_pylist(), regions[places].tolist(), strict=True)
            for code in written_codes(text or "", names[region])
            if tables.international[code] < 0
        }
        if not new:
            looked_at += len(places)
            continue
        tables = phone_tables().covering((), new)
        rest, plans = left[looked_at:], _plans(tables, names, rules)
        codes[rest], hashes[rest] = compiled.decide_phone_numbers(
            texts.take(arrow_array(rest)), regions=regions[rest], plans=plans
        )
        left = np.concatenate([left[:looked_at], rest[codes[rest] == PENDING]])
    leave_numbers(texts, codes, names, regions, PENDING)
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
    """The plans of the rows' countries, and of the calling codes that were met so far."""
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
