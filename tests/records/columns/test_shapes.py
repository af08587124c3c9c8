"""A character's sign is of the class that the patterns of the definition see, once the text is in NFKC."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from audiencekit.identifiers.texts import plain_signs
from audiencekit.records.columns.letters import composing
from audiencekit.records.columns.shapes import DIGIT, LETTER, ODD, OTHER, shapes_of
from tests.examples import examples

CLASSES = {chr(LETTER): r"[^\W\d_]", chr(DIGIT): r"\d", chr(OTHER): r"[^\w\s]"}


def _sign_fits(character: str, sign: str) -> bool:
    plain = plain_signs(character)
    if sign == chr(ODD):
        return True
    pattern = CLASSES.get(sign)
    return sign == plain or (sign == "'" and plain == "’") or (
        pattern is not None and all(re.fullmatch(pattern, form) for form in (character, plain))
    )  # fmt: skip


@pytest.mark.slow
def test_every_character_of_unicode() -> None:
    """Each by itself: its sign is itself, or one of its class; of composing ones nothing is said."""
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    shapes = shapes_of(pa.array(characters))
    signs = shapes.texts.to_pylist()
    assert [c for c, sign in zip(characters, signs, strict=True) if not _sign_fits(c, sign)] == []
    assert {signs[characters.index(mark)] for mark in composing()} == {chr(ODD)}
    foreign = [c for c, have in zip(characters, shapes.have_digits, strict=True) if have]
    assert all(c.isdecimal() and not plain_signs(c).isascii() for c in foreign)
    assert [c for c, have in zip(characters, shapes.have_at, strict=True) if have] == ["﹫", "＠"]


@given(st.lists(st.text(max_size=6), max_size=12))
@settings(max_examples=examples(80), deadline=None)
def test_a_shape_is_that_of_the_text_in_its_plain_form(texts: list[str]) -> None:
    """Where no sign is odd, as many characters as the text has in NFKC, and the same of all that are ASCII there."""
    shapes = shapes_of(pa.array(["x", *texts], pa.string()).slice(1)).texts.to_pylist()
    for text, shape in zip(texts, shapes, strict=True):
        assert len(shape) == len(text)
        if chr(ODD) in shape:
            continue
        plain = plain_signs(text)
        assert len(plain) == len(shape)
        assert all(sign == c for sign, c in zip(shape, plain, strict=True) if c.isascii())


def test_flags_are_those_of_the_row() -> None:
    """Of neighbours in a column none has another's."""
    shapes = shapes_of(pa.array(["", "٣", "3", "", "＠", "@", "３"]))
    assert np.flatnonzero(shapes.have_digits).tolist() == [1]
    assert np.flatnonzero(shapes.have_at).tolist() == [4]
