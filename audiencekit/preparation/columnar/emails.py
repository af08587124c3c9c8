"""E-mail addresses in bulk: every ASCII address but those with `xn--` or its like; the others are left undecided."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
from email_validator import SPECIAL_USE_DOMAIN_NAMES

from audiencekit.identifiers.email import MAX_ADDRESS_BYTES, MAX_LABEL_LENGTH, MAX_LOCAL_LENGTH
from audiencekit.identifiers.placeholders import DOUBLED, NO_ADDRESS
from audiencekit.identifiers.reasons import Reason

from .checks import ALWAYS, NEVER, OPENING, Check, begin, decide_in_order, matches, trim
from .decisions import UNDECIDED, VALID, Decisions, code_of

_ATOM: Final = r"[a-z0-9_!#$%&'*+\-/=?^`{|}~]+"
_LOCAL: Final = rf"{_ATOM}(?:\.{_ATOM})*"
_LABEL: Final = r"[a-z0-9](?:[a-z0-9\-]*[a-z0-9])?"
_TOP: Final = r"[a-z0-9][a-z0-9\-]*[a-z]"

# No two hyphens in a row and letters only at the top, so that most texts need no other look.
_PLAIN_LABEL: Final = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_PLAIN: Final = rf"\A{_LOCAL}@(?:{_PLAIN_LABEL}\.)+[a-z][a-z]+\z"

# Up to here no part of a plain address can be too long.
_PLAIN_BYTES: Final = min(MAX_LOCAL_LENGTH, MAX_LABEL_LENGTH, MAX_ADDRESS_BYTES)

_NAMED: Final = r"[^@. \t\n\v\f\r]+"
_DOUBLES: Final = "|".join(f"{re.escape(word)}@{re.escape(word)}" for word in sorted(DOUBLED))
_PLACEHOLDER: Final = rf"\A(?:(?:{_DOUBLES})(?:\.{_NAMED}){{1,2}}\z|(?:{NO_ADDRESS.pattern})@)"

_IN_BRACKETS: Final = r"\A[^<]*<[^<>]*@[^<>]*>\z"
_REFUSED: Final = code_of(Reason.INVALID_SYNTAX)


def decide_emails(texts: Any) -> Decisions:
    """What is certain of `texts` (pa.StringArray): the address as the definition gives it, or its reason.

    Holds raw values: to be called from a guarded function only.
    """
    lowered = pc.ascii_lower(trim(texts))
    codes = begin(_is_plain(lowered))
    decide_in_order(lowered, codes, (*OPENING, *_checks()))
    return Decisions.of(lowered, codes)


def _is_plain(lowered: Any) -> npt.NDArray[np.bool_]:
    """Which of the texts are addresses at first sight."""
    plain = matches(lowered, _PLAIN) & ~matches(lowered, rf"{_PLACEHOLDER}|{_special_use()}")
    plain &= pc.binary_length(lowered).to_numpy(zero_copy_only=False) <= _PLAIN_BYTES
    return plain


def _special_use() -> str:
    """Domains that the library refuses by name, read anew since a host program may change its list."""
    return _at_or_below(SPECIAL_USE_DOMAIN_NAMES)


def _at_or_below(names: Sequence[str]) -> str:
    return rf"[@.](?:{'|'.join(map(re.escape, names))})\z" if names else NEVER


def _checks() -> tuple[Check, ...]:
    """The definition's checks of an ASCII address, in its order."""
    too_long = code_of(Reason.TOO_LONG)
    return (
        Check(_IN_BRACKETS, code_of(Reason.DISPLAY_NAME)),
        Check(r"\Amailto:", UNDECIDED),
        Check(r"\A[^@]+@[^@]+\z", _REFUSED, holds=False),
        Check(_PLACEHOLDER, code_of(Reason.PLACEHOLDER)),
        Check(rf"\A[^@]{{{MAX_LOCAL_LENGTH + 1}}}", too_long),
        Check(rf"\A(?s:.{{{MAX_ADDRESS_BYTES + 1}}})", too_long),
        Check(rf"\A{_LOCAL}@", _REFUSED, holds=False),
        *_domain_checks(too_long),
    )


def _domain_checks(too_long: int) -> tuple[Check, ...]:
    # The definition looks at the top alone; a dotted name on the library's list is for it to judge.
    tops = [name for name in SPECIAL_USE_DOMAIN_NAMES if "." not in name]
    return (
        Check(_at_or_below(tops), code_of(Reason.SPECIAL_USE_DOMAIN)),
        Check(rf"@(?s:.*)[^.@]{{{MAX_LABEL_LENGTH + 1}}}", too_long),
        Check(rf"@(?:[^@]*\.)?[^.@]{{2}}--|{_special_use()}", UNDECIDED),
        Check(rf"@(?:{_LABEL}\.)+(?:{_TOP})\z", _REFUSED, holds=False),
        Check(ALWAYS, VALID),
    )
