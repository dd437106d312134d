"""What plugins write past us to the terminal: from threads, child processes, C code, on import and after the end. All of it is escaped there."""

import json
import os
import re
import signal
import termios
import time
from pathlib import Path

from tests.cli.clusters import WORK, applied, plugins, record
from tests.cli.terminal import BLUEPRINT, Terminal
from tests.cli.test_hostile_texts import HOSTILE, SHOWN
from tests.ptys import CTRL_C, PATIENCE_S, on_terminal

from phaseline.cli.streams.output import terminal_size

SHELL = ("/bin/sh", "-c", '"$@"; echo "left with $?"; read -r line', "sh")
"""Runs the command as people's shells do, and stays when it has ended, until Enter is pressed."""
SAYS = f"""\
import os
import subprocess
import sys
import threading

HOSTILE = {HOSTILE!r}


def child(program, *words):
    return subprocess.Popen(["/bin/sh", "-c", program, "sh", HOSTILE, *words], stdin=subprocess.DEVNULL)


def speak():
    print("thread-out", HOSTILE)
    print("thread-err", HOSTILE, file=sys.stderr)


def say_all():
    thread = threading.Thread(target=speak)
    thread.start()
    thread.join()
    os.write(1, f"raw-out {{HOSTILE}}\\n".encode())
    os.write(2, f"raw-err {{HOSTILE}}\\n".encode())
    child('printf "child-out %s\\\\n" "$1"; printf "child-err %s\\\\n" "$1" >&2').wait()
"""
WAYS = ("thread-out", "thread-err", "raw-out", "raw-err", "child-out", "child-err")
CALLS = """
from pathlib import Path

from phaseline import operation

print("at-import", HOSTILE)


@operation(repeatable=True)
def create(item):
    print("captured", HOSTILE)
    {call}


@operation(repeatable=True)
def delete(item):
    pass
"""
LATER = """child('while kill -0 "$2"; do :; done 2>/dev/null; printf "later %s\\\\n" "$1" >&2; printf "last\\\\n"', str(os.getpid()))"""
ASKS = """child('printf "Password: " >/dev/tty; read -r word </dev/tty; echo "heard $word" >&2').wait()"""
HOOKS = """
from phaseline import LifecycleHook

class Loud(LifecycleHook):
    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        say_all()
"""


def says(terminal: Terminal, call: str) -> Terminal:
    """The blueprint with a plugin whose call does this."""
    terminal.write(BLUEPRINT.partition("  top:")[0])
    (terminal.folder / "plugins" / "made.py").write_text(SAYS + CALLS.format(call=call))
    return terminal


def install(terminal: Terminal, *words: str, within: tuple[str, ...] = ()):  # type: ignore[no-untyped-def]  # of pytest's own kind
    """The install on a terminal."""
    words = ("install", "blueprint.yaml", "-d", "one", *words)
    return on_terminal(*words, folder=terminal.folder, environment=terminal.environment, within=within)


def assert_shown(seen: str, *ways: str) -> None:
    """Each of them was shown, escaped, and nothing else."""
    assert [way for way in ways if f"{way} {SHOWN}" not in seen] == []
    assert "\x1b]0;" not in seen
    assert "\u202e" not in seen
    assert "\x9b" not in seen


def test_what_a_function_its_threads_its_children_and_raw_writes_say_is_escaped(terminal: Terminal) -> None:
    with install(says(terminal, "say_all()")) as command:
        code, seen = command.end()
    assert code == 0, seen
    assert_shown(seen, *WAYS)
    assert "captured" not in seen, "that is the call's log"
    assert seen.rstrip().endswith("outputs: phaseline deployments outputs one"), "the answer comes last"


def test_above_the_table_it_stays_in_lines_of_its_own(terminal: Terminal) -> None:
    with install(says(terminal, "say_all()")) as command:
        _, seen = command.end()
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen)
    lines = [line.rpartition("\r")[2] for line in drawn.split("\n")]
    assert [way for way in WAYS if f"{way} {SHOWN}" not in lines] == []


def test_the_same_while_logs_are_told(terminal: Terminal) -> None:
    terminal = says(terminal, "say_all()")
    with on_terminal(
        "-v", "install", "blueprint.yaml", "-d", "one", folder=terminal.folder, environment=terminal.environment
    ) as command:
        code, seen = command.end()
    assert code == 0, seen
    assert_shown(seen, *WAYS, "<out> captured")


def test_an_answer_in_a_pipe_stays_exact_while_the_terminal_is_kept(terminal: Terminal) -> None:
    within = ("/bin/sh", "-c", '"$@" --json >answer.json', "sh")
    with install(says(terminal, "say_all()"), within=within) as command:
        code, seen = command.end()
    assert code == 0, seen
    assert json.loads((terminal.folder / "answer.json").read_text())["status"] == "completed"
    assert_shown(seen, *WAYS)


def test_errors_that_go_to_a_file_are_exact(terminal: Terminal) -> None:
    within = ("/bin/sh", "-c", '"$@" 2>errors', "sh")
    with install(says(terminal, "say_all()"), within=within) as command:
        code, seen = command.end()
    assert code == 0, seen
    written = (terminal.folder / "errors").read_bytes().decode()
    assert [way for way in WAYS if f"{way} {HOSTILE}" not in written] == []


def test_what_outlives_the_command_is_escaped_and_waited_for_by_nobody(terminal: Terminal) -> None:
    with install(says(terminal, LATER), within=SHELL) as command:
        command.until("last\n")
        command.type("\n")
        _, seen = command.end()
    assert "left with 0" in seen
    assert_shown(seen, "later")


def test_what_is_written_after_the_command_was_killed_is_shown_and_no_child_is_ended(terminal: Terminal) -> None:
    """What it has read and not yet drawn when it is killed goes with it."""
    go = terminal.folder / "go"
    os.mkfifo(go)
    call = f"say_all(); {LATER}; Path({str(go)!r}).read_text(); os.kill(os.getpid(), {int(signal.SIGKILL)})"
    with install(says(terminal, call), within=SHELL) as command:
        command.until(f"child-err {SHOWN}")
        go.write_text("go")
        command.until("last\n")
        command.type("\n")
        _, seen = command.end()
    assert "left with 137" in seen
    assert_shown(seen, "child-err", "later")


def test_a_program_that_asks_on_the_terminal_itself_gets_its_answer(terminal: Terminal) -> None:
    with install(says(terminal, ASKS)) as command:
        command.until("Password: ")
        command.type("sesame\n")
        code, seen = command.end()
    assert code == 0, seen
    assert "heard sesame\n" in seen


def test_a_copy_that_a_plugin_forks_is_escaped_and_takes_nothing_away(terminal: Terminal) -> None:
    call = "pid = os.fork(); pid or (say_all(), os._exit(0)); os.waitpid(pid, 0); os.write(2, b'original\\n')"
    with install(says(terminal, call)) as command:
        code, seen = command.end()
    assert code == 0, seen
    assert_shown(seen, "raw-err", "child-err", "child-out")
    assert "original\n" in seen


def test_more_than_a_pipe_holds_comes_whole(terminal: Terminal) -> None:
    with install(says(terminal, "os.write(2, b'x' * 3_000_000 + b'\\n'); os.write(2, b'end of it\\n')")) as command:
        code, seen = command.end()
    assert code == 0, seen[-2_000:]
    assert seen.count("x" * 100) >= 30_000 - 400, "rows of the terminal cut it at most"
    assert "end of it" in seen


def test_a_plugin_that_waits_for_all_its_children_waits_for_its_own_alone(terminal: Terminal) -> None:
    call = "child('exit 0'); os.wait(); Path('alone').write_text(str(not Path(f'/proc/self/task/{os.getpid()}/children').read_text()))"
    with install(says(terminal, call)) as command:
        code, seen = command.end()
    assert code == 0, seen
    assert (terminal.folder / "alone").read_text() == "True"


def test_hook_classes_are_escaped(terminal: Terminal) -> None:
    folder = terminal.folder / "code"
    folder.mkdir()
    (folder / "loud.py").write_text(SAYS + "print('at-import', HOSTILE)\n" + HOOKS)
    terminal.environment["PHASELINE_PLUGINS_PATH"] = str(folder)
    terminal.environment["PHASELINE_HOOKS_CLASSES"] = json.dumps([{"class": "loud:Loud", "name": "loud"}])
    with install(says(terminal, "pass")) as command:
        code, seen = command.end()
    assert code == 0, seen
    assert_shown(seen, *WAYS)


def test_phase_plugins_are_escaped(terminal: Terminal) -> None:
    folder = plugins(terminal)
    work = WORK.replace("):\n", "):\n    say_all()\n", 1)
    (folder / "create.py").write_text(SAYS + "print('at-import', HOSTILE)\n" + work)
    applied(terminal, record("n1"))
    words = ("engine", "run", "--until-idle")
    with on_terminal(*words, folder=terminal.folder, environment=terminal.environment) as command:
        ended, seen = command.end()
    assert ended == 0, seen
    assert_shown(seen, *WAYS, "at-import")


def test_no_process_is_left_when_the_command_has_ended(terminal: Terminal) -> None:
    with install(says(terminal, "input()"), within=SHELL) as command:
        command.until("1 running")
        until = time.monotonic() + PATIENCE_S
        while not keepers(terminal.folder):
            assert time.monotonic() < until, "no keeper"
        command.type("\n")
        command.until("left with 0")
        while keepers(terminal.folder):
            assert time.monotonic() < until, "the keeper stays"
        command.type("\n")
        command.end()


def keepers(folder: Path) -> list[Path]:
    """Those of commands in this folder."""
    return [path for path in Path("/proc").glob("[0-9]*/cmdline") if _speaks_for(path, folder)]


def _speaks_for(cmdline: Path, folder: Path) -> bool:
    try:
        return b"overheard.keep" in cmdline.read_bytes() and folder.samefile(cmdline.parent / "cwd")
    except OSError:
        return False


def test_ctrl_c_is_heard_and_answered_as_ever(terminal: Terminal) -> None:
    call = "child('echo begun >&2; exec sleep 1000').wait(); os.write(2, b'after it\\n')"  # Ctrl-C ends what is there by then
    with install(says(terminal, call)) as command:
        command.until("begun\n")
        command.type(CTRL_C)
        _, seen = command.end()
    assert "Interrupted: waiting for the running calls." in seen
    assert "after it\n" in seen


def test_a_command_that_runs_no_plugin_has_no_pipe_and_no_keeper(terminal: Terminal) -> None:
    terminal.make_store()
    environment = {**terminal.environment, "PYTHONPROFILEIMPORTTIME": "1"}
    with on_terminal("deployments", "list", folder=terminal.folder, environment=environment) as command:
        code, seen = command.end()
    assert code == 0, seen
    assert "phaseline.cli.streams.output" in seen
    assert "phaseline.cli.streams.terminal_capture" not in seen


def test_the_size_of_the_terminal_is_asked_of_our_own_stream() -> None:
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "w") as stream:
        assert terminal_size(stream) == (80, 24), "nobody has said it yet"
        termios.tcsetwinsize(ours, (50, 170))
        assert terminal_size(stream) == (170, 50)
    os.close(ours)
