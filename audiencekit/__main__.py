"""`python -m audiencekit` is the command line."""

from audiencekit.cli import main

main()
