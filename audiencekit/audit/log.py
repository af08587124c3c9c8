"""The audit log of a state directory: entries are appended, durably and by one process at a time, and never changed."""

from __future__ import annotations

import getpass
import hashlib
import hmac
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from audiencekit.audit.chain import (
    FORM,
    MOST_LINE_BYTES,
    Head,
    first_hash,
    hash_of,
    is_torn,
    key_id,
    parse_line,
    sign_line,
)
from audiencekit.errors import CredentialsRefused, InputOutputFailed
from audiencekit.process.crash_points import pass_point
from audiencekit.records.plan_times import format_time
from audiencekit.settings import Settings
from audiencekit.state.directory import check_root, make_directory
from audiencekit.state.files import NO_LINK, OURS, READ, explained, replace_file, sync_directory
from audiencekit.state.keys import StateKey, SubKey, existing_state_key, find_state_key
from audiencekit.state.locks import locked
from audiencekit.state.signing import signing_key

LOG: Final = "audit.log"
Step = Literal["begun", "resumed", "ended", "done"]

_APPEND: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND | NO_LINK | OURS
_ID_BYTES: Final = 8
_NAME_DIGITS: Final = 12
_DAMAGED_HINT: Final = (
    "`audiencekit audit verify` says more; keep the file as it is elsewhere, and move it away: a new log begins then"
)


class AuditLog:
    """The log in `state_dir`, and the key that signs for it. With `keyed_names` users and hosts are not named."""

    def __init__(self, state_dir: Path, key: StateKey, *, keyed_names: bool = False) -> None:
        self._path, self._key, self._keyed_names = state_dir / LOG, key, keyed_names

    @classmethod
    def of(cls, settings: Settings) -> AuditLog:
        """Return the log of these settings. Raises as `find_state_key`, which makes a key at first use."""
        key = find_state_key(settings.state_dir, settings.key)
        return cls(settings.state_dir, key, keyed_names=settings.audit_names == "keyed")

    @classmethod
    def existing(cls, settings: Settings) -> AuditLog | None:
        """Return the log of these settings, None when nothing was logged yet. Raises as `existing_state_key`."""
        check_root(settings.state_dir)
        if not os.path.lexists(settings.state_dir / LOG):
            return None
        key = existing_state_key(settings.state_dir, settings.key)
        if key is None:
            raise CredentialsRefused(
                f"the state key is missing, which has signed {str(settings.state_dir / LOG)!r}",
                hint="give the key: by the keyring, by AUDIENCEKIT_KEY, or in the file; or verify the log elsewhere,"
                " by its public key",
            )
        return cls(settings.state_dir, key, keyed_names=settings.audit_names == "keyed")

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def key(self) -> StateKey:
        """The state key."""
        return self._key

    def append(self, command: str, step: Step, **facts: Any) -> None:
        """Append an entry on what `command` does, or did. It is on the disk when this returns.

        Raises InputOutputFailed when it cannot be written, or behind a last line that is damaged, CredentialsRefused
        when the log is under another state key.
        """
        with self._alone() as file:
            head, root, torn = self._end(file)
            entry = {
                "number": head.number + 1,
                "previous": head.hash,
                "at": _now(),
                "who": self._who(head.log, root),
                "command": command,
                "step": step,
                **facts,
                **({"mended": torn} if torn else {}),
            }
            self._write(file, sign_line(entry, signing_key(self._key)))

    def check(self) -> None:
        """Check that an entry can be appended, and append none. Raises as `append`."""
        if os.path.lexists(self._path):
            with self._alone() as file:
                size = os.fstat(file).st_size
                if size := size - self._torn(size):
                    self._head(size)

    def list_keys(self) -> tuple[SubKey, SubKey]:
        """Return the keys of the digests of lists in this log, which begins when there is none. Raises as `append`."""
        with self._alone() as file:
            head, root, _ = self._end(file)
        return root.derive("audit lists", head.log), root.derive("audit list digests", head.log)

    def read(self) -> Iterator[tuple[bytes, dict[str, Any] | None]]:
        """Yield each line with its facts, None for a line that has none. Raises InputOutputFailed."""
        with explained("the audit log cannot be read", self._path), self._open() as stream:
            while line := stream.readline(MOST_LINE_BYTES):
                yield line, parse_line(line)

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield the entries without their checks; for those `verify_log` is asked."""
        for _, facts in self.read():
            if facts is not None and "number" in facts:
                yield facts

    def count_before(self, before: str) -> int:
        """Return how many entries `cut` would take out. Raises InputOutputFailed."""
        return self._find_cut(before)[0]

    def cut(self, before: str) -> int:
        """Cut the entries from before a time, as entries write it; return how many went.

        Those of a run stay with its last entry that is not older. A new opening signs where the log begins from then
        on. Raises as `append`.
        """
        with self._alone() as file:
            head, root, _ = self._end(file)
            first, lines = self._find_cut(before)
            if not first:
                return 0
            line, facts = lines[first - 1]
            opening = _opening(head.log, int(facts["number"]), hash_of(line), key_id(signing_key(root).public_key()))
            signed = sign_line(opening, signing_key(self._key))
            pass_point("before audit cut")
            replace_file(self._path, signed + b"".join(line for line, _ in lines[first:]))
            pass_point("after audit cut")
            return first

    def _find_cut(self, before: str) -> tuple[int, list[tuple[bytes, dict[str, Any]]]]:
        """Return how many entries at the beginning are old, and all entries."""
        lines = [(line, facts) for line, facts in self.read() if facts is not None and "number" in facts]
        young = [place for place, (_, facts) in enumerate(lines) if str(facts["at"]) >= before]
        runs = {str(lines[place][1]["of"]) for place in young if "of" in lines[place][1]}
        kept = [place for place, (_, facts) in enumerate(lines) if facts.get("of") in runs]
        return min((*young, *kept), default=len(lines)), lines

    @contextmanager
    def _alone(self) -> Iterator[int]:
        """The file, open to be appended to, under the lock of the state directory."""
        make_directory(self._path.parent)
        with explained("the audit log cannot be written", self._path), ExitStack() as stack:
            stack.enter_context(locked(self._path.parent, is_directory=True))
            file = os.open(self._path, _APPEND, 0o600)
            stack.callback(os.close, file)
            yield file

    def _open(self) -> BinaryIO:
        return os.fdopen(os.open(self._path, READ), "rb")

    def _end(self, file: int) -> tuple[Head, StateKey, int]:
        """Return the head, the state key that the log began with, and how many bytes of a torn line were taken away.

        A file without an opening gets one.
        """
        torn = self._mend(file)
        size = os.fstat(file).st_size
        if not size:
            log = secrets.token_hex(_ID_BYTES)
            opening = _opening(log, 0, first_hash(log), key_id(signing_key(self._key).public_key()))
            self._write(file, sign_line(opening, signing_key(self._key)))
            return Head(log, 0, first_hash(log)), self._key, torn
        return *self._head(size), torn

    def _head(self, size: int) -> tuple[Head, StateKey]:
        """Return the head of the log in the first `size` bytes, and the state key that it began with."""
        with self._open() as stream:
            opening = parse_line(stream.readline(MOST_LINE_BYTES)) or {}
            begin = max(0, size - MOST_LINE_BYTES)
            stream.seek(begin)
            last = stream.read(size - begin).splitlines(keepends=True)[-1]
        facts = parse_line(last) or {}
        found = _head_of(opening, last, facts)
        if opening.get("format") != FORM or found is None:
            what = f"the first or the last line of {str(self._path)!r} was changed"
            raise InputOutputFailed(f"{what}: nothing was logged, and nothing sent", hint=_DAMAGED_HINT)
        return found, self._root(opening, facts)

    def _root(self, opening: dict[str, Any], last: dict[str, Any]) -> StateKey:
        """Return the key that the log began with. Raises CredentialsRefused for a log that is not under this key."""
        known = {key_id(signing_key(each).public_key()): each for each in (self._key, *self._key.earlier)}
        root = known.get(str(opening.get("root")))
        if root is None or last.get("key") not in known:
            raise CredentialsRefused(
                f"{str(self._path)!r} is under another state key than is given: nothing was sent",
                hint="give the key of this state directory; if it is lost, move the file away: a new log begins then",
            )
        return root

    def _mend(self, file: int) -> int:
        """Take away a last line that a kill has torn; return its bytes."""
        size = os.fstat(file).st_size
        if torn := self._torn(size):
            os.ftruncate(file, size - torn)
            os.fsync(file)
        return torn

    def _torn(self, size: int) -> int:
        """Return the bytes of a last line that a kill has torn, in a log of `size` bytes."""
        with self._open() as stream:
            stream.seek(max(0, size - 2 * MOST_LINE_BYTES))
            lines = stream.read().splitlines(keepends=True)
        return len(lines[-1]) if lines and is_torn(lines[-1]) else 0

    def _write(self, file: int, line: bytes) -> None:
        if len(line) > MOST_LINE_BYTES:
            raise InputOutputFailed("an entry of the audit log is too long: nothing was logged, and nothing sent")
        pass_point("before audit")
        size = os.fstat(file).st_size
        try:
            written = os.write(file, line)
            pass_point("audit written")
            if written < len(line):
                raise InputOutputFailed(f"{str(self._path)!r} could not be written to its end: the disk is full")
            os.fsync(file)
        except (OSError, InputOutputFailed):
            with suppress(OSError):
                os.ftruncate(file, size)
            raise
        sync_directory(self._path.parent)
        pass_point("after audit")

    def _who(self, log: str, root: StateKey) -> dict[str, str]:
        names = {"user": _user(), "host": socket.gethostname()}
        if not self._keyed_names:
            return names
        key = root.derive("audit names", log).unwrap()
        return {
            what: f"{what}-{hmac.digest(key, f'{what} {name}'.encode(), hashlib.sha256).hex()[:_NAME_DIGITS]}"
            for what, name in names.items()
        }


def _opening(log: str, after: int, hash_before: str, root: str) -> dict[str, Any]:
    return {"format": FORM, "log": log, "after": after, "hash": hash_before, "at": _now(), "root": root}


def _head_of(opening: dict[str, Any], last: bytes, facts: dict[str, Any]) -> Head | None:
    log, number = opening.get("log"), facts.get("number")
    if isinstance(log, str) and isinstance(number, int):
        return Head(log, number, hash_of(last))
    after, before = opening.get("after"), opening.get("hash")
    if facts == opening and isinstance(log, str) and isinstance(after, int) and isinstance(before, str):
        return Head(log, after, before)
    return None


def _now() -> str:
    return format_time(datetime.now(UTC))


def _user() -> str:
    """The name of the user that this process acts as, whatever its environment says; the number of a user without."""
    try:
        import pwd
    except ImportError:  # on Windows only the environment says it
        with suppress(ImportError, KeyError, OSError):
            return getpass.getuser()
        return "unknown"
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return f"uid {os.geteuid()}"
