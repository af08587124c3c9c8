"""The wrong patches fit the tree, and the tests that notice them exist. `python -m tests.seeded_bugs` runs these."""

from __future__ import annotations

import re

from tests.seeded_bugs.seeding import HERE, ROOT, applies, known_bugs

BUGS = known_bugs()


def test_there_are_at_least_thirty() -> None:
    """Each with a patch, and each patch with its entry."""
    assert len(BUGS) >= 30
    assert {bug.patch for bug in BUGS} == set(HERE.glob("*.patch"))


def test_every_patch_still_fits() -> None:
    """Where the code has changed, the patch has to follow."""
    assert [bug.name for bug in BUGS if not applies(bug)] == []


def test_the_tests_that_notice_a_bug_exist() -> None:
    """By file and name."""
    assert [bug.name for bug in BUGS if not bug.tests] == []
    assert [test for bug in BUGS for test in bug.tests if not _is_there(test)] == []


def _is_there(test: str) -> bool:
    path, _, name = test.partition("::")
    text = (ROOT / path).read_text(encoding="utf-8")
    return re.search(rf"^(async )?def {name}\(", text, flags=re.MULTILINE) is not None
