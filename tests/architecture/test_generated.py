"""Files generated from the code are up to date."""

from __future__ import annotations

import ctypes
import re

import phonenumbers
import pytest

import audiencekit
from audiencekit.kernels.library import find_library
from audiencekit.records.phones.tables import PlanFile, supplied_plans
from generators import schedules
from generators.files import FILES, ROOT
from generators.pythonpages import FOLDER
from hatch_build import CRATE, digest_of


@pytest.mark.parametrize("path", FILES)
def test_a_generated_file_is_what_its_generator_writes(path: str) -> None:
    """`python -m generators` writes them anew."""
    assert (ROOT / path).read_text(encoding="utf-8") == FILES[path]()


def test_the_numbering_plans_were_compiled_by_these_modules() -> None:
    """The package would compile them again in silence, and slowly. What they hold, `test_compiledplans.py` compares."""
    plans = PlanFile(supplied_plans())
    assert plans.codes() == sorted(phonenumbers.COUNTRY_CODE_TO_REGION_CODE), "run `python -m generators`"
    # Without the digest of its text, each process would read the metadata of a region to know that its plan is right.
    assert all(
        plan is not None and plan.texts.keys() == plan.in_memory.keys() for plan in map(plans.read, plans.codes())
    )


def test_the_library_was_compiled_from_these_kernels() -> None:
    """Two branches that give their kernels the same version merge without a conflict."""
    library = find_library()
    if library is None:
        pytest.skip("this installation has no kernels")
    library.audiencekit_sources.restype = ctypes.c_uint64
    compiled_from = f"{library.audiencekit_sources():016x}"
    assert compiled_from == digest_of(ROOT / CRATE), "install audiencekit again: its kernels are of other sources"


def test_every_public_name_has_one_place_in_the_reference() -> None:
    """A heading on one page; a function to be awaited is told of there."""
    pages = [path.read_text(encoding="utf-8") for path in (ROOT / FOLDER).glob("*.md")]
    headings = [name for page in pages for name in re.findall(r"^### (\w+)$", page, flags=re.MULTILINE)]
    awaited = [name for page in pages for name in re.findall(r"^`(\w+_async)` is the same", page, flags=re.MULTILINE)]
    assert sorted([*headings, *awaited]) == audiencekit.__all__


def test_no_file_is_left_that_no_generator_writes() -> None:
    """A page whose topic is gone, or a sample, would stay for ever."""
    found = {
        path.relative_to(ROOT).as_posix() for folder in (FOLDER, schedules.FOLDER) for path in (ROOT / folder).iterdir()
    }
    assert found <= set(FILES)
