"""User ids of the platform, and what people take for them.

`PARTS` are put together at random; `ODD` stand for a rule each; each ASCII character is put at every place of `WHOLE`.
"""

from __future__ import annotations

from audiencekit.identifiers.texts import WORDS

LARGEST = str(2**63 - 1)
WHOLE = ["12345", "'12", '="12"', "1.0E+5", LARGEST]
PARTS = ["0", "1", "9", "00", "'", '="', '"', "=", "#", "##", ".", ",", ".0", ".00", "E+", "e", "+", "-"]
PARTS += ["123456", LARGEST, "a"]
PARTS += [LARGEST[:-1], "1" * 18, "2" * 19, "3" * 20, " ", "\n", "\t", "\x00", "\u200b", "٣", "１", "²", "null"]
PARTS += ["f" * 64]
ODD = ["", "0", "000", "0012", "-1", "+1", "1,000", "1.5", "12345.0", "12345.000000", "12345.0000000"]
ODD += ["1.0", "x1.0", "x\n1.0"]
ODD += [str(2**63 + offset) for offset in (-2, -1, 0, 1)] + [
    "0" + LARGEST,
    "0" * 30 + "7",
    "8" + "9" * 18,
    "9" * 19,
    "1" * 20,
]
ODD += ["'12", "' 12", "''12", "'", '="12"', '=" 12\t"', '=""', '="1"2"', '="12', "=12", "=\n12", "'=12"]
ODD += ["'##", "###", "1e5", "1.e5"]
ODD += ["1E5", "1E+5", "1,2e-5", "e5", "1e", "1.", "1,", ".5", "+1.5", "'0", "'1.0", "'f", "f" * 64]
ODD += ["1" * 64, "12 34", *sorted(WORDS)]
ODD += ["x1.٠", "١٢", "1３", "٠" * 40 + "٣", "٣" * 65, "１.０", "-١", "٣e٣"]
ODD += [
    "٣" * 64,
    "'٣" * 2,
    "'" + "٣" * 63,
    '="' + "٣" * 61 + '"',
    "١٢.",
    "+٣,٤",
    "'１２",
    '="१२"',
    "'-٣",
    "٣" * 31 + ".1",
]
ODD += ["q" * 42 + "A=", "0x" + "0A" * 32, "\\x" + "0a" * 32, "Q" * 42 + "B="]
