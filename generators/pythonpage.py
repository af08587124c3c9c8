"""`docs/python.md`: the public list of the package, a section a module."""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from itertools import groupby
from types import ModuleType
from typing import Any, Final

import audiencekit
from audiencekit.errors import AudiencekitError
from audiencekit.planning.keywords import ABOUT, Keywords, SourceKeywords, SyncKeywords

_WIDTH: Final = 116
_PREFACE: Final = """\
# Python

The public names of `audiencekit`, by the module that they are from. `help(audiencekit.upload)` says the same. This page
is made from the code by `python -m generators`; a test says when it is out of date. Everything that is not named here
may change.

```python
import audiencekit

plan = audiencekit.check("customers.csv", country="DE")
print(plan)
report = audiencekit.upload("customers.csv", audience_id="dlzxk", country="DE")
```

Functions whose names end in `_async` are awaited. The others wait for the result; inside a running event loop, as in a
notebook, they work in a thread of their own. A plan, a report and a receipt print as the command line prints them, and
a notebook shows them as tables and the progress as bars; `progress=audiencekit.NoProgress()` shows none.

A *source* is a path, rows ([data frames, cursors, open files](data-frames.md)), or a list of these. Settings are those
of the [environment](commands.md#settings) unless `settings=load_settings(…)` gives others. Failures are those of
[errors](errors.md).
"""
_KEYWORDS: Final = """\
## Keywords

All of them are options of the [command line](commands.md), too, where `columns` is `--map` and `header=False` is
`--no-header`. None stands for the default that the text names. `Columns` is {kind: column}, or pairs of them; `Time`
is a date, a datetime with a time zone, or text in ISO 8601.
"""
_TAKERS: Final = {
    SourceKeywords: "all that read a source",
    SyncKeywords: "all but forget",
    Keywords: "check, prepare, upload and do_not_reach_upload",
}


def write_page() -> str:
    """The page."""
    return "\n".join([_PREFACE, *_keywords(), *_modules()]) + "\n"


def _keywords() -> Iterator[str]:
    yield _KEYWORDS
    told: set[str] = set()
    for keywords, takers in _TAKERS.items():
        yield from (f"### Of {takers}", "", "| keyword | type | default | meaning |", "|---|---|---|---|")
        for name in [name for name in ABOUT if name in keywords.__annotations__ and name not in told]:
            kind = keywords.__annotations__[name].__forward_arg__.replace("|", "\\|")
            yield f"| `{name}` | `{kind}` | `{ABOUT[name].default!r}` | {ABOUT[name].text} |"
            told.add(name)
        yield ""


def _modules() -> Iterator[str]:
    homes = audiencekit._HOMES
    for module, names in groupby(sorted(homes, key=lambda name: (homes[name], name)), key=homes.__getitem__):
        listed = [name for name in names if not _is_error(name) and not name.endswith("_async")]
        if listed:
            yield from ("", f"## {module}")
        for name in listed:
            yield from ("", f"### {name}", "", *_explained(name, getattr(audiencekit, name)))


def _is_error(name: str) -> bool:
    found = getattr(audiencekit, name)
    return inspect.isclass(found) and issubclass(found, AudiencekitError)


def _explained(name: str, found: Any) -> Iterator[str]:
    if inspect.isfunction(found):
        yield from _code(name, found)
        yield from _prose(found)
        if f"{name}_async" in audiencekit.__all__:
            yield f"`{name}_async` is the same, to be awaited."
    elif inspect.isclass(found):
        yield from _prose(found)
        if dataclasses.is_dataclass(found):
            yield from (f"- `{field.name}: {field.type}`" for field in dataclasses.fields(found) if field.repr)
        for method, function in vars(found).items():
            if inspect.isfunction(function) and not method.startswith("_"):
                yield f"- `{method}{_short(function)}`: {_first_line(function)}"
            elif isinstance(function, property):
                yield f"- `{method}`: {_first_line(function)}"
    else:
        yield _of_value(name, found)


def _of_value(name: str, found: Any) -> str:
    known = {
        "AUDIENCE": "The destination `audience`, the default of `check`.",
        "DO_NOT_REACH_LIST": "The destination `do-not-reach list`, for `check`.",
        "AnySource": "The type of a source.",
        "FilePath": "The type of a path: `str`, or an object with a path in the file system, such as `pathlib.Path`.",
    }
    assert not isinstance(found, ModuleType)  # noqa: S101
    return known[name]


def _code(name: str, function: Callable[..., Any]) -> Iterator[str]:
    """The signature, a parameter a line; keywords are in their own table."""
    signature = inspect.signature(function)
    parameters = [one for one in signature.parameters.values() if one.name not in ABOUT]
    yield "```text"
    yield f"{name}("
    keyword_only = False
    for one in parameters:
        if one.kind is inspect.Parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            yield "    *,"
        default = "" if one.default is inspect.Parameter.empty else f" = {one.default!r}"
        stars = "**" if one.kind is inspect.Parameter.VAR_KEYWORD else ""
        yield f"    {stars}{one.name}: {one.annotation}{default},"
    if len(parameters) < len(signature.parameters):
        yield "    **keywords,"
    yield f") -> {signature.return_annotation}"
    yield "```"
    yield ""


def _short(function: Callable[..., Any]) -> str:
    names = [name for name in inspect.signature(function).parameters if name != "self"]
    return f"({', '.join(names)})"


def _prose(found: Any) -> Iterator[str]:
    """The docstring without the list of keywords, in paragraphs."""
    text = inspect.cleandoc(found.__doc__ or "").partition("\nKeywords:\n")[0].partition("Inside an event loop")[0]
    paragraphs = [" ".join(one.split()) for one in re.split(r"\n\s*\n", text) if one.strip()]
    for paragraph in paragraphs:
        yield from textwrap.wrap(paragraph, _WIDTH, break_long_words=False, break_on_hyphens=False)
        yield ""


def _first_line(found: Any) -> str:
    return inspect.cleandoc(found.__doc__ or "").partition("\n")[0]
