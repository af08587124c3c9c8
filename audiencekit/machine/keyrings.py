"""The keyring of this machine, which holds secrets for its user; the extra `keyring` brings the library."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from audiencekit.errors import CredentialsRefused
from audiencekit.personal import Secret

KEYRING_SERVICE: Final = "audiencekit"


def read_keyring(name: str, *, hint: str) -> Secret | None:
    """The entry of the keyring under `name`; None without the extra, without a keyring, and when it holds nothing.

    Raises CredentialsRefused, with `hint`, when there is a keyring that cannot be read.
    """
    kept = _ask("read", hint, "get_password", name)
    return None if kept is None else Secret(kept)


def write_keyring(name: str, content: Secret, *, hint: str) -> bool:
    """Whether the keyring holds `content` now: one that only pretends is none. Raises as `read_keyring`."""
    _ask("written", hint, "set_password", name, content)
    return read_keyring(name, hint=hint) == content


def clear_keyring(name: str, *, hint: str) -> None:
    """Make the keyring hold nothing under `name`, where it holds something. Raises as `read_keyring`."""
    _ask("written", hint, "delete_password", name)


def _ask(verb: str, hint: str, function: str, name: str, *content: Secret) -> str | None:
    try:
        keyring: Any = import_module("keyring")
        errors: Any = import_module("keyring.errors")
    except ImportError:
        return None
    failure: CredentialsRefused
    try:
        answer: str | None = getattr(keyring, function)(KEYRING_SERVICE, name, *(each.unwrap() for each in content))
        return answer
    except errors.NoKeyringError:
        return None
    except Exception as error:  # backends raise what they like; another secret than before would be worse than none
        failure = CredentialsRefused(f"the keyring cannot be {verb}: {type(error).__name__}", hint=hint)
    # Raised outside the handler: a context would hold the frames of the backend.
    raise failure
