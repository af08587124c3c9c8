"""`--notify` and the status file of commands that send: what is told at their end. Nothing is imported where both
are off."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from audiencekit.cli.command_help import result_option
from audiencekit.cli.options import stacked
from audiencekit.cli.output import insist, spelled
from audiencekit.errors import AudiencekitError, Bug, NotFinished, UsageError
from audiencekit.text import shown

if TYPE_CHECKING:
    from audiencekit.audiences.setups.one_audience import AudienceResult
    from audiencekit.notifications.notices import Rules
    from audiencekit.notifications.notifier import Ended
    from audiencekit.notifications.receivers import Receiver
    from audiencekit.process.exchanges import Address
    from audiencekit.reporting.progress import Progress
    from audiencekit.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])
INTERRUPTED_SECONDS: Final = 2.0  # for all deliveries of a command that was interrupted: it ends within its grace


def notify_options(function: F) -> F:
    """The receiver of notifications about the end of the command, and the rules."""
    return stacked(
        result_option(
            "--notify", metavar="RECEIVER", help="Tell this receiver how it ended; env is that of the environment."
        ),
        result_option(
            "--notify-on", multiple=True, metavar="RULE",
            help="Tell this, too: rejected=SHARE, fewer=SHARE, match-rate=SHARE, minutes=N, empty, expiry=SPAN.",
        ),
    )(function)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifying:
    """The receiver and the rules of a command, or of one audience of a setup; and the address of the ping."""

    settings: Settings  # whose runs are watched if there is a receiver
    command: str = ""
    receiver: Receiver | None = None
    rules: Rules | None = None
    ping: Address | None = None
    is_on: bool = False

    @classmethod
    def of(cls, settings: Settings, command: str, notify: str | None, notify_on: Sequence[str] = ()) -> Notifying:
        """Return what the options and the settings say. Raises UsageError and InputOutputFailed for invalid ones."""
        has_receiver = notify is not None or settings.notify_url is not None or bool(settings.notify_command)
        if notify_on and not has_receiver:
            raise UsageError("there is no receiver for `notify_on=`", hint="give `notify=RECEIVER`")
        if not has_receiver and settings.ping_url is None:
            return cls(settings=settings)
        from audiencekit.notifications.notices import Rules
        from audiencekit.notifications.receivers import find_receiver
        from audiencekit.process.exchanges import Address
        from audiencekit.settings import Watch

        ping = None if settings.ping_url is None else Address.read(settings.ping_url, "AUDIENCEKIT_PING_URL")
        receiver = find_receiver(settings, notify)
        rules = Rules.read(notify_on)
        watch = None if receiver is None else Watch(receiver=receiver.name, rules=tuple(notify_on))
        watched = replace(settings, watch=watch)
        return cls(settings=watched, command=command, receiver=receiver, rules=rules, ping=ping, is_on=True)

    @contextmanager
    def telling_failure(self, audience: str = "") -> Iterator[None]:
        """Tell the receiver of an error that is raised; `audience` is the id or name that was given."""
        try:
            yield
        except AudiencekitError as error:
            self.tell_end(error=error, audience=audience)
            raise
        except Exception as error:
            self.tell_end(error=Bug(type(error).__name__), audience=audience)
            raise

    def tell_end(
        self, document: Mapping[str, Any] | None = None, *, error: AudiencekitError | None = None, audience: str = ""
    ) -> None:
        """Tell how the command ended: with this report or receipt, or with `error`."""
        if self.is_on:
            found = (document if error is None else error.document) or {}
            ended = self.ended(self.settings, found, error, 0 if error is None else error.exit_code, audience)
            self._tell([ended], error)

    def tell_results(self, results: Sequence[tuple[Notifying, AudienceResult]], error: AudiencekitError | None) -> None:
        """Tell how each audience of a setup ended; `error` is the worst."""
        found = []
        for one, each in results:
            failure = NotFinished("it was not begun") if each.state == "not begun" else each.error
            audience = each.audience_id or each.setup.audience
            found.append(one.ended(one.settings, each.document, failure, each.exit_code, audience))
        if self.is_on or any(found):
            self._tell(found, error)

    def ended(
        self, settings: Settings, document: Mapping[str, Any], error: AudiencekitError | None, code: int, audience: str
    ) -> Ended | None:
        """Return the receiver and the rules to notify it by; None without a receiver."""
        if self.receiver is None or self.rules is None:
            return None
        from audiencekit.notifications.notifier import Ended

        return Ended(
            settings=settings, receiver=self.receiver, rules=self.rules, command=self.command, document=document,
            error=error, exit_code=code, audience=audience,
        )  # fmt: skip

    def _tell(self, ended: Sequence[Ended | None], error: AudiencekitError | None) -> None:
        """Send the notification. A failure is printed, and does not change the exit code."""
        try:
            from audiencekit.notifications.deliveries import MOST_SECONDS
            from audiencekit.notifications.notifier import Notifier

            seconds = INTERRUPTED_SECONDS if isinstance(error, NotFinished) else MOST_SECONDS
            notifier = Notifier(self.settings, ping=self.ping, seconds=seconds)
            notifier.tell([one for one in ended if one is not None], is_good=error is None)
            problems = notifier.problems
        except AudiencekitError as failure:
            problems = [f"nothing was told: {failure}"]
        except Exception as failure:  # its message may quote an address
            problems = [f"nothing was told: bug: {type(failure).__name__}; please report this line"]
        for problem in problems:
            insist(f"warning: {shown(spelled(problem))}", level="warning")


@contextmanager
def reporting_status(settings: Settings, progress: Progress, command: str) -> Iterator[Progress]:
    """The progress to give to the work, which also writes the status file of the settings, if they name one."""
    if settings.status_file is None:
        yield progress
        return
    from audiencekit.notifications.status_file import StatusFile

    with StatusFile(settings.status_file, progress, command) as status:
        yield status


def command_name() -> str:
    """The words of the command that runs, such as `do-not-reach upload`."""
    context = click.get_current_context(silent=True)
    names: list[str] = []
    while context is not None and context.parent is not None:
        names, context = [context.info_name or "", *names], context.parent
    return " ".join(names)
