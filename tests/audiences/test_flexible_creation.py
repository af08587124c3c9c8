"""`audiencekit.audiences.flexible_creation`."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from audiencekit.api.answers import Answer
from audiencekit.api.client import AdsClient
from audiencekit.api.opening import open_client
from audiencekit.audiences.flexible import Comparator, Document, FlexibleAudience, Group, Leaf, Operator, read_document
from audiencekit.audiences.flexible_creation import Creation, create_audiences, to_operations
from audiencekit.emulator import Emulator, EmulatorOptions
from audiencekit.emulator.faults.orders import read_faults
from audiencekit.errors import (
    AudiencekitError,
    DefinitionRefused,
    ExchangeError,
    NotFinished,
    Outcome,
    RequestRefused,
    TemporarilyUnavailable,
    TransportFailed,
    Unauthorized,
)
from audiencekit.settings import Settings, load_settings
from tests.audiences.stepclock import StepClock

OURS = {"id": "abc1", "name": "Buyers", "deleted": False}
GONE = {"id": "abc2", "name": "Old", "deleted": True}
THEIRS = {"id": "abc3", "name": "Partners", "deleted": False}
LOST = TransportFailed("the answer was lost", sent=True)


class Service:
    """Knows three audiences; `failure` is raised in place of an answer, after `made` of the batch came to be.

    `away` are the numbers of the listings, counted from the batch on, that fail.
    """

    def __init__(self, failure: AudiencekitError | None = None, *, made: int = 99, away: Sequence[int] = ()) -> None:
        self.owned, self.shared = [OURS, GONE], [THEIRS]
        self.batches: list[Any] = []
        self.listings: list[dict[str, Any]] = []
        self._failure, self._made, self._away = failure, made, away
        self._listings_since = 0

    async def iterate_custom_audiences(
        self, *, q: str | None = None, permission_scope: str | None = None, count: int | None = None,
        custom_audience_ids: Sequence[str] = (), with_deleted: bool | None = None,
    ) -> AsyncIterator[Answer]:  # fmt: skip
        self.listings.append({"q": q, "scope": permission_scope, "ids": list(custom_audience_ids), "count": count})
        if self.batches:
            self._listings_since += 1
            if self._listings_since in self._away:
                raise TemporarilyUnavailable("away", status=503, outcome=Outcome.UNKNOWN)
        known = self.shared if permission_scope == "SHARED" else self.owned
        named = [one for one in known if q is None or one["name"].casefold().startswith(q.casefold())]
        found = [one for one in named if not custom_audience_ids or one["id"] in custom_audience_ids]
        for one in found:  # a page each
            yield Answer(status=200, data=[one] if with_deleted or not one["deleted"] else [])

    async def create_flexible_audiences(self, operations: Sequence[Mapping[str, Any]]) -> Answer:
        self.batches.append(operations)
        made = [
            {"id": f"new{number}", "name": operation["params"]["name"], "deleted": False}
            for number, operation in enumerate(operations)
        ]
        self.owned += made[: self._made]
        if self._failure is not None:
            raise self._failure
        return Answer(status=201, data=made)


def _document(tmp_path: Path, *names: str, audience: str = "abc1") -> Document:
    content = {"audiences": [{"name": name, "segments": {"audience": audience, "lookback": 7}} for name in names]}
    return _read(tmp_path, content)


def _read(tmp_path: Path, content: Any) -> Document:
    path = tmp_path / "audiences.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return read_document(path)


async def _refused(document: Document, service: Service | AdsClient) -> dict[str, str]:
    with pytest.raises(DefinitionRefused) as caught:
        await create_audiences(document, service, clock=StepClock())
    assert "nothing was created" in caught.value.hint
    return dict(caught.value.problems)


async def test_a_batch_is_created_in_the_order_of_the_file(tmp_path: Path) -> None:
    """One call, with name, id and place of each."""
    service, clock = Service(), StepClock()
    created = await create_audiences(_document(tmp_path, "one", "two"), service, clock=clock)
    assert created == (
        Creation(path="audiences[0]", name="one", id="new0", state="created"),
        Creation(path="audiences[1]", name="two", id="new1", state="created"),
    )
    assert created[1].to_json() == {"path": "audiences[1]", "name": "two", "id": "new1", "state": "created"}
    assert [len(batch) for batch in service.batches] == [2]
    assert clock.slept == []


async def test_every_leaf_is_looked_up_at_once_and_told_at_its_places(tmp_path: Path) -> None:
    """Deleted, another account's, not there: all of them, wherever they stand; nothing is sent."""
    leaves = [{"audience": each, "lookback": 1} for each in ("Buyers", "abc2", "abc3", "abc4", "Old", "None of ours")]
    content = {"audiences": [{"name": "one", "segments": {"or": [*leaves[:4], {"not": leaves[4]}, leaves[5]]}}]}
    service = Service()
    problems = await _refused(_read(tmp_path, content), service)
    assert problems == {
        "audiences[0].segments.or[1].audience": "audience abc2 is deleted",
        "audiences[0].segments.or[2].audience": "audience abc3 belongs to another account; only our own can be used",
        "audiences[0].segments.or[3].audience": "there is no audience abc4 in the account",
        "audiences[0].segments.or[4].not.audience": "audience of this name is deleted",
        "audiences[0].segments.or[5].audience": "no audience has this name",
    }
    assert service.batches == []
    assert [(each["scope"], each["ids"]) for each in service.listings[3:5]] == [
        ("OWNER", ["abc1", "abc2", "abc3", "abc4"]),
        ("SHARED", ["abc3", "abc4"]),
    ]


async def test_a_name_that_is_taken_is_told_at_its_place(tmp_path: Path) -> None:
    """By an audience that lives, or did; one that only begins like it takes nothing."""
    service = Service()
    problems = await _refused(_document(tmp_path, "Buy", "Buyers", "Old"), service)
    assert problems == {
        "audiences[1].name": "audience abc1 of this name is there",
        "audiences[2].name": "audience abc2 of this name was deleted, and a name is not given twice",
    }
    assert service.batches == []


async def test_a_name_longer_than_a_query_is_looked_up_by_its_beginning(tmp_path: Path) -> None:
    """And compared whole."""
    service = Service()
    service.owned.append({"id": "long", "name": "n" * 300, "deleted": False})
    assert list(await _refused(_document(tmp_path, "n" * 299, "n" * 300), service)) == ["audiences[1].name"]
    assert max(len(each["q"] or "") for each in service.listings) == 255


async def test_a_refusal_is_told_at_its_place_in_the_file(tmp_path: Path) -> None:
    """With the codes of the service; an index that is none belongs to the list."""
    errors: dict[int, tuple[str, ...]] = {1: ("INVALID_PARAMETER", "NOT_FOUND"), 0: (), 7: ("SOME_CODE",)}
    service = Service(RequestRefused("no", status=400, operation_errors=errors), made=0)
    assert await _refused(_document(tmp_path, "one", "two"), service) == {
        "audiences[0]": "the service refuses it: it does not say why",
        "audiences[1]": "the service refuses it: INVALID_PARAMETER, NOT_FOUND",
        "audiences": "the service refuses it: SOME_CODE",
    }


@pytest.mark.parametrize(
    "error",
    [
        RequestRefused("no", status=400),
        Unauthorized("no", status=403, operation_errors={0: ("X",)}),
        TransportFailed("away", sent=False),
    ],
)
async def test_a_batch_refused_whole_is_raised_as_it_is(tmp_path: Path, error: ExchangeError) -> None:
    """Nothing is looked up again: nothing can have been created."""
    service, clock = Service(error, made=0), StepClock()
    with pytest.raises(type(error)) as caught:
        await create_audiences(_document(tmp_path, "one"), service, clock=clock)
    assert caught.value is error
    assert (len(service.batches), len(service.listings), clock.slept) == (1, 2, [])


@pytest.mark.parametrize("away", [[], [1], [1, 2, 3]])
async def test_audiences_whose_answer_was_lost_are_found_by_their_names(tmp_path: Path, away: list[int]) -> None:
    """Also when the service is away for a while; the batch is sent once."""
    service, clock = Service(LOST, away=away), StepClock()
    found = await create_audiences(_document(tmp_path, "one", "two"), service, clock=clock)
    assert [(each.id, each.state) for each in found] == [("new0", "found"), ("new1", "found")]
    assert len(service.batches) == 1
    assert clock.slept == [5.0] * len(away)


@pytest.mark.parametrize("data", [[], [{"id": "new0", "name": "one"}], [{"name": "one"}, {"name": "two"}]])
async def test_an_answer_that_does_not_name_the_batch_is_none(tmp_path: Path, data: Any) -> None:
    """The names are looked up instead."""
    service = Service()

    async def answer(operations: Sequence[Mapping[str, Any]]) -> Answer:
        await Service.create_flexible_audiences(service, operations)
        return Answer(status=200, data=data)

    service.create_flexible_audiences = answer  # type: ignore[method-assign]
    found = await create_audiences(_document(tmp_path, "one", "two"), service, clock=StepClock())
    assert [each.state for each in found] == ["found", "found"]


@pytest.mark.parametrize(
    ("made", "away", "states"),
    [
        (0, [], ["missing", "missing"]),
        (1, [], ["found", "missing"]),
        (2, [1, 2, 3, 4], ["unknown", "unknown"]),
        (0, [7], ["missing", "missing"]),  # the last look fails; what the third one saw is told
    ],
)
async def test_a_creation_with_unknown_outcomes_is_not_finished(
    tmp_path: Path, made: int, away: list[int], states: list[str]
) -> None:
    """After a few looks, with what is known of each; the batch is never sent again."""
    service, clock = Service(LOST, made=made, away=away), StepClock()
    with pytest.raises(NotFinished) as caught:
        await create_audiences(_document(tmp_path, "one", "two"), service, clock=clock)
    assert caught.value.document is not None
    assert caught.value.document["state"] == "incomplete"
    assert [each["state"] for each in caught.value.document["audiences"]] == states
    assert f"audiences[1] is {states[1]}" in str(caught.value)
    assert "looks the names up first" in caught.value.hint
    assert (len(service.batches), clock.slept) == (1, [5.0, 5.0, 5.0])


async def test_an_audience_deleted_at_once_is_not_found(tmp_path: Path) -> None:
    """Its name is there, and it is not."""
    service = Service(LOST, made=0)
    document = _document(tmp_path, "one")
    batch = service.create_flexible_audiences

    async def create(operations: Sequence[Mapping[str, Any]]) -> Answer:
        service.owned.append({"id": "new0", "name": "one", "deleted": True})
        return await batch(operations)

    service.create_flexible_audiences = create  # type: ignore[method-assign]
    with pytest.raises(NotFinished, match=r"audiences\[0\] is missing"):
        await create_audiences(document, service, clock=StepClock())


async def test_a_success_that_reports_errors_says_where(tmp_path: Path) -> None:
    """The outcome is unknown, so the names are looked up, and the error codes are reported as well."""
    failure = RequestRefused("odd", status=200, operation_errors={1: ("SOME_CODE",)}, outcome=Outcome.UNKNOWN)
    with pytest.raises(NotFinished, match=r"audiences\[1\]: the service refuses it: SOME_CODE"):
        await create_audiences(_document(tmp_path, "one", "two"), Service(failure, made=0), clock=StepClock())


async def _names(client: AdsClient) -> list[str]:
    return [audience["name"] async for page in client.iterate_custom_audiences() for audience in page.data]


async def test_the_emulator_creates_them_once(tmp_path: Path, emulator: Emulator, settings: Settings) -> None:
    """A second time their names are taken, and a deleted leaf is seen."""
    async with open_client(settings) as client:
        leaf = (await client.create_custom_audience(name="Leaf")).data["id"]
        document = _document(tmp_path, "one", "two", audience="Leaf")
        created = await create_audiences(document, client, clock=StepClock())
        assert [each.state for each in created] == ["created", "created"]
        shown = (await client.get_custom_audience(str(created[1].id))).data
        assert (shown["name"], shown["audience_type"]) == ("two", "FLEXIBLE")
        assert list(await _refused(document, client)) == ["audiences[0].name", "audiences[1].name"]
        await client.delete_custom_audience(leaf)
        problems = await _refused(_document(tmp_path, "three", audience=leaf), client)
        assert problems == {"audiences[0].segments.audience": f"audience {leaf} is deleted"}
        assert await _refused(_document(tmp_path, "three", audience="zzz9"), client)
        assert "three" not in await _names(client)


async def test_an_audience_that_is_only_shared_is_no_leaf(tmp_path: Path, emulator: Emulator) -> None:
    """The emulator lists it for the account, and as another one's."""
    async with open_client(load_settings(emulator.env, directory=tmp_path)) as owner:
        other = (await owner.call("create_account")).data[0]["id"]
        await owner.grant_permission(emulator.audience_id, account_id=other, level="READ_WRITE")
    settings = load_settings({**emulator.env, "AUDIENCEKIT_ACCOUNT_ID": other}, directory=tmp_path)
    async with open_client(settings) as client:
        problems = await _refused(_document(tmp_path, "one", audience=emulator.audience_id), client)
        assert "belongs to another account" in problems["audiences[0].segments.audience"]


async def test_the_emulator_says_which_audience_it_refuses(
    tmp_path: Path, emulator: Emulator, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a name is taken between the look and the batch; none of them is created."""
    async with open_client(settings) as client:
        await client.create_custom_audience(name="two")

        async def no_audience(*_: Any) -> list[Any]:
            return []

        monkeypatch.setattr("audiencekit.audiences.flexible_creation._named", no_audience)
        problems = await _refused(_document(tmp_path, "one", "two", audience=emulator.audience_id), client)
        assert problems == {"audiences[1]": "the service refuses it: INVALID_PARAMETER"}
        assert "one" not in await _names(client)


@pytest.mark.parametrize(
    ("fault", "state"),
    [
        ({"fault": 36, "meanwhile": "reset"}, "found"),
        ({"fault": 36, "meanwhile": "status"}, "found"),
        ({"fault": 16, "kind": "html"}, "found"),
        ({"fault": 18, "kind": "operation_errors"}, "found"),
        ({"fault": 13, "where": "before_apply"}, "missing"),
        ({"fault": 3, "delay_seconds": 900, "meanwhile": "status"}, "missing"),
    ],
)
async def test_answers_that_the_emulator_loses(tmp_path: Path, fault: dict[str, Any], state: str) -> None:
    """The batch leaves once, and what it did is found by the names."""
    faults = tuple(read_faults([{**fault, "match": {"path": "*/batch/*", "method": "POST"}}]))
    async with Emulator(EmulatorOptions(faults=faults)) as emulator:
        settings = load_settings(emulator.env, directory=tmp_path, state_dir=tmp_path / "state")
        async with open_client(settings) as client:
            document = _document(tmp_path, "one", "two", audience=emulator.audience_id)
            if state == "found":
                known = [each.to_json() for each in await create_audiences(document, client, clock=StepClock())]
            else:
                with pytest.raises(NotFinished) as caught:
                    await create_audiences(document, client, clock=StepClock())
                assert caught.value.document is not None
                known = caught.value.document["audiences"]
            assert [each["state"] for each in known] == [state, state]
            assert (await _names(client)).count("one") == (state == "found")


async def test_the_service_counts_the_leaves_of_a_flexible_leaf(
    tmp_path: Path, emulator: Emulator, settings: Settings
) -> None:
    """Only it knows them: its refusal is told at the place of the audience, and in its own words."""
    async with open_client(settings) as client:
        ten = {"or": [{"audience": emulator.audience_id, "lookback": 7}] * 10}
        document = _read(tmp_path, {"audiences": [{"name": "inner", "segments": ten}]})
        (inner,) = await create_audiences(document, client, clock=StepClock())
        both = {"or": [{"audience": inner.id, "lookback": 7}, {"audience": emulator.audience_id, "lookback": 7}]}
        document = _read(tmp_path, {"audiences": [{"name": "outer", "segments": both}]})
        with pytest.raises(DefinitionRefused, match=r"audiences\[0\]: .*REQUEST_TOO_COMPLEX") as caught:
            await create_audiences(document, client, clock=StepClock())
        assert "the service says: A flexible audience has at most 10 leaves" in caught.value.hint
        assert "outer" not in await _names(client)


def test_every_disputed_default_is_written_out() -> None:
    """`negate`, `frequency` and the comparator stand in every segment, groups included."""
    root = Group(
        operator=Operator.AND,
        segments=(
            Leaf(audience="abc1", lookback_days=30),
            Group(
                operator=Operator.OR,
                segments=(
                    Leaf(audience="abc2", lookback_days=7, frequency=3, comparator=Comparator.LESS_THAN),
                    Leaf(audience="abc3", lookback_days=1, negated=True),
                ),
                negated=True,
            ),
        ),
    )
    (operation,) = to_operations([FlexibleAudience(name="two of three", root=root)])
    assert operation["operation_type"] == "Create"
    assert operation["params"]["name"] == "two of three"
    assert operation["params"]["audience_type"] == "FLEXIBLE"
    assert operation["params"]["segments"] == {
        "boolean_operator": "AND",
        "frequency": 1,
        "frequency_comparator": "NUM_GTE",
        "negate": False,
        "child_segments": [
            {
                "custom_audience_id": "abc1",
                "lookback_window": 30,
                "frequency": 1,
                "frequency_comparator": "NUM_GTE",
                "negate": False,
                "child_segments": [],
            },
            {
                "boolean_operator": "OR",
                "frequency": 1,
                "frequency_comparator": "NUM_GTE",
                "negate": True,
                "child_segments": [
                    {
                        "custom_audience_id": "abc2",
                        "lookback_window": 7,
                        "frequency": 3,
                        "frequency_comparator": "NUM_LT",
                        "negate": False,
                        "child_segments": [],
                    },
                    {
                        "custom_audience_id": "abc3",
                        "lookback_window": 1,
                        "frequency": 1,
                        "frequency_comparator": "NUM_GTE",
                        "negate": True,
                        "child_segments": [],
                    },
                ],
            },
        ],
    }
