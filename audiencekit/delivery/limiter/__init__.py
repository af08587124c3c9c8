"""How many requests may leave, for whoever shares a quota: a process, a host, or many hosts."""

from audiencekit.delivery.limiter.host import HostLimiter
from audiencekit.delivery.limiter.opening import open_limiter
from audiencekit.delivery.limiter.paced import PacedLimiter, Unlimited
from audiencekit.delivery.ratelimiter import Pausable, RateLimiter

__all__ = ["HostLimiter", "PacedLimiter", "Pausable", "RateLimiter", "Unlimited", "open_limiter"]
