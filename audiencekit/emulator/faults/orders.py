"""Orders for faults: read, stored, changed while the emulator runs."""

from __future__ import annotations

import json
import random
import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import orjson

from audiencekit.emulator.answers import Answer, refuse
from audiencekit.emulator.bodies import parse_json
from audiencekit.emulator.faults.catalogue import CATALOGUE, Kind, Site, site_of
from audiencekit.emulator.faults.effects import Effect, Fault, Injection, Place, Situation
from audiencekit.emulator.faults.settings import is_number, is_whole

# --- Orders of faults, read strictly: from JSON, from a file, or from a rehearsal of the package ---

_KNOWN: Final = ("fault", "where", "match", "nth", "p", "times", "seed")
_NAME: Final = re.compile(r"[a-z][a-z0-9-]*", re.ASCII)
_MOST: Final = 1_000_000_000
MAX_FAULTS: Final = 1_000  # orders at a time; each is looked at for each request


class FaultError(ValueError):
    """An invalid order. The message names the order and its member, and says what is expected."""


def read_faults(document: object) -> list[Fault]:
    """Return the faults of a JSON list. Raises FaultError."""
    if not isinstance(document, list) or len(document) > MAX_FAULTS:
        raise FaultError(f"expected a list of at most {MAX_FAULTS} faults")
    read = []
    for number, item in enumerate(document, 1):
        try:
            read.append(read_fault(item))
        except FaultError as error:
            raise FaultError(f"fault {number} of {len(document)}: {error}") from None
    return read


def read_fault(item: object) -> Fault:
    """Return one fault. Raises FaultError."""
    if not isinstance(item, dict):
        raise FaultError("expected an object")
    number = item.get("fault")
    if not isinstance(number, int) or isinstance(number, bool) or number not in CATALOGUE:
        raise FaultError('"fault": expected a number from 1 to 39')
    kind = CATALOGUE[number]
    if kind.outside is not None:
        raise FaultError(f'"fault": {number} ({kind.name}) is outside of what a server can do; {kind.outside}')
    _check_names(item, kind)
    place = _read_place(item, kind)
    method, path = _read_match(item, place)
    nth, share = _read_frequency(item)
    return Fault(
        number=number,
        place=place,
        method=method,
        path=path,
        nth=nth,
        share=share,
        times=_read_times(item, kind, share),
        seed=_read_whole(item, "seed", 0, 0, _MOST),
        settings={name: item.get(name, setting.default) for name, setting in kind.settings.items()},
    )


def _check_names(item: Mapping[str, Any], kind: Kind) -> None:
    known = (*_KNOWN, *kind.settings)
    if not item.keys() <= set(known):
        raise FaultError(f"there is a member that it does not have; {kind.name} has {', '.join(known)}")
    for name, setting in kind.settings.items():
        if name in item and not setting.accepts(item[name]):
            raise FaultError(f'"{name}": expected {setting.expected}')


def _read_place(item: Mapping[str, Any], kind: Kind) -> Place:
    given = item.get("where", kind.places[0])
    if given not in kind.places:
        raise FaultError(f'"where": expected {" or ".join(kind.places)}')
    return Place(given)


def _read_match(item: Mapping[str, Any], place: Place) -> tuple[str | None, str | None]:
    match = item.get("match", {})
    texts = isinstance(match, dict) and all(isinstance(text, str) and text for text in match.values())
    if not texts or not match.keys() <= {"method", "path"}:
        raise FaultError('"match": expected an object with "method" or "path", or both, each a text')
    if match and place is Place.CONNECT:
        raise FaultError('"match": nothing is known of a request when it connects')
    return match.get("method"), match.get("path")


def _read_frequency(item: Mapping[str, Any]) -> tuple[int | None, float | None]:
    if "p" not in item:
        return _read_whole(item, "nth", 1, 1, _MOST), None
    if "nth" in item:
        raise FaultError('"nth" and "p" exclude each other')
    if not is_number(item["p"], 0, 1):
        raise FaultError('"p": expected a number from 0 to 1')
    return None, float(item["p"])


def _read_times(item: Mapping[str, Any], kind: Kind, share: float | None) -> int | None:
    if "times" not in item:
        return kind.times if share is None else None
    if item["times"] is None:
        return None
    return _read_whole(item, "times", 1, 1, _MOST)


def _read_whole(item: Mapping[str, Any], name: str, default: int, least: int, most: int) -> int:
    given: int = item.get(name, default)
    if not is_whole(given, least, most):
        raise FaultError(f'"{name}": expected a whole number from {least} to {most}')
    return given


def load_faults(source: str) -> list[Fault]:
    """Return the faults of a rehearsal with this name, else of a file. Raises FaultError, and OSError of the file."""
    if source in rehearsals():
        return read_rehearsal(source)
    try:
        document = json.loads(Path(source).read_bytes())
    except json.JSONDecodeError as error:
        raise FaultError(f"not valid JSON: line {error.lineno}, column {error.colno}") from None
    except (ValueError, RecursionError):
        raise FaultError("not valid JSON in UTF-8") from None
    return read_faults(document)


def rehearsals() -> list[str]:
    """Return the names of the rehearsals."""
    names = [entry.name for entry in files(__package__).joinpath("rehearsals").iterdir()]
    return sorted(name.removesuffix(".json") for name in names if name.endswith(".json"))


def read_rehearsal(name: str) -> list[Fault]:
    """Return the faults of a rehearsal. Raises FaultError when there is none with this name."""
    if not _NAME.fullmatch(name) or name not in rehearsals():
        raise FaultError(f"there is no such rehearsal; there are {', '.join(rehearsals())}")
    text = files(__package__).joinpath("rehearsals", f"{name}.json").read_text(encoding="utf-8")
    return read_faults(json.loads(text))


# --- The endpoint `/__faults`, which sets, shows and clears faults ---


class FaultEndpoint:
    """Answers `/__faults`. `prepare` opens the addresses that faults need, and returns them."""

    def __init__(self, register: Register, prepare: Callable[[], Awaitable[dict[str, Any]]]) -> None:
        self._register, self._prepare = register, prepare

    async def open(self, method: str, body: bytes) -> Answer:
        """Return the faults and their counts, after `method` was carried out. Raises RefusalError: 400, or 405."""
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


# --- The present faults, how often each fitted and took effect, and the record of their effects ---

_MOST_FIRED: Final = 100_000  # the oldest are forgotten first


@dataclass(slots=True)
class Fired:
    """The record of a fault that took effect. `request` is its number in `/__requests`; None before there was one."""

    seq: int
    fault: int
    where: Place
    request: int | None
    applied: bool = False


class _Active:
    """One active fault and its counts."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.met = 0
        self.fired = 0
        self.chance = random.Random(fault.seed)

    def applies_to(self, situation: Situation) -> bool:
        """Whether the fault takes effect in a situation; counts the situations that fit."""
        fault, when = self.fault, CATALOGUE[self.fault.number].when
        if fault.place is not situation.place or not fault.concerns(situation.method, situation.path):
            return False
        if self._is_spent() or (when is not None and not when(fault, situation)):
            return False
        self.met += 1
        if fault.share is not None:
            return self.chance.random() < fault.share
        return fault.nth is not None and self.met >= fault.nth

    def _is_spent(self) -> bool:
        return self.fault.times is not None and self.fired >= self.fault.times

    def inject(self, situation: Situation) -> Effect:
        """Return the effect."""
        self.fired += 1
        return CATALOGUE[self.fault.number].inject(Injection(self.fault, situation, self.chance))


class Register:
    """Faults in the order in which they were set; if several fit, the first takes effect."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._active: list[_Active] = []
        self._fired: deque[Fired] = deque(maxlen=_MOST_FIRED)
        self._seq = 0
        self.add(faults)

    def __bool__(self) -> bool:
        return bool(self._active)

    def __iter__(self) -> Iterator[Fault]:
        return (active.fault for active in self._active)

    def add(self, faults: Iterable[Fault]) -> None:
        """Add faults."""
        self._active += map(_Active, faults)

    def replace(self, faults: Iterable[Fault]) -> None:
        """Replace all faults by these; the record of earlier ones stays."""
        self._active = list(map(_Active, faults))

    def clear(self) -> None:
        """Remove all faults, and their record."""
        self._active.clear()
        self._fired.clear()

    def needs(self, site: Site) -> bool:
        """Whether a fault is set for this address."""
        return any(site_of(fault) is site for fault in self)

    def meet(
        self, situation: Situation, request: int | None = None, site: Site = Site.PLAIN
    ) -> tuple[Effect, Fired] | None:
        """Return the effect of the fault that fits a situation, and its record; None without one."""
        here = [active for active in self._active if site_of(active.fault) is site]
        # Each fault counts what it could strike, also what another strikes before it.
        struck = [active for active in here if active.applies_to(situation)]
        if not struck:
            return None
        fault = struck[0].fault
        self._seq += 1
        fired = Fired(self._seq, fault.number, fault.place, request)
        self._fired.append(fired)
        return struck[0].inject(situation), fired

    def document(self) -> dict[str, Any]:
        """Return the faults with their counts, and the record of their effects, as JSON."""
        return {
            "faults": [
                {**active.fault.document(), "met": active.met, "fired": active.fired} for active in self._active
            ],
            "fired": [asdict(fired) for fired in self._fired],
        }
