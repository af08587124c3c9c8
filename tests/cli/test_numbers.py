"""Numbers of every option of every command: one that is none, has no end or is of no use is refused by its option."""

from __future__ import annotations

import math
from collections.abc import Iterator

import click
import pytest

import audiencekit.cli
from audiencekit.cli.emulator import Rate
from audiencekit.cli.options import PeopleOrKeep
from tests.cases import each_case
from tests.commandtree import commands_of

NUMBERS = (click.types.IntParamType, click.types.FloatParamType, Rate, PeopleOrKeep)
NONE = (
    "nan",
    "NaN",
    "inf",
    "-inf",
    "1e999",
    "-1e999",
    "",
    "9" * 5_000,
    f"{'9' * 5_000}/60",
    f"60/{'9' * 400}",
    "nan/nan",
)
NEGATIVE = ("-1", "-0.5", "-1/60")
# A seed is any number, and the others are judged with the settings: tests/test_settings.py.
NEGATIVE_TOO = frozenset({"--seed", "--concurrency", "--requests-per-minute"})


def _numbers(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command, click.Option]]:
    for name, command in commands_of(group):
        if isinstance(command, click.Group):
            yield from _numbers(command, (*path, name))
        for one in command.params:
            if isinstance(one, click.Option) and isinstance(one.type, NUMBERS):
                yield " ".join((*path, name)), command, one


OPTIONS = {f"{name} {one.opts[-1]}": (command, one) for name, command, one in _numbers(audiencekit.cli.cli)}


@each_case("name", OPTIONS)
def test_a_number_of_no_use_is_refused_by_its_option(name: str) -> None:
    """Before anything is done."""
    command, option = OPTIONS[name]
    for given in NONE if option.opts[-1] in NEGATIVE_TOO else (*NONE, *NEGATIVE):
        with pytest.raises(click.BadParameter) as refused:
            option.type_cast_value(click.Context(command), given)
        assert f"'{option.opts[-1]}'" in refused.value.format_message()


def test_the_options_with_numbers_are_seen() -> None:
    """Those of click's types and of ours."""
    assert {"run --max-minutes", "emulator --rate", "sync --allow-shrink", "renew --ttl-days"} <= OPTIONS.keys()
    for command, option in OPTIONS.values():
        default = option.get_default(click.Context(command))
        assert default is None or not isinstance(default, float) or math.isfinite(default)
