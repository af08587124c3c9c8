"""What a figure depends on besides the code: the machine and the versions. No names, no paths."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import audiencekit

PACKAGES: Final = (
    "aiohttp",
    "cryptography",
    "datafusion",
    "email-validator",
    "numpy",
    "orjson",
    "phonenumbers",
    "pyarrow",
)
_CPU_FACTS: Final = Path("/proc/cpuinfo")


def describe_machine() -> dict[str, Any]:
    """Processor, the cores that this process may use, memory, system."""
    return {
        "cpu": _cpu_model(),
        "cores": _cores(),
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "system": f"{platform.system()} {platform.machine()}",
    }


def list_versions() -> dict[str, str]:
    """Python, audiencekit, and the packages that take the time; those that are absent are left out."""
    found = {"python": platform.python_version(), "audiencekit": audiencekit.__version__}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cpu_model() -> str:
    lines = _CPU_FACTS.read_text(encoding="utf-8").splitlines() if _CPU_FACTS.is_file() else []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor() or "unknown")
