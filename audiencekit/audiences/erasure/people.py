"""The people to forget, as callers name them: identifiers one by one, or a source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from audiencekit.audiences.erasure.identifierlines import Lines, read_identifier_lines
from audiencekit.audiences.erasure.rows import read_rows
from audiencekit.audiences.erasure.subjects import Asked
from audiencekit.errors import UsageError
from audiencekit.planning.options import SourceKeywords, read_keywords
from audiencekit.profile import Profile
from audiencekit.reporting.progress import Progress
from audiencekit.sources.files import AnySource, Item, items_of
from audiencekit.sources.frames.frames import is_frame
from audiencekit.sources.options import SourceOptions


@dataclass(frozen=True, slots=True)
class People:
    """Identifiers, or a source; the other one is None.

    An identifier may stand for `shared_people` members of an audience, None for any number.
    """

    lines: Lines | None
    source: tuple[Item, ...] | None
    options: SourceOptions
    shared_people: int | None

    @classmethod
    def given(
        cls,
        identifiers: Iterable[str] | None,
        source: AnySource | None,
        keywords: SourceKeywords,
        profile: Profile,
    ) -> People:
        """Checked. Raises UsageError for invalid keywords, and unless one of the two is given."""
        if (identifiers is None) is (source is None):
            raise UsageError("give identifiers or a source, not both")
        if isinstance(identifiers, str) or _has_columns(identifiers):
            raise UsageError("identifiers are a list of texts", hint="a data frame is a source: forget(source=frame)")
        given = {name for name, value in keywords.items() if value is not None and value != ()}
        alien = given - SourceKeywords.__annotations__.keys()
        if identifiers is not None:
            alien = given - {"country", "shared_values"}
        if alien:
            raise UsageError(f"{', '.join(sorted(alien))} cannot be used here", hint="they need a source")
        options = read_keywords(keywords, profile)
        items = None if source is None else items_of(source)
        return cls(None if identifiers is None else Lines(identifiers), items, options.source, options.shared_people)

    @property
    def noun(self) -> str:
        """The noun for an entry."""
        return "row" if self.lines is None else "line"

    def read(self, progress: Progress) -> Asked:
        """All people who are named. Raises what `read_rows` and `read_identifier_lines` raise."""
        if self.source is not None:
            return read_rows(self.source, self.options, progress)
        return read_identifier_lines(Lines(()) if self.lines is None else self.lines, country=self.options.country)


def _has_columns(identifiers: object) -> bool:
    """Whether it is a data frame. A column alone, which speaks Arrow as well, is a list."""
    return is_frame(identifiers) and hasattr(identifiers, "columns")
