"""Batches in the spool, by their records or by their tags."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audiencekit.destinations.requests.operations import OperationsForm
from audiencekit.destinations.requests.packing import pack_requests
from audiencekit.errors import Bug, ResumeRefused
from audiencekit.identifiers.kinds import Kind
from audiencekit.personal import HashedRecords
from audiencekit.planning.options import read_keywords
from audiencekit.planning.plan import PlannedRun, to_plan
from audiencekit.planning.plan_inputs import PlanResources, PlanTerms
from audiencekit.planning.planner import plan_kept, plan_run
from audiencekit.planning.reading import BatchSpool, ReadSource, SpoolReader, WholeBatches, read_batches
from audiencekit.profile import SPEC, find_profile
from audiencekit.records.batches import ROW
from audiencekit.records.chunks import RecordChunk, to_chunk
from audiencekit.records.plan_times import pin_times
from audiencekit.records.tally import ColumnTally
from audiencekit.runs.first_pass import facts_for_journal
from audiencekit.selection.key_sets import KeySets
from audiencekit.selection.tags import TaggedRows, Tagger, slots_of
from audiencekit.sources.csv import csv_file as delimited
from audiencekit.sources.source import open_source
from audiencekit.state.keys import SubKey
from audiencekit.state.spool import KeptSpool, Spool
from tests.examples import examples
from tests.records.conftest import hashed_records

# --- Batches in the spool, by their records or by their tags ---

__all__ = ["hashed_records"]


@pytest.mark.parametrize("keeps_records", [True, False])
def test_the_same_is_seen_in_records_and_in_tags(
    tmp_path: Path, hashed_records: Callable[..., HashedRecords], keeps_records: bool
) -> None:
    """Of tags there is no way back to the records, and no hash is in the file."""
    records = hashed_records(*(("Update", {Kind.EMAIL: [text], Kind.PHONE_NUMBER: ["p"]}) for text in "abc"))
    tagger = Tagger()
    tagged = TaggedRows(records.unwrap().column(ROW).to_numpy(), tagger.tag(records.unwrap()))
    with Spool(tmp_path) as file, Spool(tmp_path) as aside:
        spool = BatchSpool(file, aside, keeps_records=keeps_records)
        spool.seal(0, to_chunk(records), tagged)
        found, _ = spool.look(0, slots_of(tagged.keys.tags), np.array([1, 4]), tagger)
        assert (found["record"].tolist(), found["row"].tolist()) == ([1, 1], [tagged.rows[1]] * 2)
        assert found["low"].tolist() == tagged.keys.tags["low"][[1, 4]].tolist()
        first_hash = records.unwrap().column("email").values[0].as_py()
        assert (first_hash in bytes(file.read(0))) == keeps_records
        if keeps_records:
            assert spool.unseal(0).unwrap().equals(records.unwrap())
        else:
            with pytest.raises(Bug, match="batch 0 were not kept"):
                spool.unseal(0)


def test_nothing_is_written_where_nothing_is_asked(
    tmp_path: Path, hashed_records: Callable[..., HashedRecords]
) -> None:
    """Neither records nor tags: `check --shared-values keep`."""
    with Spool(tmp_path) as file:
        BatchSpool(file, file, keeps_records=False).seal(0, to_chunk(hashed_records(("Update", {Kind.EMAIL: ["a"]}))))
        assert len(file) == 0


def test_values_are_left_out_from_then_on(tmp_path: Path, hashed_records: Callable[..., HashedRecords]) -> None:
    """Of the batch in which they stand, and of no other."""
    records = hashed_records(("Update", {Kind.EMAIL: ["a"], Kind.HANDLE: ["b"]}))
    with Spool(tmp_path) as file, Spool(tmp_path) as aside:
        spool = BatchSpool(file, aside)
        for number in range(2):
            spool.seal(number, to_chunk(records))
        spool.leave_out(1, np.array([0]))
        assert spool.unseal(0).unwrap().equals(records.unwrap())
        left = spool.unseal(1).unwrap()
        assert (left.column("email").null_count, left.column("handle").null_count) == (1, 0)


def test_requests_share_a_batch_that_is_unsealed_once(
    tmp_path: Path, hashed_records: Callable[..., HashedRecords]
) -> None:
    """All of it comes back, and the places as they were asked for."""
    with Spool(tmp_path) as file, Spool(tmp_path) as aside:
        spool = BatchSpool(file, aside)
        spool.seal(0, to_chunk(hashed_records(*(("Update", {Kind.EMAIL: [text]}) for text in "ab"))))
        batches = WholeBatches(spool, 1)
        (first, places), (second, _) = batches.find(0, np.array([1])), batches.find(0, np.array([0]))
        assert first is second
        assert (first.unwrap().num_rows, places.tolist()) == (2, [1])


# --- A kept spool gives the plan that the source gave, and holds nothing that could be read without its key ---

KEY = SubKey(bytes(range(32)))
PROFILE = find_profile("spec")
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["ada@example.com", "bo@example.com", "cem@example.com", "not an address", "", "null"]),
        st.sampled_from(["+12015550123", "020 7946 0001", "12", ""]),
        st.sampled_from(["update", "delete", "update"]),
    ),
    min_size=1,
    max_size=25,
)


def _bodies(planned: PlannedRun) -> list[bytes]:
    packed = pack_requests(planned.requests, planned.users_of, planned.form)
    return [request.body.unwrap() for request in packed]


def _both(directory: Path, text: str, **keywords: Any) -> list[tuple[Any, ...]]:
    """The facts to compare: of the plan that was made from the source, and of that from its kept spool."""
    (directory / "list.csv").write_text(text)
    terms = PlanTerms.pinned(read_keywords(keywords, PROFILE), PROFILE, now=NOW)  # type: ignore[arg-type]
    found = []
    for way in ("source", "spool"):
        records: list[bytes] = []
        with ExitStack() as stack:
            resources = PlanResources(
                stack=stack, spool_dir=directory, rejections=directory / f"{way}.csv",
                on_records=lambda chunk, _, records=records: records.append(chunk.unwrap()),  # type: ignore[misc]
            )  # fmt: skip
            if way == "source":
                kept_spool = stack.enter_context(KeptSpool.create(directory / "spool.sealed", KEY))
                planned = plan_run(directory / "list.csv", terms, replace(resources, kept_spool=kept_spool))
                (directory / "list.csv").unlink()
            else:
                kept = stack.enter_context(KeptSpool.open(directory / "spool.sealed", KEY))
                planned = plan_kept(kept, terms, resources)
            facts = facts_for_journal(planned, ("fingerprint", ""))
            tally = planned.tally
            rejections = (directory / f"{way}.csv").read_text()
            found.append((facts, to_plan(planned), tally, records, rejections, _bodies(planned), planned.source))
    return found


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS)
def test_the_plan_is_the_same(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]]) -> None:
    """Facts, counts, rejections, records and every body, byte for byte, of rows good and bad, of both verbs."""
    lines = ["email,phone,what", *(",".join(row) for row in rows)]
    directory = tmp_path_factory.mktemp("kept")
    first, second = _both(
        directory, "\n".join(lines) + "\n", columns={"email": "email", "phone_number": "phone"}, country="GB",
        operation_column="what", max_rejected_share=1.0,
    )  # fmt: skip
    for one, other in zip(first, second, strict=True):
        assert str(one) == str(other) if hasattr(one, "refusals") else one == other


def test_many_batches_keep_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source of several batches, each read side by side with others."""
    monkeypatch.setattr("audiencekit.sources.csv.csv_file.BATCH_ROWS", 7)
    lines = ["email", *(f"person{number}@example.com" if number % 5 else "-" for number in range(60))]
    first, second = _both(tmp_path, "\n".join(lines) + "\n", max_rejected_share=1.0)
    assert len(first[3]) > 4
    assert first == second


def test_nothing_of_a_person_can_be_read_from_the_file(tmp_path: Path) -> None:
    """Neither the address nor its hash; what says so is that the plan does hold it."""
    _both(tmp_path, "email\nada@example.com\n")
    content = (tmp_path / "spool.sealed").read_bytes()
    for part in (b"ada", b"example", b"email", b"list.csv", b"tally"):
        assert part not in content


def test_facts_of_a_source_survive_json(tmp_path: Path) -> None:
    """Columns with kinds, files, notes."""
    first, _ = _both(tmp_path, "email,phone\nada@example.com,+12015550123\n")
    source: ReadSource = first[-1]
    assert ReadSource.from_json(json.loads(json.dumps(source.to_json()))) == source
    assert ReadSource.from_json(json.loads(json.dumps(replace(source, repeatable=False).to_json()))) != source


def test_standard_input_is_kept_like_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is not asked again."""
    text = io.TextIOWrapper(io.BytesIO(b"email\nada@example.com\n"))
    monkeypatch.setattr("sys.stdin", text)
    terms = PlanTerms.pinned(read_keywords({}, PROFILE), PROFILE, now=NOW)
    with ExitStack() as stack, KeptSpool.create(tmp_path / "spool", KEY) as kept_spool:
        planned = plan_run("-", terms, PlanResources(stack=stack, spool_dir=tmp_path, kept_spool=kept_spool))
        assert not planned.source.repeatable
        bodies = _bodies(planned)
    monkeypatch.setattr("sys.stdin", None)
    with ExitStack() as stack, KeptSpool.open(tmp_path / "spool", KEY) as kept:
        assert _bodies(plan_kept(kept, terms, PlanResources(stack=stack, spool_dir=tmp_path))) == bodies


def test_every_count_of_a_column_comes_back() -> None:
    """A field that is added to a tally must be one that JSON can hold, or this reading has to learn it."""
    assert {field.name for field in ColumnTally.__dataclass_fields__.values()} == {
        "present", "valid", "reasons", "likely", "by_definition", "other_hashes", "rounded", "bare_numbers",
        "tried_elsewhere", "valid_elsewhere", "unknown_countries",
        "payment_numbers", "personal_shapes", "trials",  # the last is None of every run: only a check examines values
    }  # fmt: skip


@pytest.mark.parametrize("last", [b"no JSON", b"[]", b'{"mapping": {"columns": []}}', b'{"mapping": {"columns": [1]}}'])
def test_a_spool_of_another_version_is_refused(tmp_path: Path, last: bytes) -> None:
    """Whatever it wrote at the end of its spool."""
    with KeptSpool.create(tmp_path / "spool", KEY) as spool:
        spool.append(last)
        spool.finish()
    with (
        KeptSpool.open(tmp_path / "spool", KEY) as kept,
        pytest.raises(ResumeRefused, match="another version") as caught,
    ):
        SpoolReader(kept)
    assert caught.value.reason == "spool"


def test_numbers_that_would_leave_unhashed_are_judged_again(tmp_path: Path) -> None:
    """A reason that refuses the source refuses its kept spool."""
    text = "partner_user_id\n" + "".join(f"0151{10_000_000 + number}\n" for number in range(30))
    for way in ("source", "spool"):
        with ExitStack() as stack:
            terms = PlanTerms.pinned(read_keywords({}, PROFILE), PROFILE, now=NOW)
            resources = PlanResources(stack=stack, spool_dir=tmp_path)
            if way == "source":
                (tmp_path / "list.csv").write_text(text)
                kept_spool = stack.enter_context(KeptSpool.create(tmp_path / "spool.sealed", KEY))
                planned = plan_run(tmp_path / "list.csv", terms, replace(resources, kept_spool=kept_spool))
            else:
                planned = plan_kept(
                    stack.enter_context(KeptSpool.open(tmp_path / "spool.sealed", KEY)), terms, resources
                )
            (refusal,) = planned.refusals
            assert str(refusal).startswith("30 of the 30 long numbers in column partner_user_id")


def test_consent_is_kept_with_the_records(tmp_path: Path) -> None:
    """People who did not agree are left out of both plans alike."""
    lines = ["email,agreed", *(f"person{number}@example.com,{'yes' if number % 3 else 'no'}" for number in range(30))]
    first, second = _both(tmp_path, "\n".join(lines) + "\n", consent_column="agreed=yes")
    assert first == second
    assert first[1].rows.suppressed == 10


# --- Batches are prepared side by side and come out in order ---

FORM = OperationsForm(pin_times(datetime(2026, 11, 21, tzinfo=UTC)), SPEC)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_the_same_bytes_whatever_the_number_of_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    """Records and rejections are equal to those of one worker and one batch."""
    path = tmp_path / "list.csv"
    path.write_text(
        "email,phone\n" + "".join(f"p{n}@example.com,{'+4930' if n % 3 else 'x'}{n}\n" for n in range(4000))
    )
    options = read_keywords({}, SPEC)

    def read(number: int) -> tuple[list[object], list[object]]:
        source = open_source(path, options.source)
        with Spool(tmp_path) as aside, Spool(tmp_path) as spool:
            keysets = KeySets(aside, mixed=False)
            rejections = []
            batches = BatchSpool(spool, aside)
            for batch in read_batches(source, options, FORM, keysets, batches, workers=number):
                rejections += batch.rejections.to_pylist()
            records = [entry for at in range(len(spool)) for entry in batches.unseal(at).unwrap().to_pylist()]
        return records, rejections

    expected = read(1)
    monkeypatch.setattr(delimited, "PIECE_BYTES", 3_000)
    monkeypatch.setattr("audiencekit.sources.csv.csv_file.HEAD_BYTES", 1_000)
    assert read(workers) == expected
    assert len(expected[0]) == 4_000


def test_records_go_with_a_batch_only_where_they_are_wanted(tmp_path: Path) -> None:
    """They are what the spool has; for others the spool is enough."""
    path = tmp_path / "list.csv"
    path.write_text("email\n" + "".join(f"p{n}@example.com\n" for n in range(50)))
    options = read_keywords({}, SPEC)
    source = open_source(path, options.source)

    def chunks(*, with_chunks: bool) -> list[RecordChunk | None]:
        with Spool(tmp_path) as aside, Spool(tmp_path) as spool:
            keysets = KeySets(aside, mixed=False)
            read = read_batches(source, options, FORM, keysets, BatchSpool(spool, aside), with_chunks=with_chunks)
            found = [batch.chunk for batch in read]
            if with_chunks:
                assert [chunk and bytes(chunk.unwrap()) for chunk in found] == [*map(bytes, spool.chunks())]
        return found

    assert len(chunks(with_chunks=True)) == 1
    assert chunks(with_chunks=False) == [None]
