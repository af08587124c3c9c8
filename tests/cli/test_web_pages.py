"""`--html FILE` writes a page and replaces no other file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Service
from tests.reporting.webpages import PageNumbers

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


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("check", "list.csv", "--share"), "--share is about the page"),
        (("report", "--share"), "--share is about the page"),
        (("report", "--all"), "--all is about the page"),
        (("report", "--own", "--html", "page.html"), "--own is for a page of all runs"),
        (("report", "--all", "--own", "--share", "--html", "page.html"), "--own is for a page of all runs"),
        (("report", "20260101", "--all", "--html", "page.html"), "give neither RUN nor --json"),
    ],
)
def test_an_option_of_the_page_without_its_page_is_refused(
    run: Run, people: Path, arguments: tuple[str, ...], why: str
) -> None:
    result = run(*arguments)
    assert result.returncode == 2
    assert why in result.stderr
    assert not (people.parent / "page.html").exists()


def test_the_owner_sees_small_counts_and_a_shared_page_does_not(run: Run, people: Path) -> None:
    """No value of the list is on either."""
    page = people.parent / "page.html"
    assert run("check", "list.csv", "--html", "page.html").returncode == 0
    own = PageNumbers(page.read_text())
    assert own.cells["rows.pending"] == "2"
    assert run("check", "list.csv", "--html", "page.html", "--share").returncode == 0
    shared = PageNumbers(page.read_text())
    assert "of fewer than 10 people ready" in shared.text
    assert set(shared.cells.values()) <= {"0"}
    assert "canarymail" not in own.text + shared.text


def test_a_page_of_all_runs_is_opened_from_a_private_place(run: Run, service: Service, people: Path) -> None:
    """Its small counts are for its owner alone; the browser gets its address, and none of our secrets."""
    directory = people.parent
    browser, opened = directory / "browser", directory / "opened"
    browser.write_text(f'#!/bin/sh\n{{ echo "$1"; env; }} > {opened}\n')
    browser.chmod(0o700)
    env = {**service.env, "BROWSER": f"{browser} %s"}
    assert run("upload", "list.csv", "--audience", service.audience_id, **env).returncode == 0
    done = run("open", **env)
    assert done.returncode == 0, done.stderr
    page = directory / "state" / "audiences.html"
    address, _, environment = opened.read_text().partition("\n")
    assert address == page.as_uri()
    assert "AUDIENCEKIT_" not in environment
    assert page.stat().st_mode & 0o777 == 0o600
    text = page.read_text()
    assert "of fewer than 10 people reached" in PageNumbers(text).text
    assert "canarymail" not in text
    opened.unlink()
    assert run("report", "--all", "--html", "all.html", "--own", **env).returncode == 0
    assert "of 2 people reached" in PageNumbers((directory / "all.html").read_text()).text
    assert run("open", "--no-browser", **env).returncode == 0
    assert not opened.exists()


def test_a_machine_without_runs_has_a_page(run: Run, tmp_path: Path) -> None:
    """It says so; a machine without a browser names the file."""
    done = run("open", BROWSER=str(tmp_path / "none"), PATH="")
    assert done.returncode == 0
    assert "no browser could be opened here" in done.stderr
    assert "There are no runs yet" in (tmp_path / "state" / "audiences.html").read_text()
