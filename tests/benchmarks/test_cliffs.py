"""The table of costs by spelling: every category stands in it, against a plain value of the same region."""

from __future__ import annotations

from pathlib import Path

from benchmarks.cliffs import BEGIN, END, Cost, as_table, main
from benchmarks.values.spellings import EMAIL_SPELLINGS, PHONE_SPELLINGS


def test_a_line_a_spelling() -> None:
    """The median region, the cheapest and the dearest, which is named."""
    costs = [Cost("tel: in front", region, 1e-6 * times, 1e-6) for region, times in (("US", 2), ("DE", 1), ("AR", 6))]
    assert as_table(costs).splitlines()[-1] == "| tel: in front | 2.0 | 1.0 – 6.0 | AR |"


def test_every_spelling_stands_in_the_file(tmp_path: Path) -> None:
    """Of numbers and of addresses."""
    out = tmp_path / "results.md"
    out.write_text(f"{BEGIN}\n{END}\n", encoding="utf-8")
    main(["--regions", "US", "--values", "20", "--out", str(out)])
    text = out.read_text(encoding="utf-8")
    assert all(f"| {name} |" in text for name in (*PHONE_SPELLINGS, *EMAIL_SPELLINGS))
