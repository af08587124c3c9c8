"""Lineage of a run for OpenLineage: its sources, its audience, and how many rows. Loaded only where the provider
`openlineage` of Airflow asks for it.

Data sets are named as the naming rules of OpenLineage say: by scheme and place, without queries and credentials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from audiencekit.reporting.page.privacy import FlooredCounts


def lineage_of(sources: Sequence[str], account: tuple[str, str], report: Mapping[str, Any]) -> Any:
    """Return the OperatorLineage of a task, from the address of the service, the id of the account, and the report.

    Counts below ten are left out, and the others rounded. With several sources the rows of each are not known. The
    message of a failure is not here: Airflow's provider puts it into the event by itself.
    """
    from airflow.providers.openlineage.extractors import OperatorLineage
    from openlineage.client.event_v2 import InputDataset, OutputDataset
    from openlineage.client.facet_v2 import input_statistics_input_dataset, output_statistics_output_dataset

    rows = FlooredCounts(report).rows or {}
    read, sent = rows.get("read") if len(sources) == 1 else None, rows.get("sent")
    counted_in = {} if read is None else {
        "inputStatistics": input_statistics_input_dataset.InputStatisticsInputDatasetFacet(rowCount=read)
    }  # fmt: skip
    counted_out = {} if sent is None else {
        "outputStatistics": output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(rowCount=sent)
    }  # fmt: skip
    named, target = [data_set_of(source) for source in sources], _target_of(account[1], report)
    return OperatorLineage(
        inputs=[InputDataset(namespace=space, name=name, inputFacets=counted_in) for space, name in named],
        outputs=[] if target is None else [OutputDataset(account[0], target, outputFacets=counted_out)],
    )


def data_set_of(source: str) -> tuple[str, str]:
    """Return the namespace and the name of a source: of a bucket its path, of a file its absolute path."""
    parts = urlsplit(source)
    if len(parts.scheme) > 1 and parts.netloc:  # one letter is a drive
        place = parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{place}", parts.path.lstrip("/") or "/"
    return "file", str(Path(parts.path if parts.scheme == "file" else source).absolute())


def _target_of(account_id: str, report: Mapping[str, Any]) -> str | None:
    """Return the name of the audience or list of a run; None for a report without one."""
    target = report.get("target")
    return None if not target else f"accounts/{account_id}/{target['kind']}/{target['id']}"
