"""The keywords of `check`, `prepare` and `upload`, checked once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypedDict, cast

from audiencekit.errors import InputOutputFailed, Refused, UsageError
from audiencekit.identifiers.kinds import Kind
from audiencekit.identifiers.rules import Rules
from audiencekit.limits import (
    DEFAULT_MAX_REJECTED_COLUMN_SHARE,
    DEFAULT_MAX_REJECTED_SHARE,
    DEFAULT_MAX_UNREAD_SHARE,
    KEEP_SHARED,
    MAX_BODY_BYTES,
    MIN_BODY_BYTES,
    SHARED_PEOPLE,
)
from audiencekit.preparation.bounds import Bounds
from audiencekit.preparation.records import fold_consent
from audiencekit.profile import Profile
from audiencekit.settings import FEW_PEOPLE_RULES, FewPeople
from audiencekit.sources.files import FilePath, absolute_path, paths_of
from audiencekit.sources.options import SourceOptions


class SourceKeywords(TypedDict, total=False):
    """How to read a source.

    `columns`: {kind: column} or (kind, column) pairs, columns are recognised when it is left out. `country`: of phone
    numbers that do not name theirs. `hashed`: kinds whose columns are SHA-256 already. `ignore`: columns that are taken
    for nothing. `split_cells`: separator of several values in a cell. `header`: False when the first line is a row.
    `sql`: one SELECT over the table `source`. `shared_values`: a value in records of more people than so many is left
    out of them (5 by default); "keep" keeps all.
    """

    columns: Mapping[str, str] | Iterable[tuple[str, str]]
    country: str | None
    country_column: str | None
    hashed: Iterable[str]
    ignore: str | Iterable[str]
    split_cells: str | None
    encoding: str | None
    delimiter: str | None
    header: bool | None
    sql: str | None
    shared_values: int | Literal["keep"]


class Keywords(SourceKeywords, total=False):
    """How to read a source and what to do with its rows; each is an option of the command line, too.

    `phone_validity`: whether numbers must be assigned ones, or of a possible length only.
    `operation`: update or delete, for all rows; `operation_column` names a column that says it. Times are ISO 8601.
    `max_rejected_share`: of all rows, 0 to 1; `max_rejected_column_share`: of the values of a column that are not of
    its kind. `confirm_partner_ids`: the numbers in the columns of `partner_user_id`, which leave unhashed, are ids,
    although they read as phone numbers, cards or accounts. `suppress`: sources of people
    who must not be put in; keywords that begin with it say how they are read, and hold for those of them that have a
    use for it.
    `suppress_max_rejected_share`: of the rows of each, 0 by default. `consent_column`: NAME=VALUE, the column and the
    word of rows that may be.
    `fail_on_warnings`: a large loss of values refuses the plan, in place of a warning.
    `shared_suppression`: a shared value of people to be kept out stops the run, keeps out all who have it, or none.
    `few_people`: tell of a run that changes fewer than ten people of an audience, refuse it, or allow it, which the
    report says; the setting by default.
    `max_body_bytes`: of one request; 5,000,000 by default.
    """

    phone_validity: Literal["valid", "possible"]
    operation: Literal["update", "delete"] | None
    operation_column: str | None
    expires_at: str | None
    ttl_days: int | None
    effective_at: str | None
    plan_time: str | None
    max_rejected_share: float
    max_rejected_column_share: float
    allow_empty: bool
    confirm_partner_ids: bool
    fail_on_warnings: bool
    suppress: FilePath | Iterable[FilePath]
    suppress_columns: Mapping[str, str] | Iterable[tuple[str, str]]
    suppress_split_cells: str | None
    suppress_encoding: str | None
    suppress_delimiter: str | None
    suppress_header: bool | None
    suppress_max_rejected_share: float
    consent_column: str | None
    shared_suppression: Literal["stop", "all", "none"]
    few_people: FewPeople
    max_body_bytes: int


_TEXTS: Final = (
    *("country", "country_column", "operation_column", "split_cells", "encoding", "delimiter"),
    *("suppress_split_cells", "suppress_encoding", "suppress_delimiter"),
)
# Keywords that are about suppression sources.
_ABOUT_LISTS: Final = tuple(name for name in Keywords.__annotations__ if name.startswith("suppress_"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Checked keywords: how the source is read, by which rules, and what its rows mean.

    `lists` says how the sources of `suppress` are read, and `unread_share` of the rows of each may be unreadable.
    `consent` is what `fold_consent` makes of the word that says it; None when no column does.
    """

    source: SourceOptions
    rules: Rules
    bounds: Bounds
    operation_type: Literal["Update", "Delete"]
    operation_was_given: bool
    expires_at: str | None
    ttl_days: int | None
    effective_at: str | None
    plan_time: str | None
    suppress: tuple[str, ...] = ()
    lists: SourceOptions = field(default_factory=SourceOptions)
    unread_share: float = DEFAULT_MAX_UNREAD_SHARE
    consent: str | None = None
    shared_people: int | None = SHARED_PEOPLE  # that a value may stand for; None for any number
    shared_suppression: Literal["stop", "all", "none"] = "stop"
    few_people: FewPeople = "tell"
    max_body_bytes: int | None = None
    fails_on_warnings: bool = False  # a large loss refuses the plan
    examines: bool = False  # options are tried on the values that are rejected

    @property
    def suppresses(self) -> bool:
        """Whether records may be suppressed."""
        return bool(self.suppress) or self.consent is not None

    @property
    def operation(self) -> str:
        """The operation in words: update, delete, or update and delete."""
        return "update and delete" if self.source.operation_column else self.operation_type.lower()


def plain_keywords(keywords: Keywords, *, few_people: FewPeople = "tell") -> Keywords:
    """The keywords that were given, as JSON can hold them: pairs and kinds as lists, and paths that mean one file.

    `few_people` is the setting.
    """
    plain: dict[str, Any] = {name: value for name, value in keywords.items() if value is not None}
    plain["columns"] = [list(pair) for pair in _pairs(plain.get("columns"))]
    if "suppress_columns" in plain:
        plain["suppress_columns"] = [list(pair) for pair in _pairs(plain["suppress_columns"])]
    plain["hashed"] = sorted(_hashed_kinds(plain))
    plain.setdefault("shared_values", SHARED_PEOPLE)  # runs of versions that left no value out say nothing of it
    plain.setdefault("few_people", few_people)
    if ignore := _ignored_names(plain):
        plain["ignore"] = ignore
    if suppress := plain.pop("suppress", ()):
        plain["suppress"] = [absolute_path(path) for path in paths_of(suppress)]
    return cast("Keywords", plain)


def read_keywords(keywords: Keywords, profile: Profile) -> Options:
    """The keywords as options. Raises UsageError for those that cannot be, or not together."""
    given: dict[str, Any] = dict(keywords)
    if alien := sorted(set(given) - set(Keywords.__annotations__)):
        raise UsageError(f"there is no option {', '.join(alien)}")
    if wrong := [name for name in _TEXTS if not isinstance(given.get(name), str | None)]:
        raise UsageError(f"{', '.join(wrong)} must be text")
    operation = given.get("operation")
    if operation and given.get("operation_column"):
        raise UsageError("--operation and --operation-column were both given", hint="give one of them")
    if operation not in (None, "update", "delete"):
        raise UsageError("the operation must be update or delete")
    _check_types(given)
    share = _read_share(given, "max_rejected_share", DEFAULT_MAX_REJECTED_SHARE)
    column_share = _read_share(given, "max_rejected_column_share", DEFAULT_MAX_REJECTED_COLUMN_SHARE)
    body_bytes = given.get("max_body_bytes")
    if body_bytes is not None and not (isinstance(body_bytes, int) and MIN_BODY_BYTES <= body_bytes <= MAX_BODY_BYTES):
        raise UsageError(f"a body is at most {MIN_BODY_BYTES:,} to {MAX_BODY_BYTES:,} bytes")
    consent_column, consent = _read_consent(given.get("consent_column"))
    source = _source_options(given, consent_column)
    return Options(
        source=source,
        rules=Rules(
            default_country=source.country,
            phone_validity=given.get("phone_validity", "valid"),
            phone_form=profile.phone_form,
            device_id_case=profile.device_id_case,
        ),
        bounds=Bounds(
            max_rejected_share=share,
            max_rejected_column_share=column_share,
            allow_empty=bool(given.get("allow_empty")),
            confirm_partner_ids=given.get("confirm_partner_ids", False),
        ),
        operation_was_given=operation is not None,
        operation_type="Delete" if operation == "delete" else "Update",
        expires_at=given.get("expires_at"),
        ttl_days=given.get("ttl_days"),
        effective_at=given.get("effective_at"),
        plan_time=given.get("plan_time"),
        suppress=_read_suppress(given),
        lists=_list_options(given, source.country),
        unread_share=_read_share(given, "suppress_max_rejected_share", DEFAULT_MAX_UNREAD_SHARE),
        consent=consent,
        shared_people=_read_shared(given.get("shared_values", SHARED_PEOPLE)),
        shared_suppression=given.get("shared_suppression", "stop"),
        few_people=given.get("few_people") or "tell",
        max_body_bytes=body_bytes,
        fails_on_warnings=given.get("fail_on_warnings", False),
    )


def _read_share(given: Mapping[str, Any], name: str, default: float) -> float:
    share = given.get(name, default)
    if not isinstance(share, int | float) or not 0 <= share <= 1:
        raise UsageError(f"--{name.replace('_', '-')}: a share must be from 0 to 1")
    return share


def _check_types(given: Mapping[str, Any]) -> None:
    """Raises UsageError for keywords of few words, numbers or truths that are something else."""
    if given.get("phone_validity", "valid") not in ("valid", "possible"):
        raise UsageError("phone_validity must be valid or possible")
    if given.get("few_people") not in (None, *FEW_PEOPLE_RULES):
        raise UsageError(f"few_people must be {', '.join(FEW_PEOPLE_RULES[:-1])} or {FEW_PEOPLE_RULES[-1]}")
    if not isinstance(given.get("ttl_days"), int | None):
        raise UsageError("ttl_days must be a whole number")
    if not isinstance(given.get("confirm_partner_ids", False), bool):
        raise UsageError("confirm_partner_ids must be True or False")
    if given.get("shared_suppression", "stop") not in ("stop", "all", "none"):
        raise UsageError("shared_suppression must be stop, all or none")
    if not isinstance(given.get("fail_on_warnings", False), bool):
        raise UsageError("fail_on_warnings must be True or False")


def _read_shared(given: Any) -> int | None:
    """The people that a value may stand for; None for any number. Raises UsageError."""
    if given == KEEP_SHARED:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise UsageError("shared_values must be a number of people from 1 on, or keep")
    return given


def _read_suppress(given: Mapping[str, Any]) -> tuple[str, ...]:
    """The suppression sources. Raises UsageError for options about them where there are none."""
    if given.get("suppress"):
        return tuple(os.fspath(path) for path in paths_of(given["suppress"]))
    if about := [name for name in _ABOUT_LISTS if given.get(name) not in (None, (), [], {})]:
        raise UsageError(f"{', '.join(about)}: there is no suppression source", hint="name it with --suppress SOURCE")
    return ()


def _read_consent(given: str | None) -> tuple[str | None, str | None]:
    """The column and the folded word of NAME=VALUE. Raises UsageError: a word that is blank would be no consent."""
    if given is None:
        return None, None
    name, _, word = given.partition("=") if isinstance(given, str) else ("", "", "")
    if not name.strip() or not word.strip():
        raise UsageError("--consent-column is NAME=VALUE", hint="for example --consent-column marketing=yes")
    return name, fold_consent(word)


def _source_options(given: Mapping[str, Any], consent_column: str | None) -> SourceOptions:
    return SourceOptions(
        columns=_read_columns(given.get("columns")),
        country=given.get("country"),
        country_column=given.get("country_column"),
        operation_column=given.get("operation_column"),
        consent_column=consent_column,
        hashed=frozenset(read_kind(kind) for kind in _hashed_kinds(given)),
        ignore=tuple(_ignored_names(given)),
        split_cells=given.get("split_cells"),
        encoding=given.get("encoding"),
        delimiter=given.get("delimiter"),
        header=given.get("header"),
        sql=given.get("sql"),
        one_operation=given.get("operation") is not None,
    )


@contextmanager
def about_lists() -> Iterator[None]:
    """Errors raised inside say that they are about a suppression source."""
    try:
        yield
    except (UsageError, Refused, InputOutputFailed) as error:
        error.args = (f"suppression source: {error}",)
        raise


@about_lists()
def _list_options(given: Mapping[str, Any], country: str | None) -> SourceOptions:
    """How suppression sources are read: for what they are compared with, in every form."""
    return SourceOptions(
        columns=_read_columns(given.get("suppress_columns")),
        country=country,
        split_cells=given.get("suppress_split_cells"),
        encoding=given.get("suppress_encoding"),
        delimiter=given.get("suppress_delimiter"),
        header=given.get("suppress_header"),
        every_form=True,
        one_operation=True,
    )


def _hashed_kinds(given: Mapping[str, Any]) -> list[str]:
    return _texts(given.get("hashed"), wrong="hashed names kinds", hint='for example ["email"]')


def _ignored_names(given: Mapping[str, Any]) -> list[str]:
    return _texts(given.get("ignore"), wrong="ignore names columns", hint='for example ["Fax"]')


def _texts(given: Any, *, wrong: str, hint: str) -> list[str]:
    """The texts that a keyword gives, one or several. Raises UsageError, which says `wrong`, for anything else."""
    several = given or ()
    texts = [several] if isinstance(several, str) else list(several) if isinstance(several, Iterable) else [several]
    if not all(isinstance(text, str) for text in texts):
        raise UsageError(wrong, hint=hint)
    return texts


def _pairs(columns: Any) -> list[tuple[str, str]]:
    """Pairs of kind and column. Raises UsageError for anything else."""
    given = columns.items() if isinstance(columns, Mapping) else columns or ()
    pairs = list(given) if isinstance(given, Iterable) else [given]
    texts = [pair for pair in pairs if isinstance(pair, tuple | list) and all(isinstance(part, str) for part in pair)]
    if len(texts) < len(pairs) or any(len(pair) != 2 for pair in texts):
        raise UsageError("columns pairs kinds with column names", hint='for example {"email": "mail"}')
    return [(kind, column) for kind, column in pairs]


def _read_columns(columns: Any) -> tuple[tuple[Kind, str], ...]:
    return tuple((read_kind(kind), column) for kind, column in _pairs(columns))


def read_kind(name: str) -> Kind:
    """The kind called `name`. Raises UsageError for an unknown one."""
    if name not in set(Kind):
        raise UsageError(f"there is no kind {name!r}", hint=f"choose one of: {', '.join(Kind)}")
    return Kind(name)
