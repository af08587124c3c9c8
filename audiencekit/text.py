"""Text of others in messages, in which nothing can act or pass for a line of ours; and options, as Python spells them.

Names of files and columns, and answers of the service come from strangers. What does not print
(control characters, marks of writing direction, line ends, halves of characters) is shown as it is escaped in Python; a
byte of a file name that is not UTF-8 as `\\xfc`.

An option in a message is `country='US'`, between backquotes. The text says nothing of a command line: a door that
spells options another way finds them by `OPTION` and says them its own way (`cli/output.py`). An option without a value
ends with `=`.
"""

from __future__ import annotations

import re
from typing import Any, Final

_UNPRINTABLE: Final = re.compile(r"[^\x20-\x7e]")
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")


def shown(text: object) -> str:
    """`text` in one line, as it may be shown."""
    return _UNPRINTABLE.sub(_escape, str(text))


def shown_lines(text: object) -> str:
    """The same with the line ends left that we wrote ourselves: every part of `text` from elsewhere went through
    `shown` before."""
    return "\n".join(map(shown, str(text).split("\n")))


def shown_json(document: str) -> str:
    """A JSON document with escapes for what does not print, which means the same; its own line ends stay."""
    return "\n".join(_UNPRINTABLE.sub(_escape_in_json, line) for line in document.split("\n"))


def ascii_json(document: str) -> str:
    """A JSON document that means the same, for an encoding that does not have all of its letters."""
    return _NOT_ASCII.sub(_in_units, document)


def _escape(found: re.Match[str]) -> str:
    letter = found.group()
    if letter.isprintable():
        return letter
    # Python has a byte of a name that is not UTF-8 as one of these halves (PEP 383).
    return f"\\x{ord(letter) - 0xDC00:02x}" if "\udc80" <= letter <= "\udcff" else ascii(letter)[1:-1]


def _escape_in_json(found: re.Match[str]) -> str:
    return found.group() if found.group().isprintable() else _in_units(found)


def _in_units(found: re.Match[str]) -> str:
    units = found.group().encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place : place + 2].hex()}" for place in range(0, len(units), 2))


OPTION: Final = re.compile(r"`([a-z][a-z_]*)=([^`]*)`")
_BACKQUOTE: Final = r"\x60"  # the same character in a literal; it would end the option too early


def option(name: str, value: Any = None) -> str:
    """The option `name` with `value`, which is shown as a literal; without one where it is None."""
    literal = "" if value is None else repr(value).replace("`", _BACKQUOTE)
    return f"`{name}={literal}`"


def install_extra(name: str) -> str:
    """The remedy where the packages of the extra `name` are missing.

    It names the checkout, never a package of an index: until a release is there, a stranger could own that name.
    """
    return f"install the extra {name!r}, in the checkout: pip install '.[{name}]'"
