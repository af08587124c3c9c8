"""The documentation says what the program is: nothing less, nothing more."""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import pytest

import audiencekit
from audiencekit import errors, limits
from audiencekit.api.answers import Answer
from audiencekit.api.catalogue import BY_NAME
from audiencekit.api.client import AdsClient
from audiencekit.audiences.erasure.forms import FORMS
from audiencekit.cli import cli
from audiencekit.destinations.target import Target
from audiencekit.identifiers.kinds import Kind, Reason
from audiencekit.reporting.report import Plan, Report, RowCounts
from audiencekit.runs.purge import PurgeReceipt
from audiencekit.settings import (
    ADDRESSES,
    AGE_IDENTITY,
    CHOICES,
    COLLECTOR,
    FILE_KEYS,
    KEY_COMMAND,
    KEY_NAME,
    KNOWN_HOSTS,
    NETWORK,
    NOTIFICATIONS,
    PREFIX,
    RULES,
    SECRET_NAMES,
)
from tests.cases import each_case
from tests.commandtree import commands_of
from tests.moments import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "samples/README.md", *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
SETUP = [
    "python3 -m venv .venv && . .venv/bin/activate && pip install . && audiencekit demo",
    "pip install '.[test]' && pytest",
]


def _page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def _sections(text: str) -> dict[str, str]:
    """The text below each heading of the second level."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def _rows(text: str) -> list[list[str]]:
    """The cells of every table row, headings and rules left out."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in cells if row[0].startswith("`")]


def _code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def _commands(command: click.Command = cli, path: str = "audiencekit") -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name, child in commands_of(command):
            yield from _commands(child, f"{path} {name}")


def _options(command: click.Command) -> list[click.Option]:
    return [option for option in command.params if isinstance(option, click.Option) and option.name != "help"]


def _page_of(path: str) -> str:
    """The page of a command, by its path from `docs/`. `audiencekit` alone is on the first page of the commands."""
    return f"commands/{[*path.split(), 'index'][1]}.md"


def _section_of(path: str) -> str:
    """The text about a command: a section of its page, or the page before its sections."""
    page = _page(_page_of(path))
    if path == "audiencekit":
        return _sections(page)["Options of all commands"]
    return _sections(page)[path] if len(path.split()) > 2 else page.partition("\n## audiencekit ")[0]


def _documented_options(path: str) -> dict[str, list[str]]:
    """Option -> its row in the table of the command, or in a shared table that its section links to."""
    by_slug = {_slug(heading): text for heading, text in _sections(_page("commands/options.md")).items()}
    own = _section_of(path)
    links = (target.partition("options.md#") for target in LINK.findall(own))
    shared = [by_slug[anchor] for before, _, anchor in links if anchor and not before]
    rows = [row for text in (own, *shared) for row in _rows(text)]
    return {_code(row[0])[0].split()[0]: row for row in rows if _code(row[0])[0].startswith("--")}


COMMANDS = dict(_commands())


def test_every_command_has_its_page() -> None:
    """And each command of a group its section there. None is about a command that is none."""
    pages = {f"commands/{page.name}" for page in (ROOT / "docs/commands").glob("*.md")} - {"commands/options.md"}
    assert pages == set(map(_page_of, COMMANDS))
    sections = [heading for page in pages for heading in _sections(_page(page)) if heading.startswith("audiencekit")]
    assert sorted(sections) == sorted(path for path in COMMANDS if len(path.split()) > 2)


@each_case("path", [path for path in COMMANDS if len(path.split()) == 2])
def test_the_page_of_a_command_begins_with_its_purpose_and_an_example(path: str) -> None:
    """Its name, its kind, one sentence, and a block with the command; the options come after it."""
    page = _page(_page_of(path))
    before, example, after = re.split(r"^```sh\n(.*?)^```$", page, maxsplit=1, flags=re.MULTILINE | re.DOTALL)
    assert re.match(rf"# {path}\n\n\*Reference\*\n\n[A-Z][^\n]*\.\n\n", before)
    assert "| option |" not in before
    assert path in example
    assert bool(_options(COMMANDS[path])) == ("| option |" in after.partition("\n## ")[0])


KINDS = ("Tutorial", "How-to", "Reference", "Explanation")
READERS = ("For marketers", "For data engineers", "For privacy reviewers", "For developers")


@each_case("page", sorted((ROOT / "docs").rglob("*.md")))
def test_each_page_says_its_kind(page: Path) -> None:
    """In one line under its title; the first page explains the kinds."""
    lines = page.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    if page != ROOT / "docs/index.md":
        assert lines[2].strip("*") in KINDS
        assert lines[2] == f"*{lines[2].strip('*')}*"
        assert (lines[1], lines[3]) == ("", "")


def test_the_index_has_every_page_by_its_reader_and_its_kind() -> None:
    """Readers in their order, and for each the kinds in theirs; table and contents of the site are one."""
    text = _page("index.md")
    sections = _sections(text)
    assert tuple(sections) == READERS
    listed: list[str] = []
    for section in sections.values():
        rows = re.findall(r"^\| [^|]+ \| \[[^\]]+\]\(([^)]+)\.md\) \| ([a-z-]+) \|$", section, flags=re.MULTILINE)
        contents = section.partition(":hidden:\n\n")[2].partition("\n:::")[0].splitlines()
        assert [name for name, _ in rows] == contents
        order = [KINDS.index(kind.capitalize()) for _, kind in rows]
        assert order == sorted(order)
        for name, kind in rows:
            if not name.startswith("../"):
                assert _page(f"{name}.md").splitlines()[2] == f"*{kind.capitalize()}*", name
        listed += contents
    pages = {str(page.relative_to(ROOT / "docs").with_suffix("")) for page in (ROOT / "docs").rglob("*.md")}
    commands = {page for page in pages if page.startswith("commands/")} - {"commands/index"}
    assert {name for name in listed if not name.startswith("../")} == pages - commands - {"index"}
    assert len(listed) == len(set(listed))


def test_the_map_for_language_models_has_every_page_of_the_index() -> None:
    """As llmstxt.org has it: a title, a summary, and lists of links with notes. Developers are its optional part."""
    index, text = _page("index.md"), (ROOT / "docs/llms.txt").read_text(encoding="utf-8")
    assert re.match(r"# audiencekit\n\n> ", text)
    assert [*_sections(text)] == [*READERS[:-1], "Optional"]
    linked = re.findall(r"^- \[[^\]]+\]\((\S+)\.html\): \S", text, flags=re.MULTILINE)
    wanted = re.findall(r"^\| [^|]+ \| \[[^\]]+\]\(([^)]+)\.md\)", index, flags=re.MULTILINE)
    assert linked == [os.path.normpath(f"docs/{name}") for name in wanted]


@each_case("path", COMMANDS)
def test_the_options_of_a_command_are_those_of_its_section(path: str) -> None:
    """By their long names."""
    assert set(_documented_options(path)) == {option.opts[0] for option in _options(COMMANDS[path])}


@each_case("path", COMMANDS)
def test_defaults_are_documented(path: str) -> None:
    """A default that is a word or a number stands in the option's row; a required option says so."""
    documented = _documented_options(path)
    for option in _options(COMMANDS[path]):
        default = documented[option.opts[0]][1]
        if option.required:
            assert default == "required", option.opts
        elif isinstance(option.default, str | int | float) and not isinstance(option.default, bool) and option.name:
            # A free port is what 0 means.
            expected = "a free one" if option.name == "port" else str(option.default)
            assert default.strip("`") == expected, option.opts


def test_every_setting_is_documented() -> None:
    """Every variable of the environment, and every key of the settings file."""
    section = _sections(_page("accounts.md"))["Settings from the environment"]
    names = {*FILE_KEYS, *CHOICES, *ADDRESSES, *NETWORK, *RULES, *NOTIFICATIONS, *COLLECTOR, *SECRET_NAMES}
    names |= {"state", "state_head", "state_witness", KEY_NAME, KEY_COMMAND, AGE_IDENTITY, KNOWN_HOSTS}
    assert {name for row in _rows(section) for name in _code(row[0])} == {PREFIX + name.upper() for name in names}
    assert all(f"`{key}`" in section for key in FILE_KEYS)


def test_the_reasons_are_the_closed_list() -> None:
    """Each once, and no other."""
    documented = [_code(row[0])[0] for row in _rows(_sections(_page("messages.md"))["Reasons"])]
    assert sorted(documented) == sorted(Reason)


def test_reason_codes_of_other_pages_exist() -> None:
    """Reasons in samples/README.md exist."""
    reasons = {*Reason}
    words = re.findall(r"`([a-z]+_[a-z_]+)`", (ROOT / "samples/README.md").read_text(encoding="utf-8"))
    assert {word for word in words if word not in reasons} <= {
        "upload_contacts",
        "warehouse_to_audience",
        "spark_job",
        "webhook_receiver",
    }


def test_every_limit_is_documented_with_its_value() -> None:
    """And nothing that is no limit."""
    documented = {
        _code(row[0])[0]: row[1].replace(",", "") for row in _rows(_page("limits.md").partition("\n## The pace\n")[0])
    }
    constants = {name: value for name, value in vars(limits).items() if name.isupper()}
    assert set(documented) == set(constants)
    wrong = [name for name, text in documented.items() if type(constants[name])(text) != constants[name]]
    assert wrong == []
    assert all(row[2] and row[3] for row in _rows(_page("limits.md").partition("\n## The pace\n")[0])), (
        "a unit and a source each"
    )


def test_every_error_is_documented_with_its_parents_and_exit_code() -> None:
    """And no other."""
    tree = _sections(_page("messages.md"))["Classes of errors"]
    documented = {_code(row[0])[0]: (_code(row[1]), int(row[2])) for row in _rows(tree)}
    classes = {
        name: ([base.__name__ for base in cls.__bases__], cls.exit_code)
        for name, cls in inspect.getmembers(errors, inspect.isclass)
        if issubclass(cls, errors.AudiencekitError)
    }
    assert documented == classes


def test_every_error_has_a_remedy() -> None:
    """In the same row."""
    rows = _rows(_sections(_page("messages.md"))["Classes of errors"])
    assert [row[0] for row in rows if len(row) != 5 or not row[4]] == []


def test_every_exit_code_of_an_error_is_documented() -> None:
    """In the table of docs/messages.md."""
    codes = {str(cls.exit_code) for cls in vars(errors).values() if inspect.isclass(cls) and hasattr(cls, "exit_code")}
    section = _sections(_page("messages.md"))["Exit codes"]
    assert codes | {"0", "130"} == set(re.findall(r"^\| (\d+) \|", section, flags=re.MULTILINE))


def _keys(document: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in document.items():
        yield prefix + key
        if isinstance(value, dict):
            yield from _keys(value, f"{prefix}{key}.")


def test_every_key_of_the_report_is_documented() -> None:
    """And no other."""
    rows, target = RowCounts(read=0), Target.audience("a")
    report = Report(run_id="r", state="complete", target=target, operation="update", rows=rows, started_at="t")
    section = _sections(_page("report.md"))["Report"]
    assert sorted(_code(row[0])[0] for row in _rows(section)) == sorted(_keys(report.to_json()))


def test_every_key_of_the_check_is_documented() -> None:
    """And no other, apart from the counts of rows, which are those of the report."""
    plan = Plan(
        source={}, columns={}, rows=RowCounts(read=0), identifiers={}, rejections={}, requests=0, operations=0,
        records=0, bytes=0, minutes=0.0, fill_ratio=None, plan_time="t", expires_at="t", effective_at=None,
        verdict="empty",
    )  # fmt: skip
    keys = {key for key in _keys(plan.to_json()) if not key.startswith("rows.")}
    section = _sections(_page("report.md"))["Check"]
    assert sorted(_code(row[0])[0] for row in _rows(section)) == sorted(keys)


def test_every_form_of_an_erasure_is_documented_with_its_source() -> None:
    """In the order of the table, and no other."""
    section = _sections(_page("erasure.md"))["The forms that are tried"]
    documented = [(_code(row[0])[0], row[1], row[2]) for row in _rows(section)]
    assert documented == [(form.kind.value, form.words, form.source) for form in FORMS]


def test_every_key_of_a_receipt_is_documented() -> None:
    """And no other."""
    receipt = audiencekit.Receipt(
        erasure_id="e", account_id="a", profile="p", started_at="t", asked=0, identifiers={}, forms={}, rejected={}
    )
    section = _sections(_page("erasure.md"))["The receipt"]
    documented = {key for row in _rows(section) for key in _code(row[0])}
    assert documented == set(receipt.to_json())


def test_every_key_of_the_receipt_of_a_purge_is_documented() -> None:
    """And every kind that it counts, and no other."""
    document = PurgeReceipt.of(timedelta(days=30), datetime.now(UTC), "command").to_json()
    rows = _rows(_page("resuming.md").partition("### The receipt of a purge")[2].partition("\n## ")[0])
    assert {key for row in rows for key in _code(row[0])} == set(document)
    kinds = {key: set(_code(row[1])) for row in rows for key in _code(row[0])}
    for key in ("expired", "removed", "kept"):
        assert kinds[key] == set(document[key])


def test_every_method_of_the_client_is_documented() -> None:
    """And every member of an answer, and no other."""
    parts = re.split(r"^### (.+)$", _sections(_page("python.md"))["The API"], flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    methods = {name for name in dir(AdsClient) if not name.startswith("_")}
    assert {_code(row[0])[0] for row in _rows(sections["Methods"])} == methods
    members = {field.name for field in dataclasses.fields(Answer)}
    assert {_code(row[0])[0] for row in _rows(sections["Answers"])} == members
    endpoints = {_code(row[1])[0] for row in _rows(sections["Methods"]) if _code(row[1])}
    assert endpoints <= set(BY_NAME)


def _examples() -> Iterator[tuple[str, str, str | None, str]]:
    """(kind, raw, country, normalised) of the table of examples."""
    for kind, raw, hashed in (row for row in _rows(_sections(_page("identifiers.md"))["All kinds"])):
        country = re.search(r"country (\w+)", raw)
        written = _code(raw)[0]
        expected = _code(hashed)[0] if _code(hashed) else written
        yield _code(kind)[0], written, country and country[1], expected


def test_the_examples_of_the_rules_are_true() -> None:
    """One for every kind, decided by the library."""
    examples = list(_examples())
    assert [kind for kind, *_ in examples] == list(Kind)
    for kind, raw, country, expected in examples:
        assert audiencekit.normalize(kind, raw, country=country) == expected, kind


def test_every_kind_has_its_rule() -> None:
    """A section of docs/identifiers.md each."""
    assert set(Kind) <= set(_sections(_page("identifiers.md")))


def test_the_readme_sets_up_with_two_commands() -> None:
    """One block of shell under `## Set up`, two lines, exactly these."""
    section = _sections((ROOT / "README.md").read_text(encoding="utf-8"))["Set up"]
    (block,) = re.findall(r"^```sh\n(.*?)^```$", section, flags=re.MULTILINE | re.DOTALL)
    assert block.splitlines() == SETUP


INSTALLS = re.compile(
    r"\b(?:pip3?|pipx|uv|uv pip|uv tool|uvx)\s+(?:install|run|add|upgrade)?\s*(?:-{1,2}\S+\s+)*['\"]?audiencekit\b"
    r"|\baudiencekit\[\w+\]"
)


def test_no_install_line_names_a_package_of_an_index() -> None:
    """No release is out: a stranger could own the name. Every line names the checkout, in pages and in messages."""
    sources = [*(ROOT / "audiencekit").rglob("*.py"), *(ROOT / "samples").rglob("*.*"), ROOT / "action.yml"]
    texts = {path: path.read_text("utf-8", "replace") for path in (*PAGES, *sources) if path.is_file()}
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}" for path, text in texts.items() for match in INSTALLS.finditer(text)
    ]
    assert found == []
    caught = ["pip install audiencekit", "pipx install 'audiencekit'", "uv tool install audiencekit", "uvx audiencekit"]
    caught += [
        "pip install --no-deps audiencekit==1",
        "pip install -U 'audiencekit[age]'",
        "the extra audiencekit[age]",
    ]
    assert [line for line in caught if not INSTALLS.search(line)] == []
    assert "uv tool install ." in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_the_first_command_enters_an_environment_of_its_own(tmp_path: Path) -> None:
    """Many systems refuse to install into the system. Git ignores the environment."""
    make, enter, install, _ = SETUP[0].split(" && ")
    assert install.startswith("pip install ")
    where = subprocess.run(
        ["bash", "-euc", f"{make} && {enter} && command -v pip"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert where.stdout == f"{tmp_path}/.venv/bin/pip\n"
    assert ".venv/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_the_readme_shows_what_the_demo_prints(tmp_path: Path) -> None:
    """Each line of its excerpt stands in the report, in this order."""
    section = _sections((ROOT / "README.md").read_text(encoding="utf-8"))["Set up"]
    (excerpt,) = re.findall(r"^```text\n(.*?)^```$", section, flags=re.MULTILINE | re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-m", "audiencekit", "demo"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_SECONDS,
    )
    printed = iter(done.stdout.splitlines())
    missing = [line for line in excerpt.splitlines() if line != "…" and line not in printed]
    assert missing == []


def test_the_readme_shows_the_rejections_of_the_sample() -> None:
    """The first lines of what was written by hand."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (excerpt,) = re.findall(r"^```text\n(row,column,reason\n.*?)^```$", readme, flags=re.MULTILINE | re.DOTALL)
    assert (ROOT / "samples/expected_rejections.csv").read_text(encoding="utf-8").startswith(excerpt)


@each_case("page", PAGES)
def test_links_lead_somewhere(page: Path) -> None:
    """To a file of the project, and to a heading of it when the link names one."""
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.is_file(), target
        assert linked.is_relative_to(ROOT), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", linked.read_text(encoding="utf-8"), flags=re.MULTILINE)
            assert anchor in map(_slug, headings), target


def test_every_command_is_linked_from_the_first_page_of_the_commands() -> None:
    """And that page from the README, as is the index of all others."""
    readme = LINK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert {"docs/index.md", "docs/commands/index.md"} <= set(readme)
    pages = {page.name for page in (ROOT / "docs/commands").glob("*.md")} - {"index.md"}
    assert pages <= set(LINK.findall(_page("commands/index.md")))


@each_case("page", PAGES)
def test_no_page_promises_what_hashing_cannot(page: Path) -> None:
    """Hashes are personal data, and no caller is told who was found."""
    text = " ".join(page.read_text(encoding="utf-8").lower().split())
    assert not re.search(r"anonym\w*.{0,200}\bhash|\bhash.{0,200}anonym|pseudonym", text)
    assert not re.search(r"\bmatched\b", text)


def test_the_readme_is_read_in_three_minutes() -> None:
    """At 200 words a minute, with its examples: a first page is to be seen ten minutes after its first word."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"^!\[.*$|^```.*$|<!--.*?-->|\]\([^)]*\)", " ", text, flags=re.MULTILINE)
    assert len(re.sub(r"[`*#\[]", "", text).split()) <= 620
