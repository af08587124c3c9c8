"""Shared texts read in bulk are those that a parser finds, and what is not plain is left to it."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from audiencekit.errors import SourceRefused
from audiencekit.sources.excel.xml_rows import AnyTexts, plain_texts
from tests.cases import each_case
from tests.examples import examples

READING = '<rPh sb="0" eb="2"><t>ヤマダ</t></rPh>'
FONT = '<phoneticPr fontId="1" type="noConversion"/>'
TAGS = ["<si>", "</si>", "<si/>", "<t>", "</t>", "<t/>", '<t xml:space="preserve">', '<rPh sb="0" eb="2">', "</rPh>"]
TAGS += [READING, FONT, "<phoneticPr fontId='1'>", "<rPr>", "<r>", "</r>", "a", "ä &amp; b"]
TAGS += ["<r><t>c</t></r>", "<r><rPr><b/></rPr><t>ö</t></r>", "<r><t/></r>", "<rPr/>"]
ITEMS = [
    *("<si><t>a</t>{}</si>", "<si><r><t>d</t></r>{}</si>", "<si><t/>{}</si>", "<si/>", "<si><t>b{}</t></si>"),
    *("<si>{}</si>", "{}"),
]


def _parsed(piece: str) -> list[str] | None:
    try:
        return [text for found in AnyTexts().read([f"<sst>{piece}</sst>".encode()]) for text in found.to_pylist()]
    except SourceRefused:
        return None


def _plain(piece: str) -> list[str] | None:
    texts = plain_texts(piece.encode())
    return None if texts is None else texts.to_pylist()


def test_texts_of_east_asian_workbooks_are_plain() -> None:
    """How a text is read, and in which font, makes no parser necessary, and is no part of it."""
    piece = f"<si><t>山田</t>{READING}{READING}{FONT}</si><si><t>ada@example.com</t>{FONT}</si><si><t/>{FONT}</si>"
    assert _plain(piece) == ["山田", "ada@example.com", ""] == _parsed(piece)


def test_texts_in_several_fonts_are_plain() -> None:
    """Each is one text, of which the fonts are no part."""
    font = '<rPr><b val="1" /><sz val="11" /><rFont val="Arial"/></rPr>'
    parts = f'<r>{font}<t xml:space="preserve">a </t></r><r><t>b</t></r>{FONT}'
    piece = f"<si>{parts}</si><si><t>c</t></si><si><r><t/></r></si>"
    assert _plain(piece) == ["a b", "c", ""] == _parsed(piece)


@each_case("inner", ["</rPh>", READING.removesuffix("</rPh>"), f"</rPh>{READING.removesuffix('</rPh>')}"])
def test_readings_end_where_they_began(inner: str) -> None:
    """A parser says what is wrong otherwise."""
    assert _plain(f"<si><t>a</t>{inner}</si>") is None


@given(st.lists(st.tuples(st.sampled_from(ITEMS), st.lists(st.sampled_from(TAGS), max_size=4)), min_size=1, max_size=4))
@settings(max_examples=examples(400), deadline=None)
def test_same_as_a_parser(items: list[tuple[str, list[str]]]) -> None:
    """In any order of tags, also in one that is no sound XML."""
    piece = "".join(item.format("".join(tags)) for item, tags in items)
    texts = _plain(piece)
    assert texts is None or texts == _parsed(piece)
