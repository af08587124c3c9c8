"""The features of the specification, each with the tests that show it; and the page of the documentation about them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
PREFACE = """\
# Coverage of the specification

*Reference*

The specification has three parts: 0 is authorization and the data API, 1 the advertising API from conventions to
tracking, 2 audiences, creatives and insights. These are all of its systems, features, rules and limits. This page is
made from `tests/specification/features.toml` by `python -m tests.specification`; a test says when it is out of date,
and that each test it names is there.

"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One feature. `none` is the sentence by which the specification gives no endpoint for it."""

    place: str
    name: str
    shown_by: tuple[str, ...] = ()
    none: str = ""
    reading: str = ""


@cache
def features() -> tuple[Feature, ...]:
    """All of them, in the order of the specification."""
    rows = tomllib.loads((Path(__file__).parent / "features.toml").read_text(encoding="utf-8"))["feature"]
    return tuple(Feature(**{**row, "shown_by": tuple(row.get("shown_by", ()))}) for row in rows)


def write_page() -> str:
    """The text of `docs/specification.md`."""
    return PREFACE + "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    missing = [feature for feature in features() if feature.none]
    yield f"{len(features()) - len(missing)} of {len(features())} are here. For the others the specification shows no"
    yield "endpoint: the table quotes its sentence."
    yield ""
    yield from ("| # | part, section | feature | shown by | the reading taken |", "|---|---|---|---|---|")
    for number, feature in enumerate(features(), start=1):
        yield f"| {number} | {feature.place} | {feature.name} | {_evidence(feature)} | {feature.reading} |"


def _evidence(feature: Feature) -> str:
    if feature.none:
        return f"not here: “{feature.none}”"
    return "<br>".join(f"[{_title(test)}](../tests/{test.partition('::')[0]})" for test in feature.shown_by)


def _title(test: str) -> str:
    return test.partition("::")[2].replace("_", " ")
