"""`docs/python/`: the public names of the package, by topic.

A topic has all public names of its modules. A public module without a topic, and a topic without names, are faults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

import audiencekit
from audiencekit.planning.keywords import ABOUT, Keywords, SourceKeywords, SyncKeywords
from generators.pythonnames import explained, summary

FOLDER: Final = "docs/python"
_KEYWORDS: Final = """\
## Keywords of all functions

How to read a source and what to do with its rows. All of them are options of the
[command line](../commands/options.md), too, where `columns` is `--map` and `header=False` is `--no-header`. None stands
for the default that the text names. `Columns` is {kind: column}, or pairs of them; `Time` is a date, a datetime with a
time zone, or text in ISO 8601.
"""
_TAKERS: Final = {
    SourceKeywords: "Of all that read a source",
    SyncKeywords: "Of all but forget",
    Keywords: "Of check, prepare, upload and do_not_reach_upload",
}


class Topic(NamedTuple):
    """The title, the modules in their order, and the guide to the topic, from the folder of the pages."""

    title: str
    modules: tuple[str, ...]
    guide: str


class Page(NamedTuple):
    """The file, the title, and the topics in their order."""

    file: str
    title: str
    topics: tuple[Topic, ...]


PAGES: Final = (
    Page(
        "functions.md",
        "Functions",
        (
            Topic(
                "Check, upload, resume",
                ("pipeline", "audiences.do_not_reach", "audiences.runs", "planning.options"),
                "Guides: [tutorial](../tutorial.md), [resuming](../resuming.md), "
                "[the do-not-reach list](../keep-people-out.md#the-do-not-reach-list).",
            ),
            Topic("Sync and renew", ("audiences.sync.sync",), "Guide: [sync](../sync.md)."),
            Topic(
                "Compare lists and audiences",
                ("audiences.overlap",),
                "Guide: [compare lists and audiences](../sync.md#compare-lists-and-audiences).",
            ),
            Topic(
                "Erase people",
                ("audiences.erasure.forgetting", "audiences.erasure.receipt"),
                "Guide: [erasure](../erasure.md), with the meaning of each count of "
                "[the receipt](../erasure.md#the-receipt).",
            ),
            Topic(
                "Setups",
                ("audiences.setups.running", "audiences.setups.one_audience"),
                "Guide: [setups](../nightly.md#setups).",
            ),
            Topic(
                "Sources",
                ("sources.files", "sources.databases.databases"),
                "Guides: [sources](../sources.md), [data frames](../python.md#data-frames-cursors-and-open-files).",
            ),
            Topic("Single values", ("values",), "The rules of each kind: [identifiers](../identifiers.md)."),
            Topic("Your own pipeline", ("conformance.verifying",), "Guide: [check your own pipeline](../verify.md)."),
            Topic(
                "A state in a bucket",
                ("mirror.opening",),
                "Guide: [a state in a bucket](../resuming.md#a-state-in-a-bucket).",
            ),
            Topic(
                "Settings and safety",
                ("settings", "process.startup"),
                "Guides: [settings](../accounts.md#settings-from-the-environment), [privacy](../privacy.md).",
            ),
        ),
    ),
    Page(
        "results.md",
        "Results and the API",
        (
            Topic(
                "Plans, reports, progress",
                ("reporting.report", "reporting.progress", "runs.reports"),
                "The meaning of each count: [plan](../report.md#check), [report](../report.md#report).",
            ),
            Topic(
                "Verifications",
                ("reporting.verification",),
                "Guide: [check your own pipeline](../verify.md).",
            ),
            Topic(
                "Overlaps",
                ("reporting.overlap",),
                "Guide: [compare lists and audiences](../sync.md#compare-lists-and-audiences).",
            ),
            Topic(
                "The API",
                ("api.client", "delivery.rate_limiter"),
                "Guide: [the API from Python](../python.md#the-api). "
                "All endpoints: [API reference](../api-reference.md).",
            ),
            Topic(
                "Destinations",
                ("destinations.destination", "destinations.ads"),
                "A destination is a kind of place where people go. `check` takes one.",
            ),
        ),
    ),
    Page(
        "errors.md",
        "Exceptions",
        (
            Topic(
                "All exceptions",
                ("errors",),
                "Parents, exit codes and remedies: [classes of errors](../messages.md#classes-of-errors).",
            ),
        ),
    ),
)
_BEGINNING: Final = """\
# {title}

*Reference*

The public names of `audiencekit`, by topic: `help(audiencekit.upload)` says the same. [Python](../python.md) shows how
to use them. This page is made from the code by `python -m generators`; a test says when it is out of date. Everything
that is not named here may change.
"""


def names_of(topic: Topic) -> list[str]:
    """The public names of a topic in its order; those to be awaited are with their twins."""
    homes = audiencekit._HOMES
    names = [name for module in topic.modules for name in sorted(homes) if homes[name] == f"audiencekit.{module}"]
    return [name for name in names if not name.endswith("_async")]


def page_files() -> dict[str, Callable[[], str]]:
    """Each file of the reference, and its writer."""
    return {f"{FOLDER}/{page.file}": partial(_page, page) for page in PAGES}


def _page(page: Page) -> str:
    lines = [_BEGINNING.format(title=page.title)]
    for topic in page.topics:
        lines += [f"## {topic.title}", "", topic.guide, "", "| name | meaning |", "|---|---|"]
        lines += [f"| [`{name}`](#{name.lower()}) | {summary(name)} |" for name in names_of(topic)]
        lines.append("")
        for name in names_of(topic):
            lines += [f"### {name}", "", *explained(name)]
    if page.title == "Functions":
        lines += [_KEYWORDS, *_tables()]
    return "\n".join(lines)


def _tables() -> Iterator[str]:
    told: set[str] = set()
    for keywords, heading in _TAKERS.items():
        yield from (f"### {heading}", "", "| keyword | type | default | meaning |", "|---|---|---|---|")
        for name in [name for name in ABOUT if name in keywords.__annotations__ and name not in told]:
            kind = keywords.__annotations__[name].__forward_arg__.replace("|", "\\|")
            yield f"| `{name}` | `{kind}` | `{ABOUT[name].default!r}` | {ABOUT[name].text} |"
            told.add(name)
        yield ""
