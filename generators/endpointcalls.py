"""`audiencekit/api/endpointcalls.pyi`: the endpoints of the catalogue as types, for checkers of types alone.

A name that is not there, a parameter of another endpoint and a value of another type are found before a program runs.

Where no overload fits, mypy lists all of them, 137 lines for a typo, unless one fits roughly. The last overload does:
its type variable admits a sequence, and a text is one, but of no items. So mypy says in one line that
"EndpointWithTheseParameters" cannot be "Literal['get_campain']". The literal in the bound makes mypy name the value.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Final

from audiencekit.api.catalogue import ENDPOINTS, Endpoint
from audiencekit.api.catalogue.parameters import Parameter, Type

_PREFACE: Final = """\
# Made from the catalogue by `python -m generators`; a test says when it is out of date.

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Never, Protocol, Required, TypedDict, TypeVar, overload

from audiencekit.api.catalogue.endpoint import Endpoint
from audiencekit.api.answers import Answer
from audiencekit.personal import Secret

# For messages of mypy alone: no text is of this type.
EndpointWithTheseParameters = TypeVar("EndpointWithTheseParameters", bound=Literal[b""] | Sequence[Never])
"""
_NONE_FITS: Final = "name: EndpointWithTheseParameters, parameters: object = None"
_LINE: Final = 118
_TYPES: Final = {
    Type.BOOLEAN: "bool",
    Type.INT: "int",
    Type.LONG: "int | str",
    Type.DATETIME: "str | datetime",
    Type.CSV_STRING: "str | Sequence[str]",
    Type.CSV_ENUM: "str | Sequence[str]",
    Type.CSV_LONG: "str | Sequence[int | str]",
    Type.OBJECT: "dict[str, Any]",
}
_ITEMS: Final = {"text": "list[str]"}


def write_stub() -> str:
    """The stub."""
    paged = [row for row in ENDPOINTS if row.is_paged]
    pages = [row for row in ENDPOINTS if row.answer == "page"]
    called = [row for row in ENDPOINTS if row.answer != "page"]
    parts = [_PREFACE, *map(_parameters, ENDPOINTS)]
    parts += [_protocol("CallByName", "async def", called, "Answer", bodies=True)]
    parts += [_protocol("PagesByName", "def", paged, "AsyncIterator[Answer]")]
    parts += [_protocol("ItemsByName", "def", paged, "AsyncIterator[Any]")]
    return "\n".join([*parts, _link(pages)])


def _class_name(row: Endpoint) -> str:
    return "".join(part.capitalize() for part in row.name.split("_"))


def _given(row: Endpoint) -> list[Parameter]:
    """The parameters that a caller may give by name; those of operations stand in the body."""
    elsewhere = {"header", "body"} if row.body == "json_array_of_operations" else {"header"}
    return [one for one in row.parameters if one.place not in elsewhere]


def _is_required(one: Parameter) -> bool:
    return one.required is True and one.place != "body" and one.name != "account_id"


def _parameters(row: Endpoint) -> str:
    given, name = _given(row), _class_name(row)
    if not all(one.name.isidentifier() for one in given):
        lines = [f'        "{one.name}": {_member(one)},' for one in given]
        return "\n".join(
            [f"{name} = TypedDict(", f'    "{name}",', "    {", *lines, "    },", "    total=False,", ")", ""]
        )
    members = [f"    {one.name}: {_member(one)}" for one in given]
    return "\n".join([f"class {name}(TypedDict, total=False):", *(members or ["    pass"]), ""])


def _member(one: Parameter) -> str:
    return f"Required[{_type(one)}]" if _is_required(one) else f"{_type(one)} | None"


def _type(one: Parameter) -> str:
    if one.secret:
        return "str | Secret"
    if one.values and one.type in (Type.ENUM, Type.INT):
        return _literal(one.values)
    if one.values and one.type is Type.CSV_ENUM:
        return f"str | Sequence[{_literal(one.values)}]"
    if one.type is Type.ARRAY:
        return _ITEMS.get(one.items or "", "list[Any]")
    return _TYPES.get(one.type, "str")


def _literal(values: tuple[str | int, ...]) -> str:
    whole = f"Literal[{', '.join(map(_quoted, values))}]"
    if len(whole) < _LINE // 2:
        return whole
    lines = textwrap.fill(", ".join(map(_quoted, values)), _LINE - 8, break_long_words=False, break_on_hyphens=False)
    return "Literal[\n" + textwrap.indent(lines, " " * 8) + "\n    ]"


def _quoted(value: str | int) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _protocol(name: str, define: str, rows: list[Endpoint], result: str, *, bodies: bool = False) -> str:
    lines = [f"class {name}(Protocol):"]
    for row in rows:
        lines += ["    @overload", *_overload(row, define, result, bodies=bodies)]
    body = ", body: Any = None" if bodies else ""
    given = "parameters: Mapping[str, Any] | None = None"
    lines += ["    @overload", f"    {define} __call__(self, name: Endpoint, {given}{body}) -> {result}: ..."]
    body = ", body: object = None" if bodies else ""
    lines += ["    @overload", f"    {define} __call__(self, {_NONE_FITS}{body}) -> {result}: ...", ""]
    return "\n".join(lines)


def _overload(row: Endpoint, define: str, result: str, *, bodies: bool) -> Iterator[str]:
    needs_body = bodies and row.body == "json_array_of_operations"
    needs_parameters = any(map(_is_required, row.parameters))
    parameters = _class_name(row) if needs_parameters else f"{_class_name(row)} | None"
    default = "" if needs_parameters or needs_body else " = None"
    body = ", body: Any" if needs_body else ", body: Any = None" if bodies and row.body else ""
    yield f"    {define} __call__("
    yield f'        self, name: Literal["{row.name}"], parameters: {parameters}{default}{body}'
    yield f"    ) -> {result}: ..."


def _link(rows: list[Endpoint]) -> str:
    names = ", ".join(f'"{row.name}"' for row in rows)
    parameters = " | ".join(map(_class_name, rows))
    return textwrap.dedent(f"""\
        class LinkByName(Protocol):
            @overload
            def __call__(self, name: Literal[{names}], parameters: {parameters}) -> str: ...
            @overload
            def __call__(self, name: Endpoint, parameters: Mapping[str, Any]) -> str: ...
            @overload
            def __call__(self, {_NONE_FITS}) -> str: ...
        """)
