"""The door of the faults: `/__faults` sets, shows and clears them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from audiencekit.emulator.bodies import parse_json
from audiencekit.emulator.envelope import Answer, refuse
from audiencekit.emulator.faults.reading import FaultError, read_fault, read_faults, read_rehearsal
from audiencekit.emulator.faults.register import Register


class FaultDoor:
    """Answers `/__faults`. `prepare` opens the addresses that faults need, and says what they are."""

    def __init__(self, register: Register, prepare: Callable[[], Awaitable[dict[str, Any]]]) -> None:
        self._register, self._prepare = register, prepare

    async def open(self, method: str, body: bytes) -> Answer:
        """Return the faults and their counts, after what `method` does. Raises RefusalError: 400, or 405."""
        if method == "POST":
            self._set(body)
        elif method == "DELETE":
            self._register.clear()
        elif method != "GET":
            raise refuse(405, "METHOD_NOT_ALLOWED", "The method is not allowed for this door")
        return Answer(200, orjson.dumps({**self._register.document(), **await self._prepare()}))

    def _set(self, body: bytes) -> None:
        try:
            order = parse_json(body)
            if isinstance(order, list):
                self._register.replace(read_faults(order))
            elif isinstance(order, dict) and set(order) == {"rehearsal"}:
                self._register.replace(read_rehearsal(str(order["rehearsal"])))
            else:
                self._register.add([read_fault(order)])
        except FaultError as error:
            raise refuse(400, "INVALID_PARAMETER", str(error)) from None
        except ValueError:
            raise refuse(400, "INVALID_PARAMETER", "The body is not valid JSON, or repeats a key") from None
