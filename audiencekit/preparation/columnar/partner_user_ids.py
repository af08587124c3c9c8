"""Partner user ids in bulk: whatever is printable ASCII, but for what is encoded or nearly a person's data.

The definition refuses what looks like a person's data. Every such form needs an `@`, a plus, words of letters with
blanks between, or is written in digits and separators alone; none of the forms here is any of these, unless it is
encoded, spells the `@` out, is a profile or an address of the internet, or is a number in the groups of North America.
What may be encoded is decoded; the others of these are left out, and further texts with them.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow.compute as pc

from audiencekit.identifiers.disguises import ENCODED, undisguised
from audiencekit.identifiers.partner_user_id import CONTAINED, HANDLE, MANGLED, NAME, SPELLED_AT
from audiencekit.identifiers.reasons import Reason
from audiencekit.limits import MAX_PARTNER_USER_ID_LENGTH
from audiencekit.preparation.columnar.buffers import arrow_array
from audiencekit.preparation.columnar.checks import ALWAYS, BLANK, WORD, Check, begin_codes, decide_in_order, matches
from audiencekit.preparation.columnar.decisions import UNDECIDED, Decisions, code_of

_SIGNS: Final = "!-$'-*,-?A-~"  # printable, and none that begins an address, a number or a code of one sign
_DIGITS: Final = r"[0-9]+(?:\.0)?"
_GROUPED: Final = r"[1-9][0-9]*(?:[.-][0-9]+)+"  # a phone number in such groups has a zero in front
_SIGNED: Final = rf"[{_SIGNS}]*[A-Za-z_][{_SIGNS}]*"
_WORDED: Final = rf"[ {_SIGNS}]*(?:[A-Za-z_][ {_SIGNS}]*[0-9]|[0-9][ {_SIGNS}]*[A-Za-z_])[ {_SIGNS}]*"
_BASE64: Final = r"(?:[0-9/][0-9+/]*)?[A-Za-z][A-Za-z0-9+/]*={0,2}"
_PLAIN: Final = rf"\A(?:{_DIGITS}|{_GROUPED}|{_SIGNED}|{_WORDED}|{_BASE64})\z"
_NORTH_AMERICAN: Final = r"\A(?:1[.-])?[0-9]{3}[.-][0-9]{3}[.-][0-9]{4}\z"
# IPv6 has six colons at least, or two that stand together.
_INTERNET: Final = r"\A[0-9]+(?:\.[0-9]+){3}\z|::|(?::[^:]*){5}:|(?:\A|[ /.(])(?i:x|twitter)\.(?i:com)/"
_AT: Final = rf"{SPELLED_AT}\z|(?i: at )|[(\[{{<] ?(?i:at) ?[)\]}}>]"
_DOUBTFUL: Final = rf"{_AT}|{_INTERNET}|{_NORTH_AMERICAN}"
_ENCODED: Final = rf"\A(?:{ENCODED})\z"

_CHECKS: Final = (
    BLANK,
    Check("[^ -~]", UNDECIDED),
    Check(rf"(?i:{WORD.pattern})", WORD.code),
    Check(rf"\A(?i:{MANGLED})\z", code_of(Reason.EXCEL_MANGLED)),
    Check(rf"(?i:{CONTAINED})|\A(?:{NAME}|{HANDLE})\z", code_of(Reason.LOOKS_PERSONAL)),
    Check(ALWAYS, UNDECIDED),
)


def decide_partner_user_ids(texts: Any) -> Decisions:
    """The certain ones of `texts` (pa.StringArray): the id as it stands, or its reason.

    Holds raw values: to be called from a guarded function only.
    """
    filled = pc.fill_null(texts, "")
    trimmed = pc.ascii_trim(filled, " ")
    plain = matches(trimmed, _PLAIN) & ~matches(pc.ascii_lower(trimmed), WORD.pattern)
    plain &= ~matches(trimmed, _DOUBTFUL)
    encoded = np.flatnonzero(plain & matches(trimmed, _ENCODED))
    plain[encoded] = [not any(undisguised(text)) for text in trimmed.take(arrow_array(encoded)).to_pylist()]
    codes = begin_codes(plain)
    decide_in_order(trimmed, codes, _CHECKS)
    are_long = pc.utf8_length(filled).to_numpy(zero_copy_only=False) > MAX_PARTNER_USER_ID_LENGTH
    codes[are_long & (codes != BLANK.code)] = code_of(Reason.TOO_LONG)
    return Decisions.of(filled, codes)
