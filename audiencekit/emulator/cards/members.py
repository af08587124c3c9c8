"""Members of JSON objects, read one at a time."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from audiencekit.emulator.calls import Call
from audiencekit.emulator.envelope import RefusalError


class Members:
    """The members of one object of a body; `place` says which. Every fault raises RefusalError (400)."""

    def __init__(self, call: Call, given: object, place: str) -> None:
        self.call, self._place = call, place
        if not isinstance(given, dict):
            raise self.fault(place, f"Expected object for {place}")
        self._unread: dict[str, Any] = dict(given)

    def fault(self, name: str, message: str, code: str = "INVALID_PARAMETER") -> RefusalError:
        """Return the refusal of one member."""
        return self.call.refuse(400, code, message, name)

    def has(self, name: str) -> bool:
        """Return whether there is a member that was not read yet."""
        return name in self._unread

    def take(self, name: str) -> Any:
        """Return a member that must be there, whatever it is."""
        if name not in self._unread:
            raise self.fault(name, f'"{name}" is a required parameter', "MISSING_PARAMETER")
        return self._unread.pop(name)

    def text(self, name: str, *, longest: int | None = None) -> str:
        """Return a text of 1 to `longest` characters."""
        given = self.take(name)
        if not isinstance(given, str) or not given or (longest is not None and len(given) > longest):
            raise self.fault(name, f"Expected string{f' of 1 to {longest} characters' if longest else ''} for {name}")
        return given

    def choice(self, name: str, choices: Collection[str]) -> str:
        """Return one of several words."""
        given = self.take(name)
        if not isinstance(given, str) or given not in choices:
            raise self.fault(name, f"Expected one of {', '.join(choices)} for {name}")
        return given

    def array(self, name: str, *, least: int = 1, most: int | None = None) -> list[Any]:
        """Return an array of `least` to `most` elements."""
        given = self.take(name)
        if not isinstance(given, list) or len(given) < least or (most is not None and len(given) > most):
            bounds = f"{least} to {most}" if most else f"at least {least}"
            raise self.fault(name, f"Expected array of {bounds} elements for {name}")
        return given

    def object(self, name: str) -> Members:
        """Return an object inside of this one."""
        return Members(self.call, self.take(name), name)

    def finish(self) -> None:
        """Refuse members that were not read; profile `x` passes them over: its clients send a card back as it came."""
        if self.call.options.profile == "x":
            return
        for name in self._unread:
            raise self.fault(self._place, f'"{name}" is not a member of {self._place}')
