"""The conditions of a figure: the machine, the versions, the code that was measured. No names, no paths."""

from __future__ import annotations

import hashlib
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import audiencekit

PACKAGES: Final = (
    "aiohttp",
    "cryptography",
    "datafusion",
    "duckdb",
    "email-validator",
    "facebook-business",
    "numpy",
    "orjson",
    "phonenumbers",
    "pyarrow",
)
_KERNELS: Final = "_audiencekit_kernels"  # found, and not loaded: what starts trials stays small
_DIGEST_LETTERS: Final = 12
_LOAD: Final = os.getloadavg()[0]  # before anything is measured: later it would be our own
_CPU_FACTS: Final = Path("/proc/cpuinfo")


def describe_machine() -> dict[str, Any]:
    """Processor, the cores that this process may use, memory, system, and the load before anything was measured."""
    return {
        "cpu": _cpu_model(),
        "cores": _cores(),
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "system": f"{platform.system()} {platform.machine()}",
        "load": round(_LOAD, 1),
    }


def list_versions() -> dict[str, str]:
    """Python, audiencekit with a digest of its code, and the packages that take the time, those that are there."""
    found = {
        "python": platform.python_version(),
        "audiencekit": audiencekit.__version__,
        "code": _digest_code(),
        "kernels": "compiled" if find_spec(_KERNELS) else "none",
    }
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


def _digest_code() -> str:
    """Changes with every line of the package: figures of other code are other figures."""
    folder = Path(audiencekit.__file__).parent
    digest = hashlib.sha256()
    for path in sorted([*folder.rglob("*.py"), *(folder.parent / "kernels").rglob("*.rs")]):
        digest.update(path.relative_to(folder.parent).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:_DIGEST_LETTERS]
