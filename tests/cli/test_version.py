"""`--version` says which version this is, and whether it has its kernels."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from audiencekit import __version__
from audiencekit.cli import cli
from audiencekit.cli.version import kernels_warning
from audiencekit.kernels import library


@pytest.mark.parametrize(
    ("found", "told"), [(object(), "with kernels"), (None, "without kernels: the same results, more slowly")]
)
def test_the_version_says_whether_there_are_kernels(found: object, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation without a compiler works the same, and is slow in silence otherwise."""
    monkeypatch.setattr(library, "find_library", lambda: found)
    done = CliRunner().invoke(cli, ["--version"])
    assert done.exit_code == 0
    assert done.stdout == f"audiencekit, version {__version__}, {told}\n"


@pytest.mark.parametrize(("found", "is_told"), [(object(), False), (None, True)])
def test_a_warning_says_how_kernels_are_compiled(found: object, is_told: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "find_library", lambda: found)
    warning = kernels_warning()
    assert (warning is not None and "--no-cache-dir" in warning and "Rust" in warning) == is_told
