"""Signatures as people see them: `**keywords` written out, with types and defaults, and names that are not there told.

Checkers of types read `Unpack[Keywords]` by themselves; `help()`, notebooks and consoles ask for the signature.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial, wraps
from types import MappingProxyType
from typing import Final, ParamSpec, TypeVar

from audiencekit.errors import UsageError
from audiencekit.planning.keywords import ABOUT, ELSEWHERE

P = ParamSpec("P")
T = TypeVar("T")
_NO_MORE: Final[Mapping[str, object]] = MappingProxyType({})


def with_keywords(keywords: type, more: Mapping[str, object] = _NO_MORE) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A decorator of a function whose `**keywords` are those of the TypedDict `keywords`.

    The signature and the docstring of what comes back say each of them. `more` are the defaults of keywords that are
    not in `ABOUT`: the docstring of the function tells of them. It raises UsageError for a name that the
    function does not know, with what it is called here, and TypeError for an argument that is missing.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        signature = _written_out(inspect.signature(function), keywords, more)
        known = signature.parameters.keys()

        @wraps(function)
        def call(*given: P.args, **named: P.kwargs) -> T:
            refuse_unknown_keywords(named, known, function.__name__.removesuffix("_async"))
            signature.bind(*given, **named)
            work = [partial(function, *given, **named)]
            del given, named  # no traceback of what follows is to show a data frame, or identifiers
            return work.pop()()

        call.__doc__ = f"{function.__doc__}\n    Keywords:\n\n" + "\n".join(_lines(keywords)) + "\n    "
        call.__signature__ = signature  # type: ignore[attr-defined]  # as `inspect` wants it
        return call

    return decorate


def refuse_unknown_keywords(given: Iterable[str], known: Collection[str], function: str = "this") -> None:
    """Raises UsageError for a name of `given` that is not `known` to the `function`; says what it is called here."""
    for name in given:
        if name in known:
            continue
        hint = f"the keywords are: {', '.join(sorted(known))}"
        if name in ABOUT:
            raise UsageError(f"`{function}` does not take `{name}`", hint=hint)
        from difflib import get_close_matches  # 0.2 MB, which only this mistake needs

        near = get_close_matches(name, known, n=1)
        instead = ELSEWHERE.get(name) or (f"perhaps `{near[0]}`" if near else "")
        raise UsageError(f"there is no `{name}`" + (f"; {instead}" if instead else ""), hint=hint)


def _written_out(signature: inspect.Signature, keywords: type, more: Mapping[str, object]) -> inspect.Signature:
    defaults = {**more, **{name: about.default for name, about in ABOUT.items()}}
    named = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    written = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=kind.__forward_arg__)
        for name, kind in keywords.__annotations__.items()
    ]
    return signature.replace(parameters=[*named, *written])


def _lines(keywords: type) -> Iterator[str]:
    return (f"    {name}: {ABOUT[name].text}" for name in keywords.__annotations__ if name in ABOUT)
