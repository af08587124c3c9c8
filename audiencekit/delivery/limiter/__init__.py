"""How many requests may leave, for whoever shares a quota: a process, a host, or many hosts."""

from audiencekit.delivery.ratelimiter import Pausable, RateLimiter

from .host import HostLimiter
from .opening import open_limiter
from .paced import PacedLimiter, Unlimited

__all__ = ["HostLimiter", "PacedLimiter", "Pausable", "RateLimiter", "Unlimited", "open_limiter"]
