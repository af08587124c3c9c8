"""One run, as it was begun or opened again: its id, directory, journal, keys and sources."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from audiencekit.destinations.target import Target
from audiencekit.machine.keys import SubKey
from audiencekit.planning.options import Keywords
from audiencekit.preparation.plantimes import parse_time
from audiencekit.runs.journal.facts import PlanFacts, RunFacts, Sums
from audiencekit.runs.journal.file import JournalFile
from audiencekit.runs.store import RunStore
from audiencekit.settings import Settings
from audiencekit.sources.files import FilePath, Item, stored_path


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One execution of a plan. It is in its journal before anything is read, and holds the lock of its target.

    `items` are its sources. `earlier` and `plan` are what the journal said when the run was resumed: sums, and the plan
    if there was one; `earlier_paces` are those of the parts before, as its report kept them. `settings` are those of
    this process, with the account and the profile that the run was begun with. `note` is a line for people on what its
    start did, empty when that is nothing.
    """

    facts: RunFacts
    store: RunStore
    directory: Path
    journal: JournalFile
    key: SubKey = field(repr=False)
    spool_key: SubKey = field(repr=False)
    settings: Settings = field(repr=False)
    items: tuple[Item, ...] = ()
    earlier: Sums = field(default_factory=Sums)
    plan: PlanFacts | None = None
    earlier_paces: tuple[dict[str, Any], ...] = ()
    note: str = ""

    def is_as_asked(self, paths: tuple[FilePath, ...], target: Target, keywords: Keywords, settings: Settings) -> bool:
        """Whether it was begun with these arguments, for this account there. What the source holds is not looked at."""
        return (
            self.facts.sources == [stored_path(path) for path in paths]
            and self.facts.target == target
            and self.facts.keywords == keywords
            and (self.facts.account_id, self.facts.profile) == (settings.account_id, settings.profile.name)
            and self.facts.address == settings.address
        )

    @property
    def started_at(self) -> datetime:
        """When it was begun, in whole seconds."""
        return parse_time(self.facts.started_at, "the start of the run")

    @property
    def rejections(self) -> Path:
        """Where they are listed: in the directory of the run, wherever that is now, unless another file was named."""
        return self.directory / self.facts.rejections

    @property
    def keywords(self) -> Keywords:
        """The keywords of `upload`, as `read_keywords` takes them."""
        return cast("Keywords", self.facts.keywords)
