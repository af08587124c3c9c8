"""Orders of faults, read strictly: from JSON, from a file, or from a rehearsal that comes with the package."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from audiencekit.emulator.faults.catalogue import CATALOGUE
from audiencekit.emulator.faults.fault import Fault, Place
from audiencekit.emulator.faults.kinds import Kind
from audiencekit.emulator.faults.settings import is_number, is_whole

_KNOWN: Final = ("fault", "where", "match", "nth", "p", "times", "seed")
_NAME: Final = re.compile(r"[a-z][a-z0-9-]*", re.ASCII)
_MOST: Final = 1_000_000_000
MAX_FAULTS: Final = 1_000  # orders at a time; each is looked at for each request


class FaultError(ValueError):
    """An order that cannot be carried out. The message says which, which member of it, and what is expected."""


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
    """The faults of a rehearsal with this name, else of a file. Raises FaultError, and OSError as the file gives it."""
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
