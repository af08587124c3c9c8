"""Counts of people in several lists: how they are floored, and their text."""

from __future__ import annotations

from audiencekit.reporting.overlap import ComparedPeople, FoundByKind, FoundPeople, Overlap, floored, floored_part

MOST = 60


def _shown(part: int, whole: int) -> tuple[object, ...]:
    """All that a reader gets of a part, and of the rest."""
    return floored(whole), floored_part(part, whole), floored_part(whole - part, whole)


def test_no_floored_count_tells_about_a_single_person() -> None:
    """Also for the owner of a list, who knows how many people it has: neither none nor all of them are certain."""
    for whole in range(MOST):
        of_readers: dict[tuple[object, ...], list[int]] = {}
        for part in range(whole + 1):
            of_readers.setdefault(_shown(part, whole), []).append(part)
        for parts in of_readers.values():
            if whole > 1 and {0, whole} & set(parts):
                assert len(parts) >= 10 or len(parts) == whole + 1


def test_a_floored_count_is_within_ten() -> None:
    """Counts of more people stay useful."""
    for whole in range(20, MOST):
        for part in range(whole + 1):
            found = floored_part(part, whole)
            assert found is not None
            assert abs(found - part) < 10 + (floored(whole) - whole if found == floored(whole) else 0)
            assert (found == 0) == (part < 10)
            assert (found == floored(whole)) == (whole - part < 10)


def _overlap(found: list[list[int | None]], only: list[int], *, floor: int, notes: tuple[str, ...] = ()) -> Overlap:
    """Of lists with so many people `found` in each list, in their own as well, all by their email."""
    people = {f"{letter}.csv": own[number] or 0 for number, (letter, own) in enumerate(zip("abc", found, strict=False))}
    names = list(people)
    pairs = [(one, other) for one in range(len(names)) for other in range(len(names)) if one != other]
    return Overlap(
        lists=tuple(
            ComparedPeople(name=name, source="list", people=people[name], only_here=here)
            for name, here in zip(names, only, strict=True)
        ),
        found=tuple(
            FoundPeople(
                of=names[one],
                within=names[other],
                people=people[names[one]],
                found=found[one][other],
                kinds=(FoundByKind(kind="email", people=people[names[one]], found=found[one][other]),),
            )
            for one, other in pairs
        ),
        in_all=found[0][1],
        floor=floor,
        notes=notes,
    )


def test_two_lists_are_told_in_three_lines() -> None:
    """The share of the first, the people of one alone, and the kinds; then each direction."""
    text = _overlap([[1_000, 612], [610, 900]], [388, 290], floor=0, notes=("it is \x1b[1m late",)).to_text()
    assert text.splitlines() == [
        "612 of 1,000 people of a.csv are in b.csv, 61.2%",
        "only in one: 388 of a.csv, 290 of b.csv",
        "found by: email 612 of 1,000",
        "  a.csv in b.csv: 612 of 1,000 people, 61.2%; email 612 of 1,000",
        "  b.csv in a.csv: 610 of 900 people, 67.8%; email 610 of 900",
        "note: it is \\x1b[1m late",
    ]


def test_floored_counts_are_told_as_such() -> None:
    """Fewer than ten, all but fewer than ten, and what is not told at all."""
    text = _overlap([[1_000, 0, 1_000], [None, 0, None], [610, 610, 900]], [0, 0, 290], floor=10).to_text()
    assert text.splitlines()[:5] == [
        "all but fewer than 10 of about 1,000 people of a.csv are in another list",
        "only in one: fewer than 10 of a.csv, fewer than 10 of b.csv, about 290 of c.csv",
        "in all 3: fewer than 10 of a.csv",
        "  a.csv in b.csv: fewer than 10 of about 1,000 people; email fewer than 10 of about 1,000",
        "  a.csv in c.csv: all but fewer than 10 of about 1,000 people; email all but fewer than 10 of about 1,000",
    ]
    assert "  b.csv in a.csv: a hidden number of fewer than 10 people; no kind is counted" in text.splitlines()
