"""Verify a pipeline: two lists of the same people, or a function, program, SQL expression or server for the vectors.

A list is compared in this process alone. What others have written gets invented people only.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audiencekit.conformance.comparison import Compared, Pairs, compare, mark_mixed_rows
from audiencekit.conformance.fault_classes import BY_CODE, LEFT_OUT, OTHER_ROW, UNKNOWN
from audiencekit.conformance.vectors import Vector, read_vectors
from audiencekit.errors import InputOutputFailed, MappingRefused, SourceRefused, UsageError
from audiencekit.identifiers.countries import find_country
from audiencekit.identifiers.kinds import Kind, Rules
from audiencekit.personal import Personal, guarded
from audiencekit.planning.keywords import Columns
from audiencekit.planning.options import read_keywords, read_kind
from audiencekit.process.exchanges import is_loopback_host
from audiencekit.process.programs import find_program, start_program
from audiencekit.records.batches import COUNTRY, ROW, ColumnMapping, MappedColumn, resolve_countries
from audiencekit.reporting.verification import ComparedColumn, FoundFault, Verification
from audiencekit.settings import Settings, load_settings
from audiencekit.sources.columns.header import compare_key, named_kind, names_something_else
from audiencekit.sources.columns.vocabulary import words_of
from audiencekit.sources.files import AnySource, LookedAtFile, items_of, look_at_files
from audiencekit.sources.options import SourceOptions
from audiencekit.sources.source import FoundColumns, Source, open_source
from audiencekit.text import install_extra

Hash = Callable[[str, str | None], str | None]

_DIGEST: Final = re.compile(
    r"""["'\s]*(?:0x|\\x|sha256[:=-])?(?:[0-9a-fA-F]{32,128}|[A-Za-z0-9+/_-]{42,44}={0,2})["'\s]*""", re.IGNORECASE
)
_OF_ROWS: Final = {one[0]: one for one in (LEFT_OUT, OTHER_ROW, UNKNOWN)}


# --- Two lists ---


def verify(
    raw: AnySource,
    hashed: AnySource,
    *,
    columns: Columns | None = None,
    country: str | None = None,
    country_column: str | None = None,
    hashed_columns: Columns | None = None,
    settings: Settings | None = None,
) -> Verification:
    """Compare the digests in `hashed` with the values in `raw`, and say by which faults the wrong ones came.

    Both are a path, a data frame or a list of rows. They have the same rows, or `hashed` holds the digests in any
    order. `columns` and `hashed_columns` are {kind: column} of each; recognised by default. `country` and
    `country_column` are those of `check`. Nothing leaves the process. Raises SourceRefused for a list that cannot be
    read, MappingRefused for columns that are not found, UsageError for an invalid argument.
    """
    settings = settings or load_settings()
    given: Any = {"columns": columns, "country": country, "country_column": country_column}
    options = read_keywords(given, settings.profile)
    named: Any = {"columns": hashed_columns}
    wanted = read_keywords(named, settings.profile).source.columns
    rules = replace(options.rules, phone_validity="valid")
    return _verify_lists(_Lists((items_of(raw), items_of(hashed))), options.source, wanted, rules)


class _Lists(Personal[Any]):
    """Two sources, which may be frames."""


class _Cells(Personal[Any]):
    """Columns of cells by name, and the numbers of their rows."""


@guarded
def _verify_lists(
    lists: _Lists, options: SourceOptions, wanted: tuple[tuple[Kind, str], ...], rules: Rules
) -> Verification:
    raw_items, hashed_items = lists.unwrap()
    raw = open_source(list(raw_items), options)
    columns = _as_given((column for column in raw.mapping.columns if column.kind.is_hashed), options.columns)
    if not columns:
        raise MappingRefused(
            f"{raw.name}: no column of identifiers was recognised", hint="name one with `columns={'KIND': 'COLUMN'}`"
        )
    hashed, columns, beside, notes = _open_hashed(hashed_items, columns, wanted)
    mapping = replace(raw.mapping, columns=columns)
    values, digests = _read(raw, mapping), _read(hashed, hashed.mapping)
    pairs = [_pairs(values, one, digests, other, mapping, rules) for one, other in zip(columns, beside, strict=True)]
    same_rows, results = _compare(pairs, may_be_beside=raw.rows_read == hashed.rows_read)
    names = [(one.name, other.name, one.kind) for one, other in zip(columns, beside, strict=True)]
    _refuse_incomparable(raw.name, hashed.name, results, names)
    _refuse_unproven(raw.name, hashed.name, results, names)
    return _verification("people", results, names, same_rows=same_rows, notes=notes)


def _as_given(columns: Iterable[MappedColumn], given: Sequence[tuple[Kind, str]]) -> tuple[MappedColumn, ...]:
    """Return `columns` in the order in which they were given, others behind them: so their digests are paired."""
    ranks = {(kind, compare_key(name)): rank for rank, (kind, name) in enumerate(given)}

    def rank(column: MappedColumn) -> int:
        names = (compare_key(column.name), f"column{column.position + 1}")
        return min(ranks.get((column.kind, name), len(ranks)) for name in names)

    return tuple(sorted(columns, key=rank))


def _compare(pairs: Sequence[Pairs], *, may_be_beside: bool) -> tuple[bool, list[Compared]]:
    """Compare row by row where the digests are beside their values, else in any order.

    Where one column shows for sure that the rows are the same, they are for all columns. Where none is right, this does
    not show: the way that explains more is taken.
    """
    if not may_be_beside or not (all(one.are_beside for one in pairs) or any(one.show_rows for one in pairs)):
        return False, _compare_in_any_order(pairs)
    beside = [compare(one, same_rows=True) for one in pairs]
    if not any(one.unexplained and not one.right for one in beside) or any(one.show_rows for one in pairs):
        return True, beside
    anyhow = _compare_in_any_order(pairs)
    is_better = sum(one.unexplained for one in anyhow) < sum(one.unexplained for one in beside)
    return not is_better, anyhow if is_better else beside


def _compare_in_any_order(pairs: Sequence[Pairs]) -> list[Compared]:
    """Compare each column in any order; the digests of one row are of one person, whatever the order."""
    results = [compare(one, same_rows=False) for one in pairs]
    mark_mixed_rows(pairs, results)
    return results


def _refuse_incomparable(
    raw_name: str, hashed_name: str, results: Sequence[Compared], names: Sequence[tuple[str, str, Kind]]
) -> None:
    """Raise MappingRefused for a column of digests with which no value was compared: that would pass for right.

    Digests that are in both lists are not compared with a value.
    """
    are_compared = [bool((result.is_valid | result.is_wrong).any()) or result.of_no_row > 0 for result in results]
    for result, is_compared, (name, digests, _) in zip(results, are_compared, names, strict=True):
        if not is_compared and (result.strangers or result.is_value.any() or not any(are_compared)):
            raise MappingRefused(
                f"{raw_name}: no value of column {name} is valid, so none was compared with column {digests} of"
                f" {hashed_name}",
                hint="give the list of values in the clear first, and that of their digests second; phone numbers"
                " without a country code need `country=`; `check` says why values are rejected",
            )


def _refuse_unproven(
    raw_name: str, hashed_name: str, results: Sequence[Compared], names: Sequence[tuple[str, str, Kind]]
) -> None:
    """Raise MappingRefused where all that was compared is right, and other digests may be of rejected values.

    Where no value was rejected, each has its right digest, and the others are those of more people.
    """
    if any(result.wrong for result in results):
        return
    for result, (name, digests, _) in zip(results, names, strict=True):
        if result.strangers and result.rejected:
            raise MappingRefused(
                f"{hashed_name}: {result.strangers:,} digests of column {digests} belong to no valid value of column"
                f" {name} of {raw_name}; {result.rejected:,} of its values are rejected, and may be theirs",
                hint="take the rejected values out of the list, or mend them; `check` says why they are rejected",
            )


def _open_hashed(
    items: Sequence[Any], columns: Sequence[MappedColumn], wanted: tuple[tuple[Kind, str], ...]
) -> tuple[Source, tuple[MappedColumn, ...], list[MappedColumn], list[str]]:
    """Return the list of digests, the `columns` that have digests in it, the columns of these, and notes on the others.

    Raises MappingRefused where none has.
    """
    file = _look(items, SourceOptions(every_form=True))
    if any(map(_DIGEST.fullmatch, file.look.header.names or ())):  # the first digest is no name
        file = _look(items, SourceOptions(every_form=True, header=False))
    places = _find_digests(file, columns, wanted)
    compared = tuple(column for column in columns if column in places)
    found = [
        MappedColumn(
            kind=column.kind, position=places[column], name=file.look.header.shown(places[column]), hashed=True
        )
        for column in compared
    ]
    if not found:
        raise MappingRefused(
            f"{file.name}: no column with the digests of {columns[0].name} was recognised",
            hint=f"name it with `hashed_columns={{'{columns[0].kind}': 'COLUMN'}}`; "
            f"the columns are: {file.look.header.listed()}",
        )
    once = {column.position: column for column in found}
    mapping = ColumnMapping(columns=tuple(once.values()))
    file.look.table.check(mapping)
    source = Source(
        file.name,
        file.look.table,
        FoundColumns(mapping),
        bytes_total=file.size_bytes,
        repeatable=file.repeatable,
        later_notes=file.look.later_notes,
    )
    notes = [
        f"column {column.name} has no digests in {file.name}, and is not compared"
        for column in columns
        if column not in places
    ]
    notes += [
        f"column {file.look.header.shown(place)} of {file.name} has digests, and is not compared"
        for place in range(len(file.look.sample.columns))
        if place not in once and any(map(_DIGEST.fullmatch, file.look.sample.filled(place)))
    ]
    return source, compared, found, notes


def _look(items: Sequence[Any], options: SourceOptions) -> LookedAtFile:
    files = look_at_files(items, options)
    if len(files) != 1:
        raise SourceRefused("the digests are in several files", hint="give one file of digests")
    return files[0]


def _find_digests(
    file: LookedAtFile, columns: Sequence[MappedColumn], wanted: Sequence[tuple[Kind, str]]
) -> dict[MappedColumn, int]:
    """Return the positions of the digests of `columns`: the `wanted` ones, by the names, or as the only one.

    Raises MappingRefused for a wanted one without a column of values.
    """
    header = file.look.header
    named: dict[Kind, dict[int, str]] = {}
    for kind, name in wanted:
        named.setdefault(kind, {})[header.find(name)] = name
    found: dict[MappedColumn, int] = {}
    for kind, names in named.items():
        asked = [column for column in columns if column.kind is kind]
        of_kind = _match(file, asked, list(names))
        rest = [place for place in names if place not in of_kind.values()]
        of_kind |= zip((column for column in asked if column not in of_kind), rest, strict=False)
        found |= of_kind
        for place in rest:
            if place not in of_kind.values():
                raise MappingRefused(
                    f"{file.name}: no column of values is left for the digests in column {header.shown(place)}:"
                    f" {len(asked):,} of {kind.value} in the list of values",
                    hint="name one column of digests for each column of values, and the columns of values with"
                    " `columns=`",
                )
    free = [
        place for place in range(len(file.look.sample.columns)) if not any(place in each for each in named.values())
    ]
    found |= _match(file, [column for column in columns if column not in found], free)
    if not found and len(columns) == 1:
        look_hashed = [place for place in free if any(map(_DIGEST.fullmatch, file.look.sample.filled(place)))]
        alike = look_hashed if len(look_hashed) == 1 else free if len(free) == 1 else []
        found |= dict.fromkeys(columns, alike[0]) if alike else {}
    return found


def _match(file: LookedAtFile, columns: Sequence[MappedColumn], places: Sequence[int]) -> dict[MappedColumn, int]:
    """Return which of `places` has the digests of which column: by its name, by the name in another, by its kind."""
    header, names = file.look.header, file.look.header.names or ()
    free, found = [place for place in places if place < len(names)], dict[MappedColumn, int]()
    ways: tuple[Callable[[MappedColumn, int], bool], ...] = (
        lambda column, place: header.key(place) == compare_key(column.name),
        lambda column, place: _own_words(names[place]) == _own_words(column.name),
        lambda column, place: (
            _own_words(names[place]) > _own_words(column.name) > set()
            and named_kind(names[place]) in (column.kind, None)
            and not names_something_else(names[place])
        ),
        lambda column, place: named_kind(names[place]) is column.kind,
    )
    # The longest names first: `email` is in `work_email_sha256`, too.
    by_length = sorted(columns, key=lambda column: -len(_own_words(column.name)))
    for is_alike in ways:
        for column in by_length if is_alike is ways[2] else columns:
            place = next((one for one in free if is_alike(column, one)), None) if column not in found else None
            if place is not None:
                found[column] = place
                free.remove(place)
    return found


_HASH_WORDS: Final = re.compile(r"sha[-_ ]?(?:1|224|256|384|512)(?!\d)|md5|hash(?:ed|es)?|digests?|hex", re.IGNORECASE)


def _own_words(name: str) -> frozenset[str]:
    """The words of a name without those of a hash: of `email_sha256` those of `email`."""
    return frozenset(words_of(_HASH_WORDS.sub(" ", name)))


def _read(source: Source, mapping: ColumnMapping) -> _Cells:
    """Return all cells of `source`, as they are, by field."""
    fields = [ROW, *([COUNTRY] if mapping.country is not None else []), *map(mapping.field_name, mapping.columns)]
    chunks: dict[str, list[Any]] = {name: [] for name in fields}
    separators = {mapping.field_name(column): column.separator for column in mapping.columns}
    for batch in source.batches():
        columns = batch.columns.unwrap()
        for name in fields:
            cells = columns.column(name)
            if pa.types.is_list(cells.type):
                cells = pc.binary_join(cells, separators[name] or ";")
            if name == COUNTRY:
                cells = pc.cast(resolve_countries(cells), pa.string())
            chunks[name].append(cells)
    types = {name: pa.int64() if name == ROW else pa.string() for name in fields}
    return _Cells(
        {name: pa.concat_arrays(found) if found else pa.array([], types[name]) for name, found in chunks.items()}
    )


def _pairs(
    values: _Cells, column: MappedColumn, digests: _Cells, beside: MappedColumn, mapping: ColumnMapping, rules: Rules
) -> Pairs:
    raw, made = values.unwrap(), digests.unwrap()
    texts, actual = raw[mapping.field_name(column)], made[f"c{beside.position}"]
    countries = raw.get(COUNTRY)
    if len(texts) == len(actual) and not pc.all(pc.equal(raw[ROW], made[ROW])).as_py():
        both = np.intersect1d(raw[ROW].to_numpy(), made[ROW].to_numpy(), return_indices=True)
        texts, actual = texts.take(pa.array(both[1])), actual.take(pa.array(both[2]))
        countries = None if countries is None else countries.take(pa.array(both[1]))
    return Pairs(kind=column.kind, texts=pc.fill_null(texts, ""), actual=actual, countries=countries, rules=rules)


def _verification(
    subject: Any,
    results: Sequence[Compared],
    names: Sequence[tuple[str, str, Kind]],
    *,
    same_rows: bool,
    notes: Sequence[str] = (),
) -> Verification:
    faults = [
        _found(code, name, rows, result.right + result.wrong)
        for result, (name, _, _) in zip(results, names, strict=True)
        for code, rows in result.counts.items()
    ]
    is_value, is_wrong = results[0].is_value, results[0].is_wrong
    for result in results[1:]:
        is_value, is_wrong = is_value | result.is_value, is_wrong | result.is_wrong
    right = int(np.count_nonzero(is_value & ~is_wrong))
    wrong = int(np.count_nonzero(is_wrong)) + max(result.of_no_row for result in results)
    found = [
        f"{result.strangers:,} digests belong to no value of column {name}"
        for result, (name, _, _) in zip(results, names, strict=True)
        if result.strangers
    ]
    found += [
        f"the faults of column {name} are estimated: they were counted in a part of the wrong values"
        for result, (name, _, _) in zip(results, names, strict=True)
        if result.is_estimate
    ]
    return Verification(
        subject=subject,
        right=right,
        wrong=wrong,
        same_rows=same_rows,
        columns=tuple(_column(result, *described) for result, described in zip(results, names, strict=True)),
        faults=tuple(sorted(faults, key=lambda fault: (-fault.rows, fault.code, fault.column))),
        notes=(*notes, *found),
    )


def _column(result: Compared, name: str, hashed_name: str, kind: Kind) -> ComparedColumn:
    right, wrong = result.right, result.wrong
    return ComparedColumn(
        column=name, hashed_column=hashed_name, kind=kind.value, values=right + wrong, right=right, wrong=wrong
    )


def _found(code: str, column: str, rows: int, of: int) -> FoundFault:
    if code in BY_CODE:
        message, remedy = BY_CODE[code].message, BY_CODE[code].remedy
    else:
        _, message, remedy = _OF_ROWS[code]
    return FoundFault(
        code=code, column=column, rows=rows, share=rows / of if of else 0.0, message=message, remedy=remedy
    )


# --- A function, a program, an expression or a server, which gets the vectors ---


def verify_function(function: Hash, *, kind: str, country: str | None = None) -> Verification:
    """Call `function(text, country)` for each vector of `kind`, and compare the digests that it returns.

    It returns the digest as text, and None for a value that it refuses; so counts an exception, whose text is not
    looked at. `country` chooses the phone numbers that are written as in this country; by default those of all
    countries are among them. The vectors are invented people. Raises UsageError for an invalid argument.
    """
    if not callable(function):
        raise UsageError("the function is not callable", hint="give a function of a text and a country")
    vectors = _vectors(kind, country, of_all=True)
    return _verify_vectors(vectors, [_call(function, vector) for vector in vectors])


def _call(function: Hash, vector: Vector) -> str | None:
    try:
        made = function(vector.input, vector.country)
    except Exception:
        return None
    return made if isinstance(made, str) else None


def verify_command(words: Sequence[str], *, kind: str, country: str | None = None) -> Verification:
    """Start the program `words` once, and compare the digests that it prints.

    It gets the vectors of `kind`, one a line, and prints one line for each, a blank one for a value that it refuses.
    Phone numbers are those with their country code, and with `country` those that are written as in this country. No
    shell takes part, and the program does not get our settings. Raises UsageError for a program that is not found,
    InputOutputFailed when it fails, prints nothing for 60 seconds, or prints another number of lines.
    """
    program = find_program(words[0]) if words else None
    if program is None:
        raise UsageError("the program is not found", hint="name a program of PATH, or an absolute path")
    vectors = [vector for vector in _vectors(kind, country, of_all=False) if _is_line(vector.input)]
    lines = _run([program, *words[1:]], [vector.input for vector in vectors])
    _refuse_other_count("the program printed", lines, vectors)
    return _verify_vectors(vectors, [line or None for line in lines])


def _refuse_other_count(what: str, lines: Sequence[str], vectors: Sequence[Vector]) -> None:
    if len(lines) != len(vectors):
        raise InputOutputFailed(
            f"{what} {len(lines):,} lines for {len(vectors):,} values",
            hint="give one line for each line, a blank one for a value that is refused",
        )


def _vectors(kind: str, country: str | None, *, of_all: bool) -> list[Vector]:
    wanted = read_kind(kind)
    if not wanted.is_hashed:
        raise UsageError(f"{kind} leaves unhashed")
    code = find_country(country) if country else None
    if country and code is None:
        raise UsageError("`country=` is not a country", hint="give an ISO code such as DE or an English name")
    found = [vector for vector in read_vectors() if vector.kind is wanted and not vector.declared_hashed]
    if code is not None:
        # In this country a number without a code is one of its own.
        return [vector for vector in found if vector.country in (None, code) and vector.reason != "no_country"]
    return found if of_all else [vector for vector in found if vector.country is None]


def _is_line(text: str) -> bool:
    return text.splitlines() in ([text], [])


_MOST_BYTES: Final = 64_000_000  # of the output of a program
_PATIENCE_SECONDS: Final = 60.0  # without a byte of a program or a server


def _run(words: Sequence[str], texts: Sequence[str]) -> list[str]:
    try:
        process = start_program(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    except OSError as error:
        raise InputOutputFailed(f"the program cannot be started: {error.strerror}") from None
    writer = threading.Thread(target=_write, args=(process, texts), daemon=True)
    writer.start()
    pieces: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_read_output, args=(process, pieces), daemon=True).start()
    printed, failure = bytearray(), ""
    try:
        while piece := pieces.get(timeout=_PATIENCE_SECONDS):
            printed += piece
            if len(printed) > _MOST_BYTES:
                failure = f"the program printed more than {_MOST_BYTES:,} bytes"
                break
        else:
            process.wait(timeout=_PATIENCE_SECONDS)
    except (Empty, subprocess.TimeoutExpired):
        failure = f"the program printed nothing for {_PATIENCE_SECONDS:g} seconds, and did not end"
    finally:
        process.kill()  # nothing where it has ended
        process.wait()
    if failure:
        raise InputOutputFailed(failure, hint="let it read lines until the input ends, and print a line for each")
    if process.returncode:
        raise InputOutputFailed(f"the program ended with exit code {process.returncode}", hint="run it by itself")
    return _lines_of(bytes(printed))


def _read_output(process: subprocess.Popen[bytes], pieces: SimpleQueue[bytes]) -> None:
    """Put what the program prints into `pieces`, and an empty piece at its end."""
    if process.stdout is not None:
        with process.stdout as pipe:
            while piece := os.read(pipe.fileno(), 65_536):
                pieces.put(piece)
    pieces.put(b"")


def _lines_of(output: bytes) -> list[str]:
    """Return the lines of an output; the last one may have no line break."""
    return output.decode("utf-8", "replace").removesuffix("\n").split("\n") if output else []


def _write(process: subprocess.Popen[bytes], texts: Sequence[str]) -> None:
    if process.stdin is None:
        return
    try:
        with process.stdin as pipe:
            pipe.write("".join(f"{text}\n" for text in texts).encode())
    except OSError:  # it has ended, and its exit code or its lines say why
        return


# It can read no file, load no extension and no variable of this process, and change none of these.
_SEALED_OFF: Final[dict[str, Any]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
}
_TRY: Final = "try it in DuckDB: `SELECT (EXPRESSION) FROM vectors`, whose columns are value and country"


def verify_sql(expression: str, *, kind: str, country: str | None = None) -> Verification:
    """Let DuckDB compute a SQL expression for each vector of `kind`, and compare the digests that it gives.

    The vectors are the table `vectors(value, country)`. The expression gives text, or NULL for a value that it refuses.
    The database is in memory, and reads and writes nothing else. `country` is that of `verify_function`. Raises
    UsageError where the package duckdb is missing and for an expression that does not give one text for each vector.
    """
    try:
        import duckdb
    except ImportError:
        raise UsageError("a SQL expression needs the package duckdb", hint=install_extra("duckdb")) from None
    vectors = _vectors(kind, country, of_all=True)
    given = pa.table(
        {
            "number": pa.array(range(len(vectors)), pa.int64()),
            "value": pa.array([vector.input for vector in vectors], pa.string()),
            "country": pa.array([vector.country for vector in vectors], pa.string()),
        }
    )
    with duckdb.connect(":memory:", config=_SEALED_OFF) as database:
        database.register("given", given)
        database.execute("CREATE TABLE vectors AS SELECT * FROM given")
        database.unregister("given")
        database.execute("SET lock_configuration = true")
        query = f"SELECT number, ({expression}\n) FROM vectors"  # noqa: S608 (it is the caller's)
        try:
            statements = database.extract_statements(query)
            rows: list[tuple[Any, ...]] = database.execute(query).fetchall() if len(statements) == 1 else []
        except duckdb.Error as error:
            refusal = type(error).__name__  # its text may quote the expression, and a salt in it
        else:
            refusal = ""
    if refusal:
        raise UsageError(f"DuckDB refuses the expression ({refusal})", hint=_TRY)
    return _verify_vectors(vectors, _texts_of(rows, len(vectors)))


def _texts_of(rows: Sequence[tuple[Any, ...]], count: int) -> list[str | None]:
    """Return the text of each vector, in their order. Raises UsageError for anything else."""
    if any(len(row) != 2 for row in rows) or sorted(str(row[0]) for row in rows) != sorted(map(str, range(count))):
        raise UsageError("the expression does not give one text for each value", hint=_TRY)
    if not all(isinstance(row[1], str | None) for row in rows):
        raise UsageError("the expression does not give text", hint="make text of the digest: sha256(…) or hex(…)")
    return [text for _, text in sorted(rows, key=lambda row: row[0])]


_POSTED_LINES: Final = 1_000  # of a request


def verify_url(url: str, *, kind: str, country: str | None = None) -> Verification:
    """Post the vectors of `kind` to a server on this machine, and compare the digests that it answers.

    The body of a request has 1,000 values at most, one a line in UTF-8, and the answer has a line for each, a blank one
    for a value that is refused. The vectors are those of `verify_command`. Raises UsageError for an address that is not
    http:// on this machine, InputOutputFailed for a server that does not answer so.
    """
    address = _read_loopback(url)
    vectors = [vector for vector in _vectors(kind, country, of_all=False) if _is_line(vector.input)]
    lines: list[str] = []
    for begin in range(0, len(vectors), _POSTED_LINES):
        asked = vectors[begin : begin + _POSTED_LINES]
        answered = _post(address, [vector.input for vector in asked])
        _refuse_other_count("the server answered", answered, asked)
        lines += answered
    return _verify_vectors(vectors, [line or None for line in lines])


def _read_loopback(url: str) -> SplitResult:
    """Return the parts of an address of this machine; its text is not repeated, as it may hold a password."""
    address = None
    try:
        address = urlsplit(url)
        host, _ = address.hostname or "", address.port
    except ValueError:
        host = ""
    if address is None or address.scheme != "http" or address.username is not None or not is_loopback_host(host):
        raise UsageError("`url=` is not an address of this machine", hint="write it like http://127.0.0.1:8000/hash")
    return address


def _post(address: SplitResult, texts: Sequence[str]) -> list[str]:
    """Return the lines that the server answers. No proxy and no redirect is followed. Raises InputOutputFailed."""
    import http.client

    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=_PATIENCE_SECONDS)
    path = (address.path or "/") + (f"?{address.query}" if address.query else "")
    body = "".join(f"{text}\n" for text in texts).encode()
    failure = ""
    try:
        connection.request("POST", path, body, {"Content-Type": "text/plain; charset=utf-8"})
        answer = connection.getresponse()
        content = answer.read(_MOST_BYTES + 1)
        if answer.status != http.client.OK:
            failure = f"the server answered with status {answer.status}"
        elif len(content) > _MOST_BYTES:
            failure = f"the server answered more than {_MOST_BYTES:,} bytes"
    except (OSError, http.client.HTTPException, ValueError) as error:
        failure = f"the server does not answer ({type(error).__name__})"
    finally:
        connection.close()
    if failure:
        raise InputOutputFailed(failure, hint="a POST with one value a line gets one digest a line, with status 200")
    return _lines_of(content.replace(b"\r\n", b"\n")) or [""]


@guarded
def _verify_vectors(vectors: Sequence[Vector], made: Sequence[str | None]) -> Verification:
    if not vectors:
        raise UsageError("there is no vector of this kind and country")
    kind = vectors[0].kind
    pairs = Pairs(
        kind=kind,
        texts=pa.array([vector.input for vector in vectors], pa.string()),
        actual=pa.array(made, pa.string()),
        countries=pa.array([vector.country for vector in vectors], pa.string()),
        counted=len(vectors),
    )
    result = compare(pairs, same_rows=True)
    return _verification("vectors", [result], [(kind.value, "the pipeline", kind)], same_rows=True)
