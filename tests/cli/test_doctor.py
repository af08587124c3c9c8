"""`doctor`: what a run needs besides a list, looked at without one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Service


def _checks(text: str) -> dict[str, str]:
    return {check["name"]: check["status"] for check in json.loads(text)["checks"]}


def test_all_is_well(run: Run, service: Service) -> None:
    """Everything is named, and the last line is the verdict."""
    done = run("doctor", "--json", **service.env)
    assert done.returncode == 0, done.stdout
    found = _checks(done.stdout)
    assert found.pop("kernels") in ("ok", "warning")
    assert found.pop("disk") in ("ok", "warning")
    assert found == dict.fromkeys(
        [
            "lists",
            "lists encrypted with age",
            "lists in buckets (s3://, gs://, az://)",
            "lists behind SFTP",
            "queries to SQLite",
            "queries to PostgreSQL",
            "queries to Snowflake",
            "queries to BigQuery",
            "queries to Flight SQL",
            "lists encrypted with PGP",
            "settings file",
            "settings",
            "state directory",
            "state key",
            "credentials",
            "permission",
            "clock",
        ],
        "ok",
    )
    told = run("doctor", **service.env).stdout.splitlines()
    assert told[-1] in ("verdict: ready", "verdict: ready with warnings")
    assert any(line.startswith("credentials: user ") for line in told)
    formats = "tables of web pages, vCards, NDJSON, delimited text, Parquet, spreadsheets (xlsx, xlsm)"
    assert f"lists: {formats}; packed as gz, bzip2, xz, zstd, zip" in told


@pytest.mark.parametrize(
    ("wrong", "code", "name", "words"),
    [
        ({"AUDIENCEKIT_ACCESS_TOKEN_SECRET": "wrong"}, 77, "credentials", "check all four credentials"),
        ({"AUDIENCEKIT_CONSUMER_KEY": ""}, 77, "credentials", "AUDIENCEKIT_CONSUMER_KEY"),
        ({"AUDIENCEKIT_ACCOUNT_ID": ""}, 77, "permission", "AUDIENCEKIT_ACCOUNT_ID"),
        ({"AUDIENCEKIT_ADS_URL": "https://127.0.0.1:9"}, 69, "credentials", ""),
        ({"AUDIENCEKIT_PROFILE": "nothing"}, 2, "settings", "profile"),
        ({"AUDIENCEKIT_KEY": "abc"}, 2, "state directory", "64 hex digits"),
    ],
    ids=["secret", "key", "account", "service", "profile", "state key"],
)
def test_a_fault_has_its_exit_code_and_its_remedy(
    run: Run, service: Service, wrong: dict[str, str], code: int, name: str, words: str
) -> None:
    """With the exit code that a run would have, and what to do."""
    done = run("doctor", "--json", **{**service.env, **wrong})
    assert done.returncode == code, done.stdout
    (problem,) = [check for check in json.loads(done.stdout)["checks"] if check["status"] == "problem"]
    assert problem["name"] == name
    assert words in f"{problem['message']}; {problem['remedy']}"


def test_each_setting_is_told_with_its_origin(run: Run, service: Service, tmp_path: Path) -> None:
    """Option, environment, the file here, the settings file, profile, default; what may hold a secret is only `set`."""
    env = service.env
    of_file = {"profile": "spec", "ads_url": env["AUDIENCEKIT_ADS_URL"], "base_url": env["AUDIENCEKIT_BASE_URL"]}
    path = tmp_path / "state-settings" / "audiencekit" / "settings.toml"
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_text("form = 1\n" + "".join(f"{name} = '{value}'\n" for name, value in of_file.items()))
    path.chmod(0o600)
    (tmp_path / "audiencekit.toml").write_text("requests_per_minute = 60\n")
    secrets = {name: value for name, value in env.items() if name.endswith(("KEY", "SECRET", "TOKEN"))}
    given = {**secrets, "AUDIENCEKIT_FEW_PEOPLE": "allow", "AUDIENCEKIT_PROXY": "http://ann:hidden@127.0.0.1:9"}
    done = run("doctor", "--json", "--account", env["AUDIENCEKIT_ACCOUNT_ID"], **given)
    found = {one["name"]: (one["value"], one["from"]) for one in json.loads(done.stdout)["settings"]}
    assert found == {
        **{name: (value, "settings file") for name, value in of_file.items()},
        "account_id": (env["AUDIENCEKIT_ACCOUNT_ID"], "option"),
        "state_dir": (str(tmp_path / "state"), "environment"),
        "requests_per_minute": ("60", "setup"),
        "concurrency": (found["concurrency"][0], "default"),
        "retention": ("400d", "default"),
        "few_people": ("allow", "environment"),
        "proxy": ("set", "environment"),
        "application": ("set", "environment"),
        "token": ("set", "environment"),
    }
    told = run("doctor", AUDIENCEKIT_PROFILE="x", AUDIENCEKIT_LIMITER="redis://:hidden@127.0.0.1:9", **secrets).stdout
    assert "is not used: another service is named before it" in told
    assert any(line.split() == ["ads_url", "https://ads-api.x.com", "profile", "x"] for line in told.splitlines())
    assert "hidden" not in told + done.stdout + done.stderr


def test_a_state_directory_that_others_may_write(run: Run, service: Service, tmp_path: Path) -> None:
    """It is a problem, and the service is asked all the same."""
    (tmp_path / "state").mkdir(exist_ok=True)
    (tmp_path / "state").chmod(0o777)
    done = run("doctor", "--json", **service.env)
    found = _checks(done.stdout)
    assert (done.returncode, found["state directory"], found["credentials"]) == (74, "problem", "ok")


@pytest.mark.parametrize("name", ["runs", "locks", "limiter"])
def test_a_state_directory_that_cannot_be_written(run: Run, service: Service, tmp_path: Path, name: str) -> None:
    """In each place where a run writes: a link is not followed there."""
    (tmp_path / "state").mkdir(mode=0o700, exist_ok=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "state" / name).symlink_to(tmp_path / "elsewhere")
    done = run("doctor", "--json", **service.env)
    assert (done.returncode, _checks(done.stdout)["state directory"]) == (74, "problem")
    assert name in done.stdout


def test_a_state_key_that_opens_nothing_here(run: Run, service: Service, tmp_path: Path) -> None:
    """The next sync would be refused."""
    (tmp_path / "people.csv").write_text("email\n" + "".join(f"p{n}@example.com\n" for n in range(120)))
    assert run("sync", "people.csv", "--audience", service.audience_id, **service.env).returncode == 0
    done = run("doctor", "--json", **service.env, AUDIENCEKIT_KEY="11" * 32)
    (key,) = [each for each in json.loads(done.stdout)["checks"] if each["name"] == "state key"]
    assert (done.returncode, key["status"]) == (3, "problem"), key
    assert "`audiencekit key show`" in key["remedy"]


def test_a_clock_that_is_off(run: Run, service: Service) -> None:
    """By a minute, as the service tells."""
    service.order({"fault": 23, "skew_seconds": 60})
    done = run("doctor", "--json", **service.env)
    (clock,) = [check for check in json.loads(done.stdout)["checks"] if check["name"] == "clock"]
    assert clock["status"] == "warning", clock
    assert "behind the service" in clock["message"]


def test_no_secret_is_told(run: Run, service: Service) -> None:
    """Neither on stdout nor on stderr."""
    done = run("doctor", **service.env)
    secrets = [text for name, text in service.env.items() if name.endswith(("_SECRET", "_TOKEN", "_KEY"))]
    assert secrets
    assert [text for text in secrets if text in done.stdout + done.stderr] == []
