"""The settings file of a person, which `init` and `login` write: which service and which ads account. No secrets.

    form = 1
    profile = "x"
    account_id = "18ce54d4x5t"

    [notify.night-shift]
    url_file = "/etc/audiencekit/night-shift.url"

The last table is written by hand: a receiver of notifications, by its name. `init` and `login` keep it.

It chooses a host, so it is believed only where its owner alone can change it: neither through a link, nor when another
user owns it or can write it or its directory. It counts for one service: when options or the environment name another
one, nothing of it is used, since an account and an address belong together.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from audiencekit.errors import InputOutputFailed, UsageError
from audiencekit.state.directory import Root, check_root, make_missing, user_directory
from audiencekit.state.files import NO_WAIT, READ, explained, is_ours, others_may, replace_file

NAME: Final = "settings.toml"
FORM: Final = 1
ADDRESSES: Final = ("ads_url", "ads_sandbox_url", "base_url")
SERVICE: Final = ("profile", *ADDRESSES)
KEYS: Final = (*SERVICE, "account_id", "allow_host")
RECEIVERS: Final = "notify"  # the table of tables of receivers
RECEIVER_KEYS: Final = ("url_file", "secret_file", "command")
_RECEIVER_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
MOST_BYTES: Final = 64_000
DEFAULT_PROFILE: Final = "spec"
_CONFIGURATION: Final = Root("configuration directory", "XDG_CONFIG_HOME")
_WRITABLE: Final = 0o022  # by group or others
_HEAD: Final = "# Written by `audiencekit init`. Secrets are not here: see `audiencekit whoami`.\n"


def settings_path() -> Path | None:
    """The place of the settings file of this user, whether or not it is there; None for a user without a home."""
    directory = user_directory("configuration")
    return None if directory is None else directory / NAME


def read_settings_file() -> dict[str, str]:
    """The values of the settings file; empty when there is none.

    Raises InputOutputFailed for a file that another user could have changed, with the command that mends it, and
    UsageError for one that is not in this form.
    """
    path = settings_path()
    if path is None or not os.path.lexists(path):
        return {}
    check_root(path.parent, _CONFIGURATION)
    return _values(_parsed(path, _content(path)), path)


def read_receivers() -> dict[str, dict[str, str]]:
    """The receivers of notifications in the settings file, by their names: RECEIVER_KEYS with texts.

    They count for every service. Empty when there is none. Raises as `read_settings_file`.
    """
    path = settings_path()
    if path is None or not os.path.lexists(path):
        return {}
    check_root(path.parent, _CONFIGURATION)
    document = _parsed(path, _content(path))
    _values(document, path)
    return dict(document.get(RECEIVERS, {}))


def write_settings_file(values: Mapping[str, str]) -> Path:
    """Put these values in the place of the settings file, 0600, and return its path.

    Raises UsageError for a user without a home, and InputOutputFailed when it cannot be written, or when another user
    could change it there.
    """
    path = settings_path()
    if path is None:
        raise UsageError("this user has no home directory that settings could be kept in", hint="set XDG_CONFIG_HOME")
    with explained("the configuration directory cannot be made", path.parent):
        make_missing(path.parent)
    check_root(path.parent, _CONFIGURATION)
    receivers: dict[str, dict[str, str]] = {}
    if os.path.lexists(path):
        content = _content(path)  # which refuses a link, and a file of another user: it is not replaced unseen
        receivers = _receivers_in(content, path)
    lines = [f"form = {FORM}\n", *(f"{key} = {toml_text(values[key])}\n" for key in KEYS if values.get(key))]
    for name, facts in receivers.items():
        lines += [f"\n[{RECEIVERS}.{name}]\n", *(f"{key} = {toml_text(text)}\n" for key, text in facts.items())]
    with explained("the settings file cannot be written", path, hint=f"see whether {str(path.parent)!r} has space"):
        replace_file(path, "".join([_HEAD, *lines]).encode())
    return path


def fits_service(values: Mapping[str, str], given: Mapping[str, Any]) -> bool:
    """Whether the service that `given` names, if it names any, is that of the settings file with `values`."""
    theirs = {"profile": DEFAULT_PROFILE, **values}
    return all(name not in given or given[name] == theirs.get(name) for name in SERVICE)


def toml_text(text: str) -> str:
    """`text` as a TOML string: that of JSON, in which TOML wants one more character escaped."""
    import json

    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _content(path: Path) -> bytes:
    """The bytes of the file, which is checked where it is open: no other one takes its place before the reading."""
    if path.is_symlink():
        hint = "replace the link by the file itself; or remove it, and run `audiencekit init`"
        raise InputOutputFailed(f"the settings file {str(path)!r} is a link, which is not followed", hint=hint)
    with explained("the settings file cannot be read", path), open(os.open(path, READ | NO_WAIT), "rb") as stream:
        status = os.fstat(stream.fileno())
        _check(path, status)
        return stream.read(MOST_BYTES + 1)


def _receivers_in(content: bytes, path: Path) -> dict[str, dict[str, str]]:
    """The receivers of a file that is to be replaced; none of one that is not in this form."""
    try:
        document = _parsed(path, content)
        _check_receivers(document, f"the settings file {str(path)!r}")
    except UsageError:
        return {}
    return dict(document.get(RECEIVERS, {}))


def _check(path: Path, status: os.stat_result) -> None:
    again = "or remove it, and run `audiencekit init`"
    if not stat.S_ISREG(status.st_mode):
        raise InputOutputFailed(f"the settings file {str(path)!r} is no file", hint=f"remove it, {again}")
    if not is_ours(status):
        raise InputOutputFailed(
            f"the settings file {str(path)!r} belongs to another user (uid {status.st_uid}), who could have data sent"
            " elsewhere",
            hint=f"look at it, and make it yours with `chown`; {again}",
        )
    if others_may(status, _WRITABLE):
        raise InputOutputFailed(
            f"others may write the settings file {str(path)!r} (mode {stat.S_IMODE(status.st_mode):04o}), and could"
            " have data sent elsewhere",
            hint=f"look at it, then `chmod 600 {shlex.quote(str(path))}`; {again}",
        )


def _parsed(path: Path, content: bytes) -> dict[str, Any]:
    import tomllib

    place, hint = f"the settings file {str(path)!r}", "correct it; or remove it, and run `audiencekit init`"
    if len(content) > MOST_BYTES:
        raise UsageError(f"{place} is larger than {MOST_BYTES:,} bytes", hint=hint)
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{place} is not TOML: {error}", hint=hint) from None
    except (ValueError, RecursionError):  # bytes that are no text, a number of so many digits, tables in tables
        raise UsageError(f"{place} is not TOML", hint=hint) from None


def _values(document: Mapping[str, Any], path: Path) -> dict[str, str]:
    place = f"the settings file {str(path)!r}"
    form = document.get("form")
    if form != FORM or isinstance(form, bool):
        if isinstance(form, int) and not isinstance(form, bool):
            message = f"{place} is in form {form}, and this version of audiencekit reads form {FORM} only"
            raise UsageError(message, hint="use the version that wrote it; or remove it, and run `audiencekit init`")
        raise UsageError(f"{place} does not say its form", hint=f"write `form = {FORM}` into its first line")
    _check_receivers(document, place)
    for key in sorted(document.keys() - {"form", RECEIVERS, *KEYS}):
        from difflib import get_close_matches

        near = get_close_matches(key, KEYS, n=1)
        instead = f"did you mean {near[0]}?" if near else f"it may have {', '.join(KEYS)}, and no secrets"
        raise UsageError(f"{place} has a key that is not known: {key!a}", hint=instead)
    for key in KEYS:
        if not isinstance(document.get(key, ""), str):
            raise UsageError(f"{place}: {key} must be a text in quotes")
    return {key: document[key].strip() for key in KEYS if document.get(key, "").strip()}


def _check_receivers(document: Mapping[str, Any], place: str) -> None:
    """Raises UsageError for a table of receivers with anything but names, and texts under RECEIVER_KEYS."""
    tables = document.get(RECEIVERS, {})
    for name, facts in tables.items() if isinstance(tables, dict) else [("", None)]:
        if not _RECEIVER_NAME.fullmatch(name) or not isinstance(facts, dict):
            hint = f"write [{RECEIVERS}.NAME], with letters, digits, - and _ in NAME, 64 at most"
            raise UsageError(f"{place}: {RECEIVERS} is a table of receivers by their names", hint=hint)
        if wrong := sorted(key for key in facts if key not in RECEIVER_KEYS or not isinstance(facts[key], str)):
            hint = f"it may have {', '.join(RECEIVER_KEYS)}, texts in quotes, and no secrets"
            raise UsageError(f"{place}: [{RECEIVERS}.{name}] has a key that does not fit: {wrong[0]!a}", hint=hint)
