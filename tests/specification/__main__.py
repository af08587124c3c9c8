"""Writes the page about the specification: `python -m tests.specification > docs/specification.md`."""

import sys

from tests.specification.features import write_page

sys.stdout.write(write_page())
