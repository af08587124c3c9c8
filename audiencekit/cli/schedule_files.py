"""The files of a scheduled run: a crontab, units of systemd, a CronJob, a DAG of Airflow, a workflow of GitHub.

Each is whole and runs as it is written. It names secrets, and the place that they come from, and holds none.
"""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from audiencekit import __version__
from audiencekit.audiences.setups.setup import AudienceSetup
from audiencekit.cli.scheduled_run import ENDED_BY_SIGNAL, KEY_VARIABLE, LEFT, REPEATED, ScheduledRun, file_name
from audiencekit.errors import UsageError
from audiencekit.settings import FILE_SUFFIX, PREFIX, own_prefix
from audiencekit.state.key_command import COMMAND_VARIABLE

_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
_STATE: Final = f"{PREFIX}STATE_DIR"
_GRACE: Final = f"{PREFIX}GRACE_SECONDS"
_GRACE_SECONDS: Final = 60
_STOP_SECONDS: Final = _GRACE_SECONDS + 15  # until SIGKILL
_MOST_LETTERS: Final = 998  # of a command; `crontab` of Debian (cron 3.0) refuses a longer one
_PAUSES: Final = (900, 1800, 3600)  # seconds before the same command again
_CODES: Final = """\
0            complete
69 74 75     the service is away, a disk failed, not finished: {repeated}
1 2 3 77     a fault, a wrong option, refused, credentials: {left}"""

_KEY: Final = """\
The state key (AUDIENCEKIT_KEY) has 64 hex digits. A new one: openssl rand -hex 32. A state directory that you bring
along has its own already: docs/accounts.md, "The state key". Keep a copy."""


def _comment(text: str, indent: str = "") -> str:
    return textwrap.indent(text, f"{indent}# ", lambda line: True).replace("# \n", "#\n")


def _codes(repeated: str, left: str = "a person has to look, and nothing is tried again") -> str:
    return _CODES.format(repeated=repeated, left=left)


def _numbers(codes: Iterable[int], between: str = " ") -> str:
    return between.join(map(str, codes))


def _names_of_accounts(run: ScheduledRun) -> str:
    """Return the prefixes of variables with an account's own credentials, where this environment sets none."""
    own = [own_prefix(account) for account in run.accounts]
    return ", ".join(f"{prefix}…" for prefix in own if not any(name.startswith(prefix) for name in run.secrets))


def _refuse_bucket(run: ScheduledRun) -> None:
    if run.bucket:
        raise UsageError(
            "a machine that starts it by itself has a disk, and keeps the state there",
            hint="take AUDIENCEKIT_STATE away, or print the file for kubernetes, github or airflow",
        )


# --- cron ---


def crontab(run: ScheduledRun) -> str:
    """Lines for the crontab of the present user, who has the state directory and its login already.

    Raises UsageError for a line that cron would not take, and for a state in a bucket.
    """
    _refuse_bucket(run)
    lines = [f"{name}={_quoted_for_cron(value)}" for name, value in {**run.settings, **run.paths}.items()]
    lines += [f"{name}{FILE_SUFFIX}={_quoted_for_cron(str(file))}" for name, file in run.secrets.items()]
    command = [*run.program, "--quiet", "--log-file", str(run.log), *run.words()]
    again = _numbers((*REPEATED, *ENDED_BY_SIGNAL), "|")
    line = (
        f"for pause in {_numbers(_PAUSES)} 0; do {shlex.join(command)}; code=$?;"
        f" case $code in {again}) sleep $pause;; *) exit $code;; esac; done; exit $code"
    )
    minutes = _numbers((seconds // 60 for seconds in _PAUSES), ", ")
    head = f"""\
The audiences of {run.setup.path}, every night at {run.at:%H:%M} by the clock of this machine.
Printed by `audiencekit schedule cron`. Add it to your crontab: `crontab -e`. Put lines of others above it, since the
settings count for each line below them.

cron never tries again, so the line does. The exit codes:
{_codes(f"again after {minutes} minutes; it goes on where it ended")}
137 143      ended by a signal: again, in the same way
cron mails what the line prints (MAILTO). With --quiet these are errors only.

No `flock` is needed: of two runs on one audience the second ends with 75, and sends nothing.
A machine that is off at {run.at:%H:%M} misses the night: a timer of systemd starts it later.
The log says how each night ended. It holds no person."""
    settings = "\n".join(["SHELL=/bin/sh", f"PATH={_PATH}", f"{_STATE}={_quoted_for_cron(str(run.state_dir))}", *lines])
    escaped = line.replace("%", "\\%")
    if len(escaped.encode()) > _MOST_LETTERS:
        message = f"cron takes no line of more than {_MOST_LETTERS} letters, and this one has {len(escaped.encode())}"
        raise UsageError(message, hint="put the audiences into a setup of their own, or take `schedule systemd`")
    return (
        f"{_comment(head)}\n#\n{_comment(_secrets_of_cron(run))}\n{settings}\n"
        f"{run.at.minute} {run.at.hour} * * *  {escaped}\n"
    )


def _quoted_for_cron(value: str) -> str:
    """The value of a setting: cron takes a pair of quotes off, and knows no escape within."""
    return value if value and not set(value) & set(" '\"#") else ("'{}'" if '"' in value else '"{}"').format(value)


def _secrets_of_cron(run: ScheduledRun) -> str:
    lines = []
    if run.secrets:
        folders = dict.fromkeys(file.parent for file in run.secrets.values())
        said = "cron does not have the secrets of your shell. Each comes from a file that only you can read. In a shell"
        lines += [said, "that has them, write the files once, unless they are there:"]
        lines += [f"  umask 077; mkdir -p {shlex.join(map(str, folders))}"]
        lines += [f"  printenv {name} > {shlex.quote(str(file))}" for name, file in run.secrets.items()]
    if run.has_key_command:
        lines += [
            f"{COMMAND_VARIABLE} is set in your shell, and is not printed: it may hold a secret. Add its line below."
        ]
    elif KEY_VARIABLE not in run.secrets:
        lines += [
            "cron opens no keyring. Where `audiencekit key show` or `audiencekit whoami` name one, put these secrets"
        ]
        lines += ['into files: docs/nightly.md, "Secrets in files".']
    return "\n".join(lines)


# --- systemd ---


def service_unit(run: ScheduledRun) -> str:
    """The service, which the timer starts, and which starts itself again after a failure that a second try can cure.

    Raises UsageError for a state in a bucket.
    """
    _refuse_bucket(run)
    secrets = run.needed_secrets
    commands = [f"  sudo install -d -m 0700 /etc/{_folder()}"]
    commands += [f"  sudo install -m 0600 /dev/stdin /etc/{_folder()}/{file_name(name)}   # {name}" for name in secrets]
    head = f"""\
The audiences of {run.setup.path}. Printed by `audiencekit schedule systemd`:
/etc/systemd/system/{run.name}.service, started by {run.name}.timer (`--timer` prints it).

Once: the secrets, each in a file that root alone reads. Paste the value, then Ctrl-D:
{chr(10).join(commands)}
{_KEY}
{_user_line(run)}Then: sudo systemctl daemon-reload && sudo systemctl enable --now {run.name}.timer
Now:  sudo systemctl start {run.name}; journalctl -u {run.name}

The state is kept in /var/lib/{_folder()}. An audience under sync knows one state directory: where this user has synced
before, move it there once: sudo mv -T {shlex.quote(str(run.state_dir))} /var/lib/{_folder()}

The exit codes:
{_codes("again after 15 minutes, five times a night; it goes on where it ended")}
a signal     (a crash, no memory): as 75"""
    settings = {_STATE: f"%S/{_folder()}", _GRACE: str(_GRACE_SECONDS)}
    settings |= {name: _percent(value) for name, value in {**run.settings, **run.paths}.items()}
    settings |= {name + FILE_SUFFIX: f"%d/{file_name(name)}" for name in secrets}
    environment = [f"Environment={_quoted_for_systemd(f'{name}={value}')}" for name, value in settings.items()]
    credentials = [f"LoadCredential={file_name(name)}:/etc/{_folder()}/{file_name(name)}" for name in secrets]
    own = _names_of_accounts(run)
    credentials += [f"# Credentials of one account alone come in the same way: {own}"] if own else []
    command = " ".join(_quoted_for_systemd(_percent(word).replace("$", "$$")) for word in [*run.program, *run.words()])
    return f"""\
{_comment(head)}
[Unit]
Description=Fill the audiences of {_percent(str(run.setup.path))}
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=20h
StartLimitBurst=6

[Service]
Type=oneshot
User={run.user}
StateDirectory={_folder()}
StateDirectoryMode=0700
{chr(10).join(credentials)}
{chr(10).join(environment)}
ExecStart={command}

# 0 alone is a good night. With 75 in this list, an unfinished night would be one, too.
SuccessExitStatus=0
Restart=on-failure
RestartSec=15min
RestartPreventExitStatus={_numbers(LEFT)}

# After SIGTERM it ends within {_GRACE_SECONDS} s ({_GRACE}). SIGKILL comes later.
KillMode=mixed
TimeoutStopSec={_STOP_SECONDS}

# It writes into its state directory and /tmp only.
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes
NoNewPrivileges=yes
"""


def timer_unit(run: ScheduledRun) -> str:
    """The timer of the service."""
    head = f"""\
Starts {run.name}.service every night. Printed by `audiencekit schedule systemd --timer`:
/etc/systemd/system/{run.name}.timer. The time is by the clock of the machine; see it: systemctl list-timers"""
    return f"""\
{_comment(head)}
[Unit]
Description=Fill the audiences of {_percent(str(run.setup.path))} every night

[Timer]
OnCalendar=*-*-* {run.at:%H:%M}:00
# A machine that was off then starts it when it is on again.
Persistent=yes

[Install]
WantedBy=timers.target
"""


def _folder() -> str:
    return "audiencekit"  # one for all setups of a host: erased people are to be kept out of all


def _user_line(run: ScheduledRun) -> str:
    if run.user != "audiencekit":
        return ""
    return "The user, who must be able to read the setup and its lists: sudo useradd --system audiencekit\n"


def _percent(text: str) -> str:
    return text.replace("%", "%%")


def _quoted_for_systemd(text: str) -> str:
    if not set(text) & set(" \"'\\;"):
        return text
    return '"{}"'.format(text.replace("\\", "\\\\").replace('"', '\\"'))


# --- Kubernetes ---

_LISTS: Final = "/lists"
_SECRETS: Final = "/secrets"
_UID: Final = 10001  # the user of the image, see Containerfile


def cron_job(run: ScheduledRun, image: str) -> str:
    """A CronJob, with the claims of its volumes. Raises UsageError for a list that the volume would not have."""
    files = run.files_below(run.setup.path.parent)
    secrets, name = run.needed_secrets, run.name
    keys = " ".join(f"--from-file={file_name(each)}=FILE" for each in secrets)
    lists = textwrap.fill(", ".join([run.setup.path.name, *files]), 110)
    own, alien = _names_of_accounts(run), ", ".join(run.paths)
    head = f"""\
The audiences of {run.setup.path.name}, every night at {run.at:%H:%M} UTC. Printed by `audiencekit schedule kubernetes`.

Once, before `kubectl apply -f`:
1. Build the image from Containerfile, and push it to a registry of yours (`--image` names it here).
2. The secrets, each from a file of yours: kubectl create secret generic {name} {keys}
{textwrap.indent(_KEY, "   ")}
3. Put the directory of the setup on the volume {name}-lists, which is {_LISTS} in the pod:
{textwrap.indent(lists, "     ")}
   The job that exports the lists writes them there. If they have a volume already, name its claim below.

{_place_in_cluster(run)}

The exit codes, in podFailurePolicy and backoffLimit below:
{_codes("a new pod runs the same command, and goes on", "the job fails at once")}
137 143      ended by a signal, as by the limit of memory: as 75
An evicted pod is replaced, and does not count."""
    head += f"\n\nCredentials of one account alone are further keys of the secret, and variables: {own}" if own else ""
    head += f"\n\nNot carried over, since they name files of this machine: {alien}" if alien else ""
    state = run.bucket or {_STATE: "/state/audiencekit"}
    settings = {**state, _GRACE: str(_GRACE_SECONDS), **run.settings}
    settings |= {each + FILE_SUFFIX: f"{_SECRETS}/{file_name(each)}" for each in secrets}
    variables = "\n".join(f"{'':16}- {{name: {key}, value: {json.dumps(value)}}}" for key, value in settings.items())
    mount = "" if run.bucket else f"{'':16}- {_MOUNT}\n"
    volume = "" if run.bucket else f"{'':12}- {{name: state, persistentVolumeClaim: {{claimName: {name}-state}}}}\n"
    words = json.dumps(run.words(f"{_LISTS}/{run.setup.path.name}", "--json"))
    return f"""\
{_comment(head)}
{"" if run.bucket else _claim(f"{name}-state")}\
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {name}-lists
spec:
  accessModes: [ReadWriteOnce]
  resources: {{requests: {{storage: 10Gi}}}}
---
apiVersion: batch/v1
kind: CronJob
metadata:
  name: {name}
spec:
  schedule: "{run.at.minute} {run.at.hour} * * *"
  timeZone: Etc/UTC
  concurrencyPolicy: Forbid  # two never work on one state
  startingDeadlineSeconds: 21600  # a night that could not start in time starts up to 6 hours later
  jobTemplate:
    spec:
      backoffLimit: 8  # with pauses from 10 s to 6 minutes
      activeDeadlineSeconds: 82800  # 23 hours: a night that hangs does not stop all that follow
      podFailurePolicy:  # needs restartPolicy Never
        rules:
          - action: FailJob
            onExitCodes: {{containerName: audiencekit, operator: In, values: [{_numbers(LEFT, ", ")}]}}
          - action: Ignore
            onPodConditions: [{{type: DisruptionTarget, status: "True"}}]
      template:
        spec:
          restartPolicy: Never
          terminationGracePeriodSeconds: {_STOP_SECONDS}  # more than {_GRACE}
          automountServiceAccountToken: false
          securityContext:
            runAsNonRoot: true
            runAsUser: {_UID}  # the same each night: another user could not read the state
            runAsGroup: {_UID}
            fsGroup: {_UID}
            fsGroupChangePolicy: OnRootMismatch  # Always would open the state to the group, and be refused (74)
            seccompProfile: {{type: RuntimeDefault}}
          containers:
            - name: audiencekit
              image: {json.dumps(image)}
              args: {words}
              env:
{variables}
              securityContext:
                allowPrivilegeEscalation: false
                readOnlyRootFilesystem: true
                capabilities: {{drop: [ALL]}}
              volumeMounts:
{mount}                - {{name: lists, mountPath: {_LISTS}, readOnly: true}}
                - {{name: secrets, mountPath: {_SECRETS}, readOnly: true}}
                - {{name: tmp, mountPath: /tmp}}
          volumes:
{volume}            - {{name: lists, persistentVolumeClaim: {{claimName: {name}-lists}}}}
            - {{name: secrets, secret: {{secretName: {name}, defaultMode: 0440}}}}
            - {{name: tmp, emptyDir: {{}}}}
"""


_MOUNT: Final = "{name: state, mountPath: /state}  # the state is below it: the volume itself is of root"


def _place_in_cluster(run: ScheduledRun) -> str:
    if not run.bucket:
        return (
            f"The volume {run.name}-state keeps journals, snapshots and the memory of erased people: never an emptyDir,"
            " never two of it."
        )
    return """\
Journals, snapshots and the memory of erased people are in the bucket, begun once with `audiencekit state init`.
The image needs the extra `cloud`, and the pod the credentials of the bucket: a service account of the cloud
(serviceAccountName), or further keys of the secret. The working copy of the state is in /tmp."""


def _claim(name: str) -> str:
    return f"""\
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {name}
spec:
  accessModes: [ReadWriteOnce]
  resources: {{requests: {{storage: 10Gi}}}}
---
"""


# --- Airflow ---

_OPERATORS: Final = {
    "sync": "AudienceSyncOperator",
    "upload": "AudienceUploadOperator",
    "do-not-reach": "DoNotReachUploadOperator",
}


def airflow_dag(run: ScheduledRun) -> str:
    """A DAG with a task for each audience."""
    operators = ", ".join(sorted({_OPERATORS[one.command] for one in run.audiences}))
    accounts = dict.fromkeys((_connection(one), one.account_id) for one in run.audiences)
    connections = "\n".join(f"  {name}" + (f": account {of}" if of else "") for name, of in accounts)
    minutes = _PAUSES[0] // 60
    head = f'''\
"""The audiences of a setup, every night at {run.at:%H:%M} UTC. Printed by `audiencekit schedule airflow`.

It holds the audiences as the setup described them: print it again when the setup changes. Put it into the folder of
DAGs. Each worker needs the extra `airflow`, the lists at these paths, and {_place_of_workers(run)}.
Airflow needs a triggerer, where long waits go on without a worker: start `airflow triggerer`, or take `deferrable` out.

Connections of the type audiencekit, which hold the credentials:
{connections}

The exit codes of the command are not seen here. Where it would end with
  69, 74, 75   the task is tried again after {minutes} minutes, and goes on where it ended
  1, 2, 3, 77  the task fails for good, without another try
"""
'''
    tasks = "".join(_task(one) for one in run.audiences)
    return f"""\
{head}
import datetime

try:
    from airflow.sdk import DAG
except ImportError:  # Airflow 2.11
    from airflow import DAG

from audiencekit.integrations.airflow.operators import {operators}

with DAG(
    {json.dumps(run.name)},
    schedule="{run.at.minute} {run.at.hour} * * *",
    start_date=datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
    catchup=False,
    max_active_runs=1,
    max_active_tasks=1,  # one audience after the other, at one pace; when one fails, the others go on
    default_args={{
        "retries": 4,
        "retry_delay": datetime.timedelta(minutes={minutes}),
        "deferrable": True,  # during long waits a task gives its worker back: this needs a triggerer
    }},
):
{tasks}"""


def _connection(one: AudienceSetup) -> str:
    return f"audiencekit_{one.account or 'default'}"


def _place_of_workers(run: ScheduledRun) -> str:
    if not run.bucket:
        return "one state directory that all share"
    given = "\n".join(f"{name}={value}" for name, value in run.bucket.items())
    return f"the extra `cloud`, with\n{given} and the state key in its environment"


def _task(one: AudienceSetup) -> str:
    sources = [str(source) for source in one.sources]
    given = {"task_id": one.name, "conn_id": _connection(one), "source": sources if len(sources) > 1 else sources[0]}
    given |= {"audience": one.audience} if one.audience else {}
    arguments = {**given, **({"options": dict(one.keywords)} if one.keywords else {})}
    lines = "".join(f"{name}={_literal(value)},\n" for name, value in arguments.items())
    return textwrap.indent(f"{_OPERATORS[one.command]}(\n{textwrap.indent(lines, ' ' * 4)})\n", " " * 4)


def _literal(value: object) -> str:
    """The value in Python: a mapping with a key on each line, and texts as JSON has them, which means the same."""
    if isinstance(value, dict):
        lines = [f"{json.dumps(key)}: {_literal(each)},\n" for key, each in value.items()]
        return "{\n" + textwrap.indent("".join(lines), " " * 4) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_literal(each) for each in value)}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


# --- GitHub ---


_MINUTES: Final = 300  # of the 360 that a job of GitHub may take: what is sent by then is kept


def github_workflow(run: ScheduledRun) -> str:
    """A workflow for the repository that has the setup. Raises UsageError for a list outside of it."""
    repository = _repository_of(run.setup.path)
    files, setup = run.files_below(repository), run.setup.path.relative_to(repository).as_posix()
    secrets = [*run.needed_secrets, *(name for name in _own_variables(run) if name not in run.needed_secrets)]
    environment = [f"{name}: ${{{{ secrets.{name} }}}}" for name in secrets]
    environment = [*(f"{name}: {json.dumps(value)}" for name, value in run.settings.items()), *environment]
    words = run.words(setup, "--json", "--max-minutes", str(_MINUTES))
    alien = f"\n\nNot carried over, since they name files of this machine: {', '.join(run.paths)}" if run.paths else ""
    head = f"""\
The audiences of {setup}, every night at {run.at:%H:%M} UTC. Printed by `audiencekit schedule github`:
.github/workflows/{run.name}.yml. The secrets below are secrets of the repository.
{_KEY}

{_OF_BUCKET if run.bucket else _OF_CACHE}

The exit codes, of which a workflow knows only 0 and the others:
{_codes("start the failed job again; it goes on where it ended")}{alien}"""
    bucket = [f"{name}: {json.dumps(value)}" for name, value in run.bucket.items()]
    place = "\n          ".join(bucket or [f"{_STATE}: ${{{{ github.workspace }}}}/state"])
    extras = "          extras: cloud\n" if run.bucket else ""
    make = _comment(
        "The lists are people: they are not in the repository. Put the step that makes them here:\n{}", " " * 6
    )
    remove = f"\n      - if: always()\n        run: |\n          rm -f -- {shlex.join(files)}\n" if files else ""
    return f"""\
{_comment(head)}
name: {run.name}

on:
  schedule:
    - cron: "{run.at.minute} {run.at.hour} * * *"
  workflow_dispatch:
{"" if run.bucket else _FIRST_NIGHT}
permissions:
  contents: read

concurrency:
  group: {run.name}  # one at a time: the state is handed from night to night

jobs:
  run:
    runs-on: ubuntu-24.04
    timeout-minutes: {_MINUTES + 40}
    steps:
      - uses: actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8  # v5.0.0
        with: {{persist-credentials: false}}

{make.format(", ".join(files) or "none: they are at addresses")}

{_CREDENTIALS if run.bucket else _restored(run)}
      - uses: OWNER/audiencekit@v{__version__}  # OWNER: where your copy of the tool's repository is
        with:
{extras}          command: |
{textwrap.indent(chr(10).join(words), " " * 12)}
        env:
          {place}
{textwrap.indent(chr(10).join(environment), " " * 10)}
{"" if run.bucket else _saved(run)}{remove}"""


_OF_CACHE: Final = """\
A runner of GitHub has no disk that lasts, so the state lies in the cache, which GitHub may evict at any time.
Then these are lost: which members a sync knows, where an interrupted upload ended, and who is to be kept out after an
erasure. This holds: such a night fails before anything is sent, so no erased person comes back. A state in a bucket
(AUDIENCEKIT_STATE) is safer, and so is a runner of yours with a disk: set AUDIENCEKIT_STATE_DIR to a directory there,
and leave the steps of the cache out."""
_OF_BUCKET: Final = """\
Journals, snapshots and the memory of erased people are in the bucket, begun once with `audiencekit state init`."""
_FIRST_NIGHT: Final = """\
    inputs:
      first_night:
        description: There is no state yet, and no person was erased. Only for the first night
        type: boolean
        default: false
"""
_CREDENTIALS: Final = """\
      # Put the step here that logs in to the cloud of the bucket, such as aws-actions/configure-aws-credentials.
"""


def _restored(run: ScheduledRun) -> str:
    return f"""\
      # Sealed under AUDIENCEKIT_KEY: without the key the cache holds nothing that can be read.
      - uses: actions/cache/restore@0400d5f644dc74513175e3cd8d07132dd4860809  # v4.2.4
        with:
          path: state
          key: {run.name}-${{{{ github.run_id }}}}-${{{{ github.run_attempt }}}}
          restore-keys: {run.name}-

      - name: refuse to send without the state
        if: ${{{{ !inputs.first_night }}}}
        run: |
          if [ ! -s state/begun ]; then
            echo "::error::The state of the last night was not restored: its cache was evicted, or never made. \\
          Nothing was sent. Without it a sync does not know its members, and erased people are not kept out. \\
          Restore the directory 'state' from a copy. Or import the memory of erased people \\
          (audiencekit forgotten import) and start this workflow by hand with first_night."
            exit 1
          fi
"""


def _saved(run: ScheduledRun) -> str:
    return f"""
      # Also after a failure: what was sent by then is written there.
      - if: ${{{{ always() && hashFiles('state/begun') != '' }}}}
        uses: actions/cache/save@0400d5f644dc74513175e3cd8d07132dd4860809  # v4.2.4
        with:
          path: state
          key: {run.name}-${{{{ github.run_id }}}}-${{{{ github.run_attempt }}}}
"""


def _own_variables(run: ScheduledRun) -> Iterator[str]:
    """The variables that accounts of the setup may have; a secret that a repository does not have is empty."""
    for account in run.accounts:
        for name in ("CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN", "ACCESS_TOKEN_SECRET"):
            yield own_prefix(account) + name


def _repository_of(setup: Path) -> Path:
    return next((each for each in setup.parents if (each / ".git").exists()), setup.parent)
