"""Whether a text is one query. A database that takes several statements would execute the rest of them, too."""

from __future__ import annotations

import re
from typing import Final

from audiencekit.errors import UsageError

_FIRST_WORDS: Final = ("SELECT", "WITH", "VALUES", "TABLE", "FROM")
# Comments, and all in which a semicolon ends nothing: texts, quoted names, and the texts of PostgreSQL between dollars.
_PASSED_OVER: Final = re.compile(
    r"""--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\$(\w*)\$.*?\$\1\$""", re.DOTALL
)


def refuse_other_statements(sql: object) -> None:
    """Raises UsageError for what is not text, and for text that is not one SELECT."""
    if not isinstance(sql, str) or not sql.strip():
        raise UsageError("`sql=` holds no query", hint="it is the SELECT that the database executes")
    bare = _PASSED_OVER.sub(lambda found: " " if found[0][:2] in ("--", "/*") else "''", sql).strip()
    statement, _, rest = bare.partition(";")
    first = re.match(r"[\s(]*(\w+)", statement)
    if first is None or first[1].upper() not in _FIRST_WORDS:
        raise UsageError("`sql=` is no query", hint="it must be one SELECT, which may begin with WITH")
    if rest.strip("; \t\r\n"):
        raise UsageError("`sql=` holds more than one statement", hint="give one SELECT")
