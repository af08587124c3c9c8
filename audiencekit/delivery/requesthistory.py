"""The history of one request, its parts included, as one result."""

from __future__ import annotations

from audiencekit.delivery.attempts import Tries
from audiencekit.delivery.results import Miscount, RefusedRow, RequestResult
from audiencekit.delivery.retry import RetryPolicy
from audiencekit.errors import AudiencekitError, Outcome
from audiencekit.packedrequest import PackedRequest


class Course:
    """Begins with the whole request; where that is refused, its parts follow, each with tries of its own.

    `error` is what ended it, None when all that could be confirmed is. `refused` are the rows that the service did
    not take when they were sent alone. `is_intended` says whether the journal knows of it.
    """

    def __init__(self, policy: RetryPolicy) -> None:
        self._policy = policy
        self.whole = Tries(policy)
        self._parts: list[Tries] = []
        self._is_isolated = False
        self._halted_by: AudiencekitError | None = None
        self.refused: tuple[RefusedRow, ...] = ()
        self.is_intended = False

    def begin_part(self) -> Tries:
        """The tries of the next part."""
        self._parts.append(Tries(self._policy))
        return self._parts[-1]

    def end_isolation(self, refused: tuple[RefusedRow, ...], halted_by: AudiencekitError | None) -> None:
        """Notes that all records are either confirmed or `refused`, or else what halted the search."""
        self._is_isolated, self._halted_by = halted_by is None, halted_by
        self.refused = refused if halted_by is None else ()

    def halt(self, error: AudiencekitError) -> None:
        """Notes what keeps its bytes from leaving again."""
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
        """The outcome of the request: a part of it that was taken makes the whole unknown."""
        if self._is_isolated:
            return Outcome.CONFIRMED
        if {tries.outcome for tries in self._parts} & {Outcome.CONFIRMED, Outcome.UNKNOWN}:
            return Outcome.UNKNOWN
        return self.whole.outcome

    @property
    def doubtful_at(self) -> float | None:
        """When the last attempt ended that may still be applied."""
        return max((at for tries in self._tries if (at := tries.doubtful_at) is not None), default=None)

    @property
    def _tries(self) -> list[Tries]:
        return [self.whole, *self._parts]

    def result(self, request: PackedRequest) -> RequestResult:
        """The facts. Exchanges of parts count as attempts of the request."""
        error = self.error
        confirmed = self._tries if self.outcome is Outcome.CONFIRMED else []
        return RequestResult(
            number=request.number,
            outcome=self.outcome,
            attempts=sum(tries.exchanges for tries in self._tries),
            rate_limited=sum(tries.rate_limited for tries in self._tries),
            records=request.records - len(self.refused),
            body_bytes=request.body_bytes,
            error=None if error is None else type(error).__name__,
            codes=getattr(error, "codes", ()),
            refused=self.refused,
            is_doubtful=self.doubtful_at is not None or self.outcome is Outcome.UNKNOWN,
            success_count=sum(tries.success_count for tries in confirmed),
            total_count=sum(tries.total_count for tries in confirmed),
            miscount=None if confirmed else self._miscount(request),
        )

    def _miscount(self, request: PackedRequest) -> Miscount | None:
        said = self.whole.miscounted
        return None if said is None else Miscount(request.number, said.sent, said.success_count, said.total_count)
