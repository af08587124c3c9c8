"""What the tests of the columnar path share: lists of made-up texts, and the comparison with the definition."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from audiencekit.identifiers.reasons import Reason
from audiencekit.preparation.columnar.decisions import REASONS, UNDECIDED, VALID, Decisions

Answers = Sequence[str | Reason]
AROUND = (" ", "\t", "\n", "\v", "\xa0", "\x85", "\ufeff", "\u200b", "\x1c", "\x00")


@pytest.fixture(scope="session")
def assembled() -> Callable[[Sequence[str], int], list[str]]:
    """Texts made of the given fragments by a seeded generator, some with white space or in capitals, none twice."""

    def make(fragments: Sequence[str], count: int) -> list[str]:
        chance = random.Random(len(fragments) + count)
        made = ["".join(chance.choices(fragments, k=chance.choice((1, 2, 2, 3, 3, 4, 5, 7)))) for _ in range(count)]
        framed = [chance.choice(AROUND) + text + chance.choice(AROUND) for text in made[: count // 10]]
        return sorted({*made, *framed, *(text.upper() for text in made[: count // 4])})

    return make


@pytest.fixture(scope="session")
def differing() -> Callable[[Decisions, Answers], list[int]]:
    """Where `decisions` say another thing than the definition: indices, never values. EMPTY must be decided."""

    def compare(decisions: Decisions, answers: Answers) -> list[int]:
        found = zip(decisions.normalized.to_pylist(), decisions.reasons.to_pylist(), answers, strict=True)
        return [index for index, (text, code, answer) in enumerate(found) if not _agree(text, code, answer)]

    return compare


def _agree(text: str | None, code: int, answer: str | Reason) -> bool:
    if code == UNDECIDED:
        return text is None and answer is not Reason.EMPTY
    if code == VALID:
        return text == answer and not isinstance(answer, Reason)
    return text is None and answer is REASONS[code]


@pytest.fixture(scope="session")
def corpus_texts() -> list[str]:
    """Every input of the public corpora of values, whatever its kind; skips where they are not at hand."""
    folder = Path(__file__).resolve().parents[3].parent / "shared" / "corpora"
    if not folder.exists():
        pytest.skip("the corpora are not at hand")
    paths = (path for part in ("emails", "hash", "ids", "phones") for path in sorted((folder / part).glob("*.json")))
    return sorted({text for path in paths for text in _inputs(json.loads(path.read_text(encoding="utf-8")))})


def _inputs(document: Any) -> Iterable[str]:
    if isinstance(document, list):
        for member in document:
            yield from _inputs(member)
    elif isinstance(document, dict):
        for name, member in document.items():
            if name in {"input", "normalized", "sha256"} and isinstance(member, str) and _is_utf8(member):
                yield member
            else:
                yield from _inputs(member)


def _is_utf8(text: str) -> bool:
    return text.encode(errors="ignore").decode() == text
