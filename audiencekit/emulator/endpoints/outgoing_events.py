"""The events that the data API sends: activity, and posts that match rules of the filtered stream."""

from __future__ import annotations

from dataclasses import dataclass, field

from audiencekit.emulator.endpoints.activity import Activity
from audiencekit.emulator.endpoints.stream_rules import StreamRules
from audiencekit.emulator.endpoints.webhooks import Webhooks


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Subscriptions and streams, rules, and webhooks."""

    activity: Activity = field(default_factory=Activity)
    stream_rules: StreamRules = field(default_factory=StreamRules)
    webhooks: Webhooks = field(default_factory=Webhooks)
