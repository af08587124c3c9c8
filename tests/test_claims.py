"""Every claim of SECURITY.md has a number, and a test of its own that runs."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.cases import each_case

ROOT = Path(__file__).resolve().parents[1]
FEWEST = 60
CLAIM = re.compile(r"\| (C\d+) \| (.+\.) \| `(tests/[\w/]+\.py)::(test_\w+)` \|")
# In a process of its own: the claims are about all rooms, and a run of one room has not collected the others.
COLLECT = """
import json, sys, pytest

class Look:
    def pytest_collection_finish(self, session):
        self.found = {}
        for item in session.items:
            why = [each.name for each in item.iter_markers() if is_skipping(each)]
            self.found.setdefault(item.nodeid.partition("[")[0], []).append(why)

def is_skipping(mark):
    return mark.name in ("skip", "xfail") or mark.name == "skipif" and any(mark.args)

look = Look()
options = ["--collect-only", "-qq", "-n0", "-cpyproject.toml", "-mnot integrations"]
code = pytest.main([*options, *sys.argv[1:]], plugins=[look])
print("\\n" + json.dumps({"code": int(code), "found": look.found}))
"""


@dataclass(frozen=True, slots=True)
class Claim:
    """A row of SECURITY.md."""

    number: str
    text: str
    path: str
    name: str

    @property
    def test(self) -> str:
        return f"{self.path}::{self.name}"


def _claims(page: str) -> Iterator[Claim]:
    """Each row that has a number. Fails for one that is not number, sentence and test."""
    for line in page.splitlines():
        if line.startswith("|") and re.search(r"\bC\d", line):
            found = CLAIM.fullmatch(line)
            assert found, f"not number, sentence and test: {line}"
            yield Claim(*found.groups())


@cache
def _functions_of(path: str) -> frozenset[str]:
    """The names of all functions of a module, as the parser finds them."""
    body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body if (ROOT / path).is_file() else []
    return frozenset(node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _repeated(words: Iterable[str]) -> list[str]:
    return [word for word, times in Counter(words).items() if times > 1]


def _problems(page: str) -> list[str]:
    """The faults of the claims that the page itself and the parser show."""
    claims = list(_claims(page))
    expected = [f"C{number:02d}" for number in range(1, len(claims) + 1)]
    return [
        *(f"{claim.number} stands where {number} should" for claim, number in zip(claims, expected, strict=True)
          if claim.number != number),
        *(f"{claim.number}: there is no {claim.test}" for claim in claims
          if claim.name not in _functions_of(claim.path)),
        *(f"one test for two claims: {test}" for test in _repeated(claim.test for claim in claims)),
        *(f"claimed twice: {text}" for text in _repeated(claim.text for claim in claims)),
    ]  # fmt: skip


def _page() -> str:
    return (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def _collected(tests: list[str]) -> dict[str, list[list[str]]]:
    """Test -> of each of its cases the marks that skip it here."""
    done = subprocess.run(
        [sys.executable, "-c", COLLECT, *tests], cwd=ROOT, capture_output=True, text=True, check=False
    )
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["code"] == 0, done.stdout[-2000:]
    found: dict[str, list[list[str]]] = said["found"]
    return found


def test_every_claim_has_a_number_and_a_test() -> None:
    """Numbers ascend without a gap, tests are there, and none serves two claims."""
    assert _problems(_page()) == []
    assert len(list(_claims(_page()))) >= FEWEST


ANSWER = re.compile(r"\| (\d+) \| (.+\?) \| (.+\.) \| `(tests/[\w/]+\.py::test_\w+)` \|")


def test_every_answer_for_a_data_protection_officer_has_a_claim() -> None:
    """Thirty questions, numbered, each with an answer and the test of a claim."""
    page = (ROOT / "docs/data-protection.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if re.match(r"\| \d", line)]
    answers = [found for line in rows if (found := ANSWER.fullmatch(line))]
    assert [int(answer[1]) for answer in answers] == list(range(1, 31))
    assert len(rows) == len(answers)
    known = {claim.test for claim in _claims(_page())}
    assert [answer[4] for answer in answers if answer[4] not in known] == []
    assert _repeated(answer[2] for answer in answers) == []


def test_every_actor_is_claimed_against() -> None:
    """A section without a claim would be a threat that was only named."""
    sections = re.split(r"^### (.+)$", _page(), flags=re.MULTILINE)[1:]
    assert len(sections) >= 2 * 8
    assert [name for name, text in zip(sections[::2], sections[1::2], strict=True) if not list(_claims(text))] == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="some of the claims are about Linux")
def test_every_test_of_a_claim_is_run() -> None:
    """It is collected, and no mark skips it or leaves it to the environment of an integration."""
    tests = [claim.test for claim in _claims(_page())]
    found = _collected(tests)
    assert [test for test in tests if test not in found] == []
    assert {test: marks for test, marks in found.items() if any(marks)} == {}


GOOD = "| C01 | A claim. | `tests/test_claims.py::test_a_claim_without_its_test_is_seen` |"


@each_case("rows, problem", [
        ([GOOD.replace("C01", "C02")], "C02 stands where C01 should"),
        ([GOOD.replace("is_seen", "is_gone")], "there is no tests/test_claims.py::test_a_claim"),
        ([GOOD.replace("test_claims.py", "test_gone.py")], "there is no tests/test_gone.py"),
        ([GOOD, GOOD.replace("C01", "C02").replace("A claim", "Another")], "one test for two claims"),
        ([GOOD, GOOD.replace("C01", "C02")], "claimed twice: A claim."),
    ])  # fmt: skip
def test_a_claim_without_its_test_is_seen(rows: list[str], problem: str) -> None:
    """The test of the test."""
    assert problem in "\n".join(_problems("\n".join(rows)))
    assert _problems(GOOD) == []


@each_case("row", ["| C01 | A claim. | |", "| C01 | A claim. | `a test` |", "| **C1** | A claim. | |"])
def test_a_row_without_a_test_is_seen(row: str) -> None:
    """It is not passed over as text."""
    with pytest.raises(AssertionError, match="not number, sentence and test"):
        _problems(row)


@pytest.mark.slow
@pytest.mark.parametrize("mark", ["skip(reason='x')", "skipif(True, reason='x')", "xfail", "integrations"])
def test_a_test_that_does_not_run_is_seen(mark: str, tmp_path: Path) -> None:
    """Skipped by a mark, expected to fail, or left out where `.ci/run` runs the tests of this environment."""
    path = tmp_path / "test_one.py"
    head = "import pytest\n@pytest.mark.skipif(False, reason='x')\ndef test_run(): pass\n"
    path.write_text(f"{head}@pytest.mark.{mark}\ndef test_idle(): pass\n")
    found = {name.rpartition("::")[2]: marks for name, marks in _collected([str(path)]).items()}
    assert found.pop("test_run") == [[]]
    assert found in ({}, {"test_idle": [[mark.partition("(")[0]]]})
