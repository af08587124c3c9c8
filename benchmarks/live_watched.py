"""One command in this process, and the processor time that events, notifications and the audit log take of it.

    python -m benchmarks.live_watched COUNTS PLAIN upload contacts.csv …

COUNTS is the file to write: seconds by name, and the modules that were loaded. PLAIN is that of a command without
events and notifications, or -: its modules are loaded first, so that only those that come on top are counted.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

WHOLE: Final = "whole"
AUDIT: Final = "audit log"
EVENTS: Final = "events"
NOTIFICATIONS: Final = "notifications"
# The functions through which a command reaches them.
_DOORS: Final[dict[str, dict[str, tuple[str, tuple[str, ...]]]]] = {
    EVENTS: {"audiencekit.runs.events": ("RunEvents", ("begun", "read", "planned", "request", "wait", "ended"))},
    NOTIFICATIONS: {"audiencekit.cli.notifying": ("Notifying", ("of", "_tell"))},
    AUDIT: {"audiencekit.runs.audited": ("RunAudit", ("__init__", "know_by", "begin", "end"))},
}
_ABOVE_AUDIT: Final = ("runs", "audiences", "cli", "integrations", "pipeline", "audit", "__main__")


def main() -> None:
    """Run the command of the arguments, and write the counts."""
    counts, plain, *words = sys.argv[1:]
    spent: dict[str, float] = defaultdict(float)
    _load(json.loads(Path(plain).read_text())["modules"] if plain != "-" else [], spent)
    for name, places in _DOORS.items():
        for module, (owner, functions) in places.items():
            for function in functions:
                _count(getattr(import_module(module), owner), function, name, spent)
    _count_list_digests(spent)
    sys.argv = ["audiencekit", *words]
    from audiencekit.cli import main as command_line

    code: Any = 0
    try:
        command_line()
    except SystemExit as end:
        code = end.code
    spent[WHOLE] = time.process_time()
    document = {"code": code, "modules": [name for name in sys.modules if "." in name], "seconds": spent}
    Path(counts).write_text(json.dumps(document))


def _load(modules: list[str], spent: dict[str, float]) -> None:
    """Load the modules of a plain command: those of the audit log last, and counted."""
    above = tuple(f"audiencekit.{name}" for name in _ABOVE_AUDIT)
    for name in modules:
        if name.startswith("audiencekit.") and not name.startswith(above):
            import_module(name)
    started = time.thread_time()
    import_module("audiencekit.audit.log")
    spent[AUDIT] += time.thread_time() - started if modules else 0.0
    for name in modules:
        if name.startswith(above):
            import_module(name)


def _count_list_digests(spent: dict[str, float]) -> None:
    """Add the time of the digests by which the audit log knows a list that is no file."""
    from audiencekit.runs.journal.digests import LISTS, KeyedDigest

    begin, update = KeyedDigest.__init__, KeyedDigest.update
    logged: set[KeyedDigest] = set()

    def counted_begin(self: KeyedDigest, key: Any, what: int, number: int) -> None:
        begin(self, key, what, number)
        if what == LISTS and number:  # number 0 is over files, in a function that is counted
            logged.add(self)

    def counted_update(self: KeyedDigest, piece: Any) -> None:
        started = time.thread_time()
        update(self, piece)
        if self in logged:
            spent[AUDIT] += time.thread_time() - started

    for name, function in {"__init__": counted_begin, "update": counted_update}.items():
        setattr(KeyedDigest, name, function)


def _count(owner: type, function: str, name: str, spent: dict[str, float]) -> None:
    """Add the time of each call of `function` to that of `name`."""
    found = vars(owner)[function]
    call: Callable[..., Any] = found.__func__ if isinstance(found, classmethod) else found

    def counted(*given: Any, **more: Any) -> Any:
        started = time.thread_time()
        try:
            return call(*given, **more)
        finally:
            spent[name] += time.thread_time() - started

    setattr(owner, function, classmethod(counted) if isinstance(found, classmethod) else counted)


if __name__ == "__main__":
    main()
