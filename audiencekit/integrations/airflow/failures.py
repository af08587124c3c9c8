"""How a task fails: for good, or to be tried again."""

from __future__ import annotations

from typing import Any, Final

from audiencekit.errors import AudiencekitError, InputOutputFailed, NotFinished, ServiceUnavailable, UsageError
from audiencekit.integrations.airflow.versions import AirflowException, AirflowFailException
from audiencekit.text import shown

# The command line leaves with these when the same call may succeed later; every other error stays what it is.
_PASSING: Final = frozenset({ServiceUnavailable.exit_code, InputOutputFailed.exit_code, NotFinished.exit_code})


def may_pass(error: AudiencekitError) -> bool:
    """Whether a retry can help: the service, a disk or another run was in the way, or part is sent already."""
    return error.exit_code in _PASSING


def task_failure(error: AudiencekitError) -> AirflowException:
    """The error for the task to raise, outside of every handler so that no frames come along.

    A failure for good is not tried again: nothing was sent, and nothing would be.
    """
    return failure_from(describe_failure(error), passing=may_pass(error))


def failure_from(message: str, *, passing: bool) -> AirflowException:
    """The same from words."""
    return AirflowException(f"{message}; a retry of this task goes on") if passing else AirflowFailException(message)


def describe_failure(error: AudiencekitError) -> str:
    """The message and what to do next, in one line."""
    return shown("; ".join(filter(None, (str(error), error.hint))))


def require_rendered(task: Any, required: tuple[str, ...]) -> None:
    """Raises UsageError for a templated field that is empty, or reads None, once it was rendered.

    Fields that are not `required` may be left out: what was given and came out empty is refused, though.
    """
    for name in task.template_fields:
        value = getattr(task, name)
        if _is_hollow(value) if value is not None else name in required:
            hint = "look at the rendered template of the task; a value that comes from another task needs its XCom"
            raise UsageError(f"the field {name!r} of task {task.task_id!r} is empty: nothing was sent", hint=hint)


def _is_hollow(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip() in ("", "None")
    if isinstance(value, list | tuple):
        return any(each is None or _is_hollow(each) for each in value)
    if isinstance(value, dict):
        return any(_is_hollow(each) for each in value.values())
    return False
