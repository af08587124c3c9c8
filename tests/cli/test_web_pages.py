"""`--html FILE` writes a page and replaces no other file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run

LIST = "email\nzz.one@canarymail.com\nzz.two@canarymail.com\n"


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A list of two, which is never to change."""
    path = tmp_path / "list.csv"
    path.write_text(LIST)
    return path


@pytest.mark.slow
def test_a_page_replaces_an_earlier_page_and_an_empty_file(run: Run, people: Path) -> None:
    page = people.parent / "page.html"
    page.touch()
    for _ in range(2):
        assert run("check", "list.csv", "--html", "page.html").returncode == 0
        assert page.read_text().startswith("<!doctype html>")


@pytest.mark.parametrize("name", ["list.csv", "link.csv", "hard.csv", "pipe", "other.csv", "people.db"])
def test_a_page_replaces_no_other_file(run: Run, people: Path, name: str) -> None:
    """The source under any of its names, a pipe, and files that the command does not read."""
    directory = people.parent
    (directory / "link.csv").symlink_to(people)
    (directory / "hard.csv").hardlink_to(people)
    (directory / "other.csv").write_text(LIST)
    (directory / "people.db").write_bytes(b"\xff\x00")
    os.mkfifo(directory / "pipe")
    before = (directory / name).lstat().st_ino
    result = run("check", "list.csv", "--html", name)
    assert result.returncode == 2
    assert f"error: '{name}' is another file than a web page, and stays" in result.stderr
    assert (directory / name).lstat().st_ino == before
    assert people.read_text() == LIST


def test_a_page_does_not_replace_what_its_command_wrote(run: Run, people: Path) -> None:
    result = run("check", "list.csv", "--rejections", "both", "--html", "both")
    assert result.returncode == 2
    assert (people.parent / "both").read_text() == "row,column,reason\n"


def test_the_report_of_a_run_replaces_no_list(run: Run, people: Path) -> None:
    result = run("report", "--html", "list.csv")
    assert "another file than a web page" in result.stderr
    assert people.read_text() == LIST


@pytest.mark.parametrize("option", ["--html", "--rejections"])
def test_an_empty_name_of_a_file_is_refused(run: Run, people: Path, option: str) -> None:
    """A variable of the shell that is not set."""
    result = run("check", people.name, option, "")
    assert result.returncode == 2
    assert "the name is empty" in result.stderr


@pytest.mark.slow
def test_a_page_that_cannot_be_written_names_a_remedy_of_its_own(run: Run, people: Path) -> None:
    """Not that of the state directory."""
    result = run("check", people.name, "--html", "missing/page.html")
    assert result.returncode == 74
    assert "name a file in a directory in which you may write" in result.stderr
