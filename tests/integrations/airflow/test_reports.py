"""The traces that a run leaves in Airflow: page and link, events of assets, lineage. None of them names anyone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integrations.airflow.conftest import Service, context_of, run_task

pytestmark = [pytest.mark.integrations, pytest.mark.filterwarnings("ignore")]
PEOPLE, BAD = 1_230, 3


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "list.csv"
    lines = [f"canary{number}@example.com" for number in range(PEOPLE)] + ["invalid"] * BAD
    path.write_text("email\n" + "".join(f"{line}\n" for line in lines))
    return path


def test_the_events_of_outlets_have_counts(provider: Any, service: Service, source: Path, tmp_path: Path) -> None:
    """Small ones are left out, so that the rest does not tell them; an alias gets the asset of the audience."""
    name = f"With outlets {tmp_path.name}"
    service.make_audience(name, tmp_path)
    own, alias = provider.audience_asset(name), provider.AssetAlias("audiences")
    task = provider.Upload(task_id="outlets", source=str(source), audience=name, outlets=[own, alias])
    context = context_of(task)
    run_task(task, context)
    extra = context["outlet_events"][own].extra
    assert (extra["state"], extra["target"]["kind"], extra["rounded_to"]) == ("complete", "audience", 10)
    assert (extra["rows"]["sent"], extra["rows"]["read"], extra["rows"]["rejected"]) == (1_230, 1_230, None)
    added = context["outlet_events"][alias]
    (event,) = getattr(added, "asset_alias_events", None) or added.dataset_alias_events  # the latter in 2.11
    assert (event["extra"] if isinstance(event, dict) else event.extra) == extra
    assert name.replace(" ", "%20") in own.uri
    assert "canary" not in json.dumps(extra)


def test_the_page_of_a_task_is_written_where_it_says(
    provider: Any, service: Service, source: Path, tmp_path: Path
) -> None:
    """Without small counts; its address is kept for the button. Another file is not replaced."""
    page = tmp_path / "page.html"
    given = {"source": str(source), "audience": service.audience_id, "page_url": "https://pages.example/page.html"}
    task = provider.Upload(task_id=f"page_{tmp_path.name}", page=str(page), **given)
    context = context_of(task)
    run_task(task, context)
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert "fewer than 10" in text
    assert "canary" not in text
    assert context["ti"].pushed == {"page_url": "https://pages.example/page.html"}
    before = service.uploads()
    with pytest.raises(provider.FailedForGood, match="is another file than a web page"):
        run_task(provider.Upload(task_id="over", page=str(source), **given))
    assert service.uploads() == before


def test_lineage_has_the_forms_of_openlineage(provider: Any, service: Service, source: Path, tmp_path: Path) -> None:
    """Facets are of the classes of its client, and its serialiser takes them."""
    pytest.importorskip("airflow.providers.openlineage", reason="the extra `openlineage` is not installed")
    from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
    from openlineage.client.serde import Serde
    from openlineage.client.uuid import generate_new_uuid

    task = provider.Upload(task_id=f"lineage_{tmp_path.name}", source=str(source), audience=service.audience_id)
    run_task(task)
    lineage = task.get_openlineage_facets_on_complete(None)
    event = RunEvent(
        eventTime="2026-11-21T00:00:00Z", eventType=RunState.COMPLETE, run=Run(str(generate_new_uuid())),
        job=Job("here", "lineage"), inputs=lineage.inputs, outputs=lineage.outputs,
    )  # fmt: skip
    document = json.loads(Serde.to_json(event))
    (read,), (written,) = document["inputs"], document["outputs"]
    assert (read["namespace"], read["name"]) == ("file", str(source))
    assert read["inputFacets"]["inputStatistics"]["rowCount"] == 1_230
    assert written["namespace"] == service.ads_url
    assert written["name"] == f"accounts/{service.account_id}/audience/{service.audience_id}"
    assert written["outputFacets"]["outputStatistics"]["rowCount"] == 1_230
    assert "canary" not in json.dumps(document)
    wrong = provider.Upload(task_id="lineage_wrong", source=str(source), audience="zzzz")
    with pytest.raises(provider.FailedForGood):
        run_task(wrong)
    assert not wrong.get_openlineage_facets_on_complete(None).outputs


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("/srv/list.csv", ("file", "/srv/list.csv")),
        ("s3://bucket/day/list.csv", ("s3://bucket", "day/list.csv")),
        ("https://ann:pass@files.example/list.csv?signature=x", ("https://files.example", "list.csv")),
    ],
)
def test_a_source_is_named_without_secrets(place: str, expected: tuple[str, str]) -> None:
    """By its scheme and place."""
    from audiencekit.integrations.airflow.lineage import data_set_of

    assert data_set_of(place) == expected
