"""Partner user ids, and what people take for them.

`PARTS` are put together at random; `ODD` stand for a rule each; each ASCII character is put at every place of `WHOLE`.
"""

from __future__ import annotations

from audiencekit.identifiers.texts import WORDS

PARTS = ["a", "B9", "_", "-", ".", ":", "=", "==", "+", "/", "@", "＠", "x.com/", "twitter.com/", "tel:", "("]
PARTS += [")", " ", ","]
PARTS += ["1", "12", "123", "4567", "0151", "Anna", "Muster", "é", "名前", "\t", "\n", "\x00", "\u200b"]
PARTS += [
    "\ufffd",
    "null",
    "%40",
    "(at)",
    "[",
    "]",
    " at ",
    ".at.",
    "&#64;",
    "‐",
    "－",
    "::",
    "YW5uYUBi",
    "LmRl",
    "40",
    "2e64",
]
PARTS += ["%2F", "%C3%A9", "&amp;", "1.2.3.4", "２", "٤", "я", "²", "Ⓐ", "e\u0301", "\xa0", "€", "’", "﹫"]
ODD = ["", "123-456-7890", "123.456.7890", "1-123-456-7890", "0151-2345678", "0151/2345678"]
ODD += [
    "+491512345678",
    "tel:+491512345",
    "https://X.COM/anna",
    "gid://a.b/C/12",
    "12#3",
    "a#1",
    "#a",
    "a|1",
    "12.0",
    "1.0.0",
]
ODD += ["@anna", "anna@b", "anna@b.de", "Anna Muster", "Anna", "anna,", "x.com/anna", "a/x.com/anna", "a/b"]
ODD += ["a+b==", "+123a4567"]
ODD += [" 12", "12 ", "\t12", "12\n", "1" * 30, "a_b:c.d", "12-34", "12.34", "1=2", "(123)4567890", "é"]
ODD += ["éé", "a\ufffd", "\xa0"]
ODD += [shape for word in sorted(WORDS) for shape in (word, word.upper(), f" {word}")]
ODD += [
    "+4915112345678a",
    "a+49151",
    ":+491511234567",
    "06.12.34.56.78",
    "(11) 91234-5678",
    "98765 43210",
    "612 345 678",
]
ODD += ["98765\xa043210", "0171.1234567", "mob. +49 151 1234567", "٠١٢٣٤٥٦٧٨٩", "1234-5678-9012", "1234 5678 9012 3456"]
ODD += [
    "anna(at)b.de",
    "anna [at] b.de",
    "anna at b.de",
    "anna_AT_b.de",
    "anna.at.b.de",
    "anna%40b.de",
    "anna&#64;b.de",
]
ODD += [
    "YW5uYUBiLmRl",
    "YW5uYUBiYi5kZQ==",
    "YW5uYUBiYi5kZQ",
    "QW5uYSBNdXN0ZXI=",
    "616e6e6140622E6465",
    "616e6e6140622e64",
]
ODD += ["a" * 2_048, "a" * 2_049, "é" * 2_048, "é" * 2_049]
ODD += [" " * 2_049, "1" * 2_049, f"null{' ' * 2_049}", "\0" * 2_049]
ODD += ["1.2.3.4", "1.2.3.400", "1.2.3.4:80", "a::b", "::1", "a:b:c:d:e:f:1:2", "a:b:c:d:e:f", "0:0:a:0:0:0:1.2.3.4"]
ODD += [
    "123.456.789",
    "1.123.456.7890",
    "123.456-7890",
    "12.34.56.78",
    "4.9e+12",
    "4,91E+12",
    "4.9e+12a",
    "e+1",
    "a\x7f",
]
ODD += ["{a}", "[at]b", "a[at]b1", "a <AT> b1", "a1 at b.de", "a1 x.com/b", "a1.x.com/b", "b.com/a", "{x.com/b1", 'a"b']
ODD += [
    "Anna B1",
    "1 Muster",
    "1 2 a",
    "a_ b",
    " YW5uYUBiLmRl",
    "anna_at_b.de ",
    " n/a ",
    " a1 ",
    "[::1]",
    "[1.2.3.4]",
    "a&b",
    "a%b",
]
ODD += ["0151‐12345678", "201\u2011555\u20110132", "201−555－0132", "１２３", "４９１５１１２３４５６７８"]
