"""Notices of runs are told at least once, with one id, also when a process was killed in between."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audiencekit.errors import AudiencekitError, NotFinished, PlanRefused
from audiencekit.notifications import notifier as room
from audiencekit.notifications.notices import Rules, notice_id
from audiencekit.notifications.notifier import Ended, Notifier
from audiencekit.notifications.receivers import Receiver
from audiencekit.personal import Secret
from audiencekit.process.exchanges import Address
from audiencekit.reporting.report import RowCounts
from audiencekit.runs.store import ERASURE_HOME, RunStore, Store
from audiencekit.runs.watched import read_told, watch
from audiencekit.settings import Settings, Watch, load_settings
from audiencekit.state.directory import make_directory
from audiencekit.state.locks import locked
from tests.notifications.endings import NOW, report
from tests.notifications.localreceiver import LocalReceiver

RUN = "20261128-031500-00000000"
NIGHT = Watch(receiver="night")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings({}, directory=None, user_file=False, state_dir=tmp_path / "state")


class _Killed(BaseException):
    """The process ends here."""


def _made(
    settings: Settings, run_id: str, *, is_watched: bool = True, watched: Watch = NIGHT, **more: Any
) -> dict[str, Any]:
    """A run in the store, with its report if `more` says anything of it."""
    store = RunStore(settings.state_dir)
    directory = store.create(run_id)
    if is_watched:
        watch(directory, watched)
    document = report(run_id=run_id, **more)
    if more:
        store.write(run_id, document)
    return document


def _tell(
    settings: Settings,
    receiver: LocalReceiver,
    document: dict[str, Any] | None = None,
    error: AudiencekitError | None = None,
    rules: tuple[str, ...] = (),
    seconds: float = 30,
) -> list[str]:
    """The problems of telling the end of one run."""
    address = Address.read(Secret(receiver.url), "URL")
    ended = Ended(
        settings=settings, receiver=Receiver(name="night", address=address), rules=Rules.read(rules), command="upload",
        document=document or {}, error=error, exit_code=0 if error is None else error.exit_code,
    )  # fmt: skip
    teller = Notifier(settings, now=NOW, seconds=seconds)
    teller.tell([ended], is_good=error is None)
    return teller.problems


def test_the_end_of_a_run_is_told_once(settings: Settings, receiver: LocalReceiver) -> None:
    """With the id of run and rule; a resumption that fails the same way tells nothing new."""
    document = _made(settings, RUN, state="incomplete")
    for _ in range(2):
        assert _tell(settings, receiver, document, NotFinished("a part")) == []
    assert (receiver.notices, receiver.ids) == ([(RUN, "failed")], [notice_id(RUN, "failed")])
    assert _tell(settings, receiver, report(run_id=RUN)) == []
    assert receiver.notices[1:] == [(RUN, "recovered")]


def test_a_good_run_tells_nothing(settings: Settings, receiver: LocalReceiver) -> None:
    _tell(settings, receiver, _made(settings, RUN, state="complete"))
    assert receiver.paths == []


def test_recovery_is_told_after_a_failed_run_of_the_same_target(settings: Settings, receiver: LocalReceiver) -> None:
    from audiencekit.destinations.target import Target

    _made(settings, "20261127-031500-00000000", is_watched=False, state="refused")
    _made(settings, "20261127-041500-00000000", is_watched=False, state="complete", target=Target.audience("other"))
    _tell(settings, receiver, _made(settings, RUN, state="complete"))
    assert receiver.notices == [(RUN, "recovered")]


def test_a_command_without_a_run_is_told(settings: Settings, receiver: LocalReceiver) -> None:
    """Each time under a new id, since nothing names it."""
    for _ in range(2):
        _tell(settings, receiver, error=PlanRefused("no"))
    assert receiver.notices == [(None, "refused")] * 2
    assert len({*receiver.ids}) == 2


def test_a_killed_run_is_told_by_the_next_command(settings: Settings, receiver: LocalReceiver) -> None:
    """Once; not one that was not watched, nor one that was told or ended well."""
    store = RunStore(settings.state_dir)
    _made(settings, "20261120-000000-00000001")
    _made(settings, "20261120-000000-00000002", is_watched=False, state="incomplete")
    _made(settings, "20261120-000000-00000003", state="incomplete", finished_at=None)
    _made(settings, "20261120-000000-00000004", state="complete")
    _made(settings, "20261120-000000-00000005", state="incomplete")  # it ended, and was killed before it told
    watch(Store(settings.state_dir, ERASURE_HOME).create("forget-20261120-000000-00000006"), NIGHT)
    changes = store.last_changes()
    for number in (1, 2):
        assert _tell(settings, receiver, _made(settings, f"20261128-031500-0000000{number}", state="complete")) == []
    assert sorted(receiver.notices) == [
        ("20261120-000000-00000001", "killed"),
        ("20261120-000000-00000003", "killed"),
        ("20261120-000000-00000004", "recovered"),
        ("20261120-000000-00000005", "failed"),
        ("20261128-031500-00000001", "recovered"),
        ("forget-20261120-000000-00000006", "killed"),
    ]
    assert len({*receiver.ids}) == 6
    assert {run_id: store.last_changes()[run_id] for run_id in changes} == changes  # the order of runs is as before


def test_a_killed_run_that_goes_on_is_told_when_it_is_complete(settings: Settings, receiver: LocalReceiver) -> None:
    """Also where no command has told of the kill in between; and once."""
    document = _made(settings, RUN, state="complete")
    watch(RunStore(settings.state_dir).directory(RUN), NIGHT)
    for _ in range(2):
        _tell(settings, receiver, document)
    assert receiver.notices == [(RUN, "recovered")]


def test_a_killed_run_is_told_to_its_own_receiver_by_its_own_rules(
    settings: Settings, receiver: LocalReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever command tells it; when that one does not know the receiver, it says so, and another one tells it."""
    env = replace(settings, notify_url=Secret(receiver.url.replace("/hook", "/env")))
    ended = {"state": "complete", "rows": RowCounts(read=0)}
    _made(settings, "20261120-000000-00000001", watched=Watch(receiver="env"))
    _made(settings, "20261120-000000-00000002", watched=Watch(receiver="night", rules=("empty",)), **ended)
    _made(settings, "20261120-000000-00000003", watched=Watch(receiver="env", rules=("minutes=9",)), **ended)
    _made(settings, "20261120-000000-00000004", watched=Watch(receiver="gone"))
    monkeypatch.setattr("audiencekit.notifications.receivers.read_receivers", dict)
    (problem, other) = sorted(_tell(settings, receiver, _made(settings, RUN, state="complete")))
    assert ("receiver env is" in problem, "receiver gone is" in other) == (True, True)
    _tell(env, receiver, _made(settings, "20261128-041500-00000000", state="complete"))
    where = [path.partition("/")[2].partition("/")[0] for path in receiver.paths]
    assert list(zip(receiver.notices, where, strict=True)) == [
        (("20261120-000000-00000002", "empty"), "hook"),
        (("20261120-000000-00000001", "killed"), "env"),
        (("20261120-000000-00000003", "minutes"), "env"),  # ten minutes
    ]


KILLS = ("before the message", "before it is sent", "after it was sent", "after it was noted")


@pytest.mark.parametrize("place", KILLS)
def test_a_kill_at_any_point_loses_no_notice(
    settings: Settings, receiver: LocalReceiver, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Twice it comes only where the answer was lost, and then with the same id."""
    document = _made(settings, RUN, state="incomplete")
    writes = []
    write, deliver = room.write_told, Notifier._deliver

    def killed_write(directory: Path, told: Any) -> None:
        writes.append(told)
        if place == KILLS[0] or (place == KILLS[2] and len(writes) == 2):
            raise _Killed
        write(directory, told)
        if place == KILLS[3] and len(writes) == 2:
            raise _Killed

    def killed_delivery(self: Notifier, *given: Any) -> str:
        if place == KILLS[1]:
            raise _Killed
        return deliver(self, *given)

    with monkeypatch.context() as patched:
        patched.setattr(room, "write_told", killed_write)
        patched.setattr(Notifier, "_deliver", killed_delivery)
        with pytest.raises(_Killed):
            _tell(settings, receiver, document, NotFinished("a part"))
    for number in (1, 2):
        _tell(settings, receiver, _made(settings, f"20261129-031500-0000000{number}", state="complete"))
    of_run = [each for each, (run, _) in zip(receiver.ids, receiver.notices, strict=True) if run == RUN]
    assert of_run == [notice_id(RUN, "failed")] * (2 if place == KILLS[2] else 1)


@pytest.mark.parametrize("way", ["redirect", "error", "nonsense", "drop", "silence"])
def test_a_notice_that_was_not_delivered_is_told_by_the_next_command(
    settings: Settings, receiver: LocalReceiver, way: str
) -> None:
    """It is said, and nothing is raised; the next one delivers the same message."""
    receiver.way = way
    problems = _tell(settings, receiver, _made(settings, RUN, state="incomplete"), NotFinished("a part"), seconds=0.5)
    assert len(problems) == 1
    assert "night" in problems[0]
    assert "s3cret" not in problems[0]
    receiver.way = "well"
    _tell(settings, receiver, _made(settings, "20261129-031500-00000001", state="complete"))
    assert receiver.bodies[0] == receiver.bodies[-1]
    told = read_told(RunStore(settings.state_dir).directory(RUN))
    assert told is not None
    assert (told.ids, told.pending) == ((notice_id(RUN, "failed"),), None)


def test_a_dead_receiver_is_waited_for_once(settings: Settings, receiver: LocalReceiver) -> None:
    """However many runs are to be told: those of earlier commands wait for the next one."""
    for number in range(5):
        _made(settings, f"20261120-000000-0000000{number}")
    receiver.way = "silence"
    _tell(settings, receiver, _made(settings, RUN, state="incomplete"), NotFinished("a part"), seconds=0.3)
    assert len(receiver.bodies) == 1


def test_two_commands_do_not_tell_the_same(settings: Settings, receiver: LocalReceiver) -> None:
    """While another one notifies, nothing is sent; what is to be told stays for the next one."""
    path = make_directory(settings.state_dir) / room.LOCK
    with locked(path):
        problems = _tell(settings, receiver, _made(settings, RUN, state="incomplete"), NotFinished("x"), seconds=0.1)
    assert problems == ["another command is notifying: the next command tells it"]
    assert receiver.paths == []
    _tell(settings, receiver, _made(settings, "20261129-031500-00000001", state="complete"))
    assert (RUN, "failed") in receiver.notices


def test_only_a_good_command_calls_the_ping(settings: Settings, receiver: LocalReceiver) -> None:
    for is_good in (False, True):
        teller = Notifier(settings, ping=Address.read(Secret(receiver.url), "URL"), now=NOW)
        teller.tell([], is_good=is_good)
        assert teller.problems == []
    assert receiver.paths == ["GET /hook/s3cret-path?sig=s3cret-query"]
