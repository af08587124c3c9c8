"""The state directory: for its owner alone, and refused when it is not."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from audiencekit.audiences.erasure.receipt import ErasureStore
from audiencekit.delivery.limiter.host import WaitingLineFile
from audiencekit.destinations.target import Target
from audiencekit.errors import InputOutputFailed
from audiencekit.personal import Secret
from audiencekit.runs.store import RunStore, TargetLock
from audiencekit.selection.erased_people import read_forgotten
from audiencekit.snapshots.store import SnapshotStore
from audiencekit.state.credentials import CredentialStore, StoredCredentials
from audiencekit.state.directory import Cache, check_root, check_writable, make_directory, safe_child, user_directory
from audiencekit.state.keys import StateKey, find_state_key

KEY, GIVEN = StateKey(b"k" * 32), Secret("6b" * 32)
KEPT = StoredCredentials(secrets={"consumer_key": Secret("invented")})


def _lock(root: Path) -> None:
    with TargetLock(root, "acc", Target.audience("aud"), "run"):
        pass


def _erase(root: Path) -> None:
    with ErasureStore(root).locked():
        pass


# Everything that makes something in a state directory.
MAKERS: dict[str, Callable[[Path], Any]] = {
    "runs": lambda root: RunStore(root).create("20261121-013000-1f3a9c00"),
    "locks": _lock,
    "limiter": lambda root: WaitingLineFile(root, "boot").close(),
    "snapshots": lambda root: SnapshotStore(root, "acc", "aud", KEY).prepare(),
    "erasures": _erase,
    "key": lambda root: find_state_key(root, None),
    "credentials": lambda root: CredentialStore(root, "spec http://127.0.0.1").keep(KEPT),
}
# And everything that decides from what it finds there.
READERS: dict[str, Callable[[Path], Any]] = {
    "runs": lambda root: RunStore(root).ids(),
    "erasures": lambda root: ErasureStore(root).ids(),
    "key": lambda root: find_state_key(root, GIVEN),
    "credentials": lambda root: list(CredentialStore(root, "spec http://127.0.0.1").read()),
    "forgotten": lambda root: read_forgotten(root, GIVEN),
}


@pytest.fixture
def _no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.mark.usefixtures("_no_umask")
@pytest.mark.parametrize("what", MAKERS)
def test_all_that_is_made_is_private_under_any_umask(what: str, tmp_path: Path) -> None:
    """The root, what was missing above it, and all that is in it."""
    MAKERS[what](tmp_path / "above" / "state")
    made = list((tmp_path / "above").rglob("*"))
    assert {_mode(path) for path in made if path.is_file()} <= {0o600}
    assert {_mode(path) for path in [tmp_path / "above", *made] if path.is_dir()} == {0o700}


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o777, 0o1777, 0o2770])
@pytest.mark.parametrize("work", [*MAKERS.items(), *READERS.items()], ids=lambda work: work[0])
def test_a_root_that_others_may_write_in_is_refused(
    work: tuple[str, Callable[[Path], Any]], mode: int, tmp_path: Path
) -> None:
    """With the command that mends it; nothing is made, and the mode stays."""
    root = tmp_path / "a state"
    root.mkdir()
    root.chmod(mode)
    with pytest.raises(InputOutputFailed, match="others may write in the state directory") as caught:
        work[1](root)
    assert f"`chmod 700 '{root}'`" in caught.value.hint
    assert (list(root.iterdir()), _mode(root)) == ([], mode)


@pytest.mark.parametrize("mode", [0o700, 0o750, 0o755])
@pytest.mark.parametrize("what", MAKERS)
def test_a_root_that_others_may_only_read_is_taken(what: str, mode: int, tmp_path: Path) -> None:
    """As it was made by hand."""
    root = tmp_path / "state"
    root.mkdir()
    root.chmod(mode)
    MAKERS[what](root)
    assert _mode(root) == mode


@pytest.mark.parametrize("work", [*MAKERS.items(), *READERS.items()], ids=lambda work: work[0])
def test_a_root_of_another_user_is_refused(
    work: tuple[str, Callable[[Path], Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under any mode: its owner can change what is in it."""
    root = tmp_path / "state"
    root.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(InputOutputFailed, match="belongs to another user"):
        work[1](root)


def test_a_place_without_rights_or_space_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left there by the look."""
    root = tmp_path / "state"
    runs = make_directory(root, "runs")
    check_writable(root)
    assert [*root.rglob("*")] == [runs]

    def refuse(dir: Path) -> Any:  # noqa: A002 - as tempfile calls it
        if dir == runs:
            raise PermissionError(errno.EACCES, "Permission denied")
        return contextlib.nullcontext()

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(InputOutputFailed, match=f"cannot be written: '{runs}': Permission denied"):
        check_writable(root)


def test_a_root_that_any_user_may_swap_is_refused(tmp_path: Path) -> None:
    """A directory above it, however far, in which any user may rename the files of others."""
    (tmp_path / "open" / "mine").mkdir(parents=True)
    (tmp_path / "open").chmod(0o777)
    for root in (tmp_path / "open" / "state", tmp_path / "open" / "mine" / "state"):
        with pytest.raises(InputOutputFailed, match="any user may put another directory in the place") as caught:
            make_directory(root)
        assert f"`chmod o-w {tmp_path / 'open'}`" in caught.value.hint
    (tmp_path / "open").chmod(0o1777)
    make_directory(tmp_path / "open" / "mine" / "state", "runs")


def test_a_volume_of_a_container_may_be_open_to_all_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An emptyDir of Kubernetes is root's, 0777, and a mount point; a directory in it is not."""
    volume = tmp_path / "volume"
    (volume / "open").mkdir(parents=True)
    volume.chmod(0o777)
    (volume / "open").chmod(0o777)
    monkeypatch.setattr(os.path, "ismount", lambda path: Path(path) == volume)
    if os.geteuid() != 0:
        pytest.skip("only root can make what belongs to root")
    make_directory(volume / "state")
    with pytest.raises(InputOutputFailed, match="any user may put another directory in the place"):
        make_directory(volume / "open" / "state")


def test_a_link_of_ours_may_stand_for_it(tmp_path: Path) -> None:
    """A broken one, and a file, are no state directory."""
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "state").symlink_to(tmp_path / "elsewhere")
    assert make_directory(tmp_path / "state", "runs").is_dir()
    (tmp_path / "broken").symlink_to(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    for name in ("broken", "file"):
        with pytest.raises(InputOutputFailed):
            make_directory(tmp_path / name)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a link away")
def test_a_link_of_another_user_is_refused(tmp_path: Path) -> None:
    """Its owner could lead it elsewhere at any time, wherever it stands in the path."""
    (tmp_path / "elsewhere" / "state").mkdir(parents=True, mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    os.chown(tmp_path / "link", 65534, 65534, follow_symlinks=False)
    for root in (tmp_path / "link", tmp_path / "link" / "state"):
        with pytest.raises(InputOutputFailed, match="a link of another user"):
            check_root(root)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "a/b", "/etc", "a\0b", "a\nb", ".hidden", "-x", "ä", "a" * 129]
)
def test_no_name_leads_out_of_it(name: str, tmp_path: Path) -> None:
    """In no form."""
    with pytest.raises(InputOutputFailed, match="no file name of the state directory"):
        safe_child(tmp_path, name)


@pytest.mark.parametrize("account_id", ["../x", "a/b", "..", ""])
def test_no_account_becomes_a_path(account_id: str, tmp_path: Path) -> None:
    """Of a lock or of a snapshot."""
    with pytest.raises(InputOutputFailed):
        TargetLock(tmp_path, account_id, Target.audience("aud"), "run")
    with pytest.raises(InputOutputFailed):
        SnapshotStore(tmp_path, account_id, "aud", KEY)


POD = """
import os, sys
from pathlib import Path
from audiencekit.errors import InputOutputFailed
from audiencekit.state.directory import make_directory
volume = Path(sys.argv[1])
if os.system(f"mount --bind '{volume}' '{volume}'"):
    sys.exit(77)
os.setgroups([])
os.setgid(0)
os.setuid(1_000_770_000)
print(oct(make_directory(volume / "state", "runs").parent.lstat().st_mode & 0o777))
try:
    make_directory(volume)
except InputOutputFailed as error:
    print(error.hint)
"""


@pytest.mark.parametrize("mode", [0o777, 0o2775], ids=["emptyDir", "fsGroup"])
def test_a_pod_without_root_has_its_state_below_a_volume(mode: int) -> None:
    """A uid without a name, of the group of root, on a bind mount of one file system; the hint names the way."""
    with tempfile.TemporaryDirectory() as place:  # where another user comes to
        os.chmod(place, 0o755)
        volume = Path(place) / "a volume"
        volume.mkdir()
        volume.chmod(mode)
        command = ["unshare", "--mount", "--propagation", "private", sys.executable, "-c", POD, str(volume)]
        if os.geteuid() != 0 or shutil.which("unshare") is None:
            pytest.skip("only root makes mounts")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 77 or "unshare failed" in done.stderr:
            pytest.skip("this machine allows no mount")
        assert done.returncode == 0, done.stderr
        made, hint = done.stdout.splitlines()
        assert made == "0o700"
        assert f"a directory below it, such as '{volume}/audiencekit'" in hint
        assert "runAsUser" in hint


def _shortened(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _changed(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _readable(path: Path) -> None:
    path.chmod(0o644)


def _behind_a_link(path: Path) -> None:
    path.rename(path.with_name("other"))
    path.symlink_to("other")


def _a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def _in_an_open_directory(path: Path) -> None:
    path.parent.chmod(0o777)


def _given_away(path: Path) -> None:
    os.chown(path, 12345, -1)


def _in_a_directory_given_away(path: Path) -> None:
    os.chown(path.parent, 12345, -1)


DOUBTS = [
    _shortened, _changed, _emptied, _readable, _behind_a_link, _a_pipe, _in_an_open_directory, _given_away,
    _in_a_directory_given_away,
]  # fmt: skip


def test_content_comes_back(tmp_path: Path) -> None:
    """The last content of a name, in a file for its owner only, and nothing beside it."""
    cache = Cache(tmp_path / "new" / "cache")
    assert cache.read("name") is None
    cache.write("name", b"first")
    cache.write("name", b"second")
    assert cache.read("name") == b"second"
    (kept,) = (tmp_path / "new" / "cache").iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700


def _doubtful_cache(tmp_path: Path, doubt: Callable[[Path], None]) -> Cache:
    """One that kept a content under `name`, whose file there is a doubt about."""
    cache = Cache(tmp_path / "cache")
    cache.write("name", b"content")
    try:
        doubt(tmp_path / "cache" / "name")
    except PermissionError:
        pytest.skip("only the superuser can give files away")
    return cache


@pytest.mark.parametrize("doubt", DOUBTS, ids=[doubt.__name__ for doubt in DOUBTS])
def test_a_doubtful_file_is_ignored(tmp_path: Path, doubt: Callable[[Path], None]) -> None:
    """A file that is damaged, or that another user may have changed, is ignored."""
    assert _doubtful_cache(tmp_path, doubt).read("name") is None


@pytest.mark.parametrize("doubt", DOUBTS[:-1], ids=[doubt.__name__ for doubt in DOUBTS[:-1]])
def test_a_doubtful_file_is_replaced(tmp_path: Path, doubt: Callable[[Path], None]) -> None:
    """The next content is used again."""
    cache = _doubtful_cache(tmp_path, doubt)
    cache.write("name", b"anew")
    assert cache.read("name") == b"anew"


@pytest.mark.parametrize("place", ["file", "link", "/proc/none"])
def test_a_place_that_takes_no_file_is_no_failure(tmp_path: Path, place: str) -> None:
    """No failure is told: the caller can do without the file."""
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "directory").mkdir()
    (tmp_path / "link").symlink_to("directory")
    cache = Cache(tmp_path / place)
    cache.write("name", b"content")
    assert cache.read("name") is None
    assert not list((tmp_path / "directory").iterdir())


def test_a_failing_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that cannot be put in its place is removed; the earlier content stays."""
    cache = Cache(tmp_path / "cache")
    cache.write("name", b"before")

    def fail(*_: object) -> None:
        raise OSError

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", fail)
        cache.write("name", b"after")
    assert cache.read("name") == b"before"
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["name"]


def test_the_users_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is where the system wants such files."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    Cache.of_user().write("name", b"content")
    assert (tmp_path / "audiencekit" / "name").is_file()


def test_each_kind_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the environment says."""
    for kind in ("state", "cache", "data"):
        monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", f"/srv/{kind}")
        assert user_directory(kind) == Path(f"/srv/{kind}/audiencekit")  # type: ignore[arg-type]


def _no_home(*_: Any, **__: Any) -> Path:
    raise RuntimeError("could not determine the home directory")


@pytest.mark.parametrize("find", [_no_home, lambda *_, **__: Path("~/.cache"), lambda *_, **__: Path("cache")])
def test_a_path_below_the_working_directory_is_none(find: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Another user may have filled it; nothing is kept there either."""
    monkeypatch.chdir(tmp_path)
    for kind in ("state", "cache", "data"):
        monkeypatch.setattr(platformdirs, f"user_{kind}_path", find)
        assert user_directory(kind) is None  # type: ignore[arg-type]
    Cache.of_user().write("name", b"content")
    assert Cache.of_user().read("name") is None
    assert list(tmp_path.iterdir()) == []
