"""An option in a message, as Python spells it: `country='US'`, between backquotes.

The text says nothing of a command line: a door that spells options another way finds them by `OPTION` and says them
its own way (`cli/output.py`). An option without a value ends with `=`.
"""

from __future__ import annotations

import re
from typing import Any, Final

OPTION: Final = re.compile(r"`([a-z][a-z_]*)=([^`]*)`")
_BACKQUOTE: Final = r"\x60"  # the same character in a literal; it would end the option too early


def option(name: str, value: Any = None) -> str:
    """The option `name` with `value`, which is shown as a literal; without one where it is None."""
    literal = "" if value is None else repr(value).replace("`", _BACKQUOTE)
    return f"`{name}={literal}`"
