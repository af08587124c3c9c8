"""The words that a shell completes: runs, audiences, columns of the list. Nothing is sent, and errors are not shown.

They come from names in the state directory and the first bytes of the list.
"""

from __future__ import annotations

import os
from typing import Any, Final

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

from audiencekit.cli.command_help import Command
from audiencekit.cli.output import say

NAME: Final = "audiencekit"
VARIABLE: Final = "_AUDIENCEKIT_COMPLETE"  # by which a script asks for answers
# Bash divides words at `=` and joins nothing: we get the line as it was typed, and answer with what follows the sign.
_BASH: Final = """\
%(complete_func)s() {
    local response kind value IFS=$'\\n'
    response=$(
        COMP_LINE="${COMP_LINE:0:COMP_POINT}" COMP_BREAKS="$COMP_WORDBREAKS" %(complete_var)s=bash_complete "$1"
    )
    COMPREPLY=()
    local -a described=()
    while IFS=, read -r kind value; do
        case $kind in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("$(printf '%%q' "$value")") ;;
            open) compopt -o nospace; COMPREPLY+=("$(printf '%%q' "$value")") ;;
            described) described+=("$value") ;;
        esac
    done <<< "$response"
    # A second Tab (type 63) lists the answers, and puts none of them on the line.
    if (( ${#COMPREPLY[@]} > 1 && ${#COMPREPLY[@]} == ${#described[@]} )) && [[ $COMP_TYPE == 63 ]]; then
        COMPREPLY=("${described[@]}")
    fi
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""


class Bash(BashComplete):
    """Completion for Bash that reads KIND=COLUMN as one word, and allows spaces in values."""

    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the incomplete one, and the incomplete one."""
        line = os.environ.get("COMP_LINE", "")
        words = split_arg_string(line)
        incomplete = words.pop() if words and not line[-1:].isspace() else ""
        return words[1:], incomplete

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """Return the line of one completion, and a second one with the name of an audience."""
        value, kind = str(item.value), str(item.type)
        if kind == "plain" and value.endswith("="):
            kind = "open"
        if kind in ("plain", "open") and "=" in os.environ.get("COMP_BREAKS", "="):
            _, sign, rest = value.rstrip("=").partition("=")
            value = rest if sign else value
        # In the list that a second Tab shows, each id of an audience has its name beside it.
        return f"{kind},{value}" + (f"\ndescribed,{value}  ({item.help})" if item.is_named else "")


_SHELLS: Final[dict[str, type[ShellComplete]]] = {"bash": Bash, "zsh": ZshComplete, "fish": FishComplete}


def prepare_answers() -> None:
    """Register `Bash` with click, in place of its class, when a shell asks for completions."""
    if VARIABLE in os.environ:
        add_completion_class(Bash)


@click.command(
    cls=Command, examples=("completion bash", "completion fish > ~/.config/fish/completions/audiencekit.fish")
)
@click.argument("shell", type=click.Choice(list(_SHELLS)))
def completion(shell: str) -> None:
    """Print the shell completion script.

    For bash: eval "$(audiencekit completion bash)" in ~/.bashrc. For zsh: the same with zsh in ~/.zshrc, behind
    compinit. It completes commands, options, ids of runs, audiences that this machine has seen, and columns of the
    list. No request is sent for it.
    """
    from audiencekit.cli import cli

    script = ShellComplete.source(_SHELLS[shell](cli, {}, NAME, VARIABLE))  # that of Bash would start one
    say(script.rstrip("\n"))
