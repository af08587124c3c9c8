"""The parts of a schedule: names, programs, settings; and no secret."""

from __future__ import annotations

from dataclasses import replace
from datetime import time
from pathlib import Path

import pytest

from audiencekit.audiences.setups.document import read_setup
from audiencekit.audiences.setups.setup import AudienceSetup, Setup
from audiencekit.cli.schedule_files import airflow_dag, cron_job, crontab, github_workflow, service_unit, timer_unit
from audiencekit.cli.scheduled_run import ScheduledRun, scheduled_run
from audiencekit.errors import UsageError
from audiencekit.settings import SECRET_NAMES, load_settings
from generators.schedules import RUN

WRITERS = (airflow_dag, lambda run: cron_job(run, "image"), crontab, github_workflow, service_unit, timer_unit)
CANARY = "canary0f5ecret"
COMMON = tuple(f"AUDIENCEKIT_{name.upper()}" for name in SECRET_NAMES)
NAMED = tuple(name.replace("AUDIENCEKIT_", "AUDIENCEKIT_ACCOUNT_SHOP_DE_") for name in COMMON)
TOML = '[accounts.shop-de]\naccount_id = "18ce5i7i7vj"\n[audiences.a]\naudience = "dlzxk"\naccount = "shop-de"\n'


def scheduled(
    monkeypatch: pytest.MonkeyPatch, directory: Path, source: str = "a.csv", **environment: str
) -> ScheduledRun:
    """The run of a setup, in an environment with these variables of ours alone."""
    (directory / "audiencekit.toml").write_text(f'{TOML}source = "{source}"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(directory / "settings"))
    for name, value in {"AUDIENCEKIT_STATE_DIR": str(directory / "state"), **environment}.items():
        monkeypatch.setenv(name, value)
    return scheduled_run(read_setup(directory / "audiencekit.toml"), (), time(3), load_settings())


@pytest.mark.parametrize(
    ("path", "names", "name"),
    [
        ("/srv/shop/audiencekit.toml", (), "audiencekit-shop"),
        ("/srv/shop/Nächte & Tage.toml", (), "audiencekit-n-chte-tage"),
        ("/srv/shop/audiencekit.toml", ("spring_customers",), "audiencekit-shop-spring-customers"),
        ("/audiencekit.toml", (), "audiencekit"),
        ("/srv/audiencekit/audiencekit.toml", (), "audiencekit"),
        (f"/srv/{'long-' * 20}.toml", (), f"audiencekit-{'long-' * 8}"[:52].rstrip("-")),
    ],
)
def test_a_schedule_has_the_name_of_its_setup(path: str, names: tuple[str, ...], name: str) -> None:
    """As a DNS label of at most 52 letters: Kubernetes adds eleven to that of a CronJob."""
    assert replace(RUN, setup=Setup(Path(path), ()), names=names).name == name


@pytest.mark.parametrize("given", [(), COMMON, NAMED, (*COMMON, *NAMED), ("AUDIENCEKIT_PROXY", *COMMON[:1])], ids=len)
def test_no_secret_is_in_any_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: tuple[str, ...]) -> None:
    """Each is named in the files for another machine, with the state key; those of an account where it has its own."""
    secrets = {name: f"http://u:{CANARY}@p" if name.endswith("PROXY") else CANARY for name in given}
    run = scheduled(monkeypatch, tmp_path, AUDIENCEKIT_KEY=CANARY, **secrets)
    texts = [write(run) for write in WRITERS]
    assert not any(CANARY in text for text in texts)
    wanted = {*given, "AUDIENCEKIT_KEY"} | (set() if given == NAMED else set(COMMON))
    assert set(run.needed_secrets) == wanted
    assert all(name in text for name in wanted for text in (texts[1], texts[3], texts[4]))


def test_the_settings_of_this_machine_are_carried_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Those of the settings file, too; the file of a secret is named and not read; paths go to this machine only."""
    (tmp_path / "settings" / "audiencekit").mkdir(parents=True, mode=0o700)
    (tmp_path / "settings").chmod(0o700)
    kept, secret = 'form = 1\nprofile = "x"\naccount_id = "18ce5aaaaaa"\n', tmp_path / "secret"
    (tmp_path / "settings/audiencekit/settings.toml").write_text(kept)
    secret.write_text(CANARY)
    more = {"RETENTION": "30d", "CONSUMER_SECRET_FILE": str(secret), "CA_BUNDLE": "/etc/ca.pem", "KEY_COMMAND": CANARY}
    run = scheduled(monkeypatch, tmp_path, **{f"AUDIENCEKIT_{name}": value for name, value in more.items()})
    settings = {"AUDIENCEKIT_PROFILE": "x", "AUDIENCEKIT_ACCOUNT_ID": "18ce5aaaaaa", "AUDIENCEKIT_RETENTION": "30d"}
    assert (dict(run.settings), dict(run.paths)) == (settings, {"AUDIENCEKIT_CA_BUNDLE": "/etc/ca.pem"})
    assert dict(run.secrets) == {"AUDIENCEKIT_CONSUMER_SECRET": secret}
    text = crontab(run)
    assert CANARY not in text
    assert f"\nAUDIENCEKIT_CONSUMER_SECRET_FILE={secret}\n" in text
    assert "AUDIENCEKIT_KEY_COMMAND is set in your shell" in text
    pod = cron_job(run, "image")
    assert ("/etc/ca.pem" in pod, "Not carried over" in pod) == (False, True)


@pytest.mark.parametrize(
    ("source", "environment", "message"),
    [
        ("../other/a.csv", {}, "lies outside"),
        ("a.csv", {"AUDIENCEKIT_STATE_DIR": "/srv/a\nb"}, "control character"),
        ("a\\nkind: Secret", {}, "control character"),
        ("a.csv", {"AUDIENCEKIT_ADS_URL": "https://me:word@ads.example"}, "holds a user"),
    ],
)
def test_a_file_that_could_not_run_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: str, environment: dict[str, str], message: str
) -> None:
    """A pod sees the directory of the setup alone; a line ends where its text does; an address may hold a password."""
    with pytest.raises(UsageError, match=message) as caught:
        cron_job(scheduled(monkeypatch, tmp_path, source, **environment), "image")
    assert "word@" not in str(caught.value)


def test_chosen_audiences_stand_behind_the_options() -> None:
    """A name that begins with a dash is no option; without one there are all. Lists at addresses are no files."""
    one = AudienceSetup(name="-a", command="upload", audience="dlzxk", sources=("s3://bucket/a.csv",))
    run = replace(RUN, setup=Setup(RUN.setup.path, (one,)))
    assert run.words("x", "--json") == ["run", "--setup", "x", "--json", "--all"]
    assert replace(run, names=("-a",)).words() == ["run", "--setup", "/srv/shop/audiencekit.toml", "--", "-a"]
    assert list(run.files()) == []
    with pytest.raises(UsageError, match="there is no audience"):
        _ = replace(run, names=("b",)).audiences
