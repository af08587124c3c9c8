"""E-mail addresses, and what people take for them.

`PARTS` are put together at random; `ODD` stand for a rule each; each ASCII character is put at every place of `WHOLE`.
"""

from __future__ import annotations

import random

from audiencekit.identifiers.texts import WORDS

LOCALS = ["a", "anna", "Anna.Muster", "a+b", "o'neil", "-", ".", "a..b", ".a", "a.", "a b", "a\tb", "a\x00b"]
LOCALS += ["a\x7fb"]
LOCALS += ["test", "noemail", "no-mail", "no.e-mail_provided", "n/a", "xx", "x", "x.x", '"a"', "(a)", "a,b"]
LOCALS += ["mailto:a", "a**", "*", "a*", "xxxx", "xxxxx", "axxx", "*a**", "\xe4**", "a\u2022", "\u201ca", "o\u2019a"]
LOCALS += ["e" * 63, "e" * 64, "e" * 65, "änna", "a\u0301", "İ", "K", "名", "a\ufffd", "a\u200b", "", "`", "/"]
LOCALS += ["Anna <a"]
DOMAINS = ["example.com", "Example.ORG", "b", "b.", ".b", "b..de", "b.d", "b.d1", "b.1d", "b.11", "b.d-e"]
DOMAINS += ["xxxx.com", "***.com", "b.c0m", "b.1om", "b.xn--c0m", "b\xfc.c0m", "b.\uff430m", "b.-de", "b.de-"]
DOMAINS += ["b-.de", "-b.de", "b--c.de", "bc--d.de", "a.bc--d.de", "xn--mnchen-3ya.de", "xn--zz.de"]
DOMAINS += ["b.xn--p1ai", "b_c.de"]
DOMAINS += ["test.com", "test.co.uk", "test.a.b.c", "x.com", "xx.com", "x", "x.\v", "test", "b.test"]
DOMAINS += ["a.b.local", "localhost"]
DOMAINS += ["b.arpa", "btest", "onion", ".onion", "b.onion.de", "[1.2.3.4]", "münchen.de", "b。de", "b.ｄｅ"]
DOMAINS += ["b c.de", "b.de>"]
DOMAINS += [f"{'d' * size}.de" for size in (62, 63, 64)]
DOMAINS += [".".join(["d" * 60] * 3 + ["e" * size, "de"]) for size in (2, 3, 4, 59, 60)]
ODD = ["", "@", "@@", "a@b@c.de", "Anna <anna@example.com>", "<a@b>", "mailto:a@b.de", "mailto:a"]
ODD += ["mailto:x@y<>", "a" * 64, "mailto:", "SMTP: a@b.de", "<j\u00f6rg@b.de>", "<mailto:a@b.de>,", "'<a@b.de>'", "<>"]
ODD += [
    '=HYPERLINK("mailto:a@b.de","A@b.de")',
    '=HYPERLINK("mailto:a@b.de","c")',
    "smtp:\u00fc@b.de",
    "\u017fmtp:a@b.de",
]
ODD += [
    "smtp:" + "a" * 62 + "@b.de",
    "smtp:xxxx@b.de",
    "q" * 42 + "A=",
    "0x" + "0A" * 32,
    "\\x" + "0a" * 32,
    "Q" * 42 + "B=",
]
ODD += ["F" * 64, "a" * 300 + "@b.de", "no email", "Name <>", "b <c> a@d.de", "a@b.de\n", "\xa0"]
ODD += ["\u200b\u2003", "a\n@b.de"]
ODD += sorted(WORDS)
ODD += [
    "'anna@b.de",
    "''anna@b.de",
    "=anna@b.de",
    '="anna@b.de"',
    '=" anna@b.de\t"',
    '="anna@b.de',
    "'",
    "=",
    '=""',
    "'null",
    "anna@b.de,",
    "anna@b.de ;,",
    "'anna@b.de'",
    '"anna@b.de";',
    "'j\u00f6rg@b.de',",
    "anna@b\u00fccher.example,",
    ",;",
]
ODD += ["'\xa0anna@b.de", "'j\u00f6rg@b.de", "=\u00fc@b.de", "a..b@docomo.ne.jp", "a.@ezweb.ne.jp", ".a@docomo.ne.jp"]
ODD += ["a..@x.docomo.ne.jp", "a..b@au.com", "A...B.@DOCOMO.ne.jp", "e" * 64 + "..@au.com", "\u00e4..b@docomo.ne.jp"]

# Internationalised ones: small letters and capitals, letters that change with their place or in NFC, and domains that
# become ASCII, longer, or a placeholder's, when they are lower-cased.
LOCALS += ["jörg.99", "Jörg", "花子", "straße", "ΣΑΣ", "σας", "иван_9", "한글", "ñu+x", "\u1112\u1161\u11ab", "ﬁ", "ı"]
LOCALS += ["not_provided", "notprovided.x", "nomail", "no_mail", "no.mail", "noemi", "noah", "n/a.x", "fake", "x" * 40]
DOMAINS += ["bücher.example", "BÜCHER.example", "почта.example", "例え.テスト", "xn--bcher-kva.example", "ü.test"]
DOMAINS += ["ü.local", "test.ü.de", "x.münchen", "fa\u212ae.com", "\u212a.de", "İ.de", "ΑΣ.gr", "b.ΑΣ", "ß.de", "ﷺ.de"]
DOMAINS += ["a\u0308.de", "\u0308.de", "münchen\u200b.de", "mün chen.de", "ü..de", "ü-.de", ".".join(["㍿"] * 14)]
DOMAINS += [".".join(["ﷺ"] * size) + ".de" for size in (2, 6, 8, 12)]
LOCALS += ["'anna", "=anna", "a.b..c", "a.."]
DOMAINS += ["docomo.ne.jp", "ezweb.ne.jp", "au.com", "Docomo.NE.jp"]
PARTS = [*LOCALS, *DOMAINS, *["@"] * 8, ".", ".", "-", "<", ">", " ", ".com", ".de", "@example.com", "@bücher.example"]

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_FOREIGN = "äöüßñçłşığéèøåžαβγσςабвґ花子例한א"
_TOPS = ["com", "de", "org", "co.uk", "net", "museum", "рф", "test", "local", "x", "c0m", "example"]
_TOPS += ["中国", "ευ", "ไทย", "한국", "भारत", "гдб", "б1"]


def draw_address(chance: random.Random) -> str:
    """An address by the grammar, whose words are now and then foreign, or capitals."""
    words = ["".join(chance.choices(_LETTERS, k=chance.randrange(1, 9))) for _ in range(chance.randrange(1, 4))]
    if chance.random() < 0.15:
        words[0] += "".join(chance.choices(_FOREIGN, k=chance.randrange(1, 4)))
    local = chance.choice([".", "_", "+", "-", ""]).join(words)
    labels = ["".join(chance.choices(_LETTERS, k=chance.randrange(1, 9))) for _ in range(chance.randrange(1, 3))]
    if chance.random() < 0.15:
        labels[0] += "".join(chance.choices(_FOREIGN, k=chance.randrange(1, 4)))
    if chance.random() < 0.1:
        labels[-1] = _encoded(chance)
    address = f"{local}@{chance.choice(['.', '.', '.', '-', '--']).join(labels)}.{chance.choice(_TOPS)}"
    return address.upper() if chance.random() < 0.1 else address


def _encoded(chance: random.Random) -> str:
    """A label as it stands in the name system, with a sign that is another one now and then."""
    label = "".join(chance.choices(f"abcdefgh0129-{_FOREIGN}", k=chance.randrange(1, 20)))
    encoded = list(f"xn--{label.encode('punycode').decode()}")
    if chance.random() < 0.5:
        encoded[chance.randrange(len(encoded))] = chance.choice(f"-{_LETTERS}")
    return "".join(encoded)
