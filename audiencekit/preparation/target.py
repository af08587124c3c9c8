"""Where the records of a run go: an audience, or the do-not-reach list of an account; and what each of them takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self

from audiencekit.errors import UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.serviceids import HINT, is_service_id


class TargetKind(StrEnum):
    """What people are put into. As text it is what programs call it; `noun` is for people."""

    AUDIENCE = "audience"
    DO_NOT_REACH_LIST = "do_not_reach_list"

    @property
    def noun(self) -> str:
        """What people call it."""
        return "audience" if self.is_audience else "do-not-reach list"

    @property
    def is_audience(self) -> bool:
        """Whether it is the audience."""
        return self is TargetKind.AUDIENCE

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of identifiers that it takes (specification part 2, sections 4.4 and 4.6)."""
        return frozenset(Kind) if self.is_audience else frozenset({Kind.EMAIL, Kind.PHONE_NUMBER})


@dataclass(frozen=True, slots=True)
class Target:
    """One audience or one do-not-reach list, by its id. As text it is what people call it: `audience 1a2b`.

    Raises UsageError for an id that is not one of the service: it becomes a part of paths.
    """

    kind: TargetKind
    id: str

    def __post_init__(self) -> None:
        if not is_service_id(self.id):
            raise UsageError(f"the {self.kind.noun} is not an id of this service", hint=HINT)

    @classmethod
    def audience(cls, audience_id: str) -> Self:
        """The custom audience of this id."""
        return cls(TargetKind.AUDIENCE, audience_id)

    @classmethod
    def do_not_reach_list(cls, list_id: str) -> Self:
        """The do-not-reach list of this id."""
        return cls(TargetKind.DO_NOT_REACH_LIST, list_id)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """The target whose `to_json` is `document`. Raises ValueError, KeyError or TypeError for what is none."""
        kind, target_id = TargetKind(document["kind"]), document["id"]
        if not is_service_id(target_id):
            raise ValueError("not an id")
        return cls(kind, target_id)

    def to_json(self) -> dict[str, str]:
        """kind, id."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.kind.noun} {self.id}"

    @property
    def audience_id(self) -> str | None:
        """Its id when it is an audience, else None."""
        return self.id if self.kind.is_audience else None

    @property
    def lock_name(self) -> str:
        """What its lock is called among those of its account. Ids hold no dash, so that no two names are one."""
        return self.id if self.kind.is_audience else f"do-not-reach-{self.id}"
