"""The parts of a release: constraints, SBOM, workflows, action, image."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from audiencekit import __version__

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NEEDED = {re.split(r"[<>=!~;\[ ]", requirement)[0] for requirement in PROJECT["dependencies"]}
CONTAINERFILE = (ROOT / "Containerfile").read_text("utf-8").replace("\\\n", " ")
WORKFLOWS = [*(ROOT / ".github" / "workflows").glob("*.yml"), ROOT / "samples/nightly/github.yml"]


def test_every_dependency_has_a_version_and_hashes() -> None:
    """One line a package, and hashes for each: `pip install --require-hashes` takes nothing else."""
    text = (ROOT / "constraints-hashed.txt").read_text("utf-8")
    hashes, only_where = r"((?: \\\n +--hash=sha256:[0-9a-f]{64})+)", r"(?: ; [^\n\\]+)?"
    packages = re.findall(rf"^([\w.-]+)==(\S+){only_where}{hashes}$", text, re.MULTILINE)
    lines = [line for line in text.splitlines() if line[:1].isalpha()]
    assert len(packages) == len(lines)
    assert {name for name, *_ in packages} >= NEEDED


def test_the_hashed_versions_are_the_tested_ones() -> None:
    """Both files name the same version of what both name."""
    tested = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "constraints.txt").read_text("utf-8"), re.MULTILINE))
    hashed = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "constraints-hashed.txt").read_text("utf-8"), re.MULTILINE))
    tested = {name.lower().replace("_", "-"): version for name, version in tested.items()}
    for name, version in hashed.items():
        assert tested[name.lower().replace("_", "-")] == version, name


def test_the_version_stands_in_one_place() -> None:
    """The package says it; the project asks the package."""
    assert "version" in PROJECT["dynamic"]
    assert "version" not in PROJECT
    assert json.loads((ROOT / "audiencekit.cdx.json").read_text())["metadata"]["component"]["version"] == __version__


def test_the_sbom_names_every_dependency() -> None:
    """All that is installed, with version and package URL; what the project names is what the tool depends on."""
    bill = json.loads((ROOT / "audiencekit.cdx.json").read_text("utf-8"))
    lines = (ROOT / "constraints-hashed.txt").read_text("utf-8").splitlines()
    hashed = dict(line.split(" ")[0].split("==") for line in lines if line[:1].isalnum())
    assert len(hashed) > len(NEEDED)
    assert {name: f"{name}@{version}" for name, version in hashed.items()}.items() <= {
        component["name"]: component["bom-ref"] for component in bill["components"]
    }.items()
    versions = {component["name"]: component.get("version") for component in bill["components"]}
    assert versions == hashed | {"rust-std": None}
    (of_tool,) = [each for each in bill["dependencies"] if each["ref"].startswith("audiencekit@")]
    purls = {component["name"]: component.get("purl") for component in bill["components"]}
    assert purls == {name: f"pkg:pypi/{name}@{version}" for name, version in hashed.items()} | {"rust-std": None}
    assert bill["metadata"]["component"]["purl"] == f"pkg:pypi/audiencekit@{__version__}"
    assert set(of_tool["dependsOn"]) == {f"{name}@{hashed[name]}" for name in NEEDED} | {"rust-std"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_is_as_its_schema_says(path: Path) -> None:
    """By the schema of workflows that the checking tool brings along."""
    _check("vendor.github-workflows", path)


def test_the_action_is_as_its_schema_says() -> None:
    """The same for the description of the action."""
    _check("vendor.github-actions", ROOT / "action.yml")


def _check(schema: str, path: Path) -> None:
    pytest.importorskip("check_jsonschema", reason="it comes with the extra `test`")
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_the_action_gives_its_command_to_no_shell(tmp_path: Path) -> None:
    """Arguments stand one on each line: spaces stay in one, and nothing in them is run."""
    script = (ROOT / "action.yml").read_text("utf-8").rpartition("run: |\n")[2]
    tool = tmp_path / "audiencekit"
    tool.write_text('#!/bin/sh\nprintf "%s\\n" "$#" "$@"\n')
    tool.chmod(0o755)
    given = f"check\nmy list.csv\n$(touch {tmp_path}/ran); `id`\n"
    environment = {
        "PATH": "/usr/bin:/bin", "AUDIENCEKIT": str(tool), "COMMAND": given, "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }  # fmt: skip
    subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], env=environment, check=True)
    assert (tmp_path / "audiencekit-report").read_text() == f"3\n{given}"
    assert not (tmp_path / "ran").exists()


def test_actions_of_others_are_named_by_their_commit() -> None:
    """A tag can be moved. What is run from an index is named by its version."""
    for path in (*WORKFLOWS, ROOT / "action.yml"):
        text = path.read_text("utf-8")
        for action, at in re.findall(r"uses: ([\w./-]+)@(.*)", text):
            assert action == "OWNER/audiencekit" or re.fullmatch(r"[0-9a-f]{40}  # v\d+\.\d+\.\d+", at), action
        assert all("==" in tool for tool in re.findall(r"pipx run (\S+)", text))


def test_a_job_with_a_token_runs_nothing_of_an_index() -> None:
    """A poisoned release of a tool, or of what it needs, could publish anything: only actions named by commit run."""
    for path in WORKFLOWS:
        for job in re.split(r"(?m)^  (?=[\w-]+:$)", path.read_text("utf-8").partition("\njobs:\n")[2]):
            if re.search(r"^ +[\w-]+: write\b", job, re.MULTILINE):
                assert not re.search(r"\b(pipx?|uvx?|npx?|npm|cargo|curl|wget)\b", job), path.name


def test_only_the_publishing_job_may_more_than_read() -> None:
    """A token that can publish is had by the one job that does, from the environment `release`, for a tag alone."""
    for path in WORKFLOWS:
        text = path.read_text("utf-8")
        assert text.count("id-token: write") == (path.name == "wheels.yml")
        assert "\npermissions:\n  contents: read\n" in text
    publish = (ROOT / ".github" / "workflows" / "wheels.yml").read_text("utf-8").partition("  publish:\n")[2]
    assert "id-token: write" in publish
    assert "environment: release" in publish
    assert "if: startsWith(github.ref, 'refs/tags/v')" in publish


def test_the_image_is_not_of_root_and_keeps_its_state_in_a_volume() -> None:
    """Also where its root is read-only: home and state directory are in the volume."""
    *_, last = CONTAINERFILE.split("\nFROM ")
    (user,) = re.findall(r"^USER (\d+)$", last, re.MULTILINE)
    assert int(user) > 0
    assert f"--uid {user} " in last
    assert "VOLUME /state" in last
    assert "AUDIENCEKIT_STATE_DIR=/state/" in last


def test_the_image_has_its_kernels() -> None:
    """Its build ends where the installed command does not say so."""
    _, installed = CONTAINERFILE.split("install --no-cache-dir --no-deps .")
    assert re.match(r" +&& /opt/audiencekit/bin/audiencekit --version \| grep -F 'with kernels'\n", installed)


def test_the_files_that_the_image_copies_make_a_wheel_that_runs(tmp_path: Path) -> None:
    """The steps of the first stage in a folder: its copies, and the wheel that pip would make of them."""
    pytest.importorskip("hatchling", reason="it comes with the extra `test`")
    build, unpacked = tmp_path / "build", tmp_path / "unpacked"
    build.mkdir()
    for line in re.findall(r"^COPY (?!--)(.+)$", CONTAINERFILE, re.MULTILINE):
        *sources, target = shlex.split(line)
        for source in sources:
            _copy(ROOT / source, build / target / ("" if (ROOT / source).is_dir() else source))
    environment = {**os.environ, "PATH": str(Path(sys.executable).parent), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel"], cwd=build, env=environment, check=True,
        capture_output=True)  # fmt: skip
    (wheel,) = (build / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(unpacked)
        assert any(name.endswith(".dist-info/sboms/audiencekit.cdx.json") for name in archive.namelist())
    state = {"HOME": str(tmp_path / "state"), "AUDIENCEKIT_STATE_DIR": str(tmp_path / "state" / "audiencekit")}
    done = subprocess.run(
        [sys.executable, "-m", "audiencekit", "--version"],
        cwd=unpacked, env={**environment, **state}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith(f"audiencekit, version {__version__}, with")


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "target"), dirs_exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
