"""The prepared directory: records and bodies on disk, as `upload` would send them."""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from itertools import takewhile
from pathlib import Path
from threading import Event
from typing import Final

import orjson
import pyarrow.parquet as pq

from audiencekit.destinations.requests.packing import BodyBuffer, pack_request
from audiencekit.errors import InputOutputFailed, UsageError
from audiencekit.personal import guarded
from audiencekit.planning.plan import PlannedRun, to_manifest, to_plan
from audiencekit.planning.plan_inputs import PlanResources, PlanTerms
from audiencekit.planning.planner import plan_run
from audiencekit.process.memory import give_back, giving_back
from audiencekit.process.workers import one_ahead
from audiencekit.records.batches import OPERATION, ROW
from audiencekit.records.chunks import PREPARED_FORMAT, PREPARED_SCHEMA, to_prepared
from audiencekit.reporting.progress import Progress
from audiencekit.reporting.report import Plan
from audiencekit.sources.files import AnySource, FilePath, is_path, paths_among
from audiencekit.sources.manifest import NamedPart
from audiencekit.sources.part_files import MANIFEST_FILE
from audiencekit.state.directory import make_missing
from audiencekit.state.files import explained, make_room, open_new, write_file
from audiencekit.state.locks import locked

# --- The prepared directory: the records and bodies of an `upload`, on disk ---
#
# records.parquet PREPARED_SCHEMA, one line a record that would be sent, in row order. Hashes are personal data.
# manifest.json what the records came from, the plan and its times, each request's sizes rejections.csv row, column,
# reason requests/000001.json with `requests`: each body, byte for byte

RECORDS, REJECTIONS, REQUESTS = "records.parquet", "rejections.csv", "requests"
STAGING: Final = ".preparing-"
_UNWRITTEN: Final = "what is prepared cannot be written"
_OURS: Final = re.compile(r"records\.parquet|manifest\.json|rejections\.csv|requests/[0-9]{6}\.json")


def write_prepared(source: AnySource, terms: PlanTerms, out: Path, *, requests: bool, progress: Progress) -> Plan:
    """Plan the run and write its directory; of a refused plan only `rejections.csv` is written.

    Raises UsageError when `out` holds files that no earlier `prepare` wrote, InputOutputFailed when it cannot be
    written, or another `prepare` writes to it.
    """
    with ExitStack() as stack:
        staging = stack.enter_context(_staging(out, (*paths_among(source), *terms.options.suppress)))
        resources = PlanResources(stack=stack, progress=progress, spool_dir=staging, rejections=staging / REJECTIONS)
        planned = plan_run(source, terms, resources)
        give_back()
        plan = to_plan(planned)
        if not planned.refusals:
            _write_all(staging, planned, plan, requests=requests, progress=progress)
        _replace(out, staging)
        return plan


@contextmanager
def _staging(out: Path, sources: Sequence[FilePath]) -> Iterator[Path]:
    """Make a directory inside `out` to write to, so that the earlier files stay until the new ones are complete.

    Raises UsageError when `out` holds files that no `prepare` wrote, or the source; InputOutputFailed while another
    `prepare` writes to it.
    """
    with explained(_UNWRITTEN, out, hint=""):
        make_missing(out)
        if any(_lies_in(source, out) for source in sources if is_path(source)):
            raise UsageError("the source lies in the directory that is to be written", hint="choose another directory")
        if alien := [entry for entry in _entries(out) if not _OURS.fullmatch(entry)]:
            hint = "choose an empty directory, or one that `prepare` wrote"
            files = "a file" if len(alien) == 1 else f"{len(alien)} files"
            raise UsageError(f"{str(out)!r} holds {files} of something else", hint=hint)
    with _alone_in(out):
        with explained(_UNWRITTEN, out, hint=""):
            for entry in out.glob(f"{STAGING}*"):  # of a `prepare` that was killed
                shutil.rmtree(entry)
            staging = out / f"{STAGING}{secrets.token_hex(8)}"
            staging.mkdir(mode=0o700)
        try:
            yield staging
        finally:
            shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def _alone_in(out: Path) -> Iterator[None]:
    """Keep other `prepare` of this host out of `out` meanwhile. Raises InputOutputFailed while one writes to it."""
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(out, wait=False, is_directory=True))
        except BlockingIOError:
            hint = "wait until it has ended, or choose another directory"
            raise InputOutputFailed(f"another `prepare` is writing to {str(out)!r}", hint=hint) from None
        except OSError:
            pass  # some network file systems lock no directory: there, start one at a time
        yield


def _lies_in(source: FilePath, out: Path) -> bool:
    path = Path(source).resolve()
    return out.resolve() in (path, *path.parents)


def _entries(out: Path) -> Iterator[str]:
    """Return the names in `out` and in its requests directory, without those of a killed `prepare`."""
    for entry in out.iterdir():
        if entry.name == REQUESTS and entry.is_dir():
            yield from (f"{REQUESTS}/{child.name}" for child in entry.iterdir())
        elif not entry.name.startswith(STAGING):
            yield entry.name


def _replace(out: Path, staging: Path) -> None:
    """Move the files of `staging` over those of an earlier `prepare`: the manifest goes first and comes last."""
    with explained(_UNWRITTEN, out, hint=""):
        for name in (MANIFEST_FILE, RECORDS, REJECTIONS):
            (out / name).unlink(missing_ok=True)
        if (out / REQUESTS).is_dir():
            shutil.rmtree(out / REQUESTS)
        for name in (REJECTIONS, REQUESTS, RECORDS, MANIFEST_FILE):
            if (staging / name).exists():
                (staging / name).rename(out / name)


def _write_all(staging: Path, planned: PlannedRun, plan: Plan, *, requests: bool, progress: Progress) -> None:
    with explained(_UNWRITTEN, staging, hint=""):
        if requests:
            records = _write_side_by_side(staging, planned, progress)
        else:
            records = write_records(staging / RECORDS, planned, Event())
        manifest = orjson.dumps(to_manifest(planned, plan, records), option=orjson.OPT_INDENT_2)
        with open_new(staging / MANIFEST_FILE) as file:
            file.write(manifest)


def _write_side_by_side(staging: Path, planned: PlannedRun, progress: Progress) -> NamedPart:
    """Write the records in a thread, at the same time as the bodies: each takes about as long as the other.

    Returns their entry in the manifest.
    """
    halted = Event()
    with ThreadPoolExecutor(1, "audiencekit") as pool:
        records = pool.submit(write_records, staging / RECORDS, planned, halted)
        try:
            with closing(write_bodies(staging / REQUESTS, planned, progress)) as bodies:
                for _ in bodies:
                    if records.done():
                        records.result()  # when it failed, no other body is written
            return records.result()
        except BaseException:
            halted.set()
            raise


# --- requests/000001.json and so on: each body, byte for byte ---

_GIVE_BACK_EVERY: Final = 8  # bodies; twice as often would take twice as many faults, and save 10 MB

_COPY_SECONDS: Final = 0.01  # that a body takes into fresh pages of the cache


def write_bodies(directory: Path, planned: PlannedRun, progress: Progress) -> Generator[None, None, None]:
    """Make the directory, write the bodies, and yield after each.

    The disk writes one body past the cache while the next is packed. When it is busy, the next goes through the cache.
    Nothing is written any more when this is closed.
    """
    directory.mkdir(mode=0o700)
    largest = max((request.body_bytes for request in planned.requests), default=0)
    room, fetched = BodyBuffer(make_room(largest)), BodyBuffer(make_room(largest))
    fetching: Future[None] | None = None
    with ThreadPoolExecutor(1, "audiencekit") as pool:
        for request in giving_back(planned.requests, every=_GIVE_BACK_EVERY):
            body = pack_request(request, planned.users_of, planned.form, room).body
            path = directory / f"{request.number:06}.json"
            if fetching is None or _is_done(fetching):
                fetching = pool.submit(write_file, path, body.unwrap(), past_cache=True)
                room, fetched = fetched, room
            else:
                write_file(path, body.unwrap(), past_cache=False)
            progress.step("writing", request.number, len(planned.requests), unit="requests")
            yield
        if fetching is not None:
            fetching.result()


def _is_done(fetching: Future[None]) -> bool:
    """Whether the write is done by the time that another way would take. Raises OSError when it failed."""
    try:
        fetching.result(_COPY_SECONDS)
    except TimeoutError:
        return False
    return True


# --- records.parquet: each record to send, in row order, its hashes as text ---


@guarded
def write_records(path: Path, planned: PlannedRun, halted: Event) -> NamedPart:
    """Write all batches, or those until `halted` is set, and return their entry in the manifest.

    Raises InputOutputFailed.
    """
    schema = PREPARED_SCHEMA.with_metadata({"format": PREPARED_FORMAT})
    # No two hashes are alike: a dictionary of them, or their least and greatest, would only take room. With their
    # lengths apart (DELTA_LENGTH_BYTE_ARRAY) zstd would take half its time, but fastparquet does not read such files.
    worth = {"use_dictionary": [OPERATION], "write_statistics": [ROW]}
    with (
        explained("the records cannot be written", path, hint=""),
        open_new(path) as file,
        pq.ParquetWriter(file, schema, compression="zstd", **worth) as to,
    ):
        batches = takewhile(lambda _: not halted.is_set(), planned.layout.batches())
        prepared = one_ahead(lambda batch: to_prepared(*planned.chosen_records(batch)), batches)
        for records in giving_back(prepared, every=_GIVE_BACK_EVERY):
            if rows := records.unwrap().num_rows:
                to.write_batch(records.unwrap(), row_group_size=rows)
    with explained("the records cannot be read", path, hint=""), path.open("rb", buffering=0) as written:
        return NamedPart.of(path.name, written)
