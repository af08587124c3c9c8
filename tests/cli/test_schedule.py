"""`schedule`, as people type it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run

SETUP = '[audiences.spring]\nsource = "list.csv"\naudience = "dlzxk"\n'
FORMS = {
    "cron": ("cron",),
    "systemd": ("systemd",),
    "timer": ("systemd", "--timer"),
    "kubernetes": ("kubernetes", "--image", "mine"),
    "airflow": ("airflow",),
    "github": ("github",),
}
AT = {"cron": "\n30 4 * * *  for", "timer": "OnCalendar=*-*-* 04:30:00\n", "github": '- cron: "30 4 * * *"\n'}
AT |= {"kubernetes": 'schedule: "30 4 * * *"\n', "airflow": 'schedule="30 4 * * *",\n'}


@pytest.mark.parametrize("form", FORMS)
def test_a_file_is_printed_and_nothing_else(run: Run, tmp_path: Path, form: str) -> None:
    """At the time that is given. No directory is made, and stderr is empty."""
    (tmp_path / "audiencekit.toml").write_text(SETUP)
    done = run("schedule", *FORMS[form], "audiencekit.toml", "spring", "--at", "04:30")
    assert (done.returncode, done.stderr) == (0, "")
    assert AT.get(form, "ExecStart=") in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audiencekit.toml"]


@pytest.mark.parametrize(
    ("content", "more", "code", "message"),
    [
        (SETUP, ("autumn",), 2, "there is no audience 'autumn'"),
        (SETUP, ("--at", "24:00"), 2, "write a time as HH:MM"),
        (SETUP, ("--at", "3:00"), 2, "write a time as HH:MM"),
        ("[audiences.spring]\n", (), 3, "audiences.spring"),
    ],
)
def test_a_setup_that_would_not_run_is_not_scheduled(
    run: Run, tmp_path: Path, content: str, more: tuple[str, ...], code: int, message: str
) -> None:
    """Nothing is printed."""
    (tmp_path / "audiencekit.toml").write_text(content)
    done = run("schedule", "cron", "audiencekit.toml", *more)
    assert (done.returncode, done.stdout, message in done.stderr) == (code, "", True), done.stderr
