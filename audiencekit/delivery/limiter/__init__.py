"""The pace of all processes that share a quota: one process, one host, or many hosts."""

from audiencekit.delivery.limiter.choice import open_limiter
from audiencekit.delivery.limiter.host import HostLimiter
from audiencekit.delivery.limiter.pacing import PacedLimiter, Unlimited
from audiencekit.delivery.rate_limiter import Pausable, RateLimiter

__all__ = ["HostLimiter", "PacedLimiter", "Pausable", "RateLimiter", "Unlimited", "open_limiter"]
