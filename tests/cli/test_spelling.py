"""Each option that the library names has its flag, and only prose of ours is changed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from hypothesis import given, strategies as st

import audiencekit
from audiencekit.cli import cli
from audiencekit.cli.spelling import spelled, spelled_document
from audiencekit.optiontext import OPTION, option

PACKAGE = Path(audiencekit.__file__).parent
_FLAG = re.compile(r"(?<![\w-])--[a-z]")
_OF_GPG = re.compile(r"\bgpg --[a-z-]+")
_COMMAND = re.compile(r"`audiencekit [^`]*(?:`|$)")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("country", None, "--country"),
        ("country", "US", "--country US"),
        ("allow_empty", True, "--allow-empty"),
        ("header", False, "--no-header"),
        ("suppress_header", False, "--suppress-no-header"),
        ("max_rejected_column_share", 1, "--max-rejected-column-share 1"),
        ("ignore", ["main phone"], "--ignore 'main phone'"),
        ("columns", {"handle": "Screen Name"}, "--map handle='Screen Name'"),
        ("columns", {"email": "COLUMN", "device_id": "COLUMN"}, "--map email=COLUMN, --map device_id=COLUMN"),
        ("split_cells", "/", "--split-cells '/'"),
        ("split_cells", "\n", "--split-cells $'\\n'"),
        ("ignore", ["a`b"], "--ignore 'a`b'"),
        ("audience_id", "1a2b", "--audience 1a2b"),
    ],
)
def test_an_option_becomes_its_flag(name: str, value: object, expected: str) -> None:
    """With values as a shell takes them."""
    assert spelled(f"say {option(name, value)}, or wait") == f"say {expected}, or wait"


def test_a_word_that_stands_for_a_value_is_kept() -> None:
    """FILE is no literal."""
    assert spelled("look at `rejections=FILE`") == "look at --rejections FILE"


@given(st.text())
def test_a_value_does_not_end_its_option(value: str) -> None:
    """Whatever a column is called."""
    found = OPTION.fullmatch(option("ignore", [value]))
    assert found is not None
    assert ast.literal_eval(found[2]) == [value]


def test_only_prose_is_changed() -> None:
    """Names of columns and values of others are data."""
    said = "say `country=`"
    document = {"name": said, "problems": [{"message": said, "columns": [said]}], "notes": [said], "hint": None}
    assert spelled_document(document) == {
        "name": said, "problems": [{"message": "say --country", "columns": [said]}], "notes": ["say --country"],
        "hint": None,
    }  # fmt: skip


def _texts() -> Iterator[tuple[str, str]]:
    """The place and text of each string in the library that is no docstring, but for the command line and emulator."""
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith(("cli/", "emulator/")):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
                yield f"{name}:{node.lineno}", node.value
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "option":
                yield (
                    f"{name}:{node.lineno}",
                    "".join(f"`{each.value}=`" for each in node.args[:1] if isinstance(each, ast.Constant)),
                )


def test_no_flag_is_spelled_elsewhere() -> None:
    """Python and Airflow have none; a whole command between backquotes is one at every door."""
    found = [place for place, text in _texts() if _FLAG.search(_COMMAND.sub("", _OF_GPG.sub("", text)))]
    others = ("machine/firstsignals.py", "sources/bytes/pgpfile.py")  # reads `sys.argv`; starts gpg
    assert [place for place in found if not place.startswith(others)] == []


def _flags(command: click.Command) -> set[str]:
    found = {flag for parameter in command.params for flag in parameter.opts}
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            each = command.get_command(context, name)
            found |= _flags(each) if each is not None else set()
    return found


def test_every_option_that_is_named_exists() -> None:
    """As a flag of a command."""
    named = {found[1] for _, text in _texts() for found in OPTION.finditer(text)}
    assert len(named) > 30
    flags = _flags(cli)
    only_python = {"settings"}  # for a keyword that `upload` does not have
    unknown = {name for name in named if spelled(f"`{name}=`") not in flags}
    assert unknown == only_python
