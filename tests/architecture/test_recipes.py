"""The recipe of docs/architecture.md for a kind of identifier, carried out on a copy of the package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.trace import ROOT

RULE = '''
from audiencekit.identifiers.texts import trim
from audiencekit.identifiers.kinds import NormalizedLoyaltyId
from audiencekit.identifiers.common_checks import refuse_at_once
from audiencekit.identifiers.kinds import Reason


def normalize_loyalty_id(text: str) -> NormalizedLoyaltyId | Reason:
    """Two letters and six digits, in lower case."""
    trimmed = trim(text).lower()
    if (reason := refuse_at_once(trimmed)) is not None:
        return reason
    fits = trimmed[:2].isalpha() and trimmed[2:].isdecimal() and len(trimmed) == 8
    return NormalizedLoyaltyId(trimmed) if fits else Reason.INVALID_SYNTAX
'''
# Texts to insert, each behind a text of a file.
ROWS = {
    "kinds.py": {
        'PARTNER_USER_ID = "partner_user_id"\n': '    LOYALTY_ID = "loyalty_id"\n',
        'NormalizedHandle = NewType("NormalizedHandle", str)\n': 'NormalizedLoyaltyId = NewType("L", str)\n',
    },
    "kind_table.py": {
        "from audiencekit.identifiers.kinds import Kind, Normalized, Reason, Rules, looks_hashed\n": (
            "from audiencekit.identifiers.loyalty_id import normalize_loyalty_id\n"
        ),
        "MappingProxyType(\n    {\n": (
            "Kind.LOYALTY_ID: KindRow(\n"
            "    normalize=lambda text, country, rules: normalize_loyalty_id(text),\n"
            '    headers=HeaderWords(phrases=_phrases("bonusnummer")),\n'
            "),\n"
        ),
    },
}
LIST = "email,Bonusnummer\na@example.com,AB123456\n,zz999999\nc@example.com,nothing\n"
CHECK = """
import json
from pathlib import Path
import audiencekit

plan = audiencekit.prepare("list.csv", out="out", requests=True)
body = json.loads(Path("out/requests/000001.json").read_bytes())
users = [sorted(user) for operation in body for user in operation["params"]["users"]]
print(json.dumps([plan.columns, plan.rejections, users, audiencekit.normalize("loyalty_id", " AB123456 ")]))
"""


@pytest.mark.slow
def test_a_kind_takes_three_files(tmp_path: Path) -> None:
    """Its name, its rule, its row: then its columns are recognised, normalised and sent beside the others."""
    shutil.copytree(ROOT / "audiencekit", tmp_path / "audiencekit")
    room = tmp_path / "audiencekit" / "identifiers"
    (room / "loyalty_id.py").write_text(RULE)
    for name, rows in ROWS.items():
        text = (room / name).read_text()
        for before, row in rows.items():
            assert text.count(before) == 1, before
            text = text.replace(before, before + row)
        (room / name).write_text(text)
    (tmp_path / "list.csv").write_text(LIST)
    done = subprocess.run(
        [sys.executable, "-c", CHECK], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [
        {"email": ["email"], "loyalty_id": ["Bonusnummer"]},
        {"invalid_syntax": 1},
        [["email", "loyalty_id"], ["loyalty_id"], ["email"]],
        "ab123456",
    ]
