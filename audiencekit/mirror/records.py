"""The sealed records of a mirror: the head, the list of files, and pieces of files.

Each object is sealed with AES-GCM under a key for this one state, and bound to its name and kind. So an object that was
edited, put under another name, or copied from another state is not opened. Names hold random digits and counts only.
"""

from __future__ import annotations

import dataclasses
import hashlib
import secrets
from dataclasses import dataclass, field
from typing import Any, Final, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from audiencekit.errors import StateRefused
from audiencekit.state.files import read_json, write_json
from audiencekit.state.keys import StateKey

HEAD: Final = "head"
LISTS, PIECES, MARKS = "lists/", "pieces/", "marks/"
FORM: Final = 1
PIECE_BYTES: Final = 1 << 20
_MAGIC: Final = b"AKSTATE1"
_ID_BYTES, _NONCE_BYTES = 16, 12
_PURPOSE: Final = "mirror"
_DIGITS: Final = 12  # of a generation in a name, so that names sort by it


def refusal(reason: str) -> StateRefused:
    """Return the error for an object that is not as it was written, not the last, or not there."""
    return StateRefused(
        f"the state in the bucket cannot be trusted: {reason}; nothing was sent",
        hint="restore all objects below its prefix as they were at one moment, from the versions of the bucket",
    )


@dataclass(frozen=True, slots=True)
class Holder:
    """The command that may change the state, with a random `token`, its `host` for people, and its signs of life."""

    token: str
    host: str
    beat: int = 0


@dataclass(frozen=True, slots=True)
class Head:
    """The state: the number of its last change, the name and digest of the list of its files, and its holder."""

    generation: int
    files: str
    digest: str
    holder: Holder | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"form": FORM, **dataclasses.asdict(self)}

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Self:
        """Raises ValueError, TypeError or KeyError for another document."""
        holder = document["holder"]
        return cls(
            int(document["generation"]),
            str(document["files"]),
            str(document["digest"]),
            Holder(**holder) if holder else None,
        )

    @property
    def note(self) -> str:
        """The generation and the digest of the list of files: what a witness keeps."""
        return f"{self.generation}:{self.digest}"


@dataclass(frozen=True, slots=True)
class MirroredFile:
    """A file: its size in bytes, its time of change in nanoseconds, and its pieces with their digests."""

    size: int
    changed_at: int
    pieces: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class FileList:
    """All files of a generation, by their paths below the state directory."""

    generation: int
    files: dict[str, MirroredFile] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """Return it as JSON."""
        files = {path: [one.size, one.changed_at, one.pieces] for path, one in sorted(self.files.items())}
        return write_json({"generation": self.generation, "files": files})

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Raises ValueError, TypeError or KeyError for other bytes."""
        document = read_json(content)
        files = {
            path: MirroredFile(size, changed_at, tuple((name, digest) for name, digest in pieces))
            for path, (size, changed_at, pieces) in document["files"].items()
        }
        return cls(int(document["generation"]), files)

    @property
    def pieces(self) -> set[str]:
        """The names of all pieces."""
        return {name for one in self.files.values() for name, _ in one.pieces}


class Sealer:
    """Seals the objects of one state, `state_id`. `randomness` returns so many bytes."""

    def __init__(self, key: StateKey, state_id: bytes) -> None:
        self._cipher = AESGCM(key.derive(_PURPOSE, state_id.hex()).unwrap())
        self.state_id = state_id

    @classmethod
    def new(cls, key: StateKey) -> Self:
        """Return the sealer of a new state."""
        return cls(key, secrets.token_bytes(_ID_BYTES))

    @classmethod
    def of_head(cls, key: StateKey, data: bytes) -> Self:
        """Return the sealer of the state with this head, which is not yet opened. Raises StateRefused."""
        if not data.startswith(_MAGIC) or len(data) < len(_MAGIC) + _ID_BYTES + _NONCE_BYTES:
            raise refusal("its head is not one")
        return cls(key, data[len(_MAGIC) : len(_MAGIC) + _ID_BYTES])

    def seal(self, name: str, content: bytes) -> bytes:
        """Return `content` for the object `name`."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return _MAGIC + self.state_id + nonce + self._cipher.encrypt(nonce, content, name.encode())

    def open(self, name: str, data: bytes | None) -> bytes:
        """Return the content of the object `name`. Raises StateRefused."""
        if data is None:
            raise refusal("an object is missing")
        begin = len(_MAGIC) + _ID_BYTES
        try:
            if data[:begin] != _MAGIC + self.state_id:
                raise InvalidTag
            return self._cipher.decrypt(data[begin : begin + _NONCE_BYTES], data[begin + _NONCE_BYTES :], name.encode())
        except (InvalidTag, ValueError):
            pass
        raise refusal("an object was changed, or is of another state or another state key")

    def seal_head(self, head: Head) -> bytes:
        """Return the bytes of the head; two calls return other bytes."""
        return self.seal(HEAD, write_json(head.to_json()))

    def open_head(self, data: bytes) -> Head:
        """Return the head. Raises StateRefused."""
        content = self.open(HEAD, data)
        try:
            return Head.from_json(read_json(content))
        except (ValueError, TypeError, KeyError):
            pass
        raise refusal("its head has another form; another version of audiencekit may have written it")

    def open_list(self, head: Head, data: bytes | None) -> FileList:
        """Return the list of files that `head` names. Raises StateRefused."""
        content = self.open(head.files, data)
        if digest_of(content) != head.digest:
            raise refusal("the list of its files is not the last")
        try:
            return FileList.from_bytes(content)
        except (ValueError, TypeError, KeyError):
            pass
        raise refusal("the list of its files has another form")


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of sealed content, in hex."""
    return hashlib.sha256(content).hexdigest()


def new_name(room: str, generation: int | None = None) -> str:
    """Return a new name in LISTS, PIECES or MARKS."""
    number = "" if generation is None else f"{generation:0{_DIGITS}}-"
    return f"{room}{number}{secrets.token_hex(16)}"


def mark_name(generation: int) -> str:
    """Return the name of the mark of a generation."""
    return f"{MARKS}{generation:0{_DIGITS}}"


def generation_of(name: str) -> int:
    """Return the generation in the name of a mark or list; -1 for other names."""
    number = name.rpartition("/")[2][:_DIGITS]
    return int(number) if number.isdecimal() and len(number) == _DIGITS else -1
