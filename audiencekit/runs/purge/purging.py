"""One purge: what was found goes, oldest first, between the two writings of its receipt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from audiencekit.errors import AudienceBusy, InputOutputFailed
from audiencekit.machine.crashpoints import pass_point
from audiencekit.machine.filelocks import taken
from audiencekit.machine.privatefiles import explained
from audiencekit.machine.statedirectory import make_directory
from audiencekit.runs.purge.expired import RUNNING, UNFINISHED, Expired
from audiencekit.runs.purge.receipt import PREFIX, PURGES, PurgeReceipt, write_receipt
from audiencekit.runs.purge.removal import remove, run_alone
from audiencekit.runs.runorder import Succession


@contextmanager
def only_purge(state_dir: Path) -> Iterator[None]:
    """No other purge of this state directory is at work meanwhile. Raises AudienceBusy, and InputOutputFailed."""
    directory = make_directory(state_dir, PURGES)
    told = "another purge is at work in this state directory: nothing was purged"
    hint = "wait until it has ended; one that was killed holds nothing"
    what = "the directory of purges cannot be locked"
    with taken(directory, what, lambda: AudienceBusy(told, hint=hint), is_directory=True):
        with explained(what, directory):
            for left in directory.glob(f".{PREFIX}*"):  # by a kill, in the middle of a receipt
                left.unlink()
        yield


@contextmanager
def receipted(state_dir: Path, receipt: PurgeReceipt) -> Iterator[list[InputOutputFailed]]:
    """The list of failures, to be added to; the receipt is kept before and after. Raises the first of them."""
    failures: list[InputOutputFailed] = []
    receipt.state = "begun"
    pass_point("before order")
    write_receipt(state_dir, receipt)
    pass_point("after order")
    yield failures
    receipt.state = "incomplete" if receipt.removed != receipt.expired else "complete"
    receipt.finished_at = max(receipt.started_at, datetime.now(UTC))
    pass_point("before end")
    write_receipt(state_dir, receipt)
    pass_point("after end")
    if failures:
        raise _told(failures, receipt)


def remove_all(
    state_dir: Path, receipt: PurgeReceipt, expired: Iterable[Expired], is_over: Callable[[], bool] = lambda: False
) -> list[InputOutputFailed]:
    """The failures; one of them holds nothing else up. The first goes, however soon it `is_over`."""
    failures, succession = list[InputOutputFailed](), Succession(state_dir)
    for number, each in enumerate(expired):
        if number and is_over():
            break
        try:
            with ExitStack() as stack:
                if each.kind in UNFINISHED:
                    stack.enter_context(run_alone(state_dir, each.path))
                receipt.bytes += remove(each.path, succession.forget)
            receipt.removed[each.kind] += 1
        except AudienceBusy:
            receipt.kept[RUNNING] += 1
        except InputOutputFailed as failure:
            failures.append(failure)
    return failures


def _told(failures: list[InputOutputFailed], receipt: PurgeReceipt) -> InputOutputFailed:
    first = failures[0]
    first.document = receipt.to_json()
    if more := len(failures) - 1:
        first.hint += f"; {more:,} more could not be purged"
    return first.bare()
