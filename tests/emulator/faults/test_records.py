"""Requests that are refused because of their records, over the wire."""

from __future__ import annotations

from typing import Any

import pytest

A, B, C = "a1" * 32, "b2" * 32, "c3" * 32


def _body(*operations: list[str]) -> list[Any]:
    return [
        {"operation_type": "Update", "params": {"users": [{"email": [text]} for text in texts]}} for texts in operations
    ]


def _named(body: Any) -> list[int]:
    return [index for index, problems in enumerate(body["operation_errors"]) if problems]


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        (1, [1]),
        ([2, 0], [0, 2]),
        ("all", [0, 1, 2]),
        ({"prefix": "b2"}, [1]),
        ({"prefix": "c"}, [2]),
        ({"share": 1}, [0, 1, 2]),
    ],
)
async def test_bad_operations_are_named(bench: Any, bad: Any, named: list[int]) -> None:
    """A list of lists, empty for the good ones; the echo has one entry an operation; nothing is applied."""
    await bench.order(20, bad=bad)
    reply = await bench.upload(_body([A], [A, B], [C]))
    assert reply.status == 400
    assert len(reply.body["operation_errors"]) == len(reply.body["request"]) == 3
    assert _named(reply.body) == named
    assert await bench.log() == []


async def test_a_client_that_isolates_gets_through(bench: Any) -> None:
    """The rest without the bad record is taken; the record alone is refused for ever."""
    await bench.order(20, bad={"prefix": "b2"})
    assert (await bench.upload(_body([A, C]))).status == 200
    assert (await bench.upload(_body([B]))).status == 400
    assert (await bench.upload(_body([B]))).status == 400
    assert len(await bench.log()) == 1


async def test_a_share_of_records_is_bad_whatever_request_they_are_in(bench: Any) -> None:
    """The seed says which; each is bad by itself as in company."""
    hashes = [f"{number:064x}" for number in range(200)]
    await bench.order(20, bad={"share": 0.1}, seed=3)
    reply = await bench.upload(_body(*([text] for text in hashes)))
    named = _named(reply.body)
    assert 5 < len(named) < 40
    good = [text for index, text in enumerate(hashes) if index not in named]
    assert (await bench.upload(_body(*([text] for text in reversed(good))))).status == 200
    assert (await bench.upload(_body([hashes[named[0]]]))).status == 400


@pytest.mark.parametrize(
    ("bad", "shape", "expected"),
    [
        (1, "flat", [1]),
        ([0, 1], "flat", [0, 1]),
        ("out_of_range", "flat", [9]),
    ],
)
async def test_the_flat_shape_has_an_index_each(bench: Any, bad: Any, shape: str, expected: list[int]) -> None:
    """Also one that is out of range."""
    await bench.order(20, bad=bad, shape=shape)
    reply = await bench.upload(_body([A], [B]))
    assert [entry["index"] for entry in reply.body["operation_errors"]] == expected
    assert {entry["code"] for entry in reply.body["operation_errors"]} == {"INVALID_PARAMETER"}


async def test_a_nested_list_may_be_too_long(bench: Any) -> None:
    """Out of range in the nested shape: an entry for an operation that was not there."""
    await bench.order(20, bad="out_of_range")
    assert _named((await bench.upload(_body([A], [B]))).body) == [9]


async def test_errors_of_the_wrong_type_or_without_an_index(bench: Any) -> None:
    """An object in place of the list; or `errors` only."""
    await bench.order(20, bad="wrong_type", times=1)
    await bench.order(20, bad=0, shape="errors")
    assert isinstance((await bench.upload()).body["operation_errors"], dict)
    reply = await bench.upload()
    assert "operation_errors" not in reply.body
    assert reply.codes == ["INVALID_PARAMETER"]


async def test_a_duplicate_in_a_request_is_refused(bench: Any) -> None:
    """The second one is named; the same user in two requests is none."""
    await bench.order(21)
    assert (await bench.upload(_body([A, B]))).status == 200
    assert (await bench.upload(_body([A], [C]))).status == 200
    reply = await bench.upload(_body([A], [C], [B, A]))
    assert (reply.status, _named(reply.body)) == (400, [2])
    assert len(await bench.log()) == 3


async def test_a_limit_of_people(bench: Any) -> None:
    """However many operations they are spread over."""
    await bench.order(19, most_records=2)
    assert (await bench.upload(_body([A, B], [C]))).status == 400
    assert (await bench.upload(_body([A], [B]))).status == 200
    assert len(await bench.log()) == 2


@pytest.mark.parametrize("status", [400, 413])
async def test_a_body_over_a_limit_is_refused_whole(bench: Any, status: int) -> None:
    """`errors` only; half of it passes."""
    await bench.order(19, status=status, most_operations=2)
    reply = await bench.upload(_body([A], [B], [C]))
    assert (reply.status, reply.codes) == (status, ["REQUEST_TOO_COMPLEX"])
    assert (await bench.upload(_body([A], [B]))).status == 200
    assert len(await bench.log()) == 2


async def test_a_limit_of_bytes_or_none_at_all(bench: Any) -> None:
    """Over so many bytes; without a limit every request."""
    await bench.order(19, most_bytes=200)
    assert (await bench.upload(_body([A]))).status == 200
    assert (await bench.upload(_body([A, B, C]))).status == 400
    await bench.order(19)
    assert (await bench.upload(_body([A]))).status == 400
