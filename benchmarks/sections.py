"""Sections of RESULTS.md that a benchmark writes between two marks of its own."""

from __future__ import annotations

from pathlib import Path


def write_section(path: Path, text: str, *, begin: str, end: str) -> None:
    """Replace what stands between the marks of `path`. Raises ValueError for a file without them."""
    before, found, rest = path.read_text(encoding="utf-8").partition(begin)
    _, found_end, after = rest.partition(end)
    if not found or not found_end:
        raise ValueError(f"{path.name} must have the lines {begin!r} and {end!r}")
    path.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")


def publish_section(out: Path | None, text: str, *, begin: str, end: str) -> None:
    """Write it between the marks of `out`; without a file, print it."""
    if out is None:
        print(text)
    else:
        write_section(out, text, begin=begin, end=end)
