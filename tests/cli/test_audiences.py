"""`audiences`, and the same by `api`."""

from __future__ import annotations

import hashlib
import json

from tests.cases import each_case
from tests.cli.conftest import Run, Service


def test_audiences_live_and_die(run: Run, service: Service) -> None:
    """Create, list, show, delete; a deleted one is gone."""
    env = service.ready["env"]
    done = run("audiences", "create", "Autumn days", "--description", "People of autumn", "--json", **env)
    made = json.loads(done.stdout)
    assert made["name"] == "Autumn days"
    assert done.stderr == "Next: audiencekit upload LIST --audience 'Autumn days'\n"
    assert made["id"] in run("audiences", "list", **env).stdout
    assert json.loads(run("audiences", "show", made["id"], "--json", **env).stdout)["description"] == "People of autumn"
    again = run("audiences", "create", "Autumn days", **env)
    assert (again.returncode, again.stdout) == (3, "")
    assert f"error: an audience named 'Autumn days' exists already ({made['id']})" in again.stderr
    waited = run("audiences", "wait", made["id"], "--timeout", "0s", **env)
    assert waited.returncode == 75
    assert "fewer than 100 people" in waited.stderr
    assert run("audiences", "delete", made["id"], **env).returncode == 2
    assert run("audiences", "delete", made["id"], "--yes", **env).returncode == 0
    gone = run("audiences", "show", made["id"], **env)
    assert (gone.returncode, f"account {env['AUDIENCEKIT_ACCOUNT_ID']}" in gone.stderr) == (3, True)
    assert "audiences list" in gone.stderr
    again = run("audiences", "create", "Autumn days", **env)
    assert (again.returncode, f"was deleted ({made['id']})" in again.stderr) == (3, True)
    listed = json.loads(run("audiences", "list", "--with-deleted", "--json", **env).stdout)
    assert made["id"] in {audience["id"] for audience in listed if audience["deleted"]}


@each_case(
    "arguments",
    [("upload", "list.csv", "--audience", ""), ("sync", "list.csv", "--audience", " "), ("audiences", "show", "")],
)
def test_an_audience_without_a_name_is_no_audience(run: Run, arguments: tuple[str, ...]) -> None:
    """As of a variable that is not set: said before anything is asked."""
    done = run(*arguments)
    assert (done.returncode, "is a variable of the shell not set?" in done.stderr) == (2, True)


def test_any_endpoint_is_called_by_its_name(run: Run, service: Service) -> None:
    """An audience lives, gets a person and dies by `api` alone, in the emulator's own process."""
    env = service.ready["env"]
    made = json.loads(run("api", "create_custom_audience", "name=Köln & co", **env).stdout)
    assert made["name"] == "Köln & co"
    assert (
        json.loads(run("api", "list_custom_audiences", "q=kö", "count=1", "--all", **env).stdout)[0]["id"] == made["id"]
    )
    person = hashlib.sha256(b"ada@example.com").hexdigest()
    body = json.dumps([{"operation_type": "Update", "params": {"users": [{"email": [person]}]}}])
    where = f"custom_audience_id={made['id']}"
    done = run("api", "add_custom_audience_users", where, "--body", "-", text=body, **env)
    assert json.loads(done.stdout) == {"success_count": 1, "total_count": 1}
    assert service.members(made["id"]) == 1
    clear = run("api", "add_custom_audience_users", where, "--body", "-", text=body.replace(person, "ada@x.y"), **env)
    assert clear.returncode == 2
    assert "ada@x.y" not in clear.stderr
    assert run("api", "delete_custom_audience", where, **env).returncode == 2  # there is no terminal to ask at
    assert run("api", "get_custom_audience", where, **env).returncode == 0
    assert run("api", "delete_custom_audience", where, "--yes", **env).returncode == 0
    assert run("api", "get_custom_audience", where, **env).returncode == 3
    assert run("api", "get_custom_audience", where, "with_deleted=true", **env).returncode == 0


def test_a_deletion_names_the_audience_and_takes_no_for_an_answer(run: Run, answer: Run, service: Service) -> None:
    made = json.loads(run("audiences", "create", "Spring customers", "--json", **service.env).stdout)
    for typed, deleted in (("n", False), ("y", True)):
        done = answer(typed, "audiences", "delete", made["id"], **service.env)
        assert done.returncode == 0, done.stderr
        assert f"Delete audience {made['id']}, 'Spring customers', size " in done.stderr
        assert "its name cannot be used again" in done.stderr
        assert "used by nothing" in done.stderr
        assert ("nothing was changed" in done.stderr) != deleted
        assert (run("audiences", "show", made["id"], **service.env).returncode == 0) != deleted


def test_a_deletion_looks_whether_the_audience_is_there_before_it_asks(run: Run, service: Service) -> None:
    """Not for `--yes`, with no terminal: first for the right name."""
    done = run("audiences", "delete", "Wrong", **service.env)
    assert (done.returncode, "no audience is called 'Wrong'" in done.stderr) == (2, True)
    done = run("audiences", "delete", "zzzz", **service.env)
    assert (done.returncode, "--yes" in done.stderr) == (3, False)
    done = run("audiences", "delete", service.audience_id, **service.env)
    assert (done.returncode, "give --yes" in done.stderr) == (2, True)


def test_an_audience_is_renamed(run: Run, service: Service) -> None:
    """By its old name, to one that is free and names no one; this machine knows the new one."""
    env = service.env
    made = json.loads(run("audiences", "create", "Spring", "--json", **env).stdout)
    run("audiences", "create", "Autumn", **env)
    taken = run("audiences", "rename", "Spring", "Autumn", **env)
    assert (taken.returncode, "an audience named 'Autumn' exists already" in taken.stderr) == (3, True)
    personal = run("audiences", "rename", "Spring", "ada@canarymail.com", **env)
    assert (personal.returncode, "canarymail" in personal.stderr) == (3, False)
    tried = run("audiences", "rename", "Spring", "Spring customers", "--dry-run", **env)
    assert tried.stdout.startswith("would send: PUT ")
    renamed = run("audiences", "rename", "Spring", "Spring customers", **env)
    assert (renamed.returncode, renamed.stdout.split("  ")[-1]) == (0, "'Spring customers'\n")
    shown = run("audiences", "show", "Spring customers", "--json", **env)
    assert json.loads(shown.stdout)["id"] == made["id"]


def test_an_audience_is_shared_and_unshared(run: Run, service: Service) -> None:
    """With an account; `show --used` says so, and a second `unshare` that it is not shared."""
    env = service.env
    other = json.loads(run("api", "create_account", "--yes", **env).stdout)[0]["id"]
    share = ("audiences", "share", service.audience_id, other)
    assert "give --yes" in run(*share, **env).stderr
    assert run(*share, "--dry-run", **env).stdout.startswith("would send: POST ")
    assert run("audiences", "unshare", service.audience_id, other, **env).returncode == 3
    done = run(*share, "--yes", "--write", **env)
    assert done.stdout == f"shared with account {other}, read write\n"
    assert (
        f"shared with account {other}, read write"
        in run("audiences", "show", service.audience_id, "--used", **env).stdout
    )
    used = json.loads(run("audiences", "show", service.audience_id, "--used", "--json", **env).stdout)["used_by"]
    assert [each["granted_account_id"] for each in used["permissions"]] == [other]
    done = run("audiences", "unshare", service.audience_id, other, **env)
    assert done.stdout == f"no longer shared with account {other}, read write\n"
    again = run("audiences", "unshare", service.audience_id, other, **env)
    assert (again.returncode, f"is not shared with account {other}" in again.stderr) == (3, True)
    assert run("audiences", "share", service.audience_id, "An Account", "--yes", **env).returncode == 2
