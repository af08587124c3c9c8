"""Conversation cards: listed, made, changed, deleted (specification part 2, section 4.8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from audiencekit.emulator.accounts.limitedreleases import CONVERSATION_CARD, FOUR_OPTIONS, UNLOCK
from audiencekit.emulator.calls import Call
from audiencekit.emulator.cards.kinds import card_uri
from audiencekit.emulator.conversation_cards.content import (
    ReadMedia,
    check_content,
    read_content,
    read_image,
    read_video,
)
from audiencekit.emulator.conversation_cards.kinds import IMAGE_CONVERSATION, VIDEO_CONVERSATION
from audiencekit.emulator.envelope import Answer, success
from audiencekit.emulator.parameters import Parameters
from audiencekit.emulator.resources.resource import Resource


@dataclass(frozen=True, slots=True)
class ConversationCards:
    """The endpoints of one of the two kinds. The echo has the kind, in capitals for what is written (public)."""

    kind: Resource
    read_media: ReadMedia

    def list_cards(self, call: Call) -> Answer:
        """Answer `GET …`."""
        return self.kind.list_wanted(call, self._parameters(call), lambda card: True)

    def show(self, call: Call) -> Answer:
        """Answer `GET …/:card_id`."""
        parameters = self._parameters(call)
        with_deleted = parameters.boolean("with_deleted")
        parameters.finish()
        card = self.kind.find(call, call.ids["card_id"], with_deleted=with_deleted)
        return success(parameters.echo, self.kind.show(card))

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
        """Answer `PUT …/:card_id`: everything may be left out, and what may be missing may be taken away."""
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
        parameters = self._parameters(call)
        parameters.finish()
        card = self.kind.find(call, call.ids["card_id"])
        card.delete(call.now)
        return success(parameters.echo, self.kind.show(card))

    def _read(self, call: Call, parameters: Parameters, *, empty: bool) -> dict[str, Any]:
        return {**read_content(parameters, empty=empty), **self.read_media(call, parameters, empty=empty)}

    def _parameters(self, call: Call, *, written: bool = False) -> Parameters:
        parameters = Parameters(call)
        parameters.echo["card_type"] = self.kind.kind.upper() if written else self.kind.kind
        return parameters


def _check_features(call: Call, fields: Mapping[str, Any]) -> None:
    """Conversation cards are in limited release, and so are two things that they can have."""
    call.require_feature(CONVERSATION_CARD)
    for name in ("third_cta", "fourth_cta"):
        if fields.get(name) is not None:
            call.require_feature(FOUR_OPTIONS, name)
    for name in ("unlocked_image_media_key", "unlocked_video_media_key"):
        if fields.get(name) is not None:
            call.require_feature(UNLOCK, name)


IMAGE_CARDS: Final = ConversationCards(IMAGE_CONVERSATION, read_image)
VIDEO_CARDS: Final = ConversationCards(VIDEO_CONVERSATION, read_video)
