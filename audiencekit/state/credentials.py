"""The credentials that `login` keeps of one service, in the keyring or else in a file for their owner alone."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from audiencekit.errors import InputOutputFailed
from audiencekit.personal import Personal, Secret, guarded
from audiencekit.state.directory import check_root, make_directory
from audiencekit.state.files import check_private, explained, other_number, read_file, replace_file
from audiencekit.state.key_command import GivenKey, clear_keyring, read_keyring, write_keyring
from audiencekit.state.key_places import place_of_key
from audiencekit.state.key_rotation import settle_rotation
from audiencekit.state.keys import StateKey, existing_state_key, find_state_key

CredentialPlace: TypeAlias = Literal["keyring", "file"]

APPLICATION: Final = ("consumer_key", "consumer_secret")
TOKEN: Final = ("access_token", "access_token_secret")
SECRET_NAMES: Final = (*APPLICATION, *TOKEN)

FILE_NAME: Final = "credentials.json"
MARK: Final = b"AKCREDS1"
MAX_FILE_BYTES: Final = 1_000_000
_PURPOSE, _NONCE_BYTES = "credentials", 12
_HINT: Final = "unlock it, or give the credentials in the environment"
_LOST: Final = "log in again"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCredentials:
    """Credentials of one service; `secrets` by the names of the settings. The token is of the consumer key in it."""

    secrets: Mapping[str, Secret]
    user_id: str = ""
    screen_name: str = ""


class CredentialStore:
    """The credentials of one service, named by its profile and its base address, of the user of `state_dir`.

    What both the keyring and the file hold is read in this order. Every method raises CredentialsRefused for a keyring
    that is locked, and InputOutputFailed for a file that others may read, or that is not what was written. The file is
    sealed where the state key is elsewhere; `given` is that key, as in the settings.
    """

    def __init__(self, state_dir: Path, service: str, given: GivenKey = None) -> None:
        self._path, self._service, self._given = state_dir / FILE_NAME, service, given

    def read(self) -> Iterator[tuple[CredentialPlace, StoredCredentials]]:
        """The stored credentials, and where; usually once or not at all."""
        content = read_keyring(self._service, hint=_HINT)
        if content is not None:
            yield "keyring", _stored(_parse(content, "what the keyring holds"))
        entry = self._read_file().find(self._service)
        if entry is not None:
            yield "file", _stored(entry)

    def keep(self, stored: StoredCredentials) -> CredentialPlace:
        """Keep this and nothing else, and say where."""
        self.remove()
        document = _document(stored)
        if write_keyring(self._service, document.write(), hint=_HINT):
            return "keyring"
        self._write_file(self._read_file().put(self._service, document))
        return "file"

    def remove(self) -> tuple[CredentialPlace, ...]:
        """Keep nothing, and say where something was kept."""
        places: list[CredentialPlace] = []
        if read_keyring(self._service, hint=_HINT) is not None:
            clear_keyring(self._service, hint=_HINT)
            places.append("keyring")
        entries = self._read_file()
        if entries.find(self._service) is not None:
            self._write_file(entries.put(self._service, None))
            places.append("file")
        return tuple(places)

    def _read_file(self) -> _Document:
        check_root(self._path.parent)
        settle_rotation(self._path.parent)
        with explained("the kept credentials cannot be read", self._path):
            if not os.path.lexists(self._path):
                return _Document({})
            check_private(self._path, lost=_LOST)
            content = _Content(read_file(self._path, MAX_FILE_BYTES))
        self._check_number(content.unwrap()[: len(MARK)])
        if not content.unwrap().startswith(MARK):
            return _parse(_as_text(content), f"the file {str(self._path)!r}")
        key = existing_state_key(self._path.parent, self._given)
        opened = None if key is None else _unsealed(content, key)
        if opened is None:
            told = f"the file {str(self._path)!r} is damaged, or sealed under another state key than is given"
            raise InputOutputFailed(told, hint=f"give the state key of that time, or remove the file and {_LOST}")
        return _parse(_as_text(opened), f"the file {str(self._path)!r}")

    def _check_number(self, head: bytes) -> None:
        if what := other_number(head, MARK):
            hint = f"use the version that wrote it; or remove the file, and {_LOST}"
            raise InputOutputFailed(f"the file {str(self._path)!r} {what}", hint=hint)

    def _write_file(self, document: _Document) -> None:
        make_directory(self._path.parent)
        is_beside = place_of_key(self._path.parent, self._given) in (None, "file")  # sealed, the key beside it opens it
        key = None if is_beside else find_state_key(self._path.parent, self._given)
        with explained("the credentials cannot be kept", self._path):
            replace_file(self._path, _sealed(document.write(), key))

    def write_sealed(self, directory: Path, old: StateKey, new: StateKey) -> None:
        """Write the file, if it is sealed, into `directory` under another state key."""
        with explained("the credentials cannot be kept", directory / FILE_NAME):
            head = read_file(self._path, len(MARK)) if os.path.lexists(self._path) else b""
            self._check_number(head)
            if head == MARK:
                opened = _unsealed(_Content(read_file(self._path, MAX_FILE_BYTES)), old)
                if opened is not None:
                    replace_file(directory / FILE_NAME, _sealed(_as_text(opened), new))

    def write_anew(self) -> None:
        """Write the file again, if there is one, for the place where the state key is now."""
        if os.path.lexists(self._path):
            self._write_file(self._read_file())


class _Content(Personal[bytes]):
    """The content of the file, sealed or not."""


class _Document(Personal[dict[str, Any]]):
    """A JSON object with secrets in it."""

    def find(self, name: str) -> _Document | None:
        """The object under `name`."""
        entry = self._hidden.get(name)
        return _Document(entry) if isinstance(entry, dict) else None

    def text(self, name: str) -> str:
        """The text under `name`; empty where there is none."""
        entry = self._hidden.get(name)
        return entry if isinstance(entry, str) else ""

    def put(self, name: str, entry: _Document | None) -> _Document:
        """These credentials with `entry` under `name`; without an entry there for None."""
        others = {key: value for key, value in self._hidden.items() if key != name}
        return _Document(others if entry is None else {**others, name: entry.unwrap()})

    def write(self) -> Secret:
        """The JSON to store."""
        return Secret(json.dumps(self._hidden, indent=1, sort_keys=True))


@guarded
def _as_text(content: _Content) -> Secret:
    return Secret(content.unwrap().decode("utf-8", "replace"))


@guarded
def _sealed(text: Secret, key: StateKey | None) -> bytes:
    content = text.unwrap().encode()
    if key is None:
        return content
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return MARK + nonce + AESGCM(key.derive(_PURPOSE).unwrap()).encrypt(nonce, content, MARK)


def _unsealed(content: _Content, key: StateKey) -> _Content | None:
    sealed, begin = content.unwrap(), len(MARK) + _NONCE_BYTES
    try:
        return _Content(AESGCM(key.derive(_PURPOSE).unwrap()).decrypt(sealed[len(MARK) : begin], sealed[begin:], MARK))
    except (InvalidTag, ValueError):
        return None


@guarded
def _parse(content: Secret, where: str) -> _Document:
    try:
        document = json.loads(content.unwrap())
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise InputOutputFailed(f"{where} holds no credentials that can be read", hint=f"remove it, and {_LOST}")
    return _Document(document)


def _stored(document: _Document) -> StoredCredentials:
    secrets = {name: Secret(document.text(name)) for name in SECRET_NAMES if document.text(name)}
    return StoredCredentials(
        secrets=secrets, user_id=document.text("user_id"), screen_name=document.text("screen_name")
    )


def _document(stored: StoredCredentials) -> _Document:
    secrets = {name: secret.unwrap() for name, secret in stored.secrets.items()}
    return _Document({**secrets, "user_id": stored.user_id, "screen_name": stored.screen_name})
