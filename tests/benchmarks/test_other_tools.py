"""Tools of others are called as they are, each with the country where it takes one; those that fail are named."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from audiencekit.conformance import verifying
from audiencekit.conformance.fault_classes import BY_CODE
from audiencekit.conformance.vectors import Vector, read_vectors
from audiencekit.conformance.verifying import verify_function
from audiencekit.identifiers.kinds import Kind
from audiencekit.reporting.verification import FoundFault, Verification
from benchmarks.other_tools import __main__ as command, rules
from benchmarks.other_tools.__main__ import BEGIN, END, Trial, make_text, try_tool
from benchmarks.other_tools.environments import Environment, NotInstalled, install, place_of
from benchmarks.other_tools.rules import RULES, Forgiving
from benchmarks.other_tools.tools import TOOLS, Language, Tool, as_calling_code
from tests.cases import each_case

ROOT = Path(__file__).resolve().parents[2]
TOY = """
import hashlib, sys
print("a tool that talks")
def digest(text, country=None):
    if text == "raise":
        raise ValueError(text)
    if text == "none":
        return None
    return hashlib.sha256(f"{text.strip().lower()}{country or ''}".encode()).hexdigest()
"""
IN_NODE = """
const { createHash } = require("crypto");
console.log("a tool that talks");
function digest(text, country) {
  if (text === "raise") throw new Error(text);
  if (text === "none") return null;
  return createHash("sha256").update(text.trim().toLowerCase() + (country ?? "")).digest("hex");
}
"""


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _toy(folder: Path, name: str = "toy", call: str = "digest(text, country)", setup: str = "") -> Tool:
    """A tool of Python that is installed below `folder` already: its module is in a place of its own."""
    tool = Tool(
        name=name,
        language=Language.PYTHON,
        requirements=(name,),
        called="`digest`",
        normalises="trims, lower-cases",
        setup=setup or f"import sys\nsys.path.insert(0, {str(folder)!r})\nfrom toy import digest",
        calls={Kind.HANDLE: call},
    )
    place = place_of(tool, folder)
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "python").symlink_to(sys.executable)
    (place / "installed").touch()
    (folder / "toy.py").write_text(TOY)
    return tool


@cache
def _vectors() -> tuple[Vector, ...]:
    return tuple(read_vectors())


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every 40th handle is a vector: all of them take seconds."""
    handles = [vector for vector in _vectors() if vector.kind is Kind.HANDLE and not vector.declared_hashed]
    monkeypatch.setattr(verifying, "read_vectors", lambda: handles[::40])
    monkeypatch.setattr(rules, "read_vectors", _vectors)


LINES = [(" Ada ", _sha256("ada")), ("Zoë", _sha256("zoë")), ("raise", ""), ("none", ""), ("", _sha256(""))]
PAIRS = [
    (["Ada", "DE"], _sha256("adaDE")),
    (["Ada", None], _sha256("ada")),
    (["two\nlines", None], _sha256("two\nlines")),
    (["raise", "DE"], None),
    (["none", None], None),
]


def _call(words: list[str], form: str) -> None:
    lines = [text for text, _ in LINES] if form == "lines" else [json.dumps(pair) for pair, _ in PAIRS]
    given = "".join(f"{line}\n" for line in lines).encode()
    done = subprocess.run(words, input=given, stdout=subprocess.PIPE, check=True)
    answered = done.stdout.decode().split("\n")[:-1]
    if form == "lines":
        assert answered == [digest for _, digest in LINES]
    else:
        assert [json.loads(line) for line in answered] == [digest for _, digest in PAIRS]


@pytest.mark.parametrize("form", ["lines", "pairs"])
def test_a_function_of_python_is_called_for_each_value(form: str, tmp_path: Path) -> None:
    """A refusal or an exception is a blank; what the tool prints itself is no answer."""
    _call(Environment(tool := _toy(tmp_path), place_of(tool, tmp_path)).command(Kind.HANDLE, form), form)


@pytest.mark.services
@pytest.mark.parametrize("form", ["lines", "pairs"])
def test_a_function_of_node_is_called_for_each_value(form: str, tmp_path: Path) -> None:
    """It is required from the folder where it is installed."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "toy.js").write_text(f"{IN_NODE}module.exports = {{ digest }};")
    tool = replace(_toy(tmp_path), language=Language.NODE, setup='const { digest } = require("toy");')
    _call(Environment(tool, tmp_path).command(Kind.HANDLE, form), form)


def _base64(text: str, country: str | None) -> str:
    return base64.b64encode(hashlib.sha256(text.strip().lower().encode()).digest()).decode()


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("is_with_country", [False, True])
def test_a_tool_is_counted_by_both_rules(is_with_country: bool, tmp_path: Path) -> None:
    """As a function of this process is: hex by the specification, base64 by the rule of the service."""
    call = "__import__('base64').b64encode(bytes.fromhex(digest(text))).decode()"
    tool = replace(_toy(tmp_path, call=call), rule=rules.UID2)
    if is_with_country:
        tool = replace(tool, country=as_calling_code, kinds_with_country=frozenset({Kind.HANDLE}))
    [trial] = try_tool(install(tool, tmp_path))
    assert trial.found.right == 0
    in_hex = verify_function(lambda text, _: _sha256(text.strip().lower()), kind="handle")
    assert trial.by_rule.right == in_hex.right > 10
    in_base64 = verify_function(_base64, kind="handle")
    assert {fault.code for fault in trial.found.faults} == {fault.code for fault in in_base64.faults} > {"base64"}


@pytest.mark.usefixtures("few")
def test_one_tool_that_fails_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that is not installed, ends at once, breaks, or refuses all is named below the table; the exit code is 1."""
    node = replace(_toy(tmp_path, "npm"), language=Language.NODE)
    silent = _toy(tmp_path, "silent", setup="raise SystemExit(0)")
    silent_pairs = replace(_toy(tmp_path, "pairs", setup="raise SystemExit(0)"), country=as_calling_code)
    silent_pairs = replace(silent_pairs, kinds_with_country=frozenset({Kind.HANDLE}))
    broken = _toy(tmp_path, "broken", setup="import no_such_module")
    refusing = _toy(tmp_path, "refusing", call="no_such_name")
    tools = (node, silent, silent_pairs, broken, refusing, _toy(tmp_path, "good"))
    monkeypatch.setattr(command, "TOOLS", tools)
    monkeypatch.setenv("PATH", str(tmp_path))
    out = tmp_path / "page.md"
    out.write_text(f"before\n{BEGIN}\n{END}\nafter\n")
    assert command.main(["--dir", str(tmp_path), "--out", str(out)]) == 1
    written = out.read_text()
    assert re.findall("^Not tried: (.*)$", written, re.MULTILINE) == [
        "npm, as node and npm are not found.",
        "silent, as the program printed 0 lines for 65 values.",
        "pairs, as the program did not answer 65 values.",
        "broken, as the program ended with exit code 1.",
        "refusing, as the program gave no digest of any handle.",
    ]
    assert re.findall("^\\| (\\w+), `handle` \\|", written, re.MULTILINE) == ["good"]
    assert (written.startswith("before\n"), written.endswith("\nafter\n")) == (True, True)
    assert "broken: the program ended" in capsys.readouterr().err


@pytest.mark.slow
def test_a_package_that_pip_does_not_find_is_named(tmp_path: Path) -> None:
    """In an environment of its own; the next start tries again."""
    tool = replace(_toy(tmp_path), requirements=(str(tmp_path / "missing"),))
    with pytest.raises(NotInstalled, match=r"^pip ended with exit code 1$"):
        install(tool, tmp_path)
    assert not (place_of(tool, tmp_path) / "installed").exists()


@pytest.mark.usefixtures("few")
def test_nothing_is_written_when_no_tool_could_be_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of yesterday is better than none."""
    monkeypatch.setattr(command, "TOOLS", (_toy(tmp_path, setup="import no_such_module"),))
    out = tmp_path / "page.md"
    out.write_text(f"{BEGIN}\nyesterday\n{END}\n")
    assert command.main(["--dir", str(tmp_path), "--out", str(out)]) == 1
    assert "yesterday" in out.read_text()


@each_case(
    "options, message",
    [
        (["--tool", "drt-core", "--out", "page.md"], "leave --tool out"),
        (["--out", "page.md"], "No such file"),
        (["--out", str(ROOT / "README.md")], "must have the lines"),
        (["--tool", "unheard"], "invalid choice"),
    ],
)
def test_options_are_refused_before_anything_is_installed(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten minutes later would be late."""
    with pytest.raises(SystemExit, match="2"):
        command.main(options)
    assert message in capsys.readouterr().err


def _found(right: int, wrong: int, **rows: int) -> Verification:
    faults = tuple(
        FoundFault(code=code, column="email", rows=count, share=0.1, message="", remedy="")
        for code, count in rows.items()
    )
    return Verification(subject="vectors", right=right, wrong=wrong, same_rows=True, columns=(), faults=faults)


def test_the_table_names_the_classes_of_the_most_vectors(tmp_path: Path) -> None:
    """Without those that the rule of the service asks for; six are named, and values without a digest are no class."""
    tool = replace(_toy(tmp_path), rule=rules.META)
    classes = dict.fromkeys(["case", "quotes", "scheme", "brackets", "accents", "tags", "dots", "md5"], 3)
    found = _found(250, 1_750, left_out=9, no_plus=1_500, white_space=1_200, **classes)
    trials = [
        Trial(tool=tool, kind=Kind.HANDLE, found=found, by_rule=_found(1_500, 500)),
        Trial(tool=_toy(tmp_path, "other"), kind=Kind.EMAIL, found=_found(2, 0), by_rule=_found(2, 0)),
    ]
    text = make_text(trials, [(tool, "it is gone")], "2026-11-29")
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    first = "`white_space` 1,200, `case` 3, `quotes` 3, `scheme` 3, `brackets` 3, `accents` 3, 3 more"
    assert lines[1:3] == [
        f"| toy, `handle` | 12.5% of 2,000 | 75.0% of 2,000, `meta` | 9 | {first} | `left_out` 9 |",
        "| other, `email` | 100.0% of 2 | – | 0 | – | – |",
    ]
    assert lines[4:6] == [
        "| toy | `toy` | `digest` | trims, lower-cases | – |",
        "| other | `other` | `digest` | trims, lower-cases | – |",
    ]
    assert lines[7] == f"| `meta` | {rules.META.source} | `no_plus` |"
    assert text.startswith("Tried on 2026-11-29 by `python -m benchmarks.other_tools --out docs/verify.md`.")
    assert text.endswith("\n\nNot tried: toy, as it is gone.")


@each_case(
    "rule, kind, text, by_rule",
    [
        (rules.META, Kind.PHONE_NUMBER, "+", lambda normal: _sha256(normal[1:])),
        (rules.TIKTOK, Kind.PHONE_NUMBER, "+", lambda normal: _sha256(normal[1:])),
        (rules.GOOGLE_CONVERSIONS, Kind.EMAIL, "@gmail.com", lambda normal: _sha256(_gmail(normal, "."))),
        (rules.GOOGLE_DATA_MANAGER, Kind.EMAIL, "@gmail.com", lambda normal: _sha256(_gmail(normal, ".+"))),
    ],
)
def test_a_digest_by_the_rule_of_a_service_is_forgiven(
    rule: rules.Rule, kind: Kind, text: str, by_rule: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The digest of the specification is in its place; any other one stays."""
    monkeypatch.setattr(rules, "read_vectors", _vectors)
    seen, forgiving = 0, Forgiving(rule, kind)
    for vector in _vectors():
        if vector.kind is kind and vector.normalised and text in vector.normalised:
            given = (vector.input, vector.country)
            assert forgiving.forgive(*given, by_rule(vector.normalised)) == vector.digest
            assert forgiving.forgive(*given, "other") == "other"
            assert forgiving.forgive(*given, None) is None
            seen += 1
    assert seen > 10


def _gmail(address: str, signs: str) -> str:
    local = address.split("@")[0]
    local = local.split("+")[0] if "+" in signs else local
    return f"{local.replace('.', '')}@gmail.com"


def test_a_country_is_written_as_a_tool_takes_it() -> None:
    """With its plus."""
    assert [as_calling_code(country) for country in ("DE", "GB", "US")] == ["+49", "+44", "+1"]


def test_the_published_table_is_of_the_tools_of_today() -> None:
    """Each kind of each tool has a line, at the version of the table; to change one is to run the command again."""
    section = (ROOT / "docs" / "verify.md").read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    lines = [line.split(" | ") for line in section.splitlines() if line.startswith("| ")]
    assert [f"| {tool.name}, `{kind.value}`" for tool in TOOLS for kind in tool.calls] == [
        line[0] for line in lines if re.search(", `\\w+`$", line[0])
    ]
    described = {line[0]: line[1:4] for line in lines}
    for tool in TOOLS:
        requirements = ", ".join(f"`{one}`" for one in tool.requirements)
        assert described[f"| {tool.name}"] == [requirements, tool.called, tool.normalises]
    assert "Not tried" not in section


def test_every_class_that_a_rule_asks_for_exists() -> None:
    """And every version is pinned."""
    assert {code for rule in RULES.values() for code in rule.codes} <= BY_CODE.keys()
    for tool in TOOLS:
        sign = "==" if tool.language is Language.PYTHON else "@"
        assert all(re.fullmatch(rf".+{sign}[\d.]+", one) for one in tool.requirements), tool.name
