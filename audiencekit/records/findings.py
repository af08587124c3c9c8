"""The doctor's findings: every cause of a loss, most people first, with the option that saves them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from audiencekit.identifiers.kinds import Reason
from audiencekit.records.batches import ColumnMapping, MappedColumn
from audiencekit.records.losses import Loss, describe_loss, remedy_of
from audiencekit.records.option_trials import ROLE, THROWAWAY_MAILBOX, TYPING_ERROR
from audiencekit.records.refusal_bounds import NAME_COUNTRIES, WRONG_KIND, are_too_many, of_another_kind
from audiencekit.records.tally import ColumnTally, Tally, Trials
from audiencekit.text import OPTION

MIN_SAVED_SHARE: Final = 0.02  # of the values that were tried; fewer are chance
_APART: Final = "put the hashes in a column of their own, and say `hashed=` of a list of that column"
_DUBIOUS: Final = {
    TYPING_ERROR: "valid {addresses}{where} with a likely typing error in the domain of {provider}: sent unchanged, and"
    " likely to reach no one",
    ROLE: "valid {addresses}{where} of an office, such as info@ or sales@: several people may read the mail",
    THROWAWAY_MAILBOX: "valid {addresses}{where} of a disposable mailbox: likely to match no one",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Loss):
    """A loss of any size, or a doubt about values that are sent. `saves` of the values are valid with `option`.

    `people` are the rows that are rejected and have a value that is lost for it; with `option`, `saves_people` of them
    are not. Of more values than were tried these are estimates.
    """

    people: int = 0
    option: str | None = None
    saves: int = 0
    saves_people: int = 0


def find_causes(tally: Tally, mapping: ColumnMapping) -> tuple[Finding, ...]:
    """All causes of losses, and doubts about what is sent, most people first, and of as many, most values.

    Empty unless values were examined.
    """
    found: list[Finding] = []
    for column in mapping.columns:
        seen = tally.columns.get(column.key, ColumnTally())
        if seen.trials is None:
            return ()
        found += [*_lost(column, seen, seen.trials), *_dubious(column, seen, seen.trials)]
    found += _of_rows(tally)
    return tuple(sorted(found, key=lambda finding: (-finding.people, -finding.count)))


def _lost(column: MappedColumn, seen: ColumnTally, trials: Trials) -> Iterator[Finding]:
    for reason, count in seen.reasons.items():
        option, saves, hint = _best(trials, Reason(reason), count)
        if reason == Reason.NO_COUNTRY and column.country_remedy is not None:
            option, saves, hint = None, 0, column.country_remedy
        elif reason == Reason.NO_COUNTRY and seen.unknown_countries * 2 > count:
            option, saves, hint = None, 0, f"their country is misspelt or not known: {NAME_COUNTRIES}"
        if reason == Reason.ALREADY_HASHED and seen.valid:  # the option would reject all others
            option, saves, hint = None, 0, _APART
        wrong = of_another_kind(seen)
        if reason in WRONG_KIND and are_too_many(wrong, seen) and are_too_many(wrong - saves, seen):
            option, saves = None, 0  # the list would be refused again
        yield Finding(
            code=reason,
            column=column.name,
            count=count,
            share=count / seen.present,
            message=describe_loss(Reason(reason), column, count, seen.present),
            people=trials.people[reason],
            option=option,
            saves=saves,
            saves_people=_people_saved(trials, reason, option),
            remedy=hint or remedy_of(Reason(reason), column),
        )


def _best(trials: Trials, reason: Reason, count: int) -> tuple[str | None, int, str | None]:
    """Return the option that saved most, and how many of `count` it saves; else a description of the values."""
    saved = [(each, option) for (of, option), each in trials.saved.items() if of == reason]
    tried = trials.tried[reason]
    if not saved or not tried:
        return None, 0, None
    best, option = max(saved, key=lambda item: item[0])  # of equals the first: the likeliest country comes first
    if best < MIN_SAVED_SHARE * tried:
        return None, 0, None
    saves = round(count * best / tried)
    if OPTION.fullmatch(option):
        return option, saves, None
    return None, 0, f"{saves:,} of them are {option}"


def _people_saved(trials: Trials, reason: str, option: str | None) -> int:
    tried = trials.people_tried[reason]
    if option is None or not tried:
        return 0
    return round(trials.people[reason] * trials.people_saved[reason, option] / tried)


def _dubious(column: MappedColumn, seen: ColumnTally, trials: Trials) -> Iterator[Finding]:
    for (code, provider), count in trials.dubious.items():
        addresses = "address" if count == 1 else "addresses"
        words = _DUBIOUS[code].format(addresses=addresses, where=f" in column {column.name}", provider=provider)
        message = f"{count:,} {words}"
        yield Finding(code=code, column=column.name, count=count, share=count / seen.present, message=message)


def _of_rows(tally: Tally) -> Iterator[Finding]:
    for reason in tally.reasons:
        if reason != Reason.SHARED and (count := tally.of_rows(reason)) > 0:
            message, remedy = (
                describe_loss(Reason(reason), None, count, tally.rows_read),
                remedy_of(Reason(reason), None),
            )
            share = count / tally.rows_read
            yield Finding(
                code=reason, column=None, count=count, share=share, message=message, people=count, remedy=remedy
            )
