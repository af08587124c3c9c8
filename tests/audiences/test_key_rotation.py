"""Another state key: everything is opened by it, nothing by the one before, and all goes on."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from audiencekit.audiences.erasure.forgetting import forget_async
from audiencekit.audiences.erasure.verification import verify_erasures
from audiencekit.audiences.key_rotation import count_sealed, rotate_key
from audiencekit.audiences.sync.sync import sync_async
from audiencekit.destinations.target import Target
from audiencekit.errors import AudienceBusy, CredentialsRefused, PlanRefused, UsageError
from audiencekit.personal import Secret
from audiencekit.pipeline import check, upload_async
from audiencekit.process.crash_points import set_hook
from audiencekit.runs.reports import list_runs
from audiencekit.runs.store import TargetLock
from audiencekit.selection.erased_people_file import read_memory
from audiencekit.settings import Settings, load_settings
from audiencekit.state.credentials import CredentialStore, StoredCredentials
from audiencekit.state.key_places import move_key
from audiencekit.state.key_rotation import ROTATION, changing_key
from audiencekit.state.keys import UNDER_KEY, StateKey, find_state_key
from audiencekit.testing import run_emulator
from tests.fakekeyring import install_keyring

PEOPLE = [f"person{number}@example.org" for number in range(30)]
AUDIENCE = "dlzxk"  # that of the emulator
NEW = StateKey(b"n" * 32)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """A state directory whose key lies in its file, with a snapshot, changes since, journals and a memory."""
    directory = tmp_path_factory.mktemp("made")
    with run_emulator() as emulator:
        settings = load_settings(emulator.env, directory=directory, state_dir=directory / "state")
        asyncio.run(_fill(directory / "people.csv", emulator.audience_id, settings))
        yield settings


async def _fill(source: Path, audience: str, settings: Settings) -> None:
    source.write_text("email\n" + "".join(f"{person}\n" for person in PEOPLE))
    await sync_async(source, audience=audience, settings=settings)
    await forget_async(PEOPLE[1:2], settings=settings)
    source.write_text(source.read_text() + "new@example.org\n")
    await sync_async(source, audience=audience, settings=settings)
    await upload_async(source, audience=audience, settings=settings)
    assert list(settings.state_dir.glob("snapshots/*/recent"))


@pytest.fixture
def filled(made: Settings, tmp_path: Path) -> Settings:
    """That directory, for one test."""
    shutil.copytree(made.state_dir, tmp_path / "state")
    return replace(made, state_dir=tmp_path / "state")


@pytest.fixture
def source(made: Settings, tmp_path: Path) -> Path:
    """The list of its last upload."""
    return Path(shutil.copy(made.state_dir.parent / "people.csv", tmp_path))


def _counts(settings: Settings, key: StateKey) -> dict[str, dict[str, int]]:
    return count_sealed(settings.state_dir, key)


async def test_all_goes_on_under_the_new_key(filled: Settings, source: Path) -> None:
    old = find_state_key(filled.state_dir, filled.key)
    before = _counts(filled, old)
    assert rotate_key(filled.state_dir, filled.key, None) == "file"
    new = find_state_key(filled.state_dir, filled.key)
    assert new != old
    assert new.earlier == (old,)
    assert _counts(filled, new) == before
    assert not (filled.state_dir / ROTATION).exists()
    plan = await asyncio.to_thread(check, source, settings=filled)
    assert plan.rows.suppressed == 1
    report = await sync_async(source, audience=AUDIENCE, settings=filled)
    assert (report.requests_planned, report.rows.unchanged) == (0, 30)
    assert all(run["state"] == "complete" and "journal" not in run for run in list_runs(filled.state_dir, new))
    assert (await asyncio.to_thread(verify_erasures, filled))["verified"]


async def test_the_key_before_opens_nothing_that_says_who_is_where(filled: Settings) -> None:
    """Journals hold digests; the others are closed to it, also beside the file of earlier keys."""
    old = StateKey(find_state_key(filled.state_dir, filled.key).unwrap())
    rotate_key(filled.state_dir, filled.key, None)
    counts = _counts(filled, old)
    assert {kind for kind, found in counts.items() if found["opened"]} == {"journals"}
    with pytest.raises(CredentialsRefused, match="it was rotated"):
        find_state_key(filled.state_dir, Secret(old.unwrap().hex()))


async def test_the_memory_is_under_a_new_tag_key(filled: Settings) -> None:
    """With the key and the memory of before no guess at them can be tested."""
    before = read_memory(filled.state_dir, find_state_key(filled.state_dir, filled.key))
    rotate_key(filled.state_dir, filled.key, None)
    await forget_async(PEOPLE[2:3], settings=filled)
    after = read_memory(filled.state_dir, find_state_key(filled.state_dir, filled.key))
    assert before is not None
    assert after is not None
    assert (len(before.people.own), len(after.people.own)) == (1, 2)
    assert after.people.key != before.people.key
    assert not set(before.people.own.tolist()) & set(after.people.own.tolist())


@pytest.mark.slow
async def test_again_and_again(filled: Settings) -> None:
    keys = []
    for _ in range(3):
        rotate_key(filled.state_dir, filled.key, None)
        keys.append(find_state_key(filled.state_dir, filled.key))
    assert len({key.unwrap() for key in keys}) == 3
    assert len(keys[-1].earlier) == 3
    assert not any(found["refused"] for found in _counts(filled, keys[-1]).values())


async def test_keys_in_the_keyring_of_two_directories(
    filled: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has an entry of its own; that of the key before is gone."""
    kept = install_keyring(monkeypatch)
    other = find_state_key(tmp_path / "other", None)
    for directory in (filled.state_dir, tmp_path / "other"):
        move_key(directory, None, "keyring")
    before = find_state_key(filled.state_dir, None)
    assert rotate_key(filled.state_dir, None, None) == "keyring"
    assert find_state_key(filled.state_dir, None).earlier == (before,)
    assert find_state_key(tmp_path / "other", None) == other
    assert len(kept) == 2
    assert not any(before.unwrap().hex() in entry.replace("-", "") for entry in kept.values())


async def test_a_snapshot_that_was_removed_meanwhile_holds_nothing_up(filled: Settings) -> None:
    """After a kill behind the moment of no return."""
    set_hook(_end_at("after ready"))
    try:
        with contextlib.suppress(Killed):
            rotate_key(filled.state_dir, filled.key, None)
    finally:
        set_hook(None)
    shutil.rmtree(next((filled.state_dir / "snapshots").iterdir()))
    key = find_state_key(filled.state_dir, filled.key)
    assert len(key.earlier) == 1
    assert not (filled.state_dir / ROTATION).exists()


class Killed(BaseException):
    """The process has ended."""


def _end_at(point: str) -> Callable[[str], None]:
    def end(passed: str) -> None:
        if passed == point:
            raise Killed

    return end


async def test_the_key_of_now_is_no_new_one(filled: Settings) -> None:
    key = find_state_key(filled.state_dir, filled.key)
    with pytest.raises(UsageError, match="is the current key or an earlier one"):
        rotate_key(filled.state_dir, filled.key, key)


async def test_a_key_from_elsewhere_is_given(filled: Settings) -> None:
    """A key of the environment cannot be put there."""
    key = find_state_key(filled.state_dir, filled.key)
    (filled.state_dir / "key").unlink()
    given = Secret(key.unwrap().hex())
    CredentialStore(filled.state_dir, "service", given).keep(
        StoredCredentials(secrets={"access_token": Secret("hidden")})
    )
    with pytest.raises(UsageError, match="where this tool cannot store a new one"):
        rotate_key(filled.state_dir, given, None)
    assert rotate_key(filled.state_dir, given, NEW) == "environment"
    fresh = Secret(NEW.unwrap().hex())
    assert not any(found["refused"] for found in _counts(filled, find_state_key(filled.state_dir, fresh)).values())
    ((_, kept),) = CredentialStore(filled.state_dir, "service", fresh).read()
    assert kept.secrets["access_token"].unwrap() == "hidden"
    assert not (filled.state_dir / "key").exists()


async def test_nothing_is_changed_while_a_run_is_at_work(filled: Settings) -> None:
    target = Target.audience(AUDIENCE)
    key = find_state_key(filled.state_dir, filled.key)
    with (
        TargetLock(filled.state_dir, filled.require_account(), target, "run"),
        pytest.raises(AudienceBusy, match="at work: nothing was changed"),
    ):
        rotate_key(filled.state_dir, filled.key, None)
    with changing_key(filled.state_dir), pytest.raises(AudienceBusy, match="being changed by another process"):
        rotate_key(filled.state_dir, filled.key, None)
    assert find_state_key(filled.state_dir, filled.key) == key


@pytest.mark.parametrize(
    ("leave", "what"),
    [
        (lambda state: (next((state / "runs").iterdir()) / "spool.sealed").touch(), "1 runs with a kept spool"),
        (lambda state: (next((state / "snapshots").iterdir()) / "changes").touch(), "1 syncs"),
        (lambda state: (next((state / "erasures").glob("forget-*")) / "keys.sealed").touch(), "1 erasures"),
    ],
)
async def test_an_unfinished_rotation_is_finished_first(
    leave: Callable[[Path], None], what: str, filled: Settings
) -> None:
    leave(filled.state_dir)
    key = find_state_key(filled.state_dir, filled.key)
    with pytest.raises(PlanRefused, match=what):
        rotate_key(filled.state_dir, filled.key, None)
    assert find_state_key(filled.state_dir, filled.key) == key


async def test_a_backup_from_before_is_not_the_last_memory(filled: Settings, tmp_path: Path) -> None:
    """Put back whole, with its key."""
    shutil.copytree(filled.state_dir, tmp_path / "backup")
    rotate_key(filled.state_dir, filled.key, None)
    shutil.rmtree(filled.state_dir)
    shutil.copytree(tmp_path / "backup", filled.state_dir)
    document = await asyncio.to_thread(verify_erasures, filled)
    assert (document["memory"]["state"], "older than the last" in document["memory"]["why"]) == ("refused", True)


async def test_no_key_is_made_where_the_key_of_before_is_missing(filled: Settings, tmp_path: Path) -> None:
    """Each file that only that key opens is enough, such as in a copy of the directory without its key."""
    (filled.state_dir / "key").unlink()
    with pytest.raises(CredentialsRefused, match=r"has files under it: audit\.log, forgotten, .*runs, snapshots; no"):
        find_state_key(filled.state_dir, None)
    kept = {path.relative_to(filled.state_dir) for form in UNDER_KEY for path in filled.state_dir.glob(form)}
    assert len({path.parts[0] for path in kept}) == 5  # all but `key.earlier`: no key was rotated
    for number, path in enumerate(kept):
        alone = tmp_path / str(number) / path
        alone.parent.mkdir(parents=True, mode=0o700)
        alone.write_bytes(b"")
        (tmp_path / str(number)).chmod(0o700)
        with pytest.raises(CredentialsRefused, match="no other key was made"):
            find_state_key(tmp_path / str(number), None)
        assert not (tmp_path / str(number) / "key").exists()
    assert find_state_key(filled.state_dir, Secret("ab" * 32)).unwrap() == b"\xab" * 32
