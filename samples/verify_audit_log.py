"""Verify an audit log of audiencekit without audiencekit: for those who keep its heads, on their own machine.

    python verify_audit_log.py audit.log --keys audit-key.txt --head head.txt

audit-key.txt has what `audiencekit audit key` prints, head.txt what `audiencekit audit head` printed. It needs Python
3.11 and the package cryptography. The exit code is 0 for a log that is right, and 3 for one that is not.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

NAME = "audiencekit/state"
SIGNED = b"audiencekit/1\0audit\0"
BEFORE, AFTER, SIGNATURE = b',"signature":"', b'"}\n', 88
TAIL = len(BEFORE) + SIGNATURE + len(AFTER)


class Wrong(Exception):
    """The log, or a head of it, is not as it was written."""


def read_keys(text: str) -> list[bytes]:
    """The public keys, the oldest first; each line is the name, the key id, and type and key in base64."""
    keys = []
    for line in text.split():
        name, key_id, encoded = line.split("+", 2)
        key = base64.b64decode(encoded, validate=True)
        if name != NAME or key[:1] != b"\x01" or len(key) != 33 or note_id(key).hex() != key_id:
            raise Wrong("a line of the keys is no key of an audit log")
        keys.append(key[1:])
    return keys


def note_id(typed_key: bytes) -> bytes:
    """The id of a key in signed notes (c2sp.org/signed-note)."""
    return hashlib.sha256(NAME.encode() + b"\n" + typed_key).digest()[:4]


def is_signed(key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether the key has signed the message."""
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except InvalidSignature:
        return False
    return True


def hash_of(content: bytes) -> str:
    """SHA-256 in base64."""
    return base64.b64encode(hashlib.sha256(content).digest()).decode()


def read_head(note: str, keys: list[bytes]) -> tuple[str, int, str]:
    """The log, the number of entries and the hash of a signed note."""
    text, _, signatures = note.rpartition("\n\n")
    text += "\n"
    by_id = {note_id(b"\x01" + key): key for key in keys}
    good = 0
    for line in signatures.splitlines():
        dash, name, encoded = line.split(" ")
        raw = base64.b64decode(encoded, validate=True)
        if dash != "—":
            raise Wrong("the head is no signed note")
        if name == NAME and raw[:4] in by_id:
            if not is_signed(by_id[raw[:4]], raw[4:], text.encode()):
                raise Wrong("the head was changed: its signature does not fit")
            good += 1
    lines = text.splitlines()
    if not good or lines[0] != "audiencekit audit head 1":
        raise Wrong("the head is not signed by one of the keys")
    facts = dict(line.split(" ", 1) for line in lines[1:])
    return facts["log"], int(facts["entries"]), facts["hash"]


def read_line(number: int, line: bytes, keys: list[bytes]) -> tuple[dict[str, Any], int]:
    """The facts of a line, and the place of the key that has signed it. Raises Wrong."""
    mark = line[-TAIL:]
    if not line.endswith(AFTER) or not mark.startswith(BEFORE):
        raise Wrong(f"line {number} is no line of an audit log")
    try:
        facts, signature = json.loads(line), base64.b64decode(mark[len(BEFORE) : -len(AFTER)], validate=True)
    except ValueError:
        raise Wrong(f"line {number} was changed") from None
    for place, key in enumerate(keys):
        is_named = facts.get("key") == hashlib.sha256(key).hexdigest()[:16]
        if is_named and is_signed(key, signature, SIGNED + line[:-TAIL] + b"}"):
            return facts, place
    raise Wrong(f"line {number} was changed, or its signer is not known")


def verify(content: bytes, keys: list[bytes], notes: list[str]) -> int:
    """The number of entries of a log that is right. Raises Wrong."""
    lines = content.splitlines(keepends=True)
    if lines and (not lines[-1].endswith(b"\n") or b"\0" in lines[-1]):
        del lines[-1]  # torn by a kill; a head shows it when it was whole
    if not lines:
        raise Wrong("the log has no first line")
    opening, _ = read_line(1, lines[0], keys)
    log, after, last, place = opening["log"], opening["after"], opening["hash"], 0
    if opening["format"] != "audiencekit-audit/1" or (after == 0) != (last == hash_of(log.encode())):
        raise Wrong("the first line does not open this log")
    hashes = {after: last}
    for number, line in enumerate(lines[1:], start=1):
        facts, signer = read_line(number + 1, line, keys)
        if (facts["number"], facts["previous"]) != (after + number, last) or signer < place:
            raise Wrong(f"line {number + 1} does not follow the line before")
        last, place = hash_of(line), signer
        hashes[after + number] = last
    for of_log, entries, wanted in (read_head(note, keys) for note in notes):
        if of_log != log or hashes.get(entries) != wanted:
            raise Wrong(f"the log does not have the {entries} entries that a head tells of: its end was cut off")
    return len(lines) - 1


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description="Verify an audit log of audiencekit.")
    parser.add_argument("log", type=Path)
    parser.add_argument("--keys", type=Path, required=True, help="what `audiencekit audit key` prints")
    parser.add_argument("--head", type=Path, action="append", default=[], help="what `audiencekit audit head` printed")
    given = parser.parse_args()
    try:
        notes = [path.read_text(encoding="utf-8") for path in given.head]
        entries = verify(given.log.read_bytes(), read_keys(given.keys.read_text(encoding="utf-8")), notes)
    except (Wrong, ValueError, KeyError, TypeError, AttributeError) as error:
        sys.stdout.write(f"wrong: {error}\n")
        return 3
    sys.stdout.write(f"right: {entries} entries{'' if notes else '; without a head, a cut end is not found'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
