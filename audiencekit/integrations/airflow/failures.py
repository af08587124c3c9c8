"""How a task fails: for good, or to be tried again; and its messages, in words of a DAG."""

from __future__ import annotations

import re
from typing import Any, Final

from audiencekit.destinations.known_audiences import AUDIENCES_HINT
from audiencekit.errors import AudiencekitError, InputOutputFailed, NotFinished, ServiceUnavailable, UsageError
from audiencekit.integrations.airflow.connection import LABELS
from audiencekit.integrations.airflow.versions import AirflowException, AirflowFailException
from audiencekit.text import OPTION, shown

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
    return shown(in_words_of_a_dag("; ".join(filter(None, (str(error), error.hint)))))


# --- Messages of the library in the words of a DAG: arguments of operators, fields of the connection, other tasks ---

# These are arguments of operators; all other options are keys of `options`, or fields of the connection.
_ARGUMENTS: Final = frozenset({"audience", "source", "rejections", "dry_run", "setup", "names"})
_CONNECTION: Final = "fill in the fields of the connection"
_AGAIN: Final = re.compile(r"`audiencekit (?:sync SOURCE|renew) --audience [^`]*`")
_RESUME: Final = re.compile(r"`audiencekit resume ([^ `]+)[^`]*`")
# Remedies of the command line, and those of a task.
_REMEDIES: Final = {
    "`audiencekit sync SOURCE --audience ID`": "a task of AudienceSyncOperator",
    "`audiencekit init` asks for it and keeps it": _CONNECTION,
    "`audiencekit init` asks for the service and keeps it": _CONNECTION,
    "set them in the environment, or `audiencekit login`; `audiencekit init` sets up all of it":
        f"{_CONNECTION}, or set them in the environment of the workers",
    "then `audiencekit login` makes a token that may": "then put a new token into the connection",
    AUDIENCES_HINT: "a task of CreateAudienceOperator makes an audience, and its XCom has the id",
}  # fmt: skip


def in_words_of_a_dag(text: str) -> str:
    """Return a message with what a DAG has in place of commands and options."""
    for command, remedy in _REMEDIES.items():
        text = text.replace(command, remedy)
    text = _RESUME.sub(r"another try of this task (it continues \1)", _AGAIN.sub("another try of this task", text))
    return OPTION.sub(_as_argument, text)


def _as_argument(found: re.Match[str]) -> str:
    name, literal = found.groups()
    if name in _ARGUMENTS:
        return f"`{name}={literal or '…'}`"
    if name in LABELS:
        return f"the field {LABELS[name]!r} of the connection"
    return f"`options={{{name!r}: {literal or '…'}}}`"


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
