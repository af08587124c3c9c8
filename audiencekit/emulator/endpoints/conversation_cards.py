"""The content of a conversation card: its texts, hashtags and media (specification part 2, section 4.8).

The specification does not say which rules apply to a changed card; here they are those of a new one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from audiencekit.emulator.answers import Answer, success
from audiencekit.emulator.calls import Call
from audiencekit.emulator.endpoints.accounts import CONVERSATION_CARD, FOUR_OPTIONS, UNLOCK
from audiencekit.emulator.endpoints.media import IMAGE, VIDEO, choose_media
from audiencekit.emulator.paging import Listing
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.resources import Record, Resource

# --- Image and video conversation cards: the kinds, and how one is shown (specification part 2, section 4.8) ---
#
# Of a deleted card little is left (public documentation). What a card does not have is left out, not null.

MAX_NAME: Final = 80  # characters; specification part 2, section 8, by which `q` is bounded too

_WRITE_ONLY: Final = "unlocked_image_media_key"
_OF_DELETED: Final = ("name", "id", "created_at", "updated_at", "deleted", "card_type")


def card_uri(number: str) -> str:
    """Return the address by which a tweet refers to a card."""
    return f"card://{number}"


def show_card(record: Record) -> dict[str, Any]:
    """Return a conversation card."""
    shown = {name: value for name, value in record.document().items() if value is not None and name != _WRITE_ONLY}
    return {name: shown[name] for name in _OF_DELETED} if record.deleted else shown


def _show_video_card(record: Record) -> dict[str, Any]:
    """Return a video card: without a poster its picture is the first frame."""
    shown = show_card(record)
    if not record.deleted:
        shown.setdefault("poster_media_url", f"https://media.example/{shown['media_key']}/first-frame.jpg")
    return shown


def _make_kind(segment: str, show: Callable[[Record], dict[str, Any]]) -> Resource:
    return Resource(
        kind=segment,
        noun="Card",
        id_name="card_id",
        listing=Listing(sortable=("name", "created_at", "updated_at", "deleted")),
        has_q=True,
        longest_q=MAX_NAME,
        show=show,
    )


# Named by the segment of the path; the type of a card is the same word in capitals.
IMAGE_CONVERSATION: Final = _make_kind("image_conversation", show_card)
VIDEO_CONVERSATION: Final = _make_kind("video_conversation", _show_video_card)


# --- The content of a conversation card: its texts, hashtags and media ---

_ORDINALS: Final = ("first", "second", "third", "fourth")
_MAX_HASHTAG, _MAX_THANKS, _MAX_TITLE = 20, 23, 23  # characters, the # not counted
_HASHTAG: Final = re.compile(rf"#?(\w{{1,{_MAX_HASHTAG}}})")
_TEXTS: Final[Mapping[str, int | None]] = {
    "name": MAX_NAME,
    "thank_you_text": _MAX_THANKS,
    "title": _MAX_TITLE,
    **{f"{ordinal}_cta_tweet": None for ordinal in _ORDINALS},
}
_REQUIRED: Final = ("name", "first_cta", "first_cta_tweet", "thank_you_text", "media_key")
_MIN_IMAGE_WIDTH: Final = 800  # pixels
_IMAGE_RATIO, _UNLOCKED_RATIO, _VIDEO_RATIO = 1.91, 2.5, 1.78  # width to height, to two places

Content = dict[str, Any]  # None for what was taken away


class ReadMedia(Protocol):
    """Reads the media of one kind of card."""

    def __call__(self, call: Call, parameters: Parameters, *, empty: bool) -> Content: ...


def read_content(parameters: Parameters, *, empty: bool) -> Content:
    """Return the given texts and hashtags. With `empty`, an empty one removes the old one."""
    texts = {name: parameters.text(name, longest=longest, empty=empty) for name, longest in _TEXTS.items()}
    address = parameters.web_address("thank_you_url", empty=empty)
    hashtags = {f"{ordinal}_cta": _read_hashtag(parameters, f"{ordinal}_cta", empty=empty) for ordinal in _ORDINALS}
    given = {**texts, "thank_you_url": address, **hashtags}
    return {name: text or None for name, text in given.items() if text is not None}


def _read_hashtag(parameters: Parameters, name: str, *, empty: bool) -> str | None:
    given = parameters.text(name, empty=empty)
    if not given:
        return given
    found = _HASHTAG.fullmatch(given)
    if found is None:
        raise parameters.fault(name, f"Expected a hashtag of 1 to {_MAX_HASHTAG} characters for {name}")
    return f"#{found[1]}"


def check_content(parameters: Parameters, content: Mapping[str, Any]) -> None:
    """Refuse an incomplete card (400)."""
    missing = [name for name in _REQUIRED if content.get(name) is None]
    if content.get("second_cta") is None and content.get("title") is None:
        missing.append("title")
    for ordinal in _ORDINALS:
        if content.get(f"{ordinal}_cta") is not None and content.get(f"{ordinal}_cta_tweet") is None:
            missing.append(f"{ordinal}_cta_tweet")
    for name in missing:
        raise parameters.fault(name, f'"{name}" is a required parameter', "MISSING_PARAMETER")


def _read_other(
    call: Call, parameters: Parameters, name: str, media_type: str, *, empty: bool, ratio: float | None = None
) -> Content:
    """Return key and address of an optional second media of a card; an empty key removes both."""
    parameter, address = f"{name}_media_key", f"{name}_media_url"
    key = parameters.text(parameter, empty=empty)
    if not key:
        return {} if key is None else {parameter: None, address: None}
    media = choose_media(call, key, parameter, (media_type,))
    if ratio is not None:
        _check_ratio(call, media, parameter, ratio)
    return {parameter: key, address: media.fields["media_url"]}


def read_image(call: Call, parameters: Parameters, *, empty: bool) -> Content:
    """Return the media of an image card. Raises RefusalError: 404 for unknown keys, 400 for media that do not fit."""
    unlocked = _read_other(call, parameters, "unlocked_image", IMAGE, empty=empty, ratio=_UNLOCKED_RATIO)
    key = parameters.text("media_key")
    if key is None:
        return unlocked
    image = choose_media(call, key, "media_key", (IMAGE,))
    if image.fields["width"] < _MIN_IMAGE_WIDTH:
        message = f"The image is less than {_MIN_IMAGE_WIDTH} pixels wide"
        raise call.refuse(400, "INVALID_IMAGE", message, "media_key")
    _check_ratio(call, image, "media_key", _IMAGE_RATIO)
    return {
        **unlocked,
        "media_key": key,
        "media_url": image.fields["media_url"],
        "image_display_width": str(image.fields["width"]),
        "image_display_height": str(image.fields["height"]),
    }


def read_video(call: Call, parameters: Parameters, *, empty: bool) -> Content:
    """Return the media of a video card. Raises RefusalError: 404 for unknown keys, 400 for media that do not fit."""
    content = _read_other(call, parameters, "unlocked_image", IMAGE, empty=empty, ratio=_UNLOCKED_RATIO)
    for name, sort in (("unlocked_video", VIDEO), ("poster", IMAGE)):
        content.update(_read_other(call, parameters, name, sort, empty=empty))
    key = parameters.text("media_key")
    if key is None:
        return content
    video = choose_media(call, key, "media_key", (VIDEO,))
    _check_ratio(call, video, "media_key", _VIDEO_RATIO)
    return {
        **content,
        "media_key": key,
        "media_url": video.fields["media_url"],
        "video_owner_id": call.store.origin.user_id,
        "video_width": "16",
        "video_height": "9",
    }


def _check_ratio(call: Call, media: Record, parameter: str, ratio: float) -> None:
    if round(media.fields["width"] / media.fields["height"], 2) != ratio:
        code = "INVALID_IMAGE" if media.fields["media_type"] == IMAGE else "INVALID_MEDIA"
        raise call.refuse(400, code, f"Expected a width of {ratio} times the height for {parameter}", parameter)


# --- Conversation cards: listed, made, changed, deleted (specification part 2, section 4.8) ---


@dataclass(frozen=True, slots=True)
class ConversationCards:
    """The endpoints of one of the two kinds. The echo has the kind, in capitals for writing calls (public)."""

    kind: Resource
    read_media: ReadMedia

    def list_cards(self, call: Call) -> Answer:
        """Answer `GET …`."""
        return self.kind.list_wanted(call, self._parameters(call))

    def show(self, call: Call) -> Answer:
        """Answer `GET …/:card_id`."""
        return self.kind.show_record(call, self._parameters(call))

    def create(self, call: Call) -> Answer:
        """Answer `POST …`."""
        parameters = self._parameters(call, written=True)
        fields = self._read(call, parameters, empty=False)
        parameters.finish()
        _check_features(call, fields)
        check_content(parameters, fields)
        uri = card_uri(call.store.make_long_id(call.now))
        card = self.kind.make(call, {**fields, "card_uri": uri, "card_type": self.kind.kind.upper()})
        return success(parameters.echo, self.kind.show(card))

    def change(self, call: Call) -> Answer:
        """Answer `PUT …/:card_id`: every field may be left out, and optional ones may be removed."""
        parameters = self._parameters(call, written=True)
        card = self.kind.find(call, call.ids["card_id"])
        changes = self._read(call, parameters, empty=True)
        parameters.finish()
        _check_features(call, changes)
        check_content(parameters, {**card.fields, **changes})
        card.change(changes, call.now)
        return success(parameters.echo, self.kind.show(card))

    def delete(self, call: Call) -> Answer:
        """Answer `DELETE …/:card_id`."""
        return self.kind.delete_record(call, self._parameters(call))

    def _read(self, call: Call, parameters: Parameters, *, empty: bool) -> dict[str, Any]:
        return {**read_content(parameters, empty=empty), **self.read_media(call, parameters, empty=empty)}

    def _parameters(self, call: Call, *, written: bool = False) -> Parameters:
        parameters = Parameters(call)
        parameters.echo["card_type"] = self.kind.kind.upper() if written else self.kind.kind
        return parameters


def _check_features(call: Call, fields: Mapping[str, Any]) -> None:
    """Refuse conversation cards, and two of their fields, without their feature: they are in limited release."""
    call.require_feature(CONVERSATION_CARD)
    for name in ("third_cta", "fourth_cta"):
        if fields.get(name) is not None:
            call.require_feature(FOUR_OPTIONS, name)
    for name in ("unlocked_image_media_key", "unlocked_video_media_key"):
        if fields.get(name) is not None:
            call.require_feature(UNLOCK, name)


IMAGE_CARDS: Final = ConversationCards(IMAGE_CONVERSATION, read_image)
VIDEO_CARDS: Final = ConversationCards(VIDEO_CONVERSATION, read_video)
