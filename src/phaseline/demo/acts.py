"""The five acts: a real application, bulk calls, a crash, a failure and its repair, and the removal of everything."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from shutil import which
from typing import Any

from rich.console import Console

from phaseline.demo.commands import CommandLine
from phaseline.demo.processes import CloudProcess, end_processes_in, fetch_page, processes_in, running_cloud
from phaseline.demo.screen import Screen
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import problem_error

WEB, BULK = "01-web", "02-bulk"
FEW, MANY = 50, 500
CALLS_MORE = 3
"""The number of extra calls allowed for ten times as many machines: boot times differ, so one more
poll may be needed.
"""
ROOM, WANTED = 12, 20
"""The number of machines that the quota of the fourth act allows, and the number requested."""
SLOW_MS = 5
"""Milliseconds that the slow cloud of the third act takes for one machine."""
PATIENCE_S = 60
FOLDER = "phaseline-demo"
"""Name of the default folder of the demonstration, below the current folder."""
MARK = "# Written by phaseline demo: this folder is replaced by the next one."
LOOK = (("status",), ("executions", "list"), ("executions", "events", "-d", "crash"))
"""Commands suggested to the audience at the end."""


@frozen
class DemoStage:
    """The objects that all acts share."""

    screen: Screen
    phaseline: CommandLine
    cloud: CloudProcess
    folder: Path


def examples_folder() -> Path:
    """Return the folder of the examples: inside the installed package, or at the top of a clone."""
    here = Path(__file__).resolve()
    packed = here.parent / "examples"
    return packed if packed.is_dir() else here.parents[3] / "examples"


def run_demo(
    folder: Path = Path(FOLDER), console: Console | None = None, after_act: Callable[[int], None] = lambda _: None
) -> int:
    """Run all acts in ``folder``, which is recreated and then kept with the store; return 0 if every claim held, else
    1.

    ``after_act`` is called with the number of each completed act. Processes that the acts started are ended in any
    case.

    Raises: ProblemsError (PL-C119) if the folder exists and was not made by an earlier demonstration.
    """
    screen = Screen(console or Console(highlight=False))
    begun = time.monotonic()
    folder = make_folder(folder)
    for example in (WEB, BULK):
        shutil.copytree(examples_folder() / example, folder / example, ignore=shutil.ignore_patterns("__pycache__"))
    screen.title("Phaseline: real processes, a simulated cloud, a kill -9, and nothing left behind")
    try:
        with running_cloud(folder / "cloud.jsonl") as cloud:
            stage = DemoStage(screen, CommandLine(screen, folder), cloud, folder)
            for number, act in enumerate((show_application, show_bulk, show_crash, show_failure, show_removal), 1):
                act(stage)
                after_act(number)
    finally:
        end_processes_in(folder)
    return finish(screen, time.monotonic() - begun, folder)


def make_folder(folder: Path) -> Path:
    """Create the folder with a settings file that names its store; a folder of an earlier demonstration is replaced.

    Raises: ProblemsError (PL-C119) if any other folder exists there, or the folder cannot be created.
    """
    folder = folder.absolute()
    settings = folder / "phaseline.toml"
    try:
        if settings.is_file() and settings.read_text("utf-8", "replace").startswith(MARK):
            shutil.rmtree(folder)
        folder.mkdir(mode=0o700, parents=True)
    except OSError as error:
        text = f"the folder '{folder}' of the demonstration cannot be made: {error.strerror}"
        raise problem_error("PL-C119", text, "name another one: phaseline demo --folder DIR") from None
    settings.write_text(f'{MARK}\n[store]\nurl = "sqlite:///{folder}/store.db"\n', "utf-8")
    return folder


def show_application(stage: DemoStage) -> None:
    """Act 1: install three processes from a blueprint, and show the web page that they serve."""
    screen = stage.screen
    screen.act(1, "A three-tier application of real processes")
    screen.say("First what would run. The plan is made by the code that runs it; nothing is called.")
    stage.phaseline.run("plan", "install", f"{WEB}/blueprint.yaml")
    code = stage.phaseline.run("install", f"{WEB}/blueprint.yaml", "-d", "web", "-i", "title=Hello from Phaseline")
    screen.claim("the install completed", holds=code == 0)
    if code:
        return
    stage.phaseline.run("deployments", "outputs", "web")
    url = str(output_of(stage, "web", "url"))
    screen.command(["curl", url])
    text = fetch_page(url)
    for line in text.splitlines():
        screen.output(line)
    screen.claim("the page shows the blueprint's inputs", holds="<h1>Hello from Phaseline</h1>" in text)
    screen.claim("the page shows what the back end read from the data process", holds="<li>Ada</li>" in text)
    count = len(application_processes(stage))
    screen.claim(f"{count} processes of the application run on this machine", holds=count == 3)


def show_bulk(stage: DemoStage) -> None:
    """Act 2: install ten times as many machines with hardly more calls to the cloud."""
    screen = stage.screen
    screen.act(2, f"From {FEW} to {MANY} machines with hardly more calls")
    screen.say(f"A simulated cloud in a process of its own counts what is asked of it: {stage.cloud.url}")
    calls = {count: install_machines(stage, count) for count in (FEW, MANY)}
    for count, made in calls.items():
        kinds = ", ".join(f"{number} {kind}" for kind, number in made.items())
        screen.say(f"  {count:>4} machines: {sum(made.values())} calls to the cloud ({kinds})")
    few, many = (sum(calls[count].values()) for count in (FEW, MANY))
    text = f"{MANY // FEW} times the machines with hardly more calls: {few} before, {many} now"
    screen.claim(text, holds=many <= few + CALLS_MORE)


def install_machines(stage: DemoStage, count: int) -> dict[str, int]:
    """Install ``count`` machines; return how many calls of each kind the cloud counted: {kind: number}."""
    before = stage.cloud.report()
    code = stage.phaseline.watch(*bulk_install(stage, f"bulk-{count}", count))
    after = stage.cloud.report()
    made = after["created"] - before["created"]
    stage.screen.claim(f"the cloud made {count} machines and a network", holds=code == 0 and made == count + 1)
    return {kind: number - before["calls"].get(kind, 0) for kind, number in after["calls"].items()}


def bulk_install(stage: DemoStage, name: str, count: int) -> list[str]:
    """Return the arguments of the command that installs ``count`` machines."""
    blueprint = f"{BULK}/blueprint.yaml"
    return ["install", blueprint, "-d", name, "-i", f"count={count}", "-i", f"cloud={stage.cloud.url}"]


def show_crash(stage: DemoStage) -> None:
    """Act 3: kill -9 while the cloud is making machines, then resume."""
    screen, cloud = stage.screen, stage.cloud
    screen.act(3, "kill -9 in the middle of an install")
    before = cloud.report()
    enough = before["created"] + 1 + MANY // 3
    cloud.set_pace(make_ms=SLOW_MS, most=enough)
    screen.say("The cloud is slow now: it makes one machine after another, and stops at a third of them.")
    words = bulk_install(stage, "crash", MANY)
    screen.command(["phaseline", *words])
    with stage.phaseline.start(*words) as process:
        wait_until(lambda: cloud.report()["created"] == enough)
        process.kill()
        assert process.stdout is not None
        stage.phaseline.show(process.stdout.read().splitlines())
    screen.command(["kill", "-9", str(process.pid)])
    wait_until(lambda: not cloud.report()["making"])
    cloud.set_pace(make_ms=0, most=0)
    left = cloud.report()["created"] - before["created"] - 1
    screen.claim(f"killed while the cloud had made {left} of {MANY} machines", holds=0 < left < MANY)
    stage.phaseline.run("executions", "show", "-d", "crash")
    code = stage.phaseline.run("executions", "resume", "-d", "crash")
    screen.claim("the resumed install completed", holds=code == 0)
    claim_nothing_double(screen, before, cloud.report(), left)


def show_failure(stage: DemoStage) -> None:
    """Act 4: the cloud refuses some machines, a command shows the reason, and only the refused machines are retried."""
    screen, cloud, name = stage.screen, stage.cloud, "quota"
    screen.act(4, "A failure, why it failed, and how it is mended")
    before = cloud.report()
    cloud.set_pace(quota=before["alive"] + ROOM + 1)
    screen.say(f"The cloud has room for a network and {ROOM} machines more; {WANTED} are asked for.")
    code = stage.phaseline.run(*bulk_install(stage, name, WANTED))
    made = cloud.report()["created"] - before["created"] - 1
    screen.claim(f"{made} machines were made, the other {WANTED - made} failed", holds=code == 1 and made == ROOM)
    stage.phaseline.run("instances", "why", "-d", name, "--limit", "2")
    screen.say("The quota is raised; what failed is called again, nothing else is.")
    cloud.set_pace(quota=0)
    code = stage.phaseline.run("executions", "retry", "-d", name)
    after = cloud.report()
    asked = after["calls"]["create"] - before["calls"]["create"]
    screen.claim(
        f"all {WANTED} machines are there, made with {asked} calls, none of them twice",
        holds=code == 0 and after["created"] - before["created"] == WANTED + 1 and not after["doubles"],
    )


def claim_nothing_double(screen: Screen, before: Mapping[str, Any], after: Mapping[str, Any], left: int) -> None:
    """Check, by the cloud's counts, that no machine was made twice between the kill and the end of
    the resumed install.
    """
    made = after["created"] - before["created"]
    again = after["tokens_again"] - before["tokens_again"]
    screen.claim(
        f"{again} tokens came again, those of the machines left behind: nothing new for them", holds=again == left
    )
    screen.claim(
        f"the cloud made {made - 1} machines and a network, none of them twice",
        holds=made == MANY + 1 and not after["doubles"],
    )


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait until a condition holds, at most ``PATIENCE_S`` seconds; if it does not hold then, the next claim fails."""
    deadline = time.monotonic() + PATIENCE_S
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.01)


def show_removal(stage: DemoStage) -> None:
    """Act 5: uninstall everything and check that nothing is left."""
    screen = stage.screen
    page = output_of(stage, "web", "url")
    screen.act(5, "Everything gone again")
    for name in ("quota", "crash", f"bulk-{MANY}", f"bulk-{FEW}", "web"):
        code = stage.phaseline.run("uninstall", "-d", name)
        screen.claim(f"{name} is uninstalled", holds=code == 0)
    report = stage.cloud.report()
    screen.claim(f"the cloud is empty: {report['deleted']} resources deleted", holds=report["alive"] == 0)
    left = application_processes(stage)
    for line in left:
        screen.output(line)
    screen.claim("no process of the application runs", holds=not left)
    if isinstance(page, str):
        screen.claim(f"no process answers at {page}", holds=not answers(page))


def finish(screen: Screen, seconds: float, folder: Path) -> int:
    """Print the result and the path of the store; return the exit code."""
    screen.console.print()
    if screen.broken:
        screen.say("What did not hold:")
        for text in screen.broken:
            screen.output(text)
    else:
        screen.title(f"Every claim held, in {seconds:.0f} s.")
    screen.say("The store is left for you to look at; the next demonstration replaces it:")
    own = Path(sys.executable).with_name("phaseline")
    program = "phaseline" if which("phaseline") or not own.exists() else str(own)
    here = Path.cwd()
    screen.command(["cd", str(folder.relative_to(here) if folder.is_relative_to(here) else folder)])
    for words in LOOK:
        screen.command([program, *words])
    return 1 if screen.broken else 0


def application_processes(stage: DemoStage) -> list[str]:
    """Return the processes of the demonstration's application, without the cloud."""
    return [process for process in processes_in(stage.folder) if "phaseline.testing.fake_cloud" not in process]


def output_of(stage: DemoStage, deployment: str, name: str) -> object:
    """Return the value of a deployment's output, or None."""
    return stage.phaseline.ask("deployments", "outputs", deployment).get("outputs", {}).get(name)


def answers(url: str) -> bool:
    """Return True if a server answers at the address."""
    try:
        fetch_page(url)
    except OSError:
        return False
    return True
