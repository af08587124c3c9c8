"""The parts and dependencies of a wheel, for scanners that look for known faults: a CycloneDX document (PEP 770)."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

from audiencekit import __version__

ROOT: Final = Path(__file__).parents[1]
_NAMESPACE: Final = "audiencekit:requirement"  # of the property that says which versions will do


def write_sbom() -> str:
    """The document, the same for the same project: it has neither a time nor a number drawn at random.

    Dependencies are named without a version, since they come from the installation and not with the wheel.
    """
    from cyclonedx.output.json import JsonV1Dot6

    document = JsonV1Dot6(_bill(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]))
    return document.output_as_string(indent=2) + "\n"


def _bill(project: dict[str, Any]) -> Any:
    from uuid import NAMESPACE_DNS, uuid5

    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component, ComponentType
    from packageurl import PackageURL

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
    needed = [_dependency(requirement) for requirement in project["dependencies"]]
    # The kernels have no dependency, but hold parts of the standard library of their compiler.
    needed.append(Component(name="rust-std", type=ComponentType.LIBRARY, bom_ref="rust-std"))
    bill.components.update(needed)
    bill.register_dependency(bill.metadata.component, needed)
    return bill


def _dependency(text: str) -> Any:
    from cyclonedx.model import Property
    from cyclonedx.model.component import Component, ComponentType
    from packageurl import PackageURL
    from packaging.requirements import Requirement

    requirement = Requirement(text)
    return Component(
        name=requirement.name,
        type=ComponentType.LIBRARY,
        bom_ref=requirement.name,
        purl=PackageURL("pypi", name=requirement.name),  # a kind of package; where it comes from is the installer's
        properties=[Property(name=_NAMESPACE, value=str(requirement.specifier))],
    )
