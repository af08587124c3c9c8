"""Call a function of a tool for each value: started with the Python of the environment in which the tool is installed.

    python call_function.py SETUP EXPRESSION lines|pairs

SETUP imports the tool. EXPRESSION gives the digest of `text`, and of `country` where values come in pairs. With `lines`
stdin has a value a line, and stdout a digest a line, a blank one for a value that the tool refuses or raises for. With
`pairs` both are JSON: [text, country], and the digest or null.
"""

import json
import os
import sys
from collections.abc import Callable
from typing import Any


def _read(setup: str, expression: str) -> Callable[[str, str | None], str]:
    names: dict[str, Any] = {}
    exec(setup, names)
    call = eval(f"lambda text, country: ({expression})", names)

    def digest_of(text: str, country: str | None) -> str:
        try:
            found = call(text, country)
        except Exception:
            return ""
        return found if isinstance(found, str) else ""

    return digest_of


def main() -> None:
    """Answer each line."""
    setup, expression, form = sys.argv[1:]
    printed = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # a tool may print, too
    digest_of = _read(setup, expression)
    for line in sys.stdin.buffer:
        given = line.decode().removesuffix("\n")
        text, country = json.loads(given) if form == "pairs" else (given, None)
        digest = digest_of(text, country)
        print(json.dumps(digest or None) if form == "pairs" else digest, file=printed, flush=form == "pairs")


if __name__ == "__main__":
    main()
