"""Fields of objects within cells: none is read, and those that look like identifiers are told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NoReturn

from audiencekit.errors import MappingRefused, UsageError
from audiencekit.identifiers.countries import find_country
from audiencekit.identifiers.kind_table import is_phone_shaped
from audiencekit.identifiers.kinds import Kind
from audiencekit.identifiers.several_values import SEVERAL
from audiencekit.records.area_codes import calling_code_of, digits_of, with_area
from audiencekit.records.batches import (
    CONSENT,
    COUNTRY,
    LEFT_OUT,
    NOT_USED,
    OPENED,
    OPERATION,
    PROOF,
    ColumnMapping,
    ColumnUse,
    MappedColumn,
)
from audiencekit.records.losses import Loss
from audiencekit.sources.columns.codes_apart import (
    Codes,
    are_codes,
    are_extensions,
    are_whole,
    names_phone_code,
    names_postal_code,
    sort_of,
)
from audiencekit.sources.columns.consent import find_consent
from audiencekit.sources.columns.country import CountryColumn
from audiencekit.sources.columns.evidence import (
    MIN_KIND_SHARE,
    MIN_PLAUSIBLE_SHARE,
    Evidence,
    evident_names,
    find_separator,
    is_impersonal,
    look_at,
    plausible_share,
    refuse_contradiction,
)
from audiencekit.sources.columns.groups import find_group
from audiencekit.sources.columns.header import (
    Header,
    compare_key,
    named_kind,
    names_another_person,
    names_both,
    names_hashes,
    names_own_id,
    names_screen_name,
    names_something_else,
    names_unsupported_hash,
    speaks_of_x,
)
from audiencekit.sources.columns.one_column import refuse_one_column
from audiencekit.sources.columns.ownership import names_not_to_use, names_other, names_own
from audiencekit.sources.options import SourceOptions, show_separator
from audiencekit.sources.sampling import Sample, is_filled
from audiencekit.text import option

_MAX_FIELDS: Final = 200
_MAX_DEPTH: Final = 4
_MAX_VALUES: Final = 3  # of a list within a cell


def nested_notes(header: Header, sample: Sample, options: SourceOptions) -> Iterator[str]:
    """A note on each nested field that would be mapped if it were a column."""
    fields, owners = _fields(sample)
    names = tuple(owners)
    own = Header.of(names, len(names), ())
    ignored = {header.find(name) for name in options.ignore}
    mapper = Mapper(own, fields, SourceOptions(country=options.country), is_nested=True)
    for column in mapper.map().columns if names else ():
        owner = owners[names[column.position]]
        if owner not in ignored:
            shown = own.shown(column.position)  # a key may be a person's name
            if compare_key(shown) != own.key(column.position):
                shown = f"a field in {header.shown(owner)}"
            told = f"{column.kind}, but within an object; not read, write it as a column of its own if it is one"
            yield f"{shown}: {told}"


def _fields(sample: Sample) -> tuple[Sample, dict[str, int]]:
    """The fields of the sampled objects as columns called by their paths, and the position of the column of each."""
    names = sample.names or ()
    rows: list[dict[str, str]] = []
    owners: dict[str, int] = {}
    paths: dict[str, str] = {}  # two fields that are called the same but for case are one
    for position, cells in sample.objects.items():
        for at, cell in enumerate(cells):
            if at == len(rows):
                rows.append({})
            for path, text in _values(cell, names[position], 0) if isinstance(cell, Mapping | list) else ():
                if len(owners) < _MAX_FIELDS or path in owners:
                    first = paths.setdefault(compare_key(path), path)
                    owners.setdefault(first, position)
                    rows[at].setdefault(first, text)
    return Sample(tuple(owners), tuple(tuple(row.get(path, "") for row in rows) for path in owners)), owners


def _values(cell: object, path: str, depth: int) -> Iterator[tuple[str, str]]:
    """Path and text of each value in the objects of `cell`; the values of a list have the path of the list."""
    if isinstance(cell, Mapping):
        for key, value in cell.items() if depth < _MAX_DEPTH else ():
            yield from _values(value, f"{path}.{key}", depth + 1)
    elif isinstance(cell, tuple) and len(cell) == 2:  # an entry of a map, as Arrow gives it
        yield from _values({cell[0]: cell[1]}, path, depth)
    elif isinstance(cell, list):
        for value in cell[:_MAX_VALUES]:
            yield from _values(value, path, depth)
    elif depth and isinstance(cell, str | int):
        yield path, str(cell)


# The words of a column of operations; an upload that ignores one would put in people who are to be taken out.
TOLD_VERBS: Final = frozenset({"update", "delete", "remove"})  # one of these must be among them
MOST_NAMELESS: Final = 5  # columns of one kind, by content alone, of one person
_PLURALS: Final = {Kind.EMAIL: "addresses", Kind.PHONE_NUMBER: "numbers"}
_OF_PEOPLE: Final = frozenset(_PLURALS)
OPERATION_VERBS: Final = TOLD_VERBS | {"insert", "upsert", "add", "create", "append", "merge"}


@dataclass(slots=True)
class Mapper:
    """Maps the columns of one source. `notes` say what was found and why, for people; they hold no cell.

    `missing` are names of `options.columns` that a list has no column for, with `every_form`. `warnings` are of
    people who are lost by the mapping, or put in without consent, as far as the sample shows. `uses` are of all
    columns, in their order, once they are mapped. `is_nested` columns are fields of objects, which are only told.
    """

    header: Header
    sample: Sample
    options: SourceOptions
    notes: list[str] = field(default_factory=list)
    operation_hint: str | None = None  # a column that says update or delete, and that no option names
    missing: list[str] = field(default_factory=list)
    warnings: list[Loss] = field(default_factory=list)
    uses: tuple[ColumnUse, ...] = ()
    is_nested: bool = False
    _why_taken: dict[int, str] = field(default_factory=dict)
    _why_left: dict[int, str] = field(default_factory=dict)
    _left_out: dict[int, Kind] = field(default_factory=dict)
    _ignored: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        self.header = self.header.showing(evident_names(self.header, self.sample))

    def map(self) -> ColumnMapping:
        """The mapping.

        Raises MappingRefused for columns that are missing or cannot be told apart, UsageError for one that is mapped
        and ignored.
        """
        self._ignore()
        proof = self._proof()
        if proof is not None and not self.options.columns:
            self._take_rejected_columns()
        countries = CountryColumn(self.header, self.sample, self.options, self._places(), self.notes, self._why_left)
        country, operation = countries.find(), self._given(self.options.operation_column)
        if country is not None and countries.are_calling_codes:
            codes = (calling_code_of(cell) or cell for cell in self.sample.columns[country])
            self.sample = self.sample.with_cells(country, codes)
        area = self._given(self.options.area_code_column)
        consent = self._given(self.options.consent_column)
        columns = self._columns(country, area, operation, consent, proof)
        if not self._names_country and country in [column.position for column in columns]:
            country = None  # the user said what it is
        self._refuse_two_uses(columns, country, area, operation, consent, proof)
        columns = self._with_areas(columns, country, area)
        if country is None and self._has_phone_numbers(columns):
            countries.note_codes({operation, consent, *(column.position for column in columns)})
        used = {OPERATION: operation, CONSENT: consent, COUNTRY: country}
        group, filled = self._groups(columns, country, used)
        columns = self._with_country_remedy(columns, countries, country, group, filled)
        if self.options.puts_in and consent is None:
            self._notice_consent(country, operation, proof, *(column.position for column in columns))
        if operation is None:
            self.operation_hint = self._operation_hint(*(column.position for column in columns), consent, proof)
        held = [place for place in self._places() if self.sample.filled(place)]
        if not columns and len(held) == 1:
            refuse_one_column([self._name(held[0]), *self.sample.filled(held[0])])
        if not columns and self.options.delimiter is not None and self.header.width == 1:
            self.notes.append("or leave `delimiter=` out: it divides no row, and the right one is recognised")
        if not columns or self.missing:
            self.notes.append(f"the columns are: {self.header.listed()}")
        roles = {operation: ("operation", "as given"), consent: ("consent", "as given")}
        roles[proof] = (PROOF, "that a run rejected the row")
        roles[country] = ("country", countries.why)
        roles |= {
            column.area: ("area code", f"of the numbers in {column.name}")
            for column in columns
            if column.area is not None
        }
        self.uses = tuple(self._uses(columns, roles))
        return ColumnMapping(
            columns=columns,
            country=country,
            country_name=self._shown(country),
            operation=operation,
            operation_name=self._shown(operation),
            consent=consent,
            consent_name=self._shown(consent),
            are_calling_codes=country is not None and countries.are_calling_codes,
            filled_down=filled,
            group=group if filled else None,
            proof=proof,
        )

    @property
    def _names_country(self) -> bool:
        return self.options.country_column is not None or self.options.country_code_column is not None

    def _ignore(self) -> None:
        self._ignored = frozenset(self.header.find(name) for name in self.options.ignore)
        self._why_left |= dict.fromkeys(self._ignored, "as `ignore=` says")

    def _uses(
        self, columns: tuple[MappedColumn, ...], roles: Mapping[int | None, tuple[str, str]]
    ) -> Iterator[ColumnUse]:
        kinds: dict[int, list[str]] = {}
        for column in columns:
            kinds.setdefault(column.position, []).append(column.use)
        for place in range(len(self.sample.columns)):
            if place in kinds:
                what, why = " or ".join(kinds[place]), self._why_taken.get(place, "as given")
            elif place in roles:
                what, why = roles[place]
            else:
                what, why = (LEFT_OUT, self._why_left[place]) if place in self._why_left else (NOT_USED, "")
            yield ColumnUse(self.header.shown(place), what, why)

    def _shown(self, position: int | None) -> str | None:
        return None if position is None else self.header.shown(position)

    def _given(self, name: str | None) -> int | None:
        return None if name is None else self.header.find(name)

    def _proof(self) -> int | None:
        """The column of proofs, where this is an opened file of the rejections of a run."""
        is_opened = all(self.header.has(name) for name in OPENED)
        return self.header.find(PROOF) if is_opened else None

    def _take_rejected_columns(self) -> None:
        """Name the columns that the run used: where nearly all rows are rejected, none is recognised."""
        known = [each for each in self.options.rejected_columns if self.header.has(each[1])]
        if known:
            hashed = frozenset(kind for kind, _, is_hashed in known if is_hashed)
            columns = tuple((kind, name) for kind, name, _ in known)
            self.options = replace(self.options, columns=columns, hashed=hashed)

    def _has_phone_numbers(self, columns: tuple[MappedColumn, ...]) -> bool:
        return any(column.kind is Kind.PHONE_NUMBER for column in columns) or any(
            map(self._is_national, self._places())
        )

    def _operation_hint(self, *mapped: int | None) -> str | None:
        for position in self._places():
            words = {cell.strip().casefold() for cell in self.sample.filled(position)}
            if position not in mapped and words & TOLD_VERBS and words <= OPERATION_VERBS:
                return self.header.shown(position)
        return None

    def _columns(self, *others: int | None) -> tuple[MappedColumn, ...]:
        """The columns that the user named, else the recognised ones; both for a list that is compared."""
        named = self.options.columns
        if not self.options.every_form:
            return self._explicit(named) if named else self._recognized(*others)
        self.missing += [name for _, name in named if not self.header.has(name)]
        explicit = self._explicit([(kind, name) for kind, name in named if name not in self.missing])
        kinds = {column.kind for column in explicit}
        recognized = self._recognized(*others, *(column.position for column in explicit))
        for column in recognized:
            if column.kind in kinds:
                self._warn_of_unread(column)
        return explicit + tuple(column for column in recognized if column.kind not in kinds)

    def _warn_of_unread(self, column: MappedColumn) -> None:
        """Warn of people who are in no named column of a list that is compared: they would be missed."""
        self._why_left[column.position] = f"another column of the kind {column.kind} is named"
        filled = sum(map(is_filled, self.sample.columns[column.position]))
        rows = len(self.sample.columns[column.position])
        self.warnings.append(
            Loss(
                code="left_out",
                column=column.name,
                count=filled,
                share=filled / rows if rows else 0.0,
                message=f"column {column.name} holds the kind {column.kind}, too, and is not read, since"
                " `suppress_columns=` names another column",
                remedy="name it, too, if the people in it are to be kept out",
            )
        )

    def _explicit(self, named: Iterable[tuple[Kind, str]]) -> tuple[MappedColumn, ...]:
        found = {(self.header.find(name), kind) for kind, name in named}
        shared = {place for place, _ in found if {(place, kind) for kind in SEVERAL} <= found}
        shared = {place for place in shared if self.options.hashed.isdisjoint(SEVERAL)}
        countries = self.sample.countries(None, self.options.country)
        for position, kind in sorted(found):
            if position in shared:
                continue
            evidence = look_at(self.sample, position, countries)
            refuse_contradiction(kind, self._name(position), evidence, shown=self.header.shown(position))
        return tuple(
            self._column(kind, position, hashed=kind in self.options.hashed, is_shared=position in shared)
            for position, kind in sorted(found)
        )

    def _column(
        self, kind: Kind, position: int, *, hashed: bool, is_guess: bool = False, is_shared: bool = False
    ) -> MappedColumn:
        name, separator = self.header.shown(position), None
        if self.options.split_cells is None:
            separator = find_separator(kind, self.sample.filled(position))
        if separator is not None:
            self.notes.append(f"{name}: several values a cell, divided at {show_separator(separator)}")
        return MappedColumn(
            kind=kind,
            position=position,
            name=name,
            hashed=hashed,
            is_guess=is_guess,
            separator=separator,
            is_divided=self.options.split_cells is not None,
            is_shared=is_shared,
        )

    def _refuse_two_uses(self, columns: tuple[MappedColumn, ...], *others: int | None) -> None:
        shared = {column.position for column in columns if column.is_shared}
        positions = [*(column.position for column in columns if not column.is_shared), *shared, *others]
        for position in positions:
            if position in self._ignored:
                raise UsageError(f"column {self._shown(position)} is mapped and ignored", hint="give one of the two")
            if position is not None and positions.count(position) > 1:
                raise MappingRefused(
                    f"column {self.header.shown(position)} is mapped to more than one thing",
                    hint="a column has one use: name another with `columns=`, `country_column=`, `operation_column=` or"
                    " `consent_column=`",
                )

    def _name(self, position: int) -> str:
        names = self.header.names
        return names[position] if names is not None and position < len(names) else ""

    def _places(self) -> list[int]:
        """The columns that may be something."""
        return [place for place in range(len(self.sample.columns)) if place not in self._ignored]

    def _recognized(self, country: int | None, *others: int | None) -> tuple[MappedColumn, ...]:
        countries = self.sample.countries(country, self.options.country)
        candidates = [
            candidate
            for position in self._places()
            if position not in (country, *others)
            for candidate in self._candidates(position, look_at(self.sample, position, countries))
        ]
        if self.options.puts_in:
            self._refuse_turned(candidates)
            candidates = self._own(candidates)
        columns = tuple(self._chosen(self._undoubted(self._as_declared(candidates))))
        self._warn_of_left_out(columns)
        if not any(countries):
            self._note_national_numbers(columns)
        return columns

    def _refuse_turned(self, candidates: list[Candidate]) -> None:
        """Raises MappingRefused where each cell seems to be a person: a line of addresses, a column for each team."""
        for kind in (Kind.EMAIL, Kind.PHONE_NUMBER, Kind.DEVICE_ID):
            nameless = [candidate for candidate in candidates if candidate.kind is kind and candidate.is_nameless]
            rows = max(len(self.sample.filled(candidate.position)) for candidate in nameless) if nameless else 0
            others = [place for place in self._places() if self.sample.filled(place)]
            is_all = len(nameless) > 1 and len(nameless) == len(others)
            if len(nameless) > MOST_NAMELESS or len(nameless) > rows or is_all:
                raise MappingRefused(
                    f"{len(nameless)} columns hold values of the kind {kind}, and no name says whose: each cell may be"
                    " another person",
                    hint="write one person a line under one header, for example with `tr ',;' '\\n\\n' < FILE`; or"
                    " name each column of the row's person with"
                    f" {option('columns', {kind.value: self.header.shown(nameless[0].position)})}",
                )

    def _own(self, candidates: list[Candidate]) -> list[Candidate]:
        """The candidates but those that may be of other people than the row's.

        Raises MappingRefused for these in a list that also takes people out: there they would be missed.
        """
        own = {candidate.kind for candidate in candidates if names_own(self._name(candidate.position))}
        kept = []
        for candidate in candidates:
            if candidate.kind in _OF_PEOPLE and self._is_of_another(candidate, own):
                self._leave_out(candidate)
            else:
                kept.append(candidate)
        if self._left_out and self.options.operation_column is not None:
            names = " and ".join(map(self.header.shown, self._left_out))
            raise MappingRefused(
                f"{names} may be of other people, and the list also takes people out",
                hint=f"give each column that is meant with {option('columns', {'KIND': 'COLUMN'})}, or leave these out"
                f" with {option('ignore', [self.header.shown(place) for place in self._left_out])}",
            )
        return kept

    def _is_of_another(self, candidate: Candidate, own: set[Kind]) -> bool:
        name = self._name(candidate.position)
        if names_not_to_use(name):
            return True
        return not names_own(name) and (candidate.kind in own or (bool(own) and names_other(name)))

    def _show(self, position: int) -> None:
        """Let the name of a column be shown, unless it may be a value: its owner is to see which column is meant."""
        if is_impersonal(self._name(position), self.sample.columns[position]):
            self.header = self.header.showing(self.header.evident | {position})

    def _leave_out(self, candidate: Candidate) -> None:
        position = candidate.position
        self._show(position)
        shown, kind = self.header.shown(position), candidate.kind
        self._left_out[position] = kind
        self._why_left[position] = f"by its name its {_PLURALS[kind]} may be of other people, or of no use"
        self.notes.append(
            f"{shown}: left out, since {self._why_left[position]}; to take"
            f" it, give {option('columns', {kind.value: shown})}, and the same for each other column that is meant"
        )

    def _warn_of_left_out(self, columns: tuple[MappedColumn, ...]) -> None:
        """Warn of people who have an identifier in no other column."""
        taken = [self.sample.columns[column.position] for column in columns]
        left = [self.sample.columns[position] for position in self._left_out]
        rows = len(self.sample.columns[0]) if self.sample.columns else 0
        only = sum(
            any(is_filled(cells[row]) for cells in left) and not any(is_filled(cells[row]) for cells in taken)
            for row in range(rows if left else 0)
        )
        if only:
            names = " and ".join(map(self.header.shown, self._left_out))
            self.warnings.append(
                Loss(
                    code="left_out",
                    column=None,
                    count=only,
                    share=only / rows,
                    message=f"{only:,} of the first {rows:,} rows have an identifier in no column but {names}, left out"
                    " as perhaps another person's",
                    remedy=f"give each column that is meant with {option('columns', {'KIND': 'COLUMN'})}",
                )
            )

    def _with_areas(
        self, columns: tuple[MappedColumn, ...], country: int | None, area: int | None
    ) -> tuple[MappedColumn, ...]:
        """`columns`, those of phone numbers with the column of their area codes.

        Raises MappingRefused for phone numbers whose codes are in a column beside them, unless it is beyond doubt that
        these are area codes.
        """
        phones = [column for column in columns if column.kind is Kind.PHONE_NUMBER and not column.hashed]
        if area is not None:
            found = {self._nearest(phones, area): area}
        else:
            used = {column.position for column in columns} | {country}
            places = [place for place in self._places() if place not in used]
            found = {phone: place for phone in phones if (place := self._area_of(phone, places, country)) is not None}
            self._note_extensions(phones, places)
        return tuple(self._behind_area(column, found[column]) if column in found else column for column in columns)

    def _nearest(self, phones: list[MappedColumn], area: int) -> MappedColumn:
        """The column of phone numbers that follows `area`, else the one before it."""
        if not phones:
            raise MappingRefused(
                f"column {self.header.shown(area)} has area codes, and no column has phone numbers in the clear",
                hint="name the column of numbers with `columns={'phone_number': 'COLUMN'}`",
            )
        return min(phones, key=lambda phone: (phone.position < area, abs(phone.position - area)))

    def _area_of(self, phone: MappedColumn, places: list[int], country: int | None) -> int | None:
        """The column of its area codes, if any column has codes that the numbers are without."""
        numbers = self.sample.columns[phone.position]
        for place in places:
            name, cells = self._name(place), self.sample.columns[place]
            is_named, is_beside = names_phone_code(name), place == phone.position - 1
            if not is_named and (not is_beside or names_postal_code(name)):
                continue
            if self._say_the_country(place, country) or not are_codes(cells, numbers, is_named=is_named):
                continue
            are_areas = is_named and sort_of(name, cells) is Codes.AREA
            if are_areas and is_beside:
                return place
            if are_areas and are_whole(numbers):
                continue  # they are the area codes of other numbers
            if self.options.puts_in:
                self._refuse_codes_apart(phone, place)
        return None

    def _say_the_country(self, place: int, country: int | None) -> bool:
        """Whether most codes are the calling codes of the countries that another column says."""
        if country is None:
            return False
        said = self.sample.countries(country, None)
        codes = (f"+{digits_of(cell)}" for cell in self.sample.columns[place])
        pairs = [(find_country(code), own) for code, own in zip(codes, said, strict=True) if len(code) > 1 and own]
        return sum(code == own for code, own in pairs) > len(pairs) / 2

    def _refuse_codes_apart(self, phone: MappedColumn, place: int) -> NoReturn:
        shown = self.header.shown(place)
        raise MappingRefused(
            f"the numbers in column {phone.name} seem to be without the codes in column {shown}: so they would be"
            " numbers of other people",
            hint=f"give {option('area_code_column', shown)} if it has area codes,"
            f" {option('country_code_column', shown)} if it has calling codes of countries,"
            f" {option('ignore', [shown])} if the numbers are whole, or {option('ignore', [phone.name])} to send none",
        )

    def _behind_area(self, phone: MappedColumn, place: int) -> MappedColumn:
        shown, numbers = self.header.shown(place), self.sample.columns[phone.position]
        self.notes.append(
            f"{shown}: the area codes of the numbers in {phone.name}; a short number without its area code, and one"
            " that may have it already, is rejected as invalid_syntax"
        )
        pairs = zip(self.sample.columns[place], numbers, strict=True)
        whole = (with_area(area, number) if number.strip() else number for area, number in pairs)
        self.sample = self.sample.with_cells(phone.position, whole)
        return replace(phone, area=place, area_name=shown)

    def _note_extensions(self, phones: list[MappedColumn], places: list[int]) -> None:
        for place in places if phones else ():
            if are_extensions(self._name(place), self.sample.filled(place)):
                self._why_left[place] = "a number with an extension is that of a switchboard"
                self.notes.append(f"{self.header.shown(place)}: left out; {self._why_left[place]}")

    def _groups(
        self, columns: tuple[MappedColumn, ...], country: int | None, used: Mapping[str, int | None]
    ) -> tuple[int | None, tuple[str, ...]]:
        """The column that says where a group of rows begins, and the fields that are filled within it.

        Raises MappingRefused for a column of `fill_down` that is used for nothing that is filled.
        """
        places = {self.header.find(name) for name in self.options.fill_down}
        filled = tuple(field for field, place in used.items() if place in places)
        if len(filled) < len(places):
            raise MappingRefused(
                "`fill_down=` names a column that is not the country, operation or consent of a row",
                hint="only of these may a row have the words of the one above it; name the country with"
                " `country_column=`",
            )
        group = None if country is None else find_group(self.header, self.sample, columns, country)
        if group is None:
            return None, filled
        if group.is_certain and not filled and self.options.puts_in:
            filled = (COUNTRY,)
            shown = self.header.shown(group.column)
            self.notes.append(
                f"{self.header.shown(group.country)}: rows with a blank {shown} have the country of the row above them"
            )
        return group.column, filled

    def _with_country_remedy(
        self,
        columns: tuple[MappedColumn, ...],
        countries: CountryColumn,
        country: int | None,
        group: int | None,
        filled: tuple[str, ...],
    ) -> tuple[MappedColumn, ...]:
        """`columns`, those of phone numbers with the option that names their country, if a column may say it."""
        remedy = None
        if country is not None and group is not None and COUNTRY not in filled:
            given = option("fill_down", [self.header.shown(country)])
            remedy = f"give {given} if rows below others belong to them, and are of their country"
            self.notes.append(f"{self.header.shown(country)}: blank where {self.header.shown(group)} is; {remedy}")
        elif country is None and countries.hint is not None:
            given = option("country_column", self.header.shown(countries.hint))
            remedy = f"give {given} if that column is the country of each row"
        return tuple(
            replace(column, country_remedy=remedy) if column.kind is Kind.PHONE_NUMBER else column
            for column in columns
        )  # fmt: skip

    def _notice_consent(self, *used: int | None) -> None:
        """Warn of people who say no in a column that no option names. Raises MappingRefused where all say only no."""
        asked = (place for place in self._places() if place not in used)
        found = {place: find_consent(self._name(place), self.sample.columns[place]) for place in asked}
        said = {place: consent for place, consent in found.items() if consent is not None}
        for position, consent in said.items():
            shown = self.header.shown(position)
            value = f"{shown}={consent.word or 'VALUE'}"
            remedy = f"give {option('consent_column', value)} to put in only those who agree"
            if consent.refused < consent.rows and consent.word is None:
                remedy = "take them out of the list"  # a blank cell is no value that says consent
            remedy += f", or {option('ignore', [shown])} if the column is not about this use"
            message = f"{consent.refused:,} of the first {consent.rows:,} people refuse in column {shown}"
            if all(each.is_plain and each.refused == each.rows for each in said.values()):
                raise MappingRefused(message, hint=remedy)
            share = consent.refused / consent.rows
            message = f"{message}, and are put in"
            self.warnings.append(
                Loss(code="consent", column=shown, count=consent.refused, share=share, message=message, remedy=remedy)
            )

    def _undoubted(self, candidates: list[Candidate]) -> list[Candidate]:
        """Return the candidates whose cells fit their names; if there is none, the others, whose rejected rows show
        the fault.

        Of a list that is compared all of them: people in a column that is left out would be missed.
        """
        if self.options.every_form:
            return candidates
        undoubted = [candidate for candidate in candidates if not candidate.is_doubtful]
        for candidate in candidates if undoubted else ():
            if candidate.is_doubtful:
                self._leave(candidate.position, f"named like the kind {candidate.kind}, but its cells are not")
        return undoubted or candidates

    def _note_national_numbers(self, columns: tuple[MappedColumn, ...]) -> None:
        mapped = {column.position for column in columns}
        for position in self._places():
            if position not in mapped and self._is_national(position):
                why = "could be national phone numbers"
                self._why_left[position] = why
                self.notes.append(f"{self.header.shown(position)}: {why}; not mapped, give `country=` to use it")

    def _is_national(self, position: int) -> bool:
        """Whether a column is written as national phone numbers are."""
        cells = self.sample.filled(position)
        return bool(cells) and sum(map(is_phone_shaped, cells)) >= MIN_KIND_SHARE * len(cells)

    def _candidates(self, position: int, evidence: Evidence) -> Iterator[Candidate]:
        """The candidate of a column: none, one, or both kinds where its cells hold an address or a number each."""
        name = self._name(position)
        both = evidence.is_shared and self.options.hashed.isdisjoint(SEVERAL)
        if both and names_own(name) and names_both(name):
            why = "by content: a cell with an at sign is an address, any other a number"
            yield from (
                Candidate(kind, position, False, why, is_shared=True) for kind in (Kind.EMAIL, Kind.PHONE_NUMBER)
            )
        elif (candidate := self._candidate(position, evidence)) is not None:
            yield candidate

    def _candidate(self, position: int, evidence: Evidence) -> Candidate | None:
        name = self._name(position)
        by_name = named_kind(name)
        if by_name is None:
            return self._by_content(position, evidence)
        if names_unsupported_hash(name):
            self._leave(position, f"named like a hash of the kind {by_name} that is not SHA-256")
            return None
        agrees = not evidence.filled or self._agrees(by_name, position, evidence)
        if not agrees and evidence.kind is not None and self.options.every_form:
            return Candidate(evidence.kind, position, evidence.looks_hashed, "by content, against its name")
        if not agrees and evidence.kind is not None:
            self._leave(position, f"named like the kind {by_name}, but its cells are of the kind {evidence.kind}")
            return None
        hashed = names_hashes(name) or evidence.looks_hashed
        if agrees and by_name is Kind.HANDLE and not self._are_handles(name, evidence):
            if evidence.filled:
                self._leave(position, "could be handles", kind=Kind.HANDLE)
            return None
        if not evidence.filled:
            why = "by name alone: its first cells are blank"
            return Candidate(by_name, position, hashed, why, is_guess=by_name.is_hashed)
        why = "by name and content" if agrees else "by name"
        return Candidate(by_name, position, hashed, why, is_doubtful=not agrees)

    def _are_handles(self, name: str, evidence: Evidence) -> bool:
        said = self.options.every_form or Kind.HANDLE in self.options.hashed
        if said or evidence.kind is Kind.HANDLE or not names_screen_name(name):
            return True
        return any(map(speaks_of_x, self.header.names or ()))

    def _agrees(self, kind: Kind, position: int, evidence: Evidence) -> bool:
        # A UUID is an id of a partner as well as of a device, and no column has such a name by chance.
        is_uuid = kind is Kind.PARTNER_USER_ID and evidence.kind is Kind.DEVICE_ID
        if evidence.kind not in (None, kind) and not is_uuid:
            return False
        return plausible_share(kind, self.sample.filled(position)) >= MIN_PLAUSIBLE_SHARE

    def _by_content(self, position: int, evidence: Evidence) -> Candidate | None:
        kind = evidence.kind
        if names_something_else(self._name(position)) and not self._counts_whole(position, evidence):
            if evidence.kind is not None:
                self._leave(position, f"named like something else, although its cells are of the kind {evidence.kind}")
            return None
        if evidence.looks_hashed:
            self._leave(position, "hashes, of which no name says the kind", is_hashed=True)
        if kind not in (Kind.EMAIL, Kind.PHONE_NUMBER, Kind.DEVICE_ID):
            return None
        if kind is Kind.DEVICE_ID and names_own_id(self._name(position)):
            self._leave(position, "UUIDs, but named like ids of your own")
            return None
        return Candidate(
            kind, position, hashed=False, why="by content", is_nameless=not names_own(self._name(position))
        )

    def _counts_whole(self, position: int, evidence: Evidence) -> bool:
        """Whether a column counts that is named like something else: in a list of people to keep or take out it does.

        Who is missed there would be reached: a list of bounces has its addresses in `Bounced Email`. Raises
        MappingRefused for identifiers of another person, who would be taken out for them.
        """
        if self.options.puts_in or self.is_nested or evidence.kind not in _OF_PEOPLE:
            return False
        if not self.options.every_form and names_another_person(self._name(position)):
            self._show(position)
            shown = self.header.shown(position)
            raise MappingRefused(
                f"column {shown} seems to have the {_PLURALS[evidence.kind]} of other people, who would be taken out",
                hint=f"give {option('ignore', [shown])} to leave it out, or"
                f" {option('columns', {evidence.kind.value: shown})} to take them out, too, and the same for each other"
                " column that is meant",
            )
        return True

    def _leave(self, position: int, why: str, *, kind: Kind | None = None, is_hashed: bool = False) -> None:
        shown = self.header.shown(position)
        self._why_left[position] = why
        given = option("columns", {kind.value if kind else "KIND": shown})
        given += " and `hashed=KIND`" if is_hashed else ""
        self.notes.append(f"{shown}: {why}; not mapped, say {given} if it is one")

    def _chosen(self, candidates: list[Candidate]) -> Iterable[MappedColumn]:
        """The candidates that hold what their kind is declared to hold; a kind is raw or hashed, never both."""
        for candidate in candidates:
            kind = candidate.kind
            declared = kind in self.options.hashed
            others = [other for other in candidates if other.kind is kind and not other.hashed]
            in_clear = any(candidate.is_guess or not other.is_guess for other in others)
            if declared and not candidate.hashed:
                self._leave(candidate.position, f"not hashed, but {option('hashed', [kind.value])} is said")
            elif candidate.hashed and in_clear and not (declared or self.options.every_form):
                self._leave(candidate.position, f"hashed, and another column has the kind {kind} in the clear")
            else:
                self._why_taken[candidate.position] = candidate.why
                yield self._column(
                    kind,
                    candidate.position,
                    hashed=declared,
                    is_guess=candidate.is_guess,
                    is_shared=candidate.is_shared,
                )

    def _as_declared(self, candidates: list[Candidate]) -> list[Candidate]:
        """The candidates, blank columns as hashed ones where hashes are declared and no other column has any.

        Raises MappingRefused for a declared kind of which there are values, and all in the clear.
        """
        without = {kind for kind in self.options.hashed if not any(c.hashed for c in candidates if c.kind is kind)}
        for candidate in candidates:
            if candidate.kind in without and not candidate.is_guess:
                self._refuse_clear(candidate)
        return [replace(candidate, hashed=True) if candidate.kind in without else candidate for candidate in candidates]

    def _refuse_clear(self, candidate: Candidate) -> NoReturn:
        shown, given = self.header.shown(candidate.position), option("hashed", [candidate.kind.value])
        what = "holds no SHA-256" if candidate.is_doubtful else f"holds the kind {candidate.kind} in the clear"
        raise MappingRefused(
            f"column {shown} {what}, {given} is said, and no column holds hashes of that kind",
            hint=f"leave out {given}: values in the clear are hashed before they are sent; or name the column of"
            f" hashes with {option('columns', {candidate.kind.value: 'COLUMN'})}",
        )


@dataclass(frozen=True, slots=True)
class Candidate:
    """A column that could be mapped. `why` is said to people."""

    kind: Kind
    position: int
    hashed: bool
    why: str
    is_doubtful: bool = False
    is_guess: bool = False
    is_nameless: bool = False
    is_shared: bool = False
