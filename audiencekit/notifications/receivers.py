"""The receiver of notifications: an address or a program, from the environment or from the settings file."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, get_args

from audiencekit.errors import InputOutputFailed, UsageError
from audiencekit.notifications.messages import Form
from audiencekit.personal import Secret
from audiencekit.process.exchanges import Address
from audiencekit.process.programs import find_program
from audiencekit.settings import PREFIX, Settings
from audiencekit.settings_file import RECEIVERS, read_receivers
from audiencekit.state.files import check_private, explained, read_file
from audiencekit.text import shown

ENVIRONMENT: Final = "env"  # the name of the receiver that the environment describes
LEAST_SECRET: Final = 16  # characters
_MOST_BYTES: Final = 64_000


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Receiver:
    """An address with its form and secret, or the words of a program; `name` is shown in their place."""

    name: str
    address: Address | None = None
    form: Form = "json"
    secret: Secret | None = None
    words: tuple[str, ...] = ()


def find_receiver(settings: Settings, name: str | None) -> Receiver | None:
    """Return the receiver with this `name`; without a name that of the environment, None if it describes none.

    Raises UsageError for an unknown name and for an invalid description, InputOutputFailed for files that cannot be
    read, or that others may read. No message shows an address, a secret or a command.
    """
    if name not in (None, ENVIRONMENT):
        receivers = read_receivers()
        if name in receivers:
            return _of_file(str(name), receivers[name])
        known = ", ".join([ENVIRONMENT, *sorted(receivers)])
        hint = f"known are {known}; write [{RECEIVERS}.NAME] into the settings file"
        raise UsageError(f"there is no receiver of notifications {shown(name)!r}", hint=hint)
    if settings.notify_url is not None and settings.notify_command:
        raise UsageError(f"{PREFIX}NOTIFY_URL and {PREFIX}NOTIFY_COMMAND are both set", hint="give one of them")
    if settings.notify_url is not None:
        receiver = _at(ENVIRONMENT, settings.notify_url, f"{PREFIX}NOTIFY_URL")
        return replace(receiver, secret=_checked(settings.notify_secret, f"{PREFIX}NOTIFY_SECRET"))
    if settings.notify_command:
        return _program(ENVIRONMENT, settings.notify_command, f"{PREFIX}NOTIFY_COMMAND")
    if name is not None:
        hint = f"set {PREFIX}NOTIFY_URL or {PREFIX}NOTIFY_COMMAND"
        raise UsageError("the environment describes no receiver of notifications", hint=hint)
    return None


def _of_file(name: str, facts: Mapping[str, str]) -> Receiver:
    place = f"[{RECEIVERS}.{name}] of the settings file"
    if ("url_file" in facts) == ("command" in facts) or ("secret_file" in facts and "command" in facts):
        raise UsageError(f"{place} needs url_file, or command", hint="give one of them; secret_file goes with url_file")
    if "command" in facts:
        return _program(name, facts["command"], f"command in {place}")
    receiver = _at(name, _content(facts["url_file"], f"url_file in {place}"), f"url_file in {place}")
    if "secret_file" not in facts:
        return receiver
    secret = _content(facts["secret_file"], f"secret_file in {place}")
    return replace(receiver, secret=_checked(secret, f"secret_file in {place}"))


def _at(name: str, text: Secret, place: str) -> Receiver:
    form, _, rest = text.unwrap().partition(":")
    if form in get_args(Form):
        return Receiver(name=name, form=form, address=Address.read(Secret(rest), place))  # type: ignore[arg-type]  # one of them
    return Receiver(name=name, address=Address.read(text, place))


def _program(name: str, command: str, place: str) -> Receiver:
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    if not words or (os.path.dirname(words[0]) and not os.path.isabs(words[0])):
        raise UsageError(
            f"{place} is not a command", hint="give a program of PATH, or its full path, and its arguments"
        )
    program = words[0] if os.path.isabs(words[0]) else find_program(words[0])
    if program is None:
        raise UsageError(f"{place}: no directory that PATH names by its full path has the program")
    return Receiver(name=name, words=(program, *words[1:]))


def _checked(secret: Secret | None, place: str) -> Secret | None:
    if secret is not None and len(secret.unwrap()) < LEAST_SECRET:
        raise UsageError(f"{place} is too short", hint=f"give {LEAST_SECRET} characters or more, at random")
    return secret


def _content(text: str, place: str) -> Secret:
    """The secret in a file that only its owner can read."""
    path = Path(os.path.expanduser(text))
    if not path.is_absolute():
        raise UsageError(f"{place} is not an absolute path", hint="give the full path, from / or ~/")
    try:
        with explained(f"{place} cannot be read", path, hint="it holds the secret alone"):
            check_private(path, lost="write it again")
            content = read_file(path, _MOST_BYTES).decode("utf-8").strip()
    except UnicodeDecodeError:
        content = ""
    if not content:
        raise InputOutputFailed(f"{place}: the file holds no text in UTF-8", hint="it holds the secret alone")
    return Secret(content)
