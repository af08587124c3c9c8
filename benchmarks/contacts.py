"""Contact lists of invented people, as they come: mixed phone formats, a fifth of the rows dirty, some repeated.

    python -m benchmarks.contacts --rows 200000 contacts.csv
    python -m benchmarks.contacts --rows 200000 --mix exports exports.csv

The other mixes are those of `exports.py`: numbers of every region in all the spellings that slow a reader down.

The seed decides every byte, and the first rows of a longer list are those of a shorter one.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.draws import Draws
from benchmarks.emails import PLACEHOLDERS as EMAIL_PLACEHOLDERS, Emails
from benchmarks.exports import Exports
from benchmarks.mixes import CONTACTS, EVERY_SPELLING, MIXES
from benchmarks.phone_numbers import PLACEHOLDERS as PHONE_PLACEHOLDERS, PhoneNumbers

COLUMNS: Final = ("email", "phone", "country")
DIRTY_ONE_IN: Final = 5
REPEATED_ONE_IN: Final = 25  # rows of a person who stands in another row, too
SEED: Final = 1

_CHUNK_ROWS: Final = 16_384
_BROKEN_EMAILS: Final = ("no at sign", "two@@signs.example", "double..dot@larchpost.example", "open@", "end@nowhere.")
_BROKEN_NUMBERS: Final = ("12", "call the office", "+49 151", "555-01", "+999 123 456 789", "(020")


def write_contacts(
    path: Path, *, rows: int, seed: int = SEED, columns: tuple[str, ...] = COLUMNS, mix: str = CONTACTS
) -> None:
    """Write a CSV file of `rows` rows with `columns`, some of COLUMNS; lines end in LF. `mix` is one of MIXES."""
    with path.open("wb") as file:
        file.write(",".join(columns).encode() + b"\n")
        file.writelines(contact_blocks(rows, seed, columns, mix))


def contact_blocks(rows: int, seed: int, columns: tuple[str, ...] = COLUMNS, mix: str = CONTACTS) -> Iterator[bytes]:
    """The lines of the file after its header, some thousands at a time."""
    draw: Callable[[Draws], dict[str, Any]]
    if mix == CONTACTS:
        draw = partial(_contacts, emails=Emails(), numbers=PhoneNumbers())
    else:
        draw = Exports(every_spelling=mix == EVERY_SPELLING).cells
    for chunk, start in enumerate(range(0, rows, _CHUNK_ROWS)):
        cells = draw(Draws(seed, chunk, _CHUNK_ROWS))
        yield _lines([cells[name].slice(0, rows - start) for name in columns])


def _contacts(draws: Draws, emails: Emails, numbers: PhoneNumbers) -> dict[str, Any]:
    email = emails.clean(draws)
    phone, country = numbers.clean(draws)
    dirty = draws.chance(DIRTY_ONE_IN)
    fault = pc.if_else(dirty, pa.array(draws.below(8)), pa.scalar(-1))
    email, phone = _soil_emails(email, fault, draws), _soil_numbers(phone, fault, draws)
    table = pa.table({"email": email, "phone": phone, "country": country}).take(_with_repeats(draws))
    return {name: table[name].combine_chunks() for name in COLUMNS}


def _with_repeats(draws: Draws) -> Any:
    """The number of the row that stands in each row: its own, or that of another near by."""
    return pc.if_else(draws.chance(REPEATED_ONE_IN), pa.array(draws.below(draws.rows)), pa.array(range(draws.rows)))


def _soil_emails(email: Any, fault: Any, draws: Draws) -> Any:
    spaced = pc.binary_join_element_wise(" ", email, "  ", "")
    titled = pc.binary_join_element_wise(pc.utf8_capitalize(email), " ", "")
    soiled = (spaced, pc.utf8_upper(email), titled, draws.words(pa.array(EMAIL_PLACEHOLDERS)))
    return _replace(email, fault, (*soiled, draws.words(pa.array(_BROKEN_EMAILS))), first=0)


def _soil_numbers(phone: Any, fault: Any, draws: Draws) -> Any:
    spaced = pc.binary_join_element_wise("  ", phone, " ", "")
    words = (draws.words(pa.array(PHONE_PLACEHOLDERS)), draws.words(pa.array(_BROKEN_NUMBERS)))
    return _replace(phone, fault, (*words, spaced), first=5)


def _replace(values: Any, fault: Any, soiled: tuple[Any, ...], *, first: int) -> Any:
    """`values`, where the fault is `first` + n the n-th of `soiled`."""
    for number, others in enumerate(soiled, first):
        values = pc.if_else(pc.equal(fault, number), others, values)
    return values


def _lines(columns: list[Any]) -> bytes:
    *others, last = columns
    if not others:  # a line of one empty cell would be blank, and no row
        last = pc.if_else(pc.equal(last, ""), '""', last)
    ended = pc.binary_join_element_wise(last, "\n", "")
    lines = pc.binary_join_element_wise(*others, ended, ",") if others else ended
    # The values of an Arrow column stand one after the other in its third buffer: that is the file.
    return memoryview(lines.buffers()[2])[: int(pc.sum(pc.binary_length(lines)).as_py())].tobytes()


def main() -> None:
    """Write the list that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.contacts", description="Write a contact list.")
    parser.add_argument("path", type=Path)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--columns", type=_columns, default=COLUMNS, help="some of email,phone,country")
    parser.add_argument("--mix", choices=MIXES, default=CONTACTS, help="what the list is made of (default %(default)s)")
    given = parser.parse_args()
    write_contacts(given.path, rows=given.rows, seed=given.seed, columns=given.columns, mix=given.mix)


def _columns(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if not set(names) <= set(COLUMNS):
        raise argparse.ArgumentTypeError("some of email,phone,country")
    return names


if __name__ == "__main__":
    main()
