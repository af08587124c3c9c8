"""Words that the glossary replaces, and where they still stand: in names, comments, messages and documents.

`python -m tests.architecture.words` lists the places.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
# Each hides who acts, or says "person" in a way that takes two readings.
_WORDS: Final = re.compile(
    r"(?<![a-z])(whoever|whomever|nobody|somebody|everybody|anybody|whom)(?![a-z])", re.IGNORECASE
)  # in names, too
# Each takes two readings; the glossary has what is said in its place.
_PHRASES: Final = re.compile(
    r"\bthat cannot be(?=[.,;:)\"']| \|)|\bwhen how many\b|\blapses?\b|\bis not evident\b|\bat the least\b"
    r"|\bmind where it goes\b|\bwhat the request is about\b|\bonce more stops now\b|\bhas no meaning with\b",
    re.IGNORECASE,
)
# A docstring or a comment says the thing: "The counts of …", not "What … counts".
_OPENING: Final = re.compile(r'(?:"""|(?<!#)# |// |/// |//! )(?:What|Who)\b')
_TEST_NAME: Final = re.compile(
    r"(?<=def )test_(?:what|whose|who)_\w+|(?<=fn )(?:what|whose|who)_\w+"
)  # name the subject
SWEPT: Final = (
    "audiencekit",
    "README.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "benchmarks",
    "docs",
    "generators",
    "hatch_build.py",
    "kernels/src",
    "samples",
    "tests",
    ".ci/full",
    ".ci/run",
)
# Where such a word is data: the glossary's list of them, and a closed list of placeholders.
_DATA: Final = frozenset(
    {
        "docs/glossary.md",
        "audiencekit/identifiers/texts.py",
        "benchmarks/values/handles.py",
        "kernels/src/international.rs",  # the local part of an address
        "tests/architecture/test_words.py",
        "tests/architecture/words.py",
        "tests/postgresserver.py",  # "nobody" is the name of a system user
    }
)


def places(text: str) -> Iterator[tuple[int, str]]:
    """The line numbers of `text` with such a word, and the word."""
    for pattern in (_WORDS, _PHRASES, _OPENING, _TEST_NAME):
        for found in pattern.finditer(text):
            yield text.count("\n", 0, found.start()) + 1, found.group().strip('"#/! ')


def files_of(room: str) -> list[Path]:
    """The files of a room, which may be one file."""
    path = ROOT / room
    if path.is_file():
        return [path]
    files = [file for suffix in ("py", "md", "rs", "toml") for file in path.rglob(f"*.{suffix}")]
    return sorted(file for file in files if file.relative_to(ROOT).as_posix() not in _DATA)


def main() -> int:
    """1 when a swept room has such a word."""
    is_bad = False
    for path in [path for room in SWEPT for path in files_of(room)]:
        for number, word in places(path.read_text(encoding="utf-8")):
            is_bad = True
            sys.stdout.write(f"{path.relative_to(ROOT)}:{number}: {word}\n")
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main())
