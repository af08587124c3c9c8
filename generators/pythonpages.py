"""`docs/python.md` and `docs/python/`: the public list of the package, a page a topic.

A page holds all public names of its modules. A public module without a page, and a page without names, are faults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

import audiencekit
from audiencekit.planning.keywords import ABOUT, Keywords, SourceKeywords, SyncKeywords
from generators.pythonnames import explained, summary

FOLDER: Final = "docs/python"
_INDEX: Final = """\
# Python

The public names of `audiencekit`, by topic. `help(audiencekit.upload)` says the same. These pages are made from the
code by `python -m generators`; a test says when they are out of date. Everything that is not named here may change.

```python
import audiencekit

plan = audiencekit.check("customers.csv", country="DE")
print(plan)
report = audiencekit.upload("customers.csv", audience_id="dlzxk", country="DE")
```

Functions whose names end in `_async` are awaited, and can be [cancelled](resuming.md#cancellations). The others wait
for the result; inside a running event loop, as in a notebook, they work in a thread of their own. A plan, a report and
a receipt print as the command line prints them, and a notebook shows them as tables and the progress as bars;
`progress=audiencekit.NoProgress()` shows none. Elsewhere messages, such as the reason of a wait, go to the logger
`audiencekit` at the level `INFO`; `logging.basicConfig(level="INFO")` shows them.

An *audience* is given by its id, or by the exact name that only one audience of the account has
([names](commands.md#audiences-by-name)). `upload`, `sync` and `renew` ask the service for the id of a name; `plan_sync`
and `expiry` send nothing, and know the names that this machine has seen.

A *source* is a path, rows ([data frames, cursors, open files](data-frames.md)), or a list of these. Settings are those
of the [environment](commands.md#settings) unless `settings=load_settings(…)` gives others. Functions that read a source
take the [keywords](python/keywords.md) of their table. Failures are those of [errors](errors.md).
"""
_KEYWORDS: Final = """\
# Keywords

How to read a source and what to do with its rows. All of them are options of the [command line](../commands.md), too,
where `columns` is `--map` and `header=False` is `--no-header`. None stands for the default that the text names.
`Columns` is {kind: column}, or pairs of them; `Time` is a date, a datetime with a time zone, or text in ISO 8601.
"""
_TAKERS: Final = {
    SourceKeywords: "Of all that read a source",
    SyncKeywords: "Of all but forget",
    Keywords: "Of check, prepare, upload and do_not_reach_upload",
}


class Page(NamedTuple):
    """The file, the title, the modules in their order, and the guide to the topic, from the folder of the pages."""

    file: str
    title: str
    modules: tuple[str, ...]
    guide: str


PAGES: Final = (
    Page(
        "uploads.md",
        "Check, upload, resume",
        ("pipeline", "audiences.do_not_reach", "audiences.runs", "planning.options"),
        "Guides: [tutorial](../tutorial.md), [resuming](../resuming.md), [the do-not-reach list](../do-not-reach.md).",
    ),
    Page(
        "syncs.md",
        "Sync and renew",
        ("audiences.sync.sync",),
        "Guide: [sync](../sync.md).",
    ),
    Page(
        "erasures.md",
        "Erase people",
        ("audiences.erasure.forgetting", "audiences.erasure.receipt"),
        "Guide: [erasure](../erasure.md), with the meaning of each count of [the receipt](../erasure.md#the-receipt).",
    ),
    Page(
        "setups.md",
        "Setups",
        ("audiences.setups.running", "audiences.setups.one_audience"),
        "Guide: [setups](../setups.md).",
    ),
    Page(
        "sources.md",
        "Sources",
        ("sources.files", "sources.databases.databases"),
        "Guides: [sources](../sources.md), [data frames](../data-frames.md).",
    ),
    Page(
        "results.md",
        "Plans, reports, progress",
        ("reporting.report", "reporting.progress"),
        "The meaning of each count: [plan](../report.md#check), [report](../report.md#report).",
    ),
    Page("values.md", "Single values", ("values",), "The rules of each kind: [identifiers](../identifiers.md)."),
    Page(
        "client.md",
        "The API",
        ("api.client", "delivery.rate_limiter"),
        "Guide: [the API from Python](../api.md). All endpoints: [API reference](../api-reference.md).",
    ),
    Page(
        "destinations.md",
        "Destinations",
        ("destinations.destination", "destinations.ads"),
        "A destination is a kind of place where people go. `check` takes one.",
    ),
    Page(
        "settings.md",
        "Settings and safety",
        ("settings", "process.startup"),
        "Guides: [settings](../commands.md#settings), [privacy](../privacy.md).",
    ),
    Page(
        "errors.md",
        "Errors",
        ("errors",),
        "Guide: [errors](../errors.md). Remedies: [troubleshooting](../troubleshooting.md).",
    ),
)


def names_of(page: Page) -> list[str]:
    """The public names of a page in its order; those to be awaited stand with their twins."""
    homes = audiencekit._HOMES
    names = [name for module in page.modules for name in sorted(homes) if homes[name] == f"audiencekit.{module}"]
    return [name for name in names if not name.endswith("_async")]


def page_files() -> dict[str, Callable[[], str]]:
    """Each file of the reference, and its writer."""
    pages = {f"{FOLDER}/{page.file}": partial(_page, page) for page in PAGES}
    return {"docs/python.md": _index, f"{FOLDER}/keywords.md": _keywords, **pages}


def _index() -> str:
    lines = [_INDEX]
    for page in PAGES:
        lines += [f"## [{page.title}](python/{page.file})", "", "| name | meaning |", "|---|---|"]
        lines += [f"| [`{name}`](python/{page.file}#{name.lower()}) | {summary(name)} |" for name in names_of(page)]
        lines.append("")
    return "\n".join(lines)


def _keywords() -> str:
    return "\n".join([_KEYWORDS, *_tables()])


def _tables() -> Iterator[str]:
    told: set[str] = set()
    for keywords, heading in _TAKERS.items():
        yield from (f"## {heading}", "", "| keyword | type | default | meaning |", "|---|---|---|---|")
        for name in [name for name in ABOUT if name in keywords.__annotations__ and name not in told]:
            kind = keywords.__annotations__[name].__forward_arg__.replace("|", "\\|")
            yield f"| `{name}` | `{kind}` | `{ABOUT[name].default!r}` | {ABOUT[name].text} |"
            told.add(name)
        yield ""


def _page(page: Page) -> str:
    lines = [f"# {page.title}", "", page.guide, ""]
    for module in page.modules:
        lines += [f"## audiencekit.{module}", ""]
        for name in [name for name in names_of(page) if audiencekit._HOMES[name] == f"audiencekit.{module}"]:
            lines += [f"### {name}", "", *explained(name)]
    return "\n".join(lines)
