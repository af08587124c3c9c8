"""The flags of the command line, in place of the options that messages and documents of the library name."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Mapping
from typing import Any, Final

from audiencekit.optiontext import OPTION

# Where a flag is not the name of its option with dashes.
_FLAGS: Final = {
    "audience_id": "--audience",
    "account_id": "--account",
    "columns": "--map",
    "suppress_columns": "--suppress-map",
    "header": "--no-header",
    "suppress_header": "--suppress-no-header",
    "source": "--from",
}
# Members of a document that are prose, at every depth; all others are data, and stay.
_PROSE: Final = frozenset({"message", "problem", "hint", "remedy", "option", "notes", "resumable"})


def spelled(text: str) -> str:
    """`text` with flags in place of options."""
    return OPTION.sub(_flag, text)


def spelled_document(document: Any) -> Any:
    """A plan, a report or a failure with flags in place of options, in what is prose of ours."""
    if isinstance(document, Mapping):
        return {
            name: _spelled_prose(value) if name in _PROSE else spelled_document(value)
            for name, value in document.items()
        }
    return list(map(spelled_document, document)) if isinstance(document, list | tuple) else document


def _spelled_prose(value: Any) -> Any:
    if isinstance(value, str):
        return spelled(value)
    return [_spelled_prose(each) for each in value] if isinstance(value, list | tuple) else spelled_document(value)


def _flag(found: re.Match[str]) -> str:
    name, literal = found.groups()
    flag = _FLAGS.get(name) or f"--{name.replace('_', '-')}"
    return flag if literal in ("", "True", "False") else ", ".join(f"{flag} {value}" for value in _values(literal))


def _values(literal: str) -> list[str]:
    """The values as a shell takes them; a word that is no literal, such as FILE, stands for a value."""
    try:
        value = ast.literal_eval(literal)
    except (SyntaxError, ValueError):
        return [literal]
    if isinstance(value, dict):
        return [f"{key}={shlex.quote(str(each))}" for key, each in value.items()]
    return list(map(_quoted, value if isinstance(value, list) else [value]))


def _quoted(value: Any) -> str:
    text = str(value)
    if text == "\n":
        return "$'\\n'"
    is_sign = len(text) == 1 and not text.isalnum() and text != "'"
    return f"'{text}'" if is_sign else shlex.quote(text)
