"""A wait that is asked whether to go on ends with the work, or with the answer."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from audiencekit.sources.patience import result_of


class Late(Future[int]):
    """Done just after its wait was over."""

    def result(self, timeout: float | None = None) -> int:
        if timeout is not None and not self.done():
            self.set_result(7)
            raise TimeoutError
        return super().result(timeout)


def test_work_that_ends_with_the_wait_is_done() -> None:
    """It is no timeout."""
    assert result_of(Late(), lambda: pytest.fail("it was asked")) == 7


def test_a_timeout_of_the_work_is_its_exception() -> None:
    """It is not waited on for it."""
    coming: Future[int] = Future()
    coming.set_exception(TimeoutError("its own"))
    with pytest.raises(TimeoutError, match="its own"):
        result_of(coming, lambda: pytest.fail("it was asked"))


def test_the_answer_ends_the_wait() -> None:
    """Asked twice here; the work is left as it is."""
    coming: Future[int] = Future()
    answers = iter([None, KeyboardInterrupt()])

    def wait_on() -> None:
        if (answer := next(answers)) is not None:
            raise answer

    with pytest.raises(KeyboardInterrupt):
        result_of(coming, wait_on)
    assert not coming.done()
