"""The marks that files of ours begin with: seven letters, and the number of the format in a digit."""

from __future__ import annotations


def other_number(head: bytes, mark: bytes) -> str:
    """Words for a file that begins as `head` does: empty unless it has the `mark` with another number."""
    found = head[: len(mark)]
    if found == mark or found[:-1] != mark[:-1] or not found[-1:].isdigit():
        return ""
    return f"is in format {found.decode()}, and this version of audiencekit reads {mark.decode()} only"
