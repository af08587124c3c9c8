"""The options of a plan; options that do not fit the source, the destination or each other are refused."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final, Literal, cast

from audiencekit.destinations.destination import Destination
from audiencekit.errors import InputOutputFailed, MappingRefused, Refused, UsageError
from audiencekit.identifiers.kinds import Kind, Rules
from audiencekit.limits import DEFAULT_MAX_UNREAD_SHARE, KEEP_SHARED, MAX_BODY_BYTES, MIN_BODY_BYTES, SHARED_PEOPLE
from audiencekit.planning.keywords import (
    ABOUT,
    Keywords as Keywords,
    SourceKeywords as SourceKeywords,
    SyncKeywords as SyncKeywords,
    Time as Time,
    refuse_unknown_keywords,
    with_keywords as with_keywords,
)
from audiencekit.profile import Profile
from audiencekit.records.batches import ColumnMapping
from audiencekit.records.records import fold_consent
from audiencekit.records.refusal_bounds import Bounds
from audiencekit.reporting.rejections import refuse_other_file
from audiencekit.settings import FEW_PEOPLE_RULES, FewPeople
from audiencekit.sources.bytes.files import STANDARD_INPUT
from audiencekit.sources.files import FilePath, absolute_path, paths_of
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.remote.addresses import is_stored_whole, stored_address
from audiencekit.text import OPTION, option

# --- The keywords of `check`, `prepare` and `upload`, checked once ---

_TEXTS: Final = (
    *("country", "country_column", "operation_column", "split_cells", "encoding", "delimiter"),
    *("suppress_split_cells", "suppress_encoding", "suppress_delimiter"),
)
_TRUTHS: Final = ("header", "suppress_header", "allow_empty", "confirm_partner_ids", "fail_on_warnings")
_TIMES: Final = ("expires_at", "effective_at", "plan_time")
_DEFAULTS: Final[dict[str, Any]] = {name: about.default for name, about in ABOUT.items()}
_WORD: Final = re.compile(r"[A-Za-z _-]{1,20}")
# Keywords that are about suppression sources.
_ABOUT_LISTS: Final = tuple(name for name in Keywords.__annotations__ if name.startswith("suppress_"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Checked keywords: how the source is read, by which rules, and what its rows mean.

    `lists` says how the sources of `suppress` are read; the share `unread_share` of the rows of each may be unreadable.
    `consent` is the word of consent after `fold_consent`; None when no column holds consent.
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
    max_records_per_request: int | None = None
    max_records_per_operation: int | None = None
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


def plain_keywords(keywords: SourceKeywords, *, few_people: FewPeople = "tell") -> Keywords:
    """Return the given keywords as JSON can hold them: pairs and kinds as lists, files by absolute paths.

    `few_people` is the setting.
    """
    plain: dict[str, Any] = {name: value for name, value in keywords.items() if value is not None}
    plain["columns"] = [list(pair) for pair in _pairs(plain.get("columns"))]
    if "suppress_columns" in plain:
        plain["suppress_columns"] = [list(pair) for pair in _pairs(plain["suppress_columns"])]
    plain |= {name: _time_text(name, plain[name]) for name in _TIMES if name in plain}
    plain["hashed"] = sorted(_hashed_kinds(plain))
    plain.setdefault("shared_values", SHARED_PEOPLE)  # a run goes on with it, whatever the default is by then
    plain.setdefault("few_people", few_people)
    if ignore := _ignored_names(plain):
        plain["ignore"] = ignore
    if filled := _filled_names(plain):
        plain["fill_down"] = filled
    for name in ("sheet", "suppress_sheet"):
        if sheets := list(_sheet_names({name: plain.pop(name, None)}, name) or ()):
            plain[name] = sheets if len(sheets) > 1 else sheets[0]
    if suppress := _suppress_paths(plain.pop("suppress", None)):
        plain["suppress"] = [absolute_path(path) for path in suppress]
    return cast("Keywords", plain)


def read_keywords(keywords: SourceKeywords, profile: Profile, *, few_people: FewPeople = "tell") -> Options:
    """Return the keywords as options. Raises UsageError for invalid ones, alone or together.

    `few_people` is the setting.
    """
    refuse_unknown_keywords(keywords, Keywords.__annotations__)
    given = _DEFAULTS | {name: value for name, value in keywords.items() if value is not None}
    if wrong := [name for name in _TEXTS if not isinstance(given[name], str | None)]:
        raise UsageError(f"{', '.join(wrong)} must be text")
    operation = given["operation"]
    if operation and given["operation_column"]:
        raise UsageError("`operation=` and `operation_column=` were both given", hint="give one of them")
    if operation not in (None, "update", "delete"):
        raise UsageError("the operation must be update or delete")
    _check_types(given)
    share = _read_share(given, "max_rejected_share")
    column_share = _read_share(given, "max_rejected_column_share")
    consent_column, consent = _read_consent(given["consent_column"])
    source = _source_options(given, consent_column)
    return Options(
        source=source,
        rules=Rules(
            default_country=source.country,
            phone_validity=given["phone_validity"],
            phone_form=profile.phone_form,
            device_id_case=profile.device_id_case,
        ),
        bounds=Bounds(
            max_rejected_share=share,
            max_rejected_column_share=column_share,
            allow_empty=bool(given["allow_empty"]),
            confirm_partner_ids=given["confirm_partner_ids"],
        ),
        operation_was_given=operation is not None,
        operation_type="Delete" if operation == "delete" else "Update",
        expires_at=_time_text("expires_at", given["expires_at"]),
        ttl_days=given["ttl_days"],
        effective_at=_time_text("effective_at", given["effective_at"]),
        plan_time=_time_text("plan_time", given["plan_time"]),
        suppress=_read_suppress(given),
        lists=_list_options(given, source.country),
        unread_share=_read_share(given, "suppress_max_rejected_share"),
        consent=consent,
        shared_people=_read_shared(given["shared_values"]),
        shared_suppression=given["shared_suppression"],
        few_people=given["few_people"] or few_people,
        max_records_per_request=_read_size(given, "max_records_per_request"),
        max_records_per_operation=_read_size(given, "max_records_per_operation"),
        max_body_bytes=_read_size(given, "max_body_bytes", MIN_BODY_BYTES, MAX_BODY_BYTES),
        fails_on_warnings=given["fail_on_warnings"],
    )


def _read_share(given: Mapping[str, Any], name: str) -> float:
    share: float = given[name]
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise UsageError(f"{option(name)}: a share must be from 0 to 1")
    return share


def _read_size(given: Mapping[str, Any], name: str, least: int = 1, most: int | None = None) -> int | None:
    """Return a size of requests; None if no size is given. Raises UsageError."""
    size: int | None = given[name]
    if size is None:
        return None
    if isinstance(size, bool) or not isinstance(size, int) or size < least or (most is not None and size > most):
        raise UsageError(
            f"{option(name)} must be {f'from {least:,} to {most:,}' if most else 'a whole number from 1 on'}"
        )
    return size


def _check_types(given: Mapping[str, Any]) -> None:
    """Raise UsageError for a keyword of the wrong type: a choice, a number or a boolean."""
    if given["phone_validity"] not in ("valid", "possible"):
        raise UsageError("phone_validity must be valid or possible")
    if given["few_people"] not in (None, *FEW_PEOPLE_RULES):
        raise UsageError(f"few_people must be {', '.join(FEW_PEOPLE_RULES[:-1])} or {FEW_PEOPLE_RULES[-1]}")
    if isinstance(given["ttl_days"], bool) or not isinstance(given["ttl_days"], int | None):
        raise UsageError("ttl_days must be a whole number")
    if given["shared_suppression"] not in ("stop", "all", "none"):
        raise UsageError("shared_suppression must be stop, all or none")
    if wrong := [name for name in _TRUTHS if not isinstance(given[name], bool | None)]:
        raise UsageError(f"{', '.join(wrong)} must be True or False")


def _whole_path(path: FilePath) -> str:
    """Return the path of a suppression source, so that a resumed run finds it.

    Raises UsageError for a shortened address.
    """
    if not is_stored_whole(stored_address(path)):
        raise UsageError(
            "a suppression source is an address with a query, which is not kept",
            hint="download it, and give its path: a run that is resumed reads it again",
        )
    return os.fspath(path)


def _time_text(name: str, given: Time | None) -> str | None:
    """Return a time as text in ISO 8601. Raises UsageError for an ambiguous datetime."""
    if isinstance(given, datetime) and given.utcoffset() is None:
        raise UsageError(f"{name} is a datetime without a time zone", hint="for example datetime.now(UTC)")
    return given.isoformat() if isinstance(given, date) else given


def _read_shared(given: Any) -> int | None:
    """Return the number of people that may share a value; None for any number. Raises UsageError."""
    if given == KEEP_SHARED:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise UsageError("shared_values must be a number of people from 1 on, or keep")
    return given


def _suppress_paths(given: Any) -> tuple[str, ...]:
    """Return the given paths; none for None and for an empty list. Raises UsageError for anything else."""
    if given is None or (isinstance(given, Sequence) and not given):
        return ()
    return tuple(map(_whole_path, paths_of(given)))


def _read_suppress(given: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the suppression sources. Raises UsageError for options about them where there are none."""
    if paths := _suppress_paths(given["suppress"]):
        return paths
    if about := [name for name in _ABOUT_LISTS if given[name] not in (ABOUT[name].default, (), [], {})]:
        raise UsageError(
            f"{', '.join(map(option, about))}: there is no suppression source", hint="name it with `suppress=SOURCE`"
        )
    return ()


def _read_consent(given: str | None) -> tuple[str | None, str | None]:
    """Return column and folded word of NAME=VALUE. Raises UsageError, also for a blank word: it would be no consent."""
    if given is None:
        return None, None
    name, _, word = given.partition("=") if isinstance(given, str) else ("", "", "")
    if not name.strip() or not word.strip():
        raise UsageError("`consent_column=` is NAME=VALUE", hint="for example `consent_column='marketing=yes'`")
    return name, fold_consent(word)


def _source_options(given: Mapping[str, Any], consent_column: str | None) -> SourceOptions:
    return SourceOptions(
        columns=_read_columns(given["columns"]),
        country=given["country"],
        country_column=given["country_column"],
        country_code_column=given["country_code_column"],
        area_code_column=given["area_code_column"],
        operation_column=given["operation_column"],
        consent_column=consent_column,
        hashed=frozenset(read_kind(kind) for kind in _hashed_kinds(given)),
        ignore=tuple(_ignored_names(given)),
        fill_down=tuple(_filled_names(given)),
        split_cells=given["split_cells"],
        encoding=given["encoding"],
        delimiter=given["delimiter"],
        header=given["header"],
        header_row=_read_size(given, "header_row"),
        sheet=_sheet_names(given, "sheet"),
        one_operation=given["operation"] is not None,
    )


@contextmanager
def about_lists() -> Iterator[None]:
    """A context manager that adds to errors that they are about a suppression source, whose options they advise."""
    try:
        yield
    except (UsageError, Refused, InputOutputFailed) as error:
        error.args = (f"suppression source: {_with_their_options(str(error))}",)
        error.hint = _with_their_options(error.hint)
        raise


def _with_their_options(text: str) -> str:
    """Return `text` with `suppress_encoding=` in place of `encoding=`, and so on."""
    return OPTION.sub(
        lambda one: one[0].replace("`", "`suppress_", 1) if f"suppress_{one[1]}" in _ABOUT_LISTS else one[0], text
    )


@about_lists()
def _list_options(given: Mapping[str, Any], country: str | None) -> SourceOptions:
    """Return how suppression sources are read: by which rules, and in every form."""
    return SourceOptions(
        columns=_read_columns(given["suppress_columns"]),
        country=country,
        split_cells=given["suppress_split_cells"],
        encoding=given["suppress_encoding"],
        delimiter=given["suppress_delimiter"],
        header=given["suppress_header"],
        sheet=_sheet_names(given, "suppress_sheet"),
        every_form=True,
        one_operation=True,
    )


def _hashed_kinds(given: Mapping[str, Any]) -> list[str]:
    return _texts(given.get("hashed"), wrong="hashed names kinds", hint='for example ["email"]')


def _ignored_names(given: Mapping[str, Any]) -> list[str]:
    return _texts(given.get("ignore"), wrong="ignore names columns", hint='for example ["Fax"]')


def _filled_names(given: Mapping[str, Any]) -> list[str]:
    return _texts(given.get("fill_down"), wrong="fill_down names columns", hint='for example ["Country"]')


def _sheet_names(given: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    return (
        tuple(_texts(given.get(name), wrong=f"{name} names sheets", hint='for example ["January", "February"]')) or None
    )


def _texts(given: Any, *, wrong: str, hint: str) -> list[str]:
    """Return the texts of a keyword, one or several. Raises UsageError with the message `wrong` for anything else."""
    several = given or ()
    texts = [several] if isinstance(several, str) else list(several) if isinstance(several, Iterable) else [several]
    if not all(isinstance(text, str) for text in texts):
        raise UsageError(wrong, hint=hint)
    return texts


def _pairs(columns: Any) -> list[tuple[str, str]]:
    """Return pairs of kind and column. Raises UsageError for anything else."""
    given = columns.items() if isinstance(columns, Mapping) else columns or ()
    pairs = list(given) if isinstance(given, Iterable) else [given]
    texts = [pair for pair in pairs if isinstance(pair, tuple | list) and all(isinstance(part, str) for part in pair)]
    if len(texts) < len(pairs) or any(len(pair) != 2 for pair in texts):
        raise UsageError("columns pairs kinds with column names", hint='for example {"email": "mail"}')
    return [(kind, column) for kind, column in pairs]


def _read_columns(columns: Any) -> tuple[tuple[Kind, str], ...]:
    return tuple((read_kind(kind), column) for kind, column in _pairs(columns))


def read_kind(name: str) -> Kind:
    """Return the kind with this name. Raises UsageError for an unknown one."""
    if name not in set(Kind):
        # An identifier in the place of its kind is not shown.
        known = (
            f"there is no kind {name!r}"
            if _WORD.fullmatch(str(name))
            else "the kind is not one of those that there are"
        )
        raise UsageError(known, hint=f"choose one of: {', '.join(Kind)}")
    return Kind(name)


# --- Options that fit neither the source, nor the destination, nor each other: refused before a row is read ---


def refuse_options(options: Options, paths: tuple[str, ...], destination: Destination) -> None:
    """Raise UsageError for options that exclude each other, or do not fit the destination or these paths."""
    if not destination.suppresses and (options.suppress or options.consent is not None):
        raise UsageError(f"a {destination.words.noun} keeps people out: suppression has no meaning for it")
    if [*paths, *options.suppress].count(STANDARD_INPUT) > 1:
        raise UsageError("standard input is named twice, and can be read only once")


def refuse_other_kinds(mapping: ColumnMapping, destination: Destination) -> None:
    """Raise MappingRefused, with their names, for columns whose kind the destination does not take."""
    if alien := [column for column in mapping.columns if column.kind not in destination.kinds]:
        named = ", ".join(f"{column.name} ({column.kind})" for column in alien)
        kinds = [kind.value for kind in Kind if kind in destination.kinds]
        raise MappingRefused(
            f"a {destination.words.noun} takes {' and '.join(kinds)} only, and other columns are mapped: {named}",
            hint=f"name the columns to be sent: {option('columns', dict.fromkeys(kinds, 'COLUMN'))}",
        )


def refuse_written_over(read: tuple[str, ...], rejections: FilePath | None) -> None:
    """Raise UsageError when the rejections would overwrite a file that is read, or any file but rejections."""
    if rejections is None:
        return
    if any(_is_same_file(path, rejections) for path in read):
        raise UsageError("the rejections would be written over the source", hint="give them another name")
    refuse_other_file(Path(rejections))


def _is_same_file(one: FilePath, other: FilePath) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False
