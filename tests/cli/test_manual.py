"""The manual page."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from audiencekit import errors
from audiencekit.cli.manual import EXIT_CODES, _text
from tests.cases import each_case
from tests.cli.conftest import Run
from tests.cli.test_help import LEAVES
from tests.moments import PATIENCE_SECONDS


@pytest.fixture
def page(run: Run) -> str:
    done = run("man")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is missing")
def test_groff_has_nothing_to_complain_of(page: str) -> None:
    done = subprocess.run(
        ["groff", "-man", "-ww", "-z"],
        input=page,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="mandoc is missing")
def test_mandoc_has_nothing_to_complain_of(page: str) -> None:
    """But that the page has no date: the same version is the same page on every day."""
    done = subprocess.run(
        ["mandoc", "-Tlint", "-Wwarning"],
        input=page,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert [line for line in done.stdout.splitlines() if "missing date" not in line] == []


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is missing")
def test_every_command_is_shown_with_its_options_and_examples(page: str, tmp_path: Path) -> None:
    """As a reader sees them; dashes are those that a shell takes."""
    done = subprocess.run(
        ["groff", "-man", "-Tascii", "-P-cbou", "-rLL=200n"], input=page, capture_output=True, text=True,
        timeout=PATIENCE_SECONDS, check=True,
    )  # fmt: skip
    words = " ".join(done.stdout.split())
    for path, command in LEAVES:
        assert f"audiencekit {' '.join(path)} " in words
        for example in getattr(command, "examples", ()):
            assert " ".join(f"audiencekit {example}".split()) in words.replace(" \\ ", " ")
        for parameter in command.params:
            assert parameter.param_type_name != "option" or parameter.opts[0] in words


def test_every_exit_code_is_told() -> None:
    codes = {cls.exit_code for cls in vars(errors).values() if hasattr(cls, "exit_code")}
    assert set(EXIT_CODES) == codes | {0, 130}


@each_case("text, escaped", [("--a-b", r"\-\-a\-b"), (".x", r"\&.x"), (r"a\b", r"a\eb"), ("'x'", r"\(aqx\(aq")])
def test_text_is_taken_for_itself(text: str, escaped: str) -> None:
    assert _text(text) == escaped
