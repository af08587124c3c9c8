"""The notebook of the samples, in a real kernel."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.moments import PATIENCE_SECONDS

nbformat = pytest.importorskip("nbformat", reason="nbclient, which brings it, is not installed")
nbclient = pytest.importorskip("nbclient", reason="it runs notebooks, and is not installed")
pytest.importorskip("ipykernel", reason="it is the kernel, and is not installed")

pytestmark = pytest.mark.slow  # tests/reporting/test_notebook.py and tests/process/test_event_loop.py have the parts
ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ROOT / "samples"
PROBES = (
    "import inspect; print(inspect.signature(audiencekit.upload).parameters['ttl_days'])",
    "audiencekit.upload('contacts.csv', audience_id='x')",
    "await audiencekit.upload_async('contacts.csv', map={}, audience='x')",
)


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The cells after they were run, with three that ask for what a person would; the last two fail."""
    notebook = nbformat.read(SAMPLES / "first_upload.ipynb", as_version=4)
    for probe in PROBES:
        cell = nbformat.v4.new_code_cell(probe)
        cell.metadata["tags"] = ["raises-exception"]
        notebook.cells.append(cell)
    client = nbclient.NotebookClient(
        notebook,
        timeout=int(PATIENCE_SECONDS),
        startup_timeout=int(PATIENCE_SECONDS),
        resources={"metadata": {"path": str(SAMPLES)}},
    )
    state = tmp_path_factory.mktemp("state")
    kept = {name: text for name, text in os.environ.items() if not name.startswith("AUDIENCEKIT_")}
    env = {**kept, "AUDIENCEKIT_STATE_DIR": str(state), "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(state / "ipython")}
    client.execute(env=env)
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _data(cell: Any, kind: str) -> Iterator[str]:
    """Yield the outputs of a cell of one media type, in order."""
    for output in cell.outputs:
        if kind in output.get("data", {}):
            yield output["data"][kind]


def _printed(cell: Any) -> str:
    return "".join(output["text"] for output in cell.outputs if output["output_type"] == "stream")


def test_a_plan_shows_as_a_table_and_prints_as_the_command_line_does(cells: list[Any]) -> None:
    """Nothing of it is personal."""
    shown = list(_data(cells[0], "text/html"))
    assert "Plan: ready" in shown[-1]
    assert "verdict: ready" in _printed(cells[1])
    assert "@" not in "".join(shown) + _printed(cells[1])


def test_an_upload_works_in_the_loop_of_the_kernel_and_shows_its_progress(cells: list[Any]) -> None:
    """One bar a stage, in one place, then the report."""
    *bars, report = _data(cells[2], "text/html")
    assert "<progress" in bars[0]
    assert "reading" in bars[0]
    assert "sending" in bars[0], "the place is updated, from the thread that works"
    assert len(bars) == 1
    assert "complete" in report
    assert 'data-key="rows.sent">25</td>' in report


def test_a_date_is_taken(cells: list[Any]) -> None:
    """As Python has it."""
    assert _printed(cells[3]).startswith("<Plan: ready")


def test_a_signature_and_errors_speak_python(cells: list[Any]) -> None:
    """Of the function that was called and of that which is awaited."""
    assert _printed(cells[4]) == "ttl_days: 'int | None' = None\n"
    told = [cell.outputs[0]["evalue"] for cell in cells[5:]]
    assert told == [
        "there is no `audience_id`; it is `audience`, an id or a name",
        "there is no `map`; it is `columns`",
    ]
