"""The pace of all that share a quota: one process, one host, or many hosts."""

from audiencekit.delivery.limiter.host import HostLimiter
from audiencekit.delivery.limiter.limiterchoice import open_limiter
from audiencekit.delivery.limiter.paced import PacedLimiter, Unlimited
from audiencekit.delivery.ratelimiter import Pausable, RateLimiter

__all__ = ["HostLimiter", "PacedLimiter", "Pausable", "RateLimiter", "Unlimited", "open_limiter"]
