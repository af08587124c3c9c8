"""The modules that the provider tells Airflow of exist."""

from __future__ import annotations

import ast
import importlib
import tomllib
from pathlib import Path
from typing import Any

import audiencekit
from audiencekit.integrations.airflow.provider import get_provider_info
from audiencekit.settings import SECRET_NAMES

ROOT = Path(audiencekit.__file__).parent.parent


def _classes(module: str) -> set[str]:
    tree = ast.parse((ROOT / module.replace(".", "/")).with_suffix(".py").read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.ClassDef)}


def test_every_class_and_module_is_there() -> None:
    """Airflow says nothing of a name that leads nowhere."""
    info = get_provider_info()
    for path in [*info["hook-class-names"], *(each["hook-class-name"] for each in info["connection-types"])]:
        module, _, name = path.rpartition(".")
        assert name in _classes(module)
    for room in ("operators", "sensors", "triggers"):
        for module in info[room][0]["python-modules"]:
            assert _classes(module)


def test_secrets_are_passwords_in_the_form() -> None:
    """And nothing else is."""
    fields: dict[str, Any] = get_provider_info()["connection-types"][0]["conn-fields"]
    assert {name for name, field in fields.items() if field["schema"].get("format") == "password"} == set(SECRET_NAMES)


def test_the_entry_point_leads_to_it() -> None:
    """Under the name of the distribution."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["entry-points"]["apache_airflow_provider"]["provider_info"].partition(":")
    assert getattr(importlib.import_module(module), name) is get_provider_info
    assert get_provider_info()["package-name"] == project["name"]
