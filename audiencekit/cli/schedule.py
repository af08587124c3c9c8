"""`schedule`: the file with which another system starts a `run` every night."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from audiencekit.cli.command_help import CommandGroup
from audiencekit.cli.command_settings import command_settings
from audiencekit.cli.options import F, stacked
from audiencekit.cli.output import say, tell
from audiencekit.cli.setup import setup_names

if TYPE_CHECKING:
    from audiencekit.cli.scheduled_run import ScheduledRun

_TIME: Final = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]", re.ASCII)
_DEFAULT: Final = "03:15"  # no clock change skips or repeats it, and reports of the day before are often there


class TimeOfDay(click.ParamType[Any]):
    """HH:MM."""

    name = "HH:MM"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> time:
        """The time."""
        if not _TIME.fullmatch(value):
            self.fail("write a time as HH:MM, from 00:00 to 23:59", param, ctx)
        return time.fromisoformat(value)


def scheduled(function: F) -> F:
    """The setup, its audiences, and the time."""
    return stacked(
        click.argument("setup", metavar="SETUP", type=click.Path(path_type=Path)),
        click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=setup_names),
        click.option("--at", metavar="HH:MM", type=TimeOfDay(), default=_DEFAULT, show_default=True, help="The time."),
    )(function)


def _say(write: Callable[[ScheduledRun], str], setup: Path, names: tuple[str, ...], at: time) -> None:
    from audiencekit.audiences.setups.document import read_setup
    from audiencekit.cli.scheduled_run import scheduled_run

    found = read_setup(setup)
    settings = command_settings(file=found.path)
    text = write(scheduled_run(found, names, at, settings))
    say(text.rstrip("\n"))
    if settings.is_rehearsal:
        tell(
            "note: the addresses in it are of this machine, a rehearsal: set AUDIENCEKIT_PROFILE=x, without addresses,"
            " and print it again for the real service"
        )


@click.group(cls=CommandGroup)
def schedule() -> None:
    """Print the file that runs a setup every night.

    Nothing is installed or changed. The file holds no secret: it says where each comes from.
    """


@schedule.command("cron", examples=("schedule cron audiencekit.toml", "schedule cron audiencekit.toml --at 04:30"))
@scheduled
def schedule_cron(setup: Path, names: tuple[str, ...], at: time) -> None:
    """Print lines for your crontab."""
    from audiencekit.cli.schedule_files import crontab

    _say(crontab, setup, names, at)


@schedule.command(
    "systemd", examples=("schedule systemd audiencekit.toml", "schedule systemd audiencekit.toml --timer")
)
@scheduled
@click.option("--timer", is_flag=True, help="Print the timer, not the service.")
def schedule_systemd(setup: Path, names: tuple[str, ...], at: time, timer: bool) -> None:
    """Print a service, or its timer."""
    from audiencekit.cli.schedule_files import service_unit, timer_unit

    _say(timer_unit if timer else service_unit, setup, names, at)


@schedule.command(
    "kubernetes",
    examples=(
        "schedule kubernetes audiencekit.toml --image registry.example/audiencekit",
        "schedule kubernetes audiencekit.toml --image registry.example/audiencekit --at 04:30",
    ),
)
@scheduled
@click.option("--image", metavar="NAME", required=True, help="The image, which Containerfile builds.")
def schedule_kubernetes(setup: Path, names: tuple[str, ...], at: time, image: str) -> None:
    """Print a CronJob and the claims of its volumes; the time is UTC."""
    from audiencekit.cli.schedule_files import cron_job

    _say(lambda run: cron_job(run, image), setup, names, at)


@schedule.command(
    "airflow",
    examples=("schedule airflow audiencekit.toml", "schedule airflow audiencekit.toml > dags/audiences.py"),
)
@scheduled
def schedule_airflow(setup: Path, names: tuple[str, ...], at: time) -> None:
    """Print a DAG; the time is UTC."""
    from audiencekit.cli.schedule_files import airflow_dag

    _say(airflow_dag, setup, names, at)


@schedule.command(
    "github",
    examples=("schedule github audiencekit.toml", "schedule github audiencekit.toml > .github/workflows/audiences.yml"),
)
@scheduled
def schedule_github(setup: Path, names: tuple[str, ...], at: time) -> None:
    """Print a workflow; the time is UTC.

    A runner has no disk that lasts. The file says what is lost with it, and what holds.
    """
    from audiencekit.cli.schedule_files import github_workflow

    _say(github_workflow, setup, names, at)
