"""Sections of RESULTS.md that a benchmark writes between two marks of its own."""

from __future__ import annotations

from pathlib import Path


class NoPlace(ValueError):
    """A file has no place for a section, or more than one."""


def write_section(path: Path, text: str, *, begin: str, end: str) -> None:
    """Replace the text between the marks of `path`. Raises NoPlace."""
    before, after = split_at(path, path.read_text(encoding="utf-8"), begin=begin, end=end)
    path.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")


def split_at(path: Path, text: str, *, begin: str, end: str) -> tuple[str, str]:
    """Return the text before and after the marks. Raises NoPlace when `path` does not have each of them once."""
    before, found, rest = text.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found or not found_end or begin in rest or end in after:
        raise NoPlace(f"{path.name} must have the lines {begin!r} and {end!r}, once each")
    return before, after


def publish_section(out: Path | None, text: str, *, begin: str, end: str) -> None:
    """Write it between the marks of `out`; without a file, print it."""
    if out is None:
        print(text)
    else:
        write_section(out, text, begin=begin, end=end)
