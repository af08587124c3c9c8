"""The endpoints of conversation cards. To be put before those of other cards, whose ids stand at the same place.

The specification does not show the end of an image card; it is that of a video card.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from audiencekit.emulator.conversation_cards.cards import IMAGE_CARDS, VIDEO_CARDS, ConversationCards
from audiencekit.emulator.rate_limits import READS, WRITES
from audiencekit.emulator.routing import Route


def _routes(cards: ConversationCards) -> Iterator[Route]:
    path = f"/accounts/:account_id/cards/{cards.kind.kind}"
    yield Route("GET", path, cards.list_cards, READS)
    yield Route("POST", path, cards.create, WRITES)
    yield Route("GET", path + "/:card_id", cards.show, READS)
    yield Route("PUT", path + "/:card_id", cards.change, WRITES)
    yield Route("DELETE", path + "/:card_id", cards.delete, WRITES)


ROUTES: Final = (*_routes(IMAGE_CARDS), *_routes(VIDEO_CARDS))
