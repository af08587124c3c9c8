"""The history of one request, its parts included, as one result."""

from __future__ import annotations

from audiencekit.delivery.results import Miscount, RefusedRow, RequestResult
from audiencekit.delivery.retry import Attempts, RetryPolicy
from audiencekit.errors import AudiencekitError, Outcome
from audiencekit.packed_request import PackedRequest


class RequestHistory:
    """The history begins with the whole request. If that is refused, its parts follow, each with its attempts.

    Of a request that is too large for the service only parts are sent. `error` ended the request; None when all that
    could be confirmed is. `refused` are the rows that the service refused when they were sent alone. `is_intended` says
    whether the journal knows the request.
    """

    def __init__(self, policy: RetryPolicy) -> None:
        self._policy = policy
        self.whole = Attempts(policy)
        self._parts: list[Attempts] = []
        self._is_isolated = False
        self._halted_by: AudiencekitError | None = None
        self.refused: tuple[RefusedRow, ...] = ()
        self.is_intended = False

    def begin_part(self) -> Attempts:
        """Return the attempts of the next part."""
        self._parts.append(Attempts(self._policy))
        return self._parts[-1]

    def end_isolation(self, refused: tuple[RefusedRow, ...], halted_by: AudiencekitError | None) -> None:
        """Note that all records are either confirmed or `refused`, or else the error that halted the search."""
        self._is_isolated, self._halted_by = halted_by is None, halted_by
        self.refused = refused if halted_by is None else ()

    def halt(self, error: AudiencekitError) -> None:
        """Note the error because of which its bytes are not sent again."""
        self._halted_by = error

    @property
    def error(self) -> AudiencekitError | None:
        """The error that ended the request, None when it is confirmed."""
        if self._is_isolated:
            return None
        last = self._parts[-1].error if self._parts else None
        return self._halted_by or last or self.whole.error

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of the request. If the service took a part of it only, the outcome is unknown."""
        if self._is_isolated:
            return Outcome.CONFIRMED
        outcomes = {attempts.outcome for attempts in self._parts}
        if outcomes & {Outcome.CONFIRMED, Outcome.UNKNOWN}:
            return Outcome.UNKNOWN
        return self.whole.outcome or (Outcome.REFUSED if Outcome.REFUSED in outcomes else None)

    @property
    def doubtful_at(self) -> float | None:
        """When the last attempt ended that may still be applied."""
        return max((at for attempts in self._all_attempts if (at := attempts.doubtful_at) is not None), default=None)

    @property
    def _all_attempts(self) -> list[Attempts]:
        return [self.whole, *self._parts]

    def result(self, request: PackedRequest) -> RequestResult:
        """Return the facts. Exchanges of parts count as attempts of the request."""
        error = self.error
        confirmed = self._all_attempts if self.outcome is Outcome.CONFIRMED else []
        return RequestResult(
            number=request.number,
            outcome=self.outcome,
            attempts=sum(attempts.exchanges for attempts in self._all_attempts),
            rate_limited=sum(attempts.rate_limited for attempts in self._all_attempts),
            records=request.records - len(self.refused),
            body_bytes=request.body_bytes,
            error=None if error is None else type(error).__name__,
            codes=getattr(error, "codes", ()),
            refused=self.refused,
            is_doubtful=self.doubtful_at is not None or self.outcome is Outcome.UNKNOWN,
            success_count=sum(attempts.success_count for attempts in confirmed),
            total_count=sum(attempts.total_count for attempts in confirmed),
            miscount=None if confirmed else self._miscount(request),
        )

    def _miscount(self, request: PackedRequest) -> Miscount | None:
        said = self.whole.miscounted
        return None if said is None else Miscount(request.number, said.sent, said.success_count, said.total_count)
