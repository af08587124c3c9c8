"""A directory of Parquet files as one source: what engines write that work in parts, and what `prepare` writes."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from audiencekit.errors import InputOutputFailed, SourceRefused

SUFFIX: Final = ".parquet"
UNFINISHED: Final = "_temporary"  # Hadoop's name for what a job has not committed
_NO_ROWS: Final = re.compile(r"[._].*|manifest\.json|rejections\.csv|requests")  # markers, and the rest of a `prepare`


def part_files(path: str | os.PathLike[str]) -> list[Path]:
    """The Parquet files of a directory, by name; markers (`_SUCCESS`) and hidden files are left out.

    Raises SourceRefused for a directory that holds none, or other things, or what is still being written;
    InputOutputFailed when it cannot be listed.
    """
    return [Path(path) / name for name in part_names(_names(path))]


def part_names(names: list[str]) -> list[str]:
    """The Parquet files among the `names` in a directory, local or remote. Raises SourceRefused as above."""
    if UNFINISHED in names:
        raise SourceRefused(
            "the job that writes this directory has not finished, or has failed",
            hint=f"wait for it; when it has ended, remove {UNFINISHED} or run it again",
        )
    rows = sorted(name for name in names if not _NO_ROWS.fullmatch(name))
    alien = sum(not name.endswith(SUFFIX) for name in rows)
    if not rows or alien == len(rows):
        pattern = "*/*.parquet" if any("=" in name for name in rows) else "*.csv"
        raise SourceRefused(
            "this is a directory without Parquet files",
            hint=f"give the files in it; the shell lists them for DIRECTORY/{pattern}",
        )
    if alien:
        others = "1 other entry" if alien == 1 else f"{alien} other entries"
        raise SourceRefused(
            f"this is a directory, and beside Parquet files it holds {others}",
            hint=f"give the files that are meant; the shell lists them for DIRECTORY/*{SUFFIX}",
        )
    return rows


def _names(path: str | os.PathLike[str]) -> list[str]:
    failure = ""
    try:
        return os.listdir(path)
    except OSError as error:
        failure = error.strerror or "unknown reason"
    raise InputOutputFailed(f"cannot be read: {failure}")
