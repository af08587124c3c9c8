"""The head of a log as a signed note, which others keep: later they see whether the log still has all that it had.

The text names the log, how many entries it has had, and the hash of the last line, each in a line; it is no checkpoint
of a tree.
"""

from __future__ import annotations

import re
from typing import Final

from audiencekit.audit.chain import Head
from audiencekit.state.keys import StateKey
from audiencekit.state.signing import open_note, sign_note

_TITLE: Final = "audiencekit audit head 1"
_TEXT: Final = re.compile(
    rf"{_TITLE}\nlog ([0-9a-f]{{16}})\nentries (0|[1-9][0-9]{{0,17}})\nhash ([0-9A-Za-z+/]{{43}}=)\n"
    r"at [0-9TZ:.-]{1,40}\n"
)


def write_note(head: Head, at: str, key: StateKey) -> str:
    """Return the signed note of a head that was taken `at` a time."""
    return sign_note(f"{_TITLE}\nlog {head.log}\nentries {head.number}\nhash {head.hash}\nat {at}\n", key)


def read_note(content: bytes, key: StateKey) -> Head | None:
    """Return the head in a note that `key`, or one before it, has signed; None for any other content."""
    facts = _TEXT.fullmatch(open_note(content, key) or "")
    return None if facts is None else Head(facts[1], int(facts[2]), facts[3])
