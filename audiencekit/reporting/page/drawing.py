"""Draw the pictures of a page as HTML and inline SVG, in the colours of the page: light, dark and on paper.

Texts are HTML, which keeps its size in a narrow window; SVG has shapes only, which are stretched to the width.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import singledispatch
from html import escape
from typing import Final

from audiencekit.reporting.page.page_parts import Bar, Bars, Columns, Line, Picture, Segment, Stack
from audiencekit.reporting.page.privacy import Cell

_HIGH: Final = 100  # units of a picture from its foot to its top
_GAP: Final = 0.14  # of the width of a column
_LEAST_COLUMNS: Final = 24  # fewer keep their width
_FLAG: Final = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_MOST_NAMES: Final = 3  # below a picture; more do not fit into a narrow window


def prose(text: str) -> str:
    """Return a text of ours as HTML: what is between backquotes, and options of commands, as code."""
    parts = _FLAG.sub(r'<code class="ak-flag">\g<0></code>', escape(text)).split("`")
    return "".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts))


@singledispatch
def draw(picture: Picture) -> str:
    """Return the picture as HTML."""
    raise TypeError(type(picture))


@draw.register
def _(picture: Bars) -> str:
    """Each bar below its name and its number, with its remedies below it."""
    most = max([bar.length for bar in picture.bars], default=0)
    return f'<ul class="ak-bars">\n{"".join(_bar(bar, most, picture.is_loss) for bar in picture.bars)}</ul>\n'


def _bar(bar: Bar, most: int, is_loss: bool) -> str:
    length = f'<span class="ak-bar{" ak-loss" if is_loss else ""}" style="width:{_share(bar.length, most)}"></span>'
    beside = f' <span class="ak-soft">{escape(bar.beside)}</span>' if bar.beside else ""
    remedies = "".join(f'<p class="ak-do">{prose(remedy)}</p>' for remedy in bar.remedies)
    name, number = f"<span>{escape(bar.name)}</span>", f"<span>{_number(bar.cell)}{beside}</span>"
    return f'<li><p class="ak-names">{name}{number}</p>{length}{remedies}</li>\n'


@draw.register
def _(picture: Stack) -> str:
    """The segments from left to right, and a legend with their numbers and shares."""
    whole = sum(segment.length for segment in picture.segments)
    bar = "".join(
        f'<span style="flex-grow:{segment.length};background:var(--{segment.colour})"></span>'
        for segment in picture.segments
        if segment.length
    )
    drawn = f'<div class="ak-stack" aria-hidden="true">{bar}</div>\n' if whole else ""
    return f'{drawn}<ul class="ak-legend">\n{"".join(map(_legend, picture.segments))}</ul>\n'


def _legend(segment: Segment) -> str:
    swatch = f'<span class="ak-swatch" style="background:var(--{segment.colour})"></span>'
    share = f' <span class="ak-soft">{escape(segment.share)}</span>' if segment.share else ""
    return f"<li>{swatch}<span>{escape(segment.name)}</span><span>{_number(segment.cell)}{share}</span></li>\n"


def _number(cell: Cell) -> str:
    key = f' data-key="{escape(cell.key)}"' if cell.key else ""
    return f"<b{key}>{escape(cell.text)}</b>"


@draw.register
def _(picture: Columns) -> str:
    more = picture.more or [0] * len(picture.values)
    most = max([one + other for one, other in zip(picture.values, more, strict=True)] + [1])
    shapes = ""
    for place, (one, other) in enumerate(zip(picture.values, more, strict=True)):
        foot = _HIGH * (1 - one / most)
        shapes += _column(place, foot, _HIGH * one / most, "good")
        shapes += _column(place, foot - _HIGH * other / most, _HIGH * other / most, "lost")
    marks = "".join(_dot(place + 0.5, 4, "ink") for place, is_marked in enumerate(picture.marked) if is_marked)
    return _with_axes(
        f'<svg viewBox="0 0 {max(len(picture.values), _LEAST_COLUMNS)} {_HIGH}"{_STRETCHED}>{shapes}{marks}</svg>',
        most=f"{most:,.0f}", of=picture.of, names=(), step=picture.step,
    )  # fmt: skip


def _column(place: int, top: float, height: float, colour: str) -> str:
    if not height:
        return ""
    box = f'x="{place + _GAP / 2:.2f}" y="{top:.2f}" width="{1 - _GAP:.2f}" height="{height:.2f}"'
    return f'<rect {box} style="fill:var(--{colour})"/>'


@draw.register
def _(picture: Line) -> str:
    values = [value for _, value in picture.points]
    most = picture.most or max([*values, 1])
    width = max(len(values) - 1, 1)
    places = [(place, _HIGH * (1 - value / most)) for place, value in enumerate(values)]
    path = " ".join(f"{place},{height:.2f}" for place, height in places)
    below = f'<polygon points="0,{_HIGH} {path} {len(values) - 1},{_HIGH}" style="fill:var(--good);opacity:.14"/>'
    line = f'<polyline points="{path}" style="fill:none;stroke:var(--good);stroke-width:2.5"{_UNSCALED}/>'
    dot = "".join(_dot(place, height, "good", 8) for place, height in places[-1:])
    return _with_axes(
        f'<svg viewBox="0 0 {width} {_HIGH}"{_STRETCHED}>{below}{line}{dot}</svg>',
        most=f"{most:,.0f}{picture.unit}", of=picture.of, names=_some([name for name, _ in picture.points]), step="",
    )  # fmt: skip


_STRETCHED: Final = ' preserveAspectRatio="none" aria-hidden="true" focusable="false"'
_UNSCALED: Final = ' vector-effect="non-scaling-stroke"'


def _dot(place: float, height: float, colour: str, width: int = 6) -> str:
    """Return a dot that stays round in a picture that is stretched: a line without length has round ends."""
    style = f"stroke:var(--{colour});stroke-width:{width};stroke-linecap:round"
    return f'<path d="M{place:g} {height:.2f}h0" style="{style}"{_UNSCALED}/>'


def _with_axes(svg: str, *, most: str, of: str, names: Sequence[str], step: str) -> str:
    named = "".join(f"<span>{escape(name)}</span>" for name in names)
    below = f'<p class="ak-axis">{named}</p>' if any(names) else ""
    foot = f'<p class="ak-axis">{escape(step)}</p>' if step else ""
    top = f'<p class="ak-axis"><span>{escape(of)}, up to {escape(most)}</span></p>'
    return f'{top}<div class="ak-plot">{svg}</div>{below}{foot}\n'


def _some(names: Sequence[str]) -> list[str]:
    """Return the names that fit below a picture: the first, the last, and some between."""
    if len(names) <= _MOST_NAMES:
        return list(names)
    return [names[round(place * (len(names) - 1) / (_MOST_NAMES - 1))] for place in range(_MOST_NAMES)]


def _share(number: int, most: int) -> str:
    return f"{100 * number / most:.2f}%" if most else "0"
