"""`audiencekit` and `python -m audiencekit`: signals first, then the command line."""

from audiencekit.process.signals import heed_first_signals


def start() -> None:
    """Run the command line; importing it takes a second, in which it may be interrupted."""
    heed_first_signals()
    from audiencekit.cli import main

    main()


if __name__ == "__main__":
    start()
