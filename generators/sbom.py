"""The parts and dependencies of a wheel, for scanners that look for known faults: a CycloneDX document (PEP 770)."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

from audiencekit import __version__

ROOT: Final = Path(__file__).parents[1]
_PINNED: Final = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;]+)", re.MULTILINE)


def write_sbom() -> str:
    """The document, the same for the same project: it has neither a time nor a number drawn at random.

    It names the packages of `constraints-hashed.txt`, all that an installation has, in the versions of a release.
    """
    from cyclonedx.output.json import JsonV1Dot6

    document = JsonV1Dot6(_bill(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]))
    return document.output_as_string(indent=2) + "\n"


def _bill(project: dict[str, Any]) -> Any:
    from uuid import NAMESPACE_DNS, uuid5

    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component, ComponentType
    from packageurl import PackageURL
    from packaging.requirements import Requirement

    reference = f"{project['name']}@{__version__}"
    bill = Bom(serial_number=uuid5(NAMESPACE_DNS, reference))
    bill.metadata.timestamp = None  # type: ignore[assignment]
    bill.metadata.component = Component(
        name=project["name"],
        version=__version__,
        type=ComponentType.APPLICATION,
        bom_ref=reference,
        purl=PackageURL("pypi", name=project["name"], version=__version__),
    )
    constraints = (ROOT / "constraints-hashed.txt").read_text("utf-8")
    packages = [_package(*found) for found in _PINNED.findall(constraints)]
    # The kernels have no dependency, but hold parts of the standard library of their compiler.
    kernels = Component(name="rust-std", type=ComponentType.LIBRARY, bom_ref="rust-std")
    bill.components.update([*packages, kernels])
    direct = {_normal(Requirement(text).name) for text in project["dependencies"]}
    needed = [package for package in packages if _normal(package.name) in direct]
    bill.register_dependency(bill.metadata.component, [*needed, kernels])
    return bill


def _package(name: str, version: str) -> Any:
    from cyclonedx.model.component import Component, ComponentType
    from packageurl import PackageURL

    return Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY,
        bom_ref=f"{name}@{version}",
        purl=PackageURL("pypi", name=name, version=version),
    )


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
