"""`--version` says which version this is, and whether it has its kernels."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from audiencekit import __version__
from audiencekit.cli import cli
from audiencekit.cli.version import COMPILE, NOT_IN_USE, kernels_warning
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


@pytest.mark.parametrize(("found", "told"), [(object(), None), (None, f"the kernels are {NOT_IN_USE}; {COMPILE}")])
def test_a_warning_says_that_kernels_are_not_in_use(
    found: object, told: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kernels of another version are as good as none."""
    monkeypatch.setattr(library, "find_library", lambda: found)
    assert kernels_warning() == told
