"""Prefixes that a country has abolished, so that phonenumbers no longer takes them off: Mexico's.

Until 2019 one dialled more than the ten digits of a number there: 01 to another area, 044 or 045 to a mobile number, 1
to one from abroad. The ten digits stayed (ITU-T, national numbering plans, T020200008A0003: Mexico). Older lists have
the prefixes, and WhatsApp still writes the 1.
"""

from __future__ import annotations

import re
from typing import Final

MEXICO: Final = 52
# Without the calling code a 1 may be that of North America: 1 415 555 0132 is read in San Francisco, not in San Miguel.
ABROAD: Final = "1"
FORMER_PREFIXES: Final = "01|04[45]|1"

_WRITTEN: Final = re.compile(rf"({FORMER_PREFIXES})([0-9]{{10}})")


def behind_former_prefix(calling_code: int, national: str, *, has_code: bool) -> str | None:
    """The ten digits behind a former prefix in the national digits of a number, where these are so written.

    `has_code`: the calling code was written before them.
    """
    found = _WRITTEN.fullmatch(national) if calling_code == MEXICO else None
    return found[2] if found and (has_code or found[1] != ABROAD) else None
