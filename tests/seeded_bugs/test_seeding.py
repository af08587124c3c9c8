"""The wrong patches fit the tree, and the tests that are to notice them exist and do."""

from __future__ import annotations

import re

import pytest

from tests.seeded_bugs.seeding import HERE, ROOT, Bug, applies, known_bugs, passes_as_it_is, survivors

BUGS = known_bugs()


def test_there_are_at_least_thirty() -> None:
    """Each with a patch, and each patch with its entry."""
    assert len(BUGS) >= 30
    assert {bug.patch for bug in BUGS} == set(HERE.glob("*.patch"))


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_patch_still_fits(bug: Bug) -> None:
    """Where the code has changed, the patch has to follow."""
    assert applies(bug)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_its_tests_exist(bug: Bug) -> None:
    """By file and name."""
    assert bug.tests
    for test in bug.tests:
        path, _, name = test.partition("::")
        text = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"^(async )?def {name}\(", text, flags=re.MULTILINE), test


@pytest.mark.seeded_bugs
def test_tree_passes_as_it_is() -> None:
    """Otherwise a failure would say nothing about a bug."""
    assert passes_as_it_is(BUGS)


@pytest.mark.seeded_bugs
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_bug_is_noticed(bug: Bug) -> None:
    """By every test that is named for it."""
    assert survivors(bug) == []
