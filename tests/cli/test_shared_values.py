"""A telephone that a whole office has: one person is taken out, erased or suppressed, and all others stay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Service

PEOPLE = 300
OFFICE = "+493090182000"
ONE = f"email,phone\np7@example.com,{OFFICE}\n"


@pytest.fixture
def uploaded(run: Run, service: Service, tmp_path: Path) -> str:
    """The list, which is in the audience."""
    lines = [f"p{number}@example.com,{OFFICE}" for number in range(PEOPLE)]
    (tmp_path / "list.csv").write_text("\n".join(["email,phone", *lines, ""]))
    (tmp_path / "one.csv").write_text(ONE)
    done = run("upload", "list.csv", "--audience", service.audience_id, **service.env)
    assert done.returncode == 0, done.stderr
    assert "warning: 300 of 300 values of column phone are not sent" in done.stdout
    assert service.members() == PEOPLE
    return "list.csv"


def test_one_is_deleted(run: Run, service: Service, uploaded: str) -> None:
    """By the row that the list has of that person."""
    done = run("upload", "one.csv", "--audience", service.audience_id, "--operation", "delete", **service.env)
    assert done.returncode == 0, done.stderr
    assert service.members() == PEOPLE - 1


def test_one_is_erased(run: Run, service: Service, uploaded: str) -> None:
    """The others are members still; the next upload asks about the telephone once, and the answer is an option."""
    erased = run("forget", "--json", "--from", "one.csv", **service.env)
    assert erased.returncode == 0, erased.stderr
    assert service.members() == PEOPLE - 1
    again = ("upload", uploaded, "--audience", service.audience_id)
    asked = run(*again, **service.env)
    assert (asked.returncode, "--shared-suppression" in asked.stderr) == (3, True), asked.stderr
    done = run(*again, "--shared-suppression", "none", "--json", **service.env)
    assert json.loads(done.stdout)["rows"]["suppressed"] == 1
    assert service.members() == PEOPLE - 1


@pytest.mark.slow
def test_all_are_deleted_after_one_was_erased(run: Run, service: Service, uploaded: str) -> None:
    """Nothing is asked: they are all to go."""
    assert run("forget", "--from", "one.csv", **service.env).returncode == 0
    done = run("upload", uploaded, "--audience", service.audience_id, "--operation", "delete", **service.env)
    assert done.returncode == 0, done.stderr
    assert service.members() == 0


def test_one_is_suppressed(run: Run, service: Service, uploaded: str) -> None:
    """Of a list that is uploaded anew."""
    done = run("upload", uploaded, "--audience", service.audience_id, "--suppress", "one.csv", "--json", **service.env)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert (rows["suppressed"], rows["sent"]) == (1, PEOPLE - 1)


def test_a_sync_takes_out_the_one_who_has_gone(run: Run, service: Service, tmp_path: Path) -> None:
    """And keeps the others in, with nothing to put back."""
    lines = [f"p{number}@example.com,{OFFICE}" for number in range(PEOPLE)]
    (tmp_path / "list.csv").write_text("\n".join(["email,phone", *lines, ""]))
    given = ("sync", "list.csv", "--audience", service.audience_id, "--json")
    assert run(*given, **service.env).returncode == 0
    (tmp_path / "list.csv").write_text("\n".join(["email,phone", *lines[:-1], ""]))
    done = run(*given, **service.env)
    assert done.returncode == 0, done.stderr
    changes = json.loads(done.stdout)["changes"]
    assert (changes["removals"], changes["returned"], service.members()) == (1, 0, PEOPLE - 1)


@pytest.mark.slow
def test_one_of_an_audience_under_sync_is_erased(run: Run, service: Service, tmp_path: Path) -> None:
    """By the email alone. The snapshot knows that the telephone, which was kept, stands for all: nothing is sent."""
    lines = [f"p{number}@example.com,{OFFICE}" for number in range(PEOPLE)]
    (tmp_path / "list.csv").write_text("\n".join(["email,phone", *lines, ""]))
    (tmp_path / "one.csv").write_text(ONE)
    given = ("sync", "list.csv", "--audience", service.audience_id, "--shared-values", "keep")
    assert run(*given, **service.env).returncode == 0
    refused = run("forget", "--from", "one.csv", **service.env)
    assert (refused.returncode, service.members()) == (3, PEOPLE), refused.stderr
    named = f"1 identifier stands for more than 5 members of audience {service.audience_id}, the most for 300"
    assert named in refused.stderr
    assert "--shared-values keep" in refused.stderr
    assert "forgotten" not in {path.name for path in (tmp_path / "state").iterdir()}
    erased = run("forget", "--from", "one.csv", "--ignore", "phone", **service.env)
    assert (erased.returncode, service.members()) == (0, PEOPLE - 1), erased.stderr
    meant = run("forget", "--from", "one.csv", "--shared-values", "keep", **service.env)
    assert (meant.returncode, service.members()) == (0, 0), meant.stderr


@pytest.mark.slow
def test_a_delete_asks_the_members_of_an_audience_under_sync(run: Run, service: Service, tmp_path: Path) -> None:
    """By the list of one person, who is not all who share the telephone: nothing is sent before it is meant."""
    lines = [f"p{number}@example.com,{OFFICE}" for number in range(PEOPLE)]
    (tmp_path / "list.csv").write_text("\n".join(["email,phone", *lines, ""]))
    (tmp_path / "one.csv").write_text(ONE)
    given = ("sync", "list.csv", "--audience", service.audience_id, "--shared-values", "keep")
    assert run(*given, **service.env).returncode == 0
    delete = ("upload", "one.csv", "--audience", service.audience_id, "--operation", "delete")
    refused = run(*delete, **service.env)
    assert (refused.returncode, service.members()) == (3, PEOPLE), refused.stderr
    assert f"more than 5 members of audience {service.audience_id}, the most for {PEOPLE}" in refused.stderr
    looked = run(*delete, "--dry-run", **service.env)
    assert looked.returncode == 3, looked.stderr
    put_in = run("upload", "one.csv", "--audience", service.audience_id, **service.env)
    assert (put_in.returncode, service.members()) == (0, PEOPLE), put_in.stderr
    one = run(*delete, "--ignore", "phone", **service.env)
    assert (one.returncode, service.members()) == (0, PEOPLE - 1), one.stderr
    meant = run(*delete, "--shared-values", "keep", **service.env)
    assert (meant.returncode, service.members()) == (0, 0), meant.stderr


def test_the_number_of_people_is_an_option(run: Run, service: Service, uploaded: str) -> None:
    """And with it a resumed run comes to the same records."""
    done = run("check", uploaded, "--shared-values", "keep", "--json")
    assert json.loads(done.stdout)["rejections"] == {}
    wrong = run("check", uploaded, "--shared-values", "some")
    assert (wrong.returncode, "number of people" in wrong.stderr) == (2, True)
