"""Files generated from the code are up to date."""

from __future__ import annotations

import pytest

from generators.files import FILES, ROOT


@pytest.mark.parametrize("path", FILES)
def test_a_generated_file_is_what_its_generator_writes(path: str) -> None:
    """`python -m generators` writes them anew."""
    assert (ROOT / path).read_text(encoding="utf-8") == FILES[path]()
