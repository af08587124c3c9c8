"""The one tree of errors. None of them ever holds a cell, an identifier, a hash or a secret.

AudiencekitError                    exit 1
├── Bug                             exit 1    a fault of this program
├── UsageError                      exit 2    an invalid option or argument
├── Refused                         exit 3    nothing was sent
│   ├── SourceRefused                         the source cannot be read as it is
│   ├── MappingRefused                        no column, or the wrong one, for a kind
│   ├── PlanRefused                           the source was read, but must not be sent
│   ├── DefinitionRefused                     a file that defines audiences breaks rules
│   ├── SnapshotRefused                       the snapshot of an audience under sync cannot be trusted
│   ├── MemoryRefused                         the memory of erased people cannot be trusted
│   ├── StateRefused                          the state in a bucket cannot be trusted
│   ├── HostRefused                           credentials are not sent to this address
│   └── ResumeRefused                         the run cannot be resumed
├── IdentifierRejected (ValueError) exit 3    one value, in `normalize` or `hash_identifier`
├── ServiceUnavailable              exit 69
├── InputOutputFailed               exit 74
│   └── FileHeld                    exit 75   another process holds a file of the state directory
├── NotFinished                     exit 75   part is sent, the rest can follow
│   └── LongWait                              a wait was longer than its caller allows
├── AudienceBusy                    exit 75   another run works on the audience
├── CredentialsRefused              exit 77
└── ExchangeError                             one HTTP exchange that was not confirmed (by outcome)
    ├── TransportFailed                       no whole answer
    │   └── CertificateRefused                the certificate of the host is invalid: never tried again
    ├── MalformedAnswer                       an answer that is not what the service promises
    │   └── EndlessList                       a list whose pages do not come to an end
    ├── CountMismatch                         success_count, total_count and records sent differ
    └── ServiceError                          the service said no: status and codes
        ├── RateLimited                       429
        ├── TemporarilyUnavailable            408, 423, 5xx
        ├── Redirected                        3xx: never followed
        ├── RequestRefused                    400, 405, 409, 413, 415, 422 …
        ├── NotFound                          404
        └── Unauthorized                      401, 403
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, ClassVar, Final, Self

from audiencekit.text import shown

CONTINUE_WITH: Final = "continue_with"  # in the document of an error: the command that goes on with its run


_REFUSING: Final = (2, 3, 77)  # exit codes: UsageError, Refused, CredentialsRefused


class Outcome(StrEnum):
    """The knowledge about a request after an attempt."""

    CONFIRMED = "confirmed"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class AudiencekitError(Exception):
    """Everything that this library raises on purpose. The message says what failed, where, and what to do next."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(shown(message))
        self.hint = shown(hint)
        self.document: dict[str, Any] | None = None  # what is known of the run that failed: counts, as its report

    @property
    def state(self) -> str:
        """`refused` when nothing was sent and the same would be refused again, else `incomplete`.

        The document of the error decides; without one no run was begun, and the exit code does.
        """
        known = (self.document or {}).get("state")
        return str(known or ("refused" if self.exit_code in _REFUSING else "incomplete"))

    def bare(self) -> Self:
        """This error without traceback, cause and context."""
        self.__traceback__ = self.__cause__ = self.__context__ = None
        return self


class Bug(AudiencekitError):
    """A fault of this program; the message names the type and the place, never a value."""


class UsageError(AudiencekitError):
    """An invalid option or argument."""

    exit_code = 2


class Refused(AudiencekitError):
    """Refused before anything was sent."""

    exit_code = 3


class SourceRefused(Refused):
    """The source cannot be read as it is. `row` counts from 1, `column` is a name that may be shown."""

    def __init__(
        self,
        message: str,
        *,
        source: str = "",
        row: int | None = None,
        column: str | None = None,
        rows_read: int | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.source, self.row, self.column, self.rows_read = source, row, column, rows_read


class MappingRefused(Refused):
    """No column, or the wrong one, for a kind."""


class PlanRefused(Refused):
    """The source was read, but what came of it must not be sent."""


class DefinitionRefused(Refused):
    """A file that defines audiences breaks rules, or the service refuses it whole.

    `problems` are pairs of a place in the file and what is wrong there.
    """

    def __init__(self, source: str, problems: Sequence[tuple[str, str]], *, hint: str = "") -> None:
        gap = "\n  " if len(problems) > 1 else " "
        told = [f"{gap}{shown(f'{path}: {message}' if path else message)}" for path, message in problems]
        super().__init__("", hint=hint)
        self.args = (f"{source!r}:{''.join(told)}",)  # the only message of several lines
        self.source, self.problems = source, tuple(problems)
        listed = [{"path": path, "message": message} for path, message in problems]
        self.document = {"state": "refused", "problems": listed}


class SnapshotRefused(Refused):
    """The snapshot of an audience is missing, damaged, older than it was, or of another key: nothing was sent."""


class MemoryRefused(Refused):
    """The memory of erased people is missing, damaged, older than it was, or of another key or state directory."""


class StateRefused(Refused):
    """The state in a bucket was changed by others, is older than it was, or is of another key: nothing was sent."""


class HostRefused(Refused):
    """Credentials and bodies do not go to this address."""


class ResumeRefused(Refused):
    """A run that cannot be resumed, or not with what is there now. `reason` is a stable code."""

    def __init__(self, message: str, *, reason: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.reason = reason


class IdentifierRejected(AudiencekitError, ValueError):
    """One value does not qualify; `reason` is the stable code."""

    exit_code = 3

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(f"the {kind} was rejected: {reason}")
        self.kind, self.reason = kind, reason


class ServiceUnavailable(AudiencekitError):
    """The service could not be reached or gave no usable answer, and nothing more is tried."""

    exit_code = 69


class InputOutputFailed(AudiencekitError):
    """A file or directory could not be read or written."""

    exit_code = 74


class FileHeld(InputOutputFailed):
    """Another process holds a file of the state directory."""

    exit_code = 75


class NotFinished(AudiencekitError):
    """Part of the run is confirmed, the rest is not."""

    exit_code = 75


class LongWait(NotFinished):
    """The run would have to wait for longer than its caller allows, so it ended; the rest can follow.

    `seconds` is the wait that was due, 0 when it is not known. `has_progress` says whether a request was confirmed
    before.
    """

    def __init__(self, message: str, *, seconds: float, has_progress: bool = False, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.seconds, self.has_progress = seconds, has_progress


class AudienceBusy(AudiencekitError):
    """Another run works on the audience. `run_id` and `process_id` say which, where that is known."""

    exit_code = 75

    def __init__(
        self, message: str, *, run_id: str | None = None, process_id: int | None = None, hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.run_id, self.process_id = run_id, process_id


class CredentialsRefused(AudiencekitError):
    """Credentials are missing, wrong, revoked, or without the permission."""

    exit_code = 77


class ExchangeError(AudiencekitError):
    """One HTTP exchange that was not confirmed. `outcome` says what is known of it."""

    exit_code = 69

    def __init__(self, message: str, *, outcome: Outcome, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.outcome = outcome


class TransportFailed(ExchangeError):
    """No whole answer. `sent` is False when not one byte of the body can have arrived."""

    def __init__(self, message: str, *, sent: bool, hint: str = "") -> None:
        super().__init__(message, outcome=Outcome.UNKNOWN if sent else Outcome.REFUSED, hint=hint)
        self.sent = sent


class CertificateRefused(TransportFailed):
    """The host could not prove who it is. Nothing was sent, and trying again does not help."""

    exit_code = 3

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message, sent=False, hint=hint)


class MalformedAnswer(ExchangeError):
    """An answer whose status says success and whose body does not."""

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message, outcome=Outcome.UNKNOWN)
        self.status = status


class EndlessList(MalformedAnswer):
    """A list whose pages do not come to an end. Asking again does not help."""


class CountMismatch(ExchangeError):
    """Records sent, `success_count` and `total_count` are not one number (spec 2, section 4.4: send again)."""

    def __init__(self, *, sent: int, success_count: int, total_count: int) -> None:
        super().__init__(
            f"{sent:,} records were sent, the service counts {success_count:,} of {total_count:,}",
            outcome=Outcome.UNKNOWN,
        )
        self.sent, self.success_count, self.total_count = sent, success_count, total_count


class ServiceError(ExchangeError):
    """The service answered with an error. `codes` are its stable words.

    Its messages may quote values. `service_words` keeps them, bounded, only of endpoints that carry no people's data
    (`api.answers.read_words`), and no message of ours repeats them. `operation_errors` maps the index of an operation
    to the codes given for it. `is_of_service` says whether the answer has the form in which the service refuses; any
    other may be of a gateway in between, and its `outcome` is unknown.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        codes: tuple[str, ...] = (),
        operation_errors: dict[int, tuple[str, ...]] | None = None,
        outcome: Outcome = Outcome.REFUSED,
        is_of_service: bool = True,
        hint: str = "",
    ) -> None:
        super().__init__(message, outcome=outcome, hint=hint)
        self.status, self.codes, self.is_of_service = status, codes, is_of_service
        self.operation_errors = operation_errors or {}
        self.service_words = ""


class RateLimited(ServiceError):
    """429: too many requests.

    `reset_at` is when the service takes requests again, in epoch seconds, and `answered_at` is the service's own time;
    None when the service gave nothing usable.
    """

    reset_at: float | None = None
    answered_at: float | None = None


class TemporarilyUnavailable(ServiceError):
    """408, 423 or 5xx: to be tried again. `retry_after` is in seconds, None when the service gave nothing usable."""

    retry_after: float | None = None


class Redirected(ServiceError):
    """3xx: the service names another address, which is never followed."""

    exit_code = 3


class RequestRefused(ServiceError):
    """The service refuses the request as it is."""

    exit_code = 3


class NotFound(ServiceError):
    """404: the service knows no such thing, or does not show it to these credentials."""

    exit_code = 3


class Unauthorized(ServiceError):
    """401 or 403: credentials or permission."""

    exit_code = 77
