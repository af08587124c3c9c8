"""The printed files, as the systems that they are for read and run them; each finishes what a killed run began."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from audiencekit.cli.schedule_files import cron_job, crontab, github_workflow, service_unit
from audiencekit.cli.scheduled_run import ENDED_BY_SIGNAL, LEFT, REPEATED, ScheduledRun
from audiencekit.errors import AudiencekitError, UsageError
from generators.files import ROOT
from generators.schedules import FOLDER, RUN
from tests.cases import each_case
from tests.cli.conftest import Run, Service
from tests.mirror.servers import state_bucket
from tests.moments import PATIENCE_SECONDS
from tests.processes import start

NIGHTLY = ROOT / FOLDER
ROWS = 150
SECRETS = ("CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET")
STATE_KEY = "4b" * 32  # invented
IMPOSSIBLE = 255  # the exit code of a pod whose mounts the machine does not allow


def _all_codes(kind: type[AudiencekitError] = AudiencekitError) -> set[int]:
    return {kind.exit_code}.union(*map(_all_codes, kind.__subclasses__()))


def test_each_exit_code_has_one_reaction() -> None:
    """Of all classes of errors; and the files say the same as the code."""
    assert {*REPEATED, *LEFT} == _all_codes()
    assert not set(REPEATED) & set(LEFT)
    job = _documents(NIGHTLY / "kubernetes.yaml")[-1]["spec"]["jobTemplate"]["spec"]
    assert job["podFailurePolicy"]["rules"][0]["onExitCodes"]["values"] == [*LEFT]
    assert (
        f"\nRestartPreventExitStatus={' '.join(map(str, LEFT))}\n" in (NIGHTLY / "audiencekit-shop.service").read_text()
    )


def _documents(path: Path) -> list[Any]:
    return list(YAML(typ="safe").load_all(path))


@each_case("version", ["1.30", "1.34", "1.37"])
def test_the_manifests_are_as_the_published_schemas_say(version: str) -> None:
    """Unknown keys are refused. The schemas of 1.27 to 1.29 require two keys that exclude each other."""
    kubernetes_validate = pytest.importorskip("kubernetes_validate", reason="it comes with the extra `test`")
    for document in _documents(NIGHTLY / "kubernetes.yaml"):
        kubernetes_validate.validate(document, version, strict=True)


IN_BUCKET = replace(
    RUN, bucket={"AUDIENCEKIT_STATE": "s3://bucket/acme", "AUDIENCEKIT_STATE_WITNESS": "az://other/acme"}
)


def test_a_pod_whose_state_is_in_a_bucket_has_no_volume_for_it() -> None:
    """But the lists have one; the manifests are as the published schemas say."""
    kubernetes_validate = pytest.importorskip("kubernetes_validate", reason="it comes with the extra `test`")
    documents = list(YAML(typ="safe").load_all(cron_job(IN_BUCKET, "registry.example/audiencekit")))
    for document in documents:
        kubernetes_validate.validate(document, "1.34", strict=True)
    assert [document["metadata"]["name"] for document in documents] == ["audiencekit-shop-lists", "audiencekit-shop"]
    pod = documents[-1]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    settings = {each["name"]: each["value"] for each in container["env"]}
    assert (IN_BUCKET.bucket.items() <= settings.items(), "AUDIENCEKIT_STATE_DIR" in settings) == (True, False)
    assert {each["name"] for each in container["volumeMounts"]} == {each["name"] for each in pod["volumes"]}
    assert {each["name"] for each in pod["volumes"]} == {"lists", "secrets", "tmp"}


def test_a_workflow_whose_state_is_in_a_bucket_uses_no_cache() -> None:
    """It needs no first night either, and installs the extra."""
    setup = replace(RUN.setup, path=Path("/srv/shop/audiencekit.toml"))
    workflow = YAML(typ="safe").load(github_workflow(replace(IN_BUCKET, setup=setup)))
    steps = workflow["jobs"]["run"]["steps"]
    assert not [step for step in steps if "cache" in step.get("uses", "") or "begun" in step.get("run", "")]
    (step,) = [step for step in steps if "audiencekit@" in step.get("uses", "")]
    assert (step["with"]["extras"], IN_BUCKET.bucket.items() <= step["env"].items()) == ("cloud", True)
    assert "AUDIENCEKIT_STATE_DIR" not in step["env"]
    assert workflow["on" if "on" in workflow else True]["workflow_dispatch"] is None


@pytest.mark.parametrize("write", [crontab, service_unit])
def test_a_machine_with_a_disk_is_scheduled_with_a_directory(write: Callable[[ScheduledRun], str]) -> None:
    with pytest.raises(UsageError, match="has a disk, and keeps the state there"):
        write(IN_BUCKET)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.services
@pytest.mark.parametrize("fault", ["", "RestartSec=15foo"])
def test_the_units_are_as_systemd_reads_them(tmp_path: Path, fault: str) -> None:
    """Without a word; with a fault in it there is one."""
    for kind in ("service", "timer"):
        text = (NIGHTLY / f"audiencekit-shop.{kind}").read_text()
        text = text.replace(RUN.program[0], "/bin/sh")  # which must be there
        (tmp_path / f"audiencekit-shop.{kind}").write_text(
            text.replace("RestartSec=15min", fault or "RestartSec=15min")
        )
    units = [str(path) for path in tmp_path.iterdir()]
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True, check=False
    )
    assert (done.returncode, bool(done.stderr)) == (0, bool(fault)), done.stderr


def test_the_dag_names_what_the_provider_has() -> None:
    """Its operators, with arguments of theirs; Airflow itself loads it in tests/integrations."""
    tree = ast.parse((NIGHTLY / "airflow.py").read_text())
    operators = ast.parse((ROOT / "audiencekit/integrations/airflow/operators.py").read_text())
    classes = {node.name: node for node in operators.body if isinstance(node, ast.ClassDef)}
    arguments = {arg.arg for node in ast.walk(operators) if isinstance(node, ast.arguments) for arg in node.kwonlyargs}
    imported = {
        alias.name for node in tree.body if isinstance(node, ast.ImportFrom) and "audiencekit" in (node.module or "")
        for alias in node.names
    }  # fmt: skip
    assert imported <= set(classes)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") in imported]
    assert {call.func.id for call in calls} == imported  # type: ignore[attr-defined]
    for call in calls:
        assert {keyword.arg for keyword in call.keywords} <= arguments | {"task_id"}
    (defaults,) = (
        each.value for each in ast.walk(tree) if isinstance(each, ast.keyword) and each.arg == "default_args"
    )
    assert isinstance(defaults, ast.Dict)
    assert {ast.literal_eval(key) for key in defaults.keys if key} == {"retries", "retry_delay", "deferrable"}
    assert {"DeferrableOperator"} == {_first_with(classes, name, "deferrable") for name in imported}


def _first_with(classes: Mapping[str, ast.ClassDef], name: str, argument: str) -> str:
    """The class with an argument of this name, from `name` upwards; empty if there is none."""
    while name in classes:
        methods = [node for node in classes[name].body if getattr(node, "name", "") == "__init__"]
        if any(arg.arg == argument for method in methods for arg in method.args.kwonlyargs):  # type: ignore[attr-defined]
            return name
        name = getattr(classes[name].bases[0], "id", "")
    return ""


@pytest.mark.skipif(os.name == "nt", reason="cron is of Unix")
@pytest.mark.parametrize(
    ("codes", "ended", "pauses"),
    [
        ([0], 0, []),
        ([75, 69, 0], 0, ["900", "1800"]),
        ([74, 3], 3, ["900"]),
        *(([code], code, []) for code in LEFT),
        *(([code, 0], 0, ["900"]) for code in ENDED_BY_SIGNAL),
        ([75, 75, 75, 75], 75, ["900", "1800", "3600", "0"]),
    ],
)
def test_the_line_of_cron_reacts_to_the_exit_code(
    tmp_path: Path, codes: list[int], ended: int, pauses: list[str]
) -> None:
    """A program in the place of ours ends with one code after the other; a path with a space and a sign of cron."""
    folder = tmp_path / "a 100% folder"
    folder.mkdir()
    (folder / "codes").write_text("".join(f"{code}\n" for code in codes))
    tool, sleep = folder / "tool", folder / "sleep"
    tool.write_text('#!/bin/sh\ncd "${0%/*}"; code=$(head -1 codes); sed -i 1d codes; exit "$code"\n')
    sleep.write_text('#!/bin/sh\necho "$1" >> "${0%/*}/pauses"\n')
    for program in (tool, sleep):
        program.chmod(0o755)
    settings, line = _of_crontab(crontab(_changed(program=(str(tool),), log=folder / "log")))
    done = subprocess.run(["/bin/sh", "-c", line], env=settings | {"PATH": f"{folder}:{settings['PATH']}"}, check=False)
    found = (folder / "pauses").read_text().split() if pauses else []
    assert (done.returncode, found, (folder / "codes").read_text()) == (ended, pauses, "")


@pytest.mark.parametrize(("more", "fits"), [(0, True), (1, False)])
def test_a_line_that_cron_does_not_take_is_refused(more: int, fits: bool) -> None:
    """Debian's `crontab` takes 998 letters, and says `command too long` of more."""
    shortest = len(_of_crontab(crontab(_changed(program=("/",))))[1])
    run = _changed(program=("/".ljust(998 - shortest + 1 + more, "x"),))
    if fits:
        assert len(_of_crontab(crontab(run))[1]) == 998
    else:
        with pytest.raises(UsageError, match="no line of more than 998 letters, and this one has 999"):
            crontab(run)


def _changed(**parts: Any) -> Any:
    return replace(RUN, **parts)


def _of_crontab(text: str) -> tuple[dict[str, str], str]:
    """The settings and the command of the one line, as cron reads them: `%` has a backslash (crontab(5))."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    settings = dict(line.split("=", 1) for line in lines[:-1])
    quoted = re.compile(r"""(['"])(.*)\1""")
    settings = {name: quoted.sub(r"\2", value) for name, value in settings.items()}
    *_, command = lines[-1].split(maxsplit=5)
    assert not re.search(r"(?<!\\)%", command)
    return settings, command.replace("\\%", "%")


# --- Each file, run as its system runs it; the process is killed after its first request, and the file is run again ---


class Night:
    """A setup with an upload of three requests, of which the second waits a minute, in a directory."""

    def __init__(self, service: Service, folder: Path) -> None:
        self.service, self.folder, self.setup = service, folder, folder / "lists" / "audiencekit.toml"
        (folder / "lists" / "exports").mkdir(parents=True)
        rows = [f"person{number}@example.com" for number in range(ROWS)]
        (folder / "lists/exports/customers.csv").write_text("\n".join(["email", *rows]) + "\n")
        self._setup = (
            f'[accounts.shop]\naccount_id = "{service.ready["account_id"]}"\n'
            f'[audiences.spring]\nsource = "exports/customers.csv"\naudience = "{service.audience_id}"\n'
            'account = "shop"\ncommand = "upload"\nmax_records_per_request = 50\n'
        )
        self.setup.write_text(f"requests_per_minute = 1\n{self._setup}")

    def kill_in_the_middle(self, process: subprocess.Popen[Any], state_dir: Path) -> None:
        """Kill it and its children when the first request has been answered."""
        while not self.service.sent():
            assert process.poll() is None
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        shutil.rmtree(state_dir / "limiter")  # the next request would wait a minute
        self.setup.write_text(self._setup)

    def is_exact(self, run: Run, state_dir: Path) -> bool:
        """Whether one run, begun by the killed process, has put in all people, each once."""
        env = {"AUDIENCEKIT_STATE_DIR": str(state_dir), "AUDIENCEKIT_KEY": STATE_KEY}
        states = [each["state"] for each in json.loads(run("runs", "--json", **env).stdout)]
        members = self.service.members()
        return (states, members, self.service.sent() in (3, 4)) == (["complete"], ROWS, True)


def _begin(command: list[str], **more: Any) -> subprocess.Popen[Any]:
    return start(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **more)


def _ends_well(process: subprocess.Popen[Any]) -> bool:
    _, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, err
    return True


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="cron is of Unix")
def test_the_line_of_cron_finishes_what_a_killed_run_began(run: Run, service: Service, tmp_path: Path) -> None:
    """In the environment that cron gives it, with secrets in the files that the commands of its comment write."""
    night, state_dir = Night(service, tmp_path / "my shop"), tmp_path / "state"
    given = {**service.env, "AUDIENCEKIT_KEY": STATE_KEY}
    text = run("schedule", "cron", str(night.setup), **given).stdout
    assert not any(value in text for name, value in given.items() if name.endswith((*SECRETS, "_KEY")))
    once = "\n".join(line.removeprefix("#   ") for line in text.splitlines() if line.startswith("#   "))
    subprocess.run(["/bin/sh", "-ec", once], env={"PATH": os.environ["PATH"], **given}, check=True)
    settings, line = _of_crontab(text)
    of_cron = [f"HOME={tmp_path}", "LOGNAME=ada", *(f"{name}={value}" for name, value in settings.items())]
    command = ["env", "-i", *of_cron, settings["SHELL"], "-c", line]
    night.kill_in_the_middle(_begin(command, cwd="/"), state_dir)
    second = _begin(command, cwd="/")
    assert _ends_well(second)
    assert night.is_exact(run, state_dir)
    log = [json.loads(line) for line in (night.setup.parent / "audiencekit-nights.jsonl").read_text().splitlines()]
    assert log[-1]["exit_code"] == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="systemd is of Linux")
def test_the_service_finishes_what_a_killed_run_began(run: Run, service: Service, tmp_path: Path) -> None:
    """Its ExecStart, in its Environment, with a state directory and credentials where systemd puts them."""
    night, places = (
        Night(service, tmp_path / "shop"),
        {"%S": str(tmp_path / "lib"), "%d": str(tmp_path / "credentials")},
    )
    text = run("schedule", "systemd", str(night.setup), **service.env).stdout
    unit = [line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#")]
    _write_secrets(
        tmp_path / "credentials", service, [value.split(":")[0] for key, value in unit if key == "LoadCredential"]
    )
    state_dir = tmp_path / "lib" / next(value for key, value in unit if key == "StateDirectory")
    state_dir.mkdir(mode=0o700, parents=True)

    def expanded(word: str) -> str:
        return re.sub("%.", lambda found: {**places, "%%": "%"}[found.group()], word)

    environment = dict(expanded(shlex.split(value)[0]).split("=", 1) for key, value in unit if key == "Environment")
    (command,) = (shlex.split(value) for key, value in unit if key == "ExecStart")
    words = [expanded(word).replace("$$", "$") for word in command]
    night.kill_in_the_middle(_begin(words, cwd="/", env=environment), state_dir)
    assert _ends_well(_begin(words, cwd="/", env=environment))
    assert night.is_exact(run, state_dir)


def _write_secrets(folder: Path, service: Service, names: list[str]) -> None:
    folder.mkdir()
    for name in names:
        (folder / name).write_text(service.env.get(f"AUDIENCEKIT_{name.upper()}", STATE_KEY) + "\n")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_the_workflow_finishes_what_a_killed_run_began(run: Run, service: Service, tmp_path: Path) -> None:
    """By the script of the action, in the directory of the repository; its state was in the cache meanwhile."""
    night = Night(service, tmp_path)
    (tmp_path / ".git").mkdir()
    printed = tmp_path / "workflow.yml"
    printed.write_text(run("schedule", "github", str(night.setup), **service.env).stdout)
    steps = _documents(printed)[0]["jobs"]["run"]["steps"]
    (step,) = (each for each in steps if "audiencekit@" in each.get("uses", ""))
    (refusal,) = (each["run"] for each in steps if "refuse" in each.get("name", ""))
    secrets = {**service.env, "AUDIENCEKIT_KEY": STATE_KEY}

    def filled(text: str) -> str:
        text = re.sub(r"\$\{\{ secrets\.(\w+) \}\}", lambda found: secrets.get(found[1], ""), text)
        return text.replace("${{ github.workspace }}", str(tmp_path))

    script = (ROOT / "action.yml").read_text("utf-8").rpartition("run: |\n")[2]
    environment = {name: filled(value) for name, value in step["env"].items()} | {
        "PATH": os.defpath, "AUDIENCEKIT": str(Path(sys.executable).with_name("audiencekit")),
        "COMMAND": step["with"]["command"], "RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(tmp_path / "output"),
    }  # fmt: skip
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
    night.kill_in_the_middle(_begin([*shell, script], cwd=tmp_path, env=environment), tmp_path / "state")
    assert _ends_well(_begin([*shell, f"{refusal}\n{script}"], cwd=tmp_path, env=environment))
    assert night.is_exact(run, tmp_path / "state")
    assert json.loads((tmp_path / "audiencekit-report").read_text())["state"] == "complete"


def _is_impossible(process: subprocess.Popen[Any], service: Service) -> bool:
    """Whether it ended because there may be no mounts; False as soon as it has asked the service."""
    while json.loads(service.get("/__requests")) == []:
        if process.poll() is not None:
            return process.returncode in (1, 255)
        time.sleep(0.01)
    return False


# A pod in a namespace of mounts: the root is read-only but for the volumes, and all users may come to Python and the
# checkout.
POD = """
import os, subprocess, sys
from pathlib import Path
user, group, folder, roots, *command = sys.argv[1:]
def mount(*words):
    if subprocess.run(["mount", *map(str, words)]).returncode:
        sys.exit(255)
hidden = {}  # below each closed directory, the outermost of its kind, what the command needs of it
for root in map(Path, dict.fromkeys(roots.split(":"))):
    closed = [each for each in root.parents if not each.stat().st_mode & 1]
    if closed:
        hidden.setdefault(closed[-1], []).append(root)
for number, (top, paths) in enumerate(hidden.items()):
    kept = {path: Path(folder, f"kept{number}-{at}") for at, path in enumerate(paths)}
    for path, place in kept.items():
        place.mkdir(exist_ok=True)
        mount("--bind", path, place)
    mount("-t", "tmpfs", "-o", "mode=755", "none", top)
    for path, place in kept.items():
        path.mkdir(parents=True, exist_ok=True)
        mount("--bind", place, path)
for volume in ("state", "tmp"):
    mount("--bind", f"{folder}/{volume}", f"{folder}/{volume}")
mount("-o", "remount,bind,ro", "/")
os.setgroups([int(group)])
os.setgid(int(group))
os.setuid(int(user))
os.chdir("/")
os.execv(command[0], command)
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter, which that of pytest is not."""
    folder = Path(tempfile.mkdtemp(prefix="audiencekit-pod-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root of Linux can be another user")
def test_the_pod_finishes_what_a_killed_run_began(run: Run, service: Service, open_folder: Path) -> None:
    """As a user that the machine does not know, on a volume as fsGroup makes it: of root, setgid, for the group."""
    night, user, group = Night(service, open_folder), 1_000_000 + os.getpid(), 2_000_000 + os.getpid()
    printed = open_folder / "kubernetes.yaml"
    printed.write_text(run("schedule", "kubernetes", str(night.setup), "--image", "mine", **service.env).stdout)
    pod = _documents(printed)[-1]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    for mount in container["volumeMounts"]:
        (open_folder / mount["mountPath"].strip("/")).mkdir(exist_ok=True)
    secrets = [each["value"] for each in container["env"] if each["value"].startswith("/secrets/")]
    (open_folder / "secrets").rmdir()
    _write_secrets(open_folder / "secrets", service, [Path(each).name for each in secrets])
    for path in (open_folder / "state", open_folder / "secrets", *(open_folder / "secrets").iterdir()):
        os.chown(path, 0, group)
        path.chmod(0o2775 if path.is_dir() else 0o440)

    def below(word: str) -> str:
        return re.sub(r"^/(?=state|lists|secrets)", f"{open_folder}/", word)

    environment = {each["name"]: below(each["value"]) for each in container["env"]}
    environment |= {"HOME": str(open_folder / "state"), "PATH": os.defpath, "TMPDIR": str(open_folder / "tmp")}
    (open_folder / "tmp").chmod(0o1777)
    entry = str(Path(sys.executable).with_name("audiencekit"))  # ENTRYPOINT of Containerfile
    if not os.path.isfile(entry):
        pytest.skip("audiencekit is not installed as a command")
    namespace = ["unshare", "--mount", "--propagation", "private", sys.executable, "-c", POD]
    roots = ":".join([sys.base_prefix, sys.prefix, str(ROOT)])
    words = [*namespace, str(user), str(group), str(open_folder), roots, entry, *map(below, container["args"])]
    state_dir = Path(environment["AUDIENCEKIT_STATE_DIR"])
    first = _begin(words, env=environment)
    if _is_impossible(first, service):
        pytest.skip("this machine allows no mount")
    night.kill_in_the_middle(first, state_dir)
    assert _ends_well(_begin(words, env=environment))
    assert (state_dir.stat().st_uid, state_dir.stat().st_mode & 0o077) == (user, 0)
    shutil.copytree(state_dir, open_folder / "copy")  # of root again, whose command reads it
    (open_folder / "copy").chmod(0o700)
    assert night.is_exact(run, open_folder / "copy")


HASTENED = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
sys.argv[0] = "audiencekit"
from tests.forking import hasten
hasten(100)
from audiencekit.__main__ import start
start()
"""


class Containers:
    """Each is another user without a name and a home, on a read-only root with a temporary directory of its own."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self._folder, self._number, self._tmp = folder, 0, folder / "tmp"
        self._env = {"PATH": os.defpath, "TMPDIR": str(self._tmp), **env}
        (folder / "state").mkdir()
        self._tmp.mkdir()
        self._tmp.chmod(0o1777)

    def begin(self, *arguments: str) -> subprocess.Popen[Any]:
        """A command under way; the container before it is gone."""
        entry = str(Path(sys.executable).with_name("audiencekit"))
        if not os.path.isfile(entry):
            pytest.skip("audiencekit is not installed as a command")
        return self._begin([entry, *arguments])

    def begin_faster(self, *arguments: str) -> subprocess.Popen[Any]:
        """The same without waiting half a minute for a dead holder of the state."""
        return self._begin([sys.executable, "-c", HASTENED, *arguments])

    def _begin(self, command: list[str]) -> subprocess.Popen[Any]:
        for left in self._tmp.iterdir():
            shutil.rmtree(left)
        self._number += 1
        user = str(3_000_000 + 100 * os.getpid() + self._number)
        roots = ":".join([sys.base_prefix, sys.prefix, str(ROOT)])
        namespace = ["unshare", "--mount", "--propagation", "private", sys.executable, "-c", POD]
        return _begin([*namespace, user, user, str(self._folder), roots, *command], env=self._env)

    def ends_well(self, process: subprocess.Popen[Any]) -> bool:
        """Whether a command succeeds, and leaves nothing."""
        return _ends_well(process) and list(self._tmp.iterdir()) == []


@pytest.fixture
def containers(service: Service, open_folder: Path) -> Iterator[Containers]:
    """With a state in a bucket."""
    with state_bucket() as bucket:
        found = Containers(open_folder, {**bucket.env, **service.env})
        if found.begin("state", "init").wait(timeout=PATIENCE_SECONDS) == IMPOSSIBLE:
            pytest.skip("this machine allows no mount")
        yield found


def _write_people(folder: Path, numbers: range) -> str:
    rows = [f"person{each}@example.com" for each in numbers]
    (folder / "list.csv").write_text("\n".join(["email", *rows]) + "\n")
    return str(folder / "list.csv")


@pytest.mark.services
@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root of Linux can be another user")
def test_a_container_without_a_volume_goes_on_with_the_state_in_a_bucket(
    service: Service, open_folder: Path, containers: Containers
) -> None:
    """Each sync sends what has changed since the one before it."""
    for number in (1, 2):
        source = _write_people(open_folder, range(number, ROWS))
        assert containers.ends_well(containers.begin("sync", source, "--audience", service.audience_id))
        assert service.members() == ROWS - number


@pytest.mark.slow
@pytest.mark.services
@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root of Linux can be another user")
def test_containers_that_are_killed_twice_end_with_all_people(
    service: Service, open_folder: Path, containers: Containers
) -> None:
    """The same command under its id; after each kill the next container waits until the dead one is taken for dead."""
    source = _write_people(open_folder, range(ROWS))
    words = ["upload", source, "--audience", service.audience_id, "--run-id", "nightly-1"]
    words += ["--max-records-per-request", "50", "--concurrency", "1", "--json"]
    service.order({"fault": 1, "where": "after_apply", "delay_seconds": 20, "times": 2, "match": {"path": "*/users"}})
    for requests in (1, 2):
        process = containers.begin_faster(*words)
        while service.sent() < requests:
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    service.clear()
    assert containers.ends_well(containers.begin_faster(*words))
    assert (service.members(), service.sent() <= 5) == (ROWS, True)
