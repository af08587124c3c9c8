"""Errors of a database in our words, by their SQLSTATE and never by their text, which quotes values."""

from __future__ import annotations

import re
from typing import Any, Final

from audiencekit.errors import AudiencekitError, InputOutputFailed, SourceRefused, UsageError

_AGAIN: Final = "nothing was sent: run the same again"
_ITS_CLIENT: Final = "execute it with the client of the database, whose message says more"
_LOST: Final = re.compile("08|57P")  # connections, shut-downs
_UNFINISHED: Final = re.compile("40|53|58|XX")  # other transactions, resources, the system, faults of the server
_CANCELLED: Final = "57014"
_READ_ONLY: Final = "25006"
_NO_RIGHT: Final = re.compile("42501|28")
_WRONG_QUERY: Final = re.compile("42|0A|25")
_WRONG_WORDS: Final = frozenset({"NOT_FOUND", "INVALID_ARGUMENT", "NOT_IMPLEMENTED"})  # of drivers without SQLSTATE
_NO_RIGHTS: Final = frozenset({"UNAUTHENTICATED", "UNAUTHORIZED"})


def query_failure(error: BaseException, sql: str) -> AudiencekitError:
    """Why a query failed, or did not begin. `error` is one of ADBC."""
    state = getattr(error, "sqlstate", None)
    status = getattr(getattr(error, "status_code", None), "name", "")
    if not state:
        return _by_status(status)
    told = f"SQLSTATE {state}{_place(error, sql)}" if re.fullmatch("[0-9A-Z]{5}", state) else "no SQLSTATE"
    if state == _CANCELLED:
        return SourceRefused(
            f"the database ended the query ({told}): it took longer than allowed, or a person ended it",
            hint="allow more time, as with PGOPTIONS='-c statement_timeout=…', or make the query faster",
        )
    if state == _READ_ONLY:
        return UsageError(f"the query writes ({told}), and it is executed read only", hint="give a SELECT")
    if _NO_RIGHT.match(state):
        return InputOutputFailed(f"the database does not let this user read it ({told})", hint=_ITS_CLIENT)
    if _WRONG_QUERY.match(state):
        return UsageError(f"the database does not take the query ({told})", hint=_ITS_CLIENT)
    if _LOST.match(state):
        return InputOutputFailed(f"the connection to the database was lost ({told})", hint=_AGAIN)
    if _UNFINISHED.match(state):
        return InputOutputFailed(f"the database could not finish the query ({told})", hint=_AGAIN)
    return SourceRefused(
        f"the query failed on a row ({told}): a value is not what a function or CAST wants", hint=_ITS_CLIENT
    )


def _by_status(status: str) -> AudiencekitError:
    if status in _WRONG_WORDS:
        return UsageError("the database does not take the query", hint=_ITS_CLIENT)
    if status in _NO_RIGHTS:
        return InputOutputFailed("the database does not let this user read it", hint=_ITS_CLIENT)
    if status == "INVALID_DATA":
        return SourceRefused("the query failed on a row", hint=_ITS_CLIENT)
    return InputOutputFailed("the connection to the database was lost", hint=_AGAIN)


def _place(error: Any, sql: str) -> str:
    """Where in the query the error is, if the database says so."""
    details = {bytes(name): value for name, value in getattr(error, "details", None) or ()}
    position = details.get(b"PG_DIAG_STATEMENT_POSITION", b"")
    if not position.isdigit() or int(position) > len(sql):
        return ""
    before = sql[: int(position) - 1]
    return f", line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"
