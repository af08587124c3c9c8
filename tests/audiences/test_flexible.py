"""`audiencekit.audiences.flexible`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from audiencekit.audiences.flexible import (
    Comparator,
    FlexibleAudience,
    Group,
    Leaf,
    Operator,
    Segment,
    draw,
    leaves,
    read_audience,
    read_document,
    to_definition,
    to_sentence,
)
from audiencekit.errors import DefinitionRefused, InputOutputFailed
from tests.cases import each_case

LEAF = {"audience": "abc1", "lookback": 30}

TOML = """
[[audiences]]
name = "Lapsed buyers"
segments = { and = [
    { audience = "abc1", lookback = 30 },
    { not = { audience = "abc2", lookback = 7, frequency = 2, comparator = ">" } },
    { or = [ { audience = "abc3", lookback = 1 }, { audience = "abc4", lookback = 14 } ] },
] }
"""


def _write(tmp_path: Path, content: Any, name: str = "audiences.json") -> Path:
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def _one(segments: Any, **members: Any) -> dict[str, Any]:
    return {"audiences": [{"name": "one", "segments": segments, **members}]}


def _problems(tmp_path: Path, content: Any) -> dict[str, str]:
    with pytest.raises(DefinitionRefused) as refused:
        read_document(_write(tmp_path, content))
    return dict(refused.value.problems)


def test_a_toml_file_gives_its_trees(tmp_path: Path) -> None:
    """Groups, leaves with their defaults, and a segment that is negated because it says so."""
    (audience,) = read_document(_write(tmp_path, TOML, "audiences.toml")).audiences
    assert audience.name == "Lapsed buyers"
    assert audience.root == Group(
        operator=Operator.AND,
        segments=(
            Leaf(audience="abc1", lookback_days=30),
            Leaf(audience="abc2", lookback_days=7, frequency=2, comparator=Comparator.MORE_THAN, negated=True),
            Group(
                operator=Operator.OR,
                segments=(Leaf(audience="abc3", lookback_days=1), Leaf(audience="abc4", lookback_days=14)),
            ),
        ),
    )


def test_json_says_the_same_as_toml(tmp_path: Path) -> None:
    """The same members under the same names."""
    segments = {
        "and": [
            LEAF,
            {"not": {"audience": "abc2", "lookback": 7, "frequency": 2, "comparator": ">"}},
            {"or": [{"audience": "abc3", "lookback": 1}, {"audience": "abc4", "lookback": 14}]},
        ]
    }
    content = {"audiences": [{"name": "Lapsed buyers", "segments": segments}]}
    assert read_document(_write(tmp_path, content)) == read_document(_write(tmp_path, TOML, "audiences.toml"))


def test_a_document_knows_where_it_names_an_audience(tmp_path: Path) -> None:
    """Every place of each, by an id or a name; a name becomes the id that it is found to be."""
    again = {"not": {"or": [{**LEAF, "audience": "Spring customers"}]}}
    content = {"audiences": [{"name": "a", "segments": LEAF}, {"name": "b", "segments": {"and": [LEAF, again]}}]}
    document = read_document(_write(tmp_path, content))
    assert document.leaf_paths == {
        "abc1": (
            "audiences[0].segments.audience",
            "audiences[1].segments.and[0].audience",
        ),
        "Spring customers": ("audiences[1].segments.and[1].not.or[0].audience",),
    }
    found = document.with_ids({"Spring customers": "abc1"})
    assert found.leaf_paths == {"abc1": (*document.leaf_paths["abc1"], *document.leaf_paths["Spring customers"])}
    assert [leaf.audience for leaf in leaves(found.audiences[1].root)] == ["abc1", "abc1"]
    assert document.source.endswith("audiences.json")


@pytest.mark.parametrize("segments", [LEAF, {"not": LEAF}, {"not": {"or": [LEAF]}}])
def test_a_root_is_always_a_group_that_is_not_negated(tmp_path: Path, segments: Any) -> None:
    """A single segment, or a negated one, is wrapped."""
    (audience,) = read_document(_write(tmp_path, _one(segments))).audiences
    assert audience.root.operator is Operator.AND
    assert not audience.root.negated
    assert len(audience.root.segments) == 1


@pytest.mark.parametrize(
    ("content", "path", "word"),
    [
        ([], "audiences", "list"),
        ({"audiences": []}, "audiences", "at least one"),
        ({"audiences": [_one(LEAF)["audiences"][0]], "name": "x"}, "name", "not known"),
        ({"audiences": [{"name": f"n{n}", "segments": LEAF} for n in range(11)]}, "audiences", "11"),
        ({"audiences": [1]}, "audiences[0]", "segments"),
        ({"audiences": [{"segments": LEAF}]}, "audiences[0].name", "name"),
        (_one(LEAF, name=" "), "audiences[0].name", "name"),
        (_one(LEAF, operator="AND"), "audiences[0].operator", "not known"),
        (_one(None), "audiences[0].segments", "one of"),
        (_one({}), "audiences[0].segments", "one of"),
        (_one({"and": [LEAF], "or": [LEAF]}), "audiences[0].segments", "one of"),
        (_one({"and": []}), "audiences[0].segments.and", "at least one"),
        (_one({"and": LEAF}), "audiences[0].segments.and", "list"),
        (_one({"and": [LEAF], "negate": True}), "audiences[0].segments.negate", "not known"),
        (_one({"not": {"not": LEAF}}), "audiences[0].segments.not", "twice"),
        (_one({"or": [LEAF, {"audience": "abc1"}]}), "audiences[0].segments.or[1].lookback", "1, 7, 14, 30"),
        (_one({**LEAF, "lookback": 8}), "audiences[0].segments.lookback", "1, 7, 14, 30"),
        (_one({**LEAF, "lookback": True}), "audiences[0].segments.lookback", "1, 7, 14, 30"),
        (_one({**LEAF, "lookback": "7"}), "audiences[0].segments.lookback", "1, 7, 14, 30"),
        (_one({**LEAF, "audience": 17}), "audiences[0].segments.audience", "id"),
        (_one({**LEAF, "audience": " "}), "audiences[0].segments.audience", "id"),
        (_one({**LEAF, "audience": ["abc1"]}), "audiences[0].segments.audience", "id"),
        (_one({**LEAF, "audience": "a" * 256}), "audiences[0].segments.audience", "id"),
        (_one({**LEAF, "frequency": 0}), "audiences[0].segments.frequency", "at least 1"),
        (_one({**LEAF, "frequency": 1.5}), "audiences[0].segments.frequency", "at least 1"),
        (_one({**LEAF, "frequency": -1}), "audiences[0].segments.frequency", "at least 1"),
        (_one({**LEAF, "frequency": True}), "audiences[0].segments.frequency", "at least 1"),
        (_one({**LEAF, "frequency": "2"}), "audiences[0].segments.frequency", "at least 1"),
        (_one({**LEAF, "comparator": 1}), "audiences[0].segments.comparator", "NUM_GTE"),
        (_one({**LEAF, "comparator": "!="}), "audiences[0].segments.comparator", "NUM_GTE"),
        (_one({**LEAF, "days": 7}), "audiences[0].segments.days", "not known"),
        (_one({"or": [LEAF] * 11}), "audiences[0].segments", "11 audiences"),
        (_one({"or": [{"and": [LEAF] * 6}, {"not": {"or": [LEAF] * 5}}]}), "audiences[0].segments", "11 audiences"),
        (_one([LEAF]), "audiences[0].segments", "one of"),
        (_one({"and": [LEAF, 7]}), "audiences[0].segments.and[1]", "one of"),
        (_one({"not": [LEAF]}), "audiences[0].segments.not", "one of"),
        (_one(LEAF, name=7), "audiences[0].name", "name"),
        ({"audiences": [{"name": "n", "segments": LEAF}] * 2}, "audiences[1].name", "audiences[0]"),
    ],
)
def test_a_broken_rule_names_its_place(tmp_path: Path, content: Any, path: str, word: str) -> None:
    """And what is wanted there."""
    problems = _problems(tmp_path, content)
    assert list(problems) == [path]
    assert word in problems[path]


def test_every_broken_rule_is_told_at_once(tmp_path: Path) -> None:
    """Reading goes on behind the first one."""
    content = {
        "audiences": [
            {"name": "", "segments": {"and": [{"audience": "abc1", "lookback": 3, "frequency": 0}, {"xor": []}]}},
            {"name": "two", "segments": {"not": {"and": []}}},
        ]
    }
    assert set(_problems(tmp_path, content)) == {
        "audiences[0].name",
        "audiences[0].segments.and[0].lookback",
        "audiences[0].segments.and[0].frequency",
        "audiences[0].segments.and[1]",
        "audiences[1].segments.not.and",
    }


def test_a_tree_that_is_too_deep_is_refused(tmp_path: Path) -> None:
    """With one problem, not with a failure of the reader."""
    deep: Any = LEAF
    for _ in range(200):
        deep = {"and": [deep]}
    (message,) = _problems(tmp_path, _one(deep)).values()
    assert "levels" in message


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("a.json", "{", "not JSON: line 1"),
        ("a.json", '{"audiences": 1, "audiences": 2}', "twice"),
        ("a.json", '{"a":' * 100_000, "nested too deeply"),
        ("a.toml", "audiences = ", "not TOML"),
        ("a.toml", "x" * 1_000_001, "larger than"),
    ],
)
def test_an_invalid_document_is_refused(tmp_path: Path, name: str, text: str, word: str) -> None:
    """It says which format was expected, and where."""
    with pytest.raises(DefinitionRefused, match=word):
        read_document(_write(tmp_path, text, name))


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    """TOML is UTF-8."""
    path = tmp_path / "a.toml"
    path.write_bytes(b'name = "\xff"')
    with pytest.raises(DefinitionRefused, match="UTF-8"):
        read_document(path)


def test_a_file_that_is_not_there_is_an_input_fault(tmp_path: Path) -> None:
    """Exit code 74, not 3."""
    with pytest.raises(InputOutputFailed, match=r"nowhere\.toml"):
        read_document(tmp_path / "nowhere.toml")


A = Leaf(audience="a1", lookback_days=30)
B = Leaf(audience="b2", lookback_days=1, frequency=2, comparator=Comparator.MORE_THAN)
NOT_B = Leaf(audience="b2", lookback_days=7, negated=True)


def _audience(*segments: Segment, operator: Operator = Operator.AND) -> FlexibleAudience:
    return FlexibleAudience(name="people", root=Group(operator=operator, segments=segments))


def test_a_definition_is_that_of_a_file(tmp_path: Path) -> None:
    """It is read to the same audience; what is none is no audience."""
    (audience,) = read_document(_write(tmp_path, TOML, "audiences.toml")).audiences
    definition = to_definition(audience)
    assert definition["segments"]["and"][1] == {
        "not": {"audience": "abc2", "lookback": 7, "frequency": 2, "comparator": ">"}
    }
    assert read_audience(definition) == audience
    assert [read_audience(wrong) for wrong in (None, {}, {"name": "x", "segments": {}})] == [None, None, None]


def test_names_are_shown_where_they_are_known() -> None:
    """Of ids, and of audiences that the file gives by name; what could drive a terminal is escaped."""
    audience = _audience(A, NOT_B, Leaf(audience="Autumn \x1b[1m", lookback_days=7))
    assert draw(audience, {"a1": "Spring customers"}).splitlines()[2:] == [
        "    ├── 'Spring customers' (a1): at least once in the last 30 days",
        "    ├── not b2: at least once in the last 7 days",
        "    └── 'Autumn \\x1b[1m': at least once in the last 7 days",
    ]
    assert to_sentence(audience, {"a1": "Spring customers"}).startswith(
        "People in 'Spring customers' (at least once in"
    )


@each_case(
    "audience, sentence",
    [
        (_audience(A), "People in a1 (at least once in the last 30 days)."),
        (
            _audience(A, NOT_B),
            "People in a1 (at least once in the last 30 days) and not in b2 (at least once in the last 7 days).",
        ),
        (
            _audience(A, Group(operator=Operator.AND, segments=(B, NOT_B)), operator=Operator.OR),
            (
                "People in a1 (at least once in the last 30 days) or (in b2 (more than 2 times in the last day) and "
                "not in b2 (at least once in the last 7 days))."
            ),
        ),
        (
            _audience(Group(operator=Operator.OR, segments=(A, B), negated=True)),
            "People not (in a1 (at least once in the last 30 days) or in b2 (more than 2 times in the last day)).",
        ),
    ],
)
def test_a_tree_reads_as_one_sentence(audience: FlexibleAudience, sentence: str) -> None:
    """With brackets wherever two operators meet."""
    assert to_sentence(audience) == sentence


def test_a_tree_is_drawn_with_one_line_a_segment() -> None:
    """Children stand behind their group, and the last one closes it."""
    audience = _audience(Group(operator=Operator.OR, segments=(A, NOT_B), negated=True), B)
    assert draw(audience).splitlines() == [
        "people",
        "└── and",
        "    ├── not or",
        "    │   ├── a1: at least once in the last 30 days",
        "    │   └── not b2: at least once in the last 7 days",
        "    └── b2: more than 2 times in the last day",
    ]
