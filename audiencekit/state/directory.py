"""The state directory, and the directories in it: made for their owner alone, and believed only when they are.

A user who may write in it can take away the memory of erasures, or put other credentials there. Every directory of ours
is made by `make_directory`, and everything that decides from what it finds looks with `check_root` first. So does the
directory of the settings file, which chooses where data go.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import shlex
import stat
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from audiencekit.errors import InputOutputFailed
from audiencekit.state.files import (
    NEW_FILE,
    NO_WAIT,
    READ,
    explained,
    is_ours,
    lies_in_profile,
    make_private_directory,
    others_may,
    own_user,
)

_WRITABLE: Final = 0o022  # by group or others


@dataclass(frozen=True, slots=True)
class Root:
    """A directory that only its owner may change, in words: its name, and the variable that names another one."""

    name: str
    variable: str

    @property
    def elsewhere(self) -> str:
        """The end of a remedy."""
        return f"or name another directory with {self.variable}"


STATE: Final = Root("state directory", "AUDIENCEKIT_STATE_DIR")
_MOUNTS: Final = Path("/proc/self/mountinfo")
_PLACE: Final = 4  # the field of the place where it is mounted (proc(5)), with odd characters as \040
_ESCAPED: Final = re.compile(r"\\([0-7]{3})")
_NAME: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z-]{0,127}", re.ASCII)


def make_directory(root: Path, *names: str) -> Path:
    """Return the directory `names` below the state directory `root`. Missing directories are made, each 0700.

    Raises InputOutputFailed when it cannot be made, belongs to another user, or others may write in `root`.
    """
    with explained("the state directory cannot be made", root):
        make_missing(root)
    check_root(root)
    directory = root
    for name in names:
        directory = safe_child(directory, name)
        with explained("the directory cannot be made", directory):
            make_private_directory(directory)
    return directory


def check_writable(root: Path) -> None:
    """Returns when new files can be put into `root`, which is made when it is missing, and into the directories there.

    Raises InputOutputFailed.
    """
    make_directory(root)
    with explained("the state directory cannot be looked at", root):
        names = sorted(one.name for one in root.iterdir() if one.is_dir() and not one.name.startswith("."))
    for directory in (root, *(make_directory(root, name) for name in names)):
        with explained("the state directory cannot be written", directory), tempfile.TemporaryFile(dir=directory):
            pass


def make_missing(directory: Path) -> None:
    """Make `directory` and those above it that are missing, each 0700 under any umask. Raises OSError."""
    missing = [one for one in (directory, *directory.parents) if not os.path.lexists(one)]
    for one in reversed(missing):
        with contextlib.suppress(FileExistsError):
            one.mkdir(mode=0o700)


def check_root(root: Path, what: Root = STATE) -> None:
    """Returns when `root` is ours alone, or not there. Raises InputOutputFailed with the command that mends it."""
    with explained(f"the {what.name} cannot be looked at", root):
        if not os.path.lexists(root):
            return
        for one in (root, *root.parents):
            _check_link(one, root, what)
        real = root.resolve()
        status = os.stat(real)
        if not stat.S_ISDIR(status.st_mode):
            raise InputOutputFailed(
                f"the {what.name} {str(root)!r} is no directory", hint=f"remove it, {what.elsewhere}"
            )
        if not lies_in_profile(real):
            raise InputOutputFailed(
                f"the {what.name} {str(root)!r} is not in your profile directory, which alone is closed to others",
                hint=f"move it to {str(Path.home())!r}, {what.elsewhere}",
            )
        if not is_ours(status):
            raise InputOutputFailed(
                f"the {what.name} {str(root)!r} belongs to another user (uid {status.st_uid}), who could change"
                " what is kept there",
                hint=_below(real, what)
                or f"`chown -R {own_user()} {shlex.quote(str(real))}` as its owner or root, {what.elsewhere}",
            )
        if others_may(status, _WRITABLE):
            raise InputOutputFailed(
                f"others may write in the {what.name} {str(root)!r} (mode {stat.S_IMODE(status.st_mode):04o})",
                hint=_below(real, what)
                or f"`chmod 700 {shlex.quote(str(real))}` if no other user has been there, {what.elsewhere}",
            )
        for above in real.parents:
            _check_above(above, root, what)


def safe_child(directory: Path, name: str) -> Path:
    """The entry `name` of `directory`. Raises InputOutputFailed for a name that could lead anywhere else."""
    # The second line: what comes from outside is checked where it enters.
    if not _NAME.fullmatch(name):
        raise InputOutputFailed(f"a name in {str(directory)!r} was refused: it is no file name of the state directory")
    return directory / name


def _check_link(one: Path, root: Path, what: Root) -> None:
    status = os.lstat(one)
    if stat.S_ISLNK(status.st_mode) and not is_ours(status, or_of_root=True):
        raise InputOutputFailed(
            f"the {what.name} {str(root)!r} is found through a link of another user (uid {status.st_uid}):"
            f" {str(one)!r}",
            hint=f"remove the link, {what.elsewhere}",
        )


def _check_above(above: Path, root: Path, what: Root) -> None:
    """Where all users may rename files of others, any user may put another directory in its place.

    A volume that root mounted is exempt: containers get theirs open to all, and all there is one user.
    """
    status = os.stat(above)
    mode = status.st_mode
    if others_may(status, stat.S_IWOTH) and not mode & stat.S_ISVTX and not (status.st_uid == 0 and is_volume(above)):
        raise InputOutputFailed(
            f"any user may put another directory in the place of the {what.name} {str(root)!r}: all users may write"
            f" in {str(above)!r} (mode {stat.S_IMODE(mode):04o})",
            hint=f"`chmod o-w {shlex.quote(str(above))}` or `chmod +t {shlex.quote(str(above))}`, {what.elsewhere}",
        )


def is_volume(directory: Path) -> bool:
    """Whether something is mounted at `directory`, also a directory of the same file system, as containers get it."""
    if os.path.ismount(directory):
        return True
    try:
        lines = _MOUNTS.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:  # not Linux, or not shown here
        return False
    places = (line.split(" ")[_PLACE] for line in lines if line.count(" ") >= _PLACE)
    return str(directory) in (_ESCAPED.sub(lambda found: chr(int(found[1], 8)), place) for place in places)


def _below(volume: Path, what: Root) -> str:
    """The remedy without root for a volume that is not ours alone: a directory below it, which is made for us."""
    if not is_volume(volume):
        return ""
    return (
        f"this is a volume: set {what.variable} to a directory below it, such as {str(volume / 'audiencekit')!r},"
        " which is made; a pod needs the same `runAsUser` each time"
    )


MOST_BYTES: Final = 64_000_000  # of a file that is looked at; what is kept here is far smaller

_DIGEST_BYTES: Final = hashlib.sha256().digest_size


class Cache:
    """Files by name in one directory that is its owner's alone. Where they cannot be kept, nothing is."""

    def __init__(self, directory: Path | None) -> None:
        self._directory = directory

    @classmethod
    def of_user(cls) -> Cache:
        """The cache of the current user, in the place of the system (`XDG_CACHE_HOME`)."""
        return cls(user_directory("cache"))

    def read(self, name: str) -> bytes | None:
        """Return the last content under `name`; None when it is missing, cut short, or another user could have
        written it."""
        if self._directory is None:
            return None
        try:
            if not _is_ours(os.lstat(self._directory), stat.S_IFDIR):
                return None
            with open(os.open(self._directory / name, READ | NO_WAIT), "rb") as stream:
                if not _is_ours(os.fstat(stream.fileno()), stat.S_IFREG):
                    return None
                content = stream.read(MOST_BYTES)
        except OSError:
            return None
        digest, kept = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        return kept if hashlib.sha256(kept).digest() == digest else None

    def write(self, name: str, content: bytes) -> None:
        """Store `content` under `name`, in place of an earlier one. Where the system cannot store it, nothing
        happens.

        It is not synced: what a crash leaves of it is not whole, and not believed.
        """
        if self._directory is None:
            return
        aside = self._directory / f".{name}-{secrets.token_hex(8)}"
        with contextlib.suppress(OSError, InputOutputFailed):
            make_missing(self._directory.parent)
            make_private_directory(self._directory)
            try:
                with open(os.open(aside, NEW_FILE, 0o600), "wb") as stream:
                    stream.write(hashlib.sha256(content).digest() + content)
                os.replace(aside, self._directory / name)
            except OSError:
                aside.unlink(missing_ok=True)


def _is_ours(status: os.stat_result, form: int) -> bool:
    """Whether it has this form, and no other user may do anything with it."""
    return stat.S_IFMT(status.st_mode) == form and is_ours(status) and not others_may(status)


def user_directory(kind: Literal["state", "cache", "data", "configuration"]) -> Path | None:
    """Ours among the user's for things of this kind; None where there is no user with a home, or no absolute path."""
    import platformdirs

    find: dict[str, Callable[..., Path]] = {
        "state": platformdirs.user_state_path,
        "cache": platformdirs.user_cache_path,
        "data": platformdirs.user_data_path,
        "configuration": platformdirs.user_config_path,
    }
    # On Windows the settings of a person may follow them to other machines (%APPDATA%); what runs keep stays.
    roaming = {"roaming": True} if kind == "configuration" else {}
    try:
        path = find[kind]("audiencekit", appauthor=False, **roaming)
    except RuntimeError:  # of a user without a home, by later versions of the library
        return None
    # Earlier ones give a path below the working directory then, and where a variable names a relative one.
    return path if path.is_absolute() else None
