"""`run`, as people type it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Begin, Run, Service, forget_the_pace

ROWS = 120


def write_setup(directory: Path, service: Service, *, more: str = "") -> None:
    """Two audiences of one account: the emulator's, and one that is not there."""
    rows = [f"person{number}@example.com" for number in range(ROWS)]
    (directory / "list.csv").write_text("\n".join(["email", *rows]) + "\n")
    (directory / "audiencekit.toml").write_text(
        f'[accounts.shop]\naccount_id = "{service.ready["account_id"]}"\n'
        f'[lists.customers]\nsource = "list.csv"\n'
        f'[audiences.spring]\nlist = "customers"\naudience = "{service.audience_id}"\naccount = "shop"\n'
        f'schedule = "daily"\n{more}'
    )


OBJECTIONS = '[audiences.objections]\nlist = "customers"\naccount = "shop"\ncommand = "do-not-reach"\n'
BROKEN = '[audiences.gone]\nlist = "customers"\naudience = "h0n3"\naccount = "shop"\n'


def test_a_file_that_lies_there_is_named_before_it_is_used(run: Run, service: Service, tmp_path: Path) -> None:
    """Once for good, and then a name is enough. Other commands go on as before."""
    write_setup(tmp_path, service)
    refused = run("run", "--all", **service.env)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "may be another person's" in refused.stderr
    assert "--remember" in refused.stderr
    planned = run("run", "--all", "--dry-run", "--offline", "--setup", "audiencekit.toml", "--remember", **service.env)
    assert planned.stdout.splitlines() == [f"spring  planned, {ROWS} put in, {ROWS} members", "", "state: planned"]
    assert json.loads(service.get("/__requests")) == []
    done = run("run", "spring", **service.env)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, f"spring  complete, {ROWS} put in, {ROWS} members")
    target = f"audience {service.audience_id} in account {service.ready['account_id']} (shop)"
    assert done.stderr.index(target) < done.stderr.index("sending")
    assert "if the run is interrupted, `audiencekit run spring` continues it" in done.stderr
    assert run("check", "list.csv").returncode == 0


def test_without_a_name_the_audiences_are_listed(run: Run, service: Service, tmp_path: Path) -> None:
    """With the work of each, and its target."""
    write_setup(tmp_path, service)
    listed = run("run", "--setup", "audiencekit.toml", **service.env)
    assert listed.stdout.startswith(f"spring  sync of audience {service.audience_id} in account ")
    assert listed.stdout.endswith("(shop), from list.csv; daily\n")
    document = json.loads(run("run", "--setup", "audiencekit.toml", "--json", **service.env).stdout)
    assert [each["name"] for each in document] == ["spring"]
    assert json.loads(service.get("/__requests")) == []


def test_a_failure_leaves_the_others_done_and_is_the_exit_code(run: Run, service: Service, tmp_path: Path) -> None:
    """The document says what became of each."""
    write_setup(tmp_path, service, more=BROKEN)
    done = run("run", "--all", "--setup", "audiencekit.toml", "--json", **service.env)
    document = json.loads(done.stdout)
    assert done.returncode == document["exit_code"] == 3
    assert [(each["name"], each["state"]) for each in document["audiences"]] == [
        ("spring", "complete"), ("gone", "refused"),
    ]  # fmt: skip
    assert document["audiences"][0]["report"]["changes"]["additions"] == ROWS
    members = json.loads(service.get(f"/__members/{service.audience_id}"))["members"]
    assert len(members) == ROWS
    quiet = run("--quiet", "run", "--all", "--setup", "audiencekit.toml", **service.env)
    assert (quiet.returncode, quiet.stdout) == (3, "")
    first, second, *_ = quiet.stderr.splitlines()
    assert first.startswith("error: gone: ")
    assert second.startswith("  what to do: ")


def test_a_secret_in_the_file_is_refused(run: Run, service: Service, tmp_path: Path) -> None:
    """Without its value, and nothing is sent."""
    write_setup(tmp_path, service, more='access_token = "canary"\n')
    done = run("run", "--all", "--setup", "audiencekit.toml", **service.env)
    assert (done.returncode, done.stdout) == (3, "")
    assert "audiences.spring.access_token: a secret does not belong in this file" in done.stderr
    assert "canary" not in done.stderr
    assert json.loads(service.get("/__requests")) == []


def test_names_and_all_do_not_go_together(run: Run, service: Service, tmp_path: Path) -> None:
    """And a name that is not there has one that is like it."""
    write_setup(tmp_path, service)
    assert run("run", "spring", "--all", "--setup", "audiencekit.toml").returncode == 2
    done = run("run", "sprng", "--setup", "audiencekit.toml")
    assert (done.returncode, "perhaps spring" in done.stderr) == (2, True)


def test_a_dry_run_looks_at_each_audience_and_changes_nothing(run: Run, service: Service, tmp_path: Path) -> None:
    """So that one which is not there is told, which a plan does not know."""
    write_setup(tmp_path, service, more=BROKEN)
    done = run("run", "--all", "--dry-run", "--setup", "audiencekit.toml", **service.env)
    assert done.returncode == 3
    assert done.stdout.splitlines()[0] == f"spring  planned, {ROWS} put in, {ROWS} members"
    assert "has no audience h0n3" in done.stdout
    assert "dry run: nothing was changed" in done.stderr
    assert all(each["method"] == "GET" for each in json.loads(service.get("/__requests")))
    assert json.loads(run("runs", "--json").stdout) == []


def test_a_dry_run_is_refused_as_the_command_is(run: Run, service: Service, tmp_path: Path) -> None:
    """For the rules of notifications, the events and the purpose, also without the service."""
    write_setup(tmp_path, service)
    given = ("run", "--all", "--setup", "audiencekit.toml")
    for options, variables in (
        (("--notify-on", "nonsense"), {}),
        (("--notify-on", "minutes=nan"), {"AUDIENCEKIT_NOTIFY_URL": "https://hooks.example.com/of-a-test"}),
        (("--events", "list.csv"), {}),
        (("--purpose", "call +49 171 1234567"), {}),
        ((), {"AUDIENCEKIT_REQUIRE": "purpose"}),
    ):
        found = []
        for dry in ((), ("--dry-run",), ("--dry-run", "--offline")):
            done = run(*given, *options, *dry, **service.env, **variables)
            said = [line for line in done.stderr.splitlines() if line.startswith("error:")]
            found.append((done.returncode, said))
        assert found[0][0] == 2, (options, variables, found)
        assert found[1:] == [found[0]] * 2, (options, variables)


def test_the_do_not_reach_list_of_the_account_has_its_turn(run: Run, service: Service, tmp_path: Path) -> None:
    """It is planned and looked at as audiences are, and created by the first run alone."""
    write_setup(tmp_path, service, more=OBJECTIONS)
    target = f"update of the do-not-reach list in account {service.ready['account_id']} (shop)"
    run_all = ("run", "--all", "--setup", "audiencekit.toml")
    planned = run(*run_all, "--dry-run", "--offline", **service.env)
    assert planned.stdout.splitlines()[1] == f"objections  planned, {ROWS} to send"
    assert json.loads(service.get("/__requests")) == []
    tried = run(*run_all, "--dry-run", **service.env)
    assert tried.stdout.splitlines()[1] == f"objections  planned, {ROWS} to send"
    assert "objections: the account has no do-not-reach list: the upload would create it" in tried.stderr
    assert all(each["method"] == "GET" for each in json.loads(service.get("/__requests")))
    done = run(*run_all, **service.env)
    assert (done.returncode, done.stdout.splitlines()[1]) == (0, f"objections  complete, {ROWS} sent")
    assert f"objections  {target}, from list.csv" in done.stderr
    assert done.stderr.index(f"objections: {target}") < done.stderr.index("objections: sending")
    listed = json.loads(run("do-not-reach", "show", "--json", **service.env).stdout)
    assert service.members(listed["id"]) == ROWS


def test_the_document_says_which_is_the_do_not_reach_list(run: Run, service: Service, tmp_path: Path) -> None:
    """By its command: it has no audience."""
    write_setup(tmp_path, service, more=OBJECTIONS)
    listed = json.loads(run("run", "--setup", "audiencekit.toml", "--json", **service.env).stdout)
    assert [(each["command"], each["audience"]) for each in listed] == [
        ("sync", service.audience_id), ("do-not-reach", None),
    ]  # fmt: skip


UPLOAD = '[audiences.autumn]\nsource = "list.csv"\naccount = "shop"\ncommand = "upload"\nmax_records_per_request = 50\n'


def test_an_upload_that_was_killed_goes_on_and_a_complete_one_begins_anew(
    run: Run, begin_slowly: Begin, service: Service, tmp_path: Path
) -> None:
    """With another list it is left as it is."""
    write_setup(tmp_path, service, more=f'{UPLOAD}audience = "{service.audience_id}"\n')
    command = ("run", "--setup", "audiencekit.toml", "autumn")

    def kill_after_the_first() -> None:
        process = begin_slowly(*command, **service.env)
        process.kill()
        process.communicate()
        forget_the_pace(tmp_path)

    kill_after_the_first()
    done = run(*command, "-v", **service.env)
    assert (done.returncode, "goes on: 1 requests are confirmed" in done.stderr, service.sent()) == (0, True, 3)
    assert run(*command, **service.env).returncode == 0
    assert service.sent() == 6
    kill_after_the_first()
    (tmp_path / "list.csv").write_text("email\nada@example.com\n")
    done = run(*command, **service.env)
    assert (done.returncode, "was begun with another input" in done.stderr) == (0, True)
    states = [each["state"] for each in json.loads(run("runs", "--json").stdout)]
    assert states == ["complete", "incomplete", "complete", "complete"]
    assert service.sent() == 8
    assert run(*command, **service.env).returncode == 0  # the complete run is newer: the older one is not sent any more
    assert service.sent() == 9


def test_a_remedy_is_spelled_as_the_setup_takes_it(run: Run, service: Service, tmp_path: Path) -> None:
    """`run` has no such flags."""
    write_setup(tmp_path, service)
    (tmp_path / "list.csv").write_bytes("E-Mail;Straße\nada@example.com;Hof 1\n".encode("cp1252"))
    done = run("run", "spring", "--setup", "audiencekit.toml", **service.env)
    assert done.returncode == 3, done.stderr
    assert "`encoding = 'cp1252'` in the setup" in done.stderr
    assert "--encoding" not in done.stderr


def test_the_watch_over_nights_sees_an_audience_that_did_not_begin(run: Run, service: Service, tmp_path: Path) -> None:
    """As long as it is the last that `run` did of it, also where other audiences ran well."""
    write_setup(tmp_path, service, more=BROKEN)
    watch, nightly = ("runs", "--since", "24h", "--failed"), ("run", "--all", "--setup", "audiencekit.toml")
    assert run(*nightly, **service.env).returncode == 3
    seen = run(*watch)
    assert (seen.returncode, "not begun: gone" in seen.stdout, "spring" in seen.stdout) == (3, True, False)
    (found,) = json.loads(run(*watch, "--audience", "h0n3", "--json").stdout)
    assert (found["run_id"], found["audience_id"], found["exit_code"]) == (None, "h0n3", 3)
    assert run(*watch, "--audience", service.audience_id).returncode == 0
    assert [one["setup"] for one in json.loads(run("runs", "--json").stdout) if "setup" in one] == []
    made = json.loads(run("audiences", "create", "Gone", "--json", **service.env).stdout)["id"]
    text = (tmp_path / "audiencekit.toml").read_text()
    (tmp_path / "audiencekit.toml").write_text(text.replace("h0n3", made))
    assert run("run", "gone", "--setup", "audiencekit.toml", **service.env).returncode == 0
    assert run(*watch).returncode == 0


def test_one_audience_is_named_once_before_it_is_looked_at(run: Run, service: Service, tmp_path: Path) -> None:
    """And an upload whose list can be read again says nothing of how it is resumed."""
    write_setup(tmp_path, service, more='command = "upload"\n')
    told = run("run", "spring", "--setup", "audiencekit.toml", **service.env)
    assert (told.returncode, told.stderr.count("update of audience"), "be resumed" in told.stderr) == (0, 1, False)
    assert "from list.csv" in run("run", "spring", "--setup", "audiencekit.toml", "--dry-run", "--offline").stderr
