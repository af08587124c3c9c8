"""Components of cards from both sides, by the shapes of the catalogue."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from audiencekit.api.catalogue import BY_NAME
from audiencekit.api.catalogue.components import COMPONENTS, Shape
from audiencekit.api.catalogue.parameters import Parameter, Type
from audiencekit.api.validation.calls import check_call
from audiencekit.errors import UsageError

NOW = datetime(2026, 11, 20, tzinfo=UTC)
CANARY = "canary@shop.example"
GOOD: dict[str, dict[str, Any]] = {
    "MEDIA": {"type": "MEDIA", "media_key": "13_1"},
    "SWIPEABLE_MEDIA": {"type": "SWIPEABLE_MEDIA", "media_keys": ["13_1", "3_2"]},
    "DETAILS": {
        "type": "DETAILS",
        "title": "A shop",
        "destination": {"type": "WEBSITE", "url": "https://shop.example"},
    },
    "BUTTON": {
        "type": "BUTTON",
        "label": {"type": "ENUM", "value": "BOOK"},
        "destination": {
            "type": "APP",
            "country_code": "DE",
            "googleplay_app_id": "shop.example",
            "googleplay_deep_link": "shop://1",
            "ios_app_store_identifier": "1",
            "ios_deep_link": "shop://2",
        },
    },
}
BAD: dict[Type, list[Any]] = {
    Type.STRING: ["", 1, None, [], {}],
    Type.ENUM: ["", CANARY, 1, None, []],
    Type.URL: ["", CANARY, 1, None],
    Type.ARRAY: [[], ["13_1"], ["13_1"] * 7, ["13_1", ""], ["13_1", 1], {}, "13_1", None],
    Type.OBJECT: [[], "{}", 1, None],
}


def _send(*components: Any, slides: bool = False) -> None:
    """A card of these components, or with a slide for each of them."""
    content = {"slides": [[each] for each in components]} if slides else {"components": list(components)}
    check_call(BY_NAME["create_card"], {"account_id": "a"}, {"name": "n", **content}, now=NOW, wire_names={})


def _members(shape: Shape, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Parameter]]:
    for member in shape.members:
        yield path, member
    for name, inner in shape.inner.items():
        yield from _members(inner, (*path, name))


MEMBERS = [
    pytest.param(kind, path, member, id="-".join((kind, *path, member.name)))
    for kind, shape in COMPONENTS.items()
    for path, member in _members(shape)
]


def _at(component: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    for name in path:
        component = component[name]
    return component


def test_every_type_is_sent() -> None:
    """In components and in slides."""
    assert GOOD.keys() == COMPONENTS.keys()
    _send(*GOOD.values())
    _send(*GOOD.values(), slides=True)
    _send({**GOOD["SWIPEABLE_MEDIA"], "media_keys": ["13_1"] * 6})


@pytest.mark.parametrize(("kind", "path", "member"), MEMBERS)
def test_members_are_tried_from_both_sides(kind: str, path: tuple[str, ...], member: Parameter) -> None:
    """Each choice is good; a wrong one, and a missing one, is refused by its name and number, and never repeated."""
    for value in member.values if member.name != "type" else ():
        component = copy.deepcopy(GOOD[kind])
        _at(component, path)[member.name] = value
        _send(component)
    for value in BAD[member.type] + (["de", "DEU"] if member.pattern else []):
        component = copy.deepcopy(GOOD[kind])
        _at(component, path)[member.name] = value
        with pytest.raises(UsageError, match=f"{member.name} .*of component 2") as caught:
            _send(GOOD["MEDIA"], component)
        assert CANARY not in str(caught.value)
    component = copy.deepcopy(GOOD[kind])
    del _at(component, path)[member.name]
    if member.required is True:
        with pytest.raises(UsageError, match=f"{member.name} .*of component 1"):
            _send(component, slides=True)


@pytest.mark.parametrize("path", [(), ("label",), ("destination",)])
def test_an_unknown_member_is_refused(path: tuple[str, ...]) -> None:
    """Its name is not repeated: it may be a value."""
    component = copy.deepcopy(GOOD["BUTTON"])
    _at(component, path)[CANARY] = 1
    with pytest.raises(UsageError, match="is none of: type") as caught:
        _send(component)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    ("without", "words"),
    [
        (("googleplay_app_id",), "googleplay_app_id is required with googleplay_deep_link"),
        (("ios_app_store_identifier",), "ios_app_store_identifier is required with ios_deep_link"),
        (
            ("googleplay_app_id", "googleplay_deep_link", "ios_app_store_identifier", "ios_deep_link"),
            "googleplay_app_id is required without ios_app_store_identifier",
        ),
        (("googleplay_app_id", "googleplay_deep_link"), ""),
        (("ios_app_store_identifier", "ios_deep_link"), ""),
    ],
)
def test_an_app_has_a_store_and_a_link_its_app(without: tuple[str, ...], words: str) -> None:
    """One store is enough."""
    component = copy.deepcopy(GOOD["BUTTON"])
    for name in without:
        del component["destination"][name]
    if not words:
        _send(component)
        return
    with pytest.raises(UsageError, match=words):
        _send(component)


@pytest.mark.parametrize("component", [None, 1, "MEDIA", [], {}, {"type": CANARY}, {"type": ["MEDIA"]}])
def test_an_invalid_component_is_refused(component: Any) -> None:
    """In a slide, too."""
    with pytest.raises(UsageError, match=r"component[s 2]") as caught:
        _send(GOOD["MEDIA"], component)
    with pytest.raises(UsageError, match="component 2"):
        _send(GOOD["MEDIA"], component, slides=True)
    assert CANARY not in str(caught.value)
