"""A plugin, `python -m pytest -p tests.kernels.absent FOLDER`: as in an installation without kernels."""

from __future__ import annotations

from audiencekit.kernels import library

# Before a module chooses its loops. Nothing in the product does this: its users have the kernels, or do not.
library.find_library = lambda: None  # type: ignore[assignment]
