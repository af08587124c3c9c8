"""Device ids, and what people take for them.

`PARTS` are put together at random; `ODD` stand for a rule each; each ASCII character is put at every place of `WHOLE`.
"""

from __future__ import annotations

from audiencekit.identifiers.texts import WORDS

UUID = "0f8b3a1c-22d4-4e5f-9abc-1234567890ab"
WHOLE = [UUID, "{" + UUID + "}", "0123456789abcdee"]
PARTS = ["0", "1", "a", "f", "F", "-", "{", "}", "0" * 8, "1" * 8, "-1111" * 3, "a" * 12, "b" * 8, "c" * 16]
PARTS += ["9" * 32, "g", "'", '="', '"']
PARTS += [" ", "\x00", "\u200b", "K", "１", "null", "1234", "-1234" * 3, UUID, UUID.upper(), UUID[:8], UUID[8:]]
ODD = ["", "{" + UUID + "}", "0", "00-0", "{0}", "{-}", "-", "{}", "{{" + UUID + "}}", "{" + UUID]
ODD += [UUID + "}", "{ " + UUID + "}", "f" * 64]
ODD += [f"{digit * 8}-{digit * 4}-{digit * 4}-{digit * 4}-{digit * 12}" for digit in "0123456789abcdefG"]
ODD += [*(digit * 16 for digit in "0123456789abcdefG"), UUID.replace("-", ""), UUID[:-1], UUID + "0"]
ODD += [UUID.upper(), "}" + UUID + "{"]
ODD += ["9774d56d682e549c", "9774D56D682E549C", "{9774d56d682e549c}", "0123456789abcdef", "1" * 8]
ODD += [
    "'" + UUID,
    "' {" + UUID.upper() + "}",
    '="' + UUID + '"',
    '=" {' + UUID + '}\xa0"',
    "'=" + UUID,
    '="' + UUID,
    "'",
    '=""',
    "'0",
]
ODD += [*sorted(WORDS)]
ODD += ["12345678-1234-1234-1234-123456789012", "12345678-1234-1234-1234-123456789ABC"]
ODD += ["12345678-1234-5678-1234-567812345678"]
ODD += ["q" * 42 + "A=", "0x" + "0A" * 32, "\\x" + "0a" * 32, "Q" * 42 + "B="]
