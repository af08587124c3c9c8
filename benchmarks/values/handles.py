"""Handles, and what people take for them.

`PARTS` are put together at random; `ODD` stand for a rule each; each ASCII character is put at every place of `WHOLE`.
"""

from __future__ import annotations

from audiencekit.identifiers.texts import WORDS

WHOLE = ["@anna_b9", "https://www.x.com/#!/@anna?b", "a" * 15]
PARTS = ["@", "@@", "a", "B", "_", "bob", "x.com/", "twitter.com/", "https://", "http://", "www.", "mobile."]
PARTS += ["m.", "#!/", "/"]
PARTS += ["?", "#", "i", "home", "intent", "nobody", "null", "-", " ", "\x01", "\u200b", "＠", "K", "ı", "\n"]
PARTS += ["."]
PARTS += ["a" * 13, "b" * 14, "c" * 15, "9", "x.com/anna", "twitter.com/Anna/status/1"]
ODD = ["", "@", "@@bob", "@ bob", "bo b", "f" * 64, "@" + "f" * 64, "F" * 63, "x.com/", "x.com/@"]
ODD += ["xx.com/bob", "x.com/" + "a" * 16]
ODD += ["x.com/bob/\x01", "x.com/i/bob", "x.com/intent?a", "x.com/I", "x.com/ibob", "@home", "home"]
ODD += ["b\x01b", "@b\x7f", "x.com/b\n/"]
ODD += ["https://x.com/bob", "HTTPS://X.COM/Bob", "http://m.twitter.com/#!/bob", "ftp://x.com/bob"]
ODD += ["x.com//bob", "x_com/bob"]
ODD += ["'@bob", "'bob", "' \u3000@bob", "''bob", "'", '="@bob"', '=" bob"', '="@b"ob"', '=""', "=@bob", "'x.com/bob"]
ODD += [f"{prefix}{word}" for word in sorted(WORDS) for prefix in ("", "@", "@@", "x.com/", "x.com/a/")]
ODD += ["q" * 42 + "A=", "0x" + "0A" * 32, "\\x" + "0a" * 32, "Q" * 42 + "B="]
