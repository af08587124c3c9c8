"""A setup: the audiences that one file describes, each with its list and its account."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, TypeAlias

from audiencekit.errors import UsageError
from audiencekit.settings import Settings
from audiencekit.sources.files import FilePath

Command: TypeAlias = Literal["sync", "upload", "do-not-reach"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AudienceSetup:
    """One audience: `audience` is its id or its name. `account_id` None stands for that of the settings.

    With the command `do-not-reach` it is the do-not-reach list of the account, and `audience` is empty. `keywords` are
    those of the function that `command` names; `schedule` is a note for people.
    """

    name: str
    command: Command
    audience: str
    sources: tuple[FilePath, ...]
    account: str | None = None
    account_id: str | None = None
    schedule: str = ""
    keywords: Mapping[str, Any] = field(default_factory=dict)

    def settings(self, common: Settings) -> Settings:
        """The `common` settings, for its account."""
        return common if self.account is None else common.for_account(self.account, self.account_id)

    @property
    def operation(self) -> str:
        """The operation in words: sync, update, delete, or update and delete."""
        if self.command == "sync":
            return "sync"
        return "update and delete" if "operation_column" in self.keywords else self.keywords.get("operation", "update")


@dataclass(frozen=True, slots=True)
class Setup:
    """The audiences of the file at `path`, in its order."""

    path: Path
    audiences: tuple[AudienceSetup, ...]

    def chosen(self, names: Iterable[str] | None) -> tuple[AudienceSetup, ...]:
        """Those of these names, in the order of the file; all of them for None. Raises UsageError for unknown names."""
        if names is None:
            return self.audiences
        wanted, known = list(names), [one.name for one in self.audiences]
        for name in wanted:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                hint = f"perhaps {near[0]}" if near else f"the setup has: {', '.join(known)}"
                raise UsageError(f"there is no audience {name!r} in the setup", hint=hint)
        return tuple(one for one in self.audiences if one.name in wanted)
