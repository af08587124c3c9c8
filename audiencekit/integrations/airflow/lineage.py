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
from audiencekit.settings import Settings


def lineage_of(
    sources: Sequence[str], target: tuple[str, str] | None, report: Mapping[str, Any], failure: str | None = None
) -> Any:
    """Return the OperatorLineage of a task. `target` is the namespace and name of the audience or list.

    Counts below ten are left out, and the others rounded. With several sources the rows of each are not known.
    """
    from airflow.providers.openlineage.extractors import OperatorLineage
    from openlineage.client.event_v2 import InputDataset, OutputDataset
    from openlineage.client.facet_v2 import (
        error_message_run,
        input_statistics_input_dataset,
        output_statistics_output_dataset,
    )

    rows = FlooredCounts(report).rows or {}
    read, sent = rows.get("read") if len(sources) == 1 else None, rows.get("sent")
    counted_in = {} if read is None else {
        "inputStatistics": input_statistics_input_dataset.InputStatisticsInputDatasetFacet(rowCount=read)
    }  # fmt: skip
    counted_out = {} if sent is None else {
        "outputStatistics": output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(rowCount=sent)
    }  # fmt: skip
    facets = {} if failure is None else {
        "errorMessage": error_message_run.ErrorMessageRunFacet(message=failure, programmingLanguage="PYTHON")
    }  # fmt: skip
    named = [data_set_of(source) for source in sources]
    return OperatorLineage(
        inputs=[InputDataset(namespace=space, name=name, inputFacets=counted_in) for space, name in named],
        outputs=[] if target is None else [OutputDataset(*target, outputFacets=counted_out)],
        run_facets=facets,
    )


def data_set_of(source: str) -> tuple[str, str]:
    """Return the namespace and the name of a source: of a bucket its path, of a file its absolute path."""
    parts = urlsplit(source)
    if len(parts.scheme) > 1 and parts.netloc:  # one letter is a drive
        place = parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{place}", parts.path.lstrip("/") or "/"
    return "file", str(Path(parts.path if parts.scheme == "file" else source).absolute())


def target_of(settings: Settings, report: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the namespace and the name of the audience or list of a run; None for a report without one."""
    if not (target := report.get("target")):
        return None
    return settings.address, f"accounts/{settings.require_account()}/{target['kind']}/{target['id']}"
