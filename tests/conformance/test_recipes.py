"""The recipes of docs/verify.md: the usual spellings of an email are right."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from audiencekit.conformance import verifying
from audiencekit.conformance.vectors import Vector
from tests.pageexamples import examples_of

USUAL = {"normalised", "white_space", "case", "dots_and_tags", "composed"}
RECIPES = {block.told: block.text for block in examples_of("docs/verify.md") if block.mark == "file"}
STAND_IN = """
const { createHash } = require("crypto");
const Utilities = {
  DigestAlgorithm: { SHA_256: "sha256" },
  Charset: { UTF_8: "utf8" },
  computeDigest: (algorithm, text, charset) =>
    Array.from(new Int8Array(createHash(algorithm).update(text, charset).digest())),
};
"""
LINES = """
require("readline").createInterface({ input: process.stdin }).on("line", (line) => console.log(EMAIL_SHA256(line)));
"""


@pytest.fixture
def usual(every_vector: list[Vector], monkeypatch: pytest.MonkeyPatch) -> list[Vector]:
    """The vectors of emails in their usual spellings, which are all that a pipeline gets."""
    vectors = [vector for vector in every_vector if vector.kind == "email" and vector.spelling in USUAL]
    assert {vector.spelling for vector in vectors} == USUAL
    assert {vector.reason for vector in vectors} == {None}
    monkeypatch.setattr(verifying, "read_vectors", lambda: iter(vectors))
    return vectors


def test_the_expression_is_right(usual: list[Vector]) -> None:
    """In DuckDB."""
    pytest.importorskip("duckdb")
    found = verifying.verify_sql(RECIPES["email.sql"], kind="email")
    assert (found.verdict, found.right) == ("right", len(usual)), found


@pytest.mark.services
@pytest.mark.parametrize("name", ["email_hash.js", "sheet.js"])
def test_the_functions_in_javascript_are_right(usual: list[Vector], tmp_path: Path, name: str) -> None:
    """In Node; that of a sheet with a stand-in for what Google has, whose bytes are signed."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    text = RECIPES[name] if name == "email_hash.js" else STAND_IN + RECIPES[name] + LINES
    (tmp_path / name).write_text(text)
    found = verifying.verify_command([node, str(tmp_path / name)], kind="email")
    assert (found.verdict, found.right > 1_000) == ("right", True), found
    refused = subprocess.run(
        [node, str(tmp_path / name)], input="none\n\na@b\n", capture_output=True, text=True, check=True
    )
    assert refused.stdout == "\n\n\n"
