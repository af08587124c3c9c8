"""One seed, one upload with sealed rejections that is met by faults, and resumed until it is complete.

Connections break, the disk is full while rows are sealed, an erasure removes what is being written, the run is stopped,
or it ends at one of its points. Journals, reports and sealed files are the real ones; time is virtual.
"""

from __future__ import annotations

import asyncio
import errno
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from unittest import mock

from audiencekit.destinations.target import Target
from audiencekit.errors import AudiencekitError
from audiencekit.planning.options import Keywords, plain_keywords
from audiencekit.process.crash_points import POINTS, set_hook
from audiencekit.reporting.progress import NoProgress
from audiencekit.reporting.sealed_rejections import (
    SealedRejections,
    find_sealed,
    open_sealed,
    remove_sealed,
    sealed_files,
)
from audiencekit.runs.beginning import reopen_run, start_run
from audiencekit.runs.endings import ended
from audiencekit.runs.keywords import RunOptions
from audiencekit.runs.run import Run, RunArguments
from audiencekit.sources.bytes.encryption import AgeWriter
from tests.canary.markers import WORD, leaks, leaks_by_place
from tests.canary.witnesses import files_in, frames_of
from tests.simulator.histories import AUDIENCE, History, InlineLoop, small_requests
from tests.virtualtime import leaving_nothing_behind

FAULTS: Final = ("connection", "full disk", "erasure", "stop", "end")
_MOST_PARTS: Final = 60  # of one run
_BAD: Final = (f"{WORD} at example.com", f"@{WORD}", f"{WORD}@", f"{WORD}\x01@example.com")


class Ended(AudiencekitError):
    """The run ended at a point."""


@dataclass
class SealedRun:
    """The result of a run: its faults, and what is wrong."""

    faults: Counter[str] = field(default_factory=Counter)
    cells: int = 0
    leaked: dict[str, list[str]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


class _Life(History):
    """The one run of a seed, over as many processes as it takes."""

    def __init__(self, seed: int, directory: Path, recipient: str) -> None:
        super().__init__(seed, directory)
        self.seen, self._recipient = SealedRun(), recipient
        self.rows = [self._row(number) for number in range(self.chance.randint(3, 20))]
        self.rows.append(("sound@example.com", ""))
        self.path = directory / "list.csv"
        lines = [f'"{mail}",{name}' for mail, name in self.rows]
        self.path.write_text("\n".join(["email,handle", *lines]) + "\n")

    def _row(self, number: int) -> tuple[str, str]:
        mail = self.chance.choice([f"person{number}@example.com", *_BAD])
        return mail, self.chance.choice(["", f"handle_{number}"])

    async def live(self) -> None:
        run_id = ""
        for part in range(_MOST_PARTS):
            with ExitStack() as stack:
                fault = self.chance.choice(FAULTS) if part < _MOST_PARTS // 2 else "connection"
                try:
                    with _meeting(fault, self):
                        run = reopen_run(run_id, self.settings, stack) if run_id else self._start(stack)
                        run_id = run.facts.run_id
                        if ended(run) is not None:  # it ended right behind its end
                            break
                        await self._carry_out(run, fault)
                        break
                except (AudiencekitError, asyncio.CancelledError) as error:
                    self.seen.faults[fault] += 1
                    self._look(f"frames of part {part}", frames_of(error))
                run_id = run_id if run_id and self._is_begun(run_id) else ""
            self.seen.leaked |= leaks_by_place(files_in(self.directory, but=self.path))
            await self.clock.sleep(600)
        else:
            self.seen.wrong.append("it did not come to its end")
        self.seen.faults["connection"] += len(self.account.met)
        self.seen.leaked |= leaks_by_place(files_in(self.directory, but=self.path))

    def _start(self, stack: ExitStack) -> Run:
        keywords = Keywords(
            columns={"email": "email", "handle": "handle"}, max_rejected_share=1.0, max_rejected_column_share=1.0
        )
        options = RunOptions(settings=self.settings, progress=NoProgress(), seal_rejections=self._recipient)
        target = Target.audience(AUDIENCE)
        arguments = RunArguments(source=self.path, target=target, keywords=plain_keywords(keywords), options=options)
        return start_run(arguments, stack)

    async def _carry_out(self, run: Run, fault: str) -> None:
        task = asyncio.ensure_future(self._execute(run))
        if fault == "stop":
            loop, after = asyncio.get_running_loop(), self.chance.choice([0.0, self.chance.uniform(0, 2)])
            loop.call_later(after, task.cancel)
            loop.call_later(after + 0.001, task.cancel)
        await task

    def _is_begun(self, run_id: str) -> bool:
        return (self.settings.state_dir / "runs" / run_id / "journal.sqlite").exists()

    def _look(self, place: str, content: bytes) -> None:
        # Frames of tests and of age hold what the test made up: only those of the package are looked at.
        if leaks(content, hashes_allowed=True):
            self.seen.leaked[place] = leaks(content, hashes_allowed=True)

    def opened(self, identity_file: str) -> None:
        """Compare the opened rows with those of the list."""
        wanted = [(number, mail) for number, (mail, _) in enumerate(self.rows, 1) if WORD in mail]
        found = sealed_files(self.settings.state_dir)
        self.seen.cells = len(wanted)
        if not wanted:
            self.seen.wrong += ["a file without rows"] if found else []
            return
        if [path.suffix for path in found] != [".age"]:
            self.seen.wrong.append(f"{len(found)} files")
            return
        sealed = open_sealed(find_sealed(self.settings.state_dir, "last"), identity_file)
        rows = [json.loads(row.unwrap()) for row in sealed]
        if [(row["row"], row["email"]) for row in rows if row["email"] is not None and WORD in row["email"]] != wanted:
            self.seen.wrong.append("other cells than were rejected")


@contextmanager
def _meeting(fault: str, life: _Life) -> Iterator[None]:
    """Have this part of a run meet a fault, sooner or later, or not at all."""
    chance = life.chance
    with ExitStack() as stack:
        if fault == "full disk":
            writes = chance.choice([0, 0, 1])  # a small file is one
            write = AgeWriter.write

            def fail(writer: AgeWriter, data: bytes, /) -> int:
                nonlocal writes
                writes -= 1
                if writes < 0:
                    writer.failure = OSError(errno.ENOSPC, "No space left on device")
                    raise writer.failure
                return write(writer, data)

            stack.enter_context(mock.patch.object(AgeWriter, "write", fail))
        if fault == "erasure":
            add: Callable[[SealedRejections, Any], None] = SealedRejections.add

            def remove(sealed: SealedRejections, rows: Any) -> None:
                add(sealed, rows)
                remove_sealed(life.settings.state_dir)

            stack.enter_context(mock.patch.object(SealedRejections, "add", remove))
        if fault == "end":
            wanted, left = chance.choice(POINTS), chance.randint(0, 2)

            def end(point: str) -> None:
                nonlocal left
                if point == wanted:
                    left -= 1
                    if left < 0:
                        raise Ended("the run ended")

            set_hook(end)
            stack.callback(set_hook, None)
        yield


def live(seed: int, directory: Path, identity_file: str, recipient: str) -> SealedRun:
    """The run of `seed`, at its end."""
    life = _Life(seed, directory, recipient)
    with small_requests(life.chance, waits=True), asyncio.Runner(loop_factory=InlineLoop) as runner:
        runner.run(leaving_nothing_behind(life.live()))
    life.opened(identity_file)
    return life.seen
