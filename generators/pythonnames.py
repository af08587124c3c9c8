"""One public name as Markdown: its signature, its docstring, its fields and its methods."""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, Final

import audiencekit
from audiencekit.errors import AudiencekitError
from audiencekit.planning.keywords import ABOUT

_WIDTH: Final = 116
# Values and types have no docstring of their own.
_VALUES: Final = {
    "AUDIENCE": "The destination `audience`, the default of `check`.",
    "DO_NOT_REACH_LIST": "The destination `do-not-reach list`, for `check`.",
    "AnySource": "The type of a source.",
    "FilePath": "The type of a path: `str`, or an object with a path in the file system, such as `pathlib.Path`.",
}
# To be handed on as it is: no caller uses the methods.
_OPAQUE: Final = frozenset({"DatabaseQuery", "NoProgress"})


def summary(name: str) -> str:
    """The meaning of a name in one line."""
    return _VALUES.get(name) or _first_line(getattr(audiencekit, name))


def explained(name: str) -> Iterator[str]:
    """The lines about a name, below its heading."""
    found = getattr(audiencekit, name)
    if name in _VALUES:
        yield from (_VALUES[name], "")
    elif inspect.isfunction(found):
        yield from _function(name, found)
        if f"{name}_async" in audiencekit.__all__:
            yield from (f"`{name}_async` is the same, to be awaited.", "")
    elif issubclass(found, AudiencekitError):
        yield from _error(found)
    else:
        yield from _class(name, found)


def _error(found: type[AudiencekitError]) -> Iterator[str]:
    parents = " and ".join(f"`{base.__name__}`" for base in found.__bases__)
    yield from _prose(found)
    yield from (f"Parent: {parents}. Exit code of the command line: {found.exit_code}.", "")


def _class(name: str, found: type) -> Iterator[str]:
    yield from _prose(found)
    yield from _fields(found)
    if name in _OPAQUE:
        return
    methods = inspect.getmembers(found, _is_documented)
    for method, function in [(method, function) for method, function in methods if not method.startswith("_")]:
        yield from (f"#### {name}.{method}", "")
        if isinstance(function, property):
            yield from _prose(function)
        else:
            yield from _function(method, function)


def _is_documented(member: Any) -> bool:
    """Whether this is a method or a property that its author has explained."""
    return (inspect.isfunction(member) or isinstance(member, property)) and bool(member.__doc__)


def _fields(found: type) -> Iterator[str]:
    """The table of the fields of a dataclass."""
    fields = [field for field in dataclasses.fields(found) if field.repr] if dataclasses.is_dataclass(found) else []
    if fields:
        yield from ("| field | type | default |", "|---|---|---|")
        yield from (f"| `{one.name}` | `{_cell(one.type)}` | {_default(one)} |" for one in fields)
        yield ""


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default_factory is not dataclasses.MISSING:
        return "empty"
    return "" if field.default is dataclasses.MISSING else f"`{_cell(repr(field.default))}`"


def _cell(text: object) -> str:
    return str(text).replace("|", "\\|")


def _function(name: str, function: Callable[..., Any]) -> Iterator[str]:
    yield from _code(name, function)
    yield from _prose(function)


def _code(name: str, function: Callable[..., Any]) -> Iterator[str]:
    """The signature, a parameter a line; keywords have a table of their own."""
    signature = inspect.signature(function)
    parameters = [one for one in signature.parameters.values() if one.name not in ABOUT and one.name != "self"]
    lines = [*_parameters(parameters)]
    if any(one.name in ABOUT for one in signature.parameters.values()):
        lines.append("**keywords")
    begin = f"{'async ' if inspect.iscoroutinefunction(function) else ''}{name}("
    end = f") -> {signature.return_annotation}"
    yield "```text"
    if len(lines) > 1:
        yield from (begin, *(f"    {line}," for line in lines), end)
    else:
        yield f"{begin}{''.join(lines)}{end}"
    yield from ("```", "")


def _parameters(parameters: list[inspect.Parameter]) -> Iterator[str]:
    stars: dict[object, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    keyword_only = False
    for one in parameters:
        if one.kind is inspect.Parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            yield "*"
        yield f"{stars.get(one.kind, '')}{one.name}: {one.annotation}{_given_by_default(one)}"


def _given_by_default(one: inspect.Parameter) -> str:
    if one.default is inspect.Parameter.empty:
        return ""
    return " = ..." if callable(one.default) else f" = {one.default!r}"  # a function has its address in its repr


def _prose(found: Any) -> Iterator[str]:
    """The docstring without the list of keywords, in paragraphs."""
    text = inspect.cleandoc(found.__doc__ or "").partition("\nKeywords:\n")[0].partition("Inside an event loop")[0]
    paragraphs = [" ".join(one.split()) for one in re.split(r"\n\s*\n", text) if one.strip()]
    for paragraph in paragraphs:
        yield from textwrap.wrap(paragraph, _WIDTH, break_long_words=False, break_on_hyphens=False)
        yield ""


def _first_line(found: Any) -> str:
    return inspect.cleandoc(found.__doc__ or "").partition("\n")[0]
