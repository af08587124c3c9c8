"""The emulator reads no parameter that the client does not send: each reads the specification by itself."""

from __future__ import annotations

from typing import Any

import pytest

from audiencekit.api.catalogue import ENDPOINTS
from audiencekit.emulator.endpoints.activity import Query
from audiencekit.emulator.parameters import Parameters
from tests.emulator.endpoints.data_api_builder import ask
from tests.emulator.test_parameter_rules import ROWS, call, complete
from tests.emulator.world import open_world


class _Read(dict[str, str]):
    """Parameters that remember which of them were looked for."""

    def __init__(self, given: dict[str, str], names: set[str]) -> None:
        super().__init__(given)
        self.names = names

    def pop(self, name: str, *default: Any) -> Any:
        self.names.add(name)
        return super().pop(name, *default)

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return super().get(name, default)

    def __contains__(self, name: object) -> bool:
        self.names.add(str(name))
        return super().__contains__(name)


@pytest.fixture
def looked_for(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names that handlers look for, from now on."""
    names: set[str] = set()
    for reader in (Parameters, Query):
        original = reader.__init__

        def begin(self: Any, call: Any, original: Any = original) -> None:
            original(self, call)
            self._unread = _Read(self._unread, names)

        monkeypatch.setattr(reader, "__init__", begin)
    return names


async def test_the_client_sends_all_that_the_emulator_reads(looked_for: set[str]) -> None:
    """In the query of every endpoint that takes no body, called with what it needs."""
    beyond = set()
    async with open_world() as world:
        for row in sorted(ROWS, key=lambda row: (row.method == "DELETE", row.name == "delete_account")):
            looked_for.clear()
            await call(world, row, complete(world, row))
            assert looked_for >= {one.name for one in row.parameters if one.place == "query"}, row.name
            beyond |= {(row.name, name) for name in looked_for - set(row.parameter_names)}
    assert beyond == set()


async def test_the_data_api_takes_the_same_too(caller: Any, looked_for: set[str]) -> None:
    """With the application's token."""
    for row in ENDPOINTS:
        if row.auth == "bearer" and row.answer == "v2":
            looked_for.clear()
            body = b'{"add": [{"value": "spring"}]}' if row.body else None
            path = row.path.removeprefix("/2").format(webhook_id="12")
            needed = {one.name: "1" for one in row.parameters if (one.required, one.place) == (True, "query")}
            assert (await ask(caller, row.method, path, needed, data=body)).status < 300, row.name
            assert looked_for == {one.name for one in row.parameters if one.place == "query"}, row.name
