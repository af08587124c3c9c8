"""Partner user ids in bulk: ids as machines write them and blank cells are decided, the rest is left undecided.

The definition refuses what looks like a person's data. Every such form needs an `@`, a white space, a bracket, a plus
in front, or is written in digits and separators alone; none of the forms here has any of these, unless it is encoded,
spells the `@` out, is a profile or an address of the internet, or is a number in the groups of North America. Such
texts are left out, and others with them.
"""

from __future__ import annotations

from typing import Any, Final

import pyarrow.compute as pc

from audiencekit.identifiers.disguises import ENCODED
from audiencekit.identifiers.partner_user_id import SPELLED_AT
from audiencekit.identifiers.reasons import Reason
from audiencekit.limits import MAX_PARTNER_USER_ID_LENGTH
from audiencekit.preparation.columnar.checks import ALWAYS, BLANK, WORD, Check, begin_codes, decide_in_order, matches
from audiencekit.preparation.columnar.decisions import UNDECIDED, Decisions, code_of

_DIGITS: Final = r"[0-9]+(?:\.0)?"
_GROUPED: Final = r"[1-9][0-9]*(?:-[0-9]+)+"  # a phone number in such groups has a zero in front
_DOTTED: Final = r"[A-Za-z0-9_.:=#|/-]*[A-Za-z_][A-Za-z0-9_.:=#|/-]*"
_BASE64: Final = r"(?:[0-9/][0-9+/]*)?[A-Za-z][A-Za-z0-9+/]*={0,2}"
_PLAIN: Final = rf"\A(?:{_DIGITS}|{_GROUPED}|{_DOTTED}|{_BASE64})\z"
_NORTH_AMERICAN: Final = r"\A(?:1-)?[0-9]{3}-[0-9]{3}-[0-9]{4}\z"
# IPv6 has six colons at least, or two that stand together.
_DOUBTFUL: Final = rf"\A(?:{ENCODED})\z|{SPELLED_AT}\z|::|(?::[^:]*){{5}}:|\.(?i:com)/|{_NORTH_AMERICAN}"

_CHECKS: Final = (BLANK, Check(ALWAYS, UNDECIDED))


def decide_partner_user_ids(texts: Any) -> Decisions:
    """The certain ones of `texts` (pa.StringArray): the id as it stands, or EMPTY.

    Holds raw values: to be called from a guarded function only.
    """
    filled = pc.fill_null(texts, "")
    plain = matches(filled, _PLAIN) & ~matches(pc.ascii_lower(filled), WORD.pattern)
    codes = begin_codes(plain & ~matches(filled, _DOUBTFUL))
    decide_in_order(filled, codes, _CHECKS)
    are_long = pc.utf8_length(filled).to_numpy(zero_copy_only=False) > MAX_PARTNER_USER_ID_LENGTH
    codes[are_long & (codes != BLANK.code)] = code_of(Reason.TOO_LONG)
    return Decisions.of(filled, codes)
