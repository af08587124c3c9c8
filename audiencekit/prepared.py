"""The prepared directory: what `upload` would send, on disk.

records.parquet         RECORD_SCHEMA, one line a record that would be sent, in row order. Hashes are personal data.
manifest.json           what the records came from, the plan and its times, each request's sizes
rejections.csv          row, column, reason
requests/000001.json    with `requests`: each body, byte for byte
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import orjson
import pyarrow.parquet as pq

from audiencekit import __version__
from audiencekit.delivery.spool import Spool
from audiencekit.errors import InputOutputFailed, UsageError
from audiencekit.options import Options
from audiencekit.personal import guarded
from audiencekit.planning import PlannedRun, plan_run, seal, unsealed
from audiencekit.preparation.packing import PackedRequest, pack_requests
from audiencekit.preparation.records import RECORD_SCHEMA
from audiencekit.profile import Profile
from audiencekit.reporting.plan import Plan
from audiencekit.reporting.progress import Progress

FORMAT: Final = "audiencekit-prepared/1"
RECORDS, MANIFEST, REJECTIONS, REQUESTS = "records.parquet", "manifest.json", "rejections.csv", "requests"


def write_prepared(
    source: str | os.PathLike[str],
    options: Options,
    out: Path,
    *,
    requests: bool,
    profile: Profile,
    now: datetime,
    progress: Progress,
) -> Plan:
    """Plan the run and write its directory; a refused plan leaves `rejections.csv` only.

    Raises UsageError when `out` holds files that are not of an earlier `prepare`, InputOutputFailed when it cannot be
    written.
    """
    with ExitStack() as stack:
        _clear(out)
        records = stack.enter_context(Spool(out))
        planned = plan_run(
            source,
            options,
            profile=profile,
            now=now,
            progress=progress,
            stack=stack,
            spool_dir=out,
            rejections=out / REJECTIONS,
            on_records=lambda batch: seal(batch, records),
        )
        plan = planned.to_plan()
        if planned.refusals:
            return plan
        _write_whole(out / RECORDS, lambda path: _write_records(path, planned, records))
        if requests:
            _write_requests(out / REQUESTS, planned, progress)
        manifest = _manifest(planned, plan)
        _write_whole(
            out / MANIFEST,
            lambda path: _write_private(path, orjson.dumps(manifest, option=orjson.OPT_INDENT_2)),
        )
        return plan


def _clear(out: Path) -> None:
    """An empty directory for us alone; files of an earlier `prepare` are replaced, others never."""
    with _explained(out):
        out.mkdir(parents=True, exist_ok=True, mode=0o700)
        ours = {RECORDS, MANIFEST, REJECTIONS, REQUESTS}
        if alien := {entry.name for entry in out.iterdir()} - ours:
            hint = "choose an empty directory, or one that `prepare` wrote"
            raise UsageError(f"{str(out)!r} holds {len(alien)} files of something else", hint=hint)
        shutil.rmtree(out / REQUESTS, ignore_errors=True)
        for name in ours - {REQUESTS}:
            (out / name).unlink(missing_ok=True)


@guarded
def _write_records(path: Path, planned: PlannedRun, records: Spool) -> None:
    schema = RECORD_SCHEMA.with_metadata({"format": FORMAT})
    with (
        open(path, "wb", opener=_open_private) as file,
        pq.ParquetWriter(file, schema, compression="zstd") as writer,
    ):
        for batch in unsealed(records, planned.selection.kept):
            if rows := batch.unwrap().num_rows:
                writer.write_batch(batch.unwrap(), row_group_size=rows)


def _write_requests(directory: Path, planned: PlannedRun, progress: Progress) -> None:
    with _explained(directory):
        directory.mkdir(mode=0o700)
    for request in pack_requests(planned.requests, planned.users_of, planned.times):
        _write_whole(directory / f"{request.number:06}.json", _body_writer(request))
        progress.step("writing", request.number, len(planned.requests), unit="requests")


def _body_writer(request: PackedRequest) -> Callable[[Path], None]:
    return lambda path: _write_private(path, request.body.unwrap())


def _manifest(planned: PlannedRun, plan: Plan) -> dict[str, Any]:
    listed = [
        {
            "number": request.number,
            "wave": request.wave,
            "records": request.records,
            "operations": request.operations,
            "bytes": request.body_bytes,
        }
        for request in planned.requests
    ]
    return {"format": FORMAT, "audiencekit": __version__, **plan.to_json(), "requests": listed}


def _write_private(path: Path, content: bytes) -> None:
    with open(path, "wb", opener=_open_private) as file:
        file.write(content)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)


def _write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """The file appears under its name when it is whole."""
    aside = path.with_name(f".{path.name}.partial")
    with _explained(path):
        aside.unlink(missing_ok=True)
        try:
            write(aside)
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    failed: InputOutputFailed
    try:
        yield
        return
    except OSError as error:
        failed = InputOutputFailed(f"{str(path)!r} cannot be written: {error.strerror}")
    raise failed
