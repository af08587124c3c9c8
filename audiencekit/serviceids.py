"""The form of the ids of the service: it names accounts, audiences and lists, and nothing else so.

Ids become parts of paths, of addresses and on this disk. Nothing that could mean more than a name is one.
"""

from __future__ import annotations

import re
from typing import Final

PATTERN: Final = "[0-9a-z]{1,32}"  # base 36 in lower case (public service, examples)
HINT: Final = "ids are 1 to 32 lower-case letters and digits, such as 18ce54d4x5t"

_ID: Final = re.compile(PATTERN, re.ASCII)


def is_service_id(given: object) -> bool:
    """Whether `given` is text that can be an id."""
    return isinstance(given, str) and _ID.fullmatch(given) is not None
