"""`overlap`: lists, directories of `prepare` and an audience, as people compare them."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run, Service


def _write(path: Path, numbers: range) -> None:
    path.write_text("email\n" + "".join(f"person{number}@example.com\n" for number in numbers))


def test_lists_and_an_audience_are_compared(run: Run, service: Service, tmp_path: Path) -> None:
    """The members of a sync, by their name: the counts are floored, and no service is asked."""
    _write(tmp_path / "a.csv", range(60))
    _write(tmp_path / "b.csv", range(30, 100))
    assert run("sync", "b.csv", "--audience", service.audience_id, **service.env).returncode == 0
    assert run("prepare", "a.csv", "--out", "prepared").returncode == 0
    asked = service.get("/__requests")
    env = {"AUDIENCEKIT_ACCOUNT_ID": service.env["AUDIENCEKIT_ACCOUNT_ID"]}
    done = run("overlap", "prepared", "--audience", service.audience_id, **env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:2] == [
        "about 30 of about 60 people of prepared are in Ready for uploads, 50%",
        "only in one: about 30 of prepared, about 40 of Ready for uploads",
    ]
    assert service.get("/__requests") == asked


def test_exact_counts_of_lists_and_floored_ones(run: Run, tmp_path: Path) -> None:
    """As one JSON document, with `--share` rounded."""
    _write(tmp_path / "a.csv", range(33))
    _write(tmp_path / "b.csv", range(4, 34))
    exact, floored = (
        json.loads(run("overlap", "a.csv", "b.csv", "--json", *more).stdout) for more in ((), ("--share",))
    )
    assert [(one["found"], one["people"]) for one in exact["found"]] == [(29, 33), (29, 30)]
    assert [(one["found"], one["people"]) for one in floored["found"]] == [(30, 30), (30, 30)]
    assert (exact["floor"], floored["floor"]) == (0, 10)


def test_one_list_is_not_compared(run: Run, tmp_path: Path) -> None:
    """The message says how many there may be."""
    _write(tmp_path / "a.csv", range(3))
    done = run("overlap", "a.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert "from 2 to 8 lists and audiences" in done.stderr
